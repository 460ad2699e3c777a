// SPDX-License-Identifier: Apache-2.0
// A vertex's walk over its ring in its own frame, for curvature_tensor and curvature_ring. The next neighbour is on its
// way while this one is used. A ring's first row starts a fan and closes no triangle: it stands before the loop.
#ifndef MODAL_KERNELS_CURVATURE_WALK_CUH
#define MODAL_KERNELS_CURVATURE_WALK_CUH

#include "kernels/curvature_tensor/curvature_cuda.cuh"
#include "kernels/curvature_tensor/curvature_tensor.h"

namespace modal_cuda {

struct curvature_point_normal {
    curvature_vec x, n;
};

// Where points come from: two arrays [n, 3].
struct curvature_points {
    const float *positions, *normals;

    FN curvature_points of(int64_t column, int64_t n) const
    {
        return {positions + 3 * column * n, normals + 3 * column * n};
    }
    FN curvature_point_normal at(int32_t i) const
    {
        return {curvature_point_of(positions, i), curvature_point_of(normals, i)};
    }
};

// The frame of v, and edges times the scale in it: a power of two, so that a product with it rounds nothing.
struct curvature_place {
    curvature_vec scaled, n, p, q;
    float scale;

    FN curvature_place(const curvature_point_normal &own, float a_scale) : n(own.n), scale(a_scale)
    {
        scaled = curvature_times(-scale, own.x);
        curvature_frame(n, &p, &q);
    }
    FN curvature_vec turned(curvature_vec e) const
    {
        return {curvature_dot(e, p), curvature_dot(e, q), curvature_dot(e, n)};
    }
    FN curvature_vec edge(curvature_vec x) const
    {
        return turned({fmaf(x.x, scale, scaled.x), fmaf(x.y, scale, scaled.y), fmaf(x.z, scale, scaled.z)});
    }
    FN curvature_vec change(curvature_vec normal) const
    {
        return turned(curvature_minus(normal, n));
    }
};

// curvature_add_triangle, arranged for a GPU: reciprocals and reciprocal roots are one instruction each, the triangle's
// normal has unit length: R v = v - n_xy (v_z + v . n) / (1 + n_z) takes two products. G's parts come from its
// trace t and from g and h; sum: a, 2 b, c and eight times the share of the area.
FN void curvature_add_face(curvature_vec a, curvature_vec b, float aa, float bb, curvature_vec da, curvature_vec db,
                           bool on, curvature_share *sum)
{
    const float ab = curvature_dot(a, b), t = aa + bb - ab;
    // fused: what is left of an edge's product with itself is far below 1e-6 t
    const curvature_vec f = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    const float m2 = curvature_dot(f, f), im = curvature_reciprocal_root(m2), flat = t * 1e-6f;
    const curvature_vec n = curvature_times(im, f);
    float high = n.z + 1.0f;
    // upside down it is a difference: (n_x^2 + n_y^2) / (1 - n_z) has more digits
    if (n.z < 0.0f) high = (n.x * n.x + n.y * n.y) * curvature_reciprocal(1.0f - n.z);
    if (!(on && m2 > flat * flat && high > 1e-6f)) return;
    const float i = curvature_reciprocal(high), sx = n.x * i, sy = n.y * i;
    const float ha = fmaf(da.x, n.x, fmaf(da.y, n.y, da.z * high)), hb = fmaf(db.x, n.x, fmaf(db.y, n.y, db.z * high));
    const float ax = a.x - sx * a.z, ay = a.y - sy * a.z, bx = b.x - sx * b.z, by = b.y - sy * b.z;
    const float dax = da.x - sx * ha, day = da.y - sy * ha, dbx = db.x - sx * hb, dby = db.y - sy * hb;
    const float g = ax * (ax - bx) + bx * bx, h = ax * (ay - 0.5f * by) + bx * (by - 0.5f * ay);
    const float o = day * by - dby * ay, u = dbx * ax - dax * bx;
    // the share: Voronoi, or of an obtuse triangle
    const float d1 = aa - ab, d2 = bb - ab, both = bb * d1 + aa * d2;
    const bool at_a = d1 <= 0.0f, at_b = d2 <= 0.0f, here = ab <= 0.0f;
    const float numerator = at_a ? aa : at_b ? bb : both;
    const float denominator = at_a || at_b ? ab : here ? d1 * d2 : m2;
    const float part = numerator * curvature_reciprocal(denominator), share = here ? 4.0f - part : part;
    const float twist = share * (o - u) * curvature_reciprocal(t);
    sum->a = fmaf(share, dax * by - dbx * ay, fmaf(-twist, h, sum->a));
    sum->b = fmaf(share, o + u, fmaf(twist, 2.0f * g - t, sum->b));
    sum->c = fmaf(share, dby * ax - day * bx, fmaf(twist, h, sum->c));
    sum->w = fmaf(share, m2 * im, sum->w);
}

// A lane's ring, and its first rows, which are on their way while a launch waits for the one before.
struct curvature_ring_rows {
    const int32_t *row;
    int rows;
    int32_t entry[3];

    FN curvature_ring_rows(const modal_curvature_surface &s, int tile, int32_t nothing)
    {
        const int64_t begin = __ldg(s.ring_offsets + tile);
        rows = (int)(__ldg(s.ring_offsets + tile + 1) - begin);
        row = s.ring + begin * MODAL_TILE + threadIdx.x % 32;
#pragma unroll
        for (int k = 0; k < 3; k++) entry[k] = k < rows ? __ldg(row + k * MODAL_TILE) : nothing;
        row += 3 * MODAL_TILE;
    }
};

// Calls start(b, db) for the tile's first row and add(b, db, on) for each further one: edges times the scale, changes of
// normals. The loop is not unrolled: what it saves in moves is lost to registers, and so to warps.
template <class POINTS, class Start, class Add>
FN void curvature_walk(const curvature_ring_rows &ring, const POINTS &points, int32_t nothing, const curvature_place &place,
                       Start start, Add add)
{
    if (ring.rows == 0) return;
    const int32_t *row = ring.row;
    int32_t entry = ring.entry[1], next = ring.entry[2];
    curvature_point_normal point = points.at(ring.entry[0] ^ (ring.entry[0] >> 31));
    curvature_point_normal following = points.at(entry ^ (entry >> 31));
    start(place.edge(point.x), place.change(point.n));
#pragma unroll 1
    for (int left = ring.rows - 1; left > 0; left--, row += MODAL_TILE) {
        const int32_t after = left > 2 ? __ldg(row) : nothing;
        const bool on = entry >= 0;
        point = following;
        following = points.at(next ^ (next >> 31));
        add(place.edge(point.x), place.change(point.n), on);
        entry = next, next = after;
    }
}

} // namespace modal_cuda

#endif
