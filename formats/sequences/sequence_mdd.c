/* SPDX-License-Identifier: Apache-2.0 */
/* MDD, LightWave's point cache, which Blender and others read, too. Everything is big-endian; unlike
 * PC2 it has the times, as float32. */
#include "formats/sequences/sequence_mdd.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "lib/base/memory.h"

enum { PIECE = MODAL_FILE_OUT_PIECE / 4 }; /* floats that are turned round at a time */

typedef struct mdd_writer {
    modal_file_out out;
    int64_t n_points;
} mdd_writer;

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    *memory_bytes = 1 << 20;
    if (info->n_points > INT32_MAX || info->n_frames > INT32_MAX ||
        !modal_size_multiply(12 * info->n_points + 4, info->n_frames, disk_bytes) ||
        !modal_size_add(*disk_bytes, 8, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "mdd: counts points and frames in 32 bits, %" PRId64 " points",
                               info->n_points);
    return MODAL_OK;
}

static void drop(void **writer)
{
    mdd_writer *w = *writer;
    if (w) modal_file_out_free(&w->out);
    modal_free(&w);
    *writer = NULL;
}

/* The loop is what compilers turn into byte shuffles. */
static void turn_round(uint32_t *to, const float *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, 4);
        to[i] = __builtin_bswap32(bits);
    }
}

static modal_status put_floats(modal_file_out *out, const float *values, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t done = 0; done < n; done += PIECE) {
        char *to = NULL;
        const int64_t count = n - done < PIECE ? n - done : PIECE;
        MODAL_TRY(modal_file_out_reserve(out, 4 * count, &to, err));
        turn_round((uint32_t *)(void *)to, values + done, count); /* everything here is 4 bytes long */
        modal_file_out_filled(out, to + 4 * count);
    }
done:
    return status;
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    mdd_writer *w = NULL;
    const uint32_t head[2] = {__builtin_bswap32((uint32_t)info->n_frames),
                              __builtin_bswap32((uint32_t)info->n_points)};
    *writer = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    w->out.file = -1;
    w->n_points = info->n_points;
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
    MODAL_TRY(modal_file_out_write(&w->out, head, sizeof head, err));
    for (int64_t f = 0; f < info->n_frames; f++) {
        const float time = (float)(info->times[f] * (info->slow_motion > 0 ? info->slow_motion : 1));
        if (!isfinite(time))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "mdd: frame %" PRId64 ": its time does not fit float32, %g", f,
                       info->times[f]);
        MODAL_TRY(put_floats(&w->out, &time, 1, err));
    }
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    mdd_writer *w = writer;
    return put_floats(&w->out, frames->arrays[0], 3 * w->n_points * frames->n_frames,
                      err);
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    (void)target, (void)info;
    mdd_writer *w = *writer;
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
    places[0] = (modal_sequence_place){.big_endian = 1, .place = 8 + 4 * info->n_frames, .frame_bytes = 12 * info->n_points};
    *n = 1;
    return MODAL_OK;
}

const modal_sequence_format modal_sequence_mdd = {
    .name = "mdd", .files = {"sequence.mdd"}, .kinds = {"mdd"}, .needs_frames = 1, .wants_rest = 1,
    .holds_surface = 1, .carries = modal_sequence_is_points, .size = size, .begin = begin, .add = add, .end = end, .abort = drop,
    .lay_out = lay_out, .places = places};
