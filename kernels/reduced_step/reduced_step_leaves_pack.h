/* SPDX-License-Identifier: Apache-2.0 */
/* A pack of leaves (reduced_step_leaves.h): reduced_step_body.h over vectors of RS_PACK doubles, an object each, which
 * the compiler cuts to the registers it has. Included with RS_PACK and RS_LEAVES, the name of the table of functions.
 * No include guard: this is a template. */
#include <stddef.h>
#include <string.h>

#include "kernels/reduced_step/reduced_force.h"
#include "kernels/reduced_step/reduced_step_leaves.h"

#define RS_FN static inline
#define RS_LANE 0
#define RS_LANES 1
#define RS_WIDE 1
#define RS_SYNC() ((void)0)
#define RS_COUNT(w) (w)->count
#define RS_ROW(r) (r)

typedef double real __attribute__((vector_size(8 * RS_PACK)));
typedef int64_t real_mask __attribute__((vector_size(8 * RS_PACK)));

/* Loops over lanes are single instructions. */
#define RS_ALL(x) ((double)(x) - (real){0})
#define RS_OF(x, l) (x)[l]
#define RS_PICK(c, a, b) rs_pick(c, a, b)
#define RS_ANY(c) rs_any(c)
#define RS_EVERY(c) !rs_any(~(c))
#define RS_MAX(a, b) rs_max(a, b)
#define RS_ABS(x) rs_abs(x)
#define RS_SQRT(x) rs_sqrt(x)

RS_FN real rs_pick(real_mask c, real a, real b)
{
    real y;
    for (int l = 0; l < RS_PACK; l++) y[l] = c[l] ? a[l] : b[l];
    return y;
}
RS_FN real rs_max(real a, real b)
{
    real y;
    for (int l = 0; l < RS_PACK; l++) y[l] = a[l] > b[l] ? a[l] : b[l];
    return y;
}
RS_FN real rs_abs(real x)
{
    real y;
    for (int l = 0; l < RS_PACK; l++) y[l] = __builtin_fabs(x[l]);
    return y;
}
RS_FN real rs_sqrt(real x)
{
    real y;
    for (int l = 0; l < RS_PACK; l++) y[l] = __builtin_sqrt(x[l]);
    return y;
}
RS_FN int rs_any(real_mask c)
{
    int64_t any = 0;
    for (int l = 0; l < RS_PACK; l++) any |= c[l];
    return any != 0;
}

/* out = m^T table, and for m1 and m2 at once; so many columns at a time that the sums stay in registers. */
static void rs_sums(int32_t rows, int32_t n, const double *table, const real *m, real *out)
{
    for (int32_t c = 0; c < n; c += 8) {
        real x[8] = {{0}};
        for (int32_t i = 0; i < rows; i++) {
#pragma GCC unroll 8
            for (int d = 0; d < 8; d++) x[d] += table[(int64_t)i * n + c + d] * m[i];
        }
#pragma GCC unroll 8
        for (int d = 0; d < 8; d++) out[c + d] = x[d];
    }
}
static void rs_two_sums(int32_t rows, int32_t n, const double *table, const real *m1, const real *m2, real *out1,
                        real *out2)
{
    for (int32_t c = 0; c < n; c += 4) {
        real x[4] = {{0}}, y[4] = {{0}};
        for (int32_t i = 0; i < rows; i++) {
#pragma GCC unroll 4
            for (int d = 0; d < 4; d++) {
                const double e = table[(int64_t)i * n + c + d];
                x[d] += e * m1[i];
                y[d] += e * m2[i];
            }
        }
#pragma GCC unroll 4
        for (int d = 0; d < 4; d++) {
            out1[c + d] = x[d];
            out2[c + d] = y[d];
        }
    }
}
#define RS_SUM rs_sums
#define RS_TWO_SUMS rs_two_sums

/* Forces by reduced_force.h. */
static void rs_force(int32_t r, const double *table, const real *q, real *scratch, real *force)
{
    const int64_t pairs = modal_step_pairs(r), n = r * (r + 1) / 2;
    real *products = scratch, *both = scratch + pairs; /* both: g, then s + g */
    int64_t at = 0;
    for (int32_t k = 0; k < r; k++)
        for (int32_t l = k; l < r; l++, at++) {
            products[at] = q[k] * q[l];
            both[at] = RS_ALL(table[at]);
        }
    table += pairs;
    for (int32_t j = 0; j < r; j++) {
        const int64_t first = modal_step_pair(r, j, j);
        for (int32_t i = -1; i <= j; i++) {
            const real factor = i < 0 ? q[j] : q[i] * q[j];
            real sum = {0};
            for (int64_t c = first; c < n; c++) {
                sum += table[c - first] * products[c];
                both[c] += table[c - first] * factor;
            }
            if (i < 0)
                force[j] = sum;
            else
                both[modal_step_pair(r, i, j)] += sum;
            table += modal_step_energy_row(r, j);
        }
    }
    for (int32_t k = 0; k < r; k++) {
        real sum = both[0] * q[k];
        for (int32_t l = k; l < r; l++) sum += both[l - k] * q[l];
        for (int32_t l = k + 1; l < r; l++) force[l] += both[l - k] * q[k];
        force[k] += sum;
        both += r - k;
    }
}
#define RS_FORCE rs_force

#include "kernels/reduced_step/reduced_step_body.h"

/* ---- between single objects and packs ---- */

/* Lane l of to [n] = from [n], and the other way. */
RS_FN void rs_take(const double *from, int64_t n, int l, real *to)
{
    for (int64_t i = 0; i < n; i++) ((double *)to)[RS_PACK * i + l] = from[i];
}
RS_FN void rs_give(const real *from, int64_t n, int l, double *to)
{
    for (int64_t i = 0; i < n; i++) to[i] = ((const double *)from)[RS_PACK * i + l];
}

enum { RS_POSE = sizeof(modal_step_pose) / sizeof(double), RS_POSE_ABOVE = offsetof(modal_step_pose, turn) / 8 };

/* What stays with a pack, one behind the other from memory (or NULL) on. Returns the doubles. */
RS_FN int64_t rs_keep(int64_t n_modes, int64_t parent_modes, real *memory, rs_work *w)
{
    const int64_t wide = modal_step_padded(n_modes), parent = modal_step_padded(parent_modes);
    int64_t at = 0;
#define RS_KEEP(member, n) w->member = memory ? (void *)(memory + at) : NULL, at += (n)
    RS_KEEP(base_q, n_modes);
    RS_KEEP(base_v, n_modes);
    RS_KEEP(q, n_modes);
    RS_KEEP(v, n_modes);
    RS_KEEP(a, n_modes);
    RS_KEEP(pose, RS_POSE);
    RS_KEEP(anchor, (1 + parent_modes) * MODAL_STEP_ANCHOR);
    RS_KEEP(offset, 3);
    RS_KEEP(turn, 9);
    RS_KEEP(solved, 8 * n_modes);
    RS_KEEP(inverse, n_modes * wide);
    RS_KEEP(step, n_modes);
    RS_KEEP(relative_0, 12);
    RS_KEEP(follow_0, 6 * parent);
#undef RS_KEEP
    return modal_step_padded(at * RS_PACK);
}

static int64_t size_of(int64_t n_modes, int64_t parent_modes)
{
    rs_work w;
    return rs_keep(n_modes, parent_modes, NULL, &w);
}

/* Behind rs_scratch: equations of its own and for the parent, and the parent's state. */
static int64_t scratch_size(const modal_step_task *t)
{
    const int64_t r = modal_step_padded(t->most_modes);
    return RS_PACK * (modal_step_padded(modal_step_scratch_size(t)) + 2 * rs_equations_size(r) + 12 * r + RS_POSE_ABOVE + 64);
}

/* Lanes without an object do the last one's work again. */
RS_FN int32_t rs_object_of(int32_t first, int32_t count, int l) { return first + (l < count ? l : count - 1); }

static void begin(const modal_step_task *t, int32_t first, int32_t count, double *memory)
{
    const modal_step_object *o = &t->objects[first];
    if (!rs_takes_part(t, o)) return;
    rs_work w;
    rs_keep(o->n_modes, o->parent_modes, (real *)memory, &w);
    for (int l = 0; l < RS_PACK; l++) {
        const int32_t i = rs_object_of(first, count, l);
        o = &t->objects[i];
        const double *base = rs_base_of(t, o);
        rs_take(base, o->n_modes, l, (real *)w.base_q);
        rs_take(base + modal_step_padded(o->n_modes), o->n_modes, l, (real *)w.base_v);
        rs_take(t->next_a + o->coordinates, o->n_modes, l, w.a);
        rs_take((const double *)&t->next_poses[i], RS_POSE, l, (real *)w.pose);
        rs_take(t->tables + o->anchor, (1 + o->parent_modes) * MODAL_STEP_ANCHOR, l, (real *)w.anchor);
        rs_take(o->offset, 3, l, (real *)w.offset);
        rs_take(o->turn, 9, l, (real *)w.turn);
    }
}

static void end(const modal_step_task *t, int32_t first, int32_t count, double *memory)
{
    const modal_step_object *o = &t->objects[first];
    if (t->status[o->tree] != MODAL_STEP_CONVERGED) return;
    rs_work w;
    rs_keep(o->n_modes, o->parent_modes, (real *)memory, &w);
    for (int l = 0; l < count; l++, o++) {
        rs_give(w.q, o->n_modes, l, t->next_q + o->coordinates);
        rs_give(w.v, o->n_modes, l, t->next_v + o->coordinates);
        rs_give(w.a, o->n_modes, l, t->next_a + o->coordinates);
        rs_give((const real *)w.pose, RS_POSE, l, (double *)&t->next_poses[first + l]);
    }
}

static void iterate(const modal_step_task *t, int32_t first, int32_t count, int first_time, double *memory,
                    double *scratch)
{
    const modal_step_object *o = &t->objects[first];
    if (!rs_takes_part(t, o)) return;
    const int64_t r = o->n_modes, wide = modal_step_padded(r), above = o->parent_modes, pw = modal_step_padded(above);
    rs_work w = {.object = o, .index = first, .count = count};
    rs_keep(r, above, (real *)memory, &w);
    real *at = (real *)scratch + modal_step_padded(modal_step_scratch_size(t));
    w.own = rs_equations_of(at, r);
    at += rs_equations_size(r);
    w.share = rs_equations_of(at, above);
    real *share = at;
    at += rs_equations_size(above);
    w.change = at;
    w.twist = w.change + wide;
    w.relative = w.twist + 8;
    w.follow = w.relative + 16;
    real *above_q = w.follow + 6 * pw, *above_pose = above_q + 4 * pw + 8;
    w.above.q = above_q;
    w.above.v = above_q + pw;
    w.above.a = above_q + 2 * pw;
    w.above.change = above_q + 3 * pw;
    w.above.twist = above_q + 4 * pw;
    w.above.pose = (const rs_pose *)above_pose;
    for (int l = 0; l < RS_PACK; l++) {
        const int32_t parent = t->objects[rs_object_of(first, count, l)].parent;
        const modal_step_object *po = &t->objects[parent];
        const double *change = rs_change_of(t, po);
        rs_take(t->next_q + po->coordinates, above, l, above_q);
        rs_take(t->next_v + po->coordinates, above, l, above_q + pw);
        rs_take(t->next_a + po->coordinates, above, l, above_q + 2 * pw);
        rs_take(change, above, l, above_q + 3 * pw);
        rs_take(change + 2 * pw, 6, l, above_q + 4 * pw);
        rs_take((const double *)&t->next_poses[parent], RS_POSE_ABOVE, l, above_pose);
    }
    const int64_t shared = rs_fresh(t, o) ? rs_equations_size(above) : rs_loads_size(above);
    rs_descend(t, &w, first_time, (real *)scratch);
    rs_evaluate(t, &w, (real *)scratch);
    rs_eliminate(t, &w, (real *)scratch);
    for (int l = 0; l < count; l++) rs_give(share, shared, l, t->work + o[l].share);
}

const modal_step_leaves RS_LEAVES = {RS_PACK, size_of, scratch_size, begin, iterate, end};
