/* SPDX-License-Identifier: Apache-2.0 */
/* The work on one object, written once for all back ends (reduced_step.h has the equations). One
 * object is worked on by RS_LANES lanes together: one on a CPU, a block of threads on a GPU. The
 * file that includes this defines
 *   RS_FN                    how a function is declared
 *   RS_LANE, RS_LANES        this lane and their number
 *   RS_SYNC()                waits until what all lanes wrote is seen by all
 *   RS_TWO_SUMS(rows, n, table, m1, m2, out1, out2)
 *                            out1 = m1^T table, out2 = m2^T table, table [rows, n], n % 8 = 0; ends
 *                            with RS_SYNC; outputs overlap nothing
 * No include guard: this is a template. */
#include <math.h>

#include "kernels/reduced_step/reduced_step.h"

#define RS_EACH(i, n) for (int32_t i = RS_LANE; i < (int32_t)(n); i += RS_LANES)

#include "kernels/reduced_step/body_rotations.h"

/* ---- where things are in an object's work ---- */

typedef struct rs_work {
    double *matrix;   /* [r, r] A, lower half; then its Cholesky factor */
    double *right;    /* [r, 8] B and the residual g */
    double *solved;   /* [r, 8] A^-1 of it */
    double *residual; /* [r] g with all that hangs on the object */
    double *change;   /* [r] of a */
    double *force;    /* [r] f at the start of the step (MODAL_STEP_ENERGY) */
    double *follow;   /* [parent r, 8] how the frame's (a, al) follows the parent's q'' */
    double *inertia;  /* [36] that the parent feels */
    double *wrench;   /* [6] the same, condensed */
    double *load;     /* [6] the wrench of the object and all that hangs on it, not condensed */
    double *twist;    /* [6] change of (a, al) */
    double *relative; /* [12] rotation to the parent's axes, origin in them */
    double *scale;    /* [4] largest terms of residual, of force, worst status, largest of moment */
} rs_work;

RS_FN rs_work rs_work_of(const modal_step_task *t, const modal_step_object *o)
{
    const int64_t r = t->shapes[o->shape].n_modes;
    const int64_t parent = o->parent < 0 ? 0 : t->shapes[t->objects[o->parent].shape].n_modes;
    rs_work w;
    w.right = t->work + o->work; /* rows of 8 first: they stay aligned */
    w.solved = w.right + 8 * r;
    w.follow = w.solved + 8 * r;
    w.inertia = w.follow + 8 * parent;
    w.wrench = w.inertia + 36;
    w.load = w.wrench + 6;
    w.twist = w.load + 6;
    w.relative = w.twist + 6;
    w.scale = w.relative + 12;
    w.residual = w.scale + 4;
    w.change = w.residual + r;
    w.force = w.change + r;
    w.matrix = w.force + r;
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
    return t->active[o->tree] && t->status[o->tree] == MODAL_STEP_RUNNING;
}

RS_FN void rs_place_coordinates(const modal_step_task *t, const modal_step_object *o)
{
    const rs_rule rule = rs_rule_of(t);
    const int64_t first = o->coordinates;
    RS_EACH(k, t->shapes[o->shape].n_modes)
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
