/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/drift.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/forest/forest_private.h"
#include "lib/modes/products.h"

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
    drift_mode *modes; /* [coordinates]; of a tree whose natural motions are known, of these, at the places of its coordinates */
    const modal_small_motion *small; /* [trees] */
    double *moving;    /* [2, most coordinates of one of these] scratch */
    int64_t *taken;    /* [trees, LEVELS] steps since the last frame */
};

modal_drift *modal_drift_delete(modal_drift *d)
{
    if (!d) return NULL;
    modal_free(&d->tree);
    modal_free(&d->first);
    modal_free(&d->modes);
    modal_free(&d->moving);
    modal_free(&d->taken);
    modal_free(&d);
    return NULL;
}

static double turn_of(double x) { return x - 2 * atan(0.5 * x); }

static drift_mode mode_of(double omega, double decay, double mass, double h)
{
    return (drift_mode){1 / (omega * omega), 1 / (omega * omega * omega * omega), turn_of(h * omega), decay, mass, omega};
}

static double decay_of(const modal_body *body, double square)
{
    return 0.5 * (body->alpha + body->beta * square) + body->ratio * sqrt(square);
}

/* The natural motions of a tree in place of its objects' modes, each damped by what damps its coordinates. */
static void take_small_motion(modal_drift *d, const modal_small_motion *small)
{
    for (int64_t j = 0; j < small->n; j++) {
        double decay = 0;
        for (int64_t i = 0; i < small->n; i++) {
            const drift_mode *own = &d->modes[small->coordinates[i]];
            decay += small->shares[j * small->n + i] * own->mass * own->decay;
        }
        d->moving[j] = decay;
    }
    for (int64_t j = 0; j < small->n; j++)
        d->modes[small->coordinates[j]] = mode_of(small->omega[j], d->moving[j], 1, d->h);
}

modal_status modal_drift_new(modal_drift **drift, const modal_forest *forest, const modal_basis *basis, const modal_body *bodies,
                             double h, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_drift *d = NULL;
    const int32_t n = basis->n_objects, trees = modal_forest_trees(forest);
    int64_t most = 0;
    *drift = NULL;
    MODAL_TRY(modal_alloc_zero(&d, 1, sizeof *d, "drift of steps", err));
    *d = (modal_drift){.basis = basis, .bodies = bodies, .h = h, .n_objects = n, .n_trees = trees, .small = forest->small};
    MODAL_TRY(modal_alloc(&d->first, (int64_t)n + 1, sizeof *d->first, "drift of steps", err));
    MODAL_TRY(modal_alloc(&d->tree, n, sizeof *d->tree, "drift of steps", err));
    MODAL_TRY(modal_alloc_zero(&d->modes, modal_basis_mode_offsets(basis, d->first), sizeof *d->modes, "drift of steps", err));
    MODAL_TRY(modal_alloc_zero(&d->taken, LEVELS * (int64_t)trees, sizeof *d->taken, "drift of steps", err));
    for (int32_t t = 0; t < trees; t++)
        if (d->small[t].n > most) most = d->small[t].n;
    MODAL_TRY(modal_alloc(&d->moving, 2 * most, sizeof *d->moving, "drift of steps", err));
    for (int32_t i = 0; i < n; i++) {
        const modal_modes *modes = &basis->shapes[basis->objects[i].shape].modes;
        d->tree[i] = modal_forest_tree_of(forest, i);
        for (int32_t k = 0; k < modes->n_modes; k++) {
            const double square = modes->eigenvalues[k];
            if (square > 0) d->modes[d->first[i] + k] = mode_of(sqrt(square), decay_of(&bodies[i], square), modes->modal_masses[k], h);
        }
    }
    for (int32_t t = 0; t < trees; t++) take_small_motion(d, &d->small[t]);
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

/* Steps since the last frame. */
typedef struct elapsed {
    const int64_t *taken; /* [n_levels] */
    int n_levels;
    double time;
} elapsed;

static elapsed elapsed_of(const modal_drift *d, int32_t tree)
{
    elapsed e = {d->taken + LEVELS * (int64_t)tree, LEVELS, 0};
    double whole = 0;
    while (e.n_levels > 1 && e.taken[e.n_levels - 1] == 0) e.n_levels--;
    for (int level = 0; level < e.n_levels; level++) whole += (double)e.taken[level];
    e.time = whole * d->h;
    return e;
}

/* What a mode that moves with velocity v and acceleration a is off now: mass times the square. */
static double move_mode(const modal_drift *d, const drift_mode *m, const elapsed *e, double v, double a, double *off, double *rung)
{
    const double size = sqrt(m->slower * a * a + m->slow * v * v);
    double turn = (double)e->taken[0] * m->turn;
    for (int level = 1; level < e->n_levels; level++)
        if (e->taken[level] > 0) turn += ldexp((double)e->taken[level], level) * turn_of(ldexp(d->h * m->omega, -level));
    if (!(*rung >= size)) *rung = size;
    *off = fmin(*off / (1 + m->decay * e->time) + turn * size, 2 * *rung);
    return m->mass * *off * *off;
}

/* What the modes of an object are off now: the sum of mass times squares. */
static double move_on(const modal_drift *d, int32_t i, const modal_forest_state *state, double *off, double *rung)
{
    const elapsed e = elapsed_of(d, d->tree[i]);
    double sum = 0;
    for (int64_t c = d->first[i]; c < d->first[i + 1]; c++)
        sum += move_mode(d, &d->modes[c], &e, state->v[c], state->a[c], &off[c], &rung[c]);
    return sum;
}

/* The same of the natural motions of a tree. */
static double move_tree(const modal_drift *d, int32_t tree, const modal_forest_state *state, double *off, double *rung)
{
    const modal_small_motion *small = &d->small[tree];
    const elapsed e = elapsed_of(d, tree);
    double sum = 0, *v = d->moving, *a = d->moving + small->n;
    for (int64_t i = 0; i < small->n; i++) {
        v[i] = state->v[small->coordinates[i]];
        a[i] = state->a[small->coordinates[i]];
    }
    for (int64_t j = 0; j < small->n; j++) {
        const double *parts = small->parts + j * small->n;
        const int64_t c = small->coordinates[j];
        sum += move_mode(d, &d->modes[c], &e, modal_dot(small->n, parts, v), modal_dot(small->n, parts, a), &off[c], &rung[c]);
    }
    return sum;
}

/* Of the steps since the last frame the mean of their parts' lengths squared, s^2. */
static double mean_square(const modal_drift *d, int32_t tree)
{
    const int64_t *taken = d->taken + LEVELS * (int64_t)tree;
    double whole = 0, square = 0; /* steps, and the sum of the squares of their parts */
    for (int level = 0; level < LEVELS; level++) {
        whole += (double)taken[level];
        square += ldexp((double)taken[level], -2 * level);
    }
    return whole > 0 ? d->h * d->h * square / whole : 0;
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
        /* of a plant most objects are rigid and attached: nothing */
        if (d->first[i] < d->first[i + 1] && d->small[d->tree[i]].n == 0) squares[d->tree[i]] += move_on(d, i, state, kept, kept + c);
        if (d->bodies[i].motion == MODAL_STEP_FREE)
            squares[d->tree[i]] += move_frame(d, i, mean_square(d, d->tree[i]), state, known + 6 * (int64_t)i, frames + i);
    }
    for (int32_t t = 0; t < d->n_trees; t++)
        if (d->small[t].n > 0) squares[t] += move_tree(d, t, state, kept, kept + c);
    memset(d->taken, 0, LEVELS * (size_t)d->n_trees * sizeof *d->taken);
}
