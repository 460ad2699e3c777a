/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/drift.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

enum { LEVELS = 24 }; /* of halvings; most_halvings is 20 at most */

typedef struct drift_mode {
    double slow, slower; /* 1 / w^2, 1 / w^4; 0: it does not ring */
    double turn;         /* rad that a whole step turns too little */
    double decay;        /* 1/s */
    double mass, omega;
} drift_mode;

struct modal_drift {
    const modal_basis *basis;
    const modal_body *bodies;
    double h;
    int32_t n_objects, n_trees;
    int32_t *tree;     /* [objects] or -1 */
    int64_t *first;    /* [objects + 1] coordinates */
    drift_mode *modes; /* [coordinates] */
    int64_t *taken;    /* [trees, LEVELS] steps since the last frame */
};

modal_drift *modal_drift_delete(modal_drift *d)
{
    if (!d) return NULL;
    modal_free(&d->tree);
    modal_free(&d->first);
    modal_free(&d->modes);
    modal_free(&d->taken);
    modal_free(&d);
    return NULL;
}

static double turn_of(double x) { return x - 2 * atan(0.5 * x); }

modal_status modal_drift_new(modal_drift **drift, const modal_forest *forest, const modal_basis *basis, const modal_body *bodies,
                             double h, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_drift *d = NULL;
    const int32_t n = basis->n_objects, trees = modal_forest_trees(forest);
    *drift = NULL;
    MODAL_TRY(modal_alloc_zero(&d, 1, sizeof *d, "drift of steps", err));
    *d = (modal_drift){.basis = basis, .bodies = bodies, .h = h, .n_objects = n, .n_trees = trees};
    MODAL_TRY(modal_alloc(&d->first, (int64_t)n + 1, sizeof *d->first, "drift of steps", err));
    MODAL_TRY(modal_alloc(&d->tree, n, sizeof *d->tree, "drift of steps", err));
    MODAL_TRY(modal_alloc_zero(&d->modes, modal_basis_mode_offsets(basis, d->first), sizeof *d->modes, "drift of steps", err));
    MODAL_TRY(modal_alloc_zero(&d->taken, LEVELS * (int64_t)trees, sizeof *d->taken, "drift of steps", err));
    for (int32_t i = 0; i < n; i++) {
        const modal_modes *modes = &basis->shapes[basis->objects[i].shape].modes;
        const modal_body *body = &bodies[i];
        d->tree[i] = modal_forest_tree_of(forest, i);
        for (int32_t k = 0; k < modes->n_modes; k++) {
            const double square = modes->eigenvalues[k], omega = sqrt(fmax(0, square));
            if (!(square > 0)) continue;
            d->modes[d->first[i] + k] = (drift_mode){1 / square, 1 / (square * square), turn_of(h * omega),
                                                     0.5 * (body->alpha + body->beta * square) + body->ratio * omega,
                                                     modes->modal_masses[k], omega};
        }
    }
    *drift = d;
    d = NULL;
done:
    modal_drift_delete(d);
    return status;
}

void modal_drift_steps(modal_drift *d, int32_t tree, int32_t level, int64_t n_steps)
{
    d->taken[LEVELS * (int64_t)tree + (level < LEVELS ? level : LEVELS - 1)] += n_steps;
}

/* What the modes of an object are off now: the sum of mass times squares. */
static double move_on(const modal_drift *d, int32_t i, const int64_t *taken, double time, const modal_forest_state *state, double *off,
                      double *rung)
{
    double sum = 0;
    int n_levels = LEVELS;
    while (n_levels > 1 && taken[n_levels - 1] == 0) n_levels--;
    for (int64_t c = d->first[i]; c < d->first[i + 1]; c++) {
        const drift_mode *m = &d->modes[c];
        const double size = sqrt(m->slower * state->a[c] * state->a[c] + m->slow * state->v[c] * state->v[c]);
        double turn = (double)taken[0] * m->turn;
        for (int level = 1; level < n_levels; level++)
            if (taken[level] > 0) turn += ldexp((double)taken[level], level) * turn_of(ldexp(d->h * m->omega, -level));
        if (!(rung[c] >= size)) rung[c] = size;
        off[c] = fmin(off[c] / (1 + m->decay * time) + turn * size, 2 * rung[c]);
        sum += m->mass * off[c] * off[c];
    }
    return sum;
}

/* What the frame of a free root is off, squared. */
static double move_frame(const modal_drift *d, int32_t i, double h_square, const modal_forest_state *state, double *known, double *off)
{
    const modal_step_pose *pose = &state->poses[i];
    const modal_modes *modes = &d->basis->shapes[d->basis->objects[i].shape].modes;
    const double reach = state->measures[i].moved; /* and what the modes have moved, which is less */
    double jumps = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double push = pose->acceleration[axis] - known[axis], rate = pose->spin_rate[axis] - known[3 + axis];
        jumps += modes->total_mass * push * push + reach * rate * rate;
        known[axis] = pose->acceleration[axis];
        known[3 + axis] = pose->spin_rate[axis];
    }
    *off += h_square / 12 * sqrt(jumps);
    return *off * *off;
}

void modal_drift_frame(modal_drift *d, const modal_forest_state *state, double *kept, double *squares)
{
    const int64_t c = d->first[d->n_objects];
    double *known = kept + 2 * c, *frames = known + 6 * (int64_t)d->n_objects;
    memset(squares, 0, (size_t)d->n_trees * sizeof *squares);
    for (int32_t i = 0; i < d->n_objects; i++) {
        if (d->tree[i] < 0) continue;
        const int64_t *taken = d->taken + LEVELS * (int64_t)d->tree[i];
        double whole = 0, square = 0; /* steps, and the sum of the squares of their parts */
        for (int level = 0; level < LEVELS; level++) {
            whole += (double)taken[level];
            square += ldexp((double)taken[level], -2 * level);
        }
        squares[d->tree[i]] += move_on(d, i, taken, whole * d->h, state, kept, kept + c);
        if (d->bodies[i].motion == MODAL_STEP_FREE)
            squares[d->tree[i]] += move_frame(d, i, whole > 0 ? d->h * d->h * square / whole : 0, state, known + 6 * (int64_t)i, frames + i);
    }
    memset(d->taken, 0, LEVELS * (size_t)d->n_trees * sizeof *d->taken);
}
