// SPDX-License-Identifier: Apache-2.0
// A thread projects a point. A thread sets up a triangle and draws it if its box is small; its warp draws what is larger, 32 pixels at
// once; what is still larger is listed and drawn by a block, a thread a pixel of a tile; what is larger than MEDIUM pixels, or must be cut,
// by all blocks. The nearest triangle of a sample is found by atomic minima, whose result no order of the threads changes. Nobody waits
// for one: a look before, which spares those that change nothing, is waited for, and takes twice the time (kernels/VERSIONS.md).
#include "kernels/cuda_launch.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/raster/alpha_math.h"
#include "kernels/raster/raster_edges.cuh"

namespace {

constexpr int THREADS = 128, TILE = 16, DIRECT = 12, MEDIUM = 256, BLOCKS_EACH = 8; // DIRECT: pixels of a box that a thread draws
constexpr int64_t FIRST = 256; // bytes of the scratch before the points: the numbers of listed triangles

struct state {
    modal_raster_task task;
    raster_point *points;
    uint32_t *listed;   // [n_triangles]: from the front those that a block draws, from the back those that all draw
    unsigned *n_listed; // [2]: of these, of those
};

__device__ __forceinline__ raster_point load(const raster_point *p)
{
    const int4 v = __ldg(reinterpret_cast<const int4 *>(p));
    return {v.x, v.y, __int_as_float(v.z), (uint32_t)v.w};
}

__global__ void __launch_bounds__(256) project(const state s)
{
    const modal_raster_view view = *s.task.view;
    const int64_t n = s.task.mesh.n_points + s.task.mesh.n_more;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        const raster_point p = raster_project(&view, raster_point_of(&s.task.mesh, (int32_t)i));
        reinterpret_cast<int4 *>(s.points)[i] = make_int4(p.x, p.y, __float_as_int(p.depth), (int)p.outside);
    }
}

template <bool KEYS> __device__ __forceinline__ void plot(const modal_raster_task &task, int64_t at, float depth, uint32_t t)
{
    if (KEYS) {
        atomicMin(reinterpret_cast<unsigned long long *>(task.keys) + at, (unsigned long long)raster_key(depth, t));
    } else { // positive floats are in the order of their bits
        atomicMax(reinterpret_cast<unsigned *>(task.depths) + at, modal_float_bits(depth));
    }
}

// All samples of a pixel. TEST: those of a triangle that has one of the task's flags are tested, by images or (2) also by solids.
template <int SAMPLES, bool KEYS, int TEST, class INT>
__device__ __forceinline__ void draw_pixel(const modal_raster_task &task, const raster_setup &s, const raster_edges<INT> &e, int x, int y, uint32_t t)
{
    const bool tested = TEST && __ldg(task.mesh.flags + t) & task.test;
    raster_clip corners[3];
    if (TEST && tested) paint_view_corners(&task.mesh, task.view, t, corners);
#pragma unroll
    for (int i = 0; i < SAMPLES; i++) {
        const INT sx = 256 * (INT)(x - s.left) + raster_sample_x(SAMPLES, i), sy = 256 * (INT)(y - s.top) + raster_sample_y(SAMPLES, i);
        const INT e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
        if (!e.covers(e0, e1, e2)) continue;
        if (!TEST || !tested ||
            paint_is_there(&task, t, corners, (float)(256 * x + raster_sample_x(SAMPLES, i)) / 256.0f,
                           (float)(256 * y + raster_sample_y(SAMPLES, i)) / 256.0f, TEST == 2))
            plot<KEYS>(task, ((int64_t)y * task.width + x) * SAMPLES + i, raster_depth(&s, (float)e1, (float)e2), t);
    }
}

__device__ __forceinline__ raster_setup from_lane(const raster_setup &mine, int lane)
{
    raster_setup s;
#pragma unroll
    for (int k = 0; k < 3; k++) s.x[k] = __shfl_sync(~0u, mine.x[k], lane), s.y[k] = __shfl_sync(~0u, mine.y[k], lane);
    s.left = __shfl_sync(~0u, mine.left, lane), s.top = __shfl_sync(~0u, mine.top, lane);
    s.right = __shfl_sync(~0u, mine.right, lane), s.bottom = __shfl_sync(~0u, mine.bottom, lane);
    s.depth = __shfl_sync(~0u, mine.depth, lane);
    s.depth_1 = __shfl_sync(~0u, mine.depth_1, lane), s.depth_2 = __shfl_sync(~0u, mine.depth_2, lane);
    return s;
}

enum how { NOTHING, BY_THREAD, BY_WARP, BY_BLOCK, BY_ALL };

__device__ __forceinline__ how set_up(const state &s, int64_t t, int samples, raster_setup &r)
{
    const modal_raster_task &task = s.task;
    const unsigned flags = task.mesh.flags ? __ldg(task.mesh.flags + t) : 0;
    if (!raster_is_wanted(&task, flags)) return NOTHING;
    const int32_t *corners = task.mesh.triangles + 3 * t;
    const raster_point a = load(s.points + __ldg(corners)), b = load(s.points + __ldg(corners + 1)), c = load(s.points + __ldg(corners + 2));
    const uint32_t outside = a.outside | b.outside | c.outside;
    if (outside) return (a.outside & b.outside & c.outside) || (outside & RASTER_NOT_FINITE) ? NOTHING : BY_ALL;
    const int64_t area = raster_area(&a, &b, &c);
    if (area == 0 || !raster_is_drawn(&task, flags, area < 0)) return NOTHING;
    if (!raster_box(&r, &a, &b, &c, task.width, task.height, samples)) return NOTHING;
    const int width = max(a.x, max(b.x, c.x)) - min(a.x, min(b.x, c.x)), height = max(a.y, max(b.y, c.y)) - min(a.y, min(b.y, c.y));
    if (width >= 256 * MEDIUM || height >= 256 * MEDIUM) return BY_ALL;
    if (!raster_is_small(a, b, c)) return BY_BLOCK;
    raster_set_up(&r, &a, &b, &c, area);
    return (r.right - r.left + 1) * (r.bottom - r.top + 1) <= DIRECT ? BY_THREAD : BY_WARP;
}

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(THREADS) draw(const state s)
{
    const int lane = threadIdx.x % 32;
    const int64_t t = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    raster_setup r = {};
    const how mine = t < s.task.mesh.n_triangles ? set_up(s, t, SAMPLES, r) : NOTHING;
    if (mine == BY_THREAD) {
        const raster_edges<int32_t> e(r);
        for (int y = r.top; y <= r.bottom; y++)
            for (int x = r.left; x <= r.right; x++) draw_pixel<SAMPLES, KEYS, TEST>(s.task, r, e, x, y, (uint32_t)t);
    }
    __syncwarp();
    for (unsigned left = __ballot_sync(~0u, mine == BY_WARP); left; left &= left - 1) {
        const int from = __ffs(left) - 1;
        const raster_setup one = from_lane(r, from);
        const raster_edges<int32_t> e(one);
        const int width = one.right - one.left + 1, n = width * (one.bottom - one.top + 1);
        for (int i = lane; i < n; i += 32)
            draw_pixel<SAMPLES, KEYS, TEST>(s.task, one, e, one.left + i % width, one.top + i / width, (uint32_t)(t - lane + from));
    }
#pragma unroll
    for (int list = 0; list < 2; list++) {
        const bool here = mine == (list == 0 ? BY_BLOCK : BY_ALL);
        const unsigned which = __ballot_sync(~0u, here);
        if (!which) continue;
        unsigned place = 0;
        if (lane == 0) place = atomicAdd(s.n_listed + list, __popc(which));
        place = __shfl_sync(~0u, place, 0) + __popc(which & ((1u << lane) - 1));
        if (here) s.listed[list == 0 ? place : s.task.mesh.n_triangles - 1 - place] = (uint32_t)t;
    }
}

// The tiles first, first + step, ... of the box of a triangle or of a piece of a cut one.
template <int SAMPLES, bool KEYS, int TEST>
__device__ __forceinline__ void draw_tiles(const modal_raster_task &task, const raster_point &a, const raster_point &b, const raster_point &c,
                                           uint32_t t, unsigned first, unsigned step)
{
    raster_setup r;
    const int64_t area = raster_area(&a, &b, &c);
    if (area == 0 || !raster_box(&r, &a, &b, &c, task.width, task.height, SAMPLES)) return;
    raster_set_up(&r, &a, &b, &c, area);
    const raster_edges<int64_t> e(r);
    const int first_x = r.left / TILE, first_y = r.top / TILE, across = r.right / TILE - first_x + 1;
    const int64_t n_tiles = (int64_t)across * (r.bottom / TILE - first_y + 1);
    for (int64_t tile = first; tile < n_tiles; tile += step) {
        const int x = (first_x + (int)(tile % across)) * TILE + threadIdx.x % TILE;
        const int y = (first_y + (int)(tile / across)) * TILE + threadIdx.x / TILE;
        if (x >= r.left && x <= r.right && y >= r.top && y <= r.bottom) draw_pixel<SAMPLES, KEYS, TEST>(task, r, e, x, y, t);
    }
}

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(TILE * TILE) draw_listed(const state s)
{
    __shared__ raster_point corners[RASTER_MOST_CORNERS];
    __shared__ int n_corners;
    const unsigned n_medium = s.n_listed[0], n_large = s.n_listed[1];
    for (unsigned i = blockIdx.x; i < n_medium; i += gridDim.x) {
        const uint32_t t = s.listed[i];
        const int32_t *points = s.task.mesh.triangles + 3 * (int64_t)t;
        draw_tiles<SAMPLES, KEYS, TEST>(s.task, load(s.points + points[0]), load(s.points + points[1]), load(s.points + points[2]), t, 0, 1);
    }
    for (unsigned i = 0; i < n_large; i++) {
        const uint32_t t = s.listed[s.task.mesh.n_triangles - 1 - i];
        __syncthreads(); // of the triangle before
        if (threadIdx.x == 0) {
            uint32_t outside = 0;
            for (int k = 0; k < 3; k++) {
                corners[k] = load(s.points + s.task.mesh.triangles[3 * (int64_t)t + k]);
                outside |= corners[k].outside;
            }
            n_corners = 3;
            if (outside) {
                raster_point p[RASTER_MOST_CORNERS];
                int front;
                n_corners = raster_cut_triangle(&s.task.mesh, s.task.view, t, p, &front);
                if (!raster_is_drawn(&s.task, s.task.mesh.flags ? s.task.mesh.flags[t] : 0, front)) n_corners = 0;
                for (int k = 0; k < n_corners; k++) corners[k] = p[k];
            }
        }
        __syncthreads();
        for (int k = 2; k < n_corners; k++) // another block begins with the next one, so that small pieces are not all the first's
            draw_tiles<SAMPLES, KEYS, TEST>(s.task, corners[0], corners[k - 1], corners[k], t, (blockIdx.x + 977u * i) % gridDim.x, gridDim.x);
    }
}

template <int SAMPLES, bool KEYS, int TEST> modal_status launch_for(const state &s, cudaStream_t stream, modal_error *err)
{
    const int64_t blocks = (s.task.mesh.n_triangles + THREADS - 1) / THREADS;
    modal_cuda_machine machine;
    modal_status status = MODAL_OK;
    auto *const small = draw<SAMPLES, KEYS, TEST>, *const listed = draw_listed<SAMPLES, KEYS, TEST>;
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    MODAL_TRY(modal_cuda::launch(small, blocks, THREADS, stream, "raster", err, s));
    MODAL_TRY(modal_cuda::launch(listed, BLOCKS_EACH * machine.n_multiprocessors, TILE * TILE, stream, "raster of listed triangles", err, s));
done:
    return status;
}

template <int SAMPLES, bool KEYS> modal_status launch(const state &s, cudaStream_t stream, modal_error *err)
{
    if (!s.task.test || !s.task.mesh.flags) return launch_for<SAMPLES, KEYS, 0>(s, stream, err);
    return s.task.paint.solids ? launch_for<SAMPLES, KEYS, 2>(s, stream, err) : launch_for<SAMPLES, KEYS, 1>(s, stream, err);
}

} // namespace

extern "C" modal_status modal_raster_cuda(const modal_raster_task *task, modal_stream *modal_stream, modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)modal_stream;
    const int64_t n_points = task->mesh.n_points + task->mesh.n_more, n_samples = (int64_t)task->width * task->height * task->samples;
    unsigned char *scratch = static_cast<unsigned char *>(task->scratch);
    const state s = {*task, reinterpret_cast<raster_point *>(scratch + FIRST),
                     reinterpret_cast<uint32_t *>(scratch + FIRST + 16 * n_points), reinterpret_cast<unsigned *>(scratch)};
    cudaError_t code = cudaMemsetAsync(scratch, 0, 2 * sizeof(unsigned), stream);
    if (code == cudaSuccess)
        code = task->keys ? cudaMemsetAsync(task->keys, 0xff, (size_t)n_samples * 8, stream)
                          : cudaMemsetAsync(task->depths, 0, (size_t)n_samples * 4, stream);
    modal_status status = modal_cuda_status(code, "raster", err);
    if (status != MODAL_OK || n_points == 0 || task->mesh.n_triangles == 0) return status;
    const int64_t blocks = (n_points + 255) / 256;
    status = modal_cuda::launch(project, blocks < 65535 ? blocks : 65535, 256, stream, "projection", err, s);
    if (status != MODAL_OK) return status;
    if (task->depths) return launch<1, false>(s, stream, err);
    return task->samples == 1 ? launch<1, true>(s, stream, err)
                              : task->samples == 4 ? launch<4, true>(s, stream, err) : launch<8, true>(s, stream, err);
}
