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
typedef modal_step_frame rs_frame;
#else
typedef struct rs_frame { /* modal_step_frame's members */
    real rotation[9], position[3], velocity[3], acceleration[3], spin[3], spin_rate[3], turn[9];
} rs_frame;
#endif

typedef struct rs_work {
    const modal_step_object *object; /* the first of the pack */
    int32_t index, count;            /* its index, and the objects of the pack */
    const real *q_0, *v_0, *a_0;     /* [r] at the start of the step */
    real *q, *v, *a;                 /* [r] the trial */
    rs_frame *frame;                 /* and its frame */
    const real *anchor, *offset, *turn; /* of attached ones (modal_step_object) */
    struct {                         /* the parent's */
        const real *q, *v, *a, *change, *twist;
        const rs_frame *frame;
    } above;
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

/* Where an object's change is; force and twist are behind it. */
RS_FN double *rs_change_of(const modal_step_task *t, const modal_step_object *o)
{
    const int64_t r = o->n_modes, wide = modal_step_padded(r);
    return t->work + o->work + rs_equations_size(r) + 8 * r + r * wide + wide;
}

#if RS_PACK == 1
RS_FN rs_work rs_work_of(const modal_step_task *t, int32_t index)
{
    const modal_step_object *o = &t->objects[index];
    const int64_t r = o->n_modes, wide = modal_step_padded(r), parent = modal_step_padded(o->parent_modes);
    rs_work w;
    w.object = o;
    w.index = index;
    w.count = 1;
    w.q_0 = t->q + o->coordinates;
    w.v_0 = t->v + o->coordinates;
    w.a_0 = t->a + o->coordinates;
    w.q = t->next_q + o->coordinates;
    w.v = t->next_v + o->coordinates;
    w.a = t->next_a + o->coordinates;
    w.frame = &t->next_frames[index];
    w.anchor = t->tables + o->anchor;
    w.offset = o->offset;
    w.turn = o->turn;
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
    if (o->parent < 0) return w;
    const modal_step_object *po = &t->objects[o->parent];
    w.above.q = t->next_q + po->coordinates;
    w.above.v = t->next_v + po->coordinates;
    w.above.a = t->next_a + po->coordinates;
    w.above.frame = &t->next_frames[o->parent];
    w.above.change = rs_change_of(t, po);
    w.above.twist = w.above.change + 2 * parent;
    return w;
}
#endif

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

RS_FN void rs_place_coordinates(const modal_step_task *t, const rs_work *w)
{
    const rs_rule rule = rs_rule_of(t);
    RS_EACH(k, w->object->n_modes)
    {
        real base_q = w->q_0[k] + rule.h * w->v_0[k], base_v = w->v_0[k];
        if (t->rule == MODAL_STEP_NEWMARK) {
            base_q += rule.cq * w->a_0[k];
            base_v += rule.cv * w->a_0[k];
        } else if (t->rule == MODAL_STEP_STATIC) {
            base_v = RS_ALL(0);
        }
        w->q[k] = base_q + rule.cq * w->a[k];
        w->v[k] = base_v + rule.cv * w->a[k];
    }
}

#if RS_PACK == 1
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
#endif

#include "kernels/reduced_step/body_frames.h"
#include "kernels/reduced_step/body_residual.h"
#include "kernels/reduced_step/body_condense.h"
#if RS_PACK == 1
#include "kernels/reduced_step/body_after.h"
#endif
