// SPDX-License-Identifier: Apache-2.0
// A thread a pixel, a warp 8 x 4 of them: neighbours see the same triangles, whose corners are then in the cache. Registers for eight
// blocks a multiprocessor: with more of them a pixel the time is 1.14 times as long, with fewer 1.2.
//
// Layers first, so that pixels that have many, and lie beside such as have none, do not hold up a warp: some threads a pixel list the triangles that it
// sees through, a thread shades one of those, and the pixels only add them up, a thread a sample. The order of that list is none of what comes out.
#include "kernels/cuda_launch.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/shade/shade_math.h"

namespace {

constexpr int THREADS = 128, LISTERS = 8, BLOCKS_EACH = 16 /* a multiprocessor, of layers */;

// What is shaded: rows and columns.
struct range {
    int first, end, left, right;
    int across; // tiles of 16 x 8 pixels
};

// A pixel of a thread of this block; false: it has none.
__device__ __forceinline__ bool place(const range &r, int thread, int *x, int *y)
{
    *x = r.left + (int)(blockIdx.x % r.across) * 16 + thread % 8 + thread / 64 * 8;
    *y = r.first + (int)(blockIdx.x / r.across) * 8 + thread / 8 % 8;
    return *x < r.right && *y < r.end;
}

// Whole numbers: in any order the same.
__device__ void add_counts(const modal_shade_task &task, const uint32_t counts[MODAL_SHADE_SOURCES])
{
    for (int k = 0; task.sources && k < MODAL_SHADE_SOURCES; k++) {
        const unsigned sum = __reduce_add_sync(~0u, counts[k]);
        if (threadIdx.x % 32 == 0 && sum) atomicAdd(reinterpret_cast<unsigned long long *>(task.sources + k), (unsigned long long)sum);
    }
}

// ---- layers ----

// A shade_layered in 16 bytes, which become its value.
struct __align__(16) layer {
    uint32_t pixel, triangle, set, none;
};

__device__ __forceinline__ layer *layers_of(const modal_shade_task &task)
{
    return reinterpret_cast<layer *>(static_cast<char *>(task.layer_scratch) + 256);
}

__device__ __forceinline__ uint32_t *which_of(const modal_shade_task &task)
{
    return reinterpret_cast<uint32_t *>(layers_of(task) + shade_n_fragments(&task));
}

// A thread a pixel finds those of a block that have layers: most have none. Of these LISTERS threads each take every LISTERS-th fragment: one that is the
// first of its triangle is listed for all of them.
template <int SAMPLES> __global__ void __launch_bounds__(THREADS) list_layers(const modal_shade_task task, const range r)
{
    __shared__ unsigned short pixels[THREADS];
    __shared__ unsigned n_pixels;
    const int64_t n = (int64_t)(r.end - r.first) * task.width, first_pixel = blockIdx.x * (int64_t)THREADS, own = first_pixel + threadIdx.x;
    if (!shade_is_listed(&task)) return;
    if (threadIdx.x == 0) n_pixels = 0;
    __syncthreads();
    if (own < n && task.layers[own * SAMPLES + SAMPLES] > task.layers[own * SAMPLES]) pixels[atomicAdd(&n_pixels, 1u)] = (unsigned short)threadIdx.x;
    __syncthreads();
    layer *const layers = layers_of(task);
    uint32_t *const which = which_of(task);
    for (unsigned i = threadIdx.x / LISTERS; i < n_pixels; i += THREADS / LISTERS) {
        const int64_t at_pixel = first_pixel + pixels[i];
        const int32_t *first = task.layers + at_pixel * SAMPLES;
        const int32_t begin = first[0], end = first[SAMPLES];
        for (int32_t f = begin + (int32_t)threadIdx.x % LISTERS; f < end; f += LISTERS) {
            const uint32_t t = (uint32_t)task.fragments[f];
            bool known = false;
#pragma unroll 4
            for (int32_t g = begin; g < f; g++) known |= (uint32_t)task.fragments[g] == t; // whatever is found: the loads do not wait for one another
            if (known) continue;
            const uint32_t at = atomicAdd(static_cast<unsigned *>(task.layer_scratch), 1u);
            unsigned set = 0;
#pragma unroll 4
            for (int32_t g = f; g < end; g++) {
                if ((uint32_t)task.fragments[g] != t) continue;
                int sample = 0;
                for (int j = 1; j < SAMPLES; j++) sample += g >= first[j];
                set |= 1u << sample;
                which[g] = at;
            }
            layers[at] = {(uint32_t)((int64_t)r.first * task.width + at_pixel), t, set, 0};
        }
    }
}

template <int SAMPLES, int HAS> __global__ void __launch_bounds__(THREADS) shade_layers_listed(const modal_shade_task task)
{
    const unsigned n = *static_cast<const unsigned *>(task.layer_scratch);
    uint32_t counts[MODAL_SHADE_SOURCES] = {};
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        layer *const at = layers_of(task) + i;
        const layer it = *at;
        float value[4];
        shade_layer_value(&task, task.view, {it.pixel, it.triangle, it.set}, SAMPLES, HAS, counts, value);
        *at = {modal_float_bits(value[0]), modal_float_bits(value[1]), modal_float_bits(value[2]), modal_float_bits(value[3])};
    }
    if constexpr (HAS & SHADE_SOLIDS) add_counts(task, counts);
}

// ---- pixels ----

constexpr int registers_for(int has) { return has & SHADE_READY && !(has & SHADE_SOLIDS) ? 6 : has ? 4 : 8; } // blocks a multiprocessor

// Adds the values of threads that have one to a list of their block. All threads of the warp come here.
template <class T> __device__ __forceinline__ void add_to(T *list, unsigned *n, bool has, unsigned value)
{
    const unsigned lane = threadIdx.x % 32, all = __ballot_sync(~0u, has);
    unsigned at = 0;
    if (lane == 0 && all) at = atomicAdd(n, (unsigned)__popc(all));
    at = __shfl_sync(~0u, at, 0) + (unsigned)__popc(all & ((1u << lane) - 1));
    if (has) list[at] = (T)value;
}

// What the samples of a block's pixels see, one triangle a pixel or more, is shared out among its threads, and so are the samples that have layers: none waits
// for one whose pixel sees more.
template <int SAMPLES, int HAS> __global__ void __launch_bounds__(THREADS, registers_for(HAS)) shade(const modal_shade_task task, const range r)
{
    constexpr int ROW = 3 * SAMPLES + 1; // odd, so that rows lie in all banks
    constexpr bool THROUGH = HAS & SHADE_LAYERS;
    __shared__ float colours[THREADS * ROW];
    __shared__ unsigned items[THREADS * SAMPLES], n_items, n_samples; // a pixel's thread | the first sample << 8 | the set << 16
    __shared__ unsigned short samples[THROUGH ? THREADS * SAMPLES : 1]; // that have layers: a pixel's thread | the sample << 8
    __shared__ shade_value over[THROUGH ? THREADS * SAMPLES : 1];
    int x, y;
    const int me = (int)threadIdx.x;
    const bool inside = place(r, me, &x, &y) && (!THROUGH || shade_is_listed(&task));
    const int64_t pixel = (int64_t)y * task.width + x;
    uint32_t counts[MODAL_SHADE_SOURCES] = {};
    if (me == 0) n_items = n_samples = 0;
    __syncthreads();
    {
        uint64_t keys[SAMPLES];
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) keys[i] = inside ? task.keys[pixel * SAMPLES + i] : MODAL_RASTER_EMPTY;
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) {
            const unsigned set = shade_set(keys, SAMPLES, i);
            const bool mine = set && (uint32_t)keys[i] != MODAL_RASTER_NONE;
            for (int k = 0; k < 3 && !mine; k++) colours[me * ROW + 3 * i + k] = task.background[k];
            add_to(items, &n_items, mine, (unsigned)me | (unsigned)i << 8 | set << 16);
        }
    }
    if constexpr (THROUGH) {
        const int32_t *const first = inside ? shade_first_layer(&task, pixel, SAMPLES) : nullptr;
        const bool through = inside && first[SAMPLES] > first[0];
        if (__ballot_sync(~0u, through))
#pragma unroll
            for (int i = 0; i < SAMPLES; i++) add_to(samples, &n_samples, through && first[i + 1] > first[i], (unsigned)me | (unsigned)i << 8);
    }
    __syncthreads();
    const modal_raster_view view = *task.view;
    for (unsigned k = (unsigned)me; k < n_items; k += THREADS) {
        const unsigned item = items[k];
        const int of = (int)(item & 255u), i = (int)(item >> 8 & 255u);
        int of_x, of_y;
        place(r, of, &of_x, &of_y);
        const int64_t at = (int64_t)of_y * task.width + of_x;
        float colour[3];
        shade_item(&task, &view, {at, (uint32_t)task.keys[at * SAMPLES + i], item >> 16}, SAMPLES, HAS, colour, counts);
        for (int c = 0; c < 3; c++) colours[of * ROW + 3 * i + c] = colour[c];
    }
    if constexpr (THROUGH) {
        const shade_value *const values = reinterpret_cast<const shade_value *>(layers_of(task));
        const uint32_t *const which = which_of(task);
        for (unsigned k = THREADS - 1 - (unsigned)me; k < n_samples; k += THREADS) { // the last threads first: the first have more of the others
            const int of = samples[k] & 255, i = samples[k] >> 8;
            int of_x, of_y;
            place(r, of, &of_x, &of_y);
            const int32_t *const first = shade_first_layer(&task, (int64_t)of_y * task.width + of_x, SAMPLES) + i;
            over[of * SAMPLES + i] = shade_over(values, which, first[0], first[1]);
        }
    }
    __syncthreads();
    if (inside) {
        const float nothing[3] = {0.0f, 0.0f, 0.0f};
        float limited[3], full[3];
        uint64_t keys[SAMPLES]; // again: they need not be kept until here
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) keys[i] = task.keys[pixel * SAMPLES + i];
        if ((uint32_t)keys[0] == MODAL_RASTER_NONE) shade_put_first(&task, pixel, -1, nothing, nothing);
        const shade_seen seen = {pixel, keys, reinterpret_cast<const float(*)[3]>(colours + me * ROW), over + (THROUGH ? me * SAMPLES : 0)};
        shade_sum(&task, &view, seen, SAMPLES, HAS, limited, full, counts);
        if (task.picture)
            reinterpret_cast<uchar4 *>(task.picture)[pixel] =
                make_uchar4(shade_srgb(limited[0]), shade_srgb(limited[1]), shade_srgb(limited[2]), 255);
        if (task.deep)
            reinterpret_cast<ushort4 *>(task.deep)[pixel] =
                make_ushort4(shade_deep(limited[0]), shade_deep(limited[1]), shade_deep(limited[2]), 65535);
    }
    if constexpr (HAS & SHADE_SOLIDS) add_counts(task, counts);
}

// By itself, so that pictures without it keep their registers.
__global__ void __launch_bounds__(THREADS) motion(const modal_shade_task task, const range r)
{
    int x, y;
    if (!place(r, (int)threadIdx.x, &x, &y) || (task.layers && !shade_is_listed(&task))) return;
    shade_motion(&task, task.view, task.view_before, (int64_t)y * task.width + x, task.samples);
}

typedef void pixels_kernel(modal_shade_task task, range r);
typedef void layers_kernel(modal_shade_task task);

template <int SAMPLES> modal_status launch(const modal_shade_task &task, const range &r, int64_t blocks, cudaStream_t stream, modal_error *err)
{
    constexpr int SOLIDS = SHADE_IMAGES | SHADE_SOLIDS, READY = SHADE_LAYERS | SHADE_READY;
    const int has = shade_has(&task), solids = has & SHADE_SOLIDS;
    modal_status status = MODAL_OK;
    modal_cuda_machine machine;
    pixels_kernel *pixels = solids ? shade<SAMPLES, SOLIDS> : has ? shade<SAMPLES, SHADE_IMAGES> : shade<SAMPLES, 0>;
    if (has & SHADE_LAYERS) {
        pixels_kernel *const list = list_layers<SAMPLES>;
        layers_kernel *const layers = solids ? shade_layers_listed<SAMPLES, SOLIDS> : shade_layers_listed<SAMPLES, SHADE_IMAGES>;
        pixels = solids ? shade<SAMPLES, SOLIDS | READY> : shade<SAMPLES, SHADE_IMAGES | READY>;
        MODAL_TRY(modal_cuda_machine_of(&machine, err));
        MODAL_TRY(modal_cuda_status(cudaMemsetAsync(task.layer_scratch, 0, sizeof(unsigned), stream), "layers of pixels", err));
        const int64_t n_pixels = (int64_t)(r.end - r.first) * task.width;
        MODAL_TRY(modal_cuda::launch(list, (n_pixels + THREADS - 1) / THREADS, THREADS, stream, "layers of pixels", err, task, r));
        MODAL_TRY(modal_cuda::launch(layers, BLOCKS_EACH * machine.n_multiprocessors, THREADS, stream, "shade of layers", err, task));
    }
    MODAL_TRY(modal_cuda::launch(pixels, blocks, THREADS, stream, "shade", err, task, r));
done:
    return status;
}

} // namespace

extern "C" modal_status modal_shade_cuda(const modal_shade_task *task, modal_stream *modal_stream, modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)modal_stream;
    modal_status status = MODAL_OK;
    range r;
    shade_rows(task, &r.first, &r.end);
    shade_columns(task, &r.left, &r.right);
    r.across = (r.right - r.left + 15) / 16;
    const int64_t blocks = (int64_t)r.across * ((r.end - r.first + 7) / 8);
    if (task->samples == 1) MODAL_TRY(launch<1>(*task, r, blocks, stream, err));
    if (task->samples == 4) MODAL_TRY(launch<4>(*task, r, blocks, stream, err));
    if (task->samples == 8) MODAL_TRY(launch<8>(*task, r, blocks, stream, err));
    if (task->motion) MODAL_TRY(modal_cuda::launch(motion, blocks, THREADS, stream, "motion", err, *task, r));
done:
    return status;
}
