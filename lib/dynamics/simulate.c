/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dynamics/simulate.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "lib/base/memory.h"
#include "lib/dynamics/exact.h"
#include "lib/dynamics/forest_tables.h"
#include "lib/dynamics/loads.h"
#include "lib/dynamics/motion.h"
#include "lib/dynamics/places.h"

enum { AIR_PATCHES = 4, PATCH_VERTICES = 128 };

/* A force of the scene acts at the points [first, first + count) of `members`. */
typedef struct runner {
    modal_simulation *s;
    double step;
    modal_body *bodies;          /* [objects] */
    const modal_scene_object **said; /* [objects] or NULL */
    modal_spline *splines;       /* [objects] */
    modal_body_point *points;
    int64_t n_points, point_capacity;
    int64_t *force_first;        /* [n_forces + 1] in members */
    int64_t *members;            /* points of each force, in the sorted order */
    int64_t n_members, member_capacity;
    int32_t *sorted;             /* [n_points] place of a point after sorting by object */
    modal_step_air air;
    modal_forest *forest;
    double *exact_loads;         /* behind the inputs */
    modal_exact_input *inputs;   /* of the exact objects */
    modal_exact *exact;
} runner;

modal_status modal_scene_state_alloc(modal_scene_state *state, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = modal_basis_mode_offsets(basis, NULL);
    MODAL_TRY(modal_alloc_zero(&state->q, n, sizeof(double), "state", err));
    MODAL_TRY(modal_alloc_zero(&state->v, n, sizeof(double), "state", err));
    MODAL_TRY(modal_alloc_zero(&state->a, n, sizeof(double), "state", err));
    MODAL_TRY(modal_alloc_zero(&state->frames, basis->n_objects, sizeof *state->frames, "state", err));
    MODAL_TRY(modal_alloc_zero(&state->measures, basis->n_objects, sizeof *state->measures, "state", err));
done:
    return status;
}

void modal_scene_state_free(modal_scene_state *state)
{
    modal_free(&state->q);
    modal_free(&state->v);
    modal_free(&state->a);
    modal_free(&state->frames);
    modal_free(&state->measures);
    memset(state, 0, sizeof *state);
}

double modal_frame_time(int64_t i, double fps) { return i == 0 ? 0 : (double)i / fps; }

int64_t modal_scene_steps_per_frame(const modal_scene *scene)
{
    if (scene->step <= 0) return 1;
    const double n = ceil(1 / (scene->fps * scene->step) - 1e-9);
    return n < 1 ? 1 : (int64_t)n;
}

/* ---- the scene against the basis ---- */

static void place_body(const modal_scene_object *said, const modal_object *object, modal_body *body)
{
    modal_scene_frame(said, object, body->frame);
    for (int i = 0; i < 3; i++) {
        body->velocity[i] = said->velocity[i];
        for (int j = 0; j < 3; j++) body->spin[i] += body->frame[4 * j + i] * said->spin[j];
    }
}

/* Linear objects whose frames do not turn, which nothing hangs on and no air drags, are moved exactly. */
static void choose_exact(runner *r)
{
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    if (scene->integrator == MODAL_SCENE_NEWMARK) return;
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

static modal_status set_bodies(runner *r, modal_error *err)
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
        memcpy(body->frame, basis->objects[i].rest_frame, sizeof body->frame);
    }
    for (int32_t k = 0; k < scene->n_objects; k++) {
        const modal_scene_object *said = &scene->objects[k];
        MODAL_TRY(modal_scene_check_object("objects", said->place, said->object, basis, err));
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
        }
        if (said->has_frame && (body->motion == MODAL_STEP_ATTACHED || said->n_keys > 0))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "objects[%d]: a frame is given, and %s gives one, too", said->place,
                       said->n_keys > 0 ? "its motion" : "its parent");
        place_body(said, object, body);
        if (said->n_keys > 0) {
            modal_step_frame frame;
            MODAL_TRY(modal_spline_build(&r->splines[said->object], said->n_keys, said->keys, err));
            modal_spline_frame(&r->splines[said->object], 0, &frame);
            for (int row = 0; row < 3; row++) {
                memcpy(body->frame + 4 * row, frame.rotation + 3 * row, 3 * sizeof(double));
                body->frame[4 * row + 3] = frame.position[row];
            }
        }
        const int32_t given[2] = {said->n_initial, said->n_initial_velocity};
        for (int w = 0; w < 2; w++)
            if (given[w] != 0 && given[w] != shape->n_modes)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "objects[%d]: %d initial values, object %d has %d modes", said->place,
                           given[w], said->object, shape->n_modes);
    }
    choose_exact(r);
    if (scene->integrator == MODAL_SCENE_ENERGY)
        for (int32_t i = 0; i < n; i++)
            if (r->bodies[i].motion != MODAL_STEP_FIXED && !r->bodies[i].exact)
                MODAL_FAIL(err, MODAL_ERROR_INPUT,
                           "integrator: \"energy\" is for objects whose frames are fixed, object %d's is not",
                           i);
    if (scene->start_static)
        for (int32_t i = 0; i < n; i++)
            if (r->bodies[i].motion == MODAL_STEP_FREE)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "static: object %d is free and has no equilibrium", i);
done:
    return status;
}

/* ---- points where forces act ---- */

static modal_status add_point(runner *r, int32_t object, int64_t first, int64_t count, double drag,
                              modal_error *err)
{
    modal_status status = modal_grow(&r->points, &r->point_capacity, r->n_points + 1, sizeof *r->points,
                                     "points", err);
    if (status == MODAL_OK)
        r->points[r->n_points++] = (modal_body_point){object, first, count, drag};
    return status;
}

static modal_status add_member(runner *r, int32_t object, int64_t vertex, modal_error *err)
{
    modal_status status = modal_grow(&r->members, &r->member_capacity, r->n_members + 1, sizeof(int64_t),
                                     "points", err);
    if (status != MODAL_OK) return status;
    r->members[r->n_members++] = r->n_points;
    return add_point(r, object, vertex, 1, 0, err);
}

static const char *list_of(const modal_scene_force *force)
{
    return force->curve.kind == MODAL_CURVE_PULSE ? "impulses" : "forces";
}

static modal_status add_forces(runner *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    modal_scene_vertices at = {0};
    MODAL_TRY(modal_alloc_zero(&r->force_first, (int64_t)scene->n_forces + 1, sizeof(int64_t), "forces", err));
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        r->force_first[i] = r->n_members;
        MODAL_TRY(modal_scene_check_object(list_of(force), force->place, force->object, basis, err));
        at.n = 0;
        MODAL_TRY(modal_scene_force_vertices(list_of(force), force, basis, r->bodies[force->object].frame, &at, err));
        for (int64_t v = 0; v < at.n; v++) MODAL_TRY(add_member(r, force->object, at.vertices[v], err));
    }
    r->force_first[scene->n_forces] = r->n_members;
done:
    modal_free(&at.vertices);
    return status;
}

/* Stored vertices are ordered for locality: runs of them are patches. A closed convex surface shows a
 * quarter of its area to a wind, on the average over the directions (Cauchy). */
static modal_status add_patches(runner *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_wind *wind = &r->s->scene->wind;
    const modal_basis *basis = r->s->basis;
    if (!wind->given) goto done;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        const int64_t n = shape->n_vertices;
        const int64_t parts = n < 2 ? n : n >= AIR_PATCHES * PATCH_VERTICES ? AIR_PATCHES : 2 + n / (2 * PATCH_VERTICES);
        for (int64_t p = 0; p < parts; p++) {
            const int64_t first = n * p / parts, end = n * (p + 1) / parts;
            double area = 0;
            for (int64_t v = first; v < end; v++) area += modal_shape_vertex_area(shape, v);
            MODAL_TRY(add_point(r, i, first, end - first, 0.5 * wind->density * wind->drag * area / 4, err));
        }
    }
done:
    return status;
}

static modal_status sort_points(runner *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_body_point *points = NULL;
    int64_t *next = NULL;
    const int32_t n = r->s->basis->n_objects;
    MODAL_TRY(modal_alloc_zero(&next, (int64_t)n + 1, sizeof *next, "points", err));
    MODAL_TRY(modal_alloc(&points, r->n_points, sizeof *points, "points", err));
    MODAL_TRY(modal_alloc(&r->sorted, r->n_points, sizeof *r->sorted, "points", err));
    for (int64_t i = 0; i < r->n_points; i++) next[r->points[i].object + 1]++;
    for (int32_t i = 0; i < n; i++) next[i + 1] += next[i];
    for (int64_t i = 0; i < r->n_points; i++) {
        r->sorted[i] = (int32_t)next[r->points[i].object]++;
        points[r->sorted[i]] = r->points[i];
    }
    modal_free(&r->points);
    r->points = points;
    points = NULL;
done:
    modal_free(&points);
    modal_free(&next);
    return status;
}

/* ---- the part of the modal matrices that the scene needs ---- */

static modal_status load_tiles(runner *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = r->s->basis;
    int64_t *first = NULL, *list = NULL; /* [n_shapes + 1] of the shapes' tiles */
    uint8_t *wanted = NULL;
    if (!r->s->load_tiles) goto done;
    MODAL_TRY(modal_alloc_zero(&first, (int64_t)basis->n_shapes + 1, sizeof *first, "tiles", err));
    for (int32_t i = 0; i < basis->n_shapes; i++)
        first[i + 1] = first[i] + modal_tile_count(basis->shapes[i].n_vertices);
    MODAL_TRY(modal_alloc_zero(&wanted, first[basis->n_shapes], 1, "tiles", err));
    MODAL_TRY(modal_alloc(&list, first[basis->n_shapes], sizeof *list, "tiles", err));
    for (int64_t i = 0; i < r->n_points; i++)
        for (int64_t v = 0; v < r->points[i].n_vertices; v++)
            wanted[first[basis->objects[r->points[i].object].shape] + (r->points[i].first_vertex + v) / MODAL_TILE] = 1;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_object *object = &basis->objects[i];
        if (r->bodies[i].motion != MODAL_STEP_ATTACHED || object->parent < 0) continue;
        const modal_object *parent = &basis->objects[object->parent];
        if (basis->shapes[parent->shape].modal_matrix) continue;
        status = modal_forest_mark_interface(&basis->shapes[parent->shape], parent->rest_frame,
                                             &basis->shapes[object->shape], object->rest_frame,
                                             wanted + first[parent->shape], err);
        if (status != MODAL_OK) {
            modal_error_context(err, "object %d", i);
            goto done;
        }
    }
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        int64_t n = 0;
        for (int64_t tile = first[i]; tile < first[i + 1]; tile++)
            if (wanted[tile]) list[n++] = tile - first[i];
        if (n > 0 && !basis->shapes[i].modal_matrix) MODAL_TRY(r->s->load_tiles(r->s->context, i, n, list, err));
    }
done:
    modal_free(&first);
    modal_free(&list);
    modal_free(&wanted);
    return status;
}

/* ---- loads of the exact objects ---- */

static modal_status add_exact(runner *r, double *q, double *v, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    double *jump = NULL;
    int64_t n_inputs = 0, n_loads = 0, most = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int64_t modes = basis->shapes[basis->objects[i].shape].n_modes;
        const int axes = r->bodies[i].exact && r->splines[i].n > 0 ? 3 : 0;
        n_inputs += axes;
        n_loads += axes * modes;
        if (modes > most) most = modes;
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        if (!r->bodies[scene->forces[i].object].exact) continue;
        n_inputs++;
        n_loads += basis->shapes[basis->objects[scene->forces[i].object].shape].n_modes;
    }
    MODAL_TRY(modal_alloc_zero(&r->inputs, n_inputs, sizeof *r->inputs, "forces", err));
    MODAL_TRY(modal_alloc_zero(&r->exact_loads, n_loads, sizeof(double), "forces", err));
    MODAL_TRY(modal_alloc(&jump, most, sizeof(double), "forces", err));
    double *load = r->exact_loads;
    modal_exact_input *input = r->inputs;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        for (int axis = 0; axis < 3 && r->bodies[i].exact && r->splines[i].n > 0; axis++) {
            for (int32_t k = 0; k < shape->n_modes; k++)
                for (int c = 0; c < 3; c++)
                    load[k] -= r->bodies[i].frame[4 * axis + c] * shape->participation[3 * k + c] /
                               shape->modal_masses[k];
            *input++ = (modal_exact_input){.object = i, .spline = &r->splines[i], .axis = axis, .load = load};
            load += shape->n_modes;
        }
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        const modal_shape *shape = &basis->shapes[basis->objects[force->object].shape];
        const int64_t first = r->force_first[i], end = r->force_first[i + 1];
        if (!r->bodies[force->object].exact) continue;
        for (int64_t m = first; m < end; m++) {
            modal_impulse_jump(shape, r->bodies[force->object].frame,
                               r->points[r->sorted[r->members[m]]].first_vertex, force->vector, jump);
            for (int32_t k = 0; k < shape->n_modes; k++) load[k] += jump[k] / (double)(end - first);
        }
        *input++ = (modal_exact_input){.object = force->object, .curve = &force->curve, .load = load};
        load += shape->n_modes;
    }
    modal_exact_setup setup = {.bodies = r->bodies, .splines = r->splines, .step = r->step,
                               .n_inputs = n_inputs, .inputs = r->inputs};
    memcpy(setup.gravity, scene->gravity, sizeof setup.gravity);
    MODAL_TRY(modal_exact_new(&r->exact, basis, &setup, r->s->device, stream, q, v, err));
done:
    modal_free(&jump);
    return status;
}

/* ---- air ---- */

/* A counter-based generator: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014. */
static double uniform(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Turbulence as a sum of plane waves of random directions that the mean wind carries along: each
 * amplitude is across its wave (no divergence), lengths go from the scale down to an eighth of it, and
 * energies fall with the power 5/3 of the wave number, in octaves. R. H. Kraichnan, Diffusion by a Random
 * Velocity Field, 1970. */
static void set_air(runner *r)
{
    const modal_wind *wind = &r->s->scene->wind;
    const double turn = 2 * 3.14159265358979323846;
    double total = 0;
    memcpy(r->air.mean, wind->velocity, sizeof r->air.mean);
    if (!(wind->turbulence > 0)) return;
    r->air.n_waves = MODAL_STEP_WAVES;
    for (int32_t m = 0; m < MODAL_STEP_WAVES; m++) {
        double direction[2][3];
        for (int d = 0; d < 2; d++) {
            const double z = 2 * uniform(wind->seed, 8 * (uint64_t)m + 2 * (uint64_t)d) - 1;
            const double angle = turn * uniform(wind->seed, 8 * (uint64_t)m + 2 * (uint64_t)d + 1);
            direction[d][0] = sqrt(1 - z * z) * cos(angle);
            direction[d][1] = sqrt(1 - z * z) * sin(angle);
            direction[d][2] = z;
        }
        const double part = (double)m / (MODAL_STEP_WAVES - 1), length = wind->scale * pow(8, -part);
        const double size = pow(8, -part / 3); /* energy of an octave ~ k^(-2/3) */
        double *wave = r->air.wave[m], *amplitude = r->air.amplitude[m], speed = 0;
        const double *k = direction[0], *e = direction[1];
        for (int i = 0; i < 3; i++) {
            wave[i] = turn / length * k[i];
            amplitude[i] = size * (k[(i + 1) % 3] * e[(i + 2) % 3] - k[(i + 2) % 3] * e[(i + 1) % 3]);
            total += 0.5 * amplitude[i] * amplitude[i];
            speed += wave[i] * wind->velocity[i];
        }
        r->air.frequency[m] = speed + turn / length * wind->turbulence;
        r->air.phase[m] = turn * uniform(wind->seed, 8 * (uint64_t)m + 5);
    }
    const double scale = wind->turbulence * sqrt(3 / total);
    for (int32_t m = 0; m < MODAL_STEP_WAVES; m++)
        for (int i = 0; i < 3; i++) r->air.amplitude[m][i] *= scale;
}

/* ---- loads ---- */

static void set_forces(void *context, double time, double *forces)
{
    const runner *r = context;
    const modal_scene *scene = r->s->scene;
    memset(forces, 0, (size_t)(3 * r->n_points) * sizeof(double));
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const int64_t first = r->force_first[i], end = r->force_first[i + 1];
        const double value = modal_curve_value(&scene->forces[i].curve, time, r->step) / (double)(end - first);
        for (int64_t m = first; m < end; m++)
            for (int c = 0; c < 3; c++)
                forces[3 * (int64_t)r->sorted[r->members[m]] + c] += value * scene->forces[i].vector[c];
    }
}

static void drive(void *context, int32_t object, double time, modal_step_frame *frame)
{
    const runner *r = context;
    const modal_scene_object *said = r->said[object];
    if (said->motion == MODAL_SCENE_SPIN)
        modal_motion_spin(said, r->bodies[object].frame, time, frame);
    else
        modal_spline_frame(&r->splines[object], time, frame);
}

/* ---- the run ---- */

static modal_status store_frame(runner *r, int64_t frame, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    modal_scene_state *state = &s->state;
    MODAL_TRY(modal_forest_measure(r->forest, err));
    MODAL_TRY(modal_forest_get(r->forest, state->q, state->v, state->a, state->frames, state->measures, err));
    MODAL_TRY(modal_exact_measure(r->exact, modal_frame_time(frame, s->scene->fps), state->q, state->v, state->frames, state->measures,
                                  err));
    state->next_frame = frame + 1;
    memset(s->energy, 0, sizeof s->energy);
    for (int32_t i = 0; i < s->basis->n_objects; i++) {
        const modal_step_measure *m = &state->measures[i];
        const modal_step_frame *f = &state->frames[i];
        const double parts[4] = {m->kinetic, m->elastic, m->dissipated, m->external};
        for (int e = 0; e < 4; e++) s->energy[e] += parts[e];
        if (!s->frames) continue;
        double *to = s->frames + 12 * (int64_t)i;
        for (int row = 0; row < 3; row++) {
            memcpy(to + 4 * row, f->rotation + 3 * row, 3 * sizeof(double));
            to[4 * row + 3] = f->position[row];
        }
    }
    if (s->frame_done) MODAL_TRY(s->frame_done(s->context, s, err));
done:
    return status;
}

static modal_status begin(runner *r, const modal_forest_loads *loads, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    modal_scene_state *state = &s->state;
    if (state->next_frame > 0) {
        MODAL_TRY(modal_forest_set(r->forest, state->q, state->v, state->a, state->frames, state->measures, err));
        MODAL_TRY(modal_exact_restore(r->exact, modal_frame_time(state->next_frame - 1, s->scene->fps), state->q, state->v,
                                      state->measures, err));
        goto done;
    }
    if (s->scene->start_static)
        MODAL_TRY(modal_forest_step(r->forest, loads, MODAL_STEP_STATIC, 0, 0, err));
    int64_t offset = 0;
    MODAL_TRY(modal_forest_get(r->forest, state->q, state->v, NULL, NULL, NULL, err));
    if (s->scene->start_static) MODAL_TRY(modal_exact_static(r->exact, state->q, err));
    for (int32_t i = 0; i < s->basis->n_objects; i++) {
        const modal_scene_object *said = r->said[i];
        for (int32_t k = 0; said && k < said->n_initial; k++) state->q[offset + k] += said->initial[k];
        for (int32_t k = 0; said && k < said->n_initial_velocity; k++)
            state->v[offset + k] += said->initial_velocity[k];
        offset += s->basis->shapes[s->basis->objects[i].shape].n_modes;
    }
    MODAL_TRY(modal_forest_set(r->forest, state->q, state->v, NULL, NULL, NULL, err));
    MODAL_TRY(modal_exact_restore(r->exact, 0, state->q, state->v, state->measures, err));
    MODAL_TRY(modal_forest_step(r->forest, loads, MODAL_STEP_NEWMARK, 0, 0, err));
    MODAL_TRY(store_frame(r, 0, err));
done:
    return status;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static modal_status run(runner *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    const modal_scene *scene = s->scene;
    const int64_t per_frame = modal_scene_steps_per_frame(scene);
    const modal_forest_loads loads = {r, scene->n_forces > 0 ? set_forces : NULL, drive};
    const modal_step_rule rule =
        scene->integrator == MODAL_SCENE_ENERGY ? MODAL_STEP_ENERGY : MODAL_STEP_NEWMARK;
    int64_t exact_steps = 0;
    const double steps_a_second = scene->fps * (double)per_frame;
    MODAL_TRY(begin(r, &loads, err));
    for (int64_t frame = s->state.next_frame; frame < s->n_frames; frame++) {
        const double started = now();
        for (int64_t i = 0; i < per_frame; i++) {
            const int64_t step = (frame - 1) * per_frame + i;
            const double t = (double)step / steps_a_second;
            MODAL_TRY(modal_forest_step(r->forest, &loads, rule, t, r->step, err));
            MODAL_TRY(modal_exact_step(r->exact, t, (double)(step + 1) / steps_a_second, err));
            exact_steps++;
        }
        s->seconds_stepping += now() - started;
        MODAL_TRY(store_frame(r, frame, err));
        MODAL_TRY(modal_progress_report(s->progress, "step", (double)frame / (double)s->n_frames, err));
    }
done:
    if (r->forest) modal_forest_counts(r->forest, &s->steps, &s->iterations, &s->halvings);
    if (s->steps < exact_steps) s->steps = exact_steps; /* nothing but exact objects */
    return status;
}

modal_status modal_scene_simulate(modal_simulation *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = s->scene;
    runner r = {.s = s, .step = 1 / (scene->fps * (double)modal_scene_steps_per_frame(scene))};
    MODAL_TRY(set_bodies(&r, err));
    MODAL_TRY(add_forces(&r, err));
    MODAL_TRY(add_patches(&r, err));
    MODAL_TRY(sort_points(&r, err));
    MODAL_TRY(load_tiles(&r, err));
    set_air(&r);
    modal_forest_setup setup = {.bodies = r.bodies, .n_points = r.n_points, .points = r.points,
                                .air = scene->wind.given ? &r.air : NULL, .tolerance = scene->tolerance,
                                .most_iterations = scene->most_iterations,
                                .most_halvings = scene->most_halvings, .n_threads = s->n_threads};
    memcpy(setup.gravity, scene->gravity, sizeof setup.gravity);
    const int64_t bytes = s->memory_limit > 0 ? s->basis_bytes + modal_forest_bytes(s->basis, &setup) : 0;
    if (bytes > s->memory_limit)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "basis and tables take %lld bytes, the memory limit is %lld",
                   (long long)bytes, (long long)s->memory_limit);
    MODAL_TRY(modal_forest_new(&r.forest, s->basis, &setup, s->device, err));
    double *q, *v;
    modal_stream *stream;
    modal_forest_state(r.forest, &q, &v, &stream);
    MODAL_TRY(add_exact(&r, q, v, stream, err));
    MODAL_TRY(run(&r, err));
done:
    modal_exact_delete(r.exact); /* it works in the forest's memory */
    modal_forest_delete(r.forest);
    for (int32_t i = 0; r.splines && i < s->basis->n_objects; i++) modal_spline_free(&r.splines[i]);
    void *arrays[] = {&r.bodies, &r.said, &r.splines, &r.points, &r.force_first, &r.members, &r.sorted,
                      &r.inputs, &r.exact_loads};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    return status;
}
