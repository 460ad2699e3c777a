/* SPDX-License-Identifier: Apache-2.0 */
/* The description in a GLB: one mesh a shape, one node an object, one animation. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/glb_parts.h"

static const int FLOATS = 5126, INTEGERS = 5125;

static int components_of(const glb_array *a)
{
    return a->type[0] == 'S' ? 1 : a->type[3] - '0';
}

static json_t *reals(const float *values, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_real((double)values[i]));
    return list;
}

static json_t *accessors(const glb_scene *g)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < g->n_arrays; i++) {
        const glb_array *a = &g->arrays[i];
        json_t *one = json_pack("{s:I, s:i, s:I, s:s}", "bufferView", (json_int_t)i, "componentType",
                                a->integers ? INTEGERS : FLOATS, "count", (json_int_t)a->count, "type",
                                a->type);
        if (a->ranges) {
            json_object_set_new(one, "min", reals(a->least, components_of(a)));
            json_object_set_new(one, "max", reals(a->most, components_of(a)));
        }
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *views(const glb_scene *g)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < g->n_arrays; i++) {
        const glb_array *a = &g->arrays[i];
        json_t *one = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)a->offset,
                                "byteLength", (json_int_t)(4 * components_of(a) * a->count));
        if (a->buffer_target) json_object_set_new(one, "target", json_integer(a->buffer_target));
        json_array_append_new(list, one);
    }
    for (int32_t i = 0; g->look.in && i < g->look.in->n_images; i++)
        json_array_append_new(list, json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)g->image_places[i], "byteLength",
                                              (json_int_t)g->look.in->images[i].length));
    return list;
}

/* Weights of the rest pose: q = 0. */
static json_t *rest_weights(const glb_shape *s)
{
    json_t *list = json_array();
    for (int32_t k = 0; k < s->n_targets; k++)
        json_array_append_new(list, json_real(-s->low[s->modes[k]] / s->spread[s->modes[k]]));
    return list;
}

/* The triangles of a shape, all of them or those of one material; material -1: none. */
static json_t *primitive_json(const glb_scene *g, const glb_shape *s, int64_t indices, int32_t material)
{
    const int normals = g->info->target_normals;
    json_t *primitive = json_pack("{s:{s:I}, s:I}", "attributes", "POSITION", (json_int_t)(s->first_array + 1), "indices", (json_int_t)indices);
    json_t *attributes = json_object_get(primitive, "attributes");
    if (normals) json_object_set_new(attributes, "NORMAL", json_integer(modal_glb_normals_array(s)));
    if (s->uv >= 0) json_object_set_new(attributes, "TEXCOORD_0", json_integer(s->uv));
    if (s->colour >= 0) json_object_set_new(attributes, "COLOR_0", json_integer(s->colour));
    if (material >= 0) json_object_set_new(primitive, "material", json_integer(material));
    if (s->n_targets == 0) return primitive;
    json_t *targets = json_array();
    for (int32_t k = 0; k < s->n_targets; k++) {
        json_t *target = json_pack("{s:I}", "POSITION", (json_int_t)(s->first_array + 2 + k));
        if (normals > 1) json_object_set_new(target, "NORMAL", json_integer(modal_glb_normals_array(s) + 1 + k));
        json_array_append_new(targets, target);
    }
    json_object_set_new(primitive, "targets", targets);
    return primitive;
}

/* A shape, or a variant of it. */
static json_t *mesh_json(const glb_scene *g, int32_t shape, const glb_mesh *variant)
{
    const glb_shape *s = &g->shapes[shape];
    json_t *primitives = json_array();
    if (!variant) json_array_append_new(primitives, primitive_json(g, s, s->first_array, -1));
    for (int32_t k = 0; variant && k < variant->n_primitives; k++) {
        const glb_primitive *p = &g->look.primitives[variant->first_primitive + k];
        json_array_append_new(primitives, primitive_json(g, s, p->array, p->paint));
    }
    json_t *mesh = json_pack("{s:o}", "primitives", primitives);
    const char *name = g->basis->shapes[shape].name;
    /* One that is no UTF-8 is left out: json_string gives NULL, which is not set. */
    if (name && name[0]) json_object_set_new(mesh, "name", json_string(name));
    if (s->n_targets > 0) {
        json_t *names = json_array();
        for (int32_t k = 0; k < s->n_targets; k++) json_array_append_new(names, json_sprintf("mode %d", s->modes[k]));
        json_object_set_new(mesh, "weights", rest_weights(s));
        json_object_set_new(mesh, "extras", json_pack("{s:o}", "targetNames", names));
    }
    return mesh;
}

/* mesh_of [n_shapes]; with a look meshes are its variants, and nobody asks. */
static json_t *meshes(const glb_scene *g, int64_t *mesh_of)
{
    json_t *list = json_array();
    for (int32_t i = 0; !g->look.in && i < g->basis->n_shapes; i++) {
        if (!g->shapes[i].used) continue;
        mesh_of[i] = (int64_t)json_array_size(list);
        json_array_append_new(list, mesh_json(g, i, NULL));
    }
    for (int32_t i = 0; g->look.in && i < g->look.shown.n_variants; i++)
        json_array_append_new(list, mesh_json(g, g->look.shown.variants[i].shape, &g->look.meshes[i]));
    return list;
}

static json_t *nodes(const glb_scene *g, const int64_t *mesh_of)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < g->basis->n_objects; i++) {
        const modal_object *o = &g->basis->objects[i];
        const double *f = o->rest_pose;
        const char *name = g->basis->shapes[o->shape].name;
        double q[4];
        modal_glb_quaternion(f, NULL, q);
        json_t *called = name && name[0] ? json_sprintf("object %d: %s", i, name) : NULL; /* NULL, too, where it is no UTF-8 */
        if (!called) called = json_sprintf("object %d", i);
        json_array_append_new(list,
                              json_pack("{s:I, s:o, s:[f,f,f], s:[f,f,f,f]}", "mesh",
                                        (json_int_t)(g->look.in ? g->look.shown.of_objects[i] : mesh_of[o->shape]), "name",
                                        called, "translation", f[3], f[7], f[11],
                                        "rotation", q[0], q[1], q[2], q[3]));
    }
    return list;
}

static void add_channel(json_t *channels, json_t *samplers, const glb_scene *g, int64_t array, int32_t node,
                        const char *path)
{
    json_array_append_new(channels,
                          json_pack("{s:I, s:{s:i, s:s}}", "sampler",
                                    (json_int_t)json_array_size(samplers), "target", "node", (int)node,
                                    "path", path));
    json_array_append_new(samplers, json_pack("{s:I, s:I, s:s}", "input", (json_int_t)g->times, "output",
                                              (json_int_t)array, "interpolation", "LINEAR"));
}

/* NULL where nothing moves. */
static json_t *animation(const glb_scene *g)
{
    json_t *channels = json_array(), *samplers = json_array();
    for (int32_t i = 0; i < g->basis->n_objects; i++) {
        int64_t array = g->object_array[i];
        if (g->shapes[g->basis->objects[i].shape].n_targets > 0)
            add_channel(channels, samplers, g, array++, i, "weights");
        if (!g->info->scene->trajectory->poses) continue;
        add_channel(channels, samplers, g, array, i, "translation");
        add_channel(channels, samplers, g, array + 1, i, "rotation");
    }
    if (json_array_size(channels) > 0)
        return json_pack("{s:s, s:o, s:o}", "name", "motion", "channels", channels, "samplers", samplers);
    json_decref(channels);
    json_decref(samplers);
    return NULL;
}

char *modal_glb_json(const glb_scene *g)
{
    int64_t *mesh_of = calloc((size_t)g->basis->n_shapes, sizeof *mesh_of);
    json_t *roots = json_array();
    if (!mesh_of) return NULL;
    for (int32_t i = 0; i < g->basis->n_objects; i++) json_array_append_new(roots, json_integer(i));
    json_t *root = json_pack("{s:{s:s, s:s}, s:i, s:[{s:o}]}", "asset", "version", "2.0", "generator",
                             "modaltools", "scene", 0, "scenes", "nodes", roots);
    json_object_set_new(root, "meshes", meshes(g, mesh_of));
    json_object_set_new(root, "nodes", nodes(g, mesh_of));
    if (g->look.in) modal_glb_materials_json(g, root);
    json_t *motion = animation(g);
    if (motion) json_object_set_new(root, "animations", json_pack("[o]", motion));
    json_object_set_new(root, "accessors", accessors(g));
    json_object_set_new(root, "bufferViews", views(g));
    json_object_set_new(root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)g->bytes));
    json_object_set_new(root, "extras",
                        json_pack("{s:s, s:f}", "basis_hash", g->info->basis_hash, "time_shift",
                                  g->time_shift));
    if (g->info->slow_motion > 0)
        json_object_set_new(json_object_get(root, "extras"), "slow_motion", json_real(g->info->slow_motion));
    /* Nine digits: a float32 keeps its value, and no number is longer than 16 characters. */
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(root);
    free(mesh_of);
    return text;
}

void modal_glb_quaternion(const double f[12], const double before[4], double q[4])
{
    /* The largest of the four is computed from the diagonal, the others from it (S. W. Shepperd,
     * "Quaternion from Rotation Matrix", 1978). */
    const double r[4] = {f[0], f[5], f[10], f[0] + f[5] + f[10]}; /* the last one stands for w */
    int k = 3;
    for (int i = 0; i < 3; i++)
        if (r[i] > r[k]) k = i;
    if (k == 3) {
        q[3] = 1 + r[3];
        q[0] = f[9] - f[6];
        q[1] = f[2] - f[8];
        q[2] = f[4] - f[1];
    } else {
        const int i = k, j = (k + 1) % 3, l = (k + 2) % 3;
        q[i] = 1 + 2 * r[i] - r[3];
        q[j] = f[4 * i + j] + f[4 * j + i];
        q[l] = f[4 * i + l] + f[4 * l + i];
        q[3] = f[4 * l + j] - f[4 * j + l];
    }
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), dot = 0;
    for (int i = 0; i < 4; i++) dot += before ? before[i] * q[i] : 0;
    if (dot < 0) length = -length;
    for (int i = 0; i < 4; i++) q[i] /= length;
}
