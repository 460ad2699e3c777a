/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/forest/drift.h"

/* Of the work that the loads are expected to do, which in resonance is far more than they do at first. */
static const double LEAST_ENERGY = 0.01;
static const double SHARE = 1.0 / 4;
/* Steps of twice the length have about eight times the error, and spend four times as much. */
static const double CALM_ERROR = 1.0 / 16, CALM_SPENT = 1.0 / 8;
enum { PATIENCE = 4 };

struct modal_judge {
    modal_forest *forest;
    modal_judge_setup setup;
    int32_t n_objects, n_trees;
    int64_t *first;                /* [objects + 1] coordinates */
    int32_t *tree, *root;          /* [objects] of an object, or -1; [n_trees] the object that is a tree's root */
    int32_t *level;                /* [n_trees] the forest's */
    uint8_t *mask, *own, *keeping; /* [n_trees] in work; by their own rule; by the average vector field */
    modal_judged *judged;          /* [objects] */
    modal_step_measure *measures;  /* [objects] */
    double *sums;                  /* [n_trees, 5] kinetic + elastic, dissipated, external; moved, error */
    const modal_forest_state *start;
    int64_t n_steps;               /* since then */
    modal_forest_state now;        /* scratch */
    int64_t n_shortened, n_kept;
    modal_drift *drift;
    double *squares;               /* [n_trees] */
    double balance;
    double frame_balance, frame_error; /* the largest since modal_judge_frame; NaN: none */
};

modal_judge *modal_judge_delete(modal_judge *j)
{
    if (!j) return NULL;
    modal_drift_delete(j->drift);
    void *arrays[] = {&j->first,   &j->tree, &j->root,  &j->level, &j->mask,  &j->own,   &j->keeping,   &j->measures,
                      &j->judged,  &j->sums, &j->squares, &j->now.q, &j->now.v, &j->now.a, &j->now.lag, &j->now.poses, &j->now.measures};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    modal_free(&j);
    return NULL;
}

modal_status modal_judge_new(modal_judge **judge, modal_forest *forest, const modal_basis *basis,
                             const modal_judge_setup *setup, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_judge *j = NULL;
    const int32_t n = basis->n_objects, trees = modal_forest_trees(forest);
    *judge = NULL;
    MODAL_TRY(modal_alloc_zero(&j, 1, sizeof *j, "judgement of steps", err));
    j->forest = forest;
    j->setup = *setup;
    j->n_objects = n;
    j->n_trees = trees;
    j->frame_balance = j->frame_error = NAN;
    MODAL_TRY(modal_alloc(&j->first, (int64_t)n + 1, sizeof *j->first, "judgement of steps", err));
    const int64_t c = modal_basis_mode_offsets(basis, j->first);
    MODAL_TRY(modal_alloc(&j->tree, n, sizeof *j->tree, "judgement of steps", err));
    MODAL_TRY(modal_alloc(&j->root, trees, sizeof *j->root, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->level, trees, sizeof *j->level, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->mask, trees, 1, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->own, trees, 1, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->keeping, trees, 1, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->measures, n, sizeof *j->measures, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->judged, n, sizeof *j->judged, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->sums, 5 * (int64_t)trees, sizeof *j->sums, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->now.q, c, sizeof(double), "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->now.v, c, sizeof(double), "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->now.a, c, sizeof(double), "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->now.lag, c + 6 * (int64_t)n, sizeof(double), "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->now.poses, n, sizeof *j->now.poses, "judgement of steps", err));
    MODAL_TRY(modal_alloc_zero(&j->now.measures, n, sizeof *j->now.measures, "judgement of steps", err));
    for (int32_t i = n; i-- > 0;) {
        j->tree[i] = modal_forest_tree_of(forest, i);
        if (j->tree[i] >= 0 && modal_forest_root(forest, j->tree[i]) == i) j->root[j->tree[i]] = i;
    }
    MODAL_TRY(modal_alloc_zero(&j->squares, trees, sizeof *j->squares, "judgement of steps", err));
    MODAL_TRY(modal_drift_new(&j->drift, forest, basis, setup->bodies, setup->step, err));
    modal_forest_set_levels(forest, j->level);
    *judge = j;
    j = NULL;
done:
    modal_judge_delete(j);
    return status;
}

/* Of each tree, in the order of the objects. */
static void add_up(modal_judge *j, const modal_step_measure *measures)
{
    memset(j->sums, 0, 5 * (size_t)j->n_trees * sizeof *j->sums);
    for (int32_t i = 0; i < j->n_objects; i++) {
        const modal_step_measure *m = &measures[i];
        if (j->tree[i] < 0) continue;
        double *sums = j->sums + 5 * (int64_t)j->tree[i];
        sums[0] += m->kinetic + m->elastic;
        sums[1] += m->dissipated;
        sums[2] += m->external;
        sums[3] += m->moved;
        sums[4] += m->error;
    }
}

void modal_judge_keep(const modal_judge *j, modal_judged *judged)
{
    memcpy(judged, j->judged, (size_t)j->n_objects * sizeof *judged);
}

void modal_judge_begin(modal_judge *j, const modal_step_measure *measures, const modal_judged *judged)
{
    if (judged) memcpy(j->judged, judged, (size_t)j->n_objects * sizeof *judged);
    if (measures) add_up(j, measures);
    for (int32_t t = 0; t < j->n_trees; t++) {
        modal_judged *known = &j->judged[j->root[t]];
        if (measures) *known = (modal_judged){.initial = j->sums[5 * (int64_t)t], .moved = j->sums[5 * (int64_t)t + 3]};
        j->level[t] = (int32_t)known->level;
    }
}

static void set_masks(modal_judge *j)
{
    for (int32_t t = 0; t < j->n_trees; t++) {
        const int keeps = j->judged[j->root[t]].keeps != 0;
        j->own[t] = j->mask[t] && !keeps;
        j->keeping[t] = j->mask[t] && keeps;
    }
}

void modal_judge_open(modal_judge *j, const modal_forest_state *start, int64_t n_steps)
{
    j->n_steps = n_steps;
    j->start = start;
    memset(j->mask, 1, (size_t)j->n_trees);
    set_masks(j);
}

int modal_judge_trees(const modal_judge *j, int keeps, const uint8_t **trees)
{
    int any = 0;
    *trees = keeps ? j->keeping : j->own;
    for (int32_t t = 0; t < j->n_trees; t++) any |= (*trees)[t];
    return any;
}

/* Whether every object is in a tree in work. */
static int is_all_in_work(const modal_judge *j)
{
    int32_t i = 0;
    while (i < j->n_objects && j->tree[i] >= 0 && j->mask[j->tree[i]]) i++;
    return i == j->n_objects;
}

/* Puts the trees in work where they were. */
static modal_status take_back(modal_judge *j, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_forest_state *from = j->start, *to = &j->now;
    const int64_t c = j->first[j->n_objects];
    if (is_all_in_work(j)) return modal_forest_set(j->forest, from, err); /* a plant is one tree: nothing stays as it is now */
    MODAL_TRY(modal_forest_get(j->forest, to, err));
    for (int32_t i = 0; i < j->n_objects; i++) {
        if (j->tree[i] < 0 || !j->mask[j->tree[i]]) continue;
        const int64_t first = j->first[i];
        const size_t bytes = (size_t)(j->first[i + 1] - first) * sizeof(double);
        memcpy(to->q + first, from->q + first, bytes);
        memcpy(to->v + first, from->v + first, bytes);
        memcpy(to->a + first, from->a + first, bytes);
        memcpy(to->lag + first, from->lag + first, bytes);
        memcpy(to->lag + c + 6 * (int64_t)i, from->lag + c + 6 * (int64_t)i, 6 * sizeof(double));
        to->poses[i] = from->poses[i];
        to->measures[i] = from->measures[i];
    }
    MODAL_TRY(modal_forest_set(j->forest, to, err));
done:
    return status;
}

static int is_together(const modal_judge *j, int32_t t) { return j->setup.together && j->setup.together[j->root[t]]; }

/* Newton's method has failed within the steps, so nothing is known of those of any tree. */
static modal_status shorten_failed(modal_judge *j, modal_status failed, modal_error *err)
{
    const uint8_t *trees = modal_forest_failed(j->forest);
    int all = 0; /* of those that are stepped together */
    for (int32_t t = 0; t < j->n_trees; t++) {
        if (trees[t] && j->level[t] >= j->setup.most_halvings) return failed;
        all |= trees[t] && is_together(j, t);
    }
    for (int32_t t = 0; t < j->n_trees; t++) {
        modal_judged *known = &j->judged[j->root[t]];
        if (!trees[t] && !(all && is_together(j, t))) continue;
        known->level = ++j->level[t];
        known->quiet = 0;
        j->n_shortened++;
    }
    *err = (modal_error){0};
    return MODAL_OK;
}

typedef struct verdict {
    double off, allowed, spent; /* J: the balance, what it may be; how much of that these steps may take, and have, in parts */
    double error;               /* over the largest that it may be */
} verdict;

static verdict verdict_of(const modal_judge *j, int32_t t)
{
    const modal_judged *known = &j->judged[j->root[t]];
    const double *sums = j->sums + 5 * (int64_t)t, tolerance = j->setup.tolerance;
    const double work = known->initial + fmax(known->work, fabs(sums[2]));
    const double moved = fmax(fmax(known->moved, sums[3]), j->setup.least_moved[j->root[t]]);
    verdict v = {.off = sums[0] + sums[1] - sums[2] - known->initial};
    v.allowed = tolerance * fmax(work, LEAST_ENERGY * j->setup.least_energy[j->root[t]]);
    const double change = fabs(v.off - known->off), most = SHARE * fmax(v.allowed - fabs(known->off), 0);
    v.spent = change <= most ? most > 0 ? change / most : 0 : change / most;
    v.error = sums[4] <= 0 ? sums[4] : sqrt(sums[4] / moved) / tolerance;
    return v;
}

static void accept(modal_judge *j, int32_t t, const verdict *v)
{
    modal_judged *known = &j->judged[j->root[t]];
    const double *sums = j->sums + 5 * (int64_t)t;
    known->work = fmax(known->work, fabs(sums[2]));
    known->moved = fmax(known->moved, sums[3]);
    known->off = v->off;
    const double tolerance = j->setup.tolerance;
    if (v->allowed > 0) {
        const double balance = fabs(v->off) / v->allowed * tolerance;
        j->balance = fmax(j->balance, balance);
        j->frame_balance = fmax(j->frame_balance, balance); /* of NaN and a number the number */
    }
    j->frame_error = fmax(j->frame_error, v->error * tolerance);
    modal_drift_steps(j->drift, t, j->level[t], j->n_steps);
    const int calm = v->spent <= CALM_SPENT && v->error <= CALM_ERROR;
    known->quiet = calm && known->level > 0 ? known->quiet + 1 : 0;
    if (known->quiet < PATIENCE || is_together(j, t)) return;
    known->quiet = 0;
    known->level = --j->level[t];
}

static int is_right(const modal_judge *j, int32_t t, const verdict *v)
{
    const int held = v->error <= 1 && fabs(v->off) <= v->allowed; /* no for NaN */
    return held && (v->spent <= 1 || j->level[t] >= j->setup.most_halvings);
}

/* Whether a tree is wrong of those that are stepped together. */
static int is_group_wrong(const modal_judge *j)
{
    for (int32_t t = 0; t < j->n_trees; t++) {
        if (!j->mask[t] || !is_together(j, t)) continue;
        const verdict v = verdict_of(j, t);
        if (!is_right(j, t, &v)) return 1;
    }
    return 0;
}

/* Longer steps again where all that are stepped together have been calm. */
static void lengthen_group(modal_judge *j)
{
    for (int32_t t = 0; t < j->n_trees; t++)
        if (is_together(j, t) && j->judged[j->root[t]].quiet < PATIENCE) return;
    for (int32_t t = 0; t < j->n_trees; t++) {
        if (!is_together(j, t)) continue;
        j->judged[j->root[t]].quiet = 0;
        j->judged[j->root[t]].level = --j->level[t];
    }
}

modal_status modal_judge_steps(modal_judge *j, double time, modal_status failed, int *again, modal_error *err)
{
    modal_status status = MODAL_OK;
    *again = 0;
    if (failed != MODAL_OK) {
        MODAL_TRY(shorten_failed(j, failed, err));
        *again = 1;
    } else {
        const modal_forest_state measured = {.measures = j->measures};
        MODAL_TRY(modal_forest_get(j->forest, &measured, err));
        add_up(j, j->measures);
        const int group_wrong = is_group_wrong(j);
        for (int32_t t = 0; t < j->n_trees; t++) {
            modal_judged *known = &j->judged[j->root[t]];
            if (!j->mask[t]) continue;
            const verdict v = verdict_of(j, t);
            const int spent = !(v.spent <= 1), last = j->level[t] >= j->setup.most_halvings, right = is_right(j, t, &v);
            if (right && !(group_wrong && is_together(j, t))) {
                accept(j, t, &v);
                j->mask[t] = 0;
                continue;
            }
            if (right && last) continue; /* another one's error */
            const int can_keep = j->setup.may_keep && !known->keeps && modal_forest_keeps_energy(j->forest, t);
            if (spent && can_keep) {
                known->keeps = 1;
                j->n_kept++;
            } else if (!last) {
                known->level = ++j->level[t];
                known->quiet = 0;
                j->n_shortened++;
            } else {
                char step[64];
                snprintf(step, sizeof step, "steps of %.3g s (halved %d times)", ldexp(j->setup.step, -j->level[t]), j->level[t]);
                if (!(fabs(v.off) <= v.allowed))
                    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                               "object %d: t = %g s: energies are off balance by %.3g of the work done in %s; try a smaller "
                               "step, more damping or a larger \"tolerance\" than %g",
                               j->root[t], time, fabs(v.off) / v.allowed * j->setup.tolerance, step, j->setup.tolerance);
                MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                           "object %d: t = %g s: a step's error is %.3g of the motion in %s; try a smaller step, smoother "
                           "loads or a larger \"tolerance\" than %g",
                           j->root[t], time, v.error * j->setup.tolerance, step, j->setup.tolerance);
            }
            *again = 1;
        }
        if (!group_wrong) lengthen_group(j);
    }
    if (*again) {
        MODAL_TRY(take_back(j, err));
        set_masks(j);
    }
done:
    return status;
}

void modal_judge_frame(modal_judge *j, const modal_forest_state *state, double *drift, modal_quality *quality)
{
    quality->energy_balance = j->frame_balance;
    quality->step_error = j->frame_error;
    j->frame_balance = j->frame_error = NAN;
    modal_drift_frame(j->drift, state, drift, j->squares);
    for (int32_t t = 0; t < j->n_trees; t++) {
        const double way = fmax(j->judged[j->root[t]].moved, j->setup.least_moved[j->root[t]]);
        if (way > 0) quality->step_drift = fmax(quality->step_drift, sqrt(j->squares[t] / way)); /* of NaN and a number the number */
    }
}

void modal_judge_counts(const modal_judge *j, int64_t *shortened, int64_t *kept, double *balance)
{
    *shortened = j ? j->n_shortened : 0;
    *kept = j ? j->n_kept : 0;
    *balance = j && j->n_trees > 0 ? j->balance : -1;
}
