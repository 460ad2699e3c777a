/* SPDX-License-Identifier: Apache-2.0 */
/* What of a triangle is there, by its alpha (paint_math.h, solid_math.h). */
#ifndef MODAL_KERNELS_ALPHA_MATH_H
#define MODAL_KERNELS_ALPHA_MATH_H

#include "kernels/raster/solid_math.h"

/* Its opacity times the alpha of its image or solid at a point of the picture. solids: whether there are some; a constant, so that pictures without are
 * compiled without. */
RASTER_INLINE float paint_alpha(const modal_raster_mesh *mesh, const modal_paint *paint, uint32_t t, const raster_clip corners[3], float x, float y, int solids)
{
    const int32_t material = paint->triangle_materials[t], image = paint->material_images ? paint->material_images[2 * (int64_t)material] : -1;
    const int32_t solid = solids && paint->material_solids ? paint->material_solids[2 * (int64_t)material] : -1;
    const float *m = paint->materials + MODAL_SHADE_MATERIAL * (int64_t)material;
    const float *uv[3] = {NULL};
    float texel[4];
    const int has_image = image >= 0 && paint_corners(paint, t, uv);
    if (!has_image && solid < 0) return m[3];
    const paint_weights weights = paint_weights_at(corners, x, y);
    paint_place place = {0.0f};
    if (has_image) place = paint_place_of(&weights, uv);
    if (solid >= 0 && !(has_image && !(paint_texels(paint, image, &place) <= 1.0f))) {
        const solid_point point = solid_point_of(paint, mesh->triangles + 3 * (int64_t)t, &weights);
        if (solid_sample(&paint->solids[solid], &point, SOLID_ALPHA, paint->linear, texel)) return m[3] * texel[3];
    }
    if (!has_image) return m[3];
    paint_sample(paint, image, (int)m[MODAL_PAINT_WRAP], 0, 0, &place, texel);
    return m[3] * texel[3];
}

/* Whether there is something of the triangle: of a cut-out where alpha is not below its cutoff, of what is blended where it exceeds the task's. */
RASTER_INLINE int paint_is_there(const modal_raster_task *task, uint32_t t, const raster_clip corners[3], float x, float y, int solids)
{
    const float *m = task->paint.materials + MODAL_SHADE_MATERIAL * (int64_t)task->paint.triangle_materials[t];
    const float alpha = paint_alpha(&task->mesh, &task->paint, t, corners, x, y, solids);
    return m[MODAL_PAINT_ALPHA] == 1.0f ? alpha >= m[MODAL_PAINT_CUTOFF] : alpha > task->blended_alpha;
}

#endif
