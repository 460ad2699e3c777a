/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/simulate.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/forest/drift.h"
#include "lib/forest/judge.h"
#include "lib/forest/simulate_private.h"
#include "lib/scene/places.h"
#include "lib/scene/wind.h"

int64_t modal_scene_state_numbers(int64_t c, int64_t n) { return 2 * c + 6 * n + modal_drift_numbers(c, n); }

modal_status modal_scene_state_alloc(modal_scene_state *state, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = modal_basis_mode_offsets(basis, NULL);
    MODAL_TRY(modal_alloc_zero(&state->q, n, sizeof(double), "state", err));
    MODAL_TRY(modal_alloc_zero(&state->v, n, sizeof(double), "state", err));
    MODAL_TRY(modal_alloc_zero(&state->a, modal_scene_state_numbers(n, basis->n_objects), sizeof(double), "state", err));
    state->lag = state->a + n;
    state->drift = state->lag + n + 6 * (int64_t)basis->n_objects;
    MODAL_TRY(modal_alloc_zero(&state->poses, basis->n_objects, sizeof *state->poses, "state", err));
    MODAL_TRY(modal_alloc_zero(&state->measures, basis->n_objects, sizeof *state->measures, "state", err));
    MODAL_TRY(modal_alloc_zero(&state->judged, basis->n_objects, sizeof *state->judged, "state", err));
done:
    return status;
}

void modal_scene_state_free(modal_scene_state *state)
{
    modal_free(&state->q);
    modal_free(&state->v);
    modal_free(&state->a);
    modal_free(&state->poses);
    modal_free(&state->measures);
    modal_free(&state->judged);
    memset(state, 0, sizeof *state);
}

static const double MOST_STEPS = 0x1p53; /* their numbers are exact in float64 */

/* A frame in equal steps. */
static modal_status choose_step(modal_scene_run *r, modal_error *err)
{
    modal_simulation *s = r->s;
    const modal_scene *scene = s->scene;
    modal_status status = modal_scene_run_pace(r, err);
    if (status != MODAL_OK) return status;
    const double most = scene->step > 0 ? scene->step : s->pace.step, n = fmax(1, ceil(1 / (scene->fps * most) - 1e-9));
    if (n * (double)s->n_frames > MOST_STEPS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "step: more than %.0f steps, %g s", MOST_STEPS, most);
    s->steps_a_frame = (int64_t)n;
    s->step = r->step = 1 / (scene->fps * n);
    if (s->planned) s->planned(s->context, s);
    return MODAL_OK;
}

/* ---- the scene against the basis ---- */

static void place_body(const modal_scene_object *said, const modal_object *object, modal_body *body)
{
    modal_scene_pose(said, object, body->pose);
    for (int i = 0; i < 3; i++) {
        body->velocity[i] = said->velocity[i];
        for (int j = 0; j < 3; j++) body->spin[i] += body->pose[4 * j + i] * said->spin[j];
    }
}

/* Linear objects whose frames do not turn, which nothing hangs on and no air drags, are moved exactly. */
static void choose_exact(modal_scene_run *r)
{
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    if (scene->integrator == MODAL_SCENE_NEWMARK || scene->integrator == MODAL_SCENE_ALPHA) return;
    const int drag = scene->wind.given && scene->wind.density > 0 && scene->wind.drag > 0;
    for (int32_t i = 0; i < basis->n_objects && !drag; i++) {
        modal_body *body = &r->bodies[i];
        const modal_spline *spline = &r->splines[i];
        const int shifts = body->motion == MODAL_STEP_DRIVEN && spline->n > 0 && modal_spline_only_shifts(spline);
        body->exact = body->linear && (body->motion == MODAL_STEP_FIXED || shifts);
    }
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (r->bodies[i].motion == MODAL_STEP_ATTACHED && basis->objects[i].parent >= 0)
            r->bodies[basis->objects[i].parent].exact = 0;
}

static modal_status set_bodies(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    const int32_t n = basis->n_objects;
    MODAL_TRY(modal_alloc_zero(&r->bodies, n, sizeof *r->bodies, "objects", err));
    MODAL_TRY(modal_alloc_zero(&r->said, n, sizeof *r->said, "objects", err));
    MODAL_TRY(modal_alloc_zero(&r->splines, n, sizeof *r->splines, "objects", err));
    for (int32_t i = 0; i < n; i++) {
        modal_body *body = &r->bodies[i];
        body->motion = modal_scene_motion_of(MODAL_SCENE_DEFAULT, &basis->objects[i]);
        body->linear = !scene->stvk;
        body->alpha = scene->alpha;
        body->beta = scene->beta;
        body->ratio = scene->ratio;
        body->tangent = scene->tangent;
        memcpy(body->pose, basis->objects[i].rest_pose, sizeof body->pose);
    }
    for (int32_t k = 0; k < scene->n_objects; k++) {
        const modal_scene_object *said = &scene->objects[k];
        MODAL_TRY(modal_scene_check_object("objects", said->place, said->line, said->object, basis, err));
        const modal_object *object = &basis->objects[said->object];
        const modal_shape *shape = &basis->shapes[object->shape];
        modal_body *body = &r->bodies[said->object];
        r->said[said->object] = said;
        body->motion = modal_scene_motion_of(said->motion, object);
        if (said->model >= 0) body->linear = said->model == 0;
        if (said->has_damping) {
            body->alpha = said->alpha;
            body->beta = said->beta;
            body->ratio = said->ratio;
            body->tangent = said->tangent;
        }
        if (said->has_pose && (body->motion == MODAL_STEP_ATTACHED || said->n_keys > 0))
            MODAL_TRY(modal_scene_wrong(err, "objects", said->place, said->line, "a pose is given, and %s gives one, too",
                                        said->n_keys > 0 ? "its motion" : "its parent"));
        place_body(said, object, body);
        if (said->n_keys > 0) {
            modal_step_pose pose;
            status = modal_spline_build(&r->splines[said->object], said->n_keys, said->keys, err);
            if (status != MODAL_OK) {
                modal_error_context(err, "objects[%d]: motion", said->place);
                err->line = said->line;
                goto done;
            }
            modal_spline_pose(&r->splines[said->object], 0, 0, &pose);
            for (int row = 0; row < 3; row++) {
                memcpy(body->pose + 4 * row, pose.rotation + 3 * row, 3 * sizeof(double));
                body->pose[4 * row + 3] = pose.position[row];
            }
        }
        const int32_t given[2] = {said->n_initial, said->n_initial_velocity};
        for (int w = 0; w < 2; w++)
            if (given[w] != 0 && given[w] != shape->modes.n_modes)
                MODAL_TRY(modal_scene_wrong(err, "objects", said->place, said->line,
                                            "%d initial values, object %d has %d modes", given[w], said->object,
                                            shape->modes.n_modes));
    }
    choose_exact(r);
    if (scene->integrator == MODAL_SCENE_ENERGY)
        for (int32_t i = 0; i < n; i++)
            if (r->bodies[i].motion == MODAL_STEP_FREE || r->bodies[i].motion == MODAL_STEP_ATTACHED)
                MODAL_FAIL(err, MODAL_ERROR_INPUT,
                           "integrator: \"energy\" moves objects in fixed or driven frames, object %d is %s; try \"auto\" "
                           "with a smaller step, or another motion for it",
                           i, r->bodies[i].motion == MODAL_STEP_FREE ? "free" : "attached");
    if (scene->start_static)
        for (int32_t i = 0; i < n; i++)
            if (r->bodies[i].motion == MODAL_STEP_FREE)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "static: object %d is free and has no equilibrium", i);
done:
    return status;
}

static void drive(void *context, int32_t object, double time, double near, modal_step_pose *pose)
{
    const modal_scene_run *r = context;
    const modal_scene_object *said = r->said[object];
    if (said->motion == MODAL_SCENE_SPIN)
        modal_motion_spin(said, r->bodies[object].pose, time, pose);
    else
        modal_spline_pose(&r->splines[object], time, near, pose);
}

/* ---- the run ---- */

static modal_forest_state parts_of(const modal_scene_state *state)
{
    return (modal_forest_state){state->q, state->v, state->a, state->lag, state->poses, state->measures};
}

/* The sum of energies with the potential of the attraction, which other loads change, too. The balance of judgements takes the
 * attraction's work as that of any load; here it is seen whether that work is the potential's. */
static void balance_attraction(modal_scene_run *r, int64_t frame)
{
    modal_simulation *s = r->s;
    const double potential = modal_attraction_potential(&r->attraction, s->basis, s->state.poses, s->state.q);
    const double total = s->energy[0] + s->energy[1] + s->energy[2] + potential;
    if (frame == 0 || !s->attraction.known) {
        s->attraction.known = 1;
        s->attraction.first = total;
    }
    s->attraction.potential = potential;
    s->attraction.size = fmax(s->attraction.size, fmax(fabs(potential), s->energy[0]));
    s->attraction.drift = fmax(s->attraction.drift, fabs(total - s->attraction.first));
}

/* The state's frames as rows of [R | x]. */
static void put_poses(const modal_simulation *s)
{
    const int32_t n = s->basis->n_objects;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(s->n_threads)) if (n >= MODAL_FOREST_MANY)
    for (int32_t i = 0; i < n; i++) {
        const modal_step_pose *from = &s->state.poses[i];
        double *to = s->poses + 12 * (int64_t)i;
        for (int row = 0; row < 3; row++) {
            memcpy(to + 4 * row, from->rotation + 3 * row, 3 * sizeof(double));
            to[4 * row + 3] = from->position[row];
        }
    }
}

/* The steps to the frame have been measured. */
static modal_status store_frame(modal_scene_run *r, int64_t frame, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    modal_scene_state *state = &s->state;
    modal_forest_state whole = parts_of(state);
    if (modal_forest_trees(r->forest) == 0) whole = (modal_forest_state){.q = state->q, .v = state->v}; /* the rest stays zeros */
    MODAL_TRY(modal_forest_get(r->forest, &whole, err));
    MODAL_TRY(modal_exact_measure(r->exact, modal_frame_time(frame, s->scene->fps), state->q, state->v, state->poses, state->measures,
                                  err));
    modal_judge_keep(r->judge, state->judged);
    memset(s->energy, 0, sizeof s->energy);
    for (int32_t i = 0; i < s->basis->n_objects; i++) {
        const modal_step_measure *m = &state->measures[i];
        const double parts[4] = {m->kinetic, m->elastic, m->dissipated, m->external};
        for (int e = 0; e < 4; e++) s->energy[e] += parts[e];
    }
    if (s->poses) put_poses(s);
    if (r->attraction.n > 0) balance_attraction(r, frame);
    MODAL_TRY(modal_scene_run_quality(r, frame, err));
    state->next_frame = frame + 1;
    if (s->frame_done) MODAL_TRY(s->frame_done(s->context, s, err));
done:
    return status;
}

static modal_status begin(modal_scene_run *r, const modal_forest_loads *loads, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    modal_scene_state *state = &s->state;
    const double near = modal_corners_near(&r->corners, 0, r->step);
    if (state->next_frame > 0) {
        const modal_forest_state parts = parts_of(state);
        MODAL_TRY(modal_forest_set(r->forest, &parts, err));
        MODAL_TRY(modal_exact_restore(r->exact, modal_frame_time(state->next_frame - 1, s->scene->fps), state->q, state->v,
                                      state->measures, err));
        modal_judge_begin(r->judge, NULL, state->judged);
        goto done;
    }
    if (s->scene->start_static)
        MODAL_TRY(modal_forest_step(r->forest, loads, MODAL_STEP_STATIC, 0, 2 * near, NULL, err));
    int64_t offset = 0;
    const modal_forest_state start = {.q = state->q, .v = state->v};
    MODAL_TRY(modal_forest_get(r->forest, &start, err));
    if (s->scene->start_static) MODAL_TRY(modal_exact_static(r->exact, state->q, err));
    for (int32_t i = 0; i < s->basis->n_objects; i++) {
        const modal_scene_object *said = r->said[i];
        for (int32_t k = 0; said && k < said->n_initial; k++) state->q[offset + k] += said->initial[k];
        for (int32_t k = 0; said && k < said->n_initial_velocity; k++)
            state->v[offset + k] += said->initial_velocity[k];
        offset += s->basis->shapes[s->basis->objects[i].shape].modes.n_modes;
    }
    MODAL_TRY(modal_forest_set(r->forest, &start, err));
    MODAL_TRY(modal_exact_restore(r->exact, 0, state->q, state->v, state->measures, err));
    MODAL_TRY(modal_forest_settle(r->forest, loads, 0, near, NULL, err));
    MODAL_TRY(modal_forest_measure(r->forest, err));
    const modal_forest_state measured = {.measures = state->measures};
    MODAL_TRY(modal_forest_get(r->forest, &measured, err));
    modal_judge_begin(r->judge, state->measures, NULL);
    MODAL_TRY(store_frame(r, 0, err));
done:
    return status;
}

/* Steps between two calls of `watch`, which is not to cost time. */
typedef struct patience {
    int64_t first, all, calls, next, stride; /* the first step of this run, and all of its steps */
    double last;
} patience;

static modal_status watch_now_and_then(const modal_simulation *s, patience *p, int64_t done, modal_error *err)
{
    if (++p->calls < p->next || !s->watch) return MODAL_OK;
    const double time = modal_seconds();
    if (time - p->last < 0.05) p->stride *= 2;
    if (time - p->last > 0.2 && p->stride > 1) p->stride /= 2;
    p->last = time;
    p->next = p->calls + p->stride;
    return s->watch(s->context, s, done, p->all, err);
}

/* Steps [first, end) of the whole motion, of the trees that are to be moved. */
static modal_status make_steps(modal_scene_run *r, const modal_forest_loads *loads, int64_t first, int64_t end, patience *p,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    const double steps_a_second = s->scene->fps * (double)s->steps_a_frame;
    const modal_step_rule own = s->scene->integrator == MODAL_SCENE_ENERGY    ? MODAL_STEP_ENERGY
                                : s->scene->integrator == MODAL_SCENE_NEWMARK ? MODAL_STEP_NEWMARK
                                                                              : MODAL_STEP_ALPHA;
    const modal_step_rule rules[2] = {own, MODAL_STEP_ENERGY};
    const int64_t from = r->corners.next;
    for (int keeps = 0; keeps < 2; keeps++) {
        const uint8_t *trees;
        if (!modal_judge_trees(r->judge, keeps, &trees)) continue;
        r->corners.next = from;
        for (int64_t step = first; step < end; step++) {
            const double t = (double)step / steps_a_second;
            MODAL_TRY(modal_corners_step(&r->corners, r->forest, loads, rules[keeps], t, r->step, trees, err));
            MODAL_TRY(watch_now_and_then(s, p, step + 1 - p->first, err));
        }
    }
done:
    return status;
}

/* Steps that are judged together, until they may stay. start: the state at their begin, as it is. */
static modal_status judge_steps(modal_scene_run *r, const modal_forest_loads *loads, int64_t first, int64_t end,
                                const modal_scene_state *start, patience *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double steps_a_second = r->s->scene->fps * (double)r->s->steps_a_frame;
    const modal_forest_state parts = parts_of(start);
    const int64_t corner = r->corners.next;
    modal_judge_open(r->judge, &parts, end - first);
    for (int again = 1; again;) {
        r->corners.next = corner;
        const modal_status made = make_steps(r, loads, first, end, p, err);
        if (made != MODAL_OK && made != MODAL_ERROR_NOT_CONVERGED) return made;
        if (made == MODAL_OK) MODAL_TRY(modal_forest_measure(r->forest, err));
        MODAL_TRY(modal_judge_steps(r->judge, (double)end / steps_a_second, made, &again, err));
    }
    for (int64_t step = first; step < end; step++) {
        MODAL_TRY(modal_exact_step(r->exact, (double)step / steps_a_second, (double)(step + 1) / steps_a_second, err));
        MODAL_TRY(watch_now_and_then(r->s, p, step + 1 - p->first, err));
    }
done:
    return status;
}

static modal_status run(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    const modal_scene *scene = s->scene;
    const int64_t per_frame = s->steps_a_frame;
    const modal_forest_loads loads = {r, scene->n_forces > 0 || r->attraction.n > 0 ? modal_scene_run_loads : NULL, drive,
                                      scene->n_shakings > 0 ? modal_scene_run_gravity : NULL};
    int64_t exact_steps = 0;
    MODAL_TRY(begin(r, &loads, err));
    patience p = {.first = (s->state.next_frame - 1) * per_frame,
                  .all = (s->n_frames - s->state.next_frame) * per_frame, .next = 1, .stride = 1, .last = modal_seconds()};
    double started = modal_seconds();
    for (int64_t frame = s->state.next_frame; frame < s->n_frames; frame++) {
        const modal_scene_state *start = &s->state;
        const int64_t end = frame * per_frame;
        for (int64_t step = end - per_frame; step < end;) {
            const int64_t stop = step + MODAL_JUDGE_STEPS < end ? step + MODAL_JUDGE_STEPS : end;
            MODAL_TRY(judge_steps(r, &loads, step, stop, start, &p, err));
            exact_steps += stop - step;
            step = stop;
            if (step == end) break;
            start = &r->between;
            const modal_forest_state parts = parts_of(start);
            MODAL_TRY(modal_forest_get(r->forest, &parts, err));
        }
        s->seconds_stepping += modal_seconds() - started;
        MODAL_TRY(store_frame(r, frame, err));
        MODAL_TRY(modal_progress_report(s->progress, "step", (double)frame / (double)s->n_frames, err));
        started = modal_seconds();
    }
done:
    if (r->forest) modal_forest_counts(r->forest, &s->steps, &s->iterations, &s->halvings);
    modal_judge_counts(r->judge, &s->shortened, &s->kept, &s->balance);
    if (s->steps < exact_steps) s->steps = exact_steps; /* nothing but exact objects */
    return status;
}

modal_status modal_scene_simulate(modal_simulation *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = s->scene;
    modal_scene_run r = {.s = s, .load_left_out = NAN};
    MODAL_TRY(set_bodies(&r, err));
    MODAL_TRY(modal_scene_run_forces(&r, err));
    MODAL_TRY(modal_scene_run_patches(&r, err));
    MODAL_TRY(modal_scene_run_attraction(&r, err));
    MODAL_TRY(modal_scene_run_sort(&r, err));
    MODAL_TRY(modal_scene_run_tiles(&r, err));
    MODAL_TRY(modal_scene_run_idle(&r, err));
    MODAL_TRY(modal_attraction_prepare(&r.attraction, s->basis, err));
    modal_wind_air(&scene->wind, &r.air);
    MODAL_TRY(choose_step(&r, err));
    modal_forest_setup setup = {.bodies = r.bodies, .n_points = r.n_points, .points = r.points,
                                .air = scene->wind.given ? &r.air : NULL, .tolerance = scene->tolerance,
                                .radius = scene->spectral_radius,
                                .most_iterations = scene->most_iterations,
                                .most_halvings = scene->most_halvings, .n_threads = s->n_threads};
    memcpy(setup.gravity, scene->gravity, sizeof setup.gravity);
    const int64_t own_bytes = modal_forest_bytes(s->basis, &setup, s->device), bytes = s->basis_bytes + own_bytes;
    if (s->memory_left > 0 && own_bytes > s->memory_left)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "tables take %lld bytes, the machine has %lld left", (long long)own_bytes,
                   (long long)s->memory_left);
    if (s->memory_limit > 0 && bytes > s->memory_limit)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "basis and tables take %lld bytes, the memory limit is %lld",
                   (long long)bytes, (long long)s->memory_limit);
    MODAL_TRY(modal_forest_new(&r.forest, s->basis, &setup, s->device, err));
    if (s->look_at_loads) MODAL_TRY(modal_scene_run_left_out(&r, err));
    double *q, *v;
    modal_stream *stream;
    modal_forest_coordinates(r.forest, &q, &v, &stream);
    MODAL_TRY(modal_scene_run_exact(&r, q, v, stream, err));
    MODAL_TRY(modal_scene_run_corners(&r, err));
    const modal_judge_setup judged = {.tolerance = scene->balance, .most_halvings = scene->most_halvings,
                                      .may_keep = scene->integrator == MODAL_SCENE_AUTO, .step = r.step, .bodies = r.bodies,
                                      .together = r.attraction.together,
                                      .least_moved = r.least_moved, .least_energy = r.least_energy};
    MODAL_TRY(modal_judge_new(&r.judge, r.forest, s->basis, &judged, err));
    if (s->steps_a_frame > MODAL_JUDGE_STEPS) MODAL_TRY(modal_scene_state_alloc(&r.between, s->basis, err));
    MODAL_TRY(modal_scene_run_quality_begin(&r, err));
    MODAL_TRY(run(&r, err));
done:
    modal_scene_run_quality_end(&r);
    modal_judge_delete(r.judge);
    modal_scene_state_free(&r.between);
    modal_corners_free(&r.corners);
    modal_exact_delete(r.exact); /* it works in the forest's memory */
    modal_forest_delete(r.forest);
    modal_attraction_free(&r.attraction);
    for (int32_t i = 0; r.splines && i < s->basis->n_objects; i++) modal_spline_free(&r.splines[i]);
    void *arrays[] = {&r.bodies, &r.said, &r.splines, &r.points, &r.force_first, &r.members, &r.sorted,
                      &r.inputs, &r.exact_loads, &r.curves, &r.peaks, &r.least_moved, &r.least_energy};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    return status;
}
