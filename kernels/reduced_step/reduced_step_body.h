/* SPDX-License-Identifier: Apache-2.0 */
/* The work on one object, written once for all back ends (reduced_step.h has the equations). One
 * object is worked on by RS_LANES lanes together: one on a CPU, 8, a warp or a block on a GPU. The
 * file that includes this defines
 *   RS_FN                    how a function is declared
 *   RS_LANE, RS_LANES        this lane and their number
 *   RS_SYNC()                waits until what all lanes wrote is seen by all
 *   RS_SUM(rows, n, table, m, out), RS_TWO_SUMS(rows, n, table, m1, m2, out1, out2)
 *                            out = m^T table, table [rows, n], n % 8 = 0; ends with RS_SYNC; outputs overlap
 *                            nothing
 *   RS_MOST(t), RS_MOST_ROWS(t), RS_FEW
 *                            where they are defined: most modes and rows of the objects that such lanes work on; a
 *                            constant and the number of lanes, for which matrices are in registers
 *   RS_FORCE(r, table, q, scratch, force)
 *                            where it is defined: forces by reduced_force.h, by one lane
 *   RS_LARGE(r, table, q, memory, force, tangent)
 *                            where it is defined: the same of shapes without a table of the stiffness, with it where
 *                            tangent is not NULL; the energy
 * No include guard: this is a template. */
#include <math.h>

#include "kernels/reduced_step/reduced_step.h"

/* A `real` is a double of one object, or a vector of RS_PACK doubles, one an object of a pack (reduced_step_leaves_pack.h,
 * which then has these for vectors, and its own rs_work). Tables that all objects of a pack share are doubles. */
#if !defined RS_PACK || RS_PACK == 1
#define RS_PACK 1
#define RS_ALL(x) (x)                     /* a number for all */
#define RS_OF(x, l) (x)                   /* that of one */
#define RS_PICK(c, a, b) ((c) ? (a) : (b)) /* a where c, else b */
#define RS_ANY(c) (c)
#define RS_EVERY(c) (c)
#define RS_MAX(a, b) ((a) > (b) ? (a) : (b)) /* b where either is not a number, which the residual itself shows */
#define RS_ABS(x) fabs(x)
#define RS_SQRT(x) sqrt(x)
#define RS_COUNT(w) 1                     /* objects of a pack */
#define RS_ROW(r) modal_step_padded(r)    /* of the entries of a padded row those that are worked on */
typedef double real;
typedef int real_mask;
#endif
#define RS_EACH(i, n) for (int32_t i = RS_LANE; i < (int32_t)(n); i += RS_LANES)
/* i < n and j < m; entries that are written do not depend on each other. One lane: rows of vectors. */
#if RS_WIDE
#define RS_EACH_OF(i, n, j, m)                                                                     \
    for (int32_t i = 0; i < (int32_t)(n); i++)                                                     \
        _Pragma("GCC ivdep") for (int32_t j = 0; j < (int32_t)(m); j++)
#else
#define RS_EACH_OF(i, n, j, m)                                                                                  \
    for (int32_t rs_m = (m) > 0 ? (int32_t)(m) : 1, rs_down = RS_LANES / rs_m, rs_along = RS_LANES % rs_m,      \
                 i = RS_LANE / rs_m, j = RS_LANE % rs_m;                                                        \
         i < (int32_t)(n);                                                                                      \
         i += rs_down + (j + rs_along >= rs_m), j += j + rs_along >= rs_m ? rs_along - rs_m : rs_along)
#endif
/* RS_GET: an entry of the tables, which nobody writes during a step; on a GPU these loads go ahead of stores, and stay
 * in the caches of a multiprocessor.
 * RS_MODES(k, on, n) is a sum over k < n of products with RS_IF(on, x): on a GPU eight at a time, past the end the last
 * one again, times 0, so that no load hangs on a branch and all of them are waited for together. */
#if RS_WIDE
#define RS_GET(x) (x)
#define RS_MODES(k, on, n) for (int32_t k = 0; k < (int32_t)(n); k++)
#define RS_IF(on, x) (x)
#else
#define RS_GET(x) __ldg(&(x))
#define RS_TOGETHER(k, on, n, many)                                                                \
    for (int32_t rs_from = 0; rs_from < (int32_t)(n); rs_from += many)                             \
        _Pragma("unroll") for (int32_t rs_at = 0; rs_at < many; rs_at++)                           \
            for (int32_t k = rs_from + rs_at < (int32_t)(n) ? rs_from + rs_at : (int32_t)(n) - 1,  \
                         on = rs_from + rs_at < (int32_t)(n), rs_once = 1;                         \
                 rs_once; rs_once = 0)
#define RS_MODES(k, on, n) RS_TOGETHER(k, on, n, 8)
#define RS_IF(on, x) ((on) ? (x) : 0)
#endif
/* What a step reads of an object and of a shape: on a GPU once, ahead of what it stores. */
#if RS_WIDE
#define RS_OBJECT(o, t, index) const modal_step_object *o = &(t)->objects[index]
#define RS_OWN(o, w) const modal_step_object *o = (w)->object
#define RS_SHAPE(s, t, index) const modal_step_shape *s = &(t)->shapes[index]
#else
#define RS_OBJECT(o, t, index) const modal_step_object o##_copy = object_of(&(t)->objects[index]), *o = &o##_copy
#define RS_OWN(o, w) const modal_step_object o##_copy = object_of((w)->object), *o = &o##_copy
#define RS_SHAPE(s, t, index) const modal_step_shape s##_copy = shape_of(&(t)->shapes[index]), *s = &s##_copy
#endif
/* Most modes of the objects that the lanes work on, and rows of their tables: sizes in scratch. */
#ifndef RS_MOST
#define RS_MOST(t) (t)->most_modes
#define RS_MOST_ROWS(t) (t)->most_rows
#endif

/* 1: sums over modes that all need are a warp's, not one lane's; for lanes that fill warps (reduced_step_team.cuh). */
#ifndef RS_WARP_SUMS
#define RS_WARP_SUMS 0
#endif
#if !RS_WIDE
/* The sum, and the largest, of what the lanes of a warp have, for all of them. */
RS_FN double rs_warp_sum(double x)
{
    for (int32_t d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
    return x;
}
RS_FN double rs_warp_largest(double x)
{
    for (int32_t d = 16; d > 0; d /= 2) {
        const double other = __shfl_xor_sync(~0u, x, d);
        x = x > other ? x : other;
    }
    return x;
}
#endif

#include "kernels/reduced_step/body_rotations.h"

/* ---- where things are in an object's work ---- */

/* The equations of an object, of which its share of its parent's has the layout, and is added to them. The
 * Jacobian's part is made when it is fresh; loads always: g and n with the frames as they are (the residual),
 * G and W with the Jacobian's (its right-hand side, condensed). */
typedef struct rs_equations {
    real *load;     /* G [padded r], g [padded r], W [8], n [8] */
    real *scale;    /* [8] largest terms of residual (0), of force (1) and moment (2) and of both parts together
                         (3), worst status (4), worst relative residual (5) */
    real *matrix;   /* [r, padded r] A, upper half */
    real *coupling; /* [r, 8] B */
    real *inertia;  /* [6, 8] that the parent feels */
} rs_equations;

#if RS_PACK == 1
typedef modal_step_pose rs_pose;
#else
typedef struct rs_pose { /* modal_step_frame's members */
    real rotation[9], position[3], velocity[3], acceleration[3], spin[3], spin_rate[3], turn[9];
} rs_pose;
#endif

typedef struct rs_work {
    const modal_step_object *object; /* the first of the pack */
    int32_t index, count;            /* its index, and the objects of the pack */
    const real *base_q, *base_v;     /* [r] q and v at the end of the step but for a's part (rs_place) */
    real *q, *v, *a;                 /* [r] the trial */
    rs_pose *pose;                 /* and its frame */
    const real *anchor, *offset, *turn; /* of attached ones (modal_step_object) */
#if RS_WIDE
    struct {                         /* the parent's */
        const real *q, *v, *a, *change, *twist;
        const rs_pose *pose;
    } above;
#endif
    rs_equations own, share;
    real *solved;   /* [r, 8] A^-1 B */
    real *inverse;  /* [r, padded r] A^-1 */
    real *step;     /* [padded r] A^-1 G */
    real *change;   /* [padded r] of a */
    real *force;    /* [padded r] f at the start of the step (MODAL_STEP_ENERGY) */
    real *twist;    /* [8] change of (a, al) */
    /* how the frame's (a, al) follows the parent's q'': [6, parent r padded]; rotation to the parent's axes, origin
     * in them: [16]. As they are; of the Jacobian */
    real *follow, *relative, *follow_0, *relative_0;
#if !RS_WIDE
    real *motion; /* [16] of the frame in the parent's (rs_follow) */
    real *last;   /* [padded r] a at the last residual */
    real *kept;   /* own.load, which is nearer while the object is worked on (rs_loads_near) */
#endif
} rs_work;

RS_FN int64_t rs_loads_size(int64_t r) { return 2 * modal_step_padded(r) + 24; }
RS_FN int64_t rs_equations_size(int64_t r) { return rs_loads_size(r) + r * modal_step_padded(r) + 8 * r + 48; }

RS_FN rs_equations rs_equations_of(real *memory, int64_t r)
{
    rs_equations e; /* every part begins at a multiple of 8 */
    e.load = memory;
    e.scale = memory + 2 * modal_step_padded(r) + 16;
    e.matrix = e.scale + 8;
    e.coupling = e.matrix + r * modal_step_padded(r);
    e.inertia = e.coupling + 8 * r;
    return e;
}

/* Where an object's base_q is, behind all else of its work; base_v is behind it. */
RS_FN double *rs_base_of(const modal_step_task *t, const modal_step_object *o)
{
    const int64_t r = o->n_modes, wide = modal_step_padded(r);
    return t->work + o->work + rs_equations_size(r) + 8 * r + r * wide + 4 * wide + 12 * modal_step_padded(o->parent_modes) +
           56;
}

/* Where an object's change is; force and twist are behind it. */
RS_FN double *rs_change_of(const modal_step_task *t, const modal_step_object *o)
{
    const int64_t r = o->n_modes, wide = modal_step_padded(r);
    return t->work + o->work + rs_equations_size(r) + 8 * r + r * wide + wide;
}

#if RS_PACK == 1
RS_FN rs_work rs_work_by(const modal_step_task *t, const modal_step_object *o, int32_t index)
{
    const int64_t r = o->n_modes, wide = modal_step_padded(r), parent = modal_step_padded(o->parent_modes);
    rs_work w;
    w.object = &t->objects[index];
    w.index = index;
    w.count = 1;
    w.base_q = rs_base_of(t, o);
    w.base_v = w.base_q + wide;
    w.q = t->next_q + o->coordinates;
    w.v = t->next_v + o->coordinates;
    w.a = t->next_a + o->coordinates;
    w.pose = &t->next_poses[index];
    w.anchor = t->tables + o->anchor;
    w.offset = t->objects[index].offset;
    w.turn = t->objects[index].turn;
    w.own = rs_equations_of(t->work + o->work, r);
    w.share = rs_equations_of(t->work + o->share, o->parent_modes);
    w.solved = w.own.inertia + 48;
    w.inverse = w.solved + 8 * r;
    w.step = w.inverse + r * wide;
    w.change = rs_change_of(t, o);
    w.force = w.change + wide;
    w.twist = w.force + wide;
    w.relative = w.twist + 8;
    w.relative_0 = w.relative + 16;
    w.follow = w.relative_0 + 16;
    w.follow_0 = w.follow + 6 * parent;
#if !RS_WIDE
    w.motion = w.follow_0 + 6 * parent;
    w.last = w.motion + 16;
    w.kept = w.own.load;
#else
    if (o->parent < 0) return w;
    RS_OBJECT(po, t, o->parent);
    w.above.q = t->next_q + po->coordinates;
    w.above.v = t->next_v + po->coordinates;
    w.above.a = t->next_a + po->coordinates;
    w.above.pose = &t->next_poses[o->parent];
    w.above.change = rs_change_of(t, po);
    w.above.twist = w.above.change + 2 * parent;
#endif
    return w;
}
RS_FN rs_work rs_work_of(const modal_step_task *t, int32_t index) { return rs_work_by(t, &t->objects[index], index); }
#endif

/* The rule's q = base + cq a and v = base + cv a, and their part in the Jacobian. */
typedef struct rs_rule {
    double cq, cv, inertia, jq, jv;
} rs_rule;

/* Generalized-alpha by its spectral radius at infinity; Newmark's rule is that of radius 1, whose lag is 0. Of the two
 * accelerations of a step, first that of its start and part a + rest that of its end,
 *   q = q_0 + h v_0 + h^2 ((1/2 - beta) first + beta (part a + rest)), v = v_0 + h ((1 - gamma) first + gamma (part a + rest)) */
typedef struct rs_alpha {
    double radius, part, beta, gamma;
} rs_alpha;

/* The lag after a step from a_0 to a: slope (a - a_0) + keep lag. */
typedef struct rs_lag {
    double slope, keep;
} rs_lag;

RS_FN rs_alpha rs_alpha_of(const modal_step_task *t)
{
    const double radius = t->rule == MODAL_STEP_ALPHA ? t->radius : 1, one = 1 / (1 + radius);
    return (rs_alpha){radius, 1 / (2 - radius), one * one, 0.5 + (1 - radius) * one};
}
RS_FN double rs_alpha_rest(const rs_alpha *w, double a_0, double lag, double h)
{
    return w->part * ((1 - w->radius) * a_0 - (2 * w->radius - 1) * h * lag);
}
/* What the start of the step gives to v / h and q / h^2. */
RS_FN double rs_gain_v(const rs_alpha *w, double a_0, double lag, double h)
{
    return (1 - w->gamma) * (a_0 + h * lag) + w->gamma * rs_alpha_rest(w, a_0, lag, h);
}
RS_FN double rs_gain_q(const rs_alpha *w, double a_0, double lag, double h)
{
    return (0.5 - w->beta) * (a_0 + h * lag) + w->beta * rs_alpha_rest(w, a_0, lag, h);
}
RS_FN rs_lag rs_lag_of(const modal_step_task *t)
{
    if (t->rule != MODAL_STEP_ALPHA || t->h == 0) return (rs_lag){0, 0};
    const rs_alpha w = rs_alpha_of(t);
    return (rs_lag){-w.part * (1 - w.radius) / t->h, -w.part * (2 * w.radius - 1)};
}

RS_FN rs_rule rs_rule_of(const modal_step_task *t)
{
    const double h = t->h;
    if (t->rule == MODAL_STEP_ENERGY) return (rs_rule){0.5 * h * h, h, 1, 0.25 * h * h, 0.5 * h};
    if (t->rule == MODAL_STEP_STATIC) return (rs_rule){1, 0, 0, 1, 0};
    const rs_alpha w = rs_alpha_of(t);
    const double cq = h * h * w.beta * w.part, cv = h * w.gamma * w.part;
    return (rs_rule){cq, cv, 1, cq, cv};
}

RS_FN int rs_takes_part(const modal_step_task *t, const modal_step_object *o)
{
    return t->status[o->tree] == MODAL_STEP_RUNNING || t->status[o->tree] == MODAL_STEP_FROZEN;
}
/* Whether the Jacobian is made anew. */
RS_FN int rs_fresh(const modal_step_task *t, const modal_step_object *o)
{
    return t->status[o->tree] == MODAL_STEP_RUNNING;
}

/* q and v at the end of the step for a. */
RS_FN void rs_place(const rs_rule *rule, real base_q, real base_v, real a, real *q, real *v)
{
    *q = base_q + rule->cq * a;
    *v = base_v + rule->cv * a;
}

#if RS_PACK == 1
RS_FN void rs_place_free_pose(const modal_step_task *t, const modal_step_pose *from,
                              const double *lags, modal_step_pose *to)
{
    const double h = t->h;
    const rs_alpha w = rs_alpha_of(t);
    const double cq = w.beta * w.part, cv = w.gamma * w.part;
    const int alpha = t->rule == MODAL_STEP_ALPHA;
    double turn[3];
    for (int i = 0; i < 3; i++) {
        const double a_0 = from->acceleration[i], al_0 = from->spin_rate[i];
        const double lag = alpha ? lags[i] : 0, lag_al = alpha ? lags[3 + i] : 0;
        to->velocity[i] = from->velocity[i] + h * (rs_gain_v(&w, a_0, lag, h) + cv * to->acceleration[i]);
        to->position[i] = from->position[i] + h * from->velocity[i] +
                          h * h * (rs_gain_q(&w, a_0, lag, h) + cq * to->acceleration[i]);
        to->spin[i] = from->spin[i] + h * (rs_gain_v(&w, al_0, lag_al, h) + cv * to->spin_rate[i]);
        turn[i] = h * from->spin[i] + h * h * (rs_gain_q(&w, al_0, lag_al, h) + cq * to->spin_rate[i]);
    }
    for (int i = 0; i < 9; i++) to->rotation[i] = from->rotation[i];
    if (h != 0) rs_turn(to->rotation, turn);
}
#endif

#include "kernels/reduced_step/body_poses.h"
#include "kernels/reduced_step/body_residual.h"
#include "kernels/reduced_step/body_guess.h"
#include "kernels/reduced_step/body_condense.h"
#if RS_PACK == 1
#include "kernels/reduced_step/body_after.h"
#endif
