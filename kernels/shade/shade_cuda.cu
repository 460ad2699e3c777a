// SPDX-License-Identifier: Apache-2.0
// A thread a pixel, a warp 8 x 4 of them: neighbours see the same triangles, whose corners are then in the cache. Registers for eight
// blocks a multiprocessor: with more of them a pixel the time is 1.14 times as long, with fewer 1.2.
//
// Layers first, so that pixels that have many, and lie beside such as have none, do not hold up a warp: some threads a pixel list the triangles that it
// sees through, a thread shades one of those, and the pixels only add them up. The order of that list is none of what comes out.
#include "kernels/cuda_launch.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/shade/shade_math.h"

namespace {

constexpr int THREADS = 128, LISTERS = 4, BLOCKS_EACH = 16 /* a multiprocessor, of layers */;

// What is shaded: rows and columns.
struct range {
    int first, end, left, right;
    int across; // tiles of 16 x 8 pixels
};

// A pixel of this thread; false: it has none.
__device__ __forceinline__ bool place(const range &r, int *x, int *y)
{
    *x = r.left + (int)(blockIdx.x % r.across) * 16 + threadIdx.x % 8 + threadIdx.x / 64 * 8;
    *y = r.first + (int)(blockIdx.x / r.across) * 8 + threadIdx.x / 8 % 8;
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

// LISTERS threads a pixel, each every LISTERS-th fragment: one that is the first of its triangle is listed for all of them.
template <int SAMPLES> __global__ void __launch_bounds__(THREADS) list_layers(const modal_shade_task task, const range r)
{
    const int64_t at_pixel = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LISTERS;
    if (at_pixel >= (int64_t)(r.end - r.first) * task.width || !shade_is_listed(&task)) return;
    const int32_t *first = task.layers + at_pixel * SAMPLES;
    const int32_t begin = first[0], end = first[SAMPLES];
    layer *const layers = layers_of(task);
    uint32_t *const which = reinterpret_cast<uint32_t *>(layers + shade_n_fragments(&task));
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

template <int SAMPLES, int HAS> __global__ void __launch_bounds__(THREADS, registers_for(HAS)) shade(const modal_shade_task task, const range r)
{
    int x, y;
    const bool inside = place(r, &x, &y) && (!(HAS & SHADE_LAYERS) || shade_is_listed(&task));
    const int64_t pixel = (int64_t)y * task.width + x;
    float limited[3], full[3];
    uint32_t counts[MODAL_SHADE_SOURCES] = {};
    if (inside) {
        const modal_raster_view view = *task.view;
        shade_pixel(&task, &view, pixel, SAMPLES, HAS, limited, full, counts);
    }
    if constexpr (HAS & SHADE_SOLIDS) add_counts(task, counts);
    if (!inside) return;
    if (task.picture)
        reinterpret_cast<uchar4 *>(task.picture)[pixel] =
            make_uchar4(shade_srgb(limited[0]), shade_srgb(limited[1]), shade_srgb(limited[2]), 255);
    if (task.deep)
        reinterpret_cast<ushort4 *>(task.deep)[pixel] =
            make_ushort4(shade_deep(limited[0]), shade_deep(limited[1]), shade_deep(limited[2]), 65535);
}

// By itself, so that pictures without it keep their registers.
__global__ void __launch_bounds__(THREADS) motion(const modal_shade_task task, const range r)
{
    int x, y;
    if (!place(r, &x, &y) || (task.layers && !shade_is_listed(&task))) return;
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
        const int64_t listers = (int64_t)(r.end - r.first) * task.width * LISTERS;
        MODAL_TRY(modal_cuda::launch(list, (listers + THREADS - 1) / THREADS, THREADS, stream, "layers of pixels", err, task, r));
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
