// SPDX-License-Identifier: Apache-2.0
// A thread a triangle counts the samples of a small box, larger ones are listed and counted by a block each, what covers much of a
// picture by all blocks; three kernels sum; the same walk lists from each sample's end on, and a thread sorts a sample's list. Neither the
// order of the threads nor that of the lists before sorting changes what comes out. More fragments than fit: the walk and the sort find
// that in *needed and do nothing.
#include "kernels/cuda_launch.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/layers/layers_math.h"

namespace {

constexpr int THREADS = 128, DIRECT = 256, OF_A_BLOCK = 65536, BLOCKS_EACH = 8 /* a multiprocessor */;
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

// Pixels from, from + step, ... of a triangle's box. SOLIDS: alpha may be that of octree textures.
template <bool SOLIDS>
__device__ void draw(const state &s, uint32_t t, const raster_point &a, const raster_point &b, const raster_point &c, int64_t from, int64_t step,
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
    const int64_t width = r.right - r.left + 1, n = width * (r.bottom - r.top + 1);
    for (int64_t i = from; i < n; i += step) {
        const int32_t x = r.left + (int32_t)(i % width), y = r.top + (int32_t)(i / width);
        for (int k = 0; k < task.samples; k++) {
            const int32_t sx = 256 * x + raster_sample_x(task.samples, k), sy = 256 * y + raster_sample_y(task.samples, k);
            int64_t edges[3];
            bool covered = true;
            for (int e = 0; e < 3; e++) {
                const int one = (e + 1) % 3, two = (e + 2) % 3;
                edges[e] = (int64_t)(r.x[two] - r.x[one]) * (sy - r.y[one]) - (int64_t)(r.y[two] - r.y[one]) * (sx - r.x[one]);
                covered = covered && edges[e] + raster_bias(r.x[one], r.y[one], r.x[two], r.y[two]) >= 0;
            }
            if (!covered) continue;
            const int64_t at = ((int64_t)y * task.width + x) * task.samples + k;
            const uint64_t key = layers_key(&task, t, raster_depth(&r, (float)edges[1], (float)edges[2]), at, corners, sx, sy, SOLIDS);
            if (key != MODAL_RASTER_EMPTY) put(s, at - begin, key, lists);
        }
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
    const int64_t t = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (t >= s.task.mesh.n_triangles || (lists && *s.task.needed > s.task.capacity)) return;
    raster_point p[RASTER_MOST_CORNERS];
    const int n = polygon(s, (uint32_t)t, p);
    const int64_t pixels = pixels_of(s, p, n);
    if (pixels == 0) return;
    if (n == 3 && pixels <= DIRECT) {
        draw<SOLIDS>(s, (uint32_t)t, p[0], p[1], p[2], 0, 1, lists);
    } else if (!lists) { // both walks have the same large ones
        if (pixels <= OF_A_BLOCK) {
            s.listed[atomicAdd(s.n_listed, 1u)] = (uint32_t)t;
        } else {
            s.listed[s.task.mesh.n_triangles - 1 - atomicAdd(s.n_listed + 1, 1u)] = (uint32_t)t;
        }
    }
}

template <bool SOLIDS> __device__ void draw_polygon(const state &s, uint32_t t, int64_t from, int64_t step, bool lists)
{
    raster_point p[RASTER_MOST_CORNERS];
    const int n = polygon(s, t, p);
    for (int k = 2; k < n; k++) draw<SOLIDS>(s, t, p[0], p[k - 1], p[k], from, step, lists);
}

template <bool SOLIDS> __global__ void __launch_bounds__(THREADS) walk_large(const state s, bool lists)
{
    if (lists && *s.task.needed > s.task.capacity) return;
    for (unsigned i = blockIdx.x; i < s.n_listed[0]; i += gridDim.x) draw_polygon<SOLIDS>(s, s.listed[i], threadIdx.x, THREADS, lists);
    for (unsigned i = 0; i < s.n_listed[1]; i++)
        draw_polygon<SOLIDS>(s, s.listed[s.task.mesh.n_triangles - 1 - i], blockIdx.x * (int64_t)THREADS + threadIdx.x, (int64_t)gridDim.x * THREADS, lists);
}

// The sum of `mine` of this thread and those before it in its block, which must come here as a whole.
template <typename T> __device__ T scan(T *of, T mine)
{
    of[threadIdx.x] = mine;
    for (int step = 1; step < SUM_THREADS; step *= 2) {
        __syncthreads();
        const T add = (int)threadIdx.x >= step ? of[threadIdx.x - step] : 0;
        __syncthreads();
        of[threadIdx.x] += add;
    }
    return of[threadIdx.x];
}

__global__ void __launch_bounds__(SUM_THREADS) sum_blocks(const state s)
{
    __shared__ long long total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    long long mine = 0;
    for (int i = 0; i < SUM_EACH; i++) {
        const int64_t at = blockIdx.x * (int64_t)SUM_BLOCK + (int64_t)i * SUM_THREADS + threadIdx.x;
        if (at < s.n) mine += s.task.layers[at];
    }
    atomicAdd(reinterpret_cast<unsigned long long *>(&total), (unsigned long long)mine);
    __syncthreads();
    if (threadIdx.x == 0) s.sums[blockIdx.x] = total;
}

// Sums before each block; one block, whose threads take as many each.
__global__ void __launch_bounds__(SUM_THREADS) sum_sums(const state s, int64_t n_blocks)
{
    __shared__ long long of[SUM_THREADS];
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
    __shared__ int of[SUM_THREADS];
    const int64_t first = blockIdx.x * (int64_t)SUM_BLOCK + (int64_t)threadIdx.x * SUM_EACH;
    int mine = 0;
    for (int i = 0; i < SUM_EACH && first + i < s.n; i++) mine += s.task.layers[first + i];
    long long at = s.sums[blockIdx.x] + scan(of, mine) - mine;
    for (int i = 0; i < SUM_EACH && first + i < s.n; i++) s.task.layers[first + i] = (int32_t)(at += s.task.layers[first + i]);
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
    const unsigned triangles = (unsigned)((n + THREADS - 1) / THREADS), samples = (unsigned)((s.n + THREADS - 1) / THREADS);
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
