/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/sequences/direct_out.h"
#include "formats/sequences/sequence_parts.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum { PIECE = 1 << 20 };

struct modal_share_file {
    char *path;
    int file;
    modal_direct_out *direct; /* NULL: through the cache */
    modal_array_list list;
    int n;
    modal_share_part parts[MODAL_MOST_ARRAYS];
    char *piece; /* [PIECE] */
};

/* ---- who owns what ---- */

static int64_t low(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t high(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t modal_share_first(int64_t n_frames, int64_t index, int64_t n)
{
    return n_frames / n * index + n_frames % n * index / n; /* floor(n_frames index / n), without its product */
}

/* The share that has the frame. */
static int64_t owner_of(int64_t frame, int64_t n_frames, int64_t n)
{
    int64_t share = low(n - 1, (int64_t)((double)frame * (double)n / (double)n_frames));
    while (share > 0 && modal_share_first(n_frames, share, n) > frame) share--;
    while (modal_share_first(n_frames, share + 1, n) <= frame) share++;
    return share;
}

static int64_t block_from(int64_t byte) { return (byte + MODAL_SHARE_BLOCK - 1) / MODAL_SHARE_BLOCK * MODAL_SHARE_BLOCK; }

static int by_place(const void *a, const void *b)
{
    const int64_t p = ((const modal_share_part *)a)->at.place, q = ((const modal_share_part *)b)->at.place;
    return (p > q) - (p < q);
}

void modal_share_divide(const modal_sequence_place *places, int n, int64_t n_frames, modal_share share, modal_share_part *parts)
{
    int64_t covered = 0, last = 0; /* where the last block that has an owner ends, and who that is */
    for (int i = 0; i < n; i++) parts[i] = (modal_share_part){.at = places[i]};
    qsort(parts, (size_t)n, sizeof *parts, by_place);
    for (int i = 0; i < n; i++) {
        modal_share_part *p = &parts[i];
        const int64_t start = p->at.place, end = start + n_frames * p->at.frame_bytes;
        const int64_t own = low(high(start, covered), end); /* the first block that is the array's own */
        p->from[0] = p->to[0] = start;
        if (last == share.index) p->to[0] = own;
        const int64_t first = start + modal_share_first(n_frames, share.index, share.n) * p->at.frame_bytes;
        const int64_t next = start + modal_share_first(n_frames, share.index + 1, share.n) * p->at.frame_bytes;
        /* A block that begins in a share's frames is that share's; the array's own beginning is that of the first frame's. */
        p->from[1] = low(end, first <= own ? own : high(own, block_from(first)));
        p->to[1] = low(end, next <= own ? own : high(own, block_from(next)));
        if (end > own) {
            const int64_t block = high(own, (end - 1) / MODAL_SHARE_BLOCK * MODAL_SHARE_BLOCK);
            last = owner_of((block - start) / p->at.frame_bytes, n_frames, share.n);
            covered = block_from(end);
        }
    }
}

void modal_share_add_run(modal_share_run *runs, int *n_runs, modal_share_run run)
{
    int at = 0, n = *n_runs;
    if (run.first >= run.end) return;
    while (at < n && runs[at].end < run.first) at++;
    int next = at; /* those that it touches become one with it */
    for (; next < n && runs[next].first <= run.end; next++) {
        run.first = low(run.first, runs[next].first);
        run.end = high(run.end, runs[next].end);
    }
    memmove(runs + at + 1, runs + next, (size_t)(n - next) * sizeof *runs);
    runs[at] = run;
    *n_runs = n - (next - at) + 1;
}

void modal_share_add_parts(modal_share_run *runs, int *n_runs, const modal_share_part *parts, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            const modal_sequence_place *at = &parts[i].at;
            if (parts[i].from[k] >= parts[i].to[k]) continue;
            const modal_share_run run = {(parts[i].from[k] - at->place) / at->frame_bytes,
                                         (parts[i].to[k] - at->place - 1) / at->frame_bytes + 1};
            modal_share_add_run(runs, n_runs, run);
        }
}

/* ---- the file ---- */

static modal_status failed(const modal_share_file *f, const char *what, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: %s, %s", f->path, what, strerror(errno));
}

modal_share_file *modal_share_file_close(modal_share_file *f)
{
    if (!f) return NULL;
    modal_direct_out_close(f->direct);
    if (f->file >= 0) close(f->file);
    modal_free(&f->piece);
    modal_free(&f->path);
    modal_free(&f);
    return NULL;
}

modal_status modal_share_file_open(modal_share_file **file, const modal_sequence_format *format, const char *path,
                                   const modal_sequence_info *info, modal_share share, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_share_file *f = NULL;
    modal_sequence_place places[MODAL_MOST_ARRAYS];
    int64_t bytes = 0, end = 0;
    *file = NULL;
    MODAL_TRY(modal_alloc_zero(&f, 1, sizeof *f, "share", err));
    f->file = -1;
    f->list = info->arrays;
    MODAL_TRY(modal_copy_text(&f->path, path, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&f->piece, PIECE, 1, "share", err));
    MODAL_TRY(format->places(path, info, places, &f->n, err));
    f->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (f->file < 0) MODAL_TRY(failed(f, "cannot be opened", err));
    modal_share_divide(places, f->n, info->n_frames, share, f->parts);
    for (int i = 0; i < f->n; i++) {
        for (int k = 0; k < 2; k++) bytes += f->parts[i].to[k] - f->parts[i].from[k];
        end = high(end, places[i].place + info->n_frames * places[i].frame_bytes);
    }
    const int threads = info->threads < 1 ? 1 : (int)low(info->threads, 4);
    if (bytes >= modal_sequence_direct_from) MODAL_TRY(modal_direct_out_open(&f->direct, path, end, threads, err));
    *file = f;
    f = NULL;
done:
    modal_share_file_close(f);
    return status;
}

const modal_share_part *modal_share_file_parts(const modal_share_file *f, int *n)
{
    *n = f->n;
    return f->parts;
}

/* Bytes in the order of the file. */
static void turn_round(char *to, const char *from, int64_t length)
{
    for (int64_t i = 0; i < length; i += 4)
        for (int k = 0; k < 4; k++) to[i + k] = from[i + 3 - k];
}

static modal_status put(modal_share_file *f, int64_t place, const char *bytes, int64_t length, modal_hash *hash, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash_more(hash, bytes, (size_t)length);
    if (f->direct) {
        MODAL_TRY(modal_direct_out_write(f->direct, place, bytes, length, err));
    } else {
        if (modal_disk_write(f->file, place, bytes, length) != 0) MODAL_TRY(failed(f, "write error", err));
        if (length >= MODAL_DISK_PIECE) modal_disk_start(f->file, place, length);
    }
done:
    return status;
}

/* Writes, or with `values` NULL reads, what is owned of an array's bytes [from, to). */
static modal_status pass(modal_share_file *f, const modal_share_part *p, const char *values, int64_t from, int64_t to, modal_hash *hash,
                         modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t count = 0;
    for (int k = 0; k < 2; k++) count += high(0, low(to, p->to[k]) - high(from, p->from[k]));
    modal_hash_begin(hash, f->list.all[p->at.array].name, count, 1);
    for (int k = 0; k < 2; k++) {
        const int64_t end = low(to, p->to[k]);
        for (int64_t at = high(from, p->from[k]), length; at < end; at += length) {
            const int whole = values && !p->at.big_endian;
            length = whole ? end - at : low(end - at, PIECE);
            if (whole) {
                MODAL_TRY(put(f, at, values + (at - from), length, hash, err));
            } else if (values) {
                /* Ranges begin anywhere in a number, whose bytes change places: whole numbers are turned. */
                const int64_t shift = (at - p->at.place) % 4;
                length = low(length, PIECE - 8);
                turn_round(f->piece, values + (at - from) - shift, (shift + length + 3) / 4 * 4);
                MODAL_TRY(put(f, at, f->piece + shift, length, hash, err));
            } else {
                const int64_t got = modal_disk_read(f->file, at, f->piece, length);
                if (got < 0) MODAL_TRY(failed(f, "cannot be read", err));
                memset(f->piece + got, 0, (size_t)(length - got));
                modal_hash_more(hash, f->piece, (size_t)length);
            }
        }
    }
done:
    return status;
}

static modal_status pass_all(modal_share_file *f, int64_t first, int64_t n_frames, const modal_frames *frames, modal_hash *hash, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < f->n; i++) {
        const modal_sequence_place *at = &f->parts[i].at;
        const int64_t from = at->place + first * at->frame_bytes;
        MODAL_TRY(pass(f, &f->parts[i], frames ? (const char *)frames->arrays[at->array] : NULL, from, from + n_frames * at->frame_bytes, hash, err));
    }
done:
    return status;
}

modal_status modal_share_file_write(modal_share_file *f, int64_t first, const modal_frames *frames, modal_hash *hash, modal_error *err)
{
    return pass_all(f, first, frames->n_frames, frames, hash, err);
}

modal_status modal_share_file_read(modal_share_file *f, int64_t first, int64_t n_frames, modal_hash *hash, modal_error *err)
{
    return pass_all(f, first, n_frames, NULL, hash, err);
}

modal_status modal_share_file_sync(modal_share_file *f, modal_error *err)
{
    return fsync(f->file) == 0 || errno == EINVAL ? MODAL_OK : failed(f, "cannot sync", err);
}
