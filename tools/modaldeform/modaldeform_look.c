/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform --look: what the objects look like, and the images of their materials, for glb and obj. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/images/image.h"
#include "formats/meshes/text_reader.h"
#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_obj.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

modal_status modaldeform_check_look(const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    int shown = 0, obj = 0;
    r->look_path = tool_value(a, "look");
    r->any_path = tool_count(a, "any-path");
    for (int i = 0; i < r->n_formats; i++) obj |= r->formats[i] == &modal_sequence_obj, shown |= r->formats[i] == &modal_sequence_glb;
    if (!r->look_path && r->any_path) return modal_error_set(err, MODAL_ERROR_USAGE, "--any-path: only with --look");
    if (r->look_path && !shown && !obj)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--look: only glb and obj show it, --format %s", tool_value(a, "format"));
    if (r->look_path && obj) r->formats[r->n_formats++] = &modal_sequence_mtl;
    return MODAL_OK;
}

/* used [n_materials]: 1 for those that some object has. */
static modal_status find_used(const modal_look *look, const modal_basis *basis, uint8_t *used, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *materials = NULL;
    int64_t most = 0;
    double tint[3];
    for (int32_t i = 0; i < basis->n_shapes; i++)
        if (basis->shapes[i].surface.n_triangles > most) most = basis->shapes[i].surface.n_triangles;
    MODAL_TRY(modal_alloc(&materials, most, sizeof *materials, "materials", err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        MODAL_TRY(modal_look_resolve(look, basis, i, materials, tint, err));
        for (int64_t t = 0; t < basis->shapes[basis->objects[i].shape].surface.n_triangles; t++) used[materials[t]] = 1;
    }
done:
    modal_free(&materials);
    return status;
}

static modal_status load_image(modaldeform_look *look, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *path = NULL, *bytes = NULL;
    int64_t length = 0;
    modal_image_head head;
    if (!name) return MODAL_OK;
    for (int32_t i = 0; i < look->about.n_images; i++)
        if (strcmp(look->images[i].name, name) == 0) return MODAL_OK;
    MODAL_TRY(tool_look_image(&look->read, name, &path, err));
    MODAL_TRY(modal_file_load(path, &bytes, &length, err));
    MODAL_TRY(modal_image_head_read(bytes, length, name, &head, err));
    MODAL_TRY(modal_grow(&look->images, &look->capacity, look->about.n_images + 1, sizeof *look->images, "images", err));
    look->images[look->about.n_images++] = (modal_sequence_image){name, modal_image_media_type(head.kind), NULL, bytes, length};
    look->about.images = look->images;
    bytes = NULL;
done:
    modal_free(&path);
    modal_free(&bytes);
    return status;
}

modal_status modaldeform_read_look(tool *t, const modaldeform_request *r, const modal_basis *basis, modaldeform_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *used = NULL;
    const double start = tool_seconds();
    int64_t bytes = 0;
    if (!r->look_path) return MODAL_OK;
    MODAL_TRY(tool_look_read(r->look_path, NULL, r->any_path, &look->read, NULL, err));
    look->about.look = &look->read.look;
    status = modal_look_check_basis(&look->read.look, basis, err);
    if (status == MODAL_OK) {
        MODAL_TRY(modal_alloc_zero(&used, look->read.look.n_materials, 1, "materials", err));
        status = find_used(&look->read.look, basis, used, err);
    }
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", r->look_path);
    if (status != MODAL_OK) goto done;
    for (int32_t i = 0; i < look->read.look.n_materials; i++) {
        if (!used[i]) continue;
        MODAL_TRY(load_image(look, look->read.look.materials[i].image, err));
        MODAL_TRY(load_image(look, look->read.look.materials[i].normal_image, err));
    }
    for (int32_t i = 0; i < look->about.n_images; i++) bytes += look->images[i].length;
    tool_stage(t, "look", tool_seconds() - start, bytes);
done:
    modal_free(&used);
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
        MODAL_TRY(tool_look_image(&look->read, look->images[i].name, &path, err));
        to = realpath(path, NULL);
        if (!to) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", look->images[i].name, strerror(errno));
        MODAL_TRY(modal_path_between(from, to, &look->places[i], err));
        look->images[i].place = look->places[i];
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

modal_status modaldeform_paint_frames(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int obj = 0;
    const modal_sequence_scene scene = {.basis = &in->basis, .stored_order = r->deform.stored_order};
    for (int i = 0; i < r->n_formats; i++) obj |= r->formats[i] == &modal_sequence_obj;
    if (!obj || !in->look.about.look) return MODAL_OK;
    MODAL_TRY(find_places(r, &in->look, err));
    MODAL_TRY(modal_sequence_paint_make(&in->look.paint, &in->look.about, &scene, in->n_triangles, err));
done:
    return status;
}

int64_t modaldeform_look_bytes(const modaldeform_look *look)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < look->about.n_images; i++) bytes += look->images[i].length;
    return bytes + 16 * look->paint.n_uv + 16 * look->paint.n_triangles;
}

void modaldeform_free_look(modaldeform_look *look)
{
    for (int32_t i = 0; i < look->about.n_images; i++) {
        void *bytes = (void *)(uintptr_t)look->images[i].bytes; /* ours */
        modal_free(&bytes);
        if (look->places) modal_free(&look->places[i]);
    }
    modal_free(&look->places);
    modal_free(&look->images);
    modal_sequence_paint_free(&look->paint);
    tool_look_free(&look->read);
    memset(&look->about, 0, sizeof look->about);
}
