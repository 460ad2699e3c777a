// SPDX-License-Identifier: Apache-2.0
// A vertex's walk over its ring in its own frame, for curvature_tensor and curvature_ring. The next neighbour is on its
// way while this one is used.
#ifndef MODAL_KERNELS_CURVATURE_WALK_CUH
#define MODAL_KERNELS_CURVATURE_WALK_CUH

#include "kernels/curvature_tensor/curvature_cuda.cuh"
#include "kernels/curvature_tensor/curvature_tensor.h"

namespace modal_cuda {

// Calls add(a, b, da, db, on) for every row of the tile: edges times the scale, changes of normals. frame: n, p, q.
template <class Add>
FN void curvature_walk(const modal_curvature_surface &s, int64_t tile, int64_t column, int64_t v, curvature_vec (&frame)[3],
                       Add add)
{
    const int lane = threadIdx.x % 32;
    const float *x = s.positions + 3 * column * s.n_vertices, *normals = s.normals + 3 * column * s.n_vertices;
    const int64_t begin = __ldg(s.ring_offsets + tile);
    const int rows = (int)(__ldg(s.ring_offsets + tile + 1) - begin);
    const int32_t *row = s.ring + begin * MODAL_TILE + lane;
    const int32_t nothing = ~(int32_t)v;
    const curvature_vec own = curvature_load(x, v), n = curvature_load(normals, v);
    curvature_vec p, q, a = {0.0f, 0.0f, 0.0f}, da = a;
    curvature_frame(n, &p, &q);
    frame[0] = n, frame[1] = p, frame[2] = q;
    const curvature_vec ps = curvature_times(s.scale, p), qs = curvature_times(s.scale, q), ns = curvature_times(s.scale, n);
    int32_t entry = rows > 0 ? __ldg(row) : nothing, next = rows > 1 ? __ldg(row + MODAL_TILE) : nothing;
    curvature_vec at = curvature_load(x, entry ^ (entry >> 31)), normal = curvature_load(normals, entry ^ (entry >> 31));
#pragma unroll 1
    for (int r = 0; r < rows; r++) {
        const int32_t i = next ^ (next >> 31), after = r + 2 < rows ? __ldg(row + MODAL_TILE * (r + 2)) : nothing;
        const curvature_vec next_at = curvature_load(x, i), next_normal = curvature_load(normals, i);
        const curvature_vec e = curvature_minus(at, own), d = curvature_minus(normal, n);
        const curvature_vec b = {curvature_dot(e, ps), curvature_dot(e, qs), curvature_dot(e, ns)};
        const curvature_vec db = {curvature_dot(d, p), curvature_dot(d, q), curvature_dot(d, n)};
        add(a, b, da, db, entry >= 0);
        a = b, da = db, entry = next, next = after, at = next_at, normal = next_normal;
    }
}

} // namespace modal_cuda

#endif
