/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tensor_smooth/tensor_smooth.h"

#include "kernels/curvature_tensor/curvature_ref.h"
#include "lib/base/tile.h"

/* Adds neighbour j of v; returns its weight. */
static double add(const modal_curvature_exact *column, const double *areas, const double *tensors, double radius,
                  int64_t v, int64_t j, double sum[3])
{
    const double *positions = column->positions, *normals = column->normals;
    double square = 0.0, cosine = 0.0, turn[2], turned[3];
    for (int i = 0; i < 3; i++) {
        square += (positions[3 * j + i] - positions[3 * v + i]) * (positions[3 * j + i] - positions[3 * v + i]);
        cosine += normals[3 * j + i] * normals[3 * v + i];
    }
    const double left = 1.0 - square / (radius * radius);
    if (!(left > 0.0) || !(cosine > 0.0) || !(areas[j] > 0.0) ||
        !modal_curvature_turn_exact(normals + 3 * j, normals + 3 * v, turn))
        return 0.0;
    modal_curvature_turned_exact(turn, tensors + 3 * j, turned);
    for (int i = 0; i < 3; i++) sum[i] += areas[j] * left * left * turned[i];
    return areas[j] * left * left;
}

void modal_tensor_smooth_exact(const modal_curvature_exact *column, const double *areas, const double *tensors,
                               double radius, double *smoothed)
{
    for (int64_t v = 0; v < column->n_vertices; v++) {
        const int64_t tile = v / MODAL_TILE;
        double sum[3] = {0.0, 0.0, 0.0};
        double weight = add(column, areas, tensors, radius, v, v, sum);
        for (int64_t row = column->offsets[tile]; row < column->offsets[tile + 1]; row++) {
            const int32_t j = column->neighbours[row * MODAL_TILE + v % MODAL_TILE];
            if (j >= 0) weight += add(column, areas, tensors, radius, v, j, sum);
        }
        for (int i = 0; i < 3; i++) smoothed[3 * v + i] = weight > 0.0 ? sum[i] / weight : 0.0;
    }
}

modal_status modal_tensor_smooth_ref(const modal_tensor_smooth_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const int64_t n = task->n_vertices;
    double *smoothed = NULL;
    modal_curvature_columns columns = {0};
    MODAL_TRY(modal_curvature_columns_new(&columns, n, err));
    MODAL_TRY(modal_alloc(&smoothed, 3 * n, sizeof *smoothed, "smoothed tensors", err));
    for (int64_t c = 0; c < task->n_columns; c++) {
        modal_curvature_columns_read(&columns, c, task->positions, task->normals);
        for (int64_t i = 0; i < 3 * n; i++) columns.tensors[i] = (double)task->tensors[3 * c * n + i];
        for (int64_t i = 0; i < n; i++) columns.areas[i] = (double)task->areas[c * n + i];
        const modal_curvature_exact column = {n, task->neighbour_offsets, task->neighbours, columns.positions,
                                              columns.normals};
        modal_tensor_smooth_exact(&column, columns.areas, columns.tensors, (double)task->radius, smoothed);
        modal_curvature_give_exact(n, c, columns.normals, smoothed, NULL, &task->output);
    }
done:
    modal_free(&smoothed);
    modal_curvature_columns_free(&columns);
    return status;
}
