/* SPDX-License-Identifier: Apache-2.0 */
/* Materials, textures, samplers and images of a GLB. glTF's materials are rough and metallic ones: a Phong exponent k has the width of
 * a roughness (2 / (k + 2))^(1/4) (B. Walter and others, Microfacet Models for Refraction, 2007, with alpha = roughness^2); nothing is
 * metal, ambient and specular colours are left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_text.h"
#include "formats/sequences/glb_parts.h"

static const int wraps[MODAL_WRAPS] = {10497, 33648, 33071, 33071};

/* Which image of the sequence has this name. */
static int32_t image_of(const modal_sequence_look *in, const char *name)
{
    int32_t i = 0;
    while (i < in->n_images && strcmp(in->images[i].name, name) != 0) i++;
    return i;
}

/* Textures, an image with a wrap each, and samplers, a wrap each: those that materials have. */
typedef struct texture_list {
    json_t *textures, *samplers;
    int *number; /* [4 n_images] of image i with wrap w at 4 i + w, -1: not yet */
    int sampler[MODAL_WRAPS];
} texture_list;

static json_t *texture(texture_list *list, const modal_sequence_look *in, const char *name, modal_wrap wrap)
{
    const int32_t image = image_of(in, name);
    int *number = &list->number[4 * image + (int)wrap];
    if (*number < 0) {
        if (list->sampler[wrap] < 0) {
            list->sampler[wrap] = (int)json_array_size(list->samplers);
            json_array_append_new(list->samplers, json_pack("{s:i, s:i}", "wrapS", wraps[wrap], "wrapT", wraps[wrap]));
        }
        *number = (int)json_array_size(list->textures);
        json_array_append_new(list->textures, json_pack("{s:i, s:i}", "sampler", list->sampler[wrap], "source", (int)image));
    }
    return json_pack("{s:i}", "index", *number);
}

static double at_most_1(double x) { return x < 1 ? x : 1; }

static json_t *material(texture_list *list, const modal_sequence_look *in, const glb_paint *paint)
{
    const modal_look_material *m = &in->look->materials[paint->material];
    json_t *o = json_object(), *pbr = json_object();
    json_object_set_new(o, "name", modal_json_string(m->name));
    json_object_set_new(pbr, "baseColorFactor",
                        json_pack("[f, f, f, f]", at_most_1(m->diffuse[0] * paint->tint[0]), at_most_1(m->diffuse[1] * paint->tint[1]),
                                  at_most_1(m->diffuse[2] * paint->tint[2]), m->opacity));
    if (m->image) json_object_set_new(pbr, "baseColorTexture", texture(list, in, m->image, m->wrap));
    json_object_set_new(pbr, "metallicFactor", json_integer(0));
    json_object_set_new(pbr, "roughnessFactor", json_real(pow(2 / (m->shininess + 2), 0.25)));
    json_object_set_new(o, "pbrMetallicRoughness", pbr);
    if (m->normal_image) json_object_set_new(o, "normalTexture", texture(list, in, m->normal_image, m->wrap));
    if (m->alpha == MODAL_ALPHA_CUTOUT) {
        json_object_set_new(o, "alphaMode", json_string("MASK"));
        json_object_set_new(o, "alphaCutoff", json_real(m->cutoff));
    } else if (m->alpha == MODAL_ALPHA_BLEND) {
        json_object_set_new(o, "alphaMode", json_string("BLEND"));
    }
    if (m->two_sided) json_object_set_new(o, "doubleSided", json_true());
    return o;
}

void modal_glb_materials_json(const glb_scene *g, json_t *root)
{
    const glb_look *look = &g->look;
    const modal_sequence_look *in = look->in;
    json_t *materials = json_array(), *images = json_array();
    texture_list list = {json_array(), json_array(), malloc(((size_t)in->n_images * 4 + 1) * sizeof *list.number), {-1, -1, -1, -1}};
    for (int32_t i = 0; list.number && i < 4 * in->n_images; i++) list.number[i] = -1;
    for (int32_t i = 0; list.number && i < look->n_paints; i++) json_array_append_new(materials, material(&list, in, &look->paints[i]));
    for (int32_t i = 0; i < in->n_images; i++)
        json_array_append_new(images, json_pack("{s:I, s:s, s:o}", "bufferView", (json_int_t)(g->n_arrays + i), "mimeType",
                                                in->images[i].media_type, "name", modal_json_string(in->images[i].name)));
    json_object_set_new(root, "materials", materials);
    if (in->n_images > 0) {
        json_object_set_new(root, "textures", list.textures);
        json_object_set_new(root, "images", images);
        json_object_set_new(root, "samplers", list.samplers);
    } else {
        json_decref(list.textures);
        json_decref(images);
        json_decref(list.samplers);
    }
    free(list.number);
}
