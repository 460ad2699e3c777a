/* SPDX-License-Identifier: Apache-2.0 */
/* A look is read or refused with a message; what is read keeps its promises. With MTL the input is a .mtl, with GLTF a .glb. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/gltf_look.h"
#include "formats/json/look.h"
#include "formats/meshes/mtl.h"
#include "lib/base/below.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_material(const modal_look *look, int32_t m, int32_t least) { return m >= least && m < look->n_materials; }

static int is_sound(const modal_look *look)
{
    for (int32_t i = 0; i < look->n_materials; i++) {
        const modal_look_material *m = &look->materials[i];
        if (!m->name || !*m->name || modal_look_find(look, m->name, (int64_t)strlen(m->name)) != i) return 0;
        for (int k = 0; k < 3; k++)
            if (!(m->diffuse[k] >= 0 && m->ambient[k] >= 0 && m->specular[k] >= 0 && m->diffuse[k] <= 1e6)) return 0;
        if (!(m->opacity >= 0 && m->opacity <= 1 && m->shininess >= 0 && m->alpha < MODAL_ALPHAS && m->wrap < MODAL_WRAPS)) return 0;
        const char *const names[] = {m->image, m->normal_image, m->octree, m->normal_octree};
        for (int k = 0; k < 4; k++)
            if (names[k] && (!modal_path_is_below(names[k]) || (k > 1 && !modal_look_is_solid(names[k])))) return 0;
        if ((m->octree && modal_look_is_solid(m->image)) || (m->normal_octree && modal_look_is_solid(m->normal_image))) return 0;
    }
    for (int32_t i = 0; i < look->n_shapes; i++) {
        const modal_look_shape *s = &look->shapes[i];
        if ((s->shape >= 0) == (s->name != NULL) || !is_material(look, s->material, -1)) return 0;
        for (int64_t k = 0; k < s->n_runs; k++)
            if (!is_material(look, s->runs[k].material, 0) || s->runs[k].count < 1 ||
                (k > 0 && s->runs[k].first < s->runs[k - 1].first + s->runs[k - 1].count)) return 0;
        for (int32_t k = 0; k < s->n_names; k++)
            if (!s->names[k] || !is_material(look, s->name_materials[k], 0)) return 0;
    }
    for (int32_t i = 0; i < look->n_objects; i++)
        if (!is_material(look, look->objects[i].material, -1) || (i > 0 && look->objects[i].object <= look->objects[i - 1].object)) return 0;
    for (int32_t i = 0; i < look->n_cameras; i++) {
        const double *d = look->cameras[i].direction;
        if (!(fabs(hypot(hypot(d[0], d[1]), d[2]) - 1) <= 1e-12)) return 0;
        for (int64_t k = 1; k < look->cameras[i].n_keys; k++)
            if (!(look->cameras[i].keys[7 * k] > look->cameras[i].keys[7 * k - 7])) return 0;
    }
    for (int32_t i = 0; i < look->n_uv; i++)
        if (!look->uv[i] || !modal_path_is_below(look->uv[i])) return 0;
    return is_material(look, look->default_material, -1) && is_material(look, look->ground_material, -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_error err = {0};
#ifdef MTL
    modal_look look = {.default_material = -1, .ground_material = -1};
    const modal_status status = modal_mtl_parse((const char *)data, (int64_t)size, "fuzz", "images/", 0, &look, &err);
#elif defined GLTF
    modal_look look = {.default_material = -1, .ground_material = -1};
    modal_gltf_images images;
    const modal_status status = modal_gltf_look_parse((const char *)data, (int64_t)size, "fuzz", 0, &look, &images, &err);
    for (int32_t i = 0; i < images.n; i++) {
        const modal_gltf_image *m = &images.list[i];
        if (!modal_path_is_below(m->name) || strchr(m->name, '/') || m->length < 1 || m->first < 0 || m->length > (int64_t)size - m->first) abort();
        for (int32_t k = 0; k < i; k++)
            if (strcmp(m->name, images.list[k].name) == 0) abort();
    }
    modal_gltf_images_free(&images);
#else
    modal_look look;
    const modal_status status = modal_look_parse((const char *)data, size, "fuzz", 0, &look, &err);
    if (status == MODAL_OK ? look.n_materials < 1 || look.n_lights < 0 || look.n_cameras < 1 : look.materials || look.shapes) abort();
#endif
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    if (status == MODAL_OK && !is_sound(&look)) abort();
    modal_look_free(&look);
    return 0;
}
