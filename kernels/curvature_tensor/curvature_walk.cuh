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

// Calls start(b, db) for the tile's first row and add(b, db, on) for each further one: edges times the scale, changes of
// normals. UNROLL: rows a turn of the loop; two save the moves of what one leaves to the next.
template <int UNROLL, class POINTS, class Start, class Add>
FN void curvature_walk(const int32_t *row, int rows, const POINTS &points, int32_t v, const curvature_place &place,
                       Start start, Add add)
{
    if (rows == 0) return;
    const int32_t nothing = ~v, first = __ldg(row);
    int32_t entry = rows > 1 ? __ldg(row + MODAL_TILE) : nothing;
    curvature_point_normal point = points.at(first ^ (first >> 31));
    int32_t next = rows > 2 ? __ldg(row + 2 * MODAL_TILE) : nothing;
    curvature_point_normal following = points.at(entry ^ (entry >> 31));
    start(place.edge(point.x), place.change(point.n));
    row += 3 * MODAL_TILE;
#pragma unroll UNROLL
    for (int left = rows - 1; left > 0; left--, row += MODAL_TILE) {
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
