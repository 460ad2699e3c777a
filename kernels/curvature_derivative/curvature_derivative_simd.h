/* SPDX-License-Identifier: Apache-2.0 */
/* See kernels/curvature_tensor/curvature_sets.h. No include guard: this is a template. */
#include "kernels/curvature_derivative/curvature_derivative_body.h"

/* Records: x y z a, n_x n_y n_z b, c and three more. */
FN NAME(point) NAME(load_point)(const float *records, const int32_t *index)
{
    REAL x[4], y[4], z[4];
    NAME(vec) q;
    NAME(load_fours)(records, index, x);
    NAME(load_fours)(records + 4, index, y);
    NAME(load_fours)(records + 8, index, z);
    NAME(point) point = {{x[0], x[1], x[2]}, {y[0], y[1], y[2]}, {x[0], x[1], x[2]}, {x[3], y[3], z[0], z[0]}};
    NAME(frame)(point.n, &point.p, &q);
    return point;
}

TARGET static void NAME(derivatives_of_tiles)(const void *pointer, int64_t column, int64_t begin, int64_t end,
                                              const float *records)
{
    const modal_curvature_derivative_task *task = pointer;
    const modal_curvature_surface *s = &task->surface;
    for (int64_t tile = begin; tile < end; tile++)
        for (int part = 0; part < MODAL_TILE; part += LANES) {
            const int64_t first = tile * MODAL_TILE + part, count = s->n_vertices - first;
            int32_t index[LANES];
            if (count <= 0) break;
            NAME(own_indices)(first, s->n_vertices, 3, index);
            const NAME(point) own = NAME(load_point)(records, index);
            const REAL zero = NUMBER(0.0f);
            NAME(point) before = own;
            NAME(third) sum = {zero, zero, zero, zero};
            REAL weight = zero, k_max, k_min, x, y;
            for (int64_t row = s->ring_offsets[tile]; row < s->ring_offsets[tile + 1]; row++) {
                const MASK on = NAME(entries)(s->ring + row * MODAL_TILE + part, 3, index);
                const NAME(point) next = NAME(load_point)(records, index);
                NAME(add_change)(&own, &before, &next, on, &sum, &weight);
                before = next;
            }
            const MASK there = (weight > zero) & (NAME(dot)(own.n, own.n) > zero);
            const REAL inverse = SELECT(there, s->scale * s->scale / weight, zero);
            NAME(diagonal)(own.t.a, own.t.b, own.t.c, &k_max, &k_min, &x, &y);
            const NAME(third) d = NAME(turn_third)(x, y, sum);
            float values[4][LANES];
            *(NAME(stored) *)values[0] = d.a * inverse, *(NAME(stored) *)values[1] = d.b * inverse;
            *(NAME(stored) *)values[2] = d.c * inverse, *(NAME(stored) *)values[3] = d.d * inverse;
            float *out = task->derivatives + 4 * (column * s->n_vertices + first);
            for (int64_t k = 0; k < (count < LANES ? count : LANES); k++)
                for (int i = 0; i < 4; i++) out[4 * k + i] = values[i][k];
        }
}
