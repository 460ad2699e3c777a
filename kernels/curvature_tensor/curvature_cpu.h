/* SPDX-License-Identifier: Apache-2.0 */
/* How the operations on curvature run on the CPU: for every column records of all vertices are made, then tiles of 32
 * vertices read their neighbours' records. Threads share the columns, or where these are few their tiles. */
#ifndef MODAL_KERNELS_CURVATURE_CPU_H
#define MODAL_KERNELS_CURVATURE_CPU_H

#include <omp.h>

#include "lib/base/memory.h"
#include "lib/base/tile.h"

/* Makes records of vertices [begin, end) of a column; computes tiles [begin, end) of it. */
typedef void curvature_records(const void *task, int64_t column, int64_t begin, int64_t end, float *records);
typedef void curvature_tiles(const void *task, int64_t column, int64_t begin, int64_t end, const float *records);

/* A thread a column, each with records of its own: nobody waits for another one. */
static inline void curvature_run_columns(const void *task, int64_t n_vertices, int64_t n_columns, int record_floats,
                                         float *records, curvature_records *make, curvature_tiles *compute)
{
#pragma omp parallel for schedule(dynamic) if (n_vertices * n_columns > 8192)
    for (int64_t column = 0; column < n_columns; column++) {
        float *own = records + omp_get_thread_num() * n_vertices * record_floats;
        make(task, column, 0, n_vertices, own);
        compute(task, column, 0, modal_tile_count(n_vertices), own);
    }
}

/* record_floats: of a vertex. */
static inline modal_status curvature_run(const void *task, int64_t n_vertices, int64_t n_columns, int record_floats,
                                         curvature_records *make, curvature_tiles *compute, modal_error *err)
{
    enum { PIECE = 32, RECORD_BYTES = 64 << 20 }; /* tiles; of all threads' records */
    const int64_t n_tiles = modal_tile_count(n_vertices), n_pieces = (n_tiles + PIECE - 1) / PIECE;
    const int64_t threads = omp_get_max_threads(), bytes = n_vertices * record_floats * (int64_t)sizeof(float);
    const int by_columns = n_columns >= threads && threads * bytes <= RECORD_BYTES;
    modal_status status = MODAL_OK;
    float *records = NULL;
    if (n_vertices <= 0 || n_columns <= 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&records, (by_columns ? threads : 1) * n_vertices * record_floats, sizeof *records,
                          "records of vertices", err));
    if (by_columns) {
        curvature_run_columns(task, n_vertices, n_columns, record_floats, records, make, compute);
        goto done;
    }
#pragma omp parallel if (n_vertices > 4096)
    for (int64_t column = 0; column < n_columns; column++) {
#pragma omp for schedule(static)
        for (int64_t piece = 0; piece < n_pieces; piece++) {
            const int64_t begin = piece * PIECE * MODAL_TILE, end = begin + PIECE * MODAL_TILE;
            make(task, column, begin, end < n_vertices ? end : n_vertices, records);
        }
#pragma omp for schedule(dynamic)
        for (int64_t piece = 0; piece < n_pieces; piece++) {
            const int64_t begin = piece * PIECE, end = begin + PIECE;
            compute(task, column, begin, end < n_tiles ? end : n_tiles, records);
        }
    }
done:
    modal_free(&records);
    return status;
}

/* Records x y z 0 (normals NULL) or x y z 0 n_x n_y n_z 0, positions times `scale`. */
static inline void curvature_pack(const float *positions, const float *normals, float scale, int64_t begin,
                                  int64_t end, float *records)
{
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    const int stride = normals ? 8 : 4;
    const four by = {scale, scale, scale, 0.0f}, one = {1.0f, 1.0f, 1.0f, 0.0f};
    for (int64_t v = begin; v < end; v++) {
        float *r = records + stride * v;
        if (v + 1 < end) { /* the fourth number is the next vertex's */
            *(four *)r = *(const four *)(positions + 3 * v) * by;
            if (normals) *(four *)(r + 4) = *(const four *)(normals + 3 * v) * one;
            continue;
        }
        r[0] = positions[3 * v] * scale, r[1] = positions[3 * v + 1] * scale, r[2] = positions[3 * v + 2] * scale;
        r[3] = 0.0f;
        if (!normals) continue;
        r[4] = normals[3 * v], r[5] = normals[3 * v + 1], r[6] = normals[3 * v + 2], r[7] = 0.0f;
    }
}

#endif
