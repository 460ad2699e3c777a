/* SPDX-License-Identifier: Apache-2.0 */
/* GLB (glTF 2.0 in one binary file): the modes as morph targets and q as their animated weights, so the
 * file is exact and has no frames at all: 12 (r + 1) bytes a vertex, and 4 r a frame and object. The
 * deformer is not needed; everything is written by begin.
 *
 * Some viewers clamp weights to [0, 1] (Blender's importer does), so q is brought there:
 *   base = X + sum_k U_k low_k,  target_k = U_k (high_k - low_k),  weight_k = (q_k - low_k) / (high_k - low_k)
 * with low_k and high_k the least and most of 0 and of q_k over all frames and objects of the shape.
 * Rigid motion animates the object's node. */
#include "formats/sequences/sequence_glb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/sequences/glb_writer.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

/* The bytes of an image's file, some at a time: all of them in memory would be pages that the system has to clear before. */
static modal_status copy_image(glb_writer *w, const modal_sequence_image *image, int64_t place, modal_error *err)
{
    enum { PIECE = 1 << 20 };
    modal_status status = MODAL_OK;
    char *piece = NULL;
    const int file = modal_disk_open(image->path);
    if (file < 0) MODAL_FAIL(err, modal_disk_open_status(errno), "%s: cannot open, %s", image->name, strerror(errno));
    MODAL_TRY(modal_alloc(&piece, PIECE, 1, "an image", err));
    for (int64_t at = 0; at <= image->length; at += PIECE) {
        const int64_t left = image->length - at, n = modal_disk_read(file, at, piece, PIECE);
        if (n != (left < PIECE ? left : PIECE)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has changed meanwhile", image->name);
        if (n > 0) MODAL_TRY(modal_file_out_write_at(&w->out, place + at, piece, n, err));
    }
done:
    if (file >= 0) close(file);
    modal_free(&piece);
    return status;
}

/* They come first: the disk is at work on them while the shapes are made. */
static modal_status write_images(glb_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; w->scene.look.in && i < w->scene.look.in->n_images; i++) {
        static const char zeros[4] = {0};
        const modal_sequence_image *image = &w->scene.look.in->images[i];
        const int64_t place = w->start + w->scene.image_places[i];
        MODAL_TRY(image->bytes ? modal_file_out_write_at(&w->out, place, image->bytes, image->length, err) : copy_image(w, image, place, err));
        MODAL_TRY(modal_file_out_write_at(&w->out, place + image->length, zeros, (4 - image->length % 4) % 4, err));
    }
done:
    return status;
}

static modal_status write_binary(glb_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = w->scene.basis;
    MODAL_TRY(write_images(w, err));
    for (int32_t i = 0; i < b->n_shapes; i++) {
        if (!w->scene.shapes[i].used) continue;
        MODAL_TRY(modal_glb_write_shape(w, i, err));
    }
    if (w->scene.times < w->scene.n_arrays) MODAL_TRY(modal_glb_write_times(w, err));
    for (int32_t i = 0; i < b->n_objects; i++) {
        const int weights = w->scene.shapes[b->objects[i].shape].n_targets > 0;
        if (weights) MODAL_TRY(modal_glb_write_weights(w, i, err));
        if (w->scene.info->scene->trajectory->poses)
            MODAL_TRY(modal_glb_write_rigid(w, i, w->scene.object_array[i] + weights, err));
    }
done:
    return status;
}

/* ---- the file ---- */

/* Room for the JSON chunk: its length when every number that is not known yet is as long as one can
 * be. */
static modal_status reserve(glb_writer *w, int64_t *room, modal_error *err)
{
    glb_scene *g = &w->scene;
    for (int64_t i = 0; i < g->n_arrays; i++)
        for (int k = 0; k < 3; k++) g->arrays[i].least[k] = g->arrays[i].most[k] = -1.17549435e-38f;
    char *text = modal_glb_json(g);
    if (!text) return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory", w->out.path);
    *room = ((int64_t)strlen(text) + 3) / 4 * 4;
    free(text);
    return MODAL_OK;
}

static modal_status write_json(glb_writer *w, int64_t room, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t total = w->start + w->scene.bytes;
    const uint32_t head[5] = {0x46546c67, 2, (uint32_t)total, (uint32_t)room, 0x4e4f534a};
    const uint32_t binary[2] = {(uint32_t)w->scene.bytes, 0x004e4942};
    char *padded = NULL, *text = modal_glb_json(&w->scene);
    if (!text) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%s: out of memory", w->out.path);
    const size_t length = strlen(text);
    if ((int64_t)length > room || total > UINT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot be larger than 4 GiB", w->out.path);
    MODAL_TRY(modal_alloc(&padded, room, 1, "description", err));
    memset(padded, ' ', (size_t)room);
    memcpy(padded, text, length);
    MODAL_TRY(modal_file_out_write_at(&w->out, 0, head, sizeof head, err));
    MODAL_TRY(modal_file_out_write_at(&w->out, sizeof head, padded, room, err));
    MODAL_TRY(modal_file_out_write_at(&w->out, w->start - 8, binary, sizeof binary, err));
done:
    modal_free(&padded);
    free(text);
    return status;
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t room = 0;
    glb_writer w = {.out = {.file = -1},
                    .scene = {.info = info, .basis = info->scene->basis,
                              .time_shift = info->times[0] < 0 ? -info->times[0] : 0}};
    *writer = NULL;
    MODAL_TRY(modal_glb_plan(&w.scene, err));
    MODAL_TRY(modal_file_out_open(&w.out, target->files[0], err));
    MODAL_TRY(reserve(&w, &room, err));
    w.start = 20 + room + 8;
    MODAL_TRY(write_binary(&w, err));
    MODAL_TRY(write_json(&w, room, err));
    MODAL_TRY(modal_file_out_close(&w.out, err));
done:
    modal_glb_scene_free(&w.scene);
    modal_file_out_free(&w.out);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    (void)writer, (void)frames, (void)err;
    return MODAL_OK;
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    (void)writer, (void)target, (void)info, (void)err;
    return MODAL_OK;
}

static void drop(void **writer) { *writer = NULL; }

const modal_sequence_format modal_sequence_glb = {
    .name = "glb", .files = {"sequence.glb"}, .kinds = {"glb"}, .needs_scene = 1,
    .holds_surface = 1, .carries = modal_sequence_is_points, .size = modal_glb_size, .begin = begin, .add = add, .end = end,
    .abort = drop};
