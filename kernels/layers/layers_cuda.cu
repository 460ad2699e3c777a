// SPDX-License-Identifier: Apache-2.0
// Eight threads a triangle, each a sample of each so many pixels, count the samples of a small box: a walk takes as long as its longest thread, which waits for
// keys. Larger ones are listed and counted by a block each, what covers much of a picture by all blocks; three kernels sum; the same walk lists from each
// sample's end on, and a thread sorts a sample's list. Neither the order of the threads nor that of the lists before sorting changes what comes out. More
// fragments than fit: the walk and the sort find that in *needed and do nothing.
#include "kernels/cuda_launch.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/layers/layers_math.h"
#include "kernels/raster/raster_edges.cuh"

namespace {

constexpr int THREADS = 128, GROUP = 8 /* threads a triangle */, DIRECT = 256, OF_A_BLOCK = 65536, BLOCKS_EACH = 8 /* a multiprocessor */;
constexpr int SUM_THREADS = 256, SUM_EACH = 8, SUM_BLOCK = SUM_THREADS * SUM_EACH;

struct state {
    modal_layers_task task;
    modal_raster_task drawing;
    int64_t n;          // samples
    unsigned *n_listed; // [2] triangles of a block each, from the begin of `listed` on; of all blocks, from its end on
    uint32_t *listed;   // [n_triangles]
    long long *sums;    // [blocks of SUM_BLOCK samples]
};

__device__ void put(const state &s, int64_t at, uint64_t key, bool lists)
{
    if (!lists) {
        atomicAdd(s.task.layers + at, 1);
    } else {
        s.task.fragments[atomicSub(s.task.layers + at, 1) - 1] = key;
    }
}

// Samples from, from + step, ... of a triangle's box, those of a pixel one after the other. SOLIDS: alpha may be that of octree textures. INT: as
// raster_edges'.
template <bool SOLIDS, class INT>
__device__ void draw(const state &s, uint32_t t, const raster_point &a, const raster_point &b, const raster_point &c, unsigned from, unsigned step,
                     bool lists)
{
    const modal_layers_task &task = s.task;
    raster_setup r;
    raster_clip corners[3] = {};
    const int64_t area = raster_area(&a, &b, &c), begin = (int64_t)task.first_row * task.width * task.samples;
    if (area == 0 || !raster_box(&r, &a, &b, &c, task.width, task.height, task.samples)) return;
    if (!layers_cut(&task, &r)) return;
    raster_set_up(&r, &a, &b, &c, area);
    if (task.submitted) paint_view_corners(&task.mesh, task.view, t, corners);
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
        const uint64_t key = layers_key(&task, t, e.depth(r, e1, e2), at, corners, 256 * x + dx, 256 * y + dy, SOLIDS);
        if (key != MODAL_RASTER_EMPTY) put(s, at - begin, key, lists);
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

template <bool SOLIDS> __global__ void __launch_bounds__(THREADS) walk(const state s, bool lists)
{
    const int64_t t = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / GROUP;
    const unsigned own = threadIdx.x % GROUP;
    if (t >= s.task.mesh.n_triangles || (lists && *s.task.needed > s.task.capacity)) return;
    raster_point p[RASTER_MOST_CORNERS];
    const int n = polygon(s, (uint32_t)t, p);
    const int64_t pixels = pixels_of(s, p, n);
    if (pixels == 0) return;
    if (n == 3 && pixels <= DIRECT && raster_is_small(p[0], p[1], p[2])) {
        draw<SOLIDS, int32_t>(s, (uint32_t)t, p[0], p[1], p[2], own, GROUP, lists);
    } else if (!lists && own == 0) { // both walks have the same large ones
        if (pixels <= OF_A_BLOCK) {
            s.listed[atomicAdd(s.n_listed, 1u)] = (uint32_t)t;
        } else {
            s.listed[s.task.mesh.n_triangles - 1 - atomicAdd(s.n_listed + 1, 1u)] = (uint32_t)t;
        }
    }
}

template <bool SOLIDS> __device__ void draw_polygon(const state &s, uint32_t t, unsigned from, unsigned step, bool lists)
{
    raster_point p[RASTER_MOST_CORNERS];
    const int n = polygon(s, t, p);
    for (int k = 2; k < n; k++) draw<SOLIDS, int64_t>(s, t, p[0], p[k - 1], p[k], from, step, lists);
}

template <bool SOLIDS> __global__ void __launch_bounds__(THREADS) walk_large(const state s, bool lists)
{
    if (lists && *s.task.needed > s.task.capacity) return;
    for (unsigned i = blockIdx.x; i < s.n_listed[0]; i += gridDim.x) draw_polygon<SOLIDS>(s, s.listed[i], threadIdx.x, THREADS, lists);
    for (unsigned i = 0; i < s.n_listed[1]; i++)
        draw_polygon<SOLIDS>(s, s.listed[s.task.mesh.n_triangles - 1 - i], blockIdx.x * THREADS + threadIdx.x, gridDim.x * THREADS, lists);
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
__global__ void __launch_bounds__(SUM_THREADS) sum_sums(const state s, int64_t n_blocks)
{
    __shared__ long long of[SUM_THREADS / 32];
    const int64_t each = (n_blocks + SUM_THREADS - 1) / SUM_THREADS, first = threadIdx.x * each;
    long long mine = 0;
    for (int64_t i = first; i < first + each && i < n_blocks; i++) mine += s.sums[i];
    long long at = scan(of, mine) - mine;
    for (int64_t i = first; i < first + each && i < n_blocks; i++) {
        const long long here = s.sums[i];
        s.sums[i] = at;
        at += here;
    }
    if (threadIdx.x == SUM_THREADS - 1) {
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
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i >= s.n || *s.task.needed > s.task.capacity) return;
    layers_sort(s.task.fragments + s.task.layers[i], s.task.layers[i + 1] - s.task.layers[i]);
}

} // namespace

extern "C" modal_status modal_layers_cuda(const modal_layers_task *task, modal_stream *modal_stream, modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)modal_stream;
    unsigned char *scratch = static_cast<unsigned char *>(task->scratch);
    state s = {*task, layers_drawing(task), (int64_t)(task->end_row - task->first_row) * task->width * task->samples,
               reinterpret_cast<unsigned *>(scratch), nullptr, nullptr};
    const int64_t n_blocks = (s.n + SUM_BLOCK - 1) / SUM_BLOCK, n = task->mesh.n_triangles;
    s.sums = reinterpret_cast<long long *>(scratch + 256);
    s.listed = reinterpret_cast<uint32_t *>(s.sums + n_blocks);
    const bool solids = task->submitted && task->paint.solids;
    const unsigned triangles = (unsigned)((n * GROUP + THREADS - 1) / THREADS), samples = (unsigned)((s.n + THREADS - 1) / THREADS);
    modal_cuda_machine machine;
    cudaError_t code = cudaMemsetAsync(scratch, 0, 2 * sizeof(unsigned), stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(task->layers, 0, (size_t)(s.n + 1) * sizeof *task->layers, stream);
    modal_status status = MODAL_OK;
    auto *const small = solids ? walk<true> : walk<false>, *const large = solids ? walk_large<true> : walk_large<false>;
    MODAL_TRY(modal_cuda_status(code, "layers", err));
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    for (int lists = 0; lists < 2; lists++) {
        if (n > 0) MODAL_TRY(modal_cuda::launch(small, triangles, THREADS, stream, "layers", err, s, lists != 0));
        if (n > 0) MODAL_TRY(modal_cuda::launch(large, BLOCKS_EACH * machine.n_multiprocessors, THREADS, stream, "large layers", err, s, lists != 0));
        if (lists) break;
        MODAL_TRY(modal_cuda::launch(sum_blocks, n_blocks, SUM_THREADS, stream, "sums of layers", err, s));
        MODAL_TRY(modal_cuda::launch(sum_sums, 1, SUM_THREADS, stream, "sums of layers", err, s, n_blocks));
        MODAL_TRY(modal_cuda::launch(sum_samples, n_blocks, SUM_THREADS, stream, "sums of layers", err, s));
    }
    MODAL_TRY(modal_cuda::launch(sort, samples, THREADS, stream, "order of layers", err, s));
done:
    return status;
}
