// SPDX-License-Identifier: Apache-2.0
// The picture is emptied, a thread 16 bytes of it, and what a ground has, the last triangles, drawn in the same breath: without atomics, and a picture that
// the ground fills is written once. Beside that a thread projects a point. Then a thread sets up a triangle and draws it if its box is small, one column
// of samples after the other; its warp draws what is larger, 32 samples at once; what is still larger is listed and drawn by a block, a thread a pixel of a
// tile; what is larger than MEDIUM pixels, or must be cut, by all blocks. The nearest triangle of a sample is found by atomic minima, whose result no order of
// the threads changes. Nobody waits for one: a look before, which spares those that change nothing, is waited for, and takes twice the time
// (kernels/VERSIONS.md); only where an image is to be asked, it is looked before.
#include "kernels/cuda_launch.cuh"
#include "kernels/modal_sum/overlap.cuh"
#include "kernels/raster/alpha_math.h"
#include "kernels/raster/raster_edges.cuh"

namespace {

constexpr int THREADS = 128, TILE = 16, DIRECT = 12, MEDIUM = 256, BLOCKS_EACH = 8; // DIRECT: pixels of a box that a thread draws
constexpr int BEGIN_THREADS = 256, BEGIN_EACH = 4, LAST = 2; // triangles at the end of a mesh, where a scene's ground is
constexpr int64_t FIRST = 256; // bytes of the scratch before the points: the numbers of listed triangles

struct state {
    modal_raster_task task;
    raster_point *points;
    uint32_t *listed;   // [n_triangles]: from the front those that a block draws, from the back those that all draw
    unsigned *n_listed; // [2]: of these, of those
};

__device__ __forceinline__ raster_point load(const raster_point *p)
{
    const int4 v = *reinterpret_cast<const int4 *>(p); // not __ldg: this launch may have begun before the one that writes points ended
    return {v.x, v.y, __int_as_float(v.z), (uint32_t)v.w};
}

// Samples by numbers that the compiler does not know, of raster_sample_x and _y: 1/16 pixel in four bits each.
__device__ __forceinline__ int nibble(unsigned of, int i) { return (int)(of >> 4 * i & 15u); }
template <int SAMPLES> __device__ __forceinline__ int sample_x(int i) { return 16 * nibble(SAMPLES == 1 ? 8u : SAMPLES == 4 ? 0xa2e6u : 0xfb135d79u, i); }
template <int SAMPLES> __device__ __forceinline__ int sample_y(int i) { return 16 * nibble(SAMPLES == 1 ? 8u : SAMPLES == 4 ? 0xea62u : 0x1f7d39b5u, i); }
// The sample that is the k-th of its pixel from the left, and where it is.
template <int SAMPLES> __device__ __forceinline__ int sample_of_column(int k) { return nibble(SAMPLES == 1 ? 0u : SAMPLES == 4 ? 0x1302u : 0x72601345u, k); }
template <int SAMPLES> __device__ __forceinline__ int column_y(int k) { return 16 * nibble(SAMPLES == 1 ? 8u : SAMPLES == 4 ? 0x6e2au : 0x19f5b3d7u, k); }

// What a sample has, whose least or largest is sought: keys, or positive floats, which are in the order of their bits.
template <bool KEYS> struct values;
template <> struct values<true> {
    typedef unsigned long long type;
    static constexpr type NONE = MODAL_RASTER_EMPTY;
    static __device__ __forceinline__ type *of(const modal_raster_task &task) { return reinterpret_cast<type *>(task.keys); }
    static __device__ __forceinline__ type make(float depth, uint32_t t) { return raster_key(depth, t); }
    static __device__ __forceinline__ bool nearer(type a, type b) { return a < b; }
    static __device__ __forceinline__ void put(type *to, type value) { atomicMin(to, value); }
};
template <> struct values<false> {
    typedef unsigned type;
    static constexpr type NONE = 0;
    static __device__ __forceinline__ type *of(const modal_raster_task &task) { return reinterpret_cast<type *>(task.depths); }
    static __device__ __forceinline__ type make(float depth, uint32_t) { return modal_float_bits(depth); }
    static __device__ __forceinline__ bool nearer(type a, type b) { return a > b; }
    static __device__ __forceinline__ void put(type *to, type value) { atomicMax(to, value); }
};

// Whether a triangle is tested. TEST: those that have one of the task's flags are, by images or (2) also by solids.
template <int TEST> __device__ __forceinline__ bool is_tested(const modal_raster_task &task, uint32_t t)
{
    return TEST && __ldg(task.mesh.flags + t) & task.test;
}
template <int TEST> __device__ __forceinline__ bool is_there(const modal_raster_task &task, uint32_t t, int x, int y)
{
    raster_clip corners[3];
    paint_view_corners(&task.mesh, task.view, t, corners);
    return paint_is_there(&task, t, corners, (float)x / 256.0f, (float)y / 256.0f, TEST == 2);
}

// Sample i of pixel (x, y), which the triangle covers.
template <int SAMPLES, bool KEYS, int TEST>
__device__ __forceinline__ void plot(const modal_raster_task &task, bool tested, uint32_t t, int x, int y, int i, float depth)
{
    typedef values<KEYS> of;
    volatile typename of::type *const at = of::of(task) + (((int64_t)y * task.width + x) * SAMPLES + i);
    const auto value = of::make(depth, t);
    if (TEST && tested && (!of::nearer(value, *at) || !is_there<TEST>(task, t, 256 * x + sample_x<SAMPLES>(i), 256 * y + sample_y<SAMPLES>(i)))) return;
    of::put(const_cast<typename of::type *>(at), value);
}

// ---- emptied ----

// A triangle, or what it is cut into.
struct piece {
    raster_setup r;
    raster_edges<int64_t> e;
};

// Of one of the last triangles; their number.
__device__ int pieces_of(const modal_raster_task &task, int64_t t, piece pieces[RASTER_MOST_CORNERS - 2])
{
    const unsigned flags = task.mesh.flags ? task.mesh.flags[t] : 0;
    raster_point p[RASTER_MOST_CORNERS];
    int front, n = 0;
    if (!raster_is_wanted(&task, flags)) return 0;
    const int n_corners = raster_polygon(&task.mesh, task.view, t, p, &front);
    if (!raster_is_drawn(&task, flags, front)) return 0;
    for (int k = 2; k < n_corners; k++) {
        const int64_t area = raster_area(&p[0], &p[k - 1], &p[k]);
        raster_setup r;
        if (area == 0 || !raster_box(&r, &p[0], &p[k - 1], &p[k], task.width, task.height, task.samples)) continue;
        raster_set_up(&r, &p[0], &p[k - 1], &p[k], area);
        pieces[n].r = r;
        pieces[n++].e = raster_edges<int64_t>(r);
    }
    return n;
}

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(BEGIN_THREADS, BEGIN_EACH) begin(const state s)
{
    typedef values<KEYS> of;
    typedef typename of::type value;
    constexpr int EACH = 16 / sizeof(value);
    __shared__ piece pieces[LAST][RASTER_MOST_CORNERS - 2];
    __shared__ int n_pieces[LAST];
    const modal_raster_task &task = s.task;
    const int64_t from = blockIdx.x * (int64_t)BEGIN_THREADS + threadIdx.x, step = gridDim.x * (int64_t)BEGIN_THREADS;
    const int64_t first_last = task.mesh.n_triangles - LAST;
    if (threadIdx.x % 32 == 0 && threadIdx.x / 32 < LAST) {
        const int which = threadIdx.x / 32;
        n_pieces[which] = first_last + which >= 0 ? pieces_of(task, first_last + which, pieces[which]) : 0;
    }
    if (from < 2) s.n_listed[from] = 0;
    {
        constexpr int AT_ONCE = 2; // are on their way
        const modal_raster_view view = *task.view;
        const int64_t n = task.mesh.n_points + task.mesh.n_more;
        for (int64_t i = from; i < n; i += AT_ONCE * step) {
            float points[AT_ONCE][3];
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                const float *point = raster_point_of(&task.mesh, (int32_t)(i + j * step < n ? i + j * step : i));
                for (int k = 0; k < 3; k++) points[j][k] = __ldg(point + k);
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                const raster_point p = raster_project(&view, points[j]);
                if (i + j * step < n) reinterpret_cast<int4 *>(s.points)[i + j * step] = make_int4(p.x, p.y, __float_as_int(p.depth), (int)p.outside);
            }
        }
    }
    __syncthreads();
    modal_cuda::let_next_begin();
    const int64_t n = (int64_t)task.width * task.height * SAMPLES;
    value *const to = of::of(task);
    const bool wide = reinterpret_cast<uintptr_t>(to) % 16 == 0;
    for (int64_t i = from; i * EACH < n; i += step) {
        value here[EACH];
        int x[EACH], y[EACH];
        const unsigned pixel = (unsigned)(i * EACH / SAMPLES);
        x[0] = (int)(pixel % (unsigned)task.width), y[0] = (int)(pixel / (unsigned)task.width);
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            here[j] = of::NONE;
            if (j == 0) continue;
            const bool next = SAMPLES == 1 && x[j - 1] + 1 == task.width;
            x[j] = SAMPLES > 1 ? x[0] : next ? 0 : x[j - 1] + 1;
            y[j] = y[j - 1] + next;
        }
        for (int which = 0; which < LAST; which++) {
            const uint32_t t = (uint32_t)(first_last + which);
            for (int k = 0; k < n_pieces[which]; k++) {
                const piece &p = pieces[which][k];
                if (y[EACH - 1] < p.r.top || y[0] > p.r.bottom) continue;
#pragma unroll
                for (int j = 0; j < EACH; j++) {
                    const int sample = (int)((i * EACH + j) % SAMPLES), dx = sample_x<SAMPLES>(sample), dy = sample_y<SAMPLES>(sample);
                    const int sx = 256 * (x[j] - p.r.left) + dx, sy = 256 * (y[j] - p.r.top) + dy;
                    const int64_t e0 = p.e.at(0, sx, sy), e1 = p.e.at(1, sx, sy), e2 = p.e.at(2, sx, sy);
                    if (!p.e.covers(e0, e1, e2)) continue;
                    const value mine = of::make(p.e.depth(p.r, e1, e2), t);
                    if (!of::nearer(mine, here[j])) continue;
                    if (!TEST || !is_tested<TEST>(task, t) || is_there<TEST>(task, t, 256 * x[j] + dx, 256 * y[j] + dy)) here[j] = mine;
                }
            }
        }
        if (wide && (i + 1) * EACH <= n) {
            int4 words;
            memcpy(&words, here, 16);
            reinterpret_cast<int4 *>(to)[i] = words;
        } else {
            for (int j = 0; j < EACH && i * EACH + j < n; j++) to[i * EACH + j] = here[j];
        }
    }
}

// ---- drawn ----

// All samples of a small triangle's box, which lie in columns: SAMPLES a pixel, each with one of a row's pixel.
template <int SAMPLES, bool KEYS, int TEST> __device__ __forceinline__ void draw_columns(const modal_raster_task &task, const raster_setup &r, uint32_t t)
{
    constexpr int SHIFT = SAMPLES == 1 ? 8 : SAMPLES == 4 ? 6 : 5, APART = 1 << SHIFT;
    const raster_edges<int32_t> e(r);
    const int left = min(r.x[0], min(r.x[1], r.x[2])), right = max(r.x[0], max(r.x[1], r.x[2]));
    const int top = min(r.y[0], min(r.y[1], r.y[2])), bottom = max(r.y[0], max(r.y[1], r.y[2]));
    const int first = max((left + APART / 2 - 1) >> SHIFT, 0), last = min((right - APART / 2) >> SHIFT, task.width * SAMPLES - 1);
    const bool tested = is_tested<TEST>(task, t);
#pragma unroll 1
    for (int column = first; column <= last; column++) {
        const int k = column % SAMPLES, x = column / SAMPLES, dy = column_y<SAMPLES>(k);
        const int end = min((bottom - dy) >> 8, task.height - 1), sx = APART * column + APART / 2 - 256 * r.left;
        int y = max((top - dy + 255) >> 8, 0);
        const int sy = 256 * (y - r.top) + dy;
        int32_t e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
#pragma unroll 1
        for (; y <= end; y++, e0 += 256 * e.b[0], e1 += 256 * e.b[1], e2 += 256 * e.b[2])
            if (e.covers(e0, e1, e2)) plot<SAMPLES, KEYS, TEST>(task, tested, t, x, y, sample_of_column<SAMPLES>(k), e.depth(r, e1, e2));
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

__device__ __forceinline__ how set_up(const state &s, const int32_t corners[3], unsigned flags, int samples, raster_setup &r)
{
    const modal_raster_task &task = s.task;
    if (!raster_is_wanted(&task, flags)) return NOTHING;
    const raster_point a = load(s.points + corners[0]), b = load(s.points + corners[1]), c = load(s.points + corners[2]);
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

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(THREADS) draw(const state s, int64_t n)
{
    const int lane = threadIdx.x % 32;
    const int64_t t = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    raster_setup r = {};
    int32_t corners[3] = {};
    unsigned flags = 0;
    if (t < n) { // before what comes from the launch before
        flags = s.task.mesh.flags ? __ldg(s.task.mesh.flags + t) : 0;
        for (int k = 0; k < 3; k++) corners[k] = __ldg(s.task.mesh.triangles + 3 * t + k);
    }
    modal_cuda::wait_for_previous();
    modal_cuda::let_next_begin();
    const how mine = t < n ? set_up(s, corners, flags, SAMPLES, r) : NOTHING;
    if (mine == BY_THREAD) draw_columns<SAMPLES, KEYS, TEST>(s.task, r, (uint32_t)t);
    __syncwarp();
    for (unsigned left = __ballot_sync(~0u, mine == BY_WARP); left; left &= left - 1) {
        const int from = __ffs(left) - 1, sample = lane % SAMPLES;
        const raster_setup one = from_lane(r, from);
        const raster_edges<int32_t> e(one);
        const uint32_t which = (uint32_t)(t - lane + from);
        const bool tested = is_tested<TEST>(s.task, which);
        const unsigned width = one.right - one.left + 1, pixels = width * (one.bottom - one.top + 1);
        for (unsigned i = lane / SAMPLES; i < pixels; i += 32 / SAMPLES) {
            const int x = (int)(i % width), y = (int)(i / width), sx = 256 * x + sample_x<SAMPLES>(sample), sy = 256 * y + sample_y<SAMPLES>(sample);
            const int32_t e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
            if (e.covers(e0, e1, e2)) plot<SAMPLES, KEYS, TEST>(s.task, tested, which, one.left + x, one.top + y, sample, e.depth(one, e1, e2));
        }
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
    const bool tested = is_tested<TEST>(task, t);
    const int first_x = r.left / TILE, first_y = r.top / TILE, across = r.right / TILE - first_x + 1;
    const int64_t n_tiles = (int64_t)across * (r.bottom / TILE - first_y + 1);
    for (int64_t tile = first; tile < n_tiles; tile += step) {
        const int x = (first_x + (int)(tile % across)) * TILE + threadIdx.x % TILE;
        const int y = (first_y + (int)(tile / across)) * TILE + threadIdx.x / TILE;
        if (x < r.left || x > r.right || y < r.top || y > r.bottom) continue;
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) {
            const int sx = 256 * (x - r.left) + raster_sample_x(SAMPLES, i), sy = 256 * (y - r.top) + raster_sample_y(SAMPLES, i);
            const int64_t e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
            if (e.covers(e0, e1, e2)) plot<SAMPLES, KEYS, TEST>(task, tested, t, x, y, i, e.depth(r, e1, e2));
        }
    }
}

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(TILE * TILE) draw_listed(const state s)
{
    __shared__ raster_point corners[RASTER_MOST_CORNERS];
    __shared__ int n_corners;
    modal_cuda::wait_for_previous();
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
    const int64_t n = s.task.mesh.n_triangles - LAST; // the others are drawn by begin
    modal_cuda_machine machine;
    modal_status status = MODAL_OK;
    auto *const first = begin<SAMPLES, KEYS, TEST>;
    auto *const small = draw<SAMPLES, KEYS, TEST>;
    auto *const listed = draw_listed<SAMPLES, KEYS, TEST>;
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    MODAL_TRY(modal_cuda::launch(first, BEGIN_EACH * machine.n_multiprocessors, BEGIN_THREADS, stream, "raster", err, s));
    if (n <= 0) return MODAL_OK;
    MODAL_TRY(modal_cuda::launch_overlapping(machine, small, (unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream, "raster", err, s, n));
    MODAL_TRY(modal_cuda::launch_overlapping(machine, listed, (unsigned)(BLOCKS_EACH * machine.n_multiprocessors), TILE * TILE, 0, stream,
                                             "raster of listed triangles", err, s));
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
    if (n_points == 0 || task->mesh.n_triangles == 0)
        return modal_cuda_status(task->keys ? cudaMemsetAsync(task->keys, 0xff, (size_t)n_samples * 8, stream)
                                            : cudaMemsetAsync(task->depths, 0, (size_t)n_samples * 4, stream), "raster", err);
    if (task->depths) return launch<1, false>(s, stream, err);
    return task->samples == 1 ? launch<1, true>(s, stream, err)
                              : task->samples == 4 ? launch<4, true>(s, stream, err) : launch<8, true>(s, stream, err);
}
