/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/look.h"

#include <stdlib.h>
#include <string.h>

#include "formats/json/look_reader.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

/* The member of an object that is known to be there: a key too long for a path stands for the object. */
static void member_at(const modal_json_place *object, const char *key, modal_json_place *member)
{
    if (!modal_json_member(object, key, member)) *member = *object;
}

static modal_status read_choice(const modal_json_place *object, const char *key, int n, const char *const *names, int *choice)
{
    modal_json_place member;
    const char *text = NULL;
    if (!modal_json_member(object, key, &member)) return MODAL_OK;
    const modal_status status = modal_json_text(&member, &text);
    if (status != MODAL_OK) return status;
    for (*choice = 0; *choice < n; ++*choice)
        if (strcmp(text, names[*choice]) == 0) return MODAL_OK;
    return modal_json_wrong(&member, n == MODAL_ALPHAS ? "none of \"opaque\", \"cutout\", \"blend\""
                                                       : "none of \"repeat\", \"mirror\", \"clamp\", \"none\"");
}

/* An empty text is no path: NULL. */
static modal_status read_path(const modal_look_reader *r, const modal_json_place *place, char **path)
{
    modal_status status = MODAL_OK;
    const char *text = json_string_value(place->value);
    if (!text) return modal_json_wrong(place, "not a text");
    if (strlen(text) != json_string_length(place->value)) return modal_json_wrong(place, "holds a NUL");
    if (*text && !r->any_path && !modal_path_is_below(text))
        return modal_json_wrong(place, "a path inside of the look's folder, with / between its parts, without . and ..");
    modal_free(path);
    if (*text) MODAL_TRY(modal_copy_text(path, text, SIZE_MAX, r->source.err));
done:
    return status;
}

static modal_status read_image(const modal_look_reader *r, const modal_json_place *object, const char *key, char **image)
{
    modal_json_place member;
    return modal_json_member(object, key, &member) ? read_path(r, &member, image) : MODAL_OK;
}

/* ---- materials ---- */

/* An octree texture beside an image, which is none itself. */
static modal_status read_octree(const modal_look_reader *r, const modal_json_place *place, const char *key, const char *image, char **octree)
{
    modal_json_place member;
    const modal_status status = read_image(r, place, key, octree);
    if (status != MODAL_OK || !*octree) return status;
    const modal_json_place *at = modal_json_member(place, key, &member) ? &member : place;
    if (!modal_look_is_solid(*octree)) return modal_json_wrong(at, "the name of an octree texture, which ends in .h5");
    return modal_look_is_solid(image) ? modal_json_wrong(at, "beside an octree texture in the image's place, only one of the two") : MODAL_OK;
}

static modal_status read_values(const modal_look_reader *r, const modal_json_place *place, modal_look_material *m)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    int alpha = m->alpha, wrap = m->wrap;
    double diffuse[3], ambient[3];
    MODAL_TRY(modal_json_object(place, "like diffuse ambient specular shininess opacity alpha cutoff two_sided image normal_image octree normal_octree wrap"));
    const int alike = modal_json_member(place, "like", &member);
    MODAL_TRY(read_image(r, place, "image", &m->image));
    MODAL_TRY(read_image(r, place, "normal_image", &m->normal_image));
    MODAL_TRY(read_octree(r, place, "octree", m->image, &m->octree));
    MODAL_TRY(read_octree(r, place, "normal_octree", m->normal_image, &m->normal_octree));
    for (int k = 0; k < 3; k++) diffuse[k] = alike || !(m->image || m->octree) ? m->diffuse[k] : 1;
    MODAL_TRY(modal_look_read_colour(place, "diffuse", diffuse));
    /* ambient goes with diffuse unless it was said, here or by what this is like */
    const int apart = memcmp(m->ambient, m->diffuse, sizeof ambient) != 0;
    memcpy(ambient, apart ? m->ambient : diffuse, sizeof ambient);
    MODAL_TRY(modal_look_read_colour(place, "ambient", ambient));
    memcpy(m->diffuse, diffuse, sizeof diffuse);
    memcpy(m->ambient, ambient, sizeof ambient);
    MODAL_TRY(modal_look_read_colour(place, "specular", m->specular));
    MODAL_TRY(modal_json_optional_number(place, "shininess", 0, 10000, "1", &m->shininess));
    MODAL_TRY(modal_json_optional_number(place, "opacity", 0, 1, "1", &m->opacity));
    MODAL_TRY(modal_json_optional_number(place, "cutoff", 0, 1, "1", &m->cutoff));
    MODAL_TRY(read_choice(place, "alpha", MODAL_ALPHAS, modal_alpha_names, &alpha));
    MODAL_TRY(read_choice(place, "wrap", MODAL_WRAPS, modal_wrap_names, &wrap));
    if (modal_json_member(place, "two_sided", &member)) MODAL_TRY(modal_json_boolean(&member, &m->two_sided));
    m->alpha = (modal_alpha)alpha;
    m->wrap = (modal_wrap)wrap;
done:
    return status;
}

/* Everything of another material but its name. */
static modal_status copy_material(const modal_look_material *from, modal_look_material *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *const name = to->name;
    *to = *from;
    to->name = name;
    to->image = to->normal_image = to->octree = to->normal_octree = NULL;
    if (from->image) MODAL_TRY(modal_copy_text(&to->image, from->image, SIZE_MAX, err));
    if (from->normal_image) MODAL_TRY(modal_copy_text(&to->normal_image, from->normal_image, SIZE_MAX, err));
    if (from->octree) MODAL_TRY(modal_copy_text(&to->octree, from->octree, SIZE_MAX, err));
    if (from->normal_octree) MODAL_TRY(modal_copy_text(&to->normal_octree, from->normal_octree, SIZE_MAX, err));
done:
    return status;
}

/* like [n]: the material that each is like, -1: none. What another is like is read before it; `chain` is of n. */
static modal_status read_in_order(modal_look_reader *r, const modal_json_place *list, const int32_t *like, int8_t *seen, int32_t *chain)
{
    enum { NOT_YET, BEGUN, READ };
    modal_status status = MODAL_OK;
    modal_look *look = r->look;
    modal_json_place member, at;
    for (int32_t i = 0; i < look->n_materials; i++) {
        int32_t n = 0;
        for (int32_t m = i; m >= 0 && seen[m] != READ; m = like[m]) {
            if (seen[m] == BEGUN) {
                member_at(list, look->materials[m].name, &member);
                member_at(&member, "like", &at);
                status = modal_json_wrong(&at, "a material that is like itself, round a circle");
                goto done;
            }
            seen[m] = BEGUN;
            chain[n++] = m;
        }
        while (n-- > 0) {
            const int32_t m = chain[n];
            member_at(list, look->materials[m].name, &member);
            if (like[m] >= 0) MODAL_TRY(copy_material(&look->materials[like[m]], &look->materials[m], r->source.err));
            MODAL_TRY(read_values(r, &member, &look->materials[m]));
            seen[m] = READ;
        }
    }
done:
    return status;
}

static modal_status read_materials(modal_look_reader *r, const modal_json_place *list)
{
    enum { MOST = 4096 };
    modal_status status = MODAL_OK;
    modal_look *look = r->look;
    modal_json_place member, at;
    int32_t *like = NULL, *chain = NULL, n = 0;
    int8_t *seen = NULL;
    const char *key;
    json_t *value;
    if (!json_is_object(list->value) || json_object_size(list->value) == 0 || json_object_size(list->value) > MOST) {
        status = modal_json_wrong(list, "needs an object of 1 to %d materials", MOST);
        goto done;
    }
    const int64_t count = (int64_t)json_object_size(list->value);
    MODAL_TRY(modal_alloc_zero(&look->materials, count, sizeof *look->materials, "materials", r->source.err));
    MODAL_TRY(modal_alloc(&like, count, sizeof *like, "materials", r->source.err));
    MODAL_TRY(modal_alloc(&chain, count, sizeof *chain, "materials", r->source.err));
    MODAL_TRY(modal_alloc_zero(&seen, count, 1, "materials", r->source.err));
    json_object_foreach(list->value, key, value)
    {
        if (!*key || strlen(key) > 200) {
            status = modal_json_wrong(list, "a name of 1 to 200 bytes for each material");
            goto done;
        }
        look->materials[n] = modal_look_default;
        look->n_materials = n + 1;
        MODAL_TRY(modal_copy_text(&look->materials[n++].name, key, SIZE_MAX, r->source.err));
    }
    n = 0;
    json_object_foreach(list->value, key, value)
    {
        like[n] = -1;
        member_at(list, key, &member);
        if (json_is_object(member.value) && modal_json_member(&member, "like", &at))
            MODAL_TRY(modal_look_read_material(r, &at, &like[n]));
        n++;
    }
    MODAL_TRY(read_in_order(r, list, like, seen, chain));
done:
    modal_free(&like);
    modal_free(&chain);
    modal_free(&seen);
    return status;
}

/* ---- shapes and objects ---- */

static int by_first(const void *a, const void *b)
{
    const int64_t x = ((const modal_look_run *)a)->first, y = ((const modal_look_run *)b)->first;
    return (x > y) - (x < y);
}

static modal_status read_runs(modal_look_reader *r, const modal_json_place *list, modal_look_shape *to)
{
    modal_status status = MODAL_OK;
    size_t count;
    modal_json_place item, member;
    MODAL_TRY(modal_json_list(list, 0, SIZE_MAX, "ranges", &to->runs, sizeof *to->runs, &count));
    for (size_t i = 0; i < count; i++) {
        modal_json_item(list, i, &item);
        MODAL_TRY(modal_json_object(&item, "first count material"));
        MODAL_TRY(modal_json_required(&item, "first", &member));
        MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX, &to->runs[i].first));
        MODAL_TRY(modal_json_required(&item, "count", &member));
        MODAL_TRY(modal_json_integer(&member, 1, INT32_MAX, &to->runs[i].count));
        MODAL_TRY(modal_json_required(&item, "material", &member));
        MODAL_TRY(modal_look_read_material(r, &member, &to->runs[i].material));
        to->n_runs++;
    }
    if (count > 1) qsort(to->runs, count, sizeof *to->runs, by_first);
    for (size_t i = 1; i < count; i++)
        if (to->runs[i - 1].first + to->runs[i - 1].count > to->runs[i].first) {
            status = modal_json_wrong(list, "two ranges have triangle %lld", (long long)to->runs[i].first);
            goto done;
        }
done:
    return status;
}

static modal_status read_names(modal_look_reader *r, const modal_json_place *list, modal_look_shape *to)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *key;
    json_t *value;
    if (!json_is_object(list->value)) {
        status = modal_json_wrong(list, "not an object");
        goto done;
    }
    const int64_t count = (int64_t)json_object_size(list->value);
    MODAL_TRY(modal_alloc_zero(&to->names, count, sizeof *to->names, "names", r->source.err));
    MODAL_TRY(modal_alloc(&to->name_materials, count, sizeof *to->name_materials, "names", r->source.err));
    json_object_foreach(list->value, key, value)
    {
        member_at(list, key, &member);
        MODAL_TRY(modal_look_read_material(r, &member, &to->name_materials[to->n_names]));
        MODAL_TRY(modal_copy_text(&to->names[to->n_names], key, SIZE_MAX, r->source.err));
        to->n_names++;
    }
done:
    return status;
}

static modal_status read_shape(modal_look_reader *r, const modal_json_place *place, modal_look_shape *to)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    const char *name = NULL;
    to->shape = to->material = -1;
    MODAL_TRY(modal_json_object(place, "shape material ranges names"));
    MODAL_TRY(modal_json_required(place, "shape", &member));
    if (json_is_string(member.value)) {
        MODAL_TRY(modal_json_text(&member, &name));
        MODAL_TRY(modal_copy_text(&to->name, name, SIZE_MAX, r->source.err));
    } else {
        MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX - 1, &to->shape));
    }
    if (modal_json_member(place, "material", &member)) MODAL_TRY(modal_look_read_material(r, &member, &to->material));
    if (modal_json_member(place, "ranges", &member)) MODAL_TRY(read_runs(r, &member, to));
    if (modal_json_member(place, "names", &member)) MODAL_TRY(read_names(r, &member, to));
done:
    return status;
}

static modal_status read_shapes(modal_look_reader *r, const modal_json_place *list)
{
    enum { MOST = 1 << 20 };
    modal_status status = MODAL_OK;
    size_t count;
    modal_look *look = r->look;
    modal_json_place item;
    MODAL_TRY(modal_json_list(list, 0, MOST, "shapes", &look->shapes, sizeof *look->shapes, &count));
    for (size_t i = 0; i < count; i++) {
        modal_json_item(list, i, &item);
        look->n_shapes++;
        modal_look_shape *s = &look->shapes[i];
        MODAL_TRY(read_shape(r, &item, s));
        for (size_t k = 0; k < i && k < 4096; k++) /* of more the first one counts */
            if (s->name ? look->shapes[k].name && strcmp(s->name, look->shapes[k].name) == 0 : s->shape == look->shapes[k].shape) {
                status = modal_json_wrong(&item, "the shape is there twice, in /shapes/%zu, too", k);
                goto done;
            }
    }
done:
    return status;
}

static int by_object(const void *a, const void *b)
{
    const int64_t x = ((const modal_look_object *)a)->object, y = ((const modal_look_object *)b)->object;
    return (x > y) - (x < y);
}

static modal_status read_objects(modal_look_reader *r, const modal_json_place *list)
{
    modal_status status = MODAL_OK;
    size_t count;
    modal_look *look = r->look;
    modal_json_place item, member;
    MODAL_TRY(modal_json_list(list, 0, SIZE_MAX, "objects", &look->objects, sizeof *look->objects, &count));
    for (size_t i = 0; i < count; i++) {
        modal_look_object *o = &look->objects[i];
        *o = (modal_look_object){.material = -1, .tint = {1, 1, 1}};
        modal_json_item(list, i, &item);
        MODAL_TRY(modal_json_object(&item, "object material tint"));
        MODAL_TRY(modal_json_required(&item, "object", &member));
        MODAL_TRY(modal_json_integer(&member, 0, INT32_MAX - 1, &o->object));
        if (modal_json_member(&item, "material", &member)) MODAL_TRY(modal_look_read_material(r, &member, &o->material));
        MODAL_TRY(modal_look_read_colour(&item, "tint", o->tint));
        look->n_objects++;
    }
    if (count > 1) qsort(look->objects, count, sizeof *look->objects, by_object);
    for (size_t i = 1; i < count; i++)
        if (look->objects[i].object == look->objects[i - 1].object) {
            status = modal_json_wrong(list, "object %lld is there twice", (long long)look->objects[i].object);
            goto done;
        }
done:
    return status;
}

/* Paths of surfaces with texture coordinates. */
static modal_status read_uv(modal_look_reader *r, const modal_json_place *list)
{
    enum { MOST = 4096 };
    modal_status status = MODAL_OK;
    size_t count;
    modal_look *look = r->look;
    modal_json_place item;
    MODAL_TRY(modal_json_list(list, 0, MOST, "files", &look->uv, sizeof *look->uv, &count));
    for (size_t i = 0; i < count; i++) {
        modal_json_item(list, i, &item);
        MODAL_TRY(read_path(r, &item, &look->uv[look->n_uv]));
        if (!look->uv[look->n_uv]) {
            status = modal_json_wrong(&item, "an empty path");
            goto done;
        }
        look->n_uv++;
    }
done:
    return status;
}

/* ---- the whole ---- */

static modal_status read_root(modal_look_reader *r, const modal_json_place *root)
{
    modal_status status = MODAL_OK;
    modal_look *look = r->look;
    modal_json_place member;
    int64_t version = 0;
    MODAL_TRY(modal_json_object(root, "look materials default shapes objects uv lights ambient cameras ground background"));
    MODAL_TRY(modal_json_required(root, "look", &member));
    MODAL_TRY(modal_json_integer(&member, 1, 1, &version));
    MODAL_TRY(modal_json_required(root, "materials", &member));
    MODAL_TRY(read_materials(r, &member));
    if (modal_json_member(root, "default", &member)) MODAL_TRY(modal_look_read_material(r, &member, &look->default_material));
    if (modal_json_member(root, "shapes", &member)) MODAL_TRY(read_shapes(r, &member));
    if (modal_json_member(root, "objects", &member)) MODAL_TRY(read_objects(r, &member));
    if (modal_json_member(root, "uv", &member)) MODAL_TRY(read_uv(r, &member));
    MODAL_TRY(modal_look_read_view(r, root));
    MODAL_TRY(modal_look_complete(look, r->source.err));
done:
    return status;
}

modal_status modal_look_parse(const char *text, size_t length, const char *path, int any_path, modal_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_look_reader r = {.source = {path, NULL, err}, .look = look, .any_path = any_path};
    modal_json_place root;
    *look = (modal_look){.default_material = -1, .ground_material = -1, .ambient = {0.2, 0.2, 0.2}, .background = {1, 1, 1}};
    MODAL_TRY(modal_json_open(&r.source, text, length, &root));
    MODAL_TRY(read_root(&r, &root));
done:
    modal_json_close(&r.source);
    if (status != MODAL_OK) modal_look_free(look);
    return status;
}

modal_status modal_look_read(const char *path, int any_path, modal_look *look, modal_error *err)
{
    char *text = NULL;
    int64_t length = 0;
    memset(look, 0, sizeof *look);
    modal_status status = modal_file_load(path, &text, &length, err);
    if (status == MODAL_OK) status = modal_look_parse(text, (size_t)length, path, any_path, look, err);
    modal_free(&text);
    return status;
}
