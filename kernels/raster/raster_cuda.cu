// SPDX-License-Identifier: Apache-2.0
// The picture is emptied, a warp some pixels of a row, and what a ground has, the last triangles, drawn in the same breath: without atomics, and what the
// ground fills is written once. Beside that a thread projects a point. Then a thread sets up a triangle and draws it if its box is small, one column of
// samples after the other. Larger ones are listed: those of up to MOST_DRAWN pixels are drawn by DRAWERS threads, each a sample, up to MEDIUM pixels long by a
// block, a thread a pixel of a tile; what is larger, or must be cut, by all blocks. The nearest triangle of a sample is found by atomic minima, whose result no
// order of the threads changes. Nobody waits for one: a look before, which spares those that change nothing, is waited for, and takes twice the time
// (kernels/VERSIONS.md); only where an image is to be asked, it is looked before.
#include "kernels/cuda_launch.cuh"
#include "kernels/modal_sum/overlap.cuh"
#include "kernels/raster/alpha_math.h"
#include "kernels/raster/raster_edges.cuh"

namespace {

constexpr int THREADS = 128, TILE = 16, MEDIUM = 256, BLOCKS_EACH = 8;
constexpr int DRAWERS = 16, MOST_DRAWN = 512;
// Pixels of a box that a thread draws: of those that are tested fewer, since a test takes as long as hundreds of samples.
template <int SAMPLES, int TEST> constexpr int DIRECT = TEST ? 24 : 64 / SAMPLES;
constexpr int BEGIN_THREADS = 256, BEGIN_EACH = 4; // blocks a multiprocessor
constexpr int LAST = 2; // triangles at the end of a mesh, where a scene's ground is
constexpr int64_t FIRST = 256; // bytes of the scratch before the points: the numbers of listed triangles

enum list { OF_GROUPS, OF_BLOCKS, OF_ALL, LISTS };

struct state {
    modal_raster_task task;
    raster_point *points;
    uint32_t *listed;   // [2, n_triangles]: of groups; of blocks from the front, of all from the back
    unsigned *n_listed; // [LISTS]
};

__device__ __forceinline__ uint32_t *listed_at(const state &s, int list, unsigned i)
{
    const int64_t n = s.task.mesh.n_triangles;
    return s.listed + (list == OF_GROUPS ? i : list == OF_BLOCKS ? n + i : 2 * n - 1 - i);
}

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
    static constexpr int EACH = 2, SPANS = 4; // of 16 bytes; pieces of 16 bytes that a thread has of a row
    static constexpr type NONE = MODAL_RASTER_EMPTY;
    static __device__ __forceinline__ type *of(const modal_raster_task &task) { return reinterpret_cast<type *>(task.keys); }
    static __device__ __forceinline__ type make(float depth, uint32_t t) { return raster_key(depth, t); }
    static __device__ __forceinline__ bool nearer(type a, type b) { return a < b; }
    static __device__ __forceinline__ void put(type *to, type value) { atomicMin(to, value); }
};
template <> struct values<false> {
    typedef unsigned type;
    static constexpr int EACH = 4, SPANS = 2;
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

// Samples that small tested triangles of a block cover: they are asked for once all are there, a thread a sample, since a test takes as long as hundreds of
// samples and few threads of a warp have one at a time.
template <int SAMPLES> struct waiting {
    static constexpr int MOST = SAMPLES == 1 ? 1024 : 2048;
    raster_clip corners[THREADS][3];
    float depths[MOST];
    uint32_t places[MOST];    // x | y << 16
    unsigned short who[MOST]; // thread | sample << 8
    unsigned n;
};
template <> struct waiting<0> { // none
    unsigned n;
};

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

// Whether a triangle is drawn while the picture is emptied. One that is tested is not: it would hold registers of all.
__device__ __forceinline__ bool is_last(const modal_raster_task &task, int64_t t, unsigned flags)
{
    return t >= task.mesh.n_triangles - LAST && !(flags & task.test);
}

// Of one of the last triangles; their number.
__device__ int pieces_of(const modal_raster_task &task, int64_t t, piece pieces[RASTER_MOST_CORNERS - 2])
{
    const unsigned flags = task.mesh.flags ? task.mesh.flags[t] : 0;
    raster_point p[RASTER_MOST_CORNERS];
    int front, n = 0;
    if (!is_last(task, t, flags) || !raster_is_wanted(&task, flags)) return 0;
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

__device__ __forceinline__ void project(const state &s, int64_t from, int64_t step)
{
    constexpr int AT_ONCE = 2; // are on their way
    const modal_raster_view view = *s.task.view;
    const int64_t n = s.task.mesh.n_points + s.task.mesh.n_more;
    for (int64_t i = from; i < n; i += AT_ONCE * step) {
        float points[AT_ONCE][3];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const float *point = raster_point_of(&s.task.mesh, (int32_t)(i + j * step < n ? i + j * step : i));
            for (int k = 0; k < 3; k++) points[j][k] = __ldg(point + k);
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const raster_point p = raster_project(&view, points[j]);
            if (i + j * step < n) reinterpret_cast<int4 *>(s.points)[i + j * step] = make_int4(p.x, p.y, __float_as_int(p.depth), (int)p.outside);
        }
    }
}

// Pieces of 16 bytes of a row, a warp's beside one another: what the last triangles have of them.
template <int SAMPLES, bool KEYS>
__device__ __forceinline__ void draw_span(const piece &p, uint32_t t, int x0, int y, int lane,
                                          typename values<KEYS>::type here[values<KEYS>::SPANS][values<KEYS>::EACH])
{
    typedef values<KEYS> of;
    constexpr int EACH = of::EACH, SPANS = of::SPANS, APART = 32 * EACH / SAMPLES; // pixels from one of a thread's pieces to the next
    int64_t step[3];
    bool apart = false; // the warp's part of the row lies outside of an edge
#pragma unroll
    for (int k = 0; k < 3; k++) {
        step[k] = (int64_t)p.e.a[k] * (256 * APART);
        const int x = 256 * (x0 - p.r.left), above = 256 * (y - p.r.top);
        apart |= p.e.at(k, p.e.a[k] > 0 ? x + 256 * APART * SPANS : x, p.e.b[k] > 0 ? above + 256 : above) < 0;
    }
    if (apart) return;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const int sample = (lane * EACH + j) % SAMPLES;
        const int x = 256 * (x0 + (lane * EACH + j) / SAMPLES - p.r.left) + sample_x<SAMPLES>(sample), at = 256 * (y - p.r.top) + sample_y<SAMPLES>(sample);
        int64_t e0 = p.e.at(0, x, at), e1 = p.e.at(1, x, at), e2 = p.e.at(2, x, at);
#pragma unroll
        for (int i = 0; i < SPANS; i++, e0 += step[0], e1 += step[1], e2 += step[2]) {
            if (!p.e.covers(e0, e1, e2)) continue;
            const auto value = of::make(p.e.depth(p.r, e1, e2), t);
            if (of::nearer(value, here[i][j])) here[i][j] = value;
        }
    }
}

template <int SAMPLES, bool KEYS> __global__ void __launch_bounds__(BEGIN_THREADS, BEGIN_EACH) begin(const state s)
{
    typedef values<KEYS> of;
    typedef typename of::type value;
    constexpr int EACH = of::EACH, SPANS = of::SPANS, PIXELS = 32 * EACH * SPANS / SAMPLES; // of a warp
    __shared__ piece pieces[LAST][RASTER_MOST_CORNERS - 2];
    __shared__ int n_pieces[LAST];
    const modal_raster_task &task = s.task;
    const int64_t from = blockIdx.x * (int64_t)BEGIN_THREADS + threadIdx.x, first_last = task.mesh.n_triangles - LAST;
    const int lane = threadIdx.x % 32;
    if (lane == 0 && threadIdx.x / 32 < LAST) {
        const int which = threadIdx.x / 32;
        n_pieces[which] = first_last + which >= 0 ? pieces_of(task, first_last + which, pieces[which]) : 0;
    }
    if (from < LISTS) s.n_listed[from] = 0;
    project(s, from, gridDim.x * (int64_t)BEGIN_THREADS);
    __syncthreads();
    modal_cuda::let_next_begin();
    const unsigned of_row = ((unsigned)task.width + PIXELS - 1) / PIXELS, n = of_row * (unsigned)task.height;
    for (unsigned i = (unsigned)(from / 32); i < n; i += gridDim.x * (BEGIN_THREADS / 32)) {
        const int y = (int)(i / of_row), x0 = (int)(i % of_row) * PIXELS;
        value here[SPANS][EACH];
#pragma unroll
        for (int k = 0; k < SPANS * EACH; k++) here[k / EACH][k % EACH] = of::NONE;
        for (int which = 0; which < LAST; which++)
            for (int k = 0; k < n_pieces[which]; k++) {
                const piece &p = pieces[which][k];
                if (y < p.r.top || y > p.r.bottom || x0 > p.r.right || x0 + PIXELS <= p.r.left) continue;
                draw_span<SAMPLES, KEYS>(p, (uint32_t)(first_last + which), x0, y, lane, here);
            }
        const int left = (task.width - x0) * SAMPLES; // samples to the row's end
        value *const to = of::of(task) + ((int64_t)y * task.width + x0) * SAMPLES;
        const bool wide = reinterpret_cast<uintptr_t>(to) % 16 == 0;
#pragma unroll
        for (int k = 0; k < SPANS; k++) {
            const int at = (k * 32 + lane) * EACH;
            if (wide && at + EACH <= left) {
                int4 words;
                memcpy(&words, here[k], 16);
                *reinterpret_cast<int4 *>(to + at) = words;
            } else {
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    if (at + j < left) to[at + j] = here[k][j];
            }
        }
    }
}

// ---- drawn ----

// All samples of a small triangle's box, which lie in columns: SAMPLES a pixel, each with one of a row's pixel.
template <int SAMPLES, class TO> __device__ __forceinline__ void draw_columns(const modal_raster_task &task, const raster_setup &r, const TO &to)
{
    constexpr int SHIFT = SAMPLES == 1 ? 8 : SAMPLES == 4 ? 6 : 5, APART = 1 << SHIFT;
    const raster_edges<int32_t> e(r);
    const int left = min(r.x[0], min(r.x[1], r.x[2])), right = max(r.x[0], max(r.x[1], r.x[2]));
    const int top = min(r.y[0], min(r.y[1], r.y[2])), bottom = max(r.y[0], max(r.y[1], r.y[2]));
    const int first = max((left + APART / 2 - 1) >> SHIFT, 0), last = min((right - APART / 2) >> SHIFT, task.width * SAMPLES - 1);
#pragma unroll 1
    for (int column = first; column <= last; column++) {
        const int k = column % SAMPLES, x = column / SAMPLES, dy = column_y<SAMPLES>(k);
        const int end = min((bottom - dy) >> 8, task.height - 1), sx = APART * column + APART / 2 - 256 * r.left;
        int y = max((top - dy + 255) >> 8, 0);
        const int sy = 256 * (y - r.top) + dy;
        int32_t e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
#pragma unroll 1
        for (; y <= end; y++, e0 += 256 * e.b[0], e1 += 256 * e.b[1], e2 += 256 * e.b[2])
            if (e.covers(e0, e1, e2)) to(x, y, sample_of_column<SAMPLES>(k), e.depth(r, e1, e2));
    }
}

enum how { OF_LISTS = LISTS, BY_THREAD, NOTHING }; // or which list it goes to

__device__ __forceinline__ int set_up(const state &s, const int32_t corners[3], unsigned flags, int samples, int direct, raster_setup &r)
{
    const modal_raster_task &task = s.task;
    if (!raster_is_wanted(&task, flags)) return NOTHING;
    const raster_point a = load(s.points + corners[0]), b = load(s.points + corners[1]), c = load(s.points + corners[2]);
    const uint32_t outside = a.outside | b.outside | c.outside;
    if (outside) return (a.outside & b.outside & c.outside) || (outside & RASTER_NOT_FINITE) ? (int)NOTHING : (int)OF_ALL;
    const int64_t area = raster_area(&a, &b, &c);
    if (area == 0 || !raster_is_drawn(&task, flags, area < 0)) return NOTHING;
    if (!raster_box(&r, &a, &b, &c, task.width, task.height, samples)) return NOTHING;
    const int width = max(a.x, max(b.x, c.x)) - min(a.x, min(b.x, c.x)), height = max(a.y, max(b.y, c.y)) - min(a.y, min(b.y, c.y));
    if (width >= 256 * MEDIUM || height >= 256 * MEDIUM) return OF_ALL;
    if (!raster_is_small(a, b, c)) return OF_BLOCKS;
    const int pixels = (r.right - r.left + 1) * (r.bottom - r.top + 1);
    if (pixels > direct) return pixels > MOST_DRAWN ? OF_BLOCKS : OF_GROUPS;
    raster_set_up(&r, &a, &b, &c, area);
    return BY_THREAD;
}

template <int SAMPLES, bool KEYS, int TEST> __device__ __forceinline__ void ask(const modal_raster_task &task, const waiting<SAMPLES> &w, int64_t first)
{
    typedef values<KEYS> of;
    const unsigned n = min(w.n, (unsigned)waiting<SAMPLES>::MOST);
    for (unsigned k = threadIdx.x; k < n; k += THREADS) {
        const int x = (int)(w.places[k] & 0xffffu), y = (int)(w.places[k] >> 16), thread = w.who[k] & 255, i = w.who[k] >> 8;
        volatile typename of::type *const at = of::of(task) + (((int64_t)y * task.width + x) * SAMPLES + i);
        const uint32_t t = (uint32_t)(first + thread);
        const auto value = of::make(w.depths[k], t);
        const float at_x = (float)(256 * x + sample_x<SAMPLES>(i)) / 256.0f, at_y = (float)(256 * y + sample_y<SAMPLES>(i)) / 256.0f;
        if (of::nearer(value, *at) && paint_is_there(&task, t, w.corners[thread], at_x, at_y, TEST == 2)) of::put(const_cast<typename of::type *>(at), value);
    }
}

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(THREADS) draw(const state s)
{
    __shared__ waiting<TEST ? SAMPLES : 0> w;
    const modal_raster_task &task = s.task;
    const int lane = threadIdx.x % 32;
    const int64_t first = blockIdx.x * (int64_t)THREADS, t = first + threadIdx.x, n = task.mesh.n_triangles;
    raster_setup r = {};
    int32_t corners[3] = {};
    unsigned flags = 0;
    if (t < n) { // before what comes from the launch before
        flags = task.mesh.flags ? __ldg(task.mesh.flags + t) : 0;
        for (int k = 0; k < 3; k++) corners[k] = __ldg(task.mesh.triangles + 3 * t + k);
    }
    if constexpr (TEST) {
        if (threadIdx.x == 0) w.n = 0;
        __syncthreads();
    }
    modal_cuda::wait_for_previous();
    modal_cuda::let_next_begin();
    const int mine = t < n && !is_last(task, t, flags) ? set_up(s, corners, flags, SAMPLES, DIRECT<SAMPLES, TEST>, r) : (int)NOTHING;
    if (mine == BY_THREAD) {
        const bool tested = TEST && flags & task.test;
        bool any = false;
        draw_columns<SAMPLES>(task, r, [&](int x, int y, int i, float depth) {
            if constexpr (TEST) {
                const unsigned place = tested ? atomicAdd(&w.n, 1u) : 0;
                if (tested && place < (unsigned)waiting<SAMPLES>::MOST) {
                    w.places[place] = (uint32_t)x | (uint32_t)y << 16;
                    w.who[place] = (unsigned short)(threadIdx.x | (unsigned)i << 8);
                    w.depths[place] = depth;
                    any = true;
                    return;
                }
            }
            plot<SAMPLES, KEYS, TEST>(task, tested, (uint32_t)t, x, y, i, depth);
        });
        if constexpr (TEST)
            if (any) paint_view_corners(&task.mesh, task.view, (uint32_t)t, w.corners[threadIdx.x]);
    }
    if constexpr (TEST) {
        __syncthreads();
        ask<SAMPLES, KEYS, TEST>(task, w, first);
    }
    __syncwarp();
    if (!__ballot_sync(~0u, mine < LISTS)) return;
#pragma unroll
    for (int list = 0; list < LISTS; list++) {
        const unsigned which = __ballot_sync(~0u, mine == list);
        if (!which) continue;
        unsigned place = 0;
        if (lane == 0) place = atomicAdd(s.n_listed + list, __popc(which));
        place = __shfl_sync(~0u, place, 0) + __popc(which & ((1u << lane) - 1));
        if (mine == list) *listed_at(s, list, place) = (uint32_t)t;
    }
}

// DRAWERS threads, each a sample of each so many pixels.
template <int SAMPLES, bool KEYS, int TEST> __device__ __forceinline__ void draw_group(const state &s, uint32_t t)
{
    const modal_raster_task &task = s.task;
    const int32_t *corners = task.mesh.triangles + 3 * (int64_t)t;
    const raster_point a = load(s.points + __ldg(corners)), b = load(s.points + __ldg(corners + 1)), c = load(s.points + __ldg(corners + 2));
    const int sample = (int)threadIdx.x % SAMPLES;
    raster_setup r;
    (void)raster_box(&r, &a, &b, &c, task.width, task.height, SAMPLES); // it has one, and an area
    raster_set_up(&r, &a, &b, &c, raster_area(&a, &b, &c));
    const raster_edges<int32_t> e(r);
    const bool tested = is_tested<TEST>(task, t);
    const int width = r.right - r.left + 1, down = (DRAWERS / SAMPLES) / width, right = (DRAWERS / SAMPLES) % width;
    int x = (int)(threadIdx.x % DRAWERS) / SAMPLES, y = 0;
    for (; x >= width; y++) x -= width;
    for (; y <= r.bottom - r.top; x += right, y += down) {
        if (x >= width) x -= width, y++;
        if (y > r.bottom - r.top) break;
        const int sx = 256 * x + sample_x<SAMPLES>(sample), sy = 256 * y + sample_y<SAMPLES>(sample);
        const int32_t e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
        if (e.covers(e0, e1, e2)) plot<SAMPLES, KEYS, TEST>(task, tested, t, r.left + x, r.top + y, sample, e.depth(r, e1, e2));
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

template <int SAMPLES, bool KEYS, int TEST> __global__ void __launch_bounds__(TILE * TILE, TEST ? 2 : 4) draw_listed(const state s)
{
    __shared__ raster_point corners[RASTER_MOST_CORNERS];
    __shared__ int n_corners;
    modal_cuda::wait_for_previous();
    const unsigned n_groups = s.n_listed[OF_GROUPS], n_blocks = s.n_listed[OF_BLOCKS], n_large = s.n_listed[OF_ALL];
    for (unsigned i = blockIdx.x; i < n_blocks; i += gridDim.x) {
        const uint32_t t = *listed_at(s, OF_BLOCKS, i);
        const int32_t *points = s.task.mesh.triangles + 3 * (int64_t)t;
        draw_tiles<SAMPLES, KEYS, TEST>(s.task, load(s.points + points[0]), load(s.points + points[1]), load(s.points + points[2]), t, 0, 1);
    }
    for (unsigned i = (blockIdx.x * TILE * TILE + threadIdx.x) / DRAWERS; i < n_groups; i += gridDim.x * (TILE * TILE / DRAWERS))
        draw_group<SAMPLES, KEYS, TEST>(s, *listed_at(s, OF_GROUPS, i));
    for (unsigned i = 0; i < n_large; i++) {
        const uint32_t t = *listed_at(s, OF_ALL, i);
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
    auto *const first = begin<SAMPLES, KEYS>;
    auto *const small = draw<SAMPLES, KEYS, TEST>, *const listed = draw_listed<SAMPLES, KEYS, TEST>;
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    MODAL_TRY(modal_cuda::launch(first, BEGIN_EACH * machine.n_multiprocessors, BEGIN_THREADS, stream, "raster", err, s));
    MODAL_TRY(modal_cuda::launch_overlapping(machine, small, (unsigned)blocks, THREADS, 0, stream, "raster", err, s));
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
