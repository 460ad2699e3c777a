/* SPDX-License-Identifier: Apache-2.0 */
/* U q on the CPU: OpenMP over blocks of tiles (and of columns, where tiles are few), SIMD over the 32
 * lanes of a tile, columns in register blocks. A block of tiles is as large as stays in the second-level
 * cache, so U comes from memory once however many columns there are. One function an instruction set instead of target_clones:
 * lanes and columns of a register block differ between the sets, and no ifunc resolver runs before
 * a sanitizer is ready. */
#include <omp.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/modal_sum/modal_sum.h"
#include "kernels/modal_sum/tile_product.h"
#include "lib/base/tile.h"
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

enum { BLOCK_BYTES = 128 << 10, COLUMNS_OF_PART = 16 };

/* Threads for the job. To wake a team and wait for it takes 3 us (16 threads that still spin), as long as
 * one thread reads 50 KB of U from memory or multiplies 150,000 numbers: threads from twice that on. */
static int64_t count_threads(const modal_tile_product *p)
{
    const double values = 3.0 * (double)p->n_vertices, columns = (double)p->n_columns;
    const double bytes = 4.0 * values * (p->n_modes + columns), products = values * p->n_modes * columns;
    return bytes / 100e3 + products / 300e3 > 1.0 ? omp_get_max_threads() : 1;
}

void modal_tile_product_cpu(const modal_tile_product *task)
{
    modal_tile_product copy = *task;
    const modal_tile_product *product = &copy;
    copy.stream = task->n_vertices * task->n_columns * 12 > modal_cpu_stream_bytes();
    void (*tiles)(const modal_tile_product *, int64_t, int64_t, int64_t, int64_t) = tiles_base;
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: tiles = tiles_avx512; break;
    case MODAL_SIMD_AVX2: tiles = tiles_avx2; break;
    default: break;
    }
#endif
    /* Blocks: as many for every thread, a few of them where columns allow it. */
    const int64_t n_tiles = modal_tile_count(product->n_vertices), threads = count_threads(product);
    int64_t size = BLOCK_BYTES / (((int64_t)product->n_modes + 1) * MODAL_TILE_FLOATS * (int64_t)sizeof(float));
    size = size < 1 ? 1 : size > 32 ? 32 : size;
    int64_t n_blocks = ((n_tiles + size - 1) / size + threads - 1) / threads * threads;
    if (n_blocks > n_tiles) n_blocks = n_tiles;
    const int64_t column_parts = (product->n_columns + COLUMNS_OF_PART - 1) / COLUMNS_OF_PART;
    int64_t n_parts = threads > 1 && n_blocks > 0 ? (4 * threads + n_blocks - 1) / n_blocks : 1;
    if (n_parts > column_parts) n_parts = column_parts;
#pragma omp parallel for schedule(static) if (threads > 1)
    for (int64_t item = 0; item < n_blocks * n_parts; item++) {
        const int64_t block = item / n_parts, part = item % n_parts;
        const int64_t c_end = (part + 1) * column_parts / n_parts * COLUMNS_OF_PART;
        tiles(product, n_tiles * block / n_blocks, n_tiles * (block + 1) / n_blocks,
              part * column_parts / n_parts * COLUMNS_OF_PART,
              c_end < product->n_columns ? c_end : product->n_columns);
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
