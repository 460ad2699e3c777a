/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform --look: what the objects look like, and the images of their materials, for glb and obj. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

modal_status modaldeform_read_look(tool *t, const modaldeform_request *r, const modal_basis *basis, modaldeform_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    if (!r->look_path) return MODAL_OK;
    MODAL_TRY(tool_look_read(r->look_path, NULL, r->any_path, &look->read, NULL, err));
    MODAL_TRY(tool_look_images_read(&look->read, r->look_path, basis, &look->images, err));
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
    return tool_look_images_bytes(&look->images) + 16 * look->paint.n_uv + 16 * look->paint.n_triangles;
}

void modaldeform_free_look(modaldeform_look *look)
{
    for (int32_t i = 0; look->places && i < look->images.n; i++) modal_free(&look->places[i]);
    modal_free(&look->places);
    tool_look_images_free(&look->images);
    modal_sequence_paint_free(&look->paint);
    tool_look_free(&look->read);
    memset(&look->about, 0, sizeof look->about);
}
