/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a sequence with --precision that wait to be strung together: their chunks have no place before all those in front of them
 * have a size. formats/sequences/README.md, "Shards", has the layout. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "formats/sequences/file_out.h"
#include "formats/sequences/sequence_parts.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/model/encoding.h"

/* In front of the bytes of an array. */
typedef struct piece_head {
    int64_t n_bytes;
    float most;
    int32_t unused;
} piece_head;

typedef struct piece_writer {
    modal_file_out out;
    double precision;
    modal_array_list list;
    int64_t floats[MODAL_MOST_ARRAYS]; /* of a frame */
    unsigned char *chunk;              /* room for the largest array that is rounded */
} piece_writer;

static void drop(void **writer)
{
    piece_writer *w = *writer;
    if (w) {
        modal_file_out_free(&w->out);
        modal_free(&w->chunk);
    }
    modal_free(&w);
    *writer = NULL;
}

static modal_status begin(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    piece_writer *w = NULL;
    int64_t most = 0;
    *writer = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    w->out.file = -1;
    w->precision = info->precision;
    w->list = info->arrays;
    for (int i = 0; i < w->list.n; i++) {
        w->floats[i] = modal_sequence_floats(info, i);
        if (w->floats[i] > most) most = w->floats[i];
    }
    MODAL_TRY(modal_alloc(&w->chunk, modal_encoded_room(most), 1, "encoded frame", err));
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status put_array(piece_writer *w, int array, int64_t frame, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = w->floats[array];
    const float *values = frames->arrays[array] ? frames->arrays[array] + n * frame : NULL;
    const modal_encoded_array *e = &frames->encoded[array];
    piece_head head = {.n_bytes = 4 * n};
    const void *bytes = values;
    if (modal_sequence_is_rounded(w->precision, &w->list.all[array])) {
        const modal_encoded as = e->bytes ? e->of[frame] : modal_encode(values, n, modal_sequence_scale(w->precision), w->chunk);
        bytes = e->bytes ? e->bytes + frame * e->stride : w->chunk;
        head = (piece_head){.n_bytes = as.n_bytes, .most = as.most};
    }
    MODAL_TRY(modal_file_out_write(&w->out, &head, sizeof head, err));
    MODAL_TRY(modal_file_out_write(&w->out, bytes, head.n_bytes, err));
done:
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    piece_writer *w = writer;
    for (int64_t f = 0; f < frames->n_frames; f++)
        for (int i = 0; i < w->list.n; i++) MODAL_TRY(put_array(w, i, f, frames, err));
done:
    return status;
}

static modal_status end(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    (void)target, (void)info;
    piece_writer *w = *writer;
    const modal_status status = modal_file_out_close(&w->out, err);
    drop(writer);
    return status;
}

static void skip(void *writer, int64_t frame) { (void)writer, (void)frame; }

const modal_sequence_format modal_sequence_vtkhdf_piece = {.files = {"vtkhdf"}, .begin = begin, .add = add, .end = end, .abort = drop, .skip = skip};

/* ---- strung together ---- */

/* A piece, and the frame that was read last. */
typedef struct piece_reader {
    int file;
    const char *path;
    const modal_array_list *list;
    const int64_t *rows;
    double precision;
    int64_t at;
    unsigned char *bytes[MODAL_MOST_ARRAYS];
    modal_encoded encoded[MODAL_MOST_ARRAYS];
    modal_frames frames;
} piece_reader;

static modal_status damaged(const char *path, int64_t at, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: not a piece of this sequence, byte %" PRId64, path, at);
}

/* *more 0: the file ended before the frame. */
static modal_status read_frame(piece_reader *p, int *more, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_array_list *list = p->list;
    p->frames = (modal_frames){.n_frames = 1};
    for (int i = 0; i < list->n; i++) {
        piece_head head;
        const int64_t n = p->rows[i] * list->all[i].components;
        const int rounded = modal_sequence_is_rounded(p->precision, &list->all[i]);
        const int64_t got = modal_disk_read(p->file, p->at, &head, sizeof head);
        *more = i > 0 || got != 0;
        if (!*more) goto done;
        if (got < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", p->path, strerror(errno));
        if (got != (int64_t)sizeof head || (rounded ? head.n_bytes < MODAL_ENCODED_HEAD || head.n_bytes > modal_encoded_room(n) : head.n_bytes != 4 * n) ||
            modal_disk_read(p->file, p->at + got, p->bytes[i], head.n_bytes) != head.n_bytes)
            MODAL_TRY(damaged(p->path, p->at, err));
        p->at += got + head.n_bytes;
        p->encoded[i] = (modal_encoded){head.n_bytes, head.most};
        if (rounded) p->frames.encoded[i] = (modal_encoded_array){p->bytes[i], modal_encoded_room(n), &p->encoded[i]};
        else p->frames.arrays[i] = (const float *)(const void *)p->bytes[i];
    }
done:
    return status;
}

modal_status modal_sequence_read_piece(const char *path, const modal_array_list *list, const int64_t *rows, double precision,
                                       modal_sequence_writer *to,
                                       modal_status (*append)(modal_sequence_writer *, const modal_frames *, modal_error *),
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    piece_reader p = {.file = open(path, O_RDONLY | O_CLOEXEC) /* which this run may have written */, .path = path, .list = list, .rows = rows,
                      .precision = precision};
    if (p.file < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", path, strerror(errno));
    for (int i = 0; i < list->n; i++)
        MODAL_TRY(modal_alloc(&p.bytes[i], modal_encoded_room(rows[i] * list->all[i].components), 1, "frame", err));
    for (int more = 1;;) {
        MODAL_TRY(read_frame(&p, &more, err));
        if (!more) break;
        MODAL_TRY(append(to, &p.frames, err));
    }
done:
    for (int i = 0; i < list->n; i++) modal_free(&p.bytes[i]);
    if (p.file >= 0) close(p.file);
    return status;
}
