/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/look.h"

#include <string.h>

#include "lib/base/memory.h"

const char *const modal_alpha_names[MODAL_ALPHAS] = {"opaque", "cutout", "blend"};
const char *const modal_wrap_names[MODAL_WRAPS] = {"repeat", "mirror", "clamp", "none"};

const modal_look_material modal_look_default = {
    .ambient = {0.8, 0.8, 0.8}, .diffuse = {0.8, 0.8, 0.8}, .shininess = 20, .opacity = 1, .cutoff = 0.5};

void modal_look_free(modal_look *look)
{
    for (int32_t i = 0; i < look->n_materials; i++) {
        modal_free(&look->materials[i].name);
        modal_free(&look->materials[i].image);
        modal_free(&look->materials[i].normal_image);
        modal_free(&look->materials[i].octree);
        modal_free(&look->materials[i].normal_octree);
    }
    for (int32_t i = 0; i < look->n_shapes; i++) {
        modal_look_shape *s = &look->shapes[i];
        for (int32_t k = 0; k < s->n_names; k++) modal_free(&s->names[k]);
        modal_free(&s->name);
        modal_free(&s->runs);
        modal_free(&s->names);
        modal_free(&s->name_materials);
    }
    for (int32_t i = 0; i < look->n_cameras; i++) {
        modal_free(&look->cameras[i].name);
        modal_free(&look->cameras[i].keys);
    }
    for (int32_t i = 0; i < look->n_uv; i++) modal_free(&look->uv[i]);
    modal_free(&look->uv);
    modal_free(&look->materials);
    modal_free(&look->shapes);
    modal_free(&look->objects);
    modal_free(&look->lights);
    modal_free(&look->cameras);
    memset(look, 0, sizeof *look);
}

modal_status modal_look_complete(modal_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!look->lights) {
        MODAL_TRY(modal_alloc_zero(&look->lights, 1, sizeof *look->lights, "lights", err));
        const double s = 0.40824829046386302; /* 1 / sqrt(6) */
        look->lights[0] = (modal_look_light){{-s, -s, -2 * s}, {1, 1, 1}, 1};
        look->n_lights = 1;
    }
    if (!look->cameras) {
        MODAL_TRY(modal_alloc_zero(&look->cameras, 1, sizeof *look->cameras, "cameras", err));
        look->cameras[0] = (modal_look_camera){.fitted = 1, .direction = {0, 1, 0}, .up = {0, 0, 1}, .fov = 0.7};
        look->n_cameras = 1;
    }
done:
    return status;
}

int32_t modal_look_find(const modal_look *look, const char *name, int64_t length)
{
    for (int32_t i = 0; i < look->n_materials; i++) {
        const char *own = look->materials[i].name;
        if (strncmp(own, name, (size_t)length) == 0 && !own[length]) return i;
    }
    return -1;
}

static int is_of(const modal_look_shape *s, const modal_basis *basis, int32_t shape)
{
    if (s->shape >= 0) return s->shape == shape;
    return basis->shapes[shape].name && strcmp(s->name, basis->shapes[shape].name) == 0;
}

modal_status modal_look_check_basis(const modal_look *look, const modal_basis *basis, modal_error *err)
{
    for (int32_t i = 0; i < look->n_objects; i++)
        if (look->objects[i].object >= basis->n_objects)
            return modal_error_set(err, MODAL_ERROR_INPUT, "objects: there are objects 0 .. %d, %lld", basis->n_objects - 1,
                                   (long long)look->objects[i].object);
    for (int32_t i = 0; i < look->n_shapes; i++) {
        const modal_look_shape *s = &look->shapes[i];
        int found = 0;
        for (int32_t k = 0; k < basis->n_shapes; k++) {
            if (!is_of(s, basis, k)) continue;
            found = 1;
            for (int64_t r = 0; r < s->n_runs; r++)
                if (s->runs[r].first + s->runs[r].count > basis->shapes[k].surface.n_triangles)
                    return modal_error_set(err, MODAL_ERROR_INPUT, "shapes: run at %lld: shape %d has %lld triangles, %lld",
                                           (long long)s->runs[r].first, k, (long long)basis->shapes[k].surface.n_triangles,
                                           (long long)(s->runs[r].first + s->runs[r].count));
        }
        if (!found && s->shape >= 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "shapes: there are shapes 0 .. %d, %lld", basis->n_shapes - 1,
                                   (long long)s->shape);
        if (!found) return modal_error_set(err, MODAL_ERROR_INPUT, "shapes: no shape of that name, %s", s->name);
    }
    return MODAL_OK;
}

/* of_names [count of names]: the material of each name of the shape, -1: none. */
static modal_status match_names(const modal_look *look, const modal_look_shape *s, const modal_shape_look *own, int32_t **of_names,
                                modal_error *err)
{
    const int32_t n = modal_look_count(own);
    const char *name = (const char *)own->material_names;
    const modal_status status = modal_alloc(of_names, n, sizeof **of_names, "materials", err);
    for (int32_t i = 0; status == MODAL_OK && i < n; i++) {
        const char *end = memchr(name, '\n', (size_t)((const char *)own->material_names + own->names_bytes - name));
        int32_t found = -1;
        for (int32_t k = 0; s && k < s->n_names && found < 0; k++)
            if (strlen(s->names[k]) == (size_t)(end - name) && memcmp(s->names[k], name, (size_t)(end - name)) == 0)
                found = s->name_materials[k];
        (*of_names)[i] = found >= 0 ? found : modal_look_find(look, name, end - name);
        name = end + 1;
    }
    return status;
}

static int32_t run_of(const modal_look_shape *s, int64_t triangle)
{
    int64_t low = 0, high = s ? s->n_runs : 0;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const modal_look_run *run = &s->runs[middle];
        if (triangle < run->first) high = middle;
        else if (triangle >= run->first + run->count) low = middle + 1;
        else return run->material;
    }
    return -1;
}

static const modal_look_object *find_object(const modal_look *look, int32_t object)
{
    int32_t low = 0, high = look->n_objects;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (look->objects[middle].object < object) low = middle + 1;
        else high = middle;
    }
    return low < look->n_objects && look->objects[low].object == object ? &look->objects[low] : NULL;
}

modal_status modal_look_resolve(const modal_look *look, const modal_basis *basis, int32_t object, int32_t *materials,
                                double tint[3], modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t number = basis->objects[object].shape;
    const modal_shape *shape = &basis->shapes[number];
    const modal_look_shape *s = NULL;
    const modal_look_object *o;
    int32_t *of_names = NULL;
    for (int32_t i = 0; i < look->n_shapes && !s; i++)
        if (is_of(&look->shapes[i], basis, number)) s = &look->shapes[i];
    o = find_object(look, object);
    for (int k = 0; k < 3; k++) tint[k] = o ? o->tint[k] : 1;
    if (shape->look.triangle_material) MODAL_TRY(match_names(look, s, &shape->look, &of_names, err));
    for (int64_t t = 0; t < shape->surface.n_triangles; t++) {
        const int32_t user = shape->surface.user_triangle[t], name = of_names ? shape->look.triangle_material[t] : -1;
        int32_t m = o && o->material >= 0 ? o->material : run_of(s, user);
        if (m < 0 && name >= 0) m = of_names[name];
        if (m < 0 && s) m = s->material;
        if (m < 0) m = look->default_material;
        if (m < 0 && name >= 0) {
            int64_t length = 0;
            const char *text = modal_look_name(&shape->look, name, &length);
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "object %d: triangle %d: no material for the name %.*s, and no default", object, user,
                       (int)(length < 100 ? length : 100), text);
        }
        if (m < 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "object %d: triangle %d: has no material, and there is no default", object, user);
        materials[t] = m;
    }
done:
    modal_free(&of_names);
    return status;
}

int modal_look_is_solid(const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    return length > 3 && strcmp(name + length - 3, ".h5") == 0;
}

const char *modal_look_solid(const modal_look_material *m, int role)
{
    const char *image = role ? m->normal_image : m->image, *octree = role ? m->normal_octree : m->octree;
    return octree ? octree : modal_look_is_solid(image) ? image : NULL;
}

const char *modal_look_image(const modal_look_material *m, int role)
{
    const char *image = role ? m->normal_image : m->image;
    return modal_look_is_solid(image) ? NULL : image;
}
