// SPDX-License-Identifier: Apache-2.0
// A thread a vertex, in double precision as on the CPU: moments in registers (degree 2) or in the thread's own memory,
// then the normal equations.
#include "kernels/curvature_fit/curvature_fit.h"
#include "kernels/curvature_fit/fit_shape.h"
#include "kernels/curvature_tensor/curvature_cuda.cuh"

namespace modal_cuda {

#define WIDE double
#define WIDE_MASK bool
#define WIDE_ZERO 0.0
#define WIDE_SELECT(m, a, b) ((m) ? (a) : (b))
#define WIDE_DIVIDE(a, b) ((a) / (b))
#define WIDE_ANY(m) (m)
#define UNROLL(n) _Pragma("unroll")
#include "kernels/curvature_fit/curvature_fit_body.h"

template <int DEGREE>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32)
    curvature_fit(const modal_curvature_fit_task task, int64_t n_tiles, int64_t n_work)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t work = (int64_t)blockIdx.x * CURVATURE_WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * CURVATURE_WARPS) {
        const int64_t tile = work % n_tiles, base = work / n_tiles * task.n_vertices, first = tile * MODAL_TILE;
        const int64_t left = task.n_vertices - first, v = lane < left ? first + lane : task.n_vertices - 1;
        const int64_t begin = __ldg(task.neighbour_offsets + tile), end = __ldg(task.neighbour_offsets + tile + 1);
        const curvature_vec own = curvature_load(task.positions, base + v), n = curvature_load(task.normals, base + v);
        const double nx = n.x, ny = n.y, nz = n.z, s = nz < 0.0 ? -1.0 : 1.0, t = -1.0 / (s + nz);
        const double p[3] = {1.0 + s * nx * nx * t, s * nx * ny * t, -s * nx};
        const double q[3] = {nx * ny * t, s + ny * ny * t, -ny};
        curvature_moments sums;
        double c[6];
        double squares = 0.0;
        int count = 0;
        for (int64_t row = begin; row < end; row++) {
            const int32_t entry = __ldg(task.neighbours + row * MODAL_TILE + lane);
            if (entry < 0) continue; // what fills the list up
            const curvature_vec at = curvature_load(task.positions, base + entry);
            const double x = (double)at.x - own.x, y = (double)at.y - own.y, z = (double)at.z - own.z;
            squares += x * x + y * y + z * z, count++;
        }
        const double inverse = curvature_inverse_mean(squares, count);
        curvature_clear_moments(DEGREE, &sums);
        curvature_add_point(DEGREE, 0.0, 0.0, 0.0, curvature_weight(0.0, inverse), &sums); // the vertex itself
        for (int64_t row = begin; row < end; row++) {
            const int32_t entry = __ldg(task.neighbours + row * MODAL_TILE + lane);
            if (entry < 0) continue;
            const curvature_vec at = curvature_load(task.positions, base + entry);
            const double x = (double)at.x - own.x, y = (double)at.y - own.y, z = (double)at.z - own.z;
            curvature_add_point(DEGREE, x * p[0] + y * p[1] + z * p[2], x * q[0] + y * q[1] + z * q[2],
                                x * nx + y * ny + z * nz, curvature_weight(x * x + y * y + z * z, inverse), &sums);
        }
        const double reached = curvature_solve_moments(DEGREE, &sums, c);
        double tensor[3];
        modal_fit_shape(c, tensor);
        const bool there = curvature_dot(n, n) > 0.0f;
        curvature_vec frame[3] = {n};
        curvature_frame(n, &frame[1], &frame[2]);
        const curvature_share share = {(float)tensor[0], (float)tensor[1], (float)tensor[2], 0.0f};
        curvature_give(task.output, base + first, left, frame, share, 1.0f, stages[warp]);
        if (task.degrees && lane < left) task.degrees[base + v] = there ? (float)reached : 0.0f;
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_fit_cuda(const modal_curvature_fit_task *task, modal_stream *stream,
                                                 modal_error *err)
{
    const int64_t n_tiles = modal_tile_count(task->n_vertices);
    modal_curvature_fit_task inner = *task;
    inner.output.areas = NULL;
    if (task->degree != 2 && task->degree != 4)
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature_fit: degree %d is not 2 or 4", task->degree);
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const unsigned grid = modal_cuda::curvature_grid(task->n_vertices, task->n_columns);
    const int block = modal_cuda::CURVATURE_WARPS * 32;
    if (task->degree == 2)
        modal_cuda::curvature_fit<2><<<grid, block, 0, (cudaStream_t)stream>>>(inner, n_tiles, n_tiles * task->n_columns);
    else
        modal_cuda::curvature_fit<4><<<grid, block, 0, (cudaStream_t)stream>>>(inner, n_tiles, n_tiles * task->n_columns);
    return modal_cuda_launched("curvature_fit", err);
}
