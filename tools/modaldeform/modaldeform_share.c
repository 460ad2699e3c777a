/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a sequence: what of it this process makes, where it writes that, and in which order it meets the others. */
#include "tools/modaldeform/modaldeform_share.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/sequences/sequence_null.h"
#include "formats/sequences/sequence_obj.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"

/* ---- the command line ---- */

static int is_shareable(const modal_sequence_format *f)
{
    return f->lay_out || f->skip || f == &modal_sequence_null || !f->name; /* rest.obj and sequence.mtl have no name */
}

modal_status modaldeform_check_share(const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *text = tool_value(a, "shard");
    r->join = tool_count(a, "join") > 0;
    r->verify = tool_count(a, "verify") > 0;
    if (r->verify && !r->join) return modal_error_set(err, MODAL_ERROR_USAGE, "--verify: only with --join");
    if (!text && !r->join) return MODAL_OK;
    if (text && r->join) return modal_error_set(err, MODAL_ERROR_USAGE, "--join: not with --shard, %s", text);
    if (text) MODAL_TRY(tool_share_parse(text, &r->share, err));
    const char *option = r->join ? "--join" : "--shard";
    if (r->from_stdin) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: every shard reads the trajectory, which a pipe brings once, -", option);
    if (r->force) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: not with --force, which would take away what other shards write", option);
    if (r->join && r->dry) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--join: not with --format null");
    for (int i = 0; i < r->n_formats; i++)
        if (!is_shareable(r->formats[i]))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: %s has no frames that could be divided", option, r->formats[i]->name);
    if (r->show_arrays) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: --show arrays is one frame", option);
    r->resume = 0; /* a share always does */
done:
    return status;
}

modal_status modaldeform_pick_gpu(modaldeform_request *r, char **name, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t rank = 0, n = 0;
    modal_device device;
    if (strcmp(r->deform.back_end, "cuda:auto") != 0) return MODAL_OK;
    MODAL_TRY(tool_local_rank(&rank, err));
    for (int i = 0; i < modal_device_count(); i++)
        n += modal_device_describe(i, &device, NULL) == MODAL_OK && strncmp(device.name, "cuda:", 5) == 0;
    MODAL_TRY(modal_alloc(name, 32, 1, "name", err));
    /* Without a GPU the device says why there is none. */
    snprintf(*name, 32, "cuda:%" PRId64, n > 0 ? rank % n : 0);
    r->deform.back_end = *name;
done:
    return status;
}

/* ---- a share ---- */

static modal_status path_of(char **path, const char *folder, const char *name, const char *end, modal_error *err)
{
    const int64_t length = (int64_t)(strlen(folder) + strlen(name) + strlen(end)) + 2;
    const modal_status status = modal_alloc(path, length, 1, "name", err);
    if (status == MODAL_OK) snprintf(*path, (size_t)length, "%s/%s%s", folder, name, end);
    return status;
}

static modaldeform_sharing sharing_of(const modal_sequence_format *f, const modal_sequence_info *info)
{
    if (f == &modal_sequence_null) return MODALDEFORM_DROPPED;
    if (!f->name) return MODALDEFORM_WHOLE;
    if (f->folder) return MODALDEFORM_FRAMES;
    return f->lay_out && !(f->piece && info->precision > 0) ? MODALDEFORM_PLACED : MODALDEFORM_PIECES;
}

modaldeform_share *modaldeform_share_delete(modaldeform_share *s)
{
    if (!s) return NULL;
    for (int i = 0; i < s->n; i++) {
        modaldeform_shared *f = &s->all[i];
        const modal_sequence_format *writer = f->sharing == MODALDEFORM_PIECES ? f->format->piece : f->format;
        if (f->writer) writer->abort(&f->writer);
        modal_share_file_close(f->file);
        tool_output_discard(&f->made);
        modal_free(&f->part);
    }
    tool_output_discard(&s->made_head);
    tool_output_discard(&s->made_journal);
    tool_output_discard(&s->made_claim);
    if (s->journal >= 0) close(s->journal);
    if (s->claim >= 0) close(s->claim);
    modal_free(&s->journal_path);
    modal_free(&s->folder);
    modal_free(&s->found);
    modal_free(&s->head);
    modal_free(&s->done);
    modal_free(&s);
    return NULL;
}

/* Names that nobody has given yet where the sequence has not begun. */
static modal_status refuse_others(const modaldeform_share *s, const modaldeform_outputs *out, modal_error *err)
{
    struct stat info;
    char path[4096];
    if (s->found) return MODAL_OK;
    for (int i = 0; i < out->n_outputs; i++)
        if (lstat(out->all[i].path, &info) == 0)
            return modal_error_set(err, TOOL_ERROR_EXISTS, "%s: exists, and is of another run", out->all[i].path);
    if (snprintf(path, sizeof path, "%s/sequence.vtkhdf.journal", s->r->folder) < (int)sizeof path && lstat(path, &info) == 0)
        return modal_error_set(err, TOOL_ERROR_EXISTS, "%s: exists, of an unfinished sequence of --resume", path);
    return MODAL_OK;
}

modal_status modaldeform_share_open(tool *t, const modaldeform_request *r, const modaldeform_input *in, const modal_sequence_info *info,
                                    const modaldeform_outputs *out, modaldeform_share **share, int *finished, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_share *s = NULL;
    int is_there = 0, is_ours = 0;
    int64_t n = 0;
    *share = NULL;
    *finished = 0;
    if (r->share.n == 0 && !r->join) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "shard", err));
    *s = (modaldeform_share){.r = r, .info = info, .share = r->share, .journal = -1, .claim = -1, .n = r->n_formats};
    *share = s;
    MODAL_TRY(path_of(&s->folder, r->folder, TOOL_SHARES_FOLDER, "", err));
    MODAL_TRY(modal_alloc_zero(&s->done, info->n_frames, 1, "shard", err));
    for (int i = 0; i < s->n; i++) {
        modaldeform_shared *f = &s->all[i];
        *f = (modaldeform_shared){.format = r->formats[i], .sharing = sharing_of(r->formats[i], info)};
        if (f->sharing == MODALDEFORM_PLACED) MODAL_TRY(path_of(&f->part, r->folder, f->format->files[0], ".part", err));
        if (f->sharing == MODALDEFORM_FRAMES) MODAL_TRY(path_of(&f->part, r->folder, f->format->folder, ".part", err));
    }
    if (!r->dry) {
        MODAL_TRY(modaldeform_share_is_finished(r, in, info, &is_there, &is_ours, err));
        MODAL_TRY(tool_shares_head(r->folder, &s->found, &n, err));
        if (is_there && !is_ours && !s->found) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: holds the output of another run", r->folder);
        if (is_there && is_ours) {
            /* Its process may have been killed in its last moment, or is in it. */
            tool_outputs_recover(out->all[out->n_outputs - 1].path, NULL);
            tool_shares_remove(r->folder);
            tool_note(t, "%s: complete already", r->folder);
            *finished = 1;
            goto done;
        }
    }
    if (r->join && !s->found) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no shards have been begun here", r->folder);
    if (r->join) s->share = (modal_share){0, n};
    s->complete = r->join;
    if (!r->dry && !r->join) {
        char name[32];
        tool_share_state state = TOOL_SHARE_MISSING;
        snprintf(name, sizeof name, "%" PRId64, s->share.index);
        MODAL_TRY(path_of(&s->journal_path, s->folder, name, ".journal", err));
        MODAL_TRY(tool_shares_state(r->folder, s->share.index, &state, err));
        s->complete = state == TOOL_SHARE_COMPLETE;
    }
    s->own = (modal_share_run){modal_share_first(info->n_frames, s->share.index, s->share.n),
                               modal_share_first(info->n_frames, s->share.index + 1, s->share.n)};
done:
    return status;
}

const char *modaldeform_share_kind(const modaldeform_share *s, char kind[32])
{
    const char *at = s && s->complete && s->found ? strstr(s->found, "\nbackend ") : NULL;
    return at && sscanf(at, "\nbackend %31s", kind) == 1 ? kind : NULL;
}

/* ---- the files ---- */

/* The file that all write to, made by the first one who comes. */
static modal_status open_placed(modaldeform_share *s, modaldeform_shared *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    char *own = NULL;
    int first;
    if (lstat(f->part, &info) != 0) {
        MODAL_TRY(path_of(&own, s->folder, f->format->files[0], "", err));
        MODAL_TRY(tool_output_begin(&f->made, own, 1, err));
        MODAL_TRY(f->format->lay_out(f->made.temporary, s->info, err));
        MODAL_TRY(tool_publish(&f->made, f->part, &first, err));
    }
    MODAL_TRY(modal_share_file_open(&f->file, f->format, f->part, s->info, s->share, err));
done:
    tool_output_name_error(&f->made, err);
    modal_free(&own);
    return status;
}

/* A folder of this process, whose frames move to the common one when they are complete. */
static modal_status open_frames(modaldeform_share *s, modaldeform_shared *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[64], *own = NULL;
    if (mkdir(f->part, 0777) != 0 && errno != EEXIST) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot make the folder, %s", f->part, strerror(errno));
    snprintf(name, sizeof name, "%s-%" PRId64, f->format->folder, s->share.index);
    MODAL_TRY(path_of(&own, s->folder, name, "", err));
    MODAL_TRY(tool_numbered_begin(&f->made, own, f->format->extension, 1, err));
    const modal_sequence_target target = {.folder = f->made.temporary};
    MODAL_TRY(f->format->begin(&f->writer, &target, s->info, err));
done:
    modal_free(&own);
    return status;
}

static modal_status open_piece(modaldeform_share *s, modaldeform_shared *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[32], *path = NULL;
    snprintf(name, sizeof name, "%" PRId64 ".%s", s->share.index, f->format->piece->files[0]);
    MODAL_TRY(path_of(&path, s->folder, name, "", err));
    MODAL_TRY(tool_output_begin(&f->made, path, 1, err));
    const modal_sequence_target target = {.files = {f->made.temporary}};
    MODAL_TRY(f->format->piece->begin(&f->writer, &target, s->info, err));
    f->format->piece->skip(f->writer, s->own.first);
done:
    modal_free(&path);
    return status;
}

/* Opens all, and lists the frames that are to be made. */
static modal_status open_files(modaldeform_share *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < s->n; i++) {
        modaldeform_shared *f = &s->all[i];
        if (f->sharing == MODALDEFORM_PLACED) MODAL_TRY(open_placed(s, f, err));
        if (f->sharing == MODALDEFORM_FRAMES) MODAL_TRY(open_frames(s, f, err));
        if (f->sharing == MODALDEFORM_PIECES) MODAL_TRY(open_piece(s, f, err));
        if (f->sharing == MODALDEFORM_DROPPED) {
            modal_sequence_info own = *s->info;
            own.n_frames = s->own.end - s->own.first;
            MODAL_TRY(f->format->begin(&f->writer, NULL, &own, err));
        }
        if (f->sharing == MODALDEFORM_PLACED) {
            int n;
            const modal_share_part *parts = modal_share_file_parts(f->file, &n);
            modal_share_add_parts(s->runs, &s->n_runs, parts, n);
        } else if (f->sharing != MODALDEFORM_WHOLE) {
            modal_share_add_run(s->runs, &s->n_runs, s->own);
        }
    }
done:
    return status;
}

/* Some of the frames. */
static modal_frames slice(const modaldeform_share *s, const modal_frames *frames, int64_t from, int64_t n)
{
    modal_frames some = {.n_frames = n};
    for (int i = 0; i < s->info->arrays.n; i++) {
        const modal_encoded_array *e = &frames->encoded[i];
        if (frames->arrays[i]) some.arrays[i] = frames->arrays[i] + from * modal_sequence_floats(s->info, i);
        if (e->bytes) some.encoded[i] = (modal_encoded_array){e->bytes + from * e->stride, e->stride, e->of + from};
    }
    return some;
}

/* Frames' files get their names in the folder of all. */
static modal_status place_frames(const modaldeform_shared *f, int64_t first, int64_t n, modal_error *err)
{
    char from[4096], to[4096];
    for (int64_t i = first; i < first + n; i++) {
        snprintf(from, sizeof from, "%s/%06" PRId64 ".%s", f->made.temporary, i, f->format->extension);
        snprintf(to, sizeof to, "%s/%06" PRId64 ".%s", f->part, i, f->format->extension);
        if (rename(from, to) != 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot rename, %s", to, strerror(errno));
    }
    return MODAL_OK;
}

/* A sink: frames go to the files and into the journal. */
static modal_status add_frames(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    modaldeform_share *s = self;
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    char text[MODAL_HASH_TEXT], line[128];
    const int64_t own = first > s->own.first ? first : s->own.first;
    const int64_t end = first + frames->n_frames < s->own.end ? first + frames->n_frames : s->own.end;
    int pieces = 0;
    MODAL_TRY(modal_hash_new(&hash, err));
    for (int i = 0; i < s->n; i++) {
        modaldeform_shared *f = &s->all[i];
        if (f->sharing == MODALDEFORM_PLACED) MODAL_TRY(modal_share_file_write(f->file, first, frames, hash, err));
        if (f->sharing == MODALDEFORM_PLACED || f->sharing == MODALDEFORM_WHOLE || own >= end) continue;
        const modal_frames some = slice(s, frames, own - first, end - own);
        const modal_sequence_format *to = f->sharing == MODALDEFORM_PIECES ? f->format->piece : f->format;
        pieces |= f->sharing == MODALDEFORM_PIECES;
        if (f->sharing == MODALDEFORM_FRAMES) f->format->skip(f->writer, own);
        MODAL_TRY(to->add(f->writer, &some, err));
        if (f->sharing == MODALDEFORM_FRAMES) MODAL_TRY(place_frames(f, own, end - own, err));
    }
    s->n_made += frames->n_frames;
    if (s->journal < 0 || pieces) goto done;
    if (own < end) MODAL_TRY(modaldeform_share_hash_files(s, own, end - own, hash, err));
    modal_hash_text(hash, text);
    snprintf(line, sizeof line, "frames %" PRId64 " %" PRId64 " %s\n", first, frames->n_frames, text);
    MODAL_TRY(modaldeform_share_note(s, line, err));
done:
    modal_hash_delete(hash);
    return status;
}

/* All that the share has is on the disk, and its journal says so. */
static modal_status complete(modaldeform_share *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < s->n; i++) {
        modaldeform_shared *f = &s->all[i];
        if (f->sharing == MODALDEFORM_PLACED) MODAL_TRY(modal_share_file_sync(f->file, err));
        if (f->sharing == MODALDEFORM_FRAMES) {
            const tool_output folder = {.path = f->part, .temporary = f->part, .extension = f->format->extension};
            f->format->abort(&f->writer);
            MODAL_TRY(tool_output_sync(&folder, err));
            tool_output_discard(&f->made);
        }
        if (f->sharing == MODALDEFORM_PIECES) {
            MODAL_TRY(f->format->piece->end(&f->writer, NULL, s->info, err));
            MODAL_TRY(tool_output_commit(&f->made, err));
        }
    }
    MODAL_TRY(modaldeform_share_note(s, "complete\n", err));
    if (fsync(s->journal) != 0 && errno != EINVAL)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot sync, %s", s->journal_path, strerror(errno));
done:
    return status;
}

/* ---- the run ---- */

/* The frames of the runs that are not there. */
static modal_status make_frames(tool *t, modaldeform_input *in, modaldeform_share *s, modal_deformer *deformer, const modal_frame_plan *plan,
                                modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_frame_step sink = {s, add_frames};
    modaldeform_way way = {.out = out, .sink = &sink};
    modal_sequence_frame_bytes(s->info, &way.frame_bytes); /* of a checked sequence: it fits */
    for (int i = 0; i < s->n_runs; i++)
        for (int64_t f = s->runs[i].first, end; f < s->runs[i].end; f = end) {
            for (end = f; end < s->runs[i].end && s->done[end] == s->done[f];) end++;
            if (s->done[f]) s->n_kept += end - f;
            way.run = (modal_share_run){f, end};
            if (!s->done[f]) MODAL_TRY(modaldeform_write_frames(t, s->r, in, deformer, plan, &way, err));
        }
done:
    return status;
}

static void report(tool *t, const modaldeform_share *s, const char *kind)
{
    json_object_set_new(t->report, "backend", json_string(kind));
    json_object_set_new(t->report, "shard", json_integer(s->r->join ? -1 : s->share.index));
    json_object_set_new(t->report, "shards", json_integer(s->share.n));
    json_object_set_new(t->report, "frames", json_integer(s->n_made));
    json_object_set_new(t->report, "kept_frames", json_integer(s->n_kept));
    if (!s->r->join)
        tool_note(t, "%s: shard %" PRId64 " of %" PRId64 ": %" PRId64 " frames made, %" PRId64 " were there", s->r->dry ? "dropped" : s->r->folder,
                  s->share.index, s->share.n, s->n_made, s->n_kept);
}

modal_status modaldeform_share_run(tool *t, modaldeform_input *in, modaldeform_share *s, const char *kind, modal_deformer *deformer,
                                   const modal_frame_plan *plan, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modaldeform_request *r = s->r;
    int finished = 0, making = 0; /* frames, where there was no manifest */
    MODAL_TRY(modaldeform_share_describe(in, kind, s, err));
    if (!r->dry) {
        if (!s->complete) MODAL_TRY(refuse_others(s, out, err));
        MODAL_TRY(modaldeform_share_meet(s, &finished, err));
        if (finished) goto done;
        if (!s->complete) MODAL_TRY(modaldeform_share_resume(t, in, deformer, s, err));
    }
    if (!s->complete) {
        making = !r->dry && !modaldeform_share_is_complete(s);
        MODAL_TRY(open_files(s, err));
        if (!r->dry) {
            int same;
            char *journal = NULL;
            MODAL_TRY(tool_shares_load(s->journal_path, &journal, err));
            status = modaldeform_share_verify(s, journal ? journal : "", s->done, &same, err);
            modal_free(&journal);
            if (status != MODAL_OK) goto done;
        }
        MODAL_TRY(make_frames(t, in, s, deformer, plan, out, err));
        if (!r->dry) MODAL_TRY(complete(s, err));
        making = 0;
    }
    report(t, s, kind);
    if (!r->dry) MODAL_TRY(modaldeform_share_finish(t, r, in, s, out, err));
done:
    /* Two processes make the same share, and a third one, or one of them, renames what the other still writes. */
    const int late = making && status == MODAL_ERROR_SYSTEM && modaldeform_share_was_finished(s);
    if (status != MODAL_OK && !r->dry && (late || modaldeform_share_is_gone(s))) { /* with this process's own files in it */
        memset(err, 0, sizeof *err);
        status = MODAL_OK;
        finished = 1;
    }
    if (finished && status == MODAL_OK) tool_note(t, "%s: another process has finished it", r->folder);
    return status;
}
