/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of elements in one set of instructions and one arithmetic: included by tled_step_cpu.c for each, with SCALAR,
 * LANES, TARGET, NAME(x) and DOUBLE (1 or 0). No include guard: this is a template.
 *
 * A node's displacement is a record of four: a corner of LANES elements is LANES loads of one record each and four
 * shuffles; forces go the other way. */

typedef SCALAR NAME(vector) __attribute__((vector_size(sizeof(SCALAR) * LANES)));
typedef SCALAR NAME(four) __attribute__((vector_size(4 * sizeof(SCALAR))));
typedef SCALAR NAME(stored) __attribute__((vector_size(sizeof(SCALAR) * LANES), aligned(sizeof(SCALAR)), may_alias));
typedef float NAME(singles) __attribute__((vector_size(4 * LANES)));
typedef int32_t NAME(int32s) __attribute__((vector_size(4 * LANES)));
#define REAL NAME(vector)
#define FN TARGET static inline __attribute__((always_inline))

#if DOUBLE
#define CUBE_ROOT_STEPS 3
#define INTEGER int64_t
FN NAME(singles) NAME(to_single)(REAL x) { return __builtin_convertvector(x, NAME(singles)); }
FN REAL NAME(from_single)(NAME(singles) x) { return __builtin_convertvector(x, REAL); }
#else
#define CUBE_ROOT_STEPS 2
#define INTEGER int32_t
FN NAME(singles) NAME(to_single)(REAL x) { return x; }
FN REAL NAME(from_single)(NAME(singles) x) { return x; }
#endif
typedef INTEGER NAME(mask) __attribute__((vector_size(sizeof(SCALAR) * LANES)));

#include "kernels/tled_step/tled_body.h"

/* Within every four lanes: shuffles of two vectors. */
#define QUARTER(e) ((e) / 4 * 4)
#define LOW(e) ((e) % 2 * LANES + QUARTER(e) + (e) % 4 / 2)
#define HIGH(e) (LOW(e) + 2)
#define PAIR_LOW(e) ((e) % 4 / 2 * LANES + QUARTER(e) + (e) % 2)
#define PAIR_HIGH(e) (PAIR_LOW(e) + 2)
#if LANES == 16
#define EACH(F)                                                                                                       \
    F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)
#define JOIN(r, k)                                                                                                    \
    __builtin_shufflevector(__builtin_shufflevector(r[k], r[(k) + 4], 0, 1, 2, 3, 4, 5, 6, 7),                        \
                            __builtin_shufflevector(r[(k) + 8], r[(k) + 12], 0, 1, 2, 3, 4, 5, 6, 7), EACH(SAME))
#elif LANES == 8
#define EACH(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#define JOIN(r, k) __builtin_shufflevector(r[k], r[(k) + 4], 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define EACH(F) F(0), F(1), F(2), F(3)
#define JOIN(r, k) (r[k])
#endif
#define SAME(e) (e)

/* x y z of LANES records. */
FN void NAME(load)(const SCALAR *records, const uint16_t *index, REAL *out)
{
    NAME(four) r[LANES];
    for (int k = 0; k < LANES; k++) r[k] = *(const NAME(four) *)((const char *)records + 8 * (size_t)index[k]);
    const REAL r0 = JOIN(r, 0), r1 = JOIN(r, 1), r2 = JOIN(r, 2), r3 = JOIN(r, 3);
    const REAL a = __builtin_shufflevector(r0, r1, EACH(LOW)), b = __builtin_shufflevector(r2, r3, EACH(LOW));
    const REAL c = __builtin_shufflevector(r0, r1, EACH(HIGH)), d = __builtin_shufflevector(r2, r3, EACH(HIGH));
    out[0] = __builtin_shufflevector(a, b, EACH(PAIR_LOW));
    out[1] = __builtin_shufflevector(a, b, EACH(PAIR_HIGH));
    out[2] = __builtin_shufflevector(c, d, EACH(PAIR_LOW));
}

/* Adds x y z 0 to LANES records, lane after lane. */
FN void NAME(add)(SCALAR *records, const uint16_t *index, const REAL *f)
{
    const REAL zero = {0};
    const REAL a = __builtin_shufflevector(f[0], f[1], EACH(LOW)), b = __builtin_shufflevector(f[0], f[1], EACH(HIGH));
    const REAL c = __builtin_shufflevector(f[2], zero, EACH(LOW)), d = __builtin_shufflevector(f[2], zero, EACH(HIGH));
    const REAL rows[4] = {__builtin_shufflevector(a, c, EACH(PAIR_LOW)), __builtin_shufflevector(a, c, EACH(PAIR_HIGH)),
                          __builtin_shufflevector(b, d, EACH(PAIR_LOW)), __builtin_shufflevector(b, d, EACH(PAIR_HIGH))};
#define ADD_LANE(k, q)                                                                                                \
    *(NAME(four) *)((char *)records + 8 * (size_t)index[(k) + 4 * (q)]) +=                                                    \
        __builtin_shufflevector(rows[k], rows[k], 4 * (q), 4 * (q) + 1, 4 * (q) + 2, 4 * (q) + 3);
#define ADD_QUARTER(q) ADD_LANE(0, q) ADD_LANE(1, q) ADD_LANE(2, q) ADD_LANE(3, q)
    ADD_QUARTER(0)
#if LANES >= 8
    ADD_QUARTER(1)
#endif
#if LANES == 16
    ADD_QUARTER(2)
    ADD_QUARTER(3)
#endif
#undef ADD_LANE
#undef ADD_QUARTER
}

FN REAL NAME(row)(const SCALAR *shapes, int k) { return *(const NAME(stored) *)(shapes + MODAL_TLED_LANES * k); }

/* LANES tetrahedra; the lanes that are turned, or not finite, are -1. */
FN NAME(mask) NAME(tetrahedra)(const modal_tled_material *m, const uint16_t *index, const SCALAR *shapes, const SCALAR *u,
                               SCALAR *f, REAL *jacobian)
{
    REAL first[3], ways[3][3], g[9], h[9], p[9], force[3], sum[3];
    NAME(load)(u, index, first);
    for (int a = 0; a < 3; a++) {
        NAME(load)(u, index + MODAL_TLED_LANES * (a + 1), ways[a]);
        for (int i = 0; i < 3; i++) ways[a][i] -= first[i];
    }
    for (int k = 0; k < 9; k++) g[k] = NAME(row)(shapes, k);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) h[3 * i + j] = ways[0][i] * g[j] + (ways[1][i] * g[3 + j] + ways[2][i] * g[6 + j]);
    *jacobian = NAME(stress)(m, NAME(row)(shapes, 9), h, p);
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < 3; i++) {
            force[i] = p[3 * i] * g[3 * a] + (p[3 * i + 1] * g[3 * a + 1] + p[3 * i + 2] * g[3 * a + 2]);
            sum[i] = a == 0 ? -force[i] : sum[i] - force[i];
        }
        NAME(add)(f, index + MODAL_TLED_LANES * (a + 1), force);
    }
    NAME(add)(f, index, sum);
    return ~((*jacobian > (SCALAR)0) & (*jacobian < (SCALAR)1e30));
}

/* The same of hexahedra. Hourglass modes q_m = sum_a Gamma_ma u_a - H moment_m; their forces k sum_m Gamma_ma q_m, and
 * k sum_m q_m moment_m^T taken off the stress. */
FN NAME(mask) NAME(hexahedra)(const modal_tled_material *m, const uint16_t *index, const SCALAR *shapes, const SCALAR *u,
                              SCALAR *f, REAL *jacobian)
{
    static const int8_t signs[4][8] = {
        {1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, -1, -1, 1, 1}, {1, -1, -1, 1, -1, 1, 1, -1}, {-1, 1, -1, 1, 1, -1, 1, -1}};
    REAL first[3], way[3], h[9], p[9], modes[4][3], force[3];
    const REAL zero = {0};
    for (int k = 0; k < 9; k++) h[k] = zero;
    for (int k = 0; k < 12; k++) modes[k / 3][k % 3] = zero;
    NAME(load)(u, index, first);
    for (int a = 1; a < 8; a++) {
        NAME(load)(u, index + MODAL_TLED_LANES * a, way);
        for (int i = 0; i < 3; i++) {
            way[i] -= first[i];
            for (int j = 0; j < 3; j++) h[3 * i + j] += way[i] * NAME(row)(shapes, 3 * a + j);
            for (int k = 0; k < 4; k++) modes[k][i] = signs[k][a] > 0 ? modes[k][i] + way[i] : modes[k][i] - way[i];
        }
    }
    *jacobian = NAME(stress)(m, NAME(row)(shapes, 24), h, p);
    const REAL stiff = NAME(row)(shapes, 25) * (SCALAR)m->hourglass;
    for (int k = 0; k < 4; k++) {
        const REAL x = NAME(row)(shapes, 26 + 3 * k), y = NAME(row)(shapes, 27 + 3 * k), z = NAME(row)(shapes, 28 + 3 * k);
        for (int i = 0; i < 3; i++) {
            modes[k][i] = (modes[k][i] - (h[3 * i] * x + (h[3 * i + 1] * y + h[3 * i + 2] * z))) * stiff;
            p[3 * i] -= modes[k][i] * x, p[3 * i + 1] -= modes[k][i] * y, p[3 * i + 2] -= modes[k][i] * z;
        }
    }
    for (int a = 0; a < 8; a++) {
        const REAL x = NAME(row)(shapes, 3 * a), y = NAME(row)(shapes, 3 * a + 1), z = NAME(row)(shapes, 3 * a + 2);
        for (int i = 0; i < 3; i++) {
            force[i] = p[3 * i] * x + (p[3 * i + 1] * y + p[3 * i + 2] * z);
            for (int k = 0; k < 4; k++) force[i] = signs[k][a] > 0 ? force[i] + modes[k][i] : force[i] - modes[k][i];
        }
        NAME(add)(f, index + MODAL_TLED_LANES * a, force);
    }
    return ~((*jacobian > (SCALAR)0) & (*jacobian < (SCALAR)1e30));
}

/* The lowest turned element of a block, where it is lower than *element. */
FN void NAME(find_turned)(const int32_t *elements, NAME(mask) bad, REAL jacobian, int64_t *element, double *value)
{
    for (int k = 0; k < LANES; k++)
        if (bad[k] && (*element < 0 || elements[k] < *element)) *element = elements[k], *value = (double)jacobian[k];
}

/* Forces of a patch into its slots; local [2, most_nodes, 4] is scratch. *element: the lowest turned one, or -1. */
TARGET static void NAME(patch)(const modal_tled_lanes *l, int64_t number, const void *state, void *local, int64_t *element,
                               double *value)
{
    const modal_tled_patch *p = &l->patches[number];
    const SCALAR *all = state, *shapes = (const SCALAR *)l->shapes + p->first_value;
    SCALAR *u = local, *f = u + 4 * (size_t)l->most_nodes, *partial = l->partial;
    const int32_t *nodes = l->nodes + p->first_node, *slots = l->slots + p->first_node;
    const uint16_t *index = l->indices + p->first_index;
    const NAME(four) none = {0};
    for (int32_t i = 0; i < p->n_nodes; i++) {
        *(NAME(four) *)(u + 4 * (size_t)i) = *(const NAME(four) *)(all + 4 * (size_t)nodes[i]);
        *(NAME(four) *)(f + 4 * (size_t)i) = none;
    }
    const int rows = p->n_corners == 4 ? MODAL_TLED_TETRAHEDRON_ROWS : MODAL_TLED_HEXAHEDRON_ROWS;
    NAME(mask) any = {0};
    for (int pass = 0; pass < 2; pass++) { /* the second, where there is one, looks for what is turned */
        for (int32_t b = 0; b < p->n_blocks; b++) {
            const modal_tled_material *m = &l->head.solid->materials[l->materials[p->first_block + b]];
            for (int part = 0; part < MODAL_TLED_LANES; part += LANES) {
                const uint16_t *own = index + (size_t)b * p->n_corners * MODAL_TLED_LANES + part;
                const SCALAR *values = shapes + (size_t)b * rows * MODAL_TLED_LANES + part;
                REAL jacobian;
                const NAME(mask) bad = p->n_corners == 4 ? NAME(tetrahedra)(m, own, values, u, f, &jacobian)
                                                         : NAME(hexahedra)(m, own, values, u, f, &jacobian);
                any |= bad;
                if (pass)
                    NAME(find_turned)(l->elements + (p->first_block + b) * MODAL_TLED_LANES + part, bad, jacobian, element, value);
            }
        }
        INTEGER found = 0;
        for (int k = 0; k < LANES; k++) found |= any[k];
        if (!found) break;
    }
    for (int32_t i = 0; i < p->n_nodes; i++)
        *(NAME(four) *)(partial + 4 * (size_t)slots[i]) = *(const NAME(four) *)(f + 4 * (size_t)i);
}

#undef REAL
#undef FN
#undef CUBE_ROOT_STEPS
#undef INTEGER
#undef QUARTER
#undef LOW
#undef HIGH
#undef PAIR_LOW
#undef PAIR_HIGH
#undef EACH
#undef JOIN
#undef SAME
