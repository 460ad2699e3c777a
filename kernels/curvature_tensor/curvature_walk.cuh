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

// Records [n, 8]: x y z 0, normal 0. A neighbour is one sector of 32 bytes.
struct curvature_records {
    const float *records;

    FN curvature_records of(int64_t column, int64_t n) const { return {records + 8 * column * n }; }
    FN curvature_point_normal at(int32_t i) const
    {
        const float4 *at = (const float4 *)curvature_address<32>(records, i), x = __ldg(at), n = __ldg(at + 1);
        return {{x.x, x.y, x.z}, {n.x, n.y, n.z}};
    }
};

// The frame of v (curvature_output.h), and edges times the scale in it: a power of two, so that a product with it rounds
// nothing. With w = x e_x + y e_y and u = t w - e_z, p . e = e_x + s x u and q . e = s e_y + y u: five instructions for
// three products, since s e_y costs nothing where the edge is made.
struct curvature_place {
    float x, y, z, s, t, flipped_x, flipped_y; // of the normal; s x, s y
    float scale, flipped_scale, own_x, own_y, own_z;

    FN curvature_place(const curvature_point_normal &own, float a_scale) : x(own.n.x), y(own.n.y), z(own.n.z), scale(a_scale)
    {
        s = z < 0.0f ? -1.0f : 1.0f;
        t = -curvature_reciprocal(s + z);
        flipped_x = s * x, flipped_y = s * y, flipped_scale = s * scale;
        own_x = -scale * own.x.x, own_y = -flipped_scale * own.x.y, own_z = -scale * own.x.z;
    }
    // (e_x, s e_y, e_z) in the frame
    FN curvature_vec turned(float e_x, float flipped_e_y, float e_z) const
    {
        const float w = fmaf(x, e_x, flipped_y * flipped_e_y), u = fmaf(t, w, -e_z);
        return {fmaf(flipped_x, u, e_x), fmaf(y, u, flipped_e_y), fmaf(z, e_z, w)};
    }
    FN curvature_vec edge(curvature_vec to) const
    {
        return turned(fmaf(to.x, scale, own_x), fmaf(to.y, flipped_scale, own_y), fmaf(to.z, scale, own_z));
    }
    FN curvature_vec change(curvature_vec normal) const
    {
        return turned(normal.x - x, fmaf(normal.y, s, -flipped_y), normal.z - z);
    }
    FN curvature_vec normal() const { return {x, y, z}; }
    FN void frame(curvature_vec *axes) const
    {
        const float xy = x * y * t;
        axes[0] = normal();
        axes[1] = {fmaf(flipped_x * x, t, 1.0f), s * xy, -flipped_x};
        axes[2] = {xy, fmaf(y * y, t, s), -y};
    }
};

// curvature_add_triangle, arranged for a GPU: reciprocals and reciprocal roots are one instruction each. With f = m n,
// R v = v - n_xy (v_z + v . n) / (1 + n_z), and n / (1 + n_z) = f / (m + f_z). G's parts come from its trace t and from g
// and h; sum: a, 2 b, c and eight times the share of the area.
FN void curvature_add_face(curvature_vec a, curvature_vec b, float aa, float bb, curvature_vec da, curvature_vec db,
                           bool on, curvature_share *sum)
{
    const float ab = curvature_dot(a, b), d1 = aa - ab, d2 = bb - ab, t = aa + d2;
    // fused: what is left of an edge's product with itself is far below 1e-6 t
    const curvature_vec f = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    const float m2 = curvature_dot(f, f), im = curvature_reciprocal_root(m2), m = m2 * im;
    float high = m + f.z;
    const bool there = on && m > t * 1e-6f;
    if (!(there && f.z > 0.0f)) {
        if (!there) return;
        // upside down it is a difference: (f_x^2 + f_y^2) / (m - f_z) has more digits
        high = (f.x * f.x + f.y * f.y) * curvature_reciprocal(m - f.z);
        if (!(high > m * 1e-6f)) return;
    }
    const float i = curvature_reciprocal(high), sx = f.x * i, sy = f.y * i, nx = f.x * im, ny = f.y * im;
    const float ha = fmaf(da.x, sx, fmaf(da.y, sy, da.z)), hb = fmaf(db.x, sx, fmaf(db.y, sy, db.z));
    const float ax = a.x - sx * a.z, ay = a.y - sy * a.z, bx = b.x - sx * b.z, by = b.y - sy * b.z;
    const float dax = da.x - nx * ha, day = da.y - ny * ha, dbx = db.x - nx * hb, dby = db.y - ny * hb;
    const float g = ax * (ax - bx) + bx * bx, h = ax * (ay - 0.5f * by) + bx * (by - 0.5f * ay);
    const float o = day * by - dby * ay, u = dbx * ax - dax * bx;
    // the share: Voronoi, or of an obtuse triangle, whose corner is the vertex or lies beyond its shorter edge
    const float shorter = fminf(aa, bb);
    const bool beyond = shorter <= ab, here = ab <= 0.0f;
    const float numerator = beyond ? shorter : bb * d1 + aa * d2;
    const float denominator = beyond ? ab : here ? d1 * d2 : m2;
    const float part = numerator * curvature_reciprocal(denominator), share = here ? 4.0f - part : part;
    const float twist = share * (o - u) * curvature_reciprocal(t);
    sum->a = fmaf(share, dax * by - dbx * ay, fmaf(-twist, h, sum->a));
    sum->b = fmaf(share, o + u, fmaf(twist, fmaf(2.0f, g, -t), sum->b));
    sum->c = fmaf(share, dby * ax - day * bx, fmaf(twist, h, sum->c));
    sum->w = fmaf(share, m, sum->w);
}

FN int32_t curvature_vertex_of(int32_t entry) { return entry ^ (entry >> 31); }

// A lane's ring, and its first rows, which are on their way while a launch waits for the one before. Rows past the last
// one are the last one again: fetched ahead, and not used.
struct curvature_ring_rows {
    const int32_t *ring;
    int rows;
    int32_t entry[2];

    FN curvature_ring_rows(const int64_t *offsets, const int32_t *table, int tile)
    {
        const int64_t begin = __ldg(offsets + tile);
        rows = (int)(__ldg(offsets + tile + 1) - begin);
        ring = table + begin * MODAL_TILE + threadIdx.x % 32;
        if (rows > 0) entry[0] = at(0), entry[1] = at(1);
    }
    FN int32_t at(int row) const { return __ldg(ring + (int64_t)MODAL_TILE * min(row, rows - 1)); }
};

// Calls start(b, db) for the tile's first row and add(b, db, on) for each further one: edges times the scale, changes of
// normals. Points are not fetched ahead: other warps have enough to do meanwhile, and registers are short. TURNS rows a turn
// of the loop, which saves moves; past the last row nothing is on.
template <int TURNS, class POINTS, class Start, class Add>
FN void curvature_walk(const curvature_ring_rows &ring, const POINTS &points, const curvature_place &place, Start start,
                       Add add)
{
    if (ring.rows == 0) return;
    const curvature_point_normal first = points.at(curvature_vertex_of(ring.entry[0]));
    int32_t entry = ring.entry[1];
    start(place.edge(first.x), place.change(first.n));
#pragma unroll 1
    for (int row = 1; row < ring.rows; row += TURNS) {
#pragma unroll
        for (int k = 0; k < TURNS; k++) {
            const bool on = entry >= 0 && (k == 0 || row + k < ring.rows);
            const curvature_point_normal point = points.at(curvature_vertex_of(entry));
            entry = ring.at(row + k + 1);
            add(place.edge(point.x), place.change(point.n), on);
        }
    }
}

} // namespace modal_cuda

#endif
