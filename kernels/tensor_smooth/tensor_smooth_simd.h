/* SPDX-License-Identifier: Apache-2.0 */
/* See kernels/curvature_tensor/curvature_sets.h. No include guard: this is a template. */
#include "kernels/tensor_smooth/tensor_smooth_body.h"

/* Records: x y z area, n_x n_y n_z a, b c and two more. */
TARGET static void NAME(smooth_tiles)(const void *pointer, int64_t column, int64_t begin, int64_t end,
                                      const float *records)
{
    const modal_tensor_smooth_task *task = pointer;
    const REAL zero = NUMBER(0.0f), per_square = NUMBER(1.0f) / (NUMBER(1.0f) * task->radius * task->radius);
    for (int64_t tile = begin; tile < end; tile++)
        for (int part = 0; part < MODAL_TILE; part += LANES) {
            const int64_t first = tile * MODAL_TILE + part, count = task->n_vertices - first;
            int32_t index[LANES];
            REAL x[4], y[4], z[4];
            if (count <= 0) break;
            NAME(own_indices)(first, task->n_vertices, 3, index);
            NAME(load_fours)(records, index, x);
            NAME(load_fours)(records + 4, index, y);
            NAME(vec) vertex[4] = {{x[0], x[1], x[2]}, {y[0], y[1], y[2]}};
            NAME(share) sum = {zero, zero, zero, zero};
            NAME(frame)(vertex[1], &vertex[2], &vertex[3]);
            MASK on = ~(MASK){0};
            for (int64_t row = task->neighbour_offsets[tile] - 1; row < task->neighbour_offsets[tile + 1]; row++) {
                /* the first turn is the vertex itself */
                if (row >= task->neighbour_offsets[tile])
                    on = NAME(entries)(task->neighbours + row * MODAL_TILE + part, 3, index);
                NAME(load_fours)(records, index, x);
                NAME(load_fours)(records + 4, index, y);
                NAME(load_fours)(records + 8, index, z);
                const NAME(vec) place = {x[0], x[1], x[2]}, normal = {y[0], y[1], y[2]};
                const NAME(share) tensor = {y[3], z[0], z[1], x[3]};
                NAME(add_neighbour)(place, normal, tensor, vertex, per_square, on, &sum);
            }
            const REAL inverse = SELECT(sum.w > zero, NUMBER(1.0f) / sum.w, zero);
            const NAME(share) mean = {sum.a * inverse, sum.b * inverse, sum.c * inverse, zero};
            NAME(give)(&task->output, column * task->n_vertices + first, count, vertex[1], vertex[2], vertex[3], mean,
                       1.0f);
        }
}
