/* SPDX-License-Identifier: Apache-2.0 */
/* Both caches are a head and then the positions of each frame. Those of PC2 are little-endian, so an add is one write of the
 * caller's array. MDD is big-endian, and its head has the times, as float32. */
#include "formats/sequences/sequence_point_cache.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "lib/base/memory.h"

enum { PIECE = MODAL_FILE_OUT_PIECE / 4, PC2_HEAD = 32, MDD_HEAD = 8 }; /* floats that are swapped at a time; bytes */

typedef struct cache_writer {
    modal_file_out out;
    int64_t n_points;
    int big_endian;
} cache_writer;

static modal_status size(const modal_sequence_info *info, int is_mdd, int64_t *disk_bytes, int64_t *memory_bytes, modal_error *err)
{
    *memory_bytes = 1 << 20;
    if (info->n_points > INT32_MAX || info->n_frames > INT32_MAX ||
        !modal_size_multiply(12 * info->n_points + (is_mdd ? 4 : 0), info->n_frames, disk_bytes) ||
        !modal_size_add(*disk_bytes, is_mdd ? MDD_HEAD : PC2_HEAD, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: counts points and frames in 32 bits, %" PRId64 " points",
                               is_mdd ? "mdd" : "pc2", info->n_points);
    return MODAL_OK;
}

static void drop(void **writer)
{
    cache_writer *w = *writer;
    if (w) modal_file_out_free(&w->out);
    modal_free(&w);
    *writer = NULL;
}

/* The loop is what compilers turn into byte shuffles. */
static void swap_bytes(uint32_t *to, const float *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, 4);
        to[i] = __builtin_bswap32(bits);
    }
}

static modal_status put_floats(cache_writer *w, const float *values, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!w->big_endian) return modal_file_out_write(&w->out, values, 4 * n, err);
    for (int64_t done = 0; done < n; done += PIECE) {
        char *to = NULL;
        const int64_t count = n - done < PIECE ? n - done : PIECE;
        MODAL_TRY(modal_file_out_reserve(&w->out, 4 * count, &to, err));
        swap_bytes((uint32_t *)(void *)to, values + done, count); /* everything here is 4 bytes long */
        modal_file_out_filled(&w->out, to + 4 * count);
    }
done:
    return status;
}

static modal_status put_pc2_head(cache_writer *w, const modal_sequence_info *info, modal_error *err)
{
    char head[PC2_HEAD] = "POINTCACHE2";
    const int32_t version = 1, n_points = (int32_t)info->n_points, n_frames = (int32_t)info->n_frames;
    const float start = 0.0f, rate = 1.0f; /* in frames: sample i belongs to frame i */
    memcpy(head + 12, &version, 4);
    memcpy(head + 16, &n_points, 4);
    memcpy(head + 20, &start, 4);
    memcpy(head + 24, &rate, 4);
    memcpy(head + 28, &n_frames, 4);
    return modal_file_out_write(&w->out, head, PC2_HEAD, err);
}

static modal_status put_mdd_head(cache_writer *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    const uint32_t head[2] = {__builtin_bswap32((uint32_t)info->n_frames), __builtin_bswap32((uint32_t)info->n_points)};
    MODAL_TRY(modal_file_out_write(&w->out, head, MDD_HEAD, err));
    for (int64_t f = 0; f < info->n_frames; f++) {
        const float time = (float)(info->times[f] * (info->slow_motion > 0 ? info->slow_motion : 1));
        if (!isfinite(time))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "mdd: frame %" PRId64 ": its time does not fit float32, %g", f, info->times[f]);
        MODAL_TRY(put_floats(w, &time, 1, err));
    }
done:
    return status;
}

static modal_status begin(void **writer, const char *path, const modal_sequence_info *info, int is_mdd, modal_error *err)
{
    modal_status status = MODAL_OK;
    cache_writer *w = NULL;
    *writer = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    *w = (cache_writer){.out.file = -1, .n_points = info->n_points, .big_endian = is_mdd};
    MODAL_TRY(modal_file_out_open(&w->out, path, err));
    MODAL_TRY(is_mdd ? put_mdd_head(w, info, err) : put_pc2_head(w, info, err));
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    cache_writer *w = writer;
    return put_floats(w, frames->arrays[0], 3 * w->n_points * frames->n_frames, err);
}

static modal_status end(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    (void)target, (void)info;
    cache_writer *w = *writer;
    modal_status status = modal_file_out_close(&w->out, err);
    drop(writer);
    return status;
}

static modal_status lay_out(const char *path, const modal_sequence_info *info, int is_mdd, modal_error *err)
{
    void *writer = NULL;
    const modal_status status = begin(&writer, path, info, is_mdd, err);
    return status == MODAL_OK ? end(&writer, NULL, info, err) : status;
}

static modal_status place(const modal_sequence_info *info, int is_mdd, modal_sequence_place *to, int *n)
{
    *to = (modal_sequence_place){.big_endian = is_mdd, .place = is_mdd ? MDD_HEAD + 4 * info->n_frames : PC2_HEAD,
                                 .frame_bytes = 12 * info->n_points};
    *n = 1;
    return MODAL_OK;
}

/* ---- the functions above for each of the formats, which are called without a context ---- */

static modal_status size_pc2(const modal_sequence_info *info, int64_t *disk, int64_t *memory, modal_error *err)
{
    return size(info, 0, disk, memory, err);
}

static modal_status size_mdd(const modal_sequence_info *info, int64_t *disk, int64_t *memory, modal_error *err)
{
    return size(info, 1, disk, memory, err);
}

static modal_status begin_pc2(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    return begin(writer, target->files[0], info, 0, err);
}

static modal_status begin_mdd(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    return begin(writer, target->files[0], info, 1, err);
}

static modal_status lay_out_pc2(const char *path, const modal_sequence_info *info, modal_error *err) { return lay_out(path, info, 0, err); }

static modal_status lay_out_mdd(const char *path, const modal_sequence_info *info, modal_error *err) { return lay_out(path, info, 1, err); }

static modal_status places_pc2(const char *path, const modal_sequence_info *info, modal_sequence_place *places, int *n, modal_error *err)
{
    (void)path, (void)err;
    return place(info, 0, places, n);
}

static modal_status places_mdd(const char *path, const modal_sequence_info *info, modal_sequence_place *places, int *n, modal_error *err)
{
    (void)path, (void)err;
    return place(info, 1, places, n);
}

const modal_sequence_format modal_sequence_pc2 = {
    .name = "pc2", .files = {"sequence.pc2"}, .kinds = {"pc2"}, .needs_frames = 1, .wants_rest = 1, .holds_surface = 1,
    .carries = modal_sequence_is_points, .size = size_pc2, .begin = begin_pc2, .add = add, .end = end, .abort = drop,
    .lay_out = lay_out_pc2, .places = places_pc2};
const modal_sequence_format modal_sequence_mdd = {
    .name = "mdd", .files = {"sequence.mdd"}, .kinds = {"mdd"}, .needs_frames = 1, .wants_rest = 1, .holds_surface = 1,
    .carries = modal_sequence_is_points, .size = size_mdd, .begin = begin_mdd, .add = add, .end = end, .abort = drop,
    .lay_out = lay_out_mdd, .places = places_mdd};
