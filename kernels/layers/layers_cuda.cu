// SPDX-License-Identifier: Apache-2.0
// Eight threads a triangle, each a sample of each so many pixels, count the samples of a small box: a walk takes as long as its longest thread, which waits
// for keys. What it finds it keeps, in no order, at the end of the room for fragments. Larger triangles are listed and counted by a block each, what covers
// much of a picture by all blocks; three kernels sum; what was kept is put to its sample, from each sample's end on, and the large ones are walked again, as
// are all where there was no room to keep what was found; a thread sorts the lists of four samples. Neither the order of the threads nor that of the lists
// before sorting changes what comes out. More fragments than fit: who lists and sorts finds that in *needed and does nothing.
#include "kernels/cuda_launch.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/layers/layers_math.h"
#include "kernels/raster/raster_edges.cuh"

namespace {

constexpr int THREADS = 128, GROUP = 8 /* threads a triangle */, DIRECT = 256, OF_A_BLOCK = 65536, BLOCKS_EACH = 8 /* a multiprocessor */;
constexpr int SUM_THREADS = 256, SUM_EACH = 8, SUM_BLOCK = SUM_THREADS * SUM_EACH, SUMS_THREADS = 1024, SORT_EACH = 4 /* samples */;
constexpr unsigned HELD = 512; // fragments that a block keeps before it puts them to the others

enum { BLOCKS_LISTED, ALL_LISTED, KEPT, COUNTERS };

struct state {
    modal_layers_task task;
    modal_raster_task drawing;
    int64_t n;          // samples
    unsigned *n_listed; // [COUNTERS] triangles of a block each, from the begin of `listed` on; of all blocks, from its end on; fragments kept
    int64_t room;       // for those: their keys before the end of the fragments, their samples before the keys
    uint32_t *listed;   // [n_triangles]
    long long *sums;    // [blocks of SUM_BLOCK samples]
};

// What a block has found, before others may see it.
struct held {
    uint64_t keys[HELD];
    uint32_t samples[HELD];
    unsigned n, to;
};

// Of the capacity 2/5 are for lists, then 1/5 for samples and 2/5 for keys that the first walk keeps. Samples have 32 bits.
__host__ __device__ __forceinline__ int64_t room_of(int64_t capacity, int64_t n_samples) { return n_samples <= 0xffffffff ? capacity / 5 * 2 : 0; }

__device__ __forceinline__ uint64_t *kept_key(const state &s, int64_t i) { return s.task.fragments + s.task.capacity - 1 - i; }
__device__ __forceinline__ uint32_t *kept_sample(const state &s, int64_t i)
{
    return reinterpret_cast<uint32_t *>(s.task.fragments + s.task.capacity - s.room) - 1 - i;
}
// Whether all that the first walk found was kept, and lists end before it: `room` is what is left for them, too.
__device__ __forceinline__ bool are_kept(const state &s) { return s.room > 0 && *s.task.needed <= s.room; }

__device__ __forceinline__ void keep_fragment(const state &s, int64_t i, uint64_t key, uint32_t sample)
{
    if (i < s.room) *kept_key(s, i) = key, *kept_sample(s, i) = sample;
}

__device__ __forceinline__ void put_to_sample(const state &s, int64_t at, uint64_t key)
{
    s.task.fragments[atomicSub(s.task.layers + at, 1) - 1] = key;
}

// What is done with what is found: it is listed, or counted, and kept by way of `mine` unless that is NULL.
struct found {
    bool lists;
    held *mine;
};

__device__ void put(const state &s, found f, int64_t at, uint64_t key)
{
    if (f.lists) {
        put_to_sample(s, at, key);
        return;
    }
    atomicAdd(s.task.layers + at, 1);
    if (!f.mine || s.room == 0) return;
    const unsigned place = atomicAdd(&f.mine->n, 1u);
    if (place < HELD) {
        f.mine->keys[place] = key, f.mine->samples[place] = (uint32_t)at;
    } else if (*static_cast<volatile unsigned *>(s.n_listed + KEPT) <= s.room) {
        keep_fragment(s, atomicAdd(s.n_listed + KEPT, 1u), key, (uint32_t)at);
    }
}

// Samples from, from + step, ... of a triangle's box, those of a pixel one after the other. ALPHA: it is looked at
// (`submitted`), 2: and may be that of octree textures. INT: as raster_edges'.
template <int ALPHA, class INT>
__device__ void draw(const state &s, uint32_t t, const raster_point &a, const raster_point &b, const raster_point &c, unsigned from, unsigned step,
                     found f)
{
    const modal_layers_task &task = s.task;
    raster_setup r;
    raster_clip corners[3] = {};
    const int64_t area = raster_area(&a, &b, &c), begin = (int64_t)task.first_row * task.width * task.samples;
    if (area == 0 || !raster_box(&r, &a, &b, &c, task.width, task.height, task.samples)) return;
    if (!layers_cut(&task, &r)) return;
    raster_set_up(&r, &a, &b, &c, area);
    if (ALPHA) paint_view_corners(&task.mesh, task.view, t, corners);
    const raster_edges<INT> e(r);
    const unsigned samples = (unsigned)task.samples, width = r.right - r.left + 1, n = width * (r.bottom - r.top + 1); // pixels, of a picture at most 2^30
    const unsigned k = from % samples; // steps are multiples of 8
    const int dx = raster_sample_x((int)samples, (int)k), dy = raster_sample_y((int)samples, (int)k);
    for (unsigned i = from / samples; i < n; i += step / samples) {
        const int32_t x = r.left + (int32_t)(i % width), y = r.top + (int32_t)(i / width);
        const int sx = 256 * (x - r.left) + dx, sy = 256 * (y - r.top) + dy;
        const INT e0 = e.at(0, sx, sy), e1 = e.at(1, sx, sy), e2 = e.at(2, sx, sy);
        if (!e.covers(e0, e1, e2)) continue;
        const int64_t at = ((int64_t)y * task.width + x) * task.samples + k;
        uint64_t key = raster_key(e.depth(r, e1, e2), t);
        if (ALPHA) {
            key = layers_key(&task, t, e.depth(r, e1, e2), at, corners, 256 * x + dx, 256 * y + dy, ALPHA == 2);
        } else if (key >= task.keys[at]) {
            continue;
        }
        if (key != MODAL_RASTER_EMPTY) put(s, f, at - begin, key);
    }
}

// The polygon of a triangle, 0: it is not drawn.
__device__ int polygon(const state &s, uint32_t t, raster_point p[RASTER_MOST_CORNERS])
{
    const modal_raster_mesh &mesh = s.task.mesh;
    const unsigned flags = mesh.flags[t];
    if (!raster_is_wanted(&s.drawing, flags)) return 0;
    int front;
    const int n = raster_polygon(&mesh, s.task.view, t, p, &front);
    return raster_is_drawn(&s.drawing, flags, front) ? n : 0;
}

// Pixels of the boxes of a polygon's triangles, as far as they are wanted.
__device__ int64_t pixels_of(const state &s, const raster_point *p, int n)
{
    int64_t pixels = 0;
    for (int k = 2; k < n; k++) {
        raster_setup box;
        if (raster_box(&box, &p[0], &p[k - 1], &p[k], s.task.width, s.task.height, s.task.samples) && layers_cut(&s.task, &box))
            pixels += (int64_t)(box.right - box.left + 1) * (box.bottom - box.top + 1);
    }
    return pixels;
}

// Lists a triangle for a block or for all. By itself, so that the walk needs no memory for polygons.
__device__ __noinline__ void list_large(const state &s, uint32_t t)
{
    raster_point p[RASTER_MOST_CORNERS];
    const int n = polygon(s, t, p);
    const int64_t pixels = pixels_of(s, p, n);
    if (pixels == 0) return;
    if (pixels <= OF_A_BLOCK) {
        s.listed[atomicAdd(s.n_listed + BLOCKS_LISTED, 1u)] = t;
    } else {
        s.listed[s.task.mesh.n_triangles - 1 - atomicAdd(s.n_listed + ALL_LISTED, 1u)] = t;
    }
}

template <int ALPHA> __device__ __forceinline__ void walk_triangle(const state &s, int64_t t, unsigned own, found f)
{
    const modal_layers_task &task = s.task;
    const unsigned flags = __ldg(task.mesh.flags + t);
    if (!raster_is_wanted(&s.drawing, flags)) return;
    raster_point p[3];
#pragma unroll
    for (int k = 0; k < 3; k++) p[k] = raster_project(task.view, raster_point_of(&task.mesh, __ldg(task.mesh.triangles + 3 * t + k)));
    const uint32_t outside = p[0].outside | p[1].outside | p[2].outside;
    if ((p[0].outside & p[1].outside & p[2].outside) || (outside & RASTER_NOT_FINITE)) return;
    bool is_large = outside != 0;
    if (!is_large) {
        const int64_t area = raster_area(&p[0], &p[1], &p[2]);
        raster_setup box;
        if (area == 0 || !raster_is_drawn(&s.drawing, flags, area < 0)) return;
        if (!raster_box(&box, &p[0], &p[1], &p[2], task.width, task.height, task.samples) || !layers_cut(&task, &box)) return;
        is_large = !raster_is_small(p[0], p[1], p[2]) || (box.right - box.left + 1) * (box.bottom - box.top + 1) > DIRECT;
    }
    if (!is_large) {
        draw<ALPHA, int32_t>(s, (uint32_t)t, p[0], p[1], p[2], own, GROUP, f);
    } else if (!f.lists && own == 0) { // both walks have the same large ones
        list_large(s, (uint32_t)t);
    }
}

template <int ALPHA> __global__ void __launch_bounds__(THREADS) walk(const __grid_constant__ state s, bool lists)
{
    __shared__ held mine;
    const int64_t step = gridDim.x * (int64_t)(THREADS / GROUP);
    if (lists && *s.task.needed > s.task.capacity) return;
    if (lists && are_kept(s)) {
        const unsigned n = s.n_listed[KEPT];
        for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) put_to_sample(s, *kept_sample(s, i), *kept_key(s, i));
        return;
    }
    if (threadIdx.x == 0) mine.n = 0;
    __syncthreads();
    for (int64_t t = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / GROUP; t < s.task.mesh.n_triangles; t += step)
        walk_triangle<ALPHA>(s, t, threadIdx.x % GROUP, {lists, &mine});
    __syncthreads();
    const unsigned n = min(mine.n, HELD);
    if (n == 0) return;
    if (threadIdx.x == 0) mine.to = atomicAdd(s.n_listed + KEPT, n);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += THREADS) keep_fragment(s, (int64_t)mine.to + i, mine.keys[i], mine.samples[i]);
}

template <int ALPHA> __device__ void draw_polygon(const state &s, uint32_t t, unsigned from, unsigned step, bool lists)
{
    raster_point p[RASTER_MOST_CORNERS];
    const int n = polygon(s, t, p);
    for (int k = 2; k < n; k++) draw<ALPHA, int64_t>(s, t, p[0], p[k - 1], p[k], from, step, {lists, nullptr});
}

template <int ALPHA> __global__ void __launch_bounds__(THREADS) walk_large(const state s, bool lists)
{
    if (lists && *s.task.needed > s.task.capacity) return;
    for (unsigned i = blockIdx.x; i < s.n_listed[BLOCKS_LISTED]; i += gridDim.x) draw_polygon<ALPHA>(s, s.listed[i], threadIdx.x, THREADS, lists);
    for (unsigned i = 0; i < s.n_listed[ALL_LISTED]; i++)
        draw_polygon<ALPHA>(s, s.listed[s.task.mesh.n_triangles - 1 - i], blockIdx.x * THREADS + threadIdx.x, gridDim.x * THREADS, lists);
}

// The sum of `mine` of this thread and those before it in its block, which must come here as a whole, once. of: [warps], shared.
template <typename T> __device__ T scan(T *of, T mine)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        const T add = __shfl_up_sync(~0u, mine, step);
        if (lane >= step) mine += add;
    }
    if (lane == 31) of[warp] = mine;
    __syncthreads();
    for (int w = 0; w < warp; w++) mine += of[w];
    return mine;
}

// Counts of this thread's SUM_EACH samples from the first on; none after the last sample.
__device__ void load(const state &s, int64_t first, int of[SUM_EACH])
{
    if (first + SUM_EACH <= s.n) {
        const int4 *from = reinterpret_cast<const int4 *>(s.task.layers + first);
        for (int i = 0; i < SUM_EACH / 4; i++) {
            const int4 four = from[i];
            of[4 * i] = four.x, of[4 * i + 1] = four.y, of[4 * i + 2] = four.z, of[4 * i + 3] = four.w;
        }
    } else {
        for (int i = 0; i < SUM_EACH; i++) of[i] = first + i < s.n ? s.task.layers[first + i] : 0;
    }
}

__global__ void __launch_bounds__(SUM_THREADS) sum_blocks(const state s)
{
    __shared__ long long of[SUM_THREADS / 32];
    int counts[SUM_EACH];
    long long mine = 0;
    load(s, blockIdx.x * (int64_t)SUM_BLOCK + (int64_t)threadIdx.x * SUM_EACH, counts);
    for (int i = 0; i < SUM_EACH; i++) mine += counts[i];
    mine = scan(of, mine);
    if (threadIdx.x == SUM_THREADS - 1) s.sums[blockIdx.x] = mine;
}

// Sums before each block; one block, whose threads take as many each.
__global__ void __launch_bounds__(SUMS_THREADS) sum_sums(const state s, int64_t n_blocks)
{
    __shared__ long long of[SUMS_THREADS / 32];
    const int64_t each = (n_blocks + SUMS_THREADS - 1) / SUMS_THREADS, first = threadIdx.x * each;
    long long mine = 0;
    for (int64_t i = first; i < first + each && i < n_blocks; i++) mine += s.sums[i];
    long long at = scan(of, mine) - mine;
    for (int64_t i = first; i < first + each && i < n_blocks; i++) {
        const long long here = s.sums[i];
        s.sums[i] = at;
        at += here;
    }
    if (threadIdx.x == SUMS_THREADS - 1) {
        *s.task.needed = at;
        s.task.layers[s.n] = (int32_t)at;
    }
}

// Counts become where each sample's list ends.
__global__ void __launch_bounds__(SUM_THREADS) sum_samples(const state s)
{
    __shared__ int of[SUM_THREADS / 32];
    const int64_t first = blockIdx.x * (int64_t)SUM_BLOCK + (int64_t)threadIdx.x * SUM_EACH;
    int counts[SUM_EACH], mine = 0;
    load(s, first, counts);
    for (int i = 0; i < SUM_EACH; i++) mine += counts[i];
    unsigned at = (unsigned)s.sums[blockIdx.x] + (unsigned)(scan(of, mine) - mine); // more than fit means nothing
    for (int i = 0; i < SUM_EACH; i++) counts[i] = (int)(at += (unsigned)counts[i]);
    if (first + SUM_EACH <= s.n) {
        int4 *to = reinterpret_cast<int4 *>(s.task.layers + first);
        for (int i = 0; i < SUM_EACH / 4; i++) to[i] = make_int4(counts[4 * i], counts[4 * i + 1], counts[4 * i + 2], counts[4 * i + 3]);
    } else {
        for (int i = 0; i < SUM_EACH && first + i < s.n; i++) s.task.layers[first + i] = counts[i];
    }
}

__global__ void __launch_bounds__(THREADS) sort(const state s)
{
    const int64_t first = (blockIdx.x * (int64_t)THREADS + threadIdx.x) * SORT_EACH;
    if (first >= s.n || *s.task.needed > s.task.capacity) return;
    const int32_t *const layers = s.task.layers;
    int32_t begin;
    if (first + SORT_EACH <= s.n) { // most have nothing to sort: a load tells it
        const int4 four = *reinterpret_cast<const int4 *>(layers + first);
        if (layers[first + SORT_EACH] - four.x < 2) return;
        begin = four.x;
    } else {
        begin = layers[first];
    }
#pragma unroll 1
    for (int64_t i = first; i < first + SORT_EACH && i < s.n; i++) {
        const int32_t end = layers[i + 1];
        if (end - begin > 1) layers_sort(s.task.fragments + begin, end - begin);
        begin = end;
    }
}

} // namespace

extern "C" modal_status modal_layers_cuda(const modal_layers_task *task, modal_stream *modal_stream, modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)modal_stream;
    unsigned char *scratch = static_cast<unsigned char *>(task->scratch);
    state s = {*task, layers_drawing(task), (int64_t)(task->end_row - task->first_row) * task->width * task->samples,
               reinterpret_cast<unsigned *>(scratch), 0, nullptr, nullptr};
    const int64_t n_blocks = (s.n + SUM_BLOCK - 1) / SUM_BLOCK, n = task->mesh.n_triangles;
    s.room = room_of(task->capacity, s.n);
    s.sums = reinterpret_cast<long long *>(scratch + 256);
    s.listed = reinterpret_cast<uint32_t *>(s.sums + n_blocks);
    const int64_t triangles = (n * GROUP + THREADS - 1) / THREADS, samples = (s.n + SORT_EACH * THREADS - 1) / (SORT_EACH * THREADS);
    modal_cuda_machine machine;
    int64_t blocks = 0;
    cudaError_t code = cudaMemsetAsync(scratch, 0, COUNTERS * sizeof(unsigned), stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(task->layers, 0, (size_t)(s.n + 1) * sizeof *task->layers, stream);
    modal_status status = MODAL_OK;
    const int alpha = !task->submitted ? 0 : task->paint.solids ? 2 : 1;
    auto *const small = alpha == 0 ? walk<0> : alpha == 1 ? walk<1> : walk<2>;
    auto *const large = alpha == 0 ? walk_large<0> : alpha == 1 ? walk_large<1> : walk_large<2>;
    MODAL_TRY(modal_cuda_status(code, "layers", err));
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    blocks = BLOCKS_EACH * machine.n_multiprocessors;
    for (int lists = 0; lists < 2; lists++) {
        const int64_t walkers = lists && triangles > 2 * blocks ? 2 * blocks : triangles;
        if (n > 0) MODAL_TRY(modal_cuda::launch(small, walkers, THREADS, stream, "layers", err, s, lists != 0));
        if (n > 0) MODAL_TRY(modal_cuda::launch(large, blocks, THREADS, stream, "large layers", err, s, lists != 0));
        if (lists) break;
        MODAL_TRY(modal_cuda::launch(sum_blocks, n_blocks, SUM_THREADS, stream, "sums of layers", err, s));
        MODAL_TRY(modal_cuda::launch(sum_sums, 1, SUMS_THREADS, stream, "sums of layers", err, s, n_blocks));
        MODAL_TRY(modal_cuda::launch(sum_samples, n_blocks, SUM_THREADS, stream, "sums of layers", err, s));
    }
    MODAL_TRY(modal_cuda::launch(sort, samples, THREADS, stream, "order of layers", err, s));
done:
    return status;
}
