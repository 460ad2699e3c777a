/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a tree's steps may be trusted, judged a few steps at a time, and what is done where they may not.
 *
 * Two measures, for each tree by itself (trees that attract each other are taken back together), so that neither threads nor
 * other objects of the scene change a byte:
 * - The step's own error, h^2 / 12 times the change of the true acceleration, in the norm of the mass, against how far
 *   the tree has moved: at most `tolerance` of it (O. C. Zienkiewicz, Y. M. Xie, A Simple Error Estimator and Adaptive
 *   Time Stepping Procedure for Dynamic Analysis, 1991).
 * - The balance: kinetic + elastic + dissipated - external energy, less what it was at t = 0, against the work done, which
 *   is the largest external work so far and the energy at t = 0. It has to stay within `tolerance`, and a few steps may
 *   take a quarter of what is left of that.
 * What the errors of steps add up to, the drift (drift.h), is only said (lib/model/quality.h): no step is taken back for it.
 * A motion begins from nothing, where any error is large beside it: what the scene's loads are expected to do
 * (lib/forest/simulate_pace.c) is the least that errors are compared with.
 *
 * Steps that fail are taken back, and made by the average vector field, which keeps the energy, where the tree admits of it
 * and the scene leaves the choice; otherwise with half the length, which is doubled again after some quiet ones. */
#ifndef MODAL_FOREST_JUDGE_H
#define MODAL_FOREST_JUDGE_H

#include "lib/forest/forest.h"
#include "lib/model/quality.h"

enum { MODAL_JUDGE_STEPS = 8 }; /* that are judged together, at most */

/* What is known of a tree; at its root's place among the basis's objects. Numbers, for checkpoints. */
typedef struct modal_judged {
    double initial;  /* J, kinetic + elastic energy at t = 0 */
    double work;     /* J, the largest size of the external work so far */
    double moved;    /* kg m^2, the largest square so far of how far it has moved */
    double off;      /* J, the balance */
    double level;    /* halvings of its steps */
    double quiet;    /* judgements since the last that asked for more of them */
    double keeps;    /* 1: it is moved by the average vector field */
} modal_judged;
enum { MODAL_JUDGED_NUMBERS = 7 };

typedef struct modal_judge_setup {
    double tolerance;
    double step;               /* s, of a step that is not halved */
    int most_halvings;
    int may_keep;              /* nonzero: trees may go over to the average vector field */
    const modal_body *bodies;  /* [objects] */
    const uint8_t *together;   /* [objects] nonzero at roots: what these trees do to each other adds up to nothing as long as their
                                  steps are the same, so they are shortened and taken back together; NULL: none are */
    const double *least_moved; /* [objects] kg m^2 and J at roots: what loads are expected to do */
    const double *least_energy;
} modal_judge_setup;

typedef struct modal_judge modal_judge;

modal_status modal_judge_new(modal_judge **judge, modal_forest *forest, const modal_basis *basis,
                             const modal_judge_setup *setup, modal_error *err);
modal_judge *modal_judge_delete(modal_judge *judge); /* returns NULL; NULL is fine */

/* Begins at t = 0, where the energies are those of `measures` [objects], or goes on from what was kept, `judged`
 * [objects]; the other one is NULL. */
void modal_judge_begin(modal_judge *judge, const modal_step_measure *measures, const modal_judged *judged);
void modal_judge_keep(const modal_judge *judge, modal_judged *judged);

/* Some steps begin, n_steps of them: `start` [as in modal_forest_state] is borrowed until they are accepted. */
void modal_judge_open(modal_judge *judge, const modal_forest_state *start, int64_t n_steps);

/* The trees [modal_forest_trees] that are to be moved (again) by their own rule, and by the average vector field. Returns
 * whether there are any. */
int modal_judge_trees(const modal_judge *judge, int keeps, const uint8_t **trees);

/* The steps have been made, and measured: judges them and takes back those of trees that fail, which modal_judge_trees
 * then has; *again is whether there are any. failed: the status of modal_forest_step, which has failed at the trees
 * modal_forest_failed: they take shorter steps, or its error stands.
 * MODAL_ERROR_NOT_CONVERGED "object 3: t = 0.1 s: ..., try ..." */
modal_status modal_judge_steps(modal_judge *judge, double time, modal_status failed, int *again, modal_error *err);

/* The largest balance, step's error and drift of a tree since the call before, into the row of a frame, which is at `state` (all of
 * it is there). drift: modal_drift_numbers, zeros at first. */
void modal_judge_frame(modal_judge *judge, const modal_forest_state *state, double *drift, modal_quality *quality);

/* Judgements that made steps shorter, trees that went over to the average vector field, and the largest balance of a tree
 * over the work done, all since the judge was made; -1: there are no trees. */
void modal_judge_counts(const modal_judge *judge, int64_t *shortened, int64_t *kept, double *balance);

#endif
