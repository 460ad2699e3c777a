/* SPDX-License-Identifier: Apache-2.0 */
/* What acts on the objects of a scene, and where. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/forest/forest_tables.h"
#include "lib/forest/simulate_private.h"
#include "lib/scene/loads.h"
#include "lib/scene/places.h"

enum { AIR_PATCHES = 4, PATCH_VERTICES = 128 };

/* ---- points where forces act ---- */

static modal_status add_point(modal_scene_run *r, int32_t object, int64_t first, int64_t count, double drag,
                              modal_error *err)
{
    modal_status status = modal_grow(&r->points, &r->point_capacity, r->n_points + 1, sizeof *r->points,
                                     "points", err);
    if (status == MODAL_OK)
        r->points[r->n_points++] = (modal_body_point){object, first, count, drag};
    return status;
}

static modal_status add_member(modal_scene_run *r, int32_t object, int64_t vertex, modal_error *err)
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

modal_status modal_scene_run_forces(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    modal_scene_vertices at = {0};
    MODAL_TRY(modal_alloc_zero(&r->force_first, (int64_t)scene->n_forces + 1, sizeof(int64_t), "forces", err));
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        r->force_first[i] = r->n_members;
        MODAL_TRY(modal_scene_check_object(list_of(force), force->place, force->line, force->object, basis, err));
        at.n = 0;
        MODAL_TRY(modal_scene_force_vertices(list_of(force), force, basis, r->bodies[force->object].pose, &at, err));
        if (!force->group && force->vertex < 0 && r->s->placed)
            r->s->placed(r->s->context, list_of(force), force, at.vertices[0], at.distance);
        for (int64_t v = 0; v < at.n; v++) MODAL_TRY(add_member(r, force->object, at.vertices[v], err));
    }
    r->force_first[scene->n_forces] = r->n_members;
done:
    modal_free(&at.vertices);
    return status;
}

/* Stored vertices are ordered for locality: runs of them are patches. A closed convex surface shows a
 * quarter of its area to a wind, on the average over the directions (Cauchy). */
modal_status modal_scene_run_patches(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_wind *wind = &r->s->scene->wind;
    const modal_basis *basis = r->s->basis;
    if (!wind->given) goto done;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        const int64_t n = shape->surface.n_vertices;
        const int64_t parts = n < 2 ? n : n >= AIR_PATCHES * PATCH_VERTICES ? AIR_PATCHES : 2 + n / (2 * PATCH_VERTICES);
        for (int64_t p = 0; p < parts; p++) {
            const int64_t first = n * p / parts, end = n * (p + 1) / parts;
            double area = 0;
            for (int64_t v = first; v < end; v++) area += modal_surface_vertex_area(&shape->surface, v);
            MODAL_TRY(add_point(r, i, first, end - first, 0.5 * wind->density * wind->drag * area / 4, err));
        }
    }
done:
    return status;
}

/* A free object's whole surface. */
modal_status modal_scene_run_attraction(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = r->s->basis;
    modal_attraction *a = &r->attraction;
    MODAL_TRY(modal_attraction_list(a, r->s->scene, basis, r->bodies, err));
    for (int32_t i = 0; i < a->n; i++) {
        a->points[i] = r->n_points; /* sorted below */
        MODAL_TRY(add_point(r, a->objects[i], 0, basis->shapes[basis->objects[a->objects[i]].shape].surface.n_vertices, 0, err));
    }
done:
    return status;
}

modal_status modal_scene_run_sort(modal_scene_run *r, modal_error *err)
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
    for (int32_t i = 0; i < r->attraction.n; i++) r->attraction.points[i] = r->sorted[r->attraction.points[i]];
    modal_free(&r->points);
    r->points = points;
    points = NULL;
done:
    modal_free(&points);
    modal_free(&next);
    return status;
}

/* ---- the part of the modal matrices that the scene needs ---- */

modal_status modal_scene_run_tiles(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = r->s->basis;
    int64_t *first = NULL, *list = NULL; /* [n_shapes + 1] of the shapes' tiles */
    uint8_t *wanted = NULL;
    if (!r->s->load_tiles) goto done;
    MODAL_TRY(modal_alloc_zero(&first, (int64_t)basis->n_shapes + 1, sizeof *first, "tiles", err));
    for (int32_t i = 0; i < basis->n_shapes; i++)
        first[i + 1] = first[i] + modal_tile_count(basis->shapes[i].surface.n_vertices);
    MODAL_TRY(modal_alloc_zero(&wanted, first[basis->n_shapes], 1, "tiles", err));
    MODAL_TRY(modal_alloc(&list, first[basis->n_shapes], sizeof *list, "tiles", err));
    for (int64_t i = 0; i < r->n_points; i++)
        for (int64_t v = 0; v < r->points[i].n_vertices; v++)
            wanted[first[basis->objects[r->points[i].object].shape] + (r->points[i].first_vertex + v) / MODAL_TILE] = 1;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_object *object = &basis->objects[i];
        if (r->bodies[i].motion != MODAL_STEP_ATTACHED || object->parent < 0) continue;
        const modal_object *parent = &basis->objects[object->parent];
        if (basis->shapes[parent->shape].modes.modal_matrix) continue;
        status = modal_forest_mark_interface(&basis->shapes[parent->shape], parent->rest_pose,
                                             &basis->shapes[object->shape], object->rest_pose,
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
        if (n > 0 && !basis->shapes[i].modes.modal_matrix) MODAL_TRY(r->s->load_tiles(r->s->context, i, n, list, err));
    }
done:
    modal_free(&first);
    modal_free(&list);
    modal_free(&wanted);
    return status;
}

modal_status modal_scene_run_idle(const modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *jump = NULL;
    for (int32_t i = 0; i < r->s->scene->n_forces; i++) {
        const modal_scene_force *force = &r->s->scene->forces[i];
        const modal_body *body = &r->bodies[force->object];
        const modal_shape *shape = &r->s->basis->shapes[r->s->basis->objects[force->object].shape];
        int acts = 0;
        if (body->motion == MODAL_STEP_FREE || body->motion == MODAL_STEP_ATTACHED) continue;
        MODAL_TRY(modal_alloc(&jump, shape->modes.n_modes, sizeof *jump, "forces", err));
        for (int64_t m = r->force_first[i]; m < r->force_first[i + 1] && shape->modes.n_modes > 0 && !acts; m++)
            acts = modal_impulse_jump(shape, body->pose, r->points[r->sorted[r->members[m]]].first_vertex, force->vector, jump);
        modal_free(&jump);
        if (!acts) MODAL_TRY(modal_scene_idle_force(list_of(force), force, err));
    }
done:
    modal_free(&jump);
    return status;
}

/* ---- loads of the exact objects ---- */

/* Adds the load, per modal mass, of an acceleration along an axis of the world. */
static void add_inertia(const modal_shape *shape, const double *pose, int axis, double acceleration, double *load)
{
    for (int32_t k = 0; k < shape->modes.n_modes; k++)
        for (int c = 0; c < 3; c++)
            load[k] -= acceleration * pose[4 * axis + c] * shape->modes.participation[3 * k + c] / shape->modes.modal_masses[k];
}

modal_status modal_scene_run_exact(modal_scene_run *r, double *q, double *v, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    double *jump = NULL;
    int64_t n_inputs = 0, n_loads = 0, most = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int64_t modes = basis->shapes[basis->objects[i].shape].modes.n_modes;
        const int axes = r->bodies[i].exact && r->splines[i].n > 0 ? 3 : 0;
        const int64_t inputs = axes + (r->bodies[i].exact ? scene->n_shakings : 0);
        n_inputs += inputs;
        n_loads += inputs * modes;
        if (modes > most) most = modes;
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        if (!r->bodies[scene->forces[i].object].exact) continue;
        n_inputs++;
        n_loads += basis->shapes[basis->objects[scene->forces[i].object].shape].modes.n_modes;
    }
    MODAL_TRY(modal_alloc_zero(&r->inputs, n_inputs, sizeof *r->inputs, "forces", err));
    MODAL_TRY(modal_alloc_zero(&r->exact_loads, n_loads, sizeof(double), "forces", err));
    MODAL_TRY(modal_alloc(&jump, most, sizeof(double), "forces", err));
    double *load = r->exact_loads;
    modal_exact_input *input = r->inputs;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        for (int axis = 0; axis < 3 && r->bodies[i].exact && r->splines[i].n > 0; axis++) {
            add_inertia(shape, r->bodies[i].pose, axis, 1, load);
            *input++ = (modal_exact_input){.object = i, .spline = &r->splines[i], .axis = axis, .load = load};
            load += shape->modes.n_modes;
        }
        for (int32_t shake = 0; shake < scene->n_shakings && r->bodies[i].exact; shake++) {
            for (int axis = 0; axis < 3; axis++)
                add_inertia(shape, r->bodies[i].pose, axis, scene->shakings[shake].acceleration[axis], load);
            *input++ = (modal_exact_input){.object = i, .curve = &scene->shakings[shake].curve, .load = load};
            load += shape->modes.n_modes;
        }
    }
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        const modal_shape *shape = &basis->shapes[basis->objects[force->object].shape];
        const int64_t first = r->force_first[i], end = r->force_first[i + 1];
        if (!r->bodies[force->object].exact) continue;
        for (int64_t m = first; m < end; m++) {
            modal_impulse_jump(shape, r->bodies[force->object].pose,
                               r->points[r->sorted[r->members[m]]].first_vertex, force->vector, jump);
            for (int32_t k = 0; k < shape->modes.n_modes; k++) load[k] += jump[k] / (double)(end - first);
        }
        *input++ = (modal_exact_input){.object = force->object, .curve = &force->curve, .load = load};
        load += shape->modes.n_modes;
    }
    modal_exact_setup setup = {.bodies = r->bodies, .splines = r->splines, .step = r->step,
                               .n_inputs = n_inputs, .inputs = r->inputs, .anew = r->s->anew};
    memcpy(setup.gravity, scene->gravity, sizeof setup.gravity);
    MODAL_TRY(modal_exact_new(&r->exact, basis, &setup, r->s->device, stream, q, v, err));
done:
    modal_free(&jump);
    return status;
}

/* ---- corners of the others' loads ---- */

/* An impulse is a triangle of the area 1 that begins at its time: as narrow as times are told apart well, so that what it
 * does within itself is a millionth of what the step does. Heights by the times as they are rounded. */
static void make_peak(double start, double step, double *peak, modal_curve *curve)
{
    const double half = fmax(1e-6 * step, 4096 * DBL_EPSILON * start);
    for (int i = 0; i < 3; i++) {
        peak[i] = start + i * half;
        peak[3 + i] = 0;
    }
    peak[4] = 2 / (peak[2] - peak[0]);
    *curve = (modal_curve){.kind = MODAL_CURVE_KEYS, .n_keys = 3, .times = peak, .values = peak + 3};
}

static modal_status add_corner(modal_scene_run *r, double time, int32_t object, modal_corner_kind kind, modal_error *err)
{
    if (!(time > 0) || time > modal_frame_time(r->s->n_frames - 1, r->s->scene->fps)) return MODAL_OK;
    return modal_corners_add(&r->corners, time, object, kind, err);
}

static modal_status add_curve(modal_scene_run *r, const modal_curve *c, int32_t object, int impulse, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (c->kind == MODAL_CURVE_SWEEP) {
        MODAL_TRY(add_corner(r, c->start, object, MODAL_CORNER_JUMP, err));
        MODAL_TRY(add_corner(r, c->end, object, MODAL_CORNER_JUMP, err));
    }
    for (int64_t i = 0; i < (c->kind == MODAL_CURVE_KEYS ? c->n_keys : 0); i++) {
        const int jump = (i == 0 || i == c->n_keys - 1) && c->values[i] != 0;
        MODAL_TRY(add_corner(r, c->times[i], object,
                             jump ? MODAL_CORNER_JUMP : impulse ? MODAL_CORNER_SHARP : MODAL_CORNER_KINK, err));
    }
done:
    return status;
}

modal_status modal_scene_run_corners(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene *scene = r->s->scene;
    MODAL_TRY(modal_alloc_zero(&r->curves, scene->n_forces, sizeof *r->curves, "forces", err));
    MODAL_TRY(modal_alloc(&r->peaks, 6 * (int64_t)scene->n_forces, sizeof(double), "forces", err));
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        const int impulse = force->curve.kind == MODAL_CURVE_PULSE;
        r->curves[i] = force->curve;
        if (impulse) make_peak(force->curve.start, r->step, r->peaks + 6 * (int64_t)i, &r->curves[i]);
        if (!r->bodies[force->object].exact) MODAL_TRY(add_curve(r, &r->curves[i], force->object, impulse, err));
    }
    for (int32_t i = 0; i < scene->n_shakings && modal_forest_trees(r->forest) > 0; i++)
        MODAL_TRY(add_curve(r, &scene->shakings[i].curve, -1, 0, err));
    for (int32_t i = 0; i < r->s->basis->n_objects; i++) {
        const modal_spline *spline = &r->splines[i];
        for (int64_t k = 0; k < (r->bodies[i].exact || spline->n < 2 ? 0 : spline->n); k++)
            MODAL_TRY(add_corner(r, spline->times[k], i,
                                 k == 0 || k == spline->n - 1 ? MODAL_CORNER_JUMP : MODAL_CORNER_KINK, err));
    }
    MODAL_TRY(modal_corners_sort(&r->corners, r->forest, err));
done:
    return status;
}

/* ---- loads ---- */

void modal_scene_run_loads(void *context, double time, double near, double *forces)
{
    modal_scene_run *r = context;
    const modal_scene *scene = r->s->scene;
    memset(forces, 0, (size_t)(3 * r->n_points) * sizeof(double));
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const int64_t first = r->force_first[i], end = r->force_first[i + 1];
        const double value = modal_curve_value(&r->curves[i], time, near) / (double)(end - first);
        for (int64_t m = first; m < end; m++)
            for (int c = 0; c < 3; c++)
                forces[3 * (int64_t)r->sorted[r->members[m]] + c] += value * scene->forces[i].vector[c];
    }
    modal_attraction_add(&r->attraction, r->forest, r->s->basis, time, forces);
}

void modal_scene_run_gravity(void *context, double time, double near, double *gravity)
{
    const modal_scene_run *r = context;
    const modal_scene *scene = r->s->scene;
    memcpy(gravity, scene->gravity, sizeof scene->gravity);
    for (int32_t i = 0; i < scene->n_shakings; i++)
        for (int c = 0; c < 3; c++)
            gravity[c] -= modal_curve_value(&scene->shakings[i].curve, time, near) * scene->shakings[i].acceleration[c];
}
