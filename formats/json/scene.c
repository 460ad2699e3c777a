/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/scene_reader.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

static modal_status read_damping(const modal_json_place *place, double *alpha, double *beta, double *ratio,
                                 int *tangent)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    *alpha = *beta = *ratio = 0;
    *tangent = 0;
    MODAL_TRY(modal_json_object(place, "alpha beta ratio tangent"));
    MODAL_TRY(modal_json_optional_number(place, "alpha", 0, MODAL_SCENE_DAMPING, "1/s", alpha));
    MODAL_TRY(modal_json_optional_number(place, "beta", 0, MODAL_SCENE_DAMPING, "s", beta));
    MODAL_TRY(modal_json_optional_number(place, "ratio", 0, MODAL_SCENE_RATIO, "1", ratio));
    if (modal_json_member(place, "tangent", &member)) MODAL_TRY(modal_json_boolean(&member, tangent));
    if (*tangent && !(*beta > 0)) status = modal_json_wrong(&member, "there is no beta, whose stiffness it would be");
done:
    return status;
}

static modal_status read_model(const modal_json_place *place, int *stvk)
{
    const char *text = NULL;
    modal_status status = modal_json_text(place, &text);
    if (status != MODAL_OK) return status;
    *stvk = strcmp(text, "stvk") == 0;
    if (!*stvk && strcmp(text, "linear") != 0)
        return modal_json_wrong(place, "neither \"linear\" nor \"stvk\"");
    return MODAL_OK;
}

/* ---- objects ---- */

static modal_status read_motion(modal_scene_reader *r, const modal_json_place *place, modal_scene_object *o)
{
    modal_status status = MODAL_OK;
    modal_json_place member, inner;
    modal_series series = {0};
    if (json_is_string(place->value)) {
        const char *text = json_string_value(place->value);
        o->motion = strcmp(text, "fixed") == 0      ? MODAL_SCENE_FIXED
                    : strcmp(text, "free") == 0     ? MODAL_SCENE_FREE
                    : strcmp(text, "attached") == 0 ? MODAL_SCENE_ATTACHED
                                                    : MODAL_SCENE_DEFAULT;
        if (o->motion == MODAL_SCENE_DEFAULT)
            status = modal_json_wrong(place, "none of \"fixed\", \"free\", \"attached\"");
        goto done;
    }
    MODAL_TRY(modal_json_object(place, "spin keys file"));
    if (json_object_size(place->value) != 1) {
        status = modal_json_wrong(place, "needs exactly one of spin, keys, file");
        goto done;
    }
    if (modal_json_member(place, "spin", &member)) {
        double size;
        MODAL_TRY(modal_json_object(&member, "axis rate centre"));
        MODAL_TRY(modal_json_required(&member, "axis", &inner));
        MODAL_TRY(modal_json_vector(&inner, 3, "1", o->axis));
        size = hypot(hypot(o->axis[0], o->axis[1]), o->axis[2]);
        if (!(size > 0)) {
            status = modal_json_wrong(&inner, "has no direction");
            goto done;
        }
        for (int i = 0; i < 3; i++) o->axis[i] /= size;
        MODAL_TRY(modal_json_required(&member, "rate", &inner));
        MODAL_TRY(modal_json_number(&inner, -1e9, 1e9, "rad/s", &o->rate));
        MODAL_TRY(modal_json_optional_vector(&member, "centre", 3, "m", o->centre));
        o->motion = MODAL_SCENE_SPIN;
        goto done;
    }
    if (modal_json_member(place, "keys", &member)) {
        MODAL_TRY(modal_scene_read_rows(&member, 7, "s, m and rad", &o->keys, &o->n_keys));
    } else if (modal_json_member(place, "file", &member)) {
        MODAL_TRY(modal_scene_read_series(r, &member, 6, &series));
        MODAL_TRY(modal_alloc(&o->keys, 7 * series.n_rows, sizeof(double), "keys", r->source.err));
        o->n_keys = series.n_rows;
        for (int64_t i = 0; i < series.n_rows; i++) {
            o->keys[7 * i] = series.times[i];
            memcpy(o->keys + 7 * i + 1, series.values + 6 * i, 6 * sizeof(double));
        }
    }
    o->motion = MODAL_SCENE_KEYS;
done:
    modal_series_free(&series);
    return status;
}

static modal_status read_initial(const modal_json_place *object, const char *key, const char *unit,
                                 double **values, int32_t *n)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    if (!modal_json_member(object, key, &member)) goto done;
    MODAL_TRY(modal_json_array(&member, 1));
    const size_t count = json_array_size(member.value);
    if (count > 1 << 20) {
        status = modal_json_wrong(&member, "too many values");
        goto done;
    }
    MODAL_TRY(modal_alloc(values, (int64_t)count, sizeof(double), "initial values", object->source->err));
    MODAL_TRY(modal_json_vector(&member, (int)count, unit, *values));
    *n = (int32_t)count;
done:
    return status;
}

static modal_status read_object(modal_scene_reader *r, const modal_json_place *place, modal_scene_object *o)
{
    modal_status status = MODAL_OK;
    modal_json_place member, inner;
    int64_t index = 0;
    o->model = -1;
    const int still = r->scene->response.given;
    MODAL_TRY(modal_json_object(place, still ? "object pose_motion damping pose"
                                             : "object pose_motion model damping pose velocity angular_velocity initial "
                                               "initial_velocity charge"));
    MODAL_TRY(modal_json_required(place, "object", &member));
    MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX - 1, &index));
    o->object = (int32_t)index;
    if (modal_json_member(place, "pose_motion", &member)) {
        MODAL_TRY(read_motion(r, &member, o));
        if (still && o->motion != MODAL_SCENE_FIXED) {
            status = modal_json_wrong(&member, "a response is of \"fixed\" objects alone");
            goto done;
        }
    }
    if (modal_json_member(place, "model", &member)) MODAL_TRY(read_model(&member, &o->model));
    if (modal_json_member(place, "damping", &member)) {
        MODAL_TRY(read_damping(&member, &o->alpha, &o->beta, &o->ratio, &o->tangent));
        o->has_damping = 1;
    }
    if (modal_json_member(place, "pose", &member)) {
        MODAL_TRY(modal_json_object(&member, "position rotation"));
        MODAL_TRY(modal_json_required(&member, "position", &inner));
        MODAL_TRY(modal_json_vector(&inner, 3, "m", o->position));
        MODAL_TRY(modal_json_optional_vector(&member, "rotation", 3, "rad", o->rotation));
        o->has_pose = 1;
    }
    const char *const rates[] = {"velocity", "angular_velocity"};
    double *const to[] = {o->velocity, o->spin};
    for (int i = 0; i < 2; i++) {
        if (!modal_json_member(place, rates[i], &member)) continue;
        if (o->motion != MODAL_SCENE_FREE) {
            status = modal_json_wrong(&member, "only an object whose pose_motion is \"free\" has one");
            goto done;
        }
        MODAL_TRY(modal_json_vector(&member, 3, i ? "rad/s" : "m/s", to[i]));
    }
    if (modal_json_member(place, "charge", &member)) {
        MODAL_TRY(modal_json_number(&member, -1e30, 1e30, "", &o->charge));
        o->has_charge = 1;
    }
    MODAL_TRY(read_initial(place, "initial", "kg^1/2 m", &o->initial, &o->n_initial));
    MODAL_TRY(read_initial(place, "initial_velocity", "kg^1/2 m/s", &o->initial_velocity,
                           &o->n_initial_velocity));
done:
    return status;
}

static int compare_objects(const void *a, const void *b)
{
    const modal_scene_object *x = a, *y = b;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static modal_status read_objects(modal_scene_reader *r, const modal_json_place *place)
{
    modal_status status = MODAL_OK;
    size_t count;
    int32_t *lines = NULL;
    MODAL_TRY(modal_json_list(place, 0, SIZE_MAX, "objects", &r->scene->objects, sizeof *r->scene->objects, &count));
    MODAL_TRY(modal_scene_read_lines(place, &lines));
    for (size_t i = 0; i < count; i++) {
        modal_json_place item;
        modal_json_item(place, i, &item);
        r->scene->objects[i].place = (int32_t)i;
        r->scene->objects[i].line = lines[i];
        r->scene->n_objects++;
        MODAL_TRY(read_object(r, &item, &r->scene->objects[i]));
    }
    if (count > 1) qsort(r->scene->objects, count, sizeof *r->scene->objects, compare_objects);
    for (size_t i = 1; i < count; i++)
        if (r->scene->objects[i].object == r->scene->objects[i - 1].object) {
            const int32_t first = r->scene->objects[i - 1].place, second = r->scene->objects[i].place;
            modal_json_place item;
            modal_json_item(place, (size_t)second, &item);
            status = modal_json_wrong(&item, "object %d is there twice, in /objects/%d, too",
                                      r->scene->objects[i].object, first);
            goto done;
        }
done:
    modal_free(&lines);
    return status;
}

/* ---- the whole ---- */

static modal_status read_wind(const modal_json_place *place, modal_wind *wind)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    int64_t seed = 1;
    *wind = (modal_wind){.given = 1, .scale = 10, .density = 1.225, .drag = 1};
    MODAL_TRY(modal_json_object(place, "velocity turbulence scale seed density drag"));
    MODAL_TRY(modal_json_required(place, "velocity", &member));
    MODAL_TRY(modal_json_vector(&member, 3, "m/s", wind->velocity));
    MODAL_TRY(modal_json_optional_number(place, "turbulence", 0, 1e6, "m/s", &wind->turbulence));
    MODAL_TRY(modal_json_optional_number(place, "scale", 1e-6, 1e9, "m", &wind->scale));
    MODAL_TRY(modal_json_optional_number(place, "density", 0, 1e6, "kg/m^3", &wind->density));
    MODAL_TRY(modal_json_optional_number(place, "drag", 0, 1e6, "1", &wind->drag));
    if (modal_json_member(place, "seed", &member)) MODAL_TRY(modal_json_integer(&member, 0, INT64_MAX, &seed));
    wind->seed = (uint64_t)seed;
done:
    return status;
}

static modal_status read_attraction(const modal_json_place *place, modal_scene_attraction *to)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    to->given = 1;
    MODAL_TRY(modal_json_object(place, "strength softening"));
    MODAL_TRY(modal_json_required(place, "strength", &member));
    MODAL_TRY(modal_json_number(&member, -1e30, 1e30, "", &to->strength));
    MODAL_TRY(modal_json_optional_number(place, "softening", 0, 1e30, "m", &to->softening));
done:
    return status;
}

static modal_status read_newton(const modal_json_place *place, modal_scene *scene)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    int64_t iterations = scene->most_iterations, halvings = scene->most_halvings;
    MODAL_TRY(modal_json_object(place, "tolerance iterations max_halvings"));
    MODAL_TRY(modal_json_optional_number(place, "tolerance", 1e-13, 1e-2, "of the largest term",
                                         &scene->tolerance));
    if (modal_json_member(place, "iterations", &member))
        MODAL_TRY(modal_json_integer(&member, 1, 1000, &iterations));
    if (modal_json_member(place, "max_halvings", &member))
        MODAL_TRY(modal_json_integer(&member, 0, 20, &halvings));
    scene->most_iterations = (int32_t)iterations;
    scene->most_halvings = (int32_t)halvings;
done:
    return status;
}

static modal_status read_response(const modal_json_place *place, modal_scene_response *to)
{
    modal_status status = MODAL_OK;
    size_t count;
    int32_t *lines = NULL;
    modal_json_place member, item;
    to->given = 1;
    MODAL_TRY(modal_json_object(place, "from to points peaks acceleration acceleration_phase probes"));
    MODAL_TRY(modal_json_required(place, "from", &member));
    MODAL_TRY(modal_json_number(&member, 0, 1e12, "Hz", &to->from));
    MODAL_TRY(modal_json_required(place, "to", &member));
    MODAL_TRY(modal_json_number(&member, 0, 1e12, "Hz", &to->to));
    MODAL_TRY(modal_json_required(place, "points", &member));
    MODAL_TRY(modal_json_integer(&member, 1, 1000000, &to->n_points));
    if (to->n_points == 1 ? to->to != to->from : !(to->to > to->from)) {
        status = modal_json_wrong(place, "from %g to %g Hz, %lld points: `to` must be larger, or the same for one point",
                                  to->from, to->to, (long long)to->n_points);
        goto done;
    }
    to->peaks = 1;
    if (modal_json_member(place, "peaks", &member)) MODAL_TRY(modal_json_boolean(&member, &to->peaks));
    MODAL_TRY(modal_json_optional_vector(place, "acceleration", 3, "m/s^2", to->acceleration));
    MODAL_TRY(modal_json_optional_vector(place, "acceleration_phase", 3, "rad", to->acceleration_phase));
    if (!modal_json_member(place, "probes", &member)) goto done;
    MODAL_TRY(modal_json_list(&member, 1, SIZE_MAX, "probes", &to->probes, sizeof *to->probes, &count));
    MODAL_TRY(modal_scene_read_lines(&member, &lines));
    for (size_t i = 0; i < count; i++) {
        to->probes[i].place = (int32_t)i;
        to->probes[i].line = lines[i];
        modal_json_item(&member, i, &item);
        MODAL_TRY(modal_json_object(&item, "object vertex point"));
        MODAL_TRY(modal_scene_read_place(&item, 1, &to->probes[i]));
        to->n_probes++;
    }
done:
    modal_free(&lines);
    return status;
}

/* A scene with a response has no time: keys that would mean nothing are unknown to it. */
static modal_status read_response_root(modal_scene_reader *r, const modal_json_place *root, const modal_json_place *response)
{
    modal_status status = MODAL_OK;
    modal_scene *scene = r->scene;
    modal_json_place member;
    MODAL_TRY(modal_json_object(root, "response damping objects forces"));
    MODAL_TRY(read_response(response, &scene->response));
    if (modal_json_member(root, "damping", &member))
        MODAL_TRY(read_damping(&member, &scene->alpha, &scene->beta, &scene->ratio, &scene->tangent));
    if (modal_json_member(root, "objects", &member)) MODAL_TRY(read_objects(r, &member));
    MODAL_TRY(modal_scene_read_forces(r, root));
done:
    return status;
}

static modal_status read_root(modal_scene_reader *r, const modal_json_place *root)
{
    modal_status status = MODAL_OK;
    modal_scene *scene = r->scene;
    modal_json_place member;
    const char *text = NULL;
    if (json_is_object(root->value) && modal_json_member(root, "response", &member))
        return read_response_root(r, root, &member);
    MODAL_TRY(modal_json_object(root, "duration fps step model integrator spectral_radius tolerance newton damping gravity wind static "
                                      "attraction objects forces impulses base_accelerations"));
    MODAL_TRY(modal_json_required(root, "duration", &member));
    MODAL_TRY(modal_json_number(&member, 0, MODAL_SCENE_DURATION, "s", &scene->duration));
    MODAL_TRY(modal_json_required(root, "fps", &member));
    MODAL_TRY(modal_json_number(&member, MODAL_SCENE_LEAST_FPS, MODAL_SCENE_MOST_FPS, "1/s", &scene->fps));
    MODAL_TRY(modal_json_optional_number(root, "step", 1e-12, 1e9, "s", &scene->step));
    if (modal_json_member(root, "model", &member)) MODAL_TRY(read_model(&member, &scene->stvk));
    if (modal_json_member(root, "integrator", &member)) {
        MODAL_TRY(modal_json_text(&member, &text));
        scene->integrator = strcmp(text, "generalized-alpha") == 0 ? MODAL_SCENE_ALPHA
                            : strcmp(text, "newmark") == 0         ? MODAL_SCENE_NEWMARK
                            : strcmp(text, "energy") == 0          ? MODAL_SCENE_ENERGY
                                                                   : MODAL_SCENE_AUTO;
        if (scene->integrator == MODAL_SCENE_AUTO && strcmp(text, "auto") != 0) {
            status = modal_json_wrong(&member, "none of \"auto\", \"generalized-alpha\", \"newmark\", \"energy\"");
            goto done;
        }
    }
    if (modal_json_member(root, "spectral_radius", &member)) {
        MODAL_TRY(modal_json_number(&member, 0, 1, "1", &scene->spectral_radius));
        if (scene->integrator == MODAL_SCENE_NEWMARK || scene->integrator == MODAL_SCENE_ENERGY) {
            status = modal_json_wrong(&member, "of generalized-alpha, and \"integrator\" is another one");
            goto done;
        }
    }
    MODAL_TRY(modal_json_optional_number(root, "tolerance", 1e-9, 1e300, "1", &scene->balance));
    if (modal_json_member(root, "newton", &member)) MODAL_TRY(read_newton(&member, scene));
    if (modal_json_member(root, "damping", &member))
        MODAL_TRY(read_damping(&member, &scene->alpha, &scene->beta, &scene->ratio, &scene->tangent));
    MODAL_TRY(modal_json_optional_vector(root, "gravity", 3, "m/s^2", scene->gravity));
    if (modal_json_member(root, "static", &member)) MODAL_TRY(modal_json_boolean(&member, &scene->start_static));
    if (modal_json_member(root, "wind", &member)) MODAL_TRY(read_wind(&member, &scene->wind));
    if (modal_json_member(root, "attraction", &member)) MODAL_TRY(read_attraction(&member, &scene->attraction));
    if (modal_json_member(root, "objects", &member)) MODAL_TRY(read_objects(r, &member));
    MODAL_TRY(modal_scene_read_forces(r, root));
    if (modal_json_member(root, "base_accelerations", &member)) MODAL_TRY(modal_scene_read_shakings(r, &member));
done:
    return status;
}

modal_status modal_scene_parse(const char *text, size_t length, const char *path, modal_scene *scene,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scene_reader r = {.source = {path, NULL, err}, .scene = scene};
    modal_json_place root;
    *scene = modal_scene_default();
    MODAL_TRY(modal_json_open(&r.source, text, length, &root));
    MODAL_TRY(read_root(&r, &root));
done:
    modal_json_close(&r.source);
    if (status != MODAL_OK) modal_scene_free(scene);
    return status;
}

/* One value; *text becomes another, *length its. */
static modal_status change(const char *path, const char *set, char **text, int64_t *length, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_json_source source = {path, NULL, err};
    modal_json_place root;
    char *changed = NULL;
    MODAL_TRY(modal_json_open(&source, *text, (size_t)*length, &root));
    status = modal_json_set(source.text, set, &changed, err);
    if (status == MODAL_ERROR_USAGE) modal_error_context(err, "--set");
    if (status != MODAL_OK) goto done;
    modal_free(text);
    *text = changed;
    *length = (int64_t)strlen(changed);
done:
    modal_json_close(&source);
    return status;
}

modal_status modal_scene_read_changed(const char *path, int n_sets, const char *const *sets, modal_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *text = NULL;
    int64_t length = 0;
    memset(scene, 0, sizeof *scene);
    MODAL_TRY(modal_file_load(path, &text, &length, err));
    for (int i = 0; i < n_sets; i++) MODAL_TRY(change(path, sets[i], &text, &length, err));
    MODAL_TRY(modal_scene_parse(text, (size_t)length, path, scene, err));
done:
    modal_free(&text);
    return status;
}

modal_status modal_scene_read(const char *path, modal_scene *scene, modal_error *err)
{
    return modal_scene_read_changed(path, 0, NULL, scene, err);
}
