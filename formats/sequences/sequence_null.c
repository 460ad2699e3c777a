/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_null.h"

#include <inttypes.h>

#include "lib/base/memory.h"

typedef struct null_writer {
    int n_arrays;
    int64_t array_bytes[MODAL_MOST_ARRAYS]; /* of a frame, as float32 */
    int64_t n_frames, n_dropped, bytes;
} null_writer;

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes, modal_error *err)
{
    int64_t frame, all;
    *disk_bytes = *memory_bytes = 0;
    if (!modal_sequence_frame_bytes(info, &frame) || !modal_size_multiply(frame, info->n_frames, &all))
        return modal_error_set(err, MODAL_ERROR_INPUT, "null: too large, %" PRId64 " points", info->n_points);
    return MODAL_OK;
}

static modal_status begin(void **writer, const modal_sequence_target *target, const modal_sequence_info *info,
                          modal_error *err)
{
    null_writer *w = NULL;
    (void)target;
    *writer = NULL;
    modal_status status = modal_alloc_zero(&w, 1, sizeof *w, "writer", err);
    if (status != MODAL_OK) return status;
    w->n_arrays = info->arrays.n;
    for (int i = 0; i < w->n_arrays; i++) w->array_bytes[i] = 4 * modal_sequence_floats(info, i);
    w->n_frames = info->n_frames;
    *writer = w;
    return MODAL_OK;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    null_writer *w = writer;
    (void)err;
    w->n_dropped += frames->n_frames;
    for (int i = 0; i < w->n_arrays; i++) {
        const modal_encoded_array *e = &frames->encoded[i];
        for (int64_t f = 0; f < frames->n_frames; f++) w->bytes += e->bytes ? e->of[f].n_bytes : w->array_bytes[i];
    }
    return MODAL_OK;
}

static void drop(void **writer)
{
    null_writer *w = *writer;
    modal_free(&w);
    *writer = NULL;
}

static modal_status end(void **writer, const modal_sequence_target *target, const modal_sequence_info *info,
                        modal_error *err)
{
    const null_writer *w = *writer;
    modal_status status = MODAL_OK;
    (void)target, (void)info;
    if (w->n_dropped != w->n_frames)
        status = modal_error_set(err, MODAL_ERROR_USAGE, "null: %" PRId64 " of %" PRId64 " frames came", w->n_dropped,
                                 w->n_frames);
    drop(writer);
    return status;
}

int64_t modal_sequence_null_bytes(const void *writer)
{
    return ((const null_writer *)writer)->bytes;
}

const modal_sequence_format modal_sequence_null = {
    .name = "null", .needs_frames = 1, .holds_surface = 1, .holds_volume = 1, .size = size, .begin = begin, .add = add,
    .end = end, .abort = drop};
