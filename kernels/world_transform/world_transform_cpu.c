/* SPDX-License-Identifier: Apache-2.0 */
/* Memory-bound: one pass over u, OpenMP over tiles of every column. The compiler's own vectors do;
 * `#pragma omp simd` over the 32 lanes of a tile, which are independent. */
#include "kernels/world_transform/world_transform.h"
#include "lib/base/tile.h"

static void transform_tile(const modal_world_transform_task *task, int64_t c, int64_t tile)
{
    const int64_t first = tile * MODAL_TILE;
    const int64_t count = task->n_vertices - first < MODAL_TILE ? task->n_vertices - first : MODAL_TILE;
    const int64_t begin = (c * task->n_vertices + first) * 3;
    const float *rest = task->rest_tiles + tile * MODAL_TILE_FLOATS, *t = task->poses + 12 * c;
    float u[3][MODAL_TILE] = {{0}}; /* read whole before anything is written: outputs may be u */
    for (int64_t l = 0; l < count; l++)
        for (int j = 0; j < 3; j++) u[j][l] = task->u[begin + 3 * l + j];
    float x[3][MODAL_TILE], d[3][MODAL_TILE];
    for (int i = 0; i < 3; i++) {
        const float r0 = t[4 * i], r1 = t[4 * i + 1], r2 = t[4 * i + 2], p = t[4 * i + 3];
#pragma omp simd
        for (int l = 0; l < MODAL_TILE; l++) {
            float sum = r0 * (rest[l] + u[0][l]) + p;
            sum = r1 * (rest[MODAL_TILE + l] + u[1][l]) + sum;
            x[i][l] = r2 * (rest[64 + l] + u[2][l]) + sum;
            sum = r0 * u[0][l];
            sum = r1 * u[1][l] + sum;
            d[i][l] = r2 * u[2][l] + sum;
        }
    }
    for (int64_t l = 0; l < count; l++)
        for (int i = 0; i < 3; i++) task->positions[begin + 3 * l + i] = x[i][l];
    if (!task->displacement) return;
    for (int64_t l = 0; l < count; l++)
        for (int i = 0; i < 3; i++) task->displacement[begin + 3 * l + i] = d[i][l];
}

modal_status modal_world_transform_cpu(const modal_world_transform_task *task,
                                       modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n_tiles = modal_tile_count(task->n_vertices);
    const int parallel = n_tiles * task->n_columns > 256;
#pragma omp parallel for collapse(2) schedule(static) if (parallel)
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t tile = 0; tile < n_tiles; tile++) transform_tile(task, c, tile);
    return MODAL_OK;
}
