/* SPDX-License-Identifier: Apache-2.0 */
/* The look in a page: materials and lights in the header; uv, materials of triangles, tints and the images' files among the arrays. */
#include <string.h>

#include "formats/json/json_text.h"
#include "formats/sequences/sequence_paint.h"
#include "formats/viewer/viewer_private.h"
#include "lib/base/memory.h"

static json_t *numbers(const double v[3]) { return json_pack("[f, f, f]", v[0], v[1], v[2]); }

/* The number of an image of that name; NULL, which is not set: none, or one that no object shows. */
static json_t *image_number(const modal_sequence_look *in, const char *name)
{
    for (int32_t i = 0; name && i < in->n_images; i++)
        if (strcmp(in->images[i].name, name) == 0) return json_integer(i);
    return NULL;
}

static json_t *material_json(const modal_sequence_look *in, const modal_look_material *m)
{
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:f, s:f, s:s, s:f, s:b, s:s}", "name", modal_json_string(m->name), "diffuse", numbers(m->diffuse),
                          "ambient", numbers(m->ambient), "specular", numbers(m->specular), "shininess", m->shininess, "opacity", m->opacity,
                          "alpha", modal_alpha_names[m->alpha], "cutoff", m->cutoff, "two_sided", m->two_sided, "wrap", modal_wrap_names[m->wrap]);
    json_t *image = image_number(in, m->image), *normals = image_number(in, m->normal_image);
    if (image) json_object_set_new(o, "image", image);
    if (normals) json_object_set_new(o, "normal_image", normals);
    return o;
}

static json_t *look_json(const modal_sequence_look *in, const modal_look_variants *shown)
{
    const modal_look *look = in->look;
    json_t *materials = json_array(), *images = json_array(), *lights = json_array(), *variants = json_array();
    for (int32_t i = 0; i < look->n_materials; i++) json_array_append_new(materials, material_json(in, &look->materials[i]));
    for (int32_t i = 0; i < in->n_images; i++)
        json_array_append_new(images, json_pack("{s:o, s:s, s:I}", "name", modal_json_string(in->images[i].name), "media_type", in->images[i].media_type,
                                                "bytes", (json_int_t)in->images[i].length));
    for (int32_t i = 0; i < look->n_lights; i++)
        json_array_append_new(lights, json_pack("{s:o, s:o}", "direction", numbers(look->lights[i].direction), "colour", numbers(look->lights[i].colour)));
    for (int32_t i = 0; i < shown->n_variants; i++) json_array_append_new(variants, json_integer(shown->variants[i].shape));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "materials", materials, "images", images, "lights", lights, "ambient", numbers(look->ambient),
                     "variants", variants);
}

/* uv of a shape, and which of them each corner has. */
static modal_status put_uv(modal_viewer_sink *out, const modal_surface *s, json_t *about, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *uv = NULL;
    MODAL_TRY(modal_alloc(&uv, 2 * s->n_uv, sizeof *uv, "page", err));
    for (int64_t i = 0; i < 2 * s->n_uv; i++) uv[i] = (float)s->uv[i];
    MODAL_TRY(modal_viewer_put_planes(out, uv, 2 * s->n_uv, 4, err));
    MODAL_TRY(modal_viewer_put_differences(out, s->triangle_uv, 3 * s->n_triangles, err));
    json_object_set_new(about, "uv", json_integer(s->n_uv));
done:
    modal_free(&uv);
    return status;
}

static modal_status put_tints(modal_viewer_sink *out, const modal_look_variants *shown, int32_t n_objects, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *tints = NULL;
    MODAL_TRY(modal_alloc(&tints, 3 * (int64_t)n_objects, sizeof *tints, "page", err));
    for (int64_t i = 0; i < 3 * (int64_t)n_objects; i++) tints[i] = (float)shown->tints[i];
    MODAL_TRY(modal_viewer_put_planes(out, tints, 3 * (int64_t)n_objects, 4, err));
done:
    modal_free(&tints);
    return status;
}

modal_status modal_viewer_put_look(modal_viewer_sink *out, const modal_sequence_look *in, const modal_basis *basis, json_t *header,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_look_variants shown = {0};
    uint8_t *with_uv = NULL; /* shapes on which an image is shown */
    MODAL_TRY(modal_look_variants_make(&shown, in->look, basis, 0, err));
    MODAL_TRY(modal_alloc_zero(&with_uv, basis->n_shapes, 1, "page", err));
    for (int32_t i = 0; i < shown.n_variants; i++) {
        const int32_t number = shown.variants[i].shape;
        for (int64_t t = 0; t < basis->shapes[number].surface.n_triangles; t++) {
            const modal_look_material *m = &in->look->materials[shown.variants[i].materials[t]];
            MODAL_TRY(modal_sequence_check_uv(m, &basis->shapes[number], number, t, "page", err));
            with_uv[number] |= m->image || m->normal_image;
        }
    }
    for (int32_t i = 0; i < basis->n_shapes; i++)
        if (with_uv[i])
            MODAL_TRY(put_uv(out, &basis->shapes[i].surface, json_array_get(json_object_get(header, "shapes"), (size_t)i), err));
    for (int32_t i = 0; i < shown.n_variants; i++)
        MODAL_TRY(modal_viewer_put_differences(out, shown.variants[i].materials, basis->shapes[shown.variants[i].shape].surface.n_triangles, err));
    MODAL_TRY(modal_viewer_put_differences(out, shown.of_objects, basis->n_objects, err));
    MODAL_TRY(put_tints(out, &shown, basis->n_objects, err));
    for (int32_t i = 0; i < in->n_images; i++) MODAL_TRY(modal_viewer_put_planes(out, in->images[i].bytes, in->images[i].length, 1, err));
    json_object_set_new(header, "look", look_json(in, &shown));
done:
    modal_free(&with_uv);
    modal_look_variants_free(&shown);
    return status;
}
