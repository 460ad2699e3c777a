/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/surface_builder.h"

#include <string.h>

#include "lib/base/memory.h"

modal_status modal_surface_builder_vertex(modal_surface_builder *builder, const double position[3])
{
    modal_surface_mesh *surface = builder->surface;
    if (surface->n_vertices == INT32_MAX)
        return modal_text_fail(builder->text, "more than %d vertices", INT32_MAX);
    modal_status status =
        modal_grow(&surface->positions, &builder->vertex_capacity, surface->n_vertices + 1,
                   3 * sizeof *surface->positions, "vertices", builder->text->err);
    if (status == MODAL_OK)
        memcpy(surface->positions + 3 * surface->n_vertices++, position, 3 * sizeof *position);
    return status;
}

modal_status modal_surface_builder_polygon(modal_surface_builder *builder, const int64_t *corners,
                                           int64_t n)
{
    modal_surface_mesh *surface = builder->surface;
    modal_text *text = builder->text;
    if (n < 3) return modal_text_fail(text, "face of %lld corners", (long long)n);
    if (n > MODAL_POLYGON_CORNERS)
        return modal_text_fail(text, "face of more than %d corners, %lld", MODAL_POLYGON_CORNERS,
                               (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (corners[i] < 0 || corners[i] >= surface->n_vertices)
            return modal_text_fail(text, "vertex number out of range, %lld of %lld",
                                   (long long)corners[i], (long long)surface->n_vertices);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            if (corners[i] != corners[j]) continue;
            if (n > 3)
                return modal_text_fail(text, "repeated vertex in a face, %lld",
                                       (long long)corners[i]);
            builder->n_collapsed++;
            return MODAL_OK;
        }
    modal_status status =
        modal_grow(&surface->triangles, &builder->triangle_capacity, surface->n_triangles + n - 2,
                   3 * sizeof *surface->triangles, "triangles", text->err);
    for (int64_t i = 2; i < n && status == MODAL_OK; i++) {
        int32_t *triangle = surface->triangles + 3 * surface->n_triangles++;
        triangle[0] = (int32_t)corners[0];
        triangle[1] = (int32_t)corners[i - 1];
        triangle[2] = (int32_t)corners[i];
    }
    return status;
}

modal_status modal_surface_builder_finish(modal_surface_builder *builder, int64_t *n_collapsed)
{
    builder->text->subject = NULL;
    if (n_collapsed)
        *n_collapsed = builder->n_collapsed;
    else if (builder->n_collapsed > 0)
        return modal_text_fail(builder->text, "triangles with one vertex twice, %lld",
                               (long long)builder->n_collapsed);
    if (builder->surface->n_triangles == 0) return modal_text_fail(builder->text, "no faces");
    return MODAL_OK;
}
