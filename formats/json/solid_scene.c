/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/solid_scene.h"

#include <math.h>
#include <string.h>

#include "formats/json/scene_reader.h"
#include "formats/json/solid_scene_parts.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

typedef struct reader {
    modal_scene_reader shared; /* its scene only collects the files that are read */
    modal_solid_scene *scene;
} reader;

enum { MOST_STEPS_BITS = 52 };
static const int64_t most_steps = (int64_t)1 << MOST_STEPS_BITS;

static modal_status copy_text(const modal_json_place *place, char **to)
{
    const char *text = NULL;
    modal_status status = modal_json_text(place, &text);
    if (status == MODAL_OK && !*text) status = modal_json_wrong(place, "is empty");
    return status == MODAL_OK ? modal_copy_text(to, text, SIZE_MAX, place->source->err) : status;
}

static modal_status read_curve_of(reader *r, const modal_json_place *item, modal_curve *curve)
{
    modal_json_place member;
    return modal_json_member(item, "curve", &member) ? modal_scene_read_curve(&r->shared, &member, 1, curve) : MODAL_OK;
}

/* A file of forces: node, fx, fy, fz. */
static modal_status read_rows(reader *r, const modal_json_place *file, modal_solid_action *a)
{
    modal_status status = MODAL_OK;
    modal_series list = {0};
    MODAL_TRY(modal_scene_read_list(&r->shared, file, 3, &list));
    a->n_rows = list.n_rows;
    a->tags = list.times;
    a->rows = list.values;
    list.times = list.values = NULL;
done:
    modal_series_free(&list);
    return status;
}

static modal_status read_components(const modal_json_place *place, modal_solid_action *a)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_json_array(place, 3));
    if (json_array_size(place->value) != 3) {
        status = modal_json_wrong(place, "must be three numbers or null");
        goto done;
    }
    for (int c = 0; c < 3; c++) {
        modal_json_place item;
        modal_json_item(place, (size_t)c, &item);
        if (json_is_null(item.value)) continue;
        MODAL_TRY(modal_json_number(&item, -1e9, 1e9, "m", &a->vector[c]));
        a->components |= (uint8_t)(1 << c);
    }
    if (!a->components) status = modal_json_wrong(place, "displaces nothing");
done:
    return status;
}

static modal_status read_flag(const modal_json_place *object, const char *key, int *value)
{
    modal_json_place member;
    return modal_json_member(object, key, &member) ? modal_json_boolean(&member, value) : MODAL_OK;
}

static modal_status read_action(reader *r, const modal_json_place *place, modal_solid_action *a)
{
    static const char *const keys[MODAL_SOLID_ACTIONS] = {"nodes force each file curve", "nodes pressure follower curve",
                                                          "nodes displacement curve", "nodes name"};
    modal_status status = MODAL_OK;
    modal_json_place member;
    MODAL_TRY(modal_json_object(place, keys[a->kind]));
    if (a->kind == MODAL_SOLID_FORCE && modal_json_member(place, "file", &member)) {
        if (json_object_get(place->value, "nodes") || json_object_get(place->value, "force") ||
            json_object_get(place->value, "each")) {
            status = modal_json_wrong(place, "a file says nodes and forces itself");
            goto done;
        }
        MODAL_TRY(read_rows(r, &member, a));
        MODAL_TRY(read_curve_of(r, place, &a->curve));
        goto done;
    }
    MODAL_TRY(modal_json_required(place, "nodes", &member));
    MODAL_TRY(copy_text(&member, &a->nodes));
    if (a->kind == MODAL_SOLID_PROBE) {
        MODAL_TRY(modal_json_required(place, "name", &member));
        MODAL_TRY(copy_text(&member, &a->name));
        if (strpbrk(a->name, "\n\r")) status = modal_json_wrong(&member, "has more than one line");
        goto done;
    }
    MODAL_TRY(modal_json_required(place, a->kind == MODAL_SOLID_FORCE      ? "force"
                                         : a->kind == MODAL_SOLID_PRESSURE ? "pressure"
                                                                           : "displacement", &member));
    if (a->kind == MODAL_SOLID_FORCE) MODAL_TRY(modal_json_vector(&member, 3, "N", a->vector));
    if (a->kind == MODAL_SOLID_PRESSURE) MODAL_TRY(modal_json_number(&member, -1e15, 1e15, "Pa", a->vector));
    if (a->kind == MODAL_SOLID_DISPLACEMENT) MODAL_TRY(read_components(&member, a));
    MODAL_TRY(read_flag(place, "each", &a->each));
    MODAL_TRY(read_flag(place, "follower", &a->follows));
    MODAL_TRY(read_curve_of(r, place, &a->curve));
done:
    return status;
}

static modal_status read_actions(reader *r, const modal_json_place *root)
{
    modal_status status = MODAL_OK;
    modal_solid_scene *s = r->scene;
    int64_t capacity = 0;
    int32_t *lines = NULL;
    for (int kind = 0; kind < MODAL_SOLID_ACTIONS; kind++) {
        modal_json_place list, item;
        if (!modal_json_member(root, modal_solid_lists[kind], &list)) continue;
        MODAL_TRY(modal_json_array(&list, 0));
        modal_free(&lines);
        MODAL_TRY(modal_scene_read_lines(&list, &lines));
        for (size_t i = 0; i < json_array_size(list.value); i++) {
            MODAL_TRY(modal_grow(&s->actions, &capacity, (int64_t)s->n_actions + 1, sizeof *s->actions, "what acts",
                                 list.source->err));
            modal_solid_action *a = &s->actions[s->n_actions++];
            *a = (modal_solid_action){.kind = (modal_solid_action_kind)kind, .place = (int32_t)i, .line = lines[i]};
            modal_json_item(&list, i, &item);
            MODAL_TRY(read_action(r, &item, a));
        }
    }
done:
    modal_free(&lines);
    return status;
}

static modal_status read_frames(const modal_json_place *root, modal_solid_scene *s)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const int n = modal_json_member(root, "fps", &member) + modal_json_member(root, "every", &member) +
                  modal_json_member(root, "at_steps", &member);
    if (n != 1) {
        status = modal_json_wrong(root, "needs exactly one of fps, every, at_steps");
        goto done;
    }
    if (modal_json_member(root, "fps", &member)) {
        s->frames_line = modal_json_line(&member);
        MODAL_TRY(modal_json_number(&member, 1e-9, 1e12, "1/s", &s->fps));
        if (s->n_steps) {
            status = modal_json_wrong(&member, "goes with duration, not with steps");
            goto done;
        }
    }
    if (modal_json_member(root, "every", &member)) {
        s->frames_line = modal_json_line(&member);
        MODAL_TRY(modal_json_integer(&member, 1, most_steps, &s->every));
    }
    if (!modal_json_member(root, "at_steps", &member)) goto done;
    s->frames_line = modal_json_line(&member);
    MODAL_TRY(modal_json_array(&member, 1));
    const int64_t count = (int64_t)json_array_size(member.value);
    MODAL_TRY(modal_alloc(&s->at, count, sizeof *s->at, "frames", root->source->err));
    for (int64_t i = 0; i < count; i++) {
        modal_json_place item;
        modal_json_item(&member, (size_t)i, &item);
        MODAL_TRY(modal_json_integer(&item, 0, most_steps, &s->at[i]));
        if (i > 0 && s->at[i] <= s->at[i - 1]) {
            status = modal_json_wrong(&item, "numbers of steps must increase");
            goto done;
        }
        if (s->n_steps && s->at[i] > s->n_steps) {
            status = modal_json_wrong(&item, "after the last of %lld steps", (long long)s->n_steps);
            goto done;
        }
    }
    s->n_at = count;
done:
    return status;
}

static modal_status read_time(const modal_json_place *root, modal_solid_scene *s)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *text = NULL;
    if (s->steady) {
        MODAL_TRY(modal_json_required(root, "duration", &member));
        s->frames_line = modal_json_line(&member);
        MODAL_TRY(modal_json_number(&member, 1e-18, 1e9, "s", &s->duration));
        goto done;
    }
    MODAL_TRY(modal_json_required(root, "step", &member));
    s->step_line = modal_json_line(&member);
    if (json_is_string(member.value)) {
        MODAL_TRY(modal_json_text(&member, &text));
        if (strcmp(text, "auto") != 0) {
            status = modal_json_wrong(&member, "must be a number or \"auto\"");
            goto done;
        }
    } else {
        MODAL_TRY(modal_json_number(&member, 1e-18, 1e9, "s", &s->step));
    }
    const int by_steps = modal_json_member(root, "steps", &member);
    if (by_steps) MODAL_TRY(modal_json_integer(&member, 1, most_steps, &s->n_steps));
    if (modal_json_member(root, "duration", &member) == by_steps) {
        status = modal_json_wrong(root, "needs either steps or duration");
        goto done;
    }
    if (!by_steps) MODAL_TRY(modal_json_number(&member, 0, 1e9, "s", &s->duration));
    MODAL_TRY(read_frames(root, s));
done:
    return status;
}

/* "until": "steady": the solver chooses masses, damping and steps, so that keys of these mean nothing. */
static modal_status read_until(const modal_json_place *root, modal_solid_scene *s)
{
    static const char *const others[] = {"step", "steps", "fps", "every", "at_steps", "damping", "mass_scaling"};
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *text = NULL;
    if (!modal_json_member(root, "until", &member)) {
        if (modal_json_member(root, "accuracy", &member)) status = modal_json_wrong(&member, "goes with until");
        return status;
    }
    MODAL_TRY(modal_json_text(&member, &text));
    if (strcmp(text, "steady") != 0) {
        status = modal_json_wrong(&member, "must be \"steady\"");
        goto done;
    }
    s->steady = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (modal_json_member(root, others[i], &member)) {
            status = modal_json_wrong(&member, "has no meaning with until");
            goto done;
        }
    MODAL_TRY(modal_json_optional_number(root, "accuracy", 1e-12, 0.1, "1", &s->accuracy));
done:
    return status;
}

static modal_status read_mass_scaling(const modal_json_place *root, modal_solid_scene *s)
{
    modal_status status = MODAL_OK;
    modal_json_place scaling, member;
    if (!modal_json_member(root, "mass_scaling", &scaling)) return MODAL_OK;
    s->scaled_line = modal_json_line(&scaling);
    MODAL_TRY(modal_json_object(&scaling, "step limit"));
    MODAL_TRY(modal_json_required(&scaling, "step", &member));
    MODAL_TRY(modal_json_number(&member, 1e-18, 1e9, "s", &s->scaled_step));
    MODAL_TRY(modal_json_required(&scaling, "limit", &member));
    MODAL_TRY(modal_json_number(&member, 0, 100, "1", &s->scaled_limit));
done:
    return status;
}

static modal_status check_model(const modal_json_place *place, const char *name)
{
    if (strcmp(name, "neo_hookean") != 0 && strcmp(name, "logarithmic") != 0 && strcmp(name, "stvk") != 0)
        return modal_json_wrong(place, "none of \"neo_hookean\", \"logarithmic\", \"stvk\"");
    return MODAL_OK;
}

static modal_status read_models(const modal_json_place *root, modal_solid_scene *s)
{
    modal_status status = MODAL_OK;
    modal_json_place member, item;
    const char *key;
    json_t *value;
    if (modal_json_member(root, "law", &member)) {
        MODAL_TRY(copy_text(&member, &s->model));
        MODAL_TRY(check_model(&member, s->model));
    }
    if (!modal_json_member(root, "laws", &member)) goto done;
    if (!json_is_object(member.value)) {
        status = modal_json_wrong(&member, "must be an object of groups and laws");
        goto done;
    }
    const int64_t count = (int64_t)json_object_size(member.value);
    MODAL_TRY(modal_alloc_zero(&s->model_groups, count, sizeof(char *), "laws", root->source->err));
    MODAL_TRY(modal_alloc_zero(&s->models, count, sizeof(char *), "laws", root->source->err));
    MODAL_TRY(modal_alloc_zero(&s->model_lines, count, sizeof *s->model_lines, "laws", root->source->err));
    json_object_foreach(member.value, key, value)
    {
        const int32_t i = s->n_models++;
        modal_json_member(&member, key, &item);
        s->model_lines[i] = modal_json_line(&item);
        MODAL_TRY(modal_copy_text(&s->model_groups[i], key, SIZE_MAX, root->source->err));
        MODAL_TRY(copy_text(&item, &s->models[i]));
        MODAL_TRY(check_model(&item, s->models[i]));
    }
done:
    return status;
}

static modal_status read_gradients(const modal_json_place *root, int *centre)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *text;
    if (!modal_json_member(root, "hex8_gradients", &member)) return MODAL_OK;
    MODAL_TRY(modal_json_text(&member, &text));
    *centre = strcmp(text, "centre") == 0;
    if (!*centre && strcmp(text, "mean") != 0) status = modal_json_wrong(&member, "none of \"mean\", \"centre\"");
done:
    return status;
}

static modal_status read_gravity(reader *r, const modal_json_place *place)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    if (!json_is_object(place->value)) return modal_json_vector(place, 3, "m/s^2", r->scene->gravity);
    MODAL_TRY(modal_json_object(place, "acceleration curve"));
    MODAL_TRY(modal_json_required(place, "acceleration", &member));
    MODAL_TRY(modal_json_vector(&member, 3, "m/s^2", r->scene->gravity));
    MODAL_TRY(read_curve_of(r, place, &r->scene->gravity_curve));
done:
    return status;
}

/* Of an action or, after them, a contact; NULL: it has none. */
static const char *name_of(const modal_solid_scene *s, int32_t i)
{
    return i < s->n_actions ? s->actions[i].name : s->contacts[i - s->n_actions].name;
}

/* Columns and datasets of probes are found by their names. */
static modal_status check_names(const modal_json_place *root, const modal_solid_scene *s)
{
    for (int32_t i = 0; i < s->n_actions + s->n_contacts; i++)
        for (int32_t k = 0; k < i && name_of(s, i); k++)
            if (name_of(s, k) && strcmp(name_of(s, i), name_of(s, k)) == 0)
                return modal_json_wrong(root, "two probes or contacts have one name, %s", name_of(s, i));
    return MODAL_OK;
}

static modal_status read_root(reader *r, const modal_json_place *root)
{
    modal_status status = MODAL_OK;
    modal_solid_scene *s = r->scene;
    modal_json_place member;
    MODAL_TRY(modal_json_object(root, "step steps duration fps every at_steps until accuracy mass_scaling law laws "
                                      "nodal_pressure mean_patches hex8_gradients hourglass damping gravity forces pressures displacements contacts probes"));
    MODAL_TRY(read_until(root, s));
    MODAL_TRY(read_time(root, s));
    MODAL_TRY(read_mass_scaling(root, s));
    MODAL_TRY(read_models(root, s));
    MODAL_TRY(read_flag(root, "nodal_pressure", &s->nodal_pressure));
    MODAL_TRY(read_flag(root, "mean_patches", &s->mean_patches));
    if (s->nodal_pressure && s->mean_patches)
        MODAL_TRY(modal_json_wrong(root, "nodal_pressure and mean_patches are both true; tetrahedra have one of them"));
    MODAL_TRY(read_gradients(root, &s->hex8_centre));
    MODAL_TRY(modal_json_optional_number(root, "hourglass", 0, 1, "1", &s->hourglass));
    if (modal_json_member(root, "damping", &member)) {
        MODAL_TRY(modal_json_object(&member, "alpha"));
        MODAL_TRY(modal_json_optional_number(&member, "alpha", 0, 1e12, "1/s", &s->alpha));
    }
    if (modal_json_member(root, "gravity", &member)) MODAL_TRY(read_gravity(r, &member));
    MODAL_TRY(read_actions(r, root));
    MODAL_TRY(modal_solid_read_contacts(root, s));
    MODAL_TRY(check_names(root, s));
done:
    return status;
}

modal_status modal_solid_scene_parse(const char *text, size_t length, const char *path, modal_solid_scene *scene,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scene files = {0};
    reader r = {.shared = {.source = {path, NULL, err}, .scene = &files}, .scene = scene};
    modal_json_place root;
    *scene = (modal_solid_scene){.hourglass = -1, .accuracy = 1e-6};
    MODAL_TRY(modal_json_open(&r.shared.source, text, length, &root));
    status = read_root(&r, &root);
    scene->n_files = files.n_files;
    scene->files = files.files;
    files.files = NULL, files.n_files = 0;
done:
    modal_json_close(&r.shared.source);
    if (status != MODAL_OK) modal_solid_scene_free(scene);
    return status;
}

modal_status modal_solid_scene_read(const char *path, modal_solid_scene *scene, modal_error *err)
{
    char *text = NULL;
    int64_t length = 0;
    memset(scene, 0, sizeof *scene);
    modal_status status = modal_file_load(path, &text, &length, err);
    if (status == MODAL_OK) status = modal_solid_scene_parse(text, (size_t)length, path, scene, err);
    modal_free(&text);
    return status;
}
