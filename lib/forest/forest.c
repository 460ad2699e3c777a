/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "kernels/device.h"
#include "lib/base/cores.h"
#include "lib/forest/forest_private.h"

/* Statics have no inertia to lead Newton's method, and its Jacobian leaves out how frames turn. */
enum { STATIC_ITERATIONS = 5 };

/* ---- state ---- */

/* q, v, a and lag: all that does not stand in an order of its own. */
enum { ARRAYS = 4 };

/* Frames and measures of the task into the order of the basis's objects. */
static void put_in_order(const modal_forest *f, const modal_forest_state *s, const modal_step_pose *poses, const modal_step_measure *measures)
{
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(f->n_threads)) if (f->n_bodies >= MODAL_FOREST_MANY)
    for (int32_t i = 0; i < f->n_bodies; i++) {
        const int32_t at = f->place[i];
        if (at < 0) continue;
        if (s->poses) s->poses[i] = poses[at];
        if (s->measures) s->measures[i] = measures[at];
    }
}

modal_status modal_forest_get(modal_forest *f, const modal_forest_state *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_step_task *t = &f->task;
    const int64_t bytes = f->n_coordinates * (int64_t)sizeof(double);
    double *const to[ARRAYS] = {s->q, s->v, s->a, s->lag}, *const from[ARRAYS] = {t->q, t->v, t->a, t->lag};
    for (int i = 0; i < ARRAYS; i++)
        if (to[i]) MODAL_TRY(modal_device_copy_out(&f->device, to[i], from[i], bytes, f->stream, err));
    if (s->lag)
        MODAL_TRY(modal_device_copy_out(&f->device, f->root_lag, t->root_lag, 6 * t->n_trees * (int64_t)sizeof(double),
                                        f->stream, err));
    const int shared = f->device.shares_memory; /* then they are taken from where they are */
    if (s->poses && !shared)
        MODAL_TRY(modal_device_copy_out(&f->device, f->poses, t->poses,
                                        f->n_objects * (int64_t)sizeof *f->poses, f->stream, err));
    if (s->measures && !shared)
        MODAL_TRY(modal_device_copy_out(&f->device, f->measures, t->measures,
                                        f->n_objects * (int64_t)sizeof *f->measures, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err));
    if (s->poses || s->measures) put_in_order(f, s, shared ? t->poses : f->poses, shared ? t->measures : f->measures);
    for (int32_t at = 0; at < t->n_trees && s->lag; at++) /* roots stand first */
        memcpy(s->lag + f->n_coordinates + 6 * (int64_t)f->object_at[at], f->root_lag + 6 * (int64_t)at, 6 * sizeof(double));
done:
    return status;
}

modal_status modal_forest_set(modal_forest *f, const modal_forest_state *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_step_task *t = &f->task;
    const int64_t bytes = f->n_coordinates * (int64_t)sizeof(double);
    const double *const from[ARRAYS] = {s->q, s->v, s->a, s->lag};
    double *const to[ARRAYS] = {t->q, t->v, t->a, t->lag};
    const int shared = f->device.shares_memory; /* then they are put where they belong at once */
    modal_step_pose *poses = shared ? t->poses : f->poses;
    modal_step_measure *measures = shared ? t->measures : f->measures;
    for (int i = 0; i < ARRAYS; i++)
        if (from[i]) MODAL_TRY(modal_device_copy_in(&f->device, to[i], from[i], bytes, f->stream, err));
    for (int32_t at = 0; at < t->n_trees && s->lag; at++)
        memcpy(f->root_lag + 6 * (int64_t)at, s->lag + f->n_coordinates + 6 * (int64_t)f->object_at[at], 6 * sizeof(double));
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(f->n_threads)) if (f->n_bodies >= MODAL_FOREST_MANY)
    for (int32_t i = 0; i < f->n_bodies; i++) {
        const int32_t at = f->place[i];
        if (at < 0) continue;
        if (s->poses) poses[at] = s->poses[i];
        if (s->measures) measures[at] = s->measures[i];
    }
    if (s->lag)
        MODAL_TRY(modal_device_copy_in(&f->device, t->root_lag, f->root_lag, 6 * t->n_trees * (int64_t)sizeof(double),
                                       f->stream, err));
    if (s->poses && !shared)
        MODAL_TRY(modal_device_copy_in(&f->device, t->poses, f->poses,
                                       f->n_objects * (int64_t)sizeof *f->poses, f->stream, err));
    if (s->measures && !shared)
        MODAL_TRY(modal_device_copy_in(&f->device, t->measures, f->measures,
                                       f->n_objects * (int64_t)sizeof *f->measures, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err));
done:
    return status;
}

void modal_forest_coordinates(modal_forest *f, double **q, double **v, modal_stream **stream)
{
    *q = f->task.q;
    *v = f->task.v;
    *stream = f->stream;
}

/* ---- stepping ---- */

static modal_status run(modal_forest *f, modal_step_phase phase, modal_error *err)
{
    const modal_status status = modal_device_select(&f->device, err);
    if (status != MODAL_OK) return status;
    f->task.phase = phase;
    return f->device.kernels->reduced_step(&f->task, f->stream, err);
}

/* The energy rule leaves driven trees in the frame of the middle of the step: puts that of its end. */
static modal_status end_poses(modal_forest *f, const modal_forest_loads *loads, double end, double near,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_step_task *t = &f->task;
    const int64_t bytes = t->n_trees * (int64_t)sizeof *f->roots; /* roots stand first */
    MODAL_TRY(modal_device_copy_out(&f->device, f->roots, t->poses, bytes, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err));
    for (int32_t i = 0; i < t->n_trees; i++)
        if (f->driven[i] && f->status[i] == MODAL_STEP_CONVERGED)
            loads->drive(loads->context, f->object_at[i], end, near, &f->roots[i]);
    MODAL_TRY(modal_device_copy_in(&f->device, t->poses, f->roots, bytes, f->stream, err));
    MODAL_TRY(modal_device_stream_wait(&f->device, f->stream, err));
done:
    return status;
}

/* In statics [time, time + h] is a part of the way [0, 1] from no loads to all of them, those at f->still. */
static modal_status attempt(modal_forest *f, const modal_forest_loads *loads, double time, double h,
                            const uint8_t *mask, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_step_task *t = &f->task;
    const int still = t->rule == MODAL_STEP_STATIC;
    const double when = still ? f->still : t->rule == MODAL_STEP_ENERGY ? time + 0.5 * h : time + h;
    const double near = still || h == 0 ? f->near : time + 0.5 * h, part = still ? time + h : 1;
    t->time = still ? f->still : time;
    t->h = still ? 0 : h;
    t->most_iterations = still ? STATIC_ITERATIONS * f->most_iterations : f->most_iterations;
    memcpy(t->gravity, f->gravity, sizeof t->gravity);
    if (loads->gravity) loads->gravity(loads->context, when, near, t->gravity);
    for (int i = 0; i < 3; i++) t->gravity[i] *= part;
    if (t->n_points > 0 && loads->forces) {
        loads->forces(loads->context, when, near, f->forces);
        for (int32_t i = 0; i < t->n_points; i++)
            for (int c = 0; c < 3; c++) f->ordered[3 * i + c] = part * f->forces[3 * (int64_t)f->point_order[i] + c];
        MODAL_TRY(modal_device_copy_in(&f->device, t->point_force, f->ordered,
                                       3 * (int64_t)t->n_points * (int64_t)sizeof(double), f->stream, err));
    }
    if (f->n_driven > 0) { /* the others' are set by the step itself */
        for (int32_t i = 0; i < t->n_trees; i++)
            if (f->driven[i]) loads->drive(loads->context, f->object_at[i], when, near, &f->roots[i]);
        MODAL_TRY(modal_device_copy_in(&f->device, t->next_poses, f->roots,
                                       t->n_trees * (int64_t)sizeof *f->roots, f->stream, err));
    }
    MODAL_TRY(modal_device_copy_in(&f->device, (void *)t->active, mask, t->n_trees, f->stream, err));
    MODAL_TRY(run(f, MODAL_STEP_SOLVE, err));
    if (f->n_driven > 0 && t->rule == MODAL_STEP_ENERGY) MODAL_TRY(end_poses(f, loads, time + h, near, err));
    f->n_steps++;
    f->n_iterations += t->h_status[t->n_trees + MODAL_STEP_ITERATIONS];
done:
    return status;
}

static modal_status say_failure(modal_forest *f, const uint8_t *failed, double time, double h, int depth,
                                modal_error *err)
{
    modal_status status = modal_device_copy_out(&f->device, f->measures, f->task.measures,
                                                f->n_objects * (int64_t)sizeof *f->measures, f->stream, err);
    if (status == MODAL_OK) status = modal_device_stream_wait(&f->device, f->stream, err);
    if (status != MODAL_OK) return status;
    int32_t worst = -1, at = 0;
    for (int32_t i = 0; i < f->n_bodies; i++) { /* of the worst kind the first */
        const int32_t place_of = f->place[i];
        if (place_of < 0 || !failed[f->tree_of[place_of]]) continue;
        if (f->measures[place_of].status > worst) {
            worst = f->measures[place_of].status;
            at = i;
        }
    }
    const modal_step_measure *m = &f->measures[f->place[at]];
    char tried[96] = "";
    const int still = f->task.rule == MODAL_STEP_STATIC;
    if (still)
        snprintf(tried, sizeof tried, " on the way to equilibrium, at %.4g of the loads (halved %d times)", time + h, depth);
    else if (depth > 0)
        snprintf(tried, sizeof tried, " in a step of %g s (halved %d times)", h, depth);
    if (still) time = f->still;
    const char *advice = still ? "smaller loads, stiffer material or more iterations"
                               : "a smaller step, smaller loads or more damping";
    if (worst == MODAL_STEP_INVERTED)
        return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                               "object %d: t = %g s: its parent's interface is turned inside out%s; try "
                               "smaller loads%s or stiffer material",
                               at, time, tried, still ? "" : ", more damping");
    if (worst == MODAL_STEP_BROKEN)
        return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                               "object %d: t = %g s: not finite or not stable%s; try %s",
                               at, time, tried, advice);
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                           "object %d: t = %g s: Newton's method stopped at a residual of %.3g after %d "
                           "iterations%s; try %s",
                           at, time, m->residual, f->task.most_iterations, tried, advice);
}

/* Steps the trees of masks[depth]; those that are to take shorter steps, and those that fail, take two of half the length,
 * of loads in statics. */
static modal_status advance(modal_forest *f, const modal_forest_loads *loads, double time, double h,
                            int depth, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = f->task.n_trees;
    const int levels = f->level && h != 0 && f->task.rule != MODAL_STEP_STATIC;
    uint8_t *mask = f->masks + (int64_t)depth * n, *later = mask + n;
    int32_t n_now = 0, n_later = 0, n_failed = 0;
    for (int32_t i = 0; i < n; i++) {
        later[i] = mask[i] && levels && f->level[i] > depth;
        n_now += f->now[i] = mask[i] && !later[i];
        n_later += later[i];
    }
    if (n_now > 0) {
        MODAL_TRY(attempt(f, loads, time, h, f->now, err));
        for (int32_t i = 0; i < n; i++) {
            f->failed[i] = f->now[i] && f->status[i] != MODAL_STEP_CONVERGED;
            if (f->now[i] && !f->failed[i]) f->times[i] = time + h;
            n_failed += f->failed[i];
            later[i] |= f->failed[i];
        }
    }
    if (n_failed > 0 && (depth >= f->most_halvings || h == 0)) {
        status = say_failure(f, f->failed, time, h, depth, err);
        goto done;
    }
    if (n_later + n_failed == 0) goto done;
    f->n_halvings += n_failed > 0;
    MODAL_TRY(advance(f, loads, time, 0.5 * h, depth + 1, err));
    MODAL_TRY(advance(f, loads, time + 0.5 * h, 0.5 * h, depth + 1, err));
done:
    return status;
}

int32_t modal_forest_trees(const modal_forest *f) { return f->task.n_trees; }

int32_t modal_forest_tree_of(const modal_forest *f, int32_t object)
{
    return f->place[object] < 0 ? -1 : f->tree_of[f->place[object]];
}

int32_t modal_forest_root(const modal_forest *f, int32_t tree) { return f->object_at[tree]; }

double modal_forest_mass(const modal_forest *f, int32_t object, double first[3])
{
    memcpy(first, f->masses + 4 * (int64_t)object + 1, 3 * sizeof *first);
    return f->masses[4 * (int64_t)object];
}

int modal_forest_keeps_energy(const modal_forest *f, int32_t tree) { return f->alone[tree]; }

const double *modal_forest_times(const modal_forest *f) { return f->times; }

const uint8_t *modal_forest_failed(const modal_forest *f) { return f->failed; }

void modal_forest_set_levels(modal_forest *f, const int32_t *levels) { f->level = levels; }

static void choose(modal_forest *f, const uint8_t *trees, double time)
{
    for (int32_t i = 0; i < f->task.n_trees; i++) {
        f->masks[i] = trees ? trees[i] != 0 : 1;
        if (f->masks[i]) f->times[i] = time;
    }
}

modal_status modal_forest_settle(modal_forest *f, const modal_forest_loads *loads, double time, double near,
                                 const uint8_t *trees, modal_error *err)
{
    if (f->n_objects == 0) return MODAL_OK;
    f->task.rule = MODAL_STEP_NEWMARK;
    f->near = near;
    choose(f, trees, time);
    return advance(f, loads, time, 0, 0, err);
}

modal_status modal_forest_step(modal_forest *f, const modal_forest_loads *loads, modal_step_rule rule,
                               double time, double h, const uint8_t *trees, modal_error *err)
{
    if (f->n_objects == 0) return MODAL_OK;
    f->task.rule = rule;
    f->still = time;
    f->near = time + 0.5 * h;
    choose(f, trees, time);
    return rule == MODAL_STEP_STATIC ? advance(f, loads, 0, 1, 0, err) : advance(f, loads, time, h, 0, err);
}

modal_status modal_forest_measure(modal_forest *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (f->n_objects == 0) goto done;
    memset(f->masks, 1, (size_t)f->task.n_trees);
    MODAL_TRY(modal_device_copy_in(&f->device, (void *)f->task.active, f->masks, f->task.n_trees, f->stream,
                                   err));
    MODAL_TRY(run(f, MODAL_STEP_MEASURE, err));
done:
    return status;
}

void modal_forest_counts(const modal_forest *f, int64_t *steps, int64_t *iterations, int64_t *halvings)
{
    *steps = f->n_steps;
    *iterations = f->n_iterations;
    *halvings = f->n_halvings;
}
