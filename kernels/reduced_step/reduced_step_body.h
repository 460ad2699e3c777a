/* SPDX-License-Identifier: Apache-2.0 */
/* The work on one object, written once for all back ends (reduced_step.h has the equations). One
 * object is worked on by RS_LANES lanes together: one on a CPU, a block of threads on a GPU. The
 * file that includes this defines
 *   RS_FN                    how a function is declared
 *   RS_LANE, RS_LANES        this lane and their number
 *   RS_SYNC()                waits until what all lanes wrote is seen by all
 *   RS_SUM(rows, n, table, m, out), RS_TWO_SUMS(rows, n, table, m1, m2, out1, out2)
 *                            out = m^T table, table [rows, n], n % 8 = 0; ends with RS_SYNC; outputs overlap
 *                            nothing
 *   RS_FORCE(r, table, q, scratch, force)
 *                            where it is defined: forces by reduced_force.h, by one lane
 * No include guard: this is a template. */
#include <math.h>

#include "kernels/reduced_step/reduced_step.h"

#define RS_EACH(i, n) for (int32_t i = RS_LANE; i < (int32_t)(n); i += RS_LANES)
/* i < n and j < m; entries that are written do not depend on each other. One lane: rows of vectors. */
#if RS_WIDE
#define RS_EACH_OF(i, n, j, m)                                                                     \
    for (int32_t i = 0; i < (int32_t)(n); i++)                                                     \
        _Pragma("GCC ivdep") for (int32_t j = 0; j < (int32_t)(m); j++)
#else
#define RS_EACH_OF(i, n, j, m)                                                                     \
    for (int32_t rs_e = RS_LANE, i, j;                                                             \
         rs_e < (int32_t)(n) * (int32_t)(m) && (i = rs_e / (int32_t)(m), j = rs_e % (int32_t)(m), 1); \
         rs_e += RS_LANES)
#endif
/* an entry of the tables, which nobody writes during a step; on a GPU these loads go ahead of stores, and stay
 * in the caches of a multiprocessor */
#if RS_WIDE
#define RS_GET(x) (x)
#define RS_UNROLL
#else
#define RS_GET(x) __ldg(&(x))
#define RS_UNROLL _Pragma("unroll 8")
#endif
/* the larger one; b where either is not a number, which the residual itself shows */
#define RS_MAX(a, b) ((a) > (b) ? (a) : (b))

#include "kernels/reduced_step/body_rotations.h"

/* ---- where things are in an object's work ---- */

/* The equations of an object, of which its share of its parent's has the layout, and is added to them. The
 * Jacobian's part is made when it is fresh; loads always: g and n with the frames as they are (the residual),
 * G and W with the Jacobian's (its right-hand side, condensed). */
typedef struct rs_equations {
    double *load;     /* G [padded r], g [padded r], W [8], n [8] */
    double *scale;    /* [8] largest terms of residual (0), of force (1) and moment (2) and of both parts together
                         (3), worst status (4), worst relative residual (5) */
    double *matrix;   /* [r, padded r] A, upper half */
    double *coupling; /* [r, 8] B */
    double *inertia;  /* [6, 8] that the parent feels */
} rs_equations;

typedef struct rs_work {
    rs_equations own, share;
    double *solved;   /* [r, 8] A^-1 B */
    double *inverse;  /* [r, padded r] A^-1 */
    double *step;     /* [padded r] A^-1 G */
    double *change;   /* [padded r] of a */
    double *force;    /* [padded r] f at the start of the step (MODAL_STEP_ENERGY) */
    double *twist;    /* [8] change of (a, al) */
    /* how the frame's (a, al) follows the parent's q'': [6, parent r padded]; rotation to the parent's axes, origin
     * in them: [16]. As they are; of the Jacobian */
    double *follow, *relative, *follow_0, *relative_0;
} rs_work;

RS_FN int64_t rs_loads_size(int64_t r) { return 2 * modal_step_padded(r) + 24; }
RS_FN int64_t rs_equations_size(int64_t r) { return rs_loads_size(r) + r * modal_step_padded(r) + 8 * r + 48; }

RS_FN rs_equations rs_equations_of(double *memory, int64_t r)
{
    rs_equations e; /* every part begins at a multiple of 8 */
    e.load = memory;
    e.scale = memory + 2 * modal_step_padded(r) + 16;
    e.matrix = e.scale + 8;
    e.coupling = e.matrix + r * modal_step_padded(r);
    e.inertia = e.coupling + 8 * r;
    return e;
}

RS_FN rs_work rs_work_of(const modal_step_task *t, const modal_step_object *o)
{
    const int64_t r = o->n_modes, wide = modal_step_padded(r), parent = modal_step_padded(o->parent_modes);
    rs_work w;
    w.own = rs_equations_of(t->work + o->work, r);
    w.share = rs_equations_of(t->work + o->share, o->parent_modes);
    w.solved = w.own.inertia + 48;
    w.inverse = w.solved + 8 * r;
    w.step = w.inverse + r * wide;
    w.change = w.step + wide;
    w.force = w.change + wide;
    w.twist = w.force + wide;
    w.relative = w.twist + 8;
    w.relative_0 = w.relative + 16;
    w.follow = w.relative_0 + 16;
    w.follow_0 = w.follow + 6 * parent;
    return w;
}

/* The rule's q = base + cq a and v = base + cv a, and their part in the Jacobian. */
typedef struct rs_rule {
    double h, cq, cv, inertia, jq, jv;
} rs_rule;

RS_FN rs_rule rs_rule_of(const modal_step_task *t)
{
    const double h = t->h;
    if (t->rule == MODAL_STEP_ENERGY) return (rs_rule){h, 0.5 * h * h, h, 1, 0.25 * h * h, 0.5 * h};
    if (t->rule == MODAL_STEP_STATIC) return (rs_rule){0, 1, 0, 0, 1, 0};
    return (rs_rule){h, 0.25 * h * h, 0.5 * h, 1, 0.25 * h * h, 0.5 * h};
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

RS_FN void rs_place_coordinates(const modal_step_task *t, const modal_step_object *o)
{
    const rs_rule rule = rs_rule_of(t);
    const int64_t first = o->coordinates;
    RS_EACH(k, o->n_modes)
    {
        const double q = t->q[first + k], v = t->v[first + k], a = t->next_a[first + k];
        double base_q = q + rule.h * v, base_v = v;
        if (t->rule == MODAL_STEP_NEWMARK) {
            base_q += rule.cq * t->a[first + k];
            base_v += rule.cv * t->a[first + k];
        } else if (t->rule == MODAL_STEP_STATIC) {
            base_v = 0;
        }
        t->next_q[first + k] = base_q + rule.cq * a;
        t->next_v[first + k] = base_v + rule.cv * a;
    }
}

RS_FN void rs_place_free_frame(const modal_step_task *t, const modal_step_frame *from,
                               modal_step_frame *to)
{
    const double h = t->h;
    double turn[3];
    for (int i = 0; i < 3; i++) {
        const double a = from->acceleration[i] + to->acceleration[i];
        const double al = from->spin_rate[i] + to->spin_rate[i];
        to->velocity[i] = from->velocity[i] + 0.5 * h * a;
        to->position[i] = from->position[i] + h * from->velocity[i] + 0.25 * h * h * a;
        to->spin[i] = from->spin[i] + 0.5 * h * al;
        turn[i] = h * from->spin[i] + 0.25 * h * h * al;
    }
    for (int i = 0; i < 9; i++) to->rotation[i] = from->rotation[i];
    if (h != 0) rs_turn(to->rotation, turn);
}

#include "kernels/reduced_step/body_frames.h"
#include "kernels/reduced_step/body_residual.h"
#include "kernels/reduced_step/body_condense.h"
#include "kernels/reduced_step/body_after.h"
