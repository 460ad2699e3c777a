/* SPDX-License-Identifier: Apache-2.0 */
/* --resume: the frames are written to OUT/sequence.vtkhdf.part, and what is complete of it is told by
 * OUT/sequence.vtkhdf.journal. Lines of text: first what the sequence is made from and how, then one
 * for each batch, after its frames were written: "frames FIRST COUNT HASH". A line without its end,
 * or one whose frames have another hash, stands for a batch that was not complete; it is written
 * again with all that follow. So nothing needs to be synced while frames are written. Both files are
 * locked by the one process that works with them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/modaldeform/modaldeform.h"

enum { MOST_TEXT = MODALDEFORM_JOURNAL_HEAD, MOST_LINE = 128 };

modal_status modaldeform_journal_open(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    int there = 0;
    char *path = NULL;
    const int64_t length = (int64_t)strlen(r->folder) + 40;
    MODAL_TRY(modal_alloc(&out->part_path, length, 1, "name", err));
    MODAL_TRY(modal_alloc(&path, length, 1, "name", err));
    snprintf(out->part_path, (size_t)length, "%s/sequence.vtkhdf.part", r->folder);
    snprintf(path, (size_t)length, "%s/sequence.vtkhdf.journal", r->folder);
    MODAL_TRY(tool_files_write(out->part_path, TOOL_FILES_ONE, NULL, &out->part_path, err));
    MODAL_TRY(tool_files_write(path, TOOL_FILES_ONE, NULL, &out->journal, err));
    MODAL_TRY(tool_journal_open(&out->journal, path, r->resume, "this sequence", &there, err));
    if (out->journal.file >= 0 && !r->resume && !r->force && there)
        MODAL_FAIL(err, TOOL_ERROR_EXISTS,
                   "%s: exists, holds an unfinished sequence (--resume goes on with it, --force discards it)",
                   r->folder);
done:
    modal_free(&path);
    return status;
}

void modaldeform_journal_discard(const modaldeform_request *r, modaldeform_outputs *out)
{
    if (r->resume || out->journal.file < 0) return;
    unlink(out->part_path);
    tool_journal_close(&out->journal, 1);
}

void modaldeform_journal_describe(const modaldeform_input *in, const modal_sequence_info *info, const char *kind,
                                  char text[MODALDEFORM_JOURNAL_HEAD])
{
    char arguments[MODAL_HASH_TEXT] = "", shown[1024];
    modal_hash *hash = NULL;
    size_t i = 0;
    if (modal_hash_new(&hash, NULL) == MODAL_OK) {
        modal_hash_array(hash, "arguments", in->arguments, (int64_t)strlen(in->arguments), 1);
        modal_hash_text(hash, arguments);
        modal_hash_delete(hash);
    }
    for (; in->arguments[i] && i + 1 < sizeof shown; i++)
        shown[i] = in->arguments[i] >= ' ' && in->arguments[i] <= '~' ? in->arguments[i] : '?';
    shown[i] = '\0';
    snprintf(text, MOST_TEXT,
             "modaldeform %s journal 1\ntrajectory %s\nbasis %s\nbackend %s\narguments %s\n"
             "frames %" PRId64 " of %" PRId64 " points, %d arrays: %s\n",
             tool_build(), in->trajectory_hash, in->trajectory.basis_hash, kind, arguments, info->n_frames,
             info->n_points, info->arrays.n, shown);
}

/* Where the journal begins otherwise, says in what. */
static modal_status refuse_other(const modaldeform_request *r, const char *found, const char *wanted,
                                 modal_error *err)
{
    static const char *const what[] = {"version of this program", "trajectory", "basis",
                                       "back end", "arguments", "frames"};
    size_t line = 0, i = 0;
    for (; found[i] && found[i] == wanted[i]; i++) line += found[i] == '\n';
    if (line > 5) line = 5;
    const char *last = strstr(found, " arrays: ");
    const size_t shown = last ? strcspn(last + 9, "\n") : 0;
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "%s: --resume: the unfinished sequence was begun with another %s (%.*s); "
                           "--force without --resume starts anew",
                           r->folder, what[line], (int)shown, last ? last + 9 : "");
}

static void hash_frame(modal_hash *hash, const modal_array_list *list, int64_t n_points, int64_t n_cells,
                       const float *const arrays[MODAL_MOST_ARRAYS], int64_t frame)
{
    for (int i = 0; i < list->n; i++) {
        const modal_array *a = &list->all[i];
        const int64_t n = a->components * (a->of_cells ? n_cells : n_points);
        modal_hash_array(hash, a->name, arrays[i] + n * frame, n, sizeof(float));
    }
}

/* Reads the frames of a line again; *same: they are what the line says. */
static modal_status compare_frames(modal_sequence_writer *writer, const modal_sequence_info *info,
                                   float *const frame[MODAL_MOST_ARRAYS], int64_t first, int64_t count,
                                   const char *wanted, int *same, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    char found[MODAL_HASH_TEXT];
    const float *arrays[MODAL_MOST_ARRAYS];
    for (int i = 0; i < MODAL_MOST_ARRAYS; i++) arrays[i] = frame[i];
    *same = 0;
    MODAL_TRY(modal_hash_new(&hash, err));
    for (int64_t f = first; f < first + count; f++) {
        MODAL_TRY(modal_sequence_read_back(writer, f, frame, err));
        hash_frame(hash, &info->arrays, info->n_points, modal_sequence_n_cells(info), arrays, 0);
    }
    modal_hash_text(hash, found);
    *same = strcmp(found, wanted) == 0;
done:
    modal_hash_delete(hash);
    return status;
}

/* Follows the lines from `place` on, as far as they and their frames are good; cuts the rest off. */
static modal_status verify(modaldeform_outputs *out, modal_sequence_writer *writer,
                           const modal_sequence_info *info, int64_t place, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *frame[MODAL_MOST_ARRAYS] = {NULL};
    for (int i = 0; i < info->arrays.n; i++)
        MODAL_TRY(modal_alloc(&frame[i], modal_sequence_floats(info, i), sizeof(float), "frame", err));
    for (;;) {
        char line[MOST_LINE + 1] = "", hash[MODAL_HASH_TEXT] = "";
        int64_t first = -1, count = 0;
        int length = 0, same = 0;
        size_t got;
        MODAL_TRY(tool_journal_read(&out->journal, place, line, MOST_LINE, &got, err));
        if (sscanf(line, "frames %" SCNd64 " %" SCNd64 " %32[0-9a-f]%n", &first, &count, hash,
                   &length) != 3 ||
            line[length] != '\n' || first != out->n_kept || count < 1 ||
            count > info->n_frames - first)
            break;
        MODAL_TRY(compare_frames(writer, info, frame, first, count, hash, &same, err));
        if (!same) break;
        out->n_kept += count;
        place += length + 1;
    }
    MODAL_TRY(tool_journal_cut(&out->journal, place, err));
done:
    for (int i = 0; i < MODAL_MOST_ARRAYS; i++) modal_free(&frame[i]);
    return status;
}

/* The file's own tables are on the disk before the journal says anything. */
static modal_status begin_anew(modaldeform_outputs *out, const char *header, const modal_sequence_info *info,
                               modal_sequence_writer **writer, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(tool_journal_cut(&out->journal, 0, err));
    MODAL_TRY(modal_sequence_begin(writer, out->part_path, info, err));
    const int part = open(out->part_path, O_RDONLY | O_CLOEXEC);
    const int failed = part < 0 || (fsync(part) != 0 && errno != EINVAL);
    if (part >= 0) close(part);
    if (failed) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: the sequence cannot be synced, %s", out->journal.path, strerror(errno));
    MODAL_TRY(tool_journal_add(&out->journal, header, err));
done:
    return status;
}

modal_status modaldeform_journal_begin(tool *t, const modaldeform_request *r, const modaldeform_input *in,
                                       const modal_sequence_info *info, const char *kind,
                                       modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_writer *writer = NULL;
    char header[MOST_TEXT], found[MOST_TEXT + 1] = "";
    double start = tool_seconds();
    struct stat part;
    size_t got;
    modaldeform_journal_describe(in, info, kind, header);
    const size_t length = strlen(header);
    MODAL_TRY(tool_journal_read(&out->journal, 0, found, MOST_TEXT, &got, err));
    const int begun = got >= length || strncmp(found, header, got) != 0;
    if (begun && strncmp(found, header, length) != 0) return refuse_other(r, found, header, err);
    if (begun && lstat(out->part_path, &part) == 0 && S_ISREG(part.st_mode)) {
        MODAL_TRY(modal_sequence_reopen(&writer, out->part_path, info, err));
        out->ours = 1;
        MODAL_TRY(verify(out, writer, info, (int64_t)length, err));
        modal_sequence_keep(writer, out->n_kept);
        tool_note(t, "%s: goes on after %" PRId64 " of %" PRId64 " frames", r->folder, out->n_kept,
                  info->n_frames);
        int64_t frame_bytes;
        modal_sequence_frame_bytes(info, &frame_bytes); /* of a checked sequence: it fits */
        tool_stage(t, "verify", tool_seconds() - start, out->n_kept * frame_bytes);
    } else {
        if (begun) tool_warn(t, "%s: is gone, all frames are made again", out->part_path);
        out->ours = 1;
        MODAL_TRY(begin_anew(out, header, info, &writer, err));
    }
done:
    out->formats[0].writer = writer;
    return status;
}

modal_status modaldeform_journal_add(modaldeform_outputs *out, const modal_array_list *arrays, int64_t n_points,
                                     int64_t n_cells, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    char text[MODAL_HASH_TEXT], line[MOST_LINE];
    if (out->journal.file < 0) return MODAL_OK;
    MODAL_TRY(modal_hash_new(&hash, err));
    for (int64_t f = 0; f < frames->n_frames; f++) hash_frame(hash, arrays, n_points, n_cells, frames->arrays, f);
    modal_hash_text(hash, text);
    snprintf(line, sizeof line, "frames %" PRId64 " %" PRId64 " %s\n", out->n_kept, frames->n_frames,
             text);
    MODAL_TRY(tool_journal_add(&out->journal, line, err));
    out->n_kept += frames->n_frames;
done:
    modal_hash_delete(hash);
    return status;
}

void modaldeform_journal_end(tool *t, const modaldeform_request *r, modaldeform_outputs *out)
{
    if (out->journal.file >= 0) {
        const int given_up = !out->complete && ((out->ours && out->n_kept == 0) || tool_journal_empty(&out->journal));
        if (given_up && out->ours) unlink(out->part_path);
        if (!given_up && !out->complete && out->ours)
            tool_note(t, "%s: %" PRId64 " frames are kept, --resume goes on with them", r->folder, out->n_kept);
        tool_journal_close(&out->journal, given_up);
    }
    tool_journal_free(&out->journal);
    modal_free(&out->part_path);
}
