/* SPDX-License-Identifier: Apache-2.0 */
/* PC2, the point cache that Blender's Mesh Cache modifier, Maya and 3ds Max read: a head of 32 bytes
 * and then the positions as they are, so an add is one write of the caller's array. */
#include "formats/sequences/sequence_pc2.h"

#include <inttypes.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "lib/base/memory.h"

enum { HEAD_BYTES = 32 };

typedef struct pc2_writer {
    modal_file_out out;
    int64_t n_points;
} pc2_writer;

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    *memory_bytes = 1 << 20;
    if (info->n_points > INT32_MAX || info->n_frames > INT32_MAX ||
        !modal_size_multiply(12 * info->n_points, info->n_frames, disk_bytes) ||
        !modal_size_add(*disk_bytes, HEAD_BYTES, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "pc2: counts points and frames in 32 bits, %" PRId64 " points",
                               info->n_points);
    return MODAL_OK;
}

static void drop(void **writer)
{
    pc2_writer *w = *writer;
    if (w) modal_file_out_free(&w->out);
    modal_free(&w);
    *writer = NULL;
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    pc2_writer *w = NULL;
    char head[HEAD_BYTES] = "POINTCACHE2";
    const int32_t version = 1, n_points = (int32_t)info->n_points, n_frames = (int32_t)info->n_frames;
    const float start = 0.0f, rate = 1.0f; /* in frames: sample i belongs to frame i */
    *writer = NULL;
    memcpy(head + 12, &version, 4);
    memcpy(head + 16, &n_points, 4);
    memcpy(head + 20, &start, 4);
    memcpy(head + 24, &rate, 4);
    memcpy(head + 28, &n_frames, 4);
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    w->out.file = -1;
    w->n_points = info->n_points;
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
    MODAL_TRY(modal_file_out_write(&w->out, head, HEAD_BYTES, err));
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    pc2_writer *w = writer;
    return modal_file_out_write(&w->out, frames->arrays[0],
                                12 * w->n_points * frames->n_frames, err);
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    (void)target, (void)info;
    pc2_writer *w = *writer;
    modal_status status = modal_file_out_close(&w->out, err);
    drop(writer);
    return status;
}

/* ---- shares ---- */

static modal_status lay_out(const char *path, const modal_sequence_info *info, modal_error *err)
{
    void *writer = NULL;
    const modal_sequence_target target = {.files = {path}};
    const modal_status status = begin(&writer, &target, info, err);
    return status == MODAL_OK ? end(&writer, &target, info, err) : status;
}

static modal_status places(const char *path, const modal_sequence_info *info, modal_sequence_place *places, int *n, modal_error *err)
{
    (void)path, (void)err;
    places[0] = (modal_sequence_place){.place = HEAD_BYTES, .frame_bytes = 12 * info->n_points};
    *n = 1;
    return MODAL_OK;
}

const modal_sequence_format modal_sequence_pc2 = {
    .name = "pc2", .files = {"sequence.pc2"}, .kinds = {"pc2"}, .needs_frames = 1, .wants_rest = 1,
    .holds_surface = 1, .carries = modal_sequence_is_points, .size = size, .begin = begin, .add = add, .end = end, .abort = drop,
    .lay_out = lay_out, .places = places};
