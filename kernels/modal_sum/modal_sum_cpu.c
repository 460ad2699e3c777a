/* SPDX-License-Identifier: Apache-2.0 */
/* U q on the CPU: OpenMP over blocks of tiles, SIMD over the 32 lanes of a tile, columns in register
 * blocks. A block of tiles is as large as stays in the second-level cache, so U comes from memory
 * once however many columns there are. One function an instruction set instead of target_clones:
 * lanes and columns of a register block differ between the sets, and no ifunc resolver runs before
 * a sanitizer is ready. */
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/modal_sum/modal_sum.h"
#include "kernels/modal_sum/tile_product.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LANES 4
#define COLUMNS 4
#define TARGET
#define NAME(x) x##_base
#if defined(__x86_64__)
#define STREAM(p, v) _mm_stream_ps(p, (__m128)(v))
#else
#define STREAM(p, v) (*(unaligned_base *)(p) = (v))
#endif
#include "kernels/modal_sum/tile_product_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define COLUMNS 4
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define STREAM(p, v) _mm256_stream_ps(p, (__m256)(v))
#include "kernels/modal_sum/tile_product_simd.h"

#define LANES 16
#define COLUMNS 8
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#define STREAM(p, v) _mm512_stream_ps(p, (__m512)(v))
#include "kernels/modal_sum/tile_product_simd.h"
#endif

/* STREAM_BYTES: outputs larger than this do not stay in a cache, so the lines they replace are not
 * read first (where they are aligned): a third of the write traffic less. */
enum { BLOCK_BYTES = 128 << 10, STREAM_BYTES = 8 << 20 };

void modal_tile_product_cpu(const modal_tile_product *task)
{
    modal_tile_product copy = *task;
    const modal_tile_product *product = &copy;
    copy.stream = task->n_vertices * task->n_columns * 12 > STREAM_BYTES;
    void (*tiles)(const modal_tile_product *, int64_t, int64_t) = tiles_base;
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: tiles = tiles_avx512; break;
    case MODAL_SIMD_AVX2: tiles = tiles_avx2; break;
    default: break;
    }
#endif
    const int64_t n_tiles = (product->n_vertices + 31) / 32;
    int64_t size = BLOCK_BYTES / (((int64_t)product->n_modes + 1) * 96 * (int64_t)sizeof(float));
    size = size < 1 ? 1 : size > 32 ? 32 : size;
    const int64_t n_blocks = (n_tiles + size - 1) / size;
    const int parallel =
        n_tiles * 32 * product->n_columns * ((int64_t)product->n_modes + 4) > 1000000;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t block = 0; block < n_blocks; block++) {
        const int64_t begin = block * size, end = begin + size < n_tiles ? begin + size : n_tiles;
        tiles(product, begin, end);
#if defined(__x86_64__)
        if (product->stream) _mm_sfence();
#endif
    }
}

modal_status modal_sum_cpu(const modal_sum_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const modal_tile_product product = {.n_vertices = task->n_vertices,
                                        .n_columns = task->n_columns,
                                        .n_modes = task->n_modes,
                                        .modal_matrix = task->modal_matrix,
                                        .q = task->q,
                                        .positions = task->u};
    modal_tile_product_cpu(&product);
    return MODAL_OK;
}
