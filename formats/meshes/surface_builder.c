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

/* Where the surface has names and what triangles have of them. */
typedef struct name_fields {
    int32_t *count;
    char ***names;
    int32_t **triangle;
    int32_t most;
    const char *what;
} name_fields;

static name_fields fields_of(modal_surface_mesh *s, int of)
{
    if (of == MODAL_NAMES_PARTS)
        return (name_fields){&s->n_parts, &s->part_names, &s->triangle_part, MODAL_SURFACE_PARTS, "part"};
    return (name_fields){&s->n_materials, &s->material_names, &s->triangle_material, MODAL_SURFACE_MATERIALS, "material"};
}

static void forget_names(modal_surface_builder *builder, int of)
{
    const name_fields to = fields_of(builder->surface, of);
    for (int32_t i = 0; i < *to.count; i++) modal_free(&(*to.names)[i]);
    modal_free(to.names);
    modal_free(to.triangle);
    *to.count = 0;
    builder->names[of].capacity = builder->names[of].triangle_capacity = 0;
}

modal_status modal_surface_builder_name(modal_surface_builder *builder, int of, const char *name, int64_t length)
{
    modal_status status = MODAL_OK;
    const name_fields to = fields_of(builder->surface, of);
    modal_error *err = builder->text->err;
    builder->names[of].now = 0;
    if (length == 0 || builder->names[of].too_many) return MODAL_OK;
    if (length > MODAL_PART_NAME) length = MODAL_PART_NAME;
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ')
            return modal_text_fail(builder->text, "control character in the name of a %s", to.what);
    /* The latest first: files name the same part many times in a row. */
    for (int32_t i = *to.count; i > 0; i--)
        if (modal_token_is(name, length, (*to.names)[i - 1])) {
            builder->names[of].now = i;
            return MODAL_OK;
        }
    if (*to.count == to.most) {
        forget_names(builder, of);
        builder->names[of].too_many = 1;
        return MODAL_OK;
    }
    MODAL_TRY(modal_grow(to.names, &builder->names[of].capacity, *to.count + 1, sizeof **to.names, "names", err));
    MODAL_TRY(modal_copy_text(&(*to.names)[*to.count], name, (size_t)length, err));
    builder->names[of].now = ++*to.count;
done:
    return status;
}

modal_status modal_surface_builder_mark(modal_surface_builder *builder, int64_t first)
{
    modal_surface_mesh *surface = builder->surface;
    for (int of = 0; of < MODAL_NAMES; of++) {
        const name_fields to = fields_of(surface, of);
        const int32_t now = builder->names[of].now;
        if (now == 0 && !*to.triangle) continue;
        const int64_t without = *to.triangle ? 0 : first;
        const modal_status status = modal_grow(to.triangle, &builder->names[of].triangle_capacity, surface->n_triangles,
                                               sizeof **to.triangle, "names", builder->text->err);
        if (status != MODAL_OK) return status;
        for (int64_t t = 0; t < without; t++) (*to.triangle)[t] = -1;
        for (int64_t t = first; t < surface->n_triangles; t++) (*to.triangle)[t] = now - 1;
    }
    return MODAL_OK;
}

modal_status modal_surface_builder_check_repeats(const modal_surface_builder *builder, const int64_t *corners, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 2; j < n; j++)
            if (corners[i] == corners[j] && !(i == 0 && j == n - 1))
                return modal_text_fail(builder->text, "repeated vertex in a face, %lld",
                                       (long long)corners[i] + builder->first_number);
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
    const int64_t first = surface->n_triangles;
    modal_status status = modal_surface_builder_check_repeats(builder, corners, n);
    if (status != MODAL_OK) return status;
    status = modal_grow(&surface->triangles, &builder->triangle_capacity, first + n - 2,
                        3 * sizeof *surface->triangles, "triangles", text->err);
    for (int64_t i = 2; i < n && status == MODAL_OK; i++) {
        if (corners[0] == corners[i] || corners[0] == corners[i - 1] || corners[i - 1] == corners[i]) {
            builder->n_collapsed++;
            continue;
        }
        int32_t *triangle = surface->triangles + 3 * surface->n_triangles++;
        triangle[0] = (int32_t)corners[0];
        triangle[1] = (int32_t)corners[i - 1];
        triangle[2] = (int32_t)corners[i];
    }
    if (status == MODAL_OK && surface->n_triangles > first) status = modal_surface_builder_mark(builder, first);
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
    for (int of = 0; of < MODAL_NAMES; of++) /* names that no face follows */
        if (!*fields_of(builder->surface, of).triangle) forget_names(builder, of);
    return MODAL_OK;
}
