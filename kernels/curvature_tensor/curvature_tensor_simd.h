/* SPDX-License-Identifier: Apache-2.0 */
/* See curvature_sets.h. No include guard: this is a template. */

TARGET static void NAME(tensors_of_tiles)(const void *pointer, int64_t column, int64_t begin, int64_t end,
                                          const float *records)
{
    const modal_curvature_tensor_task *task = pointer;
    const modal_curvature_surface *s = &task->surface;
    for (int64_t tile = begin; tile < end; tile++)
        for (int part = 0; part < MODAL_TILE; part += LANES) {
            const int64_t first = tile * MODAL_TILE + part, count = s->n_vertices - first;
            int32_t index[LANES];
            REAL x[4], y[4];
            if (count <= 0) break;
            NAME(own_indices)(first, s->n_vertices, 2, index);
            NAME(load_fours)(records, index, x);
            NAME(load_fours)(records + 4, index, y);
            const NAME(vec) own = {x[0], x[1], x[2]}, n = {y[0], y[1], y[2]};
            const REAL zero = NUMBER(0.0f);
            NAME(vec) p, q, a = {zero, zero, zero}, da = a;
            NAME(share) sum = {zero, zero, zero, zero};
            NAME(frame)(n, &p, &q);
            for (int64_t row = s->ring_offsets[tile]; row < s->ring_offsets[tile + 1]; row++) {
                const MASK on = NAME(entries)(s->ring + row * MODAL_TILE + part, 2, index);
                NAME(load_fours)(records, index, x);
                NAME(load_fours)(records + 4, index, y);
                const NAME(vec) e = {x[0] - own.x, x[1] - own.y, x[2] - own.z};
                const NAME(vec) d = {y[0] - n.x, y[1] - n.y, y[2] - n.z};
                const NAME(vec) b = {NAME(dot)(e, p), NAME(dot)(e, q), NAME(dot)(e, n)};
                const NAME(vec) db = {NAME(dot)(d, p), NAME(dot)(d, q), NAME(dot)(d, n)};
                NAME(add_triangle)(a, b, da, db, on, &sum);
                a = b, da = db;
            }
            const REAL inverse = SELECT(sum.w > zero, NUMBER(1.0f) / sum.w, zero);
            const NAME(share) mean = {sum.a * inverse, sum.b * inverse, sum.c * inverse, sum.w};
            NAME(give)(&task->output, column * s->n_vertices + first, count, n, p, q, mean, s->scale);
        }
}
