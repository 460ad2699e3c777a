/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform --look: what the objects look like, and the images of their materials, for glb and obj; texture coordinates for vtkhdf. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_obj.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

modal_status modaldeform_check_look(const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    int shown = 0, obj = 0, vtk = 0;
    r->look_path = tool_value(a, "look");
    r->any_path = tool_count(a, "any-path");
    for (int i = 0; i < r->n_formats; i++) obj |= r->formats[i] == &modal_sequence_obj, shown |= r->formats[i] == &modal_sequence_glb;
    for (int i = 0; i < r->n_formats; i++) vtk |= r->formats[i] == &modal_sequence_vtkhdf;
    if (!r->look_path && r->any_path) return modal_error_set(err, MODAL_ERROR_USAGE, "--any-path: only with --look");
    if (r->look_path && !shown && !obj && !vtk)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--look: only glb, obj and vtkhdf have room for it, --format %s", tool_value(a, "format"));
    if (r->look_path && r->volume) return modal_error_set(err, MODAL_ERROR_USAGE, "--look: not with --output-mesh volume, which has no texture coordinates");
    if (r->look_path && obj) r->formats[r->n_formats++] = &modal_sequence_mtl;
    return MODAL_OK;
}

modal_status modaldeform_read_look(tool *t, const modaldeform_request *r, modal_basis *basis, modaldeform_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    if (!r->look_path) return MODAL_OK;
    MODAL_TRY(tool_look_read(r->look_path, NULL, r->any_path, &look->read, NULL, err));
    MODAL_TRY(tool_look_uv(&look->read, r->look_path, basis, err));
    MODAL_TRY(tool_look_images_read(&look->read, r->look_path, basis, 0, &look->images, err));
    look->about = (modal_sequence_look){&look->read.look, look->images.n, look->images.list};
    tool_stage(t, "look", tool_seconds() - start, tool_look_images_bytes(&look->images));
done:
    return status;
}

/* Where the images are, seen from OUT, which is there. */
static modal_status find_places(const modaldeform_request *r, modaldeform_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *path = NULL, *from = realpath(r->folder, NULL), *to = NULL; /* the last two: free */
    if (!from) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot resolve it, %s", r->folder, strerror(errno));
    MODAL_TRY(modal_alloc_zero(&look->places, look->about.n_images, sizeof *look->places, "images", err));
    for (int32_t i = 0; i < look->about.n_images; i++) {
        MODAL_TRY(tool_look_image(&look->read, look->images.list[i].name, &path, err));
        to = realpath(path, NULL);
        if (!to) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", look->images.list[i].name, strerror(errno));
        MODAL_TRY(modal_path_between(from, to, &look->places[i], err));
        look->images.list[i].place = look->places[i];
        modal_free(&path);
        free(to);
        to = NULL;
    }
done:
    free(from);
    free(to);
    modal_free(&path);
    return status;
}

/* The one pair of texture coordinates of each vertex of a shape, uv [n_vertices, 2] in stored order; MODAL_ERROR_INPUT where a vertex has two. */
static modal_status find_uv(const modal_shape *shape, int32_t number, float *uv, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface *s = &shape->surface;
    int32_t *of_vertex = NULL;
    memset(uv, 0, (size_t)s->n_vertices * 2 * sizeof *uv);
    if (!s->uv) return MODAL_OK;
    MODAL_TRY(modal_alloc(&of_vertex, s->n_vertices, sizeof *of_vertex, "uv", err));
    for (int64_t v = 0; v < s->n_vertices; v++) of_vertex[v] = -1;
    for (int64_t i = 0; i < 3 * s->n_triangles; i++) {
        const int32_t v = s->triangles[i], own = s->triangle_uv[i];
        const double *to = s->uv + 2 * (int64_t)own, *before = of_vertex[v] < 0 ? to : s->uv + 2 * (int64_t)of_vertex[v];
        if (memcmp(to, before, 2 * sizeof *to) != 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "vtkhdf: shape %d (%s): vertex %d lies on a seam, with texture coordinates %g %g and %g %g (glb and obj split it)", number,
                       shape->name ? shape->name : "", s->user_vertex[v], before[0], before[1], to[0], to[1]);
        of_vertex[v] = own;
        for (int k = 0; k < 2; k++) uv[2 * (int64_t)v + k] = (float)to[k];
        if (!isfinite(uv[2 * (int64_t)v]) || !isfinite(uv[2 * (int64_t)v + 1]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vtkhdf: shape %d, vertex %d: uv does not fit float32, %g %g", number, s->user_vertex[v], to[0], to[1]);
    }
done:
    modal_free(&of_vertex);
    return status;
}

/* Those of a frame: all objects, one after the other. */
static modal_status find_frame_uv(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = &in->basis;
    float *of_shape = NULL;
    int64_t most = 0, first = 0;
    int any = 0;
    for (int32_t i = 0; i < b->n_shapes; i++) {
        any |= b->shapes[i].surface.uv != NULL;
        if (b->shapes[i].surface.n_vertices > most) most = b->shapes[i].surface.n_vertices;
    }
    if (!any) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no texture coordinates, which vtkhdf takes of a --look", in->basis_path);
    MODAL_TRY(modal_alloc(&of_shape, 2 * most, sizeof *of_shape, "uv", err));
    MODAL_TRY(modal_alloc(&in->look.uv, 2 * in->n_points, sizeof *in->look.uv, "uv", err));
    for (int32_t i = 0, held = -1; i < b->n_objects; i++) {
        const int32_t number = b->objects[i].shape;
        const modal_surface *s = &b->shapes[number].surface;
        if (number != held) MODAL_TRY(find_uv(&b->shapes[number], number, of_shape, err));
        held = number;
        for (int64_t v = 0; v < s->n_vertices; v++)
            memcpy(in->look.uv + 2 * (first + (r->deform.stored_order ? v : s->user_vertex[v])), of_shape + 2 * v, 2 * sizeof *of_shape);
        first += s->n_vertices;
    }
done:
    modal_free(&of_shape);
    return status;
}

modal_status modaldeform_paint_frames(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int obj = 0, vtk = 0;
    const modal_sequence_scene scene = {.basis = &in->basis, .stored_order = r->deform.stored_order};
    for (int i = 0; i < r->n_formats; i++) obj |= r->formats[i] == &modal_sequence_obj, vtk |= r->formats[i] == &modal_sequence_vtkhdf;
    if (!in->look.about.look) return MODAL_OK;
    if (vtk) MODAL_TRY(find_frame_uv(r, in, err));
    if (!obj) goto done;
    MODAL_TRY(find_places(r, &in->look, err));
    MODAL_TRY(modal_sequence_paint_make(&in->look.paint, &in->look.about, &scene, in->n_triangles, err));
done:
    return status;
}

int64_t modaldeform_look_bytes(const modaldeform_look *look)
{
    return tool_look_images_bytes(&look->images) + 16 * look->paint.n_uv + 16 * look->paint.n_triangles;
}

void modaldeform_free_look(modaldeform_look *look)
{
    for (int32_t i = 0; look->places && i < look->images.n; i++) modal_free(&look->places[i]);
    modal_free(&look->places);
    tool_look_images_free(&look->images);
    modal_sequence_paint_free(&look->paint);
    modal_free(&look->uv);
    tool_look_free(&look->read);
    memset(&look->about, 0, sizeof look->about);
}
