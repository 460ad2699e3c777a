/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/look_write.h"

#include <string.h>

#include "formats/json/json_text.h"

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

static void set_numbers(json_t *object, const char *key, const double *values, const double *unless)
{
    if (unless && memcmp(values, unless, 3 * sizeof *values) == 0) return;
    json_t *list = json_array();
    for (int k = 0; k < 3; k++) json_array_append_new(list, json_real(values[k]));
    set(object, key, list);
}

static json_t *material_json(const modal_look_material *m)
{
    static const double white[3] = {1, 1, 1}, black[3] = {0, 0, 0};
    const modal_look_material *d = &modal_look_default;
    json_t *o = json_object();
    set_numbers(o, "diffuse", m->diffuse, m->image || m->octree ? white : d->diffuse);
    set_numbers(o, "ambient", m->ambient, m->diffuse);
    set_numbers(o, "specular", m->specular, black);
    if (m->shininess != d->shininess) set(o, "shininess", json_real(m->shininess));
    if (m->opacity != d->opacity) set(o, "opacity", json_real(m->opacity));
    if (m->alpha != d->alpha) set(o, "alpha", json_string(modal_alpha_names[m->alpha]));
    if (m->cutoff != d->cutoff) set(o, "cutoff", json_real(m->cutoff));
    if (m->two_sided) set(o, "two_sided", json_true());
    if (m->image) set(o, "image", modal_json_string(m->image));
    if (m->normal_image) set(o, "normal_image", modal_json_string(m->normal_image));
    if (m->octree) set(o, "octree", modal_json_string(m->octree));
    if (m->normal_octree) set(o, "normal_octree", modal_json_string(m->normal_octree));
    if (m->wrap != d->wrap) set(o, "wrap", json_string(modal_wrap_names[m->wrap]));
    return o;
}

static json_t *runs_json(const modal_look *look, const modal_look_shape *s)
{
    json_t *runs = json_array();
    for (int64_t i = 0; i < s->n_runs; i++) {
        json_t *run = json_object();
        set(run, "first", json_integer(s->runs[i].first));
        set(run, "count", json_integer(s->runs[i].count));
        set(run, "material", modal_json_string(look->materials[s->runs[i].material].name));
        json_array_append_new(runs, run);
    }
    return runs;
}

char *modal_look_text(const modal_look *look)
{
    json_t *root = json_object(), *materials = json_object();
    set(root, "look", json_integer(1));
    for (int32_t i = 0; i < look->n_materials; i++) {
        json_t *name = modal_json_string(look->materials[i].name);
        const char *key = json_string_value(name);
        if (key) set(materials, key, material_json(&look->materials[i]));
        json_decref(name);
    }
    set(root, "materials", materials);
    if (look->default_material >= 0) set(root, "default", modal_json_string(look->materials[look->default_material].name));
    if (look->n_shapes > 0) {
        json_t *shapes = json_array();
        for (int32_t i = 0; i < look->n_shapes; i++) {
            const modal_look_shape *s = &look->shapes[i];
            json_t *o = json_object();
            set(o, "shape", s->name ? modal_json_string(s->name) : json_integer(s->shape));
            if (s->material >= 0) set(o, "material", modal_json_string(look->materials[s->material].name));
            if (s->n_runs > 0) set(o, "ranges", runs_json(look, s));
            json_array_append_new(shapes, o);
        }
        set(root, "shapes", shapes);
    }
    if (look->n_uv > 0) {
        json_t *uv = json_array();
        for (int32_t i = 0; i < look->n_uv; i++) json_array_append_new(uv, modal_json_string(look->uv[i]));
        set(root, "uv", uv);
    }
    char *text = modal_json_dump(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15), 0);
    json_decref(root);
    return text;
}
