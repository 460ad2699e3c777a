/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_corner/normals_corner.h"

#include <math.h>

#include "lib/base/memory.h"
#include "lib/base/tile.h"

void modal_normals_corner_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                const double *positions, double *normals)
{
    for (int64_t v = 0; v < n_vertices; v++) {
        const int64_t tile = v / MODAL_TILE;
        const double *own = positions + 3 * v;
        double sum[3] = {0.0, 0.0, 0.0}, e[3] = {0.0, 0.0, 0.0}, ee = 0.0;
        for (int64_t row = ring_offsets[tile]; row < ring_offsets[tile + 1]; row++) {
            const int32_t entry = ring[row * MODAL_TILE + v % MODAL_TILE];
            const double *other = positions + 3 * (int64_t)(entry < 0 ? ~entry : entry);
            double f[3], ff = 0.0;
            for (int i = 0; i < 3; i++) f[i] = other[i] - own[i], ff += f[i] * f[i];
            if (entry >= 0 && ee * ff > 0.0)
                for (int i = 0; i < 3; i++)
                    sum[i] += (e[(i + 1) % 3] * f[(i + 2) % 3] - e[(i + 2) % 3] * f[(i + 1) % 3]) / (ee * ff);
            for (int i = 0; i < 3; i++) e[i] = f[i];
            ee = ff;
        }
        const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        for (int i = 0; i < 3; i++) normals[3 * v + i] = length == 0.0 ? 0.0 : sum[i] / length;
    }
}

void modal_normals_corner_records(const modal_normals_corner_task *task)
{
    if (!task->records) return;
    for (int64_t i = 0; i < task->n_vertices * task->n_columns; i++)
        for (int k = 0; k < 4; k++) {
            task->records[8 * i + k] = k < 3 ? task->positions[3 * i + k] : 0.0f;
            task->records[8 * i + 4 + k] = k < 3 ? task->normals[3 * i + k] : 0.0f;
        }
}

modal_status modal_normals_corner_ref(const modal_normals_corner_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const int64_t n = task->n_vertices;
    double *positions = NULL, *normals = NULL;
    MODAL_TRY(modal_alloc(&positions, 3 * n, sizeof *positions, "positions", err));
    MODAL_TRY(modal_alloc(&normals, 3 * n, sizeof *normals, "normals", err));
    for (int64_t c = 0; c < task->n_columns; c++) {
        for (int64_t i = 0; i < 3 * n; i++) positions[i] = (double)task->positions[3 * c * n + i];
        modal_normals_corner_exact(n, task->ring_offsets, task->ring, positions, normals);
        for (int64_t i = 0; i < 3 * n; i++) task->normals[3 * c * n + i] = (float)normals[i];
    }
    modal_normals_corner_records(task);
done:
    modal_free(&positions);
    modal_free(&normals);
    return status;
}
