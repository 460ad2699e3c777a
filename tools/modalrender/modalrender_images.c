/* SPDX-License-Identifier: Apache-2.0 */
/* The images of a look, decoded, as a scene takes them (lib/render/scene.h). */
#include "lib/base/memory.h"
#include "tools/modalrender/modalrender.h"

modal_status modalrender_read_images(tool *t, const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_textures *textures = &in->textures;
    modal_render_images *to = &in->images;
    modal_paint_image *images = NULL;
    modal_paint_level *levels = NULL;
    const uint8_t **parts = NULL;
    int64_t *part_texels = NULL, first = 0;
    int any = 0;
    const double start = tool_seconds();
    MODAL_TRY(modalrender_choose_textures(r, &in->look.look, err));
    for (int32_t i = 0; i < 2 * in->look.look.n_materials; i++)
        any |= modal_look_image(&in->look.look.materials[i / 2], i % 2) || modal_look_solid(&in->look.look.materials[i / 2], i % 2);
    if (!any) return MODAL_OK;
    MODAL_TRY(tool_textures_make(&in->look, 0, NULL, r->threads, &t->progress, textures, err));
    for (int32_t i = 0; i < textures->n_images; i++) to->n_levels += textures->classes[textures->images[i].class].n_levels;
    MODAL_TRY(modal_alloc(&images, textures->n_images, sizeof *images, "images", err));
    to->images = images;
    MODAL_TRY(modal_alloc(&levels, to->n_levels, sizeof *levels, "images", err));
    to->levels = levels;
    MODAL_TRY(modal_alloc(&parts, textures->n_classes, sizeof *parts, "images", err));
    to->parts = parts;
    MODAL_TRY(modal_alloc(&part_texels, textures->n_classes, sizeof *part_texels, "images", err));
    to->part_texels = part_texels;
    to->n_levels = 0;
    for (int32_t k = 0; k < textures->n_classes; k++) {
        const modal_texture_class *class = &textures->classes[k];
        int64_t texels = 0;
        for (int l = 0, w = class->width, h = class->height; l < class->n_levels; l++, w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) texels += (int64_t)w * h;
        parts[k] = class->levels[0], part_texels[k] = texels * class->n_layers;
        for (int32_t i = 0; i < textures->n_images; i++) {
            if (textures->images[i].class != k) continue;
            images[i] = (modal_paint_image){to->n_levels, class->n_levels};
            int64_t at = first; /* layers of a level stand one after the other */
            for (int l = 0, w = class->width, h = class->height; l < class->n_levels; l++, w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) {
                levels[to->n_levels++] = (modal_paint_level){at + (int64_t)textures->images[i].layer * w * h, w, h};
                at += (int64_t)w * h * class->n_layers;
            }
        }
        first += part_texels[k];
    }
    to->of_material = (const int32_t(*)[2])textures->of_material;
    to->n_parts = textures->n_classes;
    to->n_images = textures->n_images;
    tool_stage(t, "images", tool_seconds() - start, 4 * first);
    MODAL_TRY(modalrender_read_solids(t, in, err));
done:
    if (status != MODAL_OK) modalrender_free_images(in);
    return status;
}

void modalrender_free_images(modalrender_input *in)
{
    void *all[] = {(void *)(uintptr_t)in->images.images, (void *)(uintptr_t)in->images.levels, (void *)(uintptr_t)in->images.parts,
                   (void *)(uintptr_t)in->images.part_texels}; /* ours */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_free(&all[i]);
    in->images = (modal_render_images){0};
    modalrender_free_solids(in);
    modal_textures_free(&in->textures);
}
