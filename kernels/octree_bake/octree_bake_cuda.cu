// SPDX-License-Identifier: Apache-2.0
// A warp a triangle, 8 x 4 texels at a time; triangles with many texels wait in a queue, and the whole device goes through each. Then a
// warp a row of 32 texels: their triangles' points, the look-up, and a bit of 32 by a vote.
// The sides of a texel are whole numbers below 2^53 for all but huge triangles, so doubles have them exactly, by two multiply-adds, where
// products of 64-bit integers took five times as long. Texels outside of a triangle but within reach are few: they are
// collected until there are 32. What a texel's point is made of is computed once a triangle (put_shape), in floats.
#include <cstddef>

#include "kernels/cuda_launch.cuh"
#include "kernels/octree_bake/octree_bake.h"
#include "kernels/octree_lookup/octree_lookup.cuh"

namespace {

using namespace modal_octree_device;

constexpr int THREADS = 256, WARPS = THREADS / 32, BLOCKS_AT_ONCE = 5, EACH = 4, // words of 32 texels a warp
    CLEARED = 8,                                                                 // texels a thread
    OFFER_THREADS = 128, OFFERS_AT_ONCE = 8, OFFER_WARPS = OFFER_THREADS / 32, TILE_X = 8, TILE_Y = 4,
              QUEUED = 16384,    // texels of a box from which on a triangle waits
              LARGE = 1 << 22;   // steps between corners from which on a triangle is `large`: its products are not exact
constexpr double STEPS = MODAL_BAKE_STEPS;

__global__ void __launch_bounds__(THREADS) clear(const modal_octree_bake_task t)
{
    const int64_t n = (int64_t)t.width * t.height, first = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    for (int64_t i = first; i < n; i += (int64_t)gridDim.x * THREADS) t.owner[i] = UINT64_MAX;
    if (first == 0) {
        *t.counts = {};
        t.queue[t.n_triangles] = 0;
    }
}

__device__ __forceinline__ void start(const modal_octree_bake_task &t, int64_t i, modal_bake_triangle *triangle)
{
    float uv[6];
#pragma unroll
    for (int k = 0; k < 6; k++) uv[k] = __ldg(t.uv + 6 * i + k);
    modal_bake_start(uv, t.reach, t.width, t.height, triangle);
}

__device__ __forceinline__ bool is_large(const modal_bake_triangle &t)
{
    bool large = false;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int j = k == 2 ? 0 : k + 1, x = t.x[j] - t.x[k], y = t.y[j] - t.y[k];
        large |= x > LARGE || x < -LARGE || y > LARGE || y < -LARGE;
    }
    return large;
}

// 1 where the texel overlaps another triangle that came before.
__device__ __forceinline__ unsigned offer(const modal_octree_bake_task &t, unsigned bits, int64_t i, int64_t x, int64_t y)
{
    const unsigned long long mine = (unsigned long long)bits << 32 | (unsigned long long)i;
    const unsigned long long there = atomicMin((unsigned long long *)t.owner + y * t.width + x, mine);
    return bits == 0 && there >> 32 == 0;
}

__device__ __forceinline__ void add_overlaps(const modal_octree_bake_task &t, unsigned overlapping)
{
    if (overlapping) atomicAdd((unsigned long long *)&t.counts->overlapping, (unsigned long long)overlapping);
}

// ---- what a texel's point is made of ----

// Of t.shapes: corner 0 in steps and the ways from it to 1 and 2, 1 / area (0: large) and 1 / length^2 of the edges from each corner; the
// corner's point and the ways from it.
struct shape {
    int32_t x, y;
    float e1[2], e2[2], area, edge0;
    float point[3], edge1, d1[3], edge2, d2[3], unused;
};
constexpr int SHAPE_AREA = 6;
static_assert(sizeof(shape) == 4 * MODAL_BAKE_SHAPE && offsetof(shape, area) == 4 * SHAPE_AREA, "a row of shapes");

__device__ __forceinline__ float inverse_square(float x, float y) { return (float)(1.0 / ((double)x * x + (double)y * y)); }

__device__ void put_shape(const modal_octree_bake_task &t, int64_t i, const modal_bake_triangle &triangle, bool large)
{
    shape s;
    const float *p = t.points + 9 * i, *p1 = p + (triangle.swapped ? 6 : 3), *p2 = p + (triangle.swapped ? 3 : 6);
    s.x = triangle.x[0], s.y = triangle.y[0];
    s.e1[0] = (float)(triangle.x[1] - triangle.x[0]), s.e1[1] = (float)(triangle.y[1] - triangle.y[0]);
    s.e2[0] = (float)(triangle.x[2] - triangle.x[0]), s.e2[1] = (float)(triangle.y[2] - triangle.y[0]);
    s.area = large ? 0.0f : (float)(1.0 / (double)triangle.area);
    s.edge0 = inverse_square(s.e1[0], s.e1[1]);
    s.edge1 = inverse_square(s.e2[0] - s.e1[0], s.e2[1] - s.e1[1]);
    s.edge2 = inverse_square(s.e2[0], s.e2[1]);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        s.point[k] = __ldg(p + k);
        s.d1[k] = __ldg(p1 + k) - s.point[k];
        s.d2[k] = __ldg(p2 + k) - s.point[k];
    }
    s.unused = 0;
    float4 *const to = (float4 *)(t.shapes + MODAL_BAKE_SHAPE * i);
    const float4 *const from = (const float4 *)&s;
#pragma unroll
    for (int k = 0; k < MODAL_BAKE_SHAPE / 4; k++) to[k] = from[k];
}

// a b - c d and a b + c d to 2 e (Kahan's; C.-P. Jeannerod, N. Louvet, J.-M. Muller, Further analysis of Kahan's algorithm, 2013), so
// their signs are right.
__device__ __forceinline__ float difference(float a, float b, float c, float d)
{
    const float w = c * d;
    return fmaf(a, b, -w) + fmaf(-c, d, w);
}

__device__ __forceinline__ float dot(float ax, float ay, float bx, float by) { return difference(ax, bx, -ay, by); }

// As the shape has the corners; products of 64 bits.
__device__ __forceinline__ float2 weights_of_large(const modal_octree_bake_task &t, int64_t i, int x, int y)
{
    modal_bake_triangle triangle;
    modal_bake_place place = {};
    start(t, i, &triangle);
    modal_bake_find(&triangle, x, y, t.reach, &place);
    const float b = (float)place.weights[0], c = (float)place.weights[1];
    return triangle.swapped ? make_float2(c, b) : make_float2(b, c);
}

// Of a texel outside of the triangle, (x, y) steps from corner 0. The nearest point is the foot on an edge that the texel is beyond, where that is on the
// edge: no point of a convex shape is nearer. Without such an edge it is the nearest corner.
__device__ __forceinline__ float2 weights_beyond(const float4 &a, const float4 &b, float edge1, float edge2, float x, float y)
{
    const float ex[3] = {a.z, b.x - a.z, -b.x}, ey[3] = {a.w, b.y - a.w, -b.y}, inverse[3] = {b.w, edge1, edge2};
    const float dx[3] = {x, x - a.z, x - b.x}, dy[3] = {y, y - a.w, y - b.y};
    int edge = -1;
    float at = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float ahead = dot(ex[k], ey[k], dx[k], dy[k]), left = dot(ex[k], ey[k], ex[k] - dx[k], ey[k] - dy[k]);
        if (!(difference(ex[k], dy[k], ey[k], dx[k]) < 0 && ahead > 0 && left > 0)) continue;
        edge = k;
        at = ahead * inverse[k];
    }
    if (edge < 0) {
        int64_t best = INT64_MAX;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int far_x = (int)dx[k], far_y = (int)dy[k];
            const int64_t square = (int64_t)far_x * far_x + (int64_t)far_y * far_y;
            if (square < best) best = square, edge = k;
        }
    }
    return edge == 0 ? make_float2(at, 0) : edge == 1 ? make_float2(1 - at, at) : make_float2(0, 1 - at);
}

// The point in cells whose value the texel gets. False: its triangle is large, and LARGE_ONES is not, or the other way round.
template <bool LARGE_ONES>
__device__ __forceinline__ bool point_of(const modal_octree_bake_task &t, uint64_t owner, int x, int y, float q[3])
{
    const int64_t i = (int64_t)(owner & UINT32_MAX);
    const float4 *const s = (const float4 *)(t.shapes + MODAL_BAKE_SHAPE * i);
    const float4 b = __ldg(s + 1);
    if ((b.z == 0) != LARGE_ONES) return false;
    const float4 a = __ldg(s), p = __ldg(s + 2), d1 = __ldg(s + 3), d2 = __ldg(s + 4);
    const float dx = (float)(x * MODAL_BAKE_STEPS + MODAL_BAKE_STEPS / 2 - __float_as_int(a.x)),
                dy = (float)(y * MODAL_BAKE_STEPS + MODAL_BAKE_STEPS / 2 - __float_as_int(a.y));
    float2 w;
    if constexpr (LARGE_ONES) w = weights_of_large(t, i, x, y);
    else if (owner >> 32 > 1) w = weights_beyond(a, b, p.w, d1.w, dx, dy); // owner has how far away it is, as modal_bake_place
    else w = make_float2(difference(dx, b.y, dy, b.x) * b.z, difference(a.z, dy, a.w, dx) * b.z);
    q[0] = fmaf(w.y, d2.x, fmaf(w.x, d1.x, p.x));
    q[1] = fmaf(w.y, d2.y, fmaf(w.x, d1.y, p.y));
    q[2] = fmaf(w.y, d2.z, fmaf(w.x, d1.z, p.z));
    return true;
}

// ---- offers ----

// A warp's triangle: corner k in steps from the first texel's centre, the edge from it, and texels beyond an edge but within reach.
struct warp_triangle {
    double x[3], y[3], ex[3], ey[3], length[3], inverse[3], limit[3]; // limit: no texel with a side below - limit is within reach
    unsigned waiting[64];                                             // x | y << 16 of a texel in the box
};

__device__ __forceinline__ void put_edge(const modal_bake_triangle &t, int k, double reach, warp_triangle *to)
{
    const int j = k == 2 ? 0 : k + 1, x = MODAL_BAKE_PICK(t.x, k), y = MODAL_BAKE_PICK(t.y, k);
    const double ex = (double)(MODAL_BAKE_PICK(t.x, j) - x), ey = (double)(MODAL_BAKE_PICK(t.y, j) - y), length = ex * ex + ey * ey;
    to->x[k] = (double)(x - (int)t.low[0] * MODAL_BAKE_STEPS - MODAL_BAKE_STEPS / 2);
    to->y[k] = (double)(y - (int)t.low[1] * MODAL_BAKE_STEPS - MODAL_BAKE_STEPS / 2);
    to->ex[k] = ex, to->ey[k] = ey, to->length[k] = length;
    to->inverse[k] = 1.0 / length;
    to->limit[k] = 1.000001 * reach * STEPS * sqrt(length);
}

// What modal_bake_find has for a texel beyond an edge, to the last bit; false: out of reach. The quotient: `inverse` and one correction
// are within 2^-105 of it, and quotients of whole numbers below 2^47 are farther than that from where rounding changes.
__device__ __forceinline__ bool find_beyond(const warp_triangle &w, double reach, double x, double y, float *square)
{
    double best = reach * reach * (STEPS * STEPS);
    bool within = false;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const double dx = x - w.x[k], dy = y - w.y[k], ex = w.ex[k], ey = w.ey[k], side = fma(ex, dy, -(ey * dx));
        if (!(side < 0)) continue;
        const double ahead = fma(ex, dx, ey * dy), length = w.length[k], fx = dx - ex, fy = dy - ey;
        double quotient = side * w.inverse[k];
        quotient = fma(fma(-quotient, length, side), w.inverse[k], quotient);
        const double here = ahead <= 0 ? fma(dx, dx, dy * dy) : ahead >= length ? fma(fx, fx, fy * fy) : quotient * side;
        if (here <= best) best = here, within = true;
    }
    *square = (float)(best * (1 / (STEPS * STEPS)));
    return within;
}

__global__ void __launch_bounds__(OFFER_THREADS, OFFERS_AT_ONCE) offer_small(const modal_octree_bake_task t)
{
    __shared__ warp_triangle all[OFFER_WARPS];
    warp_triangle &w = all[threadIdx.x / 32];
    const int lane = (int)threadIdx.x % 32;
    const unsigned before = (1u << lane) - 1;
    unsigned overlapping = 0;
    for (int64_t i = blockIdx.x * (int64_t)OFFER_WARPS + threadIdx.x / 32; i < t.n_triangles; i += (int64_t)gridDim.x * OFFER_WARPS) {
        modal_bake_triangle triangle;
        start(t, i, &triangle);
        const int64_t wide = triangle.high[0] - triangle.low[0], high = triangle.high[1] - triangle.low[1];
        if (wide <= 0 || high <= 0) continue;
        const bool large = is_large(triangle);
        if (lane == 0) put_shape(t, i, triangle, large);
        if (large || wide * high > QUEUED) {
            if (lane == 0) t.queue[atomicAdd(t.queue + t.n_triangles, 1)] = (int32_t)i;
            continue;
        }
        if (lane < 3) put_edge(triangle, lane, t.reach, &w);
        __syncwarp();
        const double ex0 = w.ex[0], ey0 = w.ey[0], ex2 = w.ex[2], ey2 = w.ey[2], area = (double)triangle.area;
        const double far0 = -w.limit[0], far1 = -w.limit[1], far2 = -w.limit[2];
        const int first_x = lane % TILE_X, first_y = lane / TILE_X;
        const int low_x = (int)triangle.low[0], low_y = (int)triangle.low[1];
        const double start_x = first_x * STEPS - w.x[0];
        double dy = first_y * STEPS - w.y[0];
        int n_waiting = 0;
        const auto offer_waiting = [&](int from, int to) {
            if (lane >= to - from) return;
            const int x = (int)(w.waiting[from + lane] & 0xffff), y = (int)(w.waiting[from + lane] >> 16);
            float square;
            if (find_beyond(w, t.reach, x * STEPS, y * STEPS, &square)) offer(t, __float_as_uint(square), i, low_x + x, low_y + y);
        };
        for (int y = first_y; y - first_y < (int)high; y += TILE_Y, dy += TILE_Y * STEPS) {
            double dx = start_x;
            for (int x = first_x; x - first_x < (int)wide; x += TILE_X, dx += TILE_X * STEPS) {
                // the three sides' sum is the area
                const double side0 = fma(ex0, dy, -(ey0 * dx)), side2 = fma(ex2, dy, -(ey2 * dx)), side1 = area - side0 - side2;
                const bool near = x < (int)wide && y < (int)high && side0 >= far0 && side1 >= far1 && side2 >= far2;
                const bool inside = near && side0 >= 0 && side1 >= 0 && side2 >= 0;
                const unsigned beyond = __ballot_sync(~0u, near && !inside);
                if (inside) overlapping += offer(t, side0 > 0 && side1 > 0 && side2 > 0 ? 0 : 1, i, low_x + x, low_y + y);
                if (!beyond) continue;
                if (near && !inside) w.waiting[n_waiting + __popc(beyond & before)] = (unsigned)x | (unsigned)y << 16;
                n_waiting += __popc(beyond);
                if (n_waiting < 32) continue;
                __syncwarp();
                offer_waiting(n_waiting - 32, n_waiting);
                __syncwarp();
                n_waiting -= 32;
            }
        }
        __syncwarp();
        offer_waiting(0, n_waiting);
        __syncwarp();
    }
    add_overlaps(t, overlapping);
}

__global__ void __launch_bounds__(THREADS) offer_queued(const modal_octree_bake_task t)
{
    unsigned overlapping = 0;
    const int n = t.queue[t.n_triangles];
    for (int q = 0; q < n; q++) {
        const int64_t i = t.queue[q];
        modal_bake_triangle triangle;
        start(t, i, &triangle);
        const unsigned row = (unsigned)(triangle.high[0] - triangle.low[0]), all = row * (unsigned)(triangle.high[1] - triangle.low[1]);
        for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < all; k += gridDim.x * THREADS) {
            const int64_t x = triangle.low[0] + k % row, y = triangle.low[1] + k / row;
            modal_bake_place place;
            if (modal_bake_find(&triangle, x, y, t.reach, &place)) overlapping += offer(t, __float_as_uint(place.square), i, x, y);
        }
    }
    add_overlaps(t, overlapping);
}

// ---- values ----

template <modal_octree_channels CHANNELS, bool LEVELS>
__device__ __forceinline__ bool value_at(const modal_octree_bake_task &t, const mip_set &set, uint64_t owner, const float q[3], float v[4])
{
    if constexpr (LEVELS) return look_up_level<CHANNELS>(t.grid, set, __ldg(t.levels + (owner & UINT32_MAX)), q[0], q[1], q[2], v);
    else return look_up<CHANNELS, false>(t.grid, q[0], q[1], q[2], v);
}

template <modal_octree_channels CHANNELS, bool LEVELS>
__global__ void __launch_bounds__(THREADS, BLOCKS_AT_ONCE)
    look_up_texels(const modal_octree_bake_task t, const __grid_constant__ mip_set set)
{
    __shared__ unsigned sums[2];
    const int words = (t.width + 31) / 32, lane = (int)threadIdx.x % 32, n = words * t.height; // words of 32 texels: below 2^24
    const int step = (int)gridDim.x * WARPS, rows = step / words, columns = step % words;
    int word = (int)(blockIdx.x * WARPS + threadIdx.x / 32), y = word / words, column = word % words;
    unsigned n_covered = 0, outside = 0;
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    __syncthreads();
    for (; word < n; word += step, y += rows, column += columns) {
        if (column >= words) column -= words, y++;
        const int x = column * 32 + lane;
        const int64_t at = (int64_t)y * t.width + x;
        const bool in = x < t.width;
        const uint64_t owner = in ? t.owner[at] : UINT64_MAX;
        const bool covered = owner != UINT64_MAX;
        const unsigned mask = __ballot_sync(~0u, covered);
        if (lane == 0) t.covered[word] = mask;
        bool found = false;
        float q[3], v[4];
        n_covered += covered;
        if (covered && point_of<false>(t, owner, x, y, q)) {
            found = value_at<CHANNELS, LEVELS>(t, set, owner, q, v);
            outside += !found;
        }
        if (in) put_value<CHANNELS>(t.values, at, found, v, t.outside, t.outside_rgba8);
    }
    n_covered = __reduce_add_sync(~0u, n_covered);
    outside = __reduce_add_sync(~0u, outside);
    if (lane == 0) atomicAdd(sums, n_covered), atomicAdd(sums + 1, outside);
    __syncthreads(); // one addition a block: all of them come to the same two words
    if (threadIdx.x == 0) atomicAdd((unsigned long long *)&t.counts->covered, (unsigned long long)sums[0]);
    if (threadIdx.x == 0 && sums[1]) atomicAdd((unsigned long long *)&t.counts->outside, (unsigned long long)sums[1]);
}

// Texels of large triangles, after look_up_texels; mostly there is no such triangle. Apart, for its registers.
template <modal_octree_channels CHANNELS, bool LEVELS>
__global__ void __launch_bounds__(THREADS) look_up_large(const modal_octree_bake_task t, const __grid_constant__ mip_set set)
{
    const int64_t n = (int64_t)t.width * t.height, n_queued = t.queue[t.n_triangles];
    int any = 0;
    for (int64_t k = threadIdx.x; k < n_queued; k += THREADS) any |= t.shapes[MODAL_BAKE_SHAPE * (int64_t)t.queue[k] + SHAPE_AREA] == 0;
    if (!__syncthreads_or(any)) return;
    for (int64_t at = blockIdx.x * (int64_t)THREADS + threadIdx.x; at < n; at += (int64_t)gridDim.x * THREADS) {
        const uint64_t owner = t.owner[at];
        float q[3], v[4];
        if (owner == UINT64_MAX || !point_of<true>(t, owner, (int)(at % t.width), (int)(at / t.width), q)) continue;
        const bool found = value_at<CHANNELS, LEVELS>(t, set, owner, q, v);
        put_value<CHANNELS>(t.values, at, found, v, t.outside, t.outside_rgba8);
        if (!found) atomicAdd((unsigned long long *)&t.counts->outside, 1ull);
    }
}

template <modal_octree_channels CHANNELS, bool LEVELS>
modal_status look_up(const modal_octree_bake_task *t, const mip_set &set, cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t words = (int64_t)((t->width + 31) / 32) * t->height;
    MODAL_TRY(modal_cuda::launch(look_up_texels<CHANNELS, LEVELS>, (words + WARPS * EACH - 1) / (WARPS * EACH), THREADS, stream, "octree_bake", err, *t, set));
    MODAL_TRY(modal_cuda::launch(look_up_large<CHANNELS, LEVELS>, 256, THREADS, stream, "octree_bake: texels of large triangles", err, *t, set));
done:
    return status;
}

template <modal_octree_channels CHANNELS> modal_status look_up(const modal_octree_bake_task *t, cudaStream_t stream, modal_error *err)
{
    return t->levels ? look_up<CHANNELS, true>(t, mips_of(t->n_mips, t->mips), stream, err) : look_up<CHANNELS, false>(t, mips_of(0, nullptr), stream, err);
}

} // namespace

extern "C" modal_status modal_octree_bake_cuda(const modal_octree_bake_task *t, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    constexpr int64_t MOST = 1 << 16; // blocks
    const cudaStream_t s = (cudaStream_t)stream;
    const int64_t texels = (int64_t)t->width * t->height;
    const auto blocks = [](int64_t n, int64_t each) { return n <= 0 ? 1 : (n + each - 1) / each < MOST ? (n + each - 1) / each : MOST; };
    MODAL_TRY(modal_cuda::launch(clear, blocks(texels, THREADS * CLEARED), THREADS, s, "octree_bake: clear", err, *t));
    if (texels <= 0) goto done;
    MODAL_TRY(modal_cuda::launch(offer_small, blocks(t->n_triangles, OFFER_WARPS), OFFER_THREADS, s, "octree_bake: triangles", err, *t));
    MODAL_TRY(modal_cuda::launch(offer_queued, 1024, THREADS, s, "octree_bake: large triangles", err, *t));
    if (t->grid.channels == MODAL_OCTREE_RGBA8) MODAL_TRY(look_up<MODAL_OCTREE_RGBA8>(t, s, err));
    else if (t->grid.channels == MODAL_OCTREE_FLOAT) MODAL_TRY(look_up<MODAL_OCTREE_FLOAT>(t, s, err));
    else MODAL_TRY(look_up<MODAL_OCTREE_FLOAT3>(t, s, err));
done:
    return status;
}
