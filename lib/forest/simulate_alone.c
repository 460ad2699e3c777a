/* SPDX-License-Identifier: Apache-2.0 */
/* What an object's basis leaves out of its loads, of an object that is a tree by itself and does not turn with its frame: its modes and the
 * slow motions beside them are oscillators that nothing couples, and both are moved through the whole scene by the same loads before the
 * first step (lib/oscillators/history.h). So a sine between the modes, one at a natural frequency that the basis has not, a gust, a ground
 * record and a blow are judged by one rule: how far the slow motions go, over how far all goes, each at most over time.
 *
 * Deformations are small there, air is at rest relative to the object, and the wind is what blows at its middle. */
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/forest/simulate_private.h"
#include "lib/oscillators/history.h"
#include "lib/scene/loads.h"

enum { LOOKS = 256, ALL_LOOKS = 20000, LEAST_LOOKS = 16, MOST_GUSTS = 4000, GUSTS = 20, PATCH_LOOKS = 64 };
static const double TURN = 2 * 3.14159265358979323846;

/* The oscillators of an object, the modes first. */
typedef struct alone {
    const modal_scene_run *run;
    int32_t object;
    const modal_shape *parts[2]; /* the object's, and its slow motions as a shape */
    int64_t n, n_inputs, n_curves;
    double *numbers;             /* [5, n] stiffness, damping, masses, q, v; [n] constant; [inputs, n] loads; [2 n] scratch */
    modal_history_input *inputs;
    modal_curve *curves;         /* of frames that shift, and of the wind */
    double *keys;                /* their times and values */
    double duration;             /* of the part of the scene that is gone through */
} alone;

static double *load_of(const alone *a, int64_t input) { return a->numbers + (6 + input) * a->n; }

/* Adds the load of a uniform acceleration (world axes) of what the object stands on. */
static void add_acceleration(const alone *a, const double *acceleration, double *load)
{
    const double *pose = a->run->bodies[a->object].pose;
    for (int p = 0; p < 2; p++)
        for (int32_t k = 0; k < a->parts[p]->modes.n_modes; k++, load++)
            for (int axis = 0; axis < 3; axis++)
                for (int c = 0; c < 3; c++)
                    *load -= acceleration[axis] * pose[4 * axis + c] * a->parts[p]->modes.participation[3 * k + c] / a->parts[p]->modes.modal_masses[k];
}

/* Adds that of a force (N, or N s) at a stored vertex, so much of it. */
static void add_force(const alone *a, int64_t vertex, const double *force, double share, double *load)
{
    double *jump = a->numbers + (6 + a->n_inputs) * a->n;
    for (int p = 0; p < 2; p++) {
        modal_impulse_jump(a->parts[p], a->run->bodies[a->object].pose, vertex, force, jump);
        for (int32_t k = 0; k < a->parts[p]->modes.n_modes; k++) *load++ += share * jump[k];
    }
}

static void add_scene_loads(alone *a, int64_t *input)
{
    const modal_scene_run *r = a->run;
    const modal_scene *scene = r->s->scene;
    const int falls = r->bodies[a->object].motion == MODAL_STEP_FREE;
    const double up[3] = {-scene->gravity[0], -scene->gravity[1], -scene->gravity[2]};
    if (!falls) add_acceleration(a, up, a->numbers + 5 * a->n);
    for (int32_t i = 0; i < scene->n_shakings && !falls; i++) {
        a->inputs[*input] = (modal_history_input){&scene->shakings[i].curve, load_of(a, *input)};
        add_acceleration(a, scene->shakings[i].acceleration, load_of(a, (*input)++));
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        const int64_t first = r->force_first[i], end = r->force_first[i + 1];
        if (force->object != a->object) continue;
        a->inputs[*input] = (modal_history_input){&force->curve, load_of(a, *input)};
        for (int64_t m = first; m < end; m++)
            add_force(a, r->points[r->sorted[r->members[m]]].first_vertex, force->vector, 1 / (double)(end - first), load_of(a, *input));
        ++*input;
    }
}

/* Of a frame that shifts along a spline. */
static void add_way(alone *a, int64_t *input, double **keys)
{
    const modal_spline *way = &a->run->splines[a->object];
    for (int axis = 0; axis < 3 && way->n > 0; axis++) {
        modal_curve *curve = &a->curves[a->n_curves++];
        double unit[3] = {axis == 0, axis == 1, axis == 2};
        *curve = (modal_curve){.kind = MODAL_CURVE_KEYS, .n_keys = way->n, .times = way->times, .values = *keys};
        for (int64_t i = 0; i < way->n; i++) curve->values[i] = way->bends[7 * i + axis];
        *keys += way->n;
        a->inputs[*input] = (modal_history_input){curve, load_of(a, *input)};
        add_acceleration(a, unit, load_of(a, (*input)++));
    }
}

/* The number of gusts that are followed, and how long. */
static int64_t count_gusts(const alone *a, double *duration)
{
    const modal_step_air *air = &a->run->air;
    double fastest = 0;
    for (int32_t i = 0; i < air->n_waves; i++) fastest = fmax(fastest, fabs(air->frequency[i]) / TURN);
    const double n = fmin(ceil(GUSTS * fastest * a->duration), MOST_GUSTS);
    if (n >= MOST_GUSTS) *duration = MOST_GUSTS / (GUSTS * fastest); /* the same goes on, and is as strong */
    return (int64_t)fmax(n, 1) + 1;
}

/* Of the air, a curve an axis: |v| v at the object's middle. */
static void add_wind(alone *a, int64_t *input, int64_t n_gusts, double *keys)
{
    const modal_scene_run *r = a->run;
    const modal_step_air *air = &r->air;
    const modal_surface *surface = &a->parts[0]->surface;
    const double *pose = r->bodies[a->object].pose;
    double middle[3] = {0}, total = 0, *times = keys;
    modal_curve *curves = a->curves + a->n_curves;
    for (int axis = 0; axis < 3; axis++) {
        curves[axis] = (modal_curve){.kind = MODAL_CURVE_KEYS, .n_keys = n_gusts, .times = times, .values = keys + (1 + axis) * n_gusts};
        a->inputs[*input + axis] = (modal_history_input){&curves[axis], load_of(a, *input + axis)};
    }
    for (int64_t i = 0; i < r->n_points; i++) {
        const modal_body_point *point = &r->points[i];
        if (point->object != a->object || !(point->drag > 0)) continue;
        const int64_t stride = 1 + point->n_vertices / PATCH_LOOKS, n = (point->n_vertices + stride - 1) / stride;
        for (int64_t v = 0; v < point->n_vertices; v += stride) {
            const double *x = surface->rest_positions + 3 * (point->first_vertex + v), share = point->drag / (double)n;
            for (int axis = 0; axis < 3; axis++) {
                const double unit[3] = {axis == 0, axis == 1, axis == 2};
                add_force(a, point->first_vertex + v, unit, share, load_of(a, *input + axis));
                middle[axis] += share * (pose[4 * axis] * x[0] + pose[4 * axis + 1] * x[1] + pose[4 * axis + 2] * x[2] + pose[4 * axis + 3]);
            }
            total += share;
        }
    }
    for (int64_t i = 0; i < n_gusts; i++) {
        double v[3];
        times[i] = (double)i / (double)(n_gusts - 1) * a->duration;
        memcpy(v, air->mean, sizeof v);
        for (int32_t w = 0; w < air->n_waves; w++) {
            double phase = air->phase[w] - air->frequency[w] * times[i];
            for (int axis = 0; axis < 3 && total > 0; axis++) phase += air->wave[w][axis] * middle[axis] / total;
            for (int axis = 0; axis < 3; axis++) v[axis] += air->amplitude[w][axis] * sin(phase);
        }
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int axis = 0; axis < 3; axis++) curves[axis].values[i] = speed * v[axis];
    }
    a->n_curves += 3;
    *input += 3;
}

static void set_oscillators(const alone *a)
{
    const modal_scene_run *r = a->run;
    const modal_body *body = &r->bodies[a->object];
    const modal_scene_object *said = r->said[a->object];
    double *stiffness = a->numbers, *damping = stiffness + a->n, *masses = damping + a->n, *q = masses + a->n, *v = q + a->n;
    for (int p = 0; p < 2; p++)
        for (int32_t k = 0; k < a->parts[p]->modes.n_modes; k++) {
            const double square = a->parts[p]->modes.eigenvalues[k];
            *stiffness++ = square;
            *damping++ = body->alpha + body->beta * square + 2 * body->ratio * sqrt(square);
            *masses++ = a->parts[p]->modes.modal_masses[k];
            if (p == 0 && said && k < said->n_initial) q[k] = said->initial[k];
            if (p == 0 && said && k < said->n_initial_velocity) v[k] = said->initial_velocity[k];
        }
}

int modal_scene_run_is_alone(const modal_scene_run *r, int32_t i, int has_children)
{
    const modal_body *body = &r->bodies[i];
    const modal_spline *way = &r->splines[i];
    if (has_children || (body->motion == MODAL_STEP_ATTACHED && r->s->basis->objects[i].parent >= 0)) return 0;
    return body->motion != MODAL_STEP_DRIVEN || (way->n > 0 && modal_spline_only_shifts(way));
}

modal_status modal_scene_run_left_alone(const modal_scene_run *r, int32_t object, const modal_shape *slow, double *part, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    const int32_t n_objects = r->s->basis->n_objects;
    alone a = {.run = r, .object = object, .parts = {&r->s->basis->shapes[r->s->basis->objects[object].shape], slow},
               .duration = modal_frame_time(r->s->n_frames - 1, scene->fps)};
    const int blows = scene->wind.given && scene->wind.density > 0 && scene->wind.drag > 0;
    int64_t n_gusts = 0, input = 0;
    modal_history_squares squares;
    *part = NAN;
    if (blows) n_gusts = count_gusts(&a, &a.duration);
    a.n = a.parts[0]->modes.n_modes + slow->modes.n_modes;
    a.n_inputs = scene->n_shakings + 3 * (r->splines[object].n > 0) + 3 * blows;
    for (int32_t i = 0; i < scene->n_forces; i++) a.n_inputs += scene->forces[i].object == object;
    MODAL_TRY(modal_alloc_zero(&a.numbers, (8 + a.n_inputs) * a.n, sizeof *a.numbers, "loads", err));
    MODAL_TRY(modal_alloc_zero(&a.inputs, a.n_inputs, sizeof *a.inputs, "loads", err));
    MODAL_TRY(modal_alloc_zero(&a.curves, 6, sizeof *a.curves, "loads", err));
    MODAL_TRY(modal_alloc(&a.keys, 3 * r->splines[object].n + 4 * n_gusts, sizeof *a.keys, "loads", err));
    double *keys = a.keys;
    set_oscillators(&a);
    add_scene_loads(&a, &input);
    add_way(&a, &input, &keys);
    if (blows) add_wind(&a, &input, n_gusts, keys);
    const int64_t looks = ALL_LOOKS / n_objects < LEAST_LOOKS ? LEAST_LOOKS : ALL_LOOKS / n_objects;
    const double *m = a.numbers;
    const modal_history history = {.n = a.n, .n_kept = a.parts[0]->modes.n_modes, .stiffness = m, .damping = m + a.n, .masses = m + 2 * a.n,
                                   .q = m + 3 * a.n, .v = m + 4 * a.n, .constant = m + 5 * a.n, .at_rest = scene->start_static,
                                   .n_inputs = input, .inputs = a.inputs, .duration = a.duration, .n_looks = looks < LOOKS ? looks : LOOKS};
    MODAL_TRY(modal_history_measure(&history, &squares, err));
    if (squares.known) *part = squares.left > 0 ? sqrt(squares.left / squares.all) : 0;
done:
    modal_free(&a.numbers);
    modal_free(&a.inputs);
    modal_free(&a.curves);
    modal_free(&a.keys);
    return status;
}
