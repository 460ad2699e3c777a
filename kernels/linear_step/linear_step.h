/* SPDX-License-Identifier: Apache-2.0 */
/* Linear step: one step of many objects whose modes are damped oscillators of their own, exact for the
 * loads that it knows. For every mode of an object
 *
 *   q' <- q' + (VQ q + VV v + CV + sum_j x_j0 b_j2 + x_j1 b_j3)
 *   q  <- q  + (QQ q + QV v + CQ + sum_j x_j0 b_j0 + x_j1 b_j1)
 *
 * with the columns of `modes` and `inputs` for the step's length. What is kept is the change: where a step is a small part of
 * a period, a factor next to 1 would be rounded by 1e-16 of q, which is far more of the small angle that the step turns by.
 * An input is a load in time, given by two numbers a step: its value at the start and its change, where it goes in a
 * straight line, or the sine and cosine of its phase at the start. How the columns come about is lib/oscillators/exact.h's
 * matter (lib/oscillators/oscillator.h has the formulas).
 *
 * What damping takes is added up for each object: exactly where all of its loads are constant (their work,
 * which is load times way, minus what kinetic and elastic energy gained); otherwise by the trapezoidal
 * rule over the step.
 *
 * Everything is float64, SI, in the device's memory. Error: a few roundings a step. Determinism: an
 * object's sums do not depend on the number of threads; the same bytes on the same back end. */
#ifndef MODAL_KERNELS_LINEAR_STEP_H
#define MODAL_KERNELS_LINEAR_STEP_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of `modes`, each [n_modes]. The last four are only read for damped objects. */
enum {
    MODAL_LINEAR_QQ,
    MODAL_LINEAR_QV,
    MODAL_LINEAR_VQ,
    MODAL_LINEAR_VV,
    MODAL_LINEAR_CQ,
    MODAL_LINEAR_CV,
    MODAL_LINEAR_MASS,      /* m */
    MODAL_LINEAR_STIFFNESS, /* m k */
    MODAL_LINEAR_DAMPING,   /* m d */
    MODAL_LINEAR_LOAD,      /* the constant load times m */
    MODAL_LINEAR_COLUMNS
};
enum { MODAL_LINEAR_INPUT = 4 }; /* columns of an input */

typedef enum modal_linear_loss {
    MODAL_LINEAR_NO_LOSS,   /* undamped */
    MODAL_LINEAR_LOSS,      /* constant loads alone */
    MODAL_LINEAR_LOSS_RULE  /* the trapezoidal rule */
} modal_linear_loss;

typedef struct modal_linear_step_object {
    int64_t coordinate;   /* first of its q and v */
    int64_t mode;         /* first of its places in every column of modes */
    int64_t input;        /* in inputs: [n_inputs, MODAL_LINEAR_INPUT, n_modes] */
    int32_t n_modes;
    int32_t first_signal; /* of its inputs in signals */
    int32_t n_inputs;
    int32_t loss;         /* modal_linear_loss */
} modal_linear_step_object;

struct modal_linear_step_task {
    int32_t n_objects;
    const modal_linear_step_object *objects;
    const uint8_t *skip;   /* [n_objects] nonzero: this object stays as it is; NULL: none does */
    int64_t n_modes;       /* length of a column */
    const double *modes;   /* [MODAL_LINEAR_COLUMNS, n_modes] */
    const double *inputs;
    const double *signals; /* [signals, 2] */
    double *q, *v;         /* in place */
    double *lost;          /* [n_objects] J, added to */
    double h;              /* s, for the trapezoidal rule */
};

#ifdef __CUDACC__
#define MODAL_LINEAR_BOTH __host__ __device__
#else
#define MODAL_LINEAR_BOTH
#endif

/* Mode k of an object; returns what damping took, J. All back ends are loops around this. */
MODAL_LINEAR_BOTH static inline double modal_linear_step_mode(const modal_linear_step_task *t,
                                                              const modal_linear_step_object *o, int32_t k)
{
    const int64_t n = t->n_modes;
    const double *c = t->modes + o->mode + k;
    double *q = t->q + o->coordinate + k, *v = t->v + o->coordinate + k;
    const double q0 = *q, v0 = *v;
    double dq = c[MODAL_LINEAR_QQ * n] * q0 + c[MODAL_LINEAR_QV * n] * v0 + c[MODAL_LINEAR_CQ * n];
    double dv = c[MODAL_LINEAR_VQ * n] * q0 + c[MODAL_LINEAR_VV * n] * v0 + c[MODAL_LINEAR_CV * n];
    const double *b = t->inputs + o->input + k, *x = t->signals + 2 * (int64_t)o->first_signal;
    for (int32_t j = 0; j < o->n_inputs; j++, x += 2, b += MODAL_LINEAR_INPUT * o->n_modes) {
        dq += b[0] * x[0] + b[o->n_modes] * x[1];
        dv += b[2 * o->n_modes] * x[0] + b[3 * o->n_modes] * x[1];
    }
    const double q1 = q0 + dq, v1 = v0 + dv;
    *q = q1;
    *v = v1;
    if (o->loss == MODAL_LINEAR_NO_LOSS) return 0;
    if (o->loss == MODAL_LINEAR_LOSS_RULE)
        return 0.5 * t->h * c[MODAL_LINEAR_DAMPING * n] * (v0 * v0 + v1 * v1);
    if (!(c[MODAL_LINEAR_DAMPING * n] > 0)) return 0;
    return c[MODAL_LINEAR_LOAD * n] * (q1 - q0) +
           0.5 * (c[MODAL_LINEAR_MASS * n] * (v0 - v1) * (v0 + v1) +
                  c[MODAL_LINEAR_STIFFNESS * n] * (q0 - q1) * (q0 + q1));
}

#ifdef __cplusplus
}
#endif
#endif
