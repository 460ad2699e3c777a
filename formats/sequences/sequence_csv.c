/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "formats/sequences/file_out.h"
#include "formats/sequences/sequence_parts.h"
#include "formats/meshes/number_text.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum { MOST_NUMBER = 24, MOST_ROW = MOST_NUMBER * (4 + MODAL_MOST_ARRAYS * MODAL_ARRAY_COMPONENTS) };

typedef struct csv_writer {
    modal_file_out out;
    modal_sequence_probe *probes;
    double *times;
    modal_array_list arrays;
    int64_t n_probes, n_points, n_written;
} csv_writer;

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    int64_t rows = 0, row = 0;
    *memory_bytes = (1 << 20) + 8 * (info->n_probes + info->n_frames);
    for (int i = 0; i < info->arrays.n; i++)
        if (!info->arrays.all[i].of_cells) row += info->arrays.all[i].components;
    if (!modal_size_multiply(info->n_probes, info->n_frames, &rows) ||
        !modal_size_multiply(rows, 60 + 16 * row, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT, "csv: too many rows");
    return MODAL_OK;
}

static void drop(void **writer)
{
    csv_writer *w = *writer;
    if (w) {
        modal_file_out_free(&w->out);
        modal_free(&w->probes);
        modal_free(&w->times);
    }
    modal_free(&w);
    *writer = NULL;
}

/* Without the line of names. */
static modal_status begin_rows(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    csv_writer *w = NULL;
    *writer = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    w->out.file = -1;
    w->arrays = info->arrays;
    w->n_points = info->n_points;
    w->n_probes = info->n_probes;
    MODAL_TRY(modal_alloc(&w->probes, info->n_probes, sizeof *w->probes, "probes", err));
    memcpy(w->probes, info->probes, (size_t)info->n_probes * sizeof *w->probes);
    MODAL_TRY(modal_alloc(&w->times, info->n_frames, sizeof *w->times, "times", err));
    memcpy(w->times, info->times, (size_t)info->n_frames * sizeof *w->times);
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status begin(void **writer, const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = begin_rows(writer, target, info, err);
    csv_writer *w = *writer;
    if (status != MODAL_OK) return status;
    MODAL_TRY(modal_file_out_printf(&w->out, err, "frame,time,probe,point"));
    for (int i = 0; i < w->arrays.n; i++)
        for (int k = 0; !w->arrays.all[i].of_cells && k < w->arrays.all[i].components; k++) {
            char label[MODAL_SEQUENCE_LABEL];
            modal_sequence_label(&w->arrays.all[i], k, 0, label);
            MODAL_TRY(modal_file_out_printf(&w->out, err, ",%s", label));
        }
    MODAL_TRY(modal_file_out_printf(&w->out, err, "\n"));
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static char *put_row(char *to, const csv_writer *w, const modal_frames *frames, int64_t frame,
                     const char *start, size_t start_length, int64_t probe)
{
    const int64_t point = w->probes[probe].point;
    memcpy(to, start, start_length);
    to = modal_put_integer(to + start_length, probe);
    *to++ = ',';
    to = modal_put_integer(to, w->probes[probe].number);
    for (int i = 0; i < w->arrays.n; i++) {
        const int components = w->arrays.all[i].components;
        if (w->arrays.all[i].of_cells) continue;
        const float *values = frames->arrays[i] + components * (w->n_points * frame + point);
        for (int k = 0; k < components; k++) {
            *to++ = ',';
            to = modal_put_float(to, values[k]);
        }
    }
    *to++ = '\n';
    return to;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    csv_writer *w = writer;
    for (int64_t f = 0; f < frames->n_frames; f++) {
        char start[2 * MODAL_NUMBER_TEXT + 2], *end = modal_put_integer(start, w->n_written), *to = NULL;
        *end++ = ',';
        end = modal_put_double(end, w->times[w->n_written]);
        *end++ = ',';
        for (int64_t p = 0; p < w->n_probes; p++) {
            MODAL_TRY(modal_file_out_reserve(&w->out, MOST_ROW, &to, err));
            to = put_row(to, w, frames, f, start, (size_t)(end - start), p);
            modal_file_out_filled(&w->out, to);
        }
        w->n_written++;
    }
done:
    return status;
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    (void)target, (void)info;
    csv_writer *w = *writer;
    modal_status status = modal_file_out_close(&w->out, err);
    drop(writer);
    return status;
}

static void skip(void *writer, int64_t frame) { ((csv_writer *)writer)->n_written = frame; }

/* Rows of some frames. */
static const modal_sequence_format piece = {.files = {"csv"}, .begin = begin_rows, .add = add, .end = end, .abort = drop, .skip = skip};

static modal_status string(void *writer, const char *path, modal_error *err)
{
    enum { PIECE = MODAL_FILE_OUT_PIECE };
    modal_status status = MODAL_OK;
    csv_writer *w = writer;
    char *to = NULL;
    int64_t at = 0, got = 1;
    const int file = open(path, O_RDONLY | O_CLOEXEC); /* which this run may have written */
    for (; file >= 0 && got > 0; at += got) {
        MODAL_TRY(modal_file_out_reserve(&w->out, PIECE, &to, err));
        got = modal_disk_read(file, at, to, PIECE);
        if (got > 0) modal_file_out_filled(&w->out, to + got);
    }
    if (file < 0 || got < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", path, strerror(errno));
done:
    if (file >= 0) close(file);
    return status;
}

const modal_sequence_format modal_sequence_csv = {
    .name = "csv", .files = {"probes.csv"}, .kinds = {"csv"}, .needs_frames = 1, .holds_surface = 1,
    .holds_volume = 1, .carries = modal_sequence_of_points, .size = size, .begin = begin, .add = add, .end = end, .abort = drop,
    .skip = skip, .piece = &piece, .string = string};
