/* SPDX-License-Identifier: Apache-2.0 */
/* See kernels/curvature_tensor/curvature_sets.h. No include guard: this is a template. A vertex is a lane of a vector of
 * doubles, HALF lanes; two of them fill a vector of results. */

#define HALF (LANES / 2)
typedef float NAME(half) __attribute__((vector_size(2 * LANES)));
typedef double NAME(doubles) __attribute__((vector_size(4 * LANES)));
typedef int64_t NAME(longs) __attribute__((vector_size(4 * LANES)));

#define WIDE NAME(doubles)
#define WIDE_MASK NAME(longs)
#define WIDE_ZERO {0}
#define WIDE_SELECT(m, a, b) ((WIDE)(((WIDE_MASK)(a) & (m)) | ((WIDE_MASK)(b) & ~(m))))
#define WIDE_DIVIDE(a, b) ((a) / (b))
#define WIDE_ANY(m) NAME(any)(m)
#define UNROLL(n) FIT_UNROLL(n)

FN int NAME(any)(NAME(longs) m)
{
    int64_t all = 0;
    for (int k = 0; k < HALF; k++) all |= m[k];
    return all != 0;
}

#include "kernels/curvature_fit/curvature_fit_body.h"

#if LANES == 16
#define OF_HALF(F) {F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)}
#elif LANES == 8
#define OF_HALF(F) {F(0), F(1), F(2), F(3)}
#else
#define OF_HALF(F) {F(0), F(1)}
#endif

/* Edges from HALF vertices to the neighbours of a row. Where the row only fills a list up the neighbour is the vertex itself:
 * returns 0 there, else 1. */
FN WIDE NAME(edges)(const float *x, const int32_t *entry, const WIDE *own, WIDE *edge)
{
    int32_t index[HALF];
    for (int k = 0; k < HALF; k++) index[k] = entry[k] < 0 ? ~entry[k] : entry[k];
#define X(k) x[3 * (int64_t)index[k]]
#define Y(k) x[3 * (int64_t)index[k] + 1]
#define Z(k) x[3 * (int64_t)index[k] + 2]
#define ON(k) (float)(entry[k] >= 0)
    const NAME(half) a = OF_HALF(X), b = OF_HALF(Y), d = OF_HALF(Z), one = OF_HALF(ON);
#undef X
#undef Y
#undef Z
#undef ON
    edge[0] = __builtin_convertvector(a, NAME(doubles)) - own[0];
    edge[1] = __builtin_convertvector(b, NAME(doubles)) - own[1];
    edge[2] = __builtin_convertvector(d, NAME(doubles)) - own[2];
    return __builtin_convertvector(one, NAME(doubles));
}

/* Sums over the neighbours of HALF vertices; own position and frame p, q, n. */
FN void NAME(sum_points)(const modal_curvature_fit_task *task, const float *x, int64_t first, int degree, const WIDE *own,
                         const WIDE *p, const WIDE *q, const WIDE *n, NAME(moments) * sums)
{
    const int64_t tile = first / MODAL_TILE, begin = task->neighbour_offsets[tile], end = task->neighbour_offsets[tile + 1];
    const int32_t *entries = task->neighbours + first % MODAL_TILE;
    const WIDE zero = (WIDE)WIDE_ZERO;
    WIDE e[3], square = zero, count = zero;
    for (int64_t row = begin; row < end; row++) {
        count += NAME(edges)(x, entries + row * MODAL_TILE, own, e);
        square += e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    }
    const WIDE inverse = NAME(inverse_mean)(square, count);
    NAME(clear_moments)(degree, sums);
    NAME(add_point)(degree, zero, zero, zero, NAME(weight)(zero, inverse), sums); /* the vertex itself */
    for (int64_t row = begin; row < end; row++) {
        const WIDE one = NAME(edges)(x, entries + row * MODAL_TILE, own, e);
        const WIDE weight = NAME(weight)(e[0] * e[0] + e[1] * e[1] + e[2] * e[2], inverse);
        NAME(add_point)(degree, e[0] * p[0] + e[1] * p[1] + e[2] * p[2], e[0] * q[0] + e[1] * q[1] + e[2] * q[2],
                        e[0] * n[0] + e[1] * n[1] + e[2] * n[2], weight * one, sums);
    }
}

/* Fits HALF vertices from `first` on: tensors [3][HALF] and degrees. */
FN void NAME(fit_half)(const modal_curvature_fit_task *task, const float *x, const float *normals, int64_t first,
                       int degree, float (*tensors)[LANES], float *degrees)
{
    const int64_t n = task->n_vertices;
    double own[3][HALF], p[3][HALF], q[3][HALF], normal[3][HALF];
    NAME(moments) sums;
    WIDE c[6];
    for (int k = 0; k < HALF; k++) {
        const int64_t v = first + k < n ? first + k : n - 1;
        double one[3], other[3], up[3];
        for (int i = 0; i < 3; i++) own[i][k] = (double)x[3 * v + i], up[i] = normal[i][k] = (double)normals[3 * v + i];
        modal_curvature_frame_exact(up, one, other);
        for (int i = 0; i < 3; i++) p[i][k] = one[i], q[i][k] = other[i];
    }
    WIDE o[3], f[3], g[3], h[3];
    for (int i = 0; i < 3; i++) {
        memcpy(&o[i], own[i], sizeof o[i]), memcpy(&f[i], p[i], sizeof f[i]);
        memcpy(&g[i], q[i], sizeof g[i]), memcpy(&h[i], normal[i], sizeof h[i]);
    }
    NAME(sum_points)(task, x, first, degree, o, f, g, h, &sums);
    const WIDE reached = NAME(solve_moments)(degree, &sums, c);
    for (int k = 0; k < HALF; k++) {
        const double coefficients[6] = {c[0][k], c[1][k], c[2][k], c[3][k], c[4][k], c[5][k]};
        double tensor[3];
        const int there = normal[0][k] != 0.0 || normal[1][k] != 0.0 || normal[2][k] != 0.0;
        modal_fit_shape(coefficients, tensor);
        for (int i = 0; i < 3; i++) tensors[i][k] = there ? (float)tensor[i] : 0.0f;
        degrees[k] = there ? (float)reached[k] : 0.0f;
    }
}

FN void NAME(fit_degree)(const modal_curvature_fit_task *task, int degree, int64_t column, int64_t begin, int64_t end)
{
    const int64_t n = task->n_vertices;
    const float *x = task->positions + 3 * column * n, *normals = task->normals + 3 * column * n;
    for (int64_t tile = begin; tile < end; tile++)
        for (int part = 0; part < MODAL_TILE; part += LANES) {
            const int64_t first = tile * MODAL_TILE + part, count = n - first;
            float tensors[3][LANES], degrees[LANES], own[3][LANES];
            if (count <= 0) break;
            for (int k = 0; k < LANES; k++)
                for (int i = 0; i < 3; i++) own[i][k] = normals[3 * (first + k < n ? first + k : n - 1) + i];
            for (int half = 0; half < 2; half++) {
                float(*where)[LANES] = (float(*)[LANES])(void *)&tensors[0][half * HALF];
                NAME(fit_half)(task, x, normals, first + half * HALF, degree, where, degrees + half * HALF);
            }
            const NAME(vec) normal = {*(NAME(stored) *)own[0], *(NAME(stored) *)own[1], *(NAME(stored) *)own[2]};
            const NAME(share) t = {*(NAME(stored) *)tensors[0], *(NAME(stored) *)tensors[1],
                                   *(NAME(stored) *)tensors[2], NUMBER(0.0f)};
            NAME(vec) p, q;
            NAME(frame)(normal, &p, &q);
            NAME(give)(&task->output, column * n + first, count, normal, p, q, t, 1.0f);
            if (task->degrees) NAME(store)(task->degrees + column * n + first, count, *(NAME(stored) *)degrees);
        }
}

TARGET static void NAME(fit_tiles)(const void *pointer, int64_t column, int64_t begin, int64_t end,
                                   const float *records)
{
    const modal_curvature_fit_task *task = pointer;
    (void)records;
    if (task->degree == 2)
        NAME(fit_degree)(task, 2, column, begin, end);
    else
        NAME(fit_degree)(task, 4, column, begin, end);
}

#undef HALF
#undef WIDE
#undef WIDE_MASK
#undef WIDE_ZERO
#undef WIDE_SELECT
#undef WIDE_DIVIDE
#undef WIDE_ANY
#undef UNROLL
#undef OF_HALF
