/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/cache_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"

struct modal_cache_reader {
    int file;
    char *path;
    int big_endian;
    int64_t n_points, n_frames, head_bytes;
    double *times;
};

static modal_status read_at(const modal_cache_reader *r, int64_t place, void *to, int64_t bytes, modal_error *err)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n = pread(r->file, (char *)to + done, (size_t)(bytes - done), (off_t)(place + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "read error, %s", strerror(errno));
        if (n == 0) return modal_error_set(err, MODAL_ERROR_INPUT, "ends early, at byte %" PRId64, place + done);
        done += n;
    }
    return MODAL_OK;
}

/* In the file's order of bytes. */
static void turn(const modal_cache_reader *r, void *words, int64_t n)
{
    const int here_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    unsigned char *bytes = words;
    for (int64_t i = 0; i < n && r->big_endian != here_big; i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, 4);
        word = __builtin_bswap32(word);
        memcpy(bytes + 4 * i, &word, 4);
    }
}

static modal_status set_counts(modal_cache_reader *r, int32_t n_points, int32_t n_frames, int64_t head_bytes, modal_error *err)
{
    struct stat info;
    int64_t bytes = 0;
    if (n_points <= 0 || n_frames <= 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%d points in %d frames", n_points, n_frames);
    r->n_points = n_points, r->n_frames = n_frames, r->head_bytes = head_bytes;
    if (fstat(r->file, &info) != 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "cannot be read, %s", strerror(errno));
    if (!modal_size_multiply(12 * r->n_points, n_frames, &bytes) || !modal_size_add(bytes, head_bytes, &bytes) ||
        bytes != (int64_t)info.st_size) /* before memory is made for its times */
        return modal_error_set(err, MODAL_ERROR_INPUT, "%" PRId64 " bytes, but its head stands for %d points in %d frames",
                               (int64_t)info.st_size, n_points, n_frames);
    return modal_alloc(&r->times, r->n_frames, sizeof *r->times, "times", err);
}

static modal_status read_pc2(modal_cache_reader *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    char head[32];
    int32_t words[5]; /* version, points, start, rate, frames */
    float first, rate;
    MODAL_TRY(read_at(r, 0, head, sizeof head, err));
    memcpy(words, head + 12, sizeof words);
    turn(r, words, 5);
    if (memcmp(head, "POINTCACHE2", 12) != 0 || words[0] != 1) MODAL_FAIL(err, MODAL_ERROR_INPUT, "no PC2 of version 1");
    memcpy(&first, &words[2], 4);
    memcpy(&rate, &words[3], 4);
    MODAL_TRY(set_counts(r, words[1], words[4], sizeof head, err));
    for (int64_t f = 0; f < r->n_frames; f++) r->times[f] = (double)first + (double)f * (double)rate;
done:
    return status;
}

static modal_status read_mdd(modal_cache_reader *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t counts[2]; /* frames, points */
    MODAL_TRY(read_at(r, 0, counts, sizeof counts, err));
    turn(r, counts, 2);
    MODAL_TRY(set_counts(r, counts[1], counts[0], 8 + 4 * (int64_t)counts[0], err));
    for (int64_t f = 0; f < r->n_frames; f++) {
        float time;
        MODAL_TRY(read_at(r, 8 + 4 * f, &time, 4, err));
        turn(r, &time, 1);
        r->times[f] = (double)time;
    }
done:
    return status;
}

modal_status modal_cache_reader_open(modal_cache_reader **reader, modal_cache_kind kind, const char *path, modal_cache *cache,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_cache_reader *r = NULL;
    *reader = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "reader", err));
    r->file = -1;
    MODAL_TRY(modal_copy_text(&r->path, path, SIZE_MAX, err));
    r->file = modal_disk_open(path);
    if (r->file < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", path, strerror(errno));
    r->big_endian = kind == MODAL_CACHE_MDD;
    status = r->big_endian ? read_mdd(r, err) : read_pc2(r, err);
    for (int64_t f = 0; f < r->n_frames && status == MODAL_OK; f++)
        if (!isfinite(r->times[f]) || (f > 0 && !(r->times[f] > r->times[f - 1])))
            status = modal_error_set(err, MODAL_ERROR_INPUT, "frame %" PRId64 ": time is not after the one before, %g", f,
                                     r->times[f]);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        goto done;
    }
    *cache = (modal_cache){r->n_points, r->n_frames, r->times};
    *reader = r;
    r = NULL;
done:
    modal_cache_reader_close(r);
    return status;
}

modal_status modal_cache_reader_points(modal_cache_reader *r, int64_t frame, float *points, modal_error *err)
{
    const int64_t n = 3 * r->n_points;
    modal_status status = read_at(r, r->head_bytes + 4 * n * frame, points, 4 * n, err);
    if (status == MODAL_OK) {
        turn(r, points, n);
        const int64_t odd = modal_first_nonfinite(points, n);
        if (odd < n)
            status = modal_error_set(err, MODAL_ERROR_INPUT, "frame %" PRId64 ", point %" PRId64 ": not finite, %g", frame, odd / 3,
                                     (double)points[odd]);
    }
    if (status != MODAL_OK) modal_error_context(err, "%s", r->path);
    return status;
}

modal_cache_reader *modal_cache_reader_close(modal_cache_reader *r)
{
    if (!r) return NULL;
    if (r->file >= 0) close(r->file);
    modal_free(&r->times);
    modal_free(&r->path);
    modal_free(&r);
    return NULL;
}
