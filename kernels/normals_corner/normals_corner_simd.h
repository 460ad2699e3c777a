/* SPDX-License-Identifier: Apache-2.0 */
/* See kernels/curvature_tensor/curvature_sets.h. No include guard: this is a template. */

typedef float NAME(half) __attribute__((vector_size(2 * LANES)));
typedef double NAME(doubles) __attribute__((vector_size(4 * LANES)));

#if LANES == 16
#define LOW_HALF(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
#define HIGH_HALF(v) __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)
#define JOIN_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif LANES == 8
#define LOW_HALF(v) __builtin_shufflevector(v, v, 0, 1, 2, 3)
#define HIGH_HALF(v) __builtin_shufflevector(v, v, 4, 5, 6, 7)
#define JOIN_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LOW_HALF(v) __builtin_shufflevector(v, v, 0, 1)
#define HIGH_HALF(v) __builtin_shufflevector(v, v, 2, 3)
#define JOIN_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)
#endif

FN void NAME(add_double)(NAME(vector) v, NAME(doubles) * sum)
{
    sum[0] += __builtin_convertvector(LOW_HALF(v), NAME(doubles));
    sum[1] += __builtin_convertvector(HIGH_HALF(v), NAME(doubles));
}

/* Doubles, times a factor or not, rounded once. */
FN NAME(vector) NAME(narrow)(const NAME(doubles) * v, const NAME(doubles) * factor)
{
    const NAME(half) low = __builtin_convertvector(factor ? v[0] * factor[0] : v[0], NAME(half));
    const NAME(half) high = __builtin_convertvector(factor ? v[1] * factor[1] : v[1], NAME(half));
    return JOIN_HALVES(low, high);
}

TARGET static void NAME(normals_of_tiles)(const void *pointer, int64_t column, int64_t begin, int64_t end,
                                          const float *records)
{
    const modal_normals_corner_task *task = pointer;
    float *normals = task->normals + 3 * column * task->n_vertices;
    for (int64_t tile = begin; tile < end; tile++)
        for (int part = 0; part < MODAL_TILE; part += LANES) {
            const int64_t first = tile * MODAL_TILE + part, count = task->n_vertices - first;
            int32_t index[LANES];
            REAL own[4], next[4];
            if (count <= 0) break;
            NAME(own_indices)(first, task->n_vertices, 1, index);
            NAME(load_fours)(records, index, own);
            const REAL zero = NUMBER(0.0f), one = NUMBER(1.0f);
            NAME(doubles) sum[3][2] = {{{0}}};
            NAME(vec) e = {zero, zero, zero};
            REAL ee = zero;
            for (int64_t row = task->ring_offsets[tile]; row < task->ring_offsets[tile + 1]; row++) {
                const MASK on = NAME(entries)(task->ring + row * MODAL_TILE + part, 1, index);
                NAME(load_fours)(records, index, next);
                const NAME(vec) f = {next[0] - own[0], next[1] - own[1], next[2] - own[2]};
                const REAL ff = NAME(dot)(f, f), product = ee * ff;
                const MASK use = on & (product > zero);
                const REAL weight = SELECT(use, one / product, zero);
                const NAME(vec) c = NAME(cross)(e, f);
                NAME(add_double)(SELECT(use, weight * c.x, zero), sum[0]);
                NAME(add_double)(SELECT(use, weight * c.y, zero), sum[1]);
                NAME(add_double)(SELECT(use, weight * c.z, zero), sum[2]);
                e = f, ee = ff;
            }
            /* the length in float32: a common factor of all three does not turn the normal */
            const NAME(vec) near = {NAME(narrow)(sum[0], NULL), NAME(narrow)(sum[1], NULL),
                                    NAME(narrow)(sum[2], NULL)};
            const REAL square = NAME(dot)(near, near);
            const REAL inverse = SELECT(square == zero, zero, one / SQRT(square));
            NAME(doubles) factor[2] = {{0}};
            NAME(add_double)(inverse, factor);
            NAME(store_threes)(normals + 3 * first, count, NAME(narrow)(sum[0], factor), NAME(narrow)(sum[1], factor),
                               NAME(narrow)(sum[2], factor));
        }
}

#undef LOW_HALF
#undef HIGH_HALF
#undef JOIN_HALVES
