/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/surface_builder.h"

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

modal_status modal_surface_builder_part(modal_surface_builder *builder, const char *name, int64_t length)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh *surface = builder->surface;
    modal_error *err = builder->text->err;
    builder->part = 0;
    if (length == 0 || builder->too_many_parts) return MODAL_OK;
    if (length > MODAL_PART_NAME) length = MODAL_PART_NAME;
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ')
            return modal_text_fail(builder->text, "control character in the name of a part");
    /* The latest first: files name the same part many times in a row. */
    for (int32_t i = surface->n_parts; i > 0; i--)
        if (modal_token_is(name, length, surface->part_names[i - 1])) {
            builder->part = i;
            return MODAL_OK;
        }
    if (surface->n_parts == MODAL_SURFACE_PARTS) {
        for (int32_t i = 0; i < surface->n_parts; i++) modal_free(&surface->part_names[i]);
        modal_free(&surface->part_names);
        modal_free(&surface->triangle_part);
        surface->n_parts = 0;
        builder->part_capacity = builder->triangle_part_capacity = 0;
        builder->too_many_parts = 1;
        return MODAL_OK;
    }
    MODAL_TRY(modal_grow(&surface->part_names, &builder->part_capacity, surface->n_parts + 1,
                         sizeof *surface->part_names, "parts", err));
    MODAL_TRY(modal_copy_text(&surface->part_names[surface->n_parts], name, (size_t)length, err));
    builder->part = ++surface->n_parts;
done:
    return status;
}

modal_status modal_surface_builder_mark(modal_surface_builder *builder, int64_t first)
{
    modal_surface_mesh *surface = builder->surface;
    if (builder->part == 0 && !surface->triangle_part) return MODAL_OK;
    int64_t without = surface->triangle_part ? 0 : first;
    modal_status status =
        modal_grow(&surface->triangle_part, &builder->triangle_part_capacity, surface->n_triangles,
                   sizeof *surface->triangle_part, "parts", builder->text->err);
    if (status != MODAL_OK) return status;
    for (int64_t t = 0; t < without; t++) surface->triangle_part[t] = -1;
    for (int64_t t = first; t < surface->n_triangles; t++) surface->triangle_part[t] = builder->part - 1;
    return MODAL_OK;
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
    if (status == MODAL_OK) status = modal_surface_builder_mark(builder, surface->n_triangles - (n - 2));
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
