// SPDX-License-Identifier: Apache-2.0
// A thread a vertex: it turns the tensors of its triangles' vertices and solves each triangle itself.
#include "kernels/curvature_derivative/curvature_derivative.h"
#include "kernels/curvature_tensor/curvature_cuda.cuh"

namespace modal_cuda {

#include "kernels/curvature_derivative/curvature_derivative_body.h"

FN curvature_point load_point(const modal_curvature_derivative_task &task, int64_t i, float inverse_scale)
{
    curvature_point point;
    curvature_vec q;
    const curvature_vec t = curvature_load(task.tensors, i);
    point.x = curvature_times(task.surface.scale, curvature_load(task.surface.positions, i));
    point.n = curvature_load(task.surface.normals, i);
    point.t = {t.x * inverse_scale, t.y * inverse_scale, t.z * inverse_scale, 0.0f};
    curvature_frame(point.n, &point.p, &q);
    return point;
}

__global__ void __launch_bounds__(CURVATURE_WARPS * 32)
    curvature_derivative(const modal_curvature_derivative_task task, int64_t n_tiles, int64_t n_work)
{
    const modal_curvature_surface &s = task.surface;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float inverse_scale = 1.0f / s.scale;
    for (int64_t work = (int64_t)blockIdx.x * CURVATURE_WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * CURVATURE_WARPS) {
        const int64_t tile = work % n_tiles, base = work / n_tiles * s.n_vertices, v = tile * MODAL_TILE + lane;
        if (v >= s.n_vertices) continue; // nothing below is the warp's together
        const curvature_point own = load_point(task, base + v, inverse_scale);
        curvature_point before = own;
        curvature_third sum = {0.0f, 0.0f, 0.0f, 0.0f};
        float weight = 0.0f, k_max, k_min, x, y;
        const int64_t end = __ldg(s.ring_offsets + tile + 1);
        for (int64_t row = __ldg(s.ring_offsets + tile); row < end; row++) {
            const int32_t entry = __ldg(s.ring + row * MODAL_TILE + lane);
            const curvature_point next = load_point(task, base + (entry ^ (entry >> 31)), inverse_scale);
            curvature_add_change(&own, &before, &next, entry >= 0, &sum, &weight);
            before = next;
        }
        const bool there = weight > 0.0f && curvature_dot(own.n, own.n) > 0.0f;
        const float inverse = there ? s.scale * s.scale / weight : 0.0f;
        curvature_diagonal(own.t.a, own.t.b, own.t.c, &k_max, &k_min, &x, &y);
        const curvature_third d = curvature_turn_third(x, y, sum);
        float *out = task.derivatives + 4 * (base + v);
        out[0] = d.a * inverse, out[1] = d.b * inverse, out[2] = d.c * inverse, out[3] = d.d * inverse;
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_derivative_cuda(const modal_curvature_derivative_task *task,
                                                        modal_stream *stream, modal_error *err)
{
    const int64_t n = task->surface.n_vertices, n_columns = task->surface.n_columns, n_tiles = modal_tile_count(n);
    if (n <= 0 || n_columns <= 0) return MODAL_OK;
    modal_cuda::curvature_derivative<<<modal_cuda::curvature_grid(n, n_columns), modal_cuda::CURVATURE_WARPS * 32, 0,
                                       (cudaStream_t)stream>>>(*task, n_tiles, n_tiles * n_columns);
    return modal_cuda_launched("curvature_derivative", err);
}
