/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of one instruction set, and how records of vertices get into them: see curvature_sets.h, which includes this
 * for every set. No include guard: this is a template.
 *
 * A vertex's values lie in records of fours, x y z and one more: a neighbour is one or two loads of 16 bytes from one
 * line of the cache, and four shuffles turn LANES of them into vectors. Gathers of single floats took 4 times as long. */

typedef float NAME(vector) __attribute__((vector_size(4 * LANES)));
typedef int32_t NAME(integers) __attribute__((vector_size(4 * LANES)));
typedef float NAME(stored) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t NAME(indices) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

FN NAME(vector) NAME(absolute)(NAME(vector) a)
{
    return (NAME(vector))((NAME(integers))a & 0x7fffffff);
}
#define ABSOLUTE(v) NAME(absolute)(v)

#include "kernels/curvature_tensor/curvature_body.h"

/* Within every four lanes: shuffles of two vectors. */
#define QUARTER(e) ((e) / 4 * 4)
#define LOW(e) ((e) % 2 * LANES + QUARTER(e) + (e) % 4 / 2)
#define HIGH(e) (LOW(e) + 2)
#define PAIR_LOW(e) ((e) % 4 / 2 * LANES + QUARTER(e) + (e) % 2)
#define PAIR_HIGH(e) (PAIR_LOW(e) + 2)
#if LANES == 16
#define EACH(F)                                                                                                       \
    F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)
#elif LANES == 8
#define EACH(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#else
#define EACH(F) F(0), F(1), F(2), F(3)
#endif

/* Four numbers of LANES records at `index` (of fours): out[4]. */
FN void NAME(load_fours)(const float *records, const int32_t *index, NAME(vector) * out)
{
#define ROW(k) (*(const curvature_loaded *)(records + 4 * (int64_t)index[k]))
    const NAME(vector) r0 = (NAME(vector))JOIN(ROW, 0), r1 = (NAME(vector))JOIN(ROW, 1);
    const NAME(vector) r2 = (NAME(vector))JOIN(ROW, 2), r3 = (NAME(vector))JOIN(ROW, 3);
#undef ROW
    const NAME(vector) a = __builtin_shufflevector(r0, r1, EACH(LOW)), b = __builtin_shufflevector(r2, r3, EACH(LOW));
    const NAME(vector) c = __builtin_shufflevector(r0, r1, EACH(HIGH)), d = __builtin_shufflevector(r2, r3, EACH(HIGH));
    out[0] = __builtin_shufflevector(a, b, EACH(PAIR_LOW));
    out[1] = __builtin_shufflevector(a, b, EACH(PAIR_HIGH));
    out[2] = __builtin_shufflevector(c, d, EACH(PAIR_LOW));
    out[3] = __builtin_shufflevector(c, d, EACH(PAIR_HIGH));
}

/* LANES entries of a table's row: their records' indices times `stride`, and which of them close a triangle. */
FN NAME(integers) NAME(entries)(const int32_t *row, int32_t stride, int32_t *index)
{
    const NAME(integers) entry = *(const NAME(indices) *)row;
    *(NAME(indices) *)index = (entry ^ (entry >> 31)) * stride;
    return entry >= 0;
}

/* Indices of LANES vertices from `first` on; past the last vertex the last again. */
FN void NAME(own_indices)(int64_t first, int64_t n_vertices, int32_t stride, int32_t *index)
{
    for (int k = 0; k < LANES; k++)
        index[k] = (int32_t)(first + k < n_vertices ? first + k : n_vertices - 1) * stride;
}

FN void NAME(store)(float *out, int64_t count, NAME(vector) v)
{
    if (count >= LANES) {
        *(NAME(stored) *)out = v;
        return;
    }
    float values[LANES];
    *(NAME(stored) *)values = v;
    for (int64_t k = 0; k < count; k++) out[k] = values[k];
}

FN void NAME(store_threes)(float *out, int64_t count, NAME(vector) x, NAME(vector) y, NAME(vector) z)
{
    float values[3][LANES];
    *(NAME(stored) *)values[0] = x, *(NAME(stored) *)values[1] = y, *(NAME(stored) *)values[2] = z;
    for (int64_t k = 0; k < (count < LANES ? count : LANES); k++)
        out[3 * k] = values[0][k], out[3 * k + 1] = values[1][k], out[3 * k + 2] = values[2][k];
}

/* Writes the outputs of LANES vertices from `at` on (of the column's first): tensors a b c in the frame (p, q) of n,
 * times `scale`; areas in units of 1 / scale^2. */
FN void NAME(give)(const modal_curvature_output *out, int64_t at, int64_t count, NAME(vec) n, NAME(vec) p, NAME(vec) q,
                   NAME(share) t, float scale)
{
    const REAL zero = NUMBER(0.0f);
    const MASK there = NAME(dot)(n, n) > zero;
    const REAL a = SELECT(there, t.a * scale, zero), b = SELECT(there, t.b * scale, zero);
    const REAL c = SELECT(there, t.c * scale, zero);
    if (out->tensors) NAME(store_threes)(out->tensors + 3 * at, count, a, b, c);
    if (out->areas) NAME(store)(out->areas + at, count, SELECT(there, t.w / (scale * scale), zero));
    if (out->mean) NAME(store)(out->mean + at, count, (a + c) * 0.5f);
    if (out->gauss) NAME(store)(out->gauss + at, count, a * c - b * b);
    if (!out->k_max && !out->k_min && !out->direction_max && !out->direction_min) return;
    REAL k_max, k_min, x, y;
    NAME(diagonal)(a / scale, b / scale, c / scale, &k_max, &k_min, &x, &y);
    if (out->k_max) NAME(store)(out->k_max + at, count, k_max * scale);
    if (out->k_min) NAME(store)(out->k_min + at, count, k_min * scale);
    x = SELECT(there, x, zero), y = SELECT(there, y, zero);
    if (out->direction_max)
        NAME(store_threes)(out->direction_max + 3 * at, count, x * p.x + y * q.x, x * p.y + y * q.y,
                           x * p.z + y * q.z);
    if (out->direction_min)
        NAME(store_threes)(out->direction_min + 3 * at, count, x * q.x - y * p.x, x * q.y - y * p.y,
                           x * q.z - y * p.z);
}

#undef QUARTER
#undef LOW
#undef HIGH
#undef PAIR_LOW
#undef PAIR_HIGH
#undef EACH
