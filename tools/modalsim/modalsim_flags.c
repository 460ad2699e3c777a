/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of the command line as a scene: linear objects that stand still. */
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/csv.h"
#include "lib/base/memory.h"
#include "lib/scene/loads.h"
#include "lib/scene/places.h"
#include "tools/modalsim/modalsim.h"

static void warn_of_free_bodies(tool *t, const modal_basis *basis)
{
    int n = 0, first = -1;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].modes.n_rigid_modes > 0 && n++ == 0) first = i;
    if (n == 0) return;
    tool_warn(t, "%s: object %d%s free; the rigid motion of a free body is not simulated, only its "
                 "deformation (a --scene moves it)", t->arguments.operands[0], first, n > 1 ? " and others are" : " is");
}

/* All objects stand still, also those that hang on others in the basis. */
static modal_status set_objects(const modal_basis *basis, modal_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&scene->objects, basis->n_objects, sizeof *scene->objects, "objects", err));
    scene->n_objects = basis->n_objects;
    for (int32_t i = 0; i < basis->n_objects; i++)
        scene->objects[i] = (modal_scene_object){.object = i, .place = i, .motion = MODAL_SCENE_FIXED, .model = -1};
done:
    return status;
}

static modal_status set_ground(tool *t, const modalsim_request *r, modal_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_series series = {0};
    if (!r->base_path) goto done;
    MODAL_TRY(modal_series_read_csv(r->base_path, 3, &series, err));
    const double first = series.times[0], last = series.times[series.n_rows - 1];
    /* the same as for impulses: what cannot have an effect is a mistake */
    if (last <= 0 || first > r->last_time || (first == r->last_time && first > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "%s: nothing of it acts, its times are %g .. %g s, the motion's 0 .. %g s",
                   r->base_path, first, last, r->last_time);
    if (last < r->last_time)
        tool_note(t, "%s: ends at %g s; the base acceleration is 0 from there to %g s", r->base_path,
                  last, r->last_time);
    MODAL_TRY(modal_scene_add_record(scene, series.n_rows, series.times, series.values, err));
done:
    modal_series_free(&series);
    return status;
}

static modal_status set_initial(const tool_arguments *a, const modal_basis *basis, modal_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *given = NULL;
    const int n = tool_count(a, "initial");
    int32_t most = INT32_MAX, of = 0; /* the object with the fewest modes */
    if (n == 0) goto done;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].modes.n_modes < most) {
            most = basis->shapes[basis->objects[i].shape].modes.n_modes;
            of = i;
        }
    MODAL_TRY(modal_alloc_zero(&given, most, 1, "initial amplitudes", err));
    for (int32_t k = 0; k < basis->n_objects; k++) {
        modal_scene_object *object = &scene->objects[k];
        const int32_t n_modes = basis->shapes[basis->objects[k].shape].modes.n_modes;
        MODAL_TRY(modal_alloc_zero(&object->initial, n_modes, sizeof(double), "initial amplitudes", err));
        object->n_initial = n_modes;
    }
    for (int i = 0; i < n; i++) {
        const char *text = tool_value_at(a, "initial", i), *end = NULL;
        int64_t mode = 0;
        double amplitude = 0;
        if (!modalsim_parse_index(text, &end, &mode) || *end != '=')
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: not MODE=AMPLITUDE, %s", text);
        MODAL_TRY(tool_parse_numbers(end + 1, 1, &amplitude, "--initial: amplitude", err));
        if (mode < 0 || mode >= most)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: object %d has modes 0 .. %d, %s", of, most - 1,
                       text);
        if (given[mode])
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: mode %lld is given twice, %s",
                       (long long)mode, text);
        given[mode] = 1;
        for (int32_t k = 0; k < basis->n_objects; k++) scene->objects[k].initial[mode] = amplitude;
    }
done:
    modal_free(&given);
    return status;
}

static modal_status set_impulses(tool *t, const modalsim_request *r, const modal_basis *basis, modal_scene *scene,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_object *object = &basis->objects[0];
    const modal_surface *surface = &basis->shapes[object->shape].surface;
    modal_scene_vertices at = {0};
    json_t *list = json_array();
    MODAL_TRY(modal_alloc_zero(&scene->forces, r->n_impulses, sizeof *scene->forces, "impulses", err));
    for (int i = 0; i < r->n_impulses; i++) {
        const modalsim_impulse *p = &r->impulses[i];
        modal_scene_force *force = &scene->forces[i];
        *force = (modal_scene_force){.place = i, .vertex = p->vertex, .curve = {.kind = MODAL_CURVE_PULSE, .start = p->time}};
        memcpy(force->point, p->point, sizeof p->point);
        memcpy(force->vector, p->impulse, sizeof p->impulse);
        at.n = 0;
        if (p->vertex >= 0 && modal_surface_stored_vertex(surface, p->vertex) < 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: object 0 has vertices 0 .. %lld, %s",
                       (long long)surface->n_vertices - 1, p->text);
        MODAL_TRY(modal_scene_force_vertices("--impulse", force, basis, object->rest_pose, &at, err));
        const double distance = at.distance;
        const int32_t vertex = surface->user_vertex[at.vertices[0]];
        if (p->vertex < 0)
            tool_note(t, "--impulse: vertex %d, %g m from the point, %s", vertex, distance, p->text);
        force->vertex = vertex;
        scene->n_forces++;
        json_array_append_new(list, json_pack("{s:i, s:f, s:f}", "vertex", vertex, "distance_m", distance, "time", p->time));
    }
    if (r->n_impulses > 0) json_object_set(t->report, "impulses", list);
done:
    modal_free(&at.vertices);
    json_decref(list);
    return status;
}

modal_status modalsim_flags_scene(tool *t, const modalsim_request *r, const modal_basis *basis, modal_scene *scene,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    *scene = modal_scene_default();
    scene->duration = r->last_time;
    scene->fps = r->fps > 0 ? r->fps : 1;
    scene->alpha = r->alpha;
    scene->beta = r->beta;
    scene->ratio = r->ratio > 0 ? r->ratio : 0;
    scene->start_static = r->start_static;
    memcpy(scene->gravity, r->gravity, sizeof scene->gravity);
    if (!r->plucks) warn_of_free_bodies(t, basis); /* a mode does not move a body as a whole */
    MODAL_TRY(set_objects(basis, scene, err));
    MODAL_TRY(set_ground(t, r, scene, err));
    MODAL_TRY(set_initial(&t->arguments, basis, scene, err));
    MODAL_TRY(set_impulses(t, r, basis, scene, err));
    for (int32_t i = 0; i < basis->n_objects; i++) MODAL_TRY(modal_scene_check_uncoupled(basis, i, err));
done:
    return status;
}
