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

/* The fourth word of LANES records. */
FN REAL NAME(load_fourth)(const SCALAR *records, const uint16_t *index)
{
    REAL out;
    for (int k = 0; k < LANES; k++) out[k] = ((const SCALAR *)((const char *)records + 8 * (size_t)index[k]))[3];
    return out;
}

/* H of LANES tetrahedra. */
FN void NAME(gradients)(const uint16_t *index, const SCALAR *shapes, const SCALAR *u, REAL *h)
{
    REAL first[3], way[3];
    NAME(load)(u, index, first);
    for (int a = 0; a < 3; a++) {
        NAME(load)(u, index + MODAL_TLED_LANES * (a + 1), way);
        for (int i = 0; i < 3; i++) {
            way[i] -= first[i];
            for (int j = 0; j < 3; j++) {
                const REAL part = way[i] * NAME(row)(shapes, 3 * a + j);
                h[3 * i + j] = a == 0 ? part : h[3 * i + j] + part;
            }
        }
    }
}

/* LANES tetrahedra; the lanes that are turned, or not finite, are -1. */
FN NAME(mask) NAME(tetrahedra)(const modal_tled_material *m, const uint16_t *index, const SCALAR *shapes, const SCALAR *u,
                               const NAME(rich) *rich, SCALAR *f, REAL *jacobian)
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
    *jacobian = NAME(whole_stress)(m, NAME(row)(shapes, 9), h, rich, p);
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
                              const NAME(rich) *rich, SCALAR *f, REAL *jacobian)
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
    *jacobian = NAME(whole_stress)(m, NAME(row)(shapes, 24), h, rich, p);
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

/* LANES macro-elements of n corners (tled_lanes.h). */
FN NAME(mask) NAME(macros)(const modal_tled_material *m, int n, const uint16_t *index, const SCALAR *shapes, const SCALAR *u,
                           const NAME(rich) *rich, SCALAR *f, REAL *jacobian)
{
    const REAL zero = {0};
    const SCALAR *control = shapes + (3 * n - 2) * MODAL_TLED_LANES;
    REAL first[3], h[9], p[9], modes[MODAL_TLED_MACRO_CORNERS - 4][3], sum[3] = {zero, zero, zero};
    for (int k = 0; k < 9; k++) h[k] = zero;
    for (int k = 0; k < 3 * (n - 4); k++) modes[k / 3][k % 3] = zero;
    NAME(load)(u, index, first);
    for (int a = 1; a < n; a++) {
        REAL way[3];
        NAME(load)(u, index + MODAL_TLED_LANES * a, way);
        for (int i = 0; i < 3; i++) {
            way[i] -= first[i];
            for (int j = 0; j < 3; j++) h[3 * i + j] += way[i] * NAME(row)(shapes, 3 * (a - 1) + j);
        }
        for (int k = 0; k < n - 4; k++) {
            const REAL c = NAME(row)(control, k * (n - 1) + a - 1);
            for (int i = 0; i < 3; i++) modes[k][i] += c * way[i];
        }
    }
    *jacobian = NAME(whole_stress)(m, NAME(row)(shapes, 3 * n - 3), h, rich, p);
    for (int k = 0; k < 3 * (n - 4); k++) modes[k / 3][k % 3] *= (SCALAR)m->control;
    for (int a = 1; a < n; a++) {
        REAL force[3];
        for (int i = 0; i < 3; i++)
            force[i] = p[3 * i] * NAME(row)(shapes, 3 * a - 3) +
                       (p[3 * i + 1] * NAME(row)(shapes, 3 * a - 2) + p[3 * i + 2] * NAME(row)(shapes, 3 * a - 1));
        for (int k = 0; k < n - 4; k++) {
            const REAL c = NAME(row)(control, k * (n - 1) + a - 1);
            for (int i = 0; i < 3; i++) force[i] += c * modes[k][i];
        }
        for (int i = 0; i < 3; i++) sum[i] -= force[i];
        NAME(add)(f, index + MODAL_TLED_LANES * a, force);
    }
    NAME(add)(f, index, sum);
    return ~((*jacobian > (SCALAR)0) & (*jacobian < (SCALAR)1e30));
}

/* Where LANES elements of a patch are. */
typedef struct NAME(place) {
    const uint16_t *index;
    const SCALAR *shapes, *u;
    SCALAR *f;
} NAME(place);

/* What a rich material's law needs of block `block`, at its lanes from `part` on. */
FN NAME(rich) NAME(rich_of)(const modal_tled_lanes *l, const modal_tled_extras *extras, const modal_tled_material *m, int64_t block, int part,
                            const REAL *pressure)
{
    const size_t first = (size_t)block * MODAL_TLED_LANES;
    const NAME(rich) rich = {m->fibre > 0 ? (const SCALAR *)l->fibres + 3 * first + part : NULL,
                             m->n_terms > 0 ? (SCALAR *)extras->viscous + 6 * (size_t)l->most_terms * first + part : NULL,
                             extras->decays + (size_t)l->materials[block] * MODAL_TLED_TERMS, pressure};
    return rich;
}

/* Elements of a rich material: apart, so that those of plain ones keep their registers. */
TARGET static __attribute__((noinline)) NAME(mask)
NAME(rich_elements)(const modal_tled_lanes *l, const modal_tled_extras *extras, int64_t block, int part, int n_corners,
                    const NAME(place) *at, REAL *jacobian)
{
    const uint16_t *index = at->index;
    const SCALAR *u = at->u;
    const modal_tled_material *m = &l->head.solid->materials[l->materials[block]];
    const REAL pressure = m->averages && n_corners == 4
                              ? ((NAME(load_fourth)(u, index) + NAME(load_fourth)(u, index + MODAL_TLED_LANES)) +
                                 (NAME(load_fourth)(u, index + 2 * MODAL_TLED_LANES) +
                                  NAME(load_fourth)(u, index + 3 * MODAL_TLED_LANES))) * (SCALAR)0.25
                              : (REAL){0};
    const NAME(rich) rich = NAME(rich_of)(l, extras, m, block, part, m->averages && n_corners == 4 ? &pressure : NULL);
    return n_corners == 4 ? NAME(tetrahedra)(m, index, at->shapes, u, &rich, at->f, jacobian)
                          : NAME(hexahedra)(m, index, at->shapes, u, &rich, at->f, jacobian);
}

/* A patch's records: displacements, with the pressures of its nodes where there are any, and forces of 0. */
TARGET static inline void NAME(take)(const modal_tled_lanes *l, const modal_tled_patch *p, const SCALAR *all, SCALAR *u, SCALAR *f)
{
    const int32_t *nodes = l->nodes + p->first_node;
    const NAME(four) none = {0};
    for (int32_t i = 0; i < p->n_nodes; i++) {
        *(NAME(four) *)(u + 4 * (size_t)i) = *(const NAME(four) *)(all + 4 * (size_t)nodes[i]);
        *(NAME(four) *)(f + 4 * (size_t)i) = none;
    }
    for (int32_t i = 0; l->pressures && i < p->n_nodes; i++) u[4 * (size_t)i + 3] = ((const SCALAR *)l->pressures)[nodes[i]];
}

TARGET static inline void NAME(give)(const modal_tled_lanes *l, const modal_tled_patch *p, const SCALAR *f)
{
    const int32_t *slots = l->slots + p->first_node;
    for (int32_t i = 0; i < p->n_nodes; i++)
        *(NAME(four) *)((SCALAR *)l->partial + 4 * (size_t)slots[i]) = *(const NAME(four) *)(f + 4 * (size_t)i);
}

/* Changes of volume of a patch's averaging elements, a quarter of each for every corner, into its slots. */
TARGET static void NAME(changes)(const modal_tled_lanes *l, int64_t number, const void *state, void *local)
{
    const modal_tled_patch *p = &l->patches[number];
    SCALAR *u = local, *f = u + 4 * (size_t)l->most_nodes;
    NAME(take)(l, p, state, u, f);
    for (int32_t b = 0; b < p->n_blocks && p->n_corners == 4; b++) {
        if (!l->head.solid->materials[l->materials[p->first_block + b]].averages) continue;
        for (int part = 0; part < MODAL_TLED_LANES; part += LANES) {
            const uint16_t *index = l->indices + p->first_index + (size_t)b * 4 * MODAL_TLED_LANES + part;
            const SCALAR *shapes = (const SCALAR *)l->shapes + p->first_value +
                                   (size_t)b * MODAL_TLED_TETRAHEDRON_ROWS * MODAL_TLED_LANES + part;
            REAL h[9];
            NAME(gradients)(index, shapes, u, h);
            const REAL zero = {0}, change[3] = {NAME(volume_change)(h) * NAME(row)(shapes, 9) * (SCALAR)0.25, zero, zero};
            for (int a = 0; a < 4; a++) NAME(add)(f, index + MODAL_TLED_LANES * a, change);
        }
    }
    NAME(give)(l, p, f);
}

/* H of LANES hexahedra. */
FN void NAME(hexahedron_gradients)(const uint16_t *index, const SCALAR *shapes, const SCALAR *u, REAL *h)
{
    REAL first[3], way[3];
    const REAL zero = {0};
    for (int k = 0; k < 9; k++) h[k] = zero;
    NAME(load)(u, index, first);
    for (int a = 1; a < 8; a++) {
        NAME(load)(u, index + MODAL_TLED_LANES * a, way);
        for (int k = 0; k < 9; k++) h[k] += (way[k / 3] - first[k / 3]) * NAME(row)(shapes, 3 * a + k % 3);
    }
}

/* Measures of a patch of macro-elements, like NAME(stiffness). */
TARGET static void NAME(macro_stiffness)(const modal_tled_lanes *l, const modal_tled_patch *p, const SCALAR *u, SCALAR *f)
{
    const REAL zero = {0};
    for (int64_t block = p->first_block; block < p->first_block + p->n_blocks; block++) {
        const modal_tled_macro_block *b = &l->macro_blocks[block];
        const modal_tled_material *m = &l->head.solid->materials[l->materials[block]];
        for (int part = 0; part < MODAL_TLED_LANES; part += LANES) {
            const uint16_t *index = l->indices + b->first_index + part;
            const SCALAR *shapes = (const SCALAR *)l->shapes + b->first_value + part;
            REAL h[9], c[9], fibre[3] = {zero, zero, zero}, first[3] = {zero, zero, zero}, origin[3], way[3], g[3];
            NAME(sums) sums = {zero, zero, zero};
            for (int k = 0; k < 9; k++) h[k] = zero;
            NAME(load)(u, index, origin);
            for (int a = 1; a < b->n_corners; a++) {
                NAME(load)(u, index + MODAL_TLED_LANES * a, way);
                for (int k = 0; k < 9; k++) h[k] += (way[k / 3] - origin[k / 3]) * NAME(row)(shapes, 3 * (a - 1) + k % 3);
            }
            for (int k = 0; m->fibre > 0 && k < 3; k++)
                fibre[k] = NAME(row)((const SCALAR *)l->fibres + 3 * (size_t)block * MODAL_TLED_LANES + part, k);
            const REAL above = NAME(whole_cofactors)(h, c);
            for (int a = 1; a < b->n_corners; a++) {
                for (int k = 0; k < 3; k++) g[k] = NAME(row)(shapes, 3 * (a - 1) + k), first[k] -= g[k];
                NAME(add_gradient)(c, g, fibre, &sums);
            }
            NAME(add_gradient)(c, first, fibre, &sums);
            const REAL measure = NAME(measure)(m, h, above, fibre, &sums);
            for (int a = 0; a < b->n_corners; a++) {
                const REAL value[3] = {measure * NAME(row)((const SCALAR *)l->corner_stiffness + b->first_index + part, a), zero, zero};
                NAME(add)(f, index + MODAL_TLED_LANES * a, value);
            }
        }
    }
    NAME(give)(l, p, f);
}

/* Measures of a patch's elements times their stiffness, for every corner, into its slots (tled_solid.h). */
TARGET static void NAME(stiffness)(const modal_tled_lanes *l, int64_t number, const void *state, void *local)
{
    const modal_tled_patch *p = &l->patches[number];
    const int n = p->n_corners, rows = n == 4 ? MODAL_TLED_TETRAHEDRON_ROWS : MODAL_TLED_HEXAHEDRON_ROWS;
    SCALAR *u = local, *f = u + 4 * (size_t)l->most_nodes;
    const REAL zero = {0};
    NAME(take)(l, p, state, u, f);
    if (n == 0) {
        NAME(macro_stiffness)(l, p, u, f);
        return;
    }
    for (int32_t b = 0; b < p->n_blocks; b++) {
        const int64_t block = p->first_block + b;
        const modal_tled_material *m = &l->head.solid->materials[l->materials[block]];
        for (int part = 0; part < MODAL_TLED_LANES; part += LANES) {
            const uint16_t *index = l->indices + p->first_index + (size_t)b * n * MODAL_TLED_LANES + part;
            const SCALAR *shapes = (const SCALAR *)l->shapes + p->first_value + (size_t)b * rows * MODAL_TLED_LANES + part;
            REAL h[9], c[9], fibre[3] = {zero, zero, zero}, first[3] = {zero, zero, zero}, g[3];
            NAME(sums) sums = {zero, zero, zero};
            if (n == 4) NAME(gradients)(index, shapes, u, h);
            else NAME(hexahedron_gradients)(index, shapes, u, h);
            for (int k = 0; m->fibre > 0 && k < 3; k++)
                fibre[k] = NAME(row)((const SCALAR *)l->fibres + 3 * (size_t)block * MODAL_TLED_LANES + part, k);
            const REAL above = NAME(whole_cofactors)(h, c);
            for (int a = n == 4 ? 1 : 0; a < n; a++) {
                for (int k = 0; k < 3; k++) g[k] = NAME(row)(shapes, 3 * (n == 4 ? a - 1 : a) + k), first[k] -= g[k];
                NAME(add_gradient)(c, g, fibre, &sums);
            }
            if (n == 4) NAME(add_gradient)(c, first, fibre, &sums);
            const REAL own = *(const NAME(stored) *)((const SCALAR *)l->stiffness + (size_t)block * MODAL_TLED_LANES + part);
            const REAL value[3] = {NAME(measure)(m, h, above, fibre, &sums) * own, zero, zero};
            for (int a = 0; a < n; a++) NAME(add)(f, index + MODAL_TLED_LANES * a, value);
        }
    }
    NAME(give)(l, p, f);
}

/* The largest sum of nodes [begin, end) over their masses, of what patches have left. */
TARGET static double NAME(stiffest)(const modal_tled_lanes *l, int64_t begin, int64_t end)
{
    double most = 0;
    for (int64_t i = begin; i < end; i++) {
        SCALAR sum = 0;
        for (int32_t k = l->slot_offsets[i]; k < l->slot_offsets[i + 1]; k++) sum += ((const SCALAR *)l->partial)[4 * (size_t)k];
        const double value = (double)sum / l->head.solid->mass[i];
        if (!(value <= most)) most = value < HUGE_VAL ? value : HUGE_VAL;
    }
    return most;
}

/* Nodal pressures of nodes [begin, end), of what patches have left. */
TARGET static void NAME(pressures)(const modal_tled_lanes *l, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        SCALAR sum = 0;
        for (int32_t k = l->slot_offsets[i]; k < l->slot_offsets[i + 1]; k++) sum += ((const SCALAR *)l->partial)[4 * (size_t)k];
        ((SCALAR *)l->pressures)[i] = sum * ((const SCALAR *)l->pressure_factors)[i];
    }
}

/* Shapes are most of what comes from far away: those of the block after the next one are asked for now. */
FN void NAME(fetch)(const SCALAR *shapes, int rows)
{
    const int line = 64, bytes = rows * MODAL_TLED_LANES * (int)sizeof(SCALAR);
    const char *ahead = (const char *)shapes + 2 * bytes;
    for (int k = 0; k < bytes; k += line) __builtin_prefetch(ahead + k);
}

/* A block of macro-elements at its lanes from `part` on. The most usual numbers of corners are constants, so that modes stay in registers. */
TARGET static __attribute__((noinline)) NAME(mask)
NAME(macro_lanes)(const modal_tled_lanes *l, const modal_tled_extras *extras, int64_t block, int part, const SCALAR *u, SCALAR *f, REAL *jacobian)
{
    const modal_tled_macro_block *b = &l->macro_blocks[block];
    const modal_tled_material *m = &l->head.solid->materials[l->materials[block]];
    const uint16_t *index = l->indices + b->first_index + part;
    const SCALAR *shapes = (const SCALAR *)l->shapes + b->first_value + part;
    if (part == 0) NAME(fetch)(shapes, modal_tled_macro_rows(b->n_corners));
    if (extras && modal_tled_is_rich(m)) {
        const NAME(rich) rich = NAME(rich_of)(l, extras, m, block, part, NULL);
        return NAME(macros)(m, b->n_corners, index, shapes, u, &rich, f, jacobian);
    }
    switch (b->n_corners) {
    case 7: return NAME(macros)(m, 7, index, shapes, u, NULL, f, jacobian);
    case 8: return NAME(macros)(m, 8, index, shapes, u, NULL, f, jacobian);
    case 9: return NAME(macros)(m, 9, index, shapes, u, NULL, f, jacobian);
    default: return NAME(macros)(m, b->n_corners, index, shapes, u, NULL, f, jacobian);
    }
}

/* Forces of a patch of macro-elements, like NAME(patch). */
TARGET static void NAME(macro_patch)(const modal_tled_lanes *l, const modal_tled_extras *extras, const modal_tled_patch *p, const SCALAR *u,
                                     SCALAR *f, int64_t *element, double *value)
{
    NAME(mask) any = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t block = p->first_block; block < p->first_block + p->n_blocks; block++)
            for (int part = 0; part < MODAL_TLED_LANES; part += LANES) {
                REAL jacobian;
                const NAME(mask) bad = NAME(macro_lanes)(l, extras, block, part, u, f, &jacobian);
                any |= bad;
                if (pass) NAME(find_turned)(l->elements + block * MODAL_TLED_LANES + part, bad, jacobian, element, value);
            }
        INTEGER found = 0;
        for (int k = 0; k < LANES; k++) found |= any[k];
        if (!found) break;
    }
    NAME(give)(l, p, f);
}

/* Forces of a patch into its slots; local [2, most_nodes, 4] is scratch. *element: the lowest turned one, or -1. */
TARGET static void NAME(patch)(const modal_tled_lanes *l, const modal_tled_extras *extras, int64_t number, const void *state,
                               void *local, int64_t *element, double *value)
{
    const modal_tled_patch *p = &l->patches[number];
    const SCALAR *shapes = (const SCALAR *)l->shapes + p->first_value;
    SCALAR *u = local, *f = u + 4 * (size_t)l->most_nodes;
    const uint16_t *index = l->indices + p->first_index;
    NAME(take)(l, p, state, u, f);
    if (p->n_corners == 0) {
        NAME(macro_patch)(l, extras, p, u, f, element, value);
        return;
    }
    const int rows = p->n_corners == 4 ? MODAL_TLED_TETRAHEDRON_ROWS : MODAL_TLED_HEXAHEDRON_ROWS;
    NAME(mask) any = {0};
    for (int pass = 0; pass < 2; pass++) { /* the second, where there is one, looks for what is turned */
        for (int32_t b = 0; b < p->n_blocks; b++) {
            const modal_tled_material *m = &l->head.solid->materials[l->materials[p->first_block + b]];
            const int is_rich = extras && modal_tled_is_rich(m);
            for (int part = 0; part < MODAL_TLED_LANES; part += LANES) {
                const uint16_t *own = index + (size_t)b * p->n_corners * MODAL_TLED_LANES + part;
                const SCALAR *values = shapes + (size_t)b * rows * MODAL_TLED_LANES + part;
                const NAME(place) at = {own, values, u, f};
                if (part == 0) NAME(fetch)(values, rows);
                REAL jacobian;
                const NAME(mask) bad =
                    is_rich ? NAME(rich_elements)(l, extras, p->first_block + b, part, p->n_corners, &at, &jacobian)
                    : p->n_corners == 4 ? NAME(tetrahedra)(m, own, values, u, NULL, f, &jacobian)
                                        : NAME(hexahedra)(m, own, values, u, NULL, f, &jacobian);
                any |= bad;
                if (pass)
                    NAME(find_turned)(l->elements + (p->first_block + b) * MODAL_TLED_LANES + part, bad, jacobian, element, value);
            }
        }
        INTEGER found = 0;
        for (int k = 0; k < LANES; k++) found |= any[k];
        if (!found) break;
    }
    NAME(give)(l, p, f);
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
