/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sequence in shares: whoever finds all complete makes one folder of them, as one run would have left it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform_share.h"

/* ---- whether it is finished ---- */

static int says(const json_t *object, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found && text && strcmp(found, text) == 0;
}

static int counts(const json_t *object, const char *key, int64_t number)
{
    return json_is_integer(json_object_get(object, key)) && json_integer_value(json_object_get(object, key)) == number;
}

static int lists_file(const json_t *manifest, const char *name)
{
    size_t i;
    json_t *file;
    json_array_foreach (json_object_get(manifest, "files"), i, file)
        if (says(file, "name", name)) return 1;
    return 0;
}

modal_status modaldeform_share_is_finished(const modaldeform_request *r, const modaldeform_input *in, const modal_sequence_info *info,
                                           int *is_there, int *is_ours, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096], *text = NULL;
    json_t *m = NULL;
    *is_there = *is_ours = 0;
    if (snprintf(path, sizeof path, "%s/manifest.json", r->folder) >= (int)sizeof path)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", r->folder);
    MODAL_TRY(tool_shares_load(path, &text, err));
    if (!text) goto done;
    *is_there = 1;
    m = json_loads(text, 0, NULL);
    const json_t *frames = json_object_get(m, "frames"), *fields = json_object_get(m, "fields");
    int ours = says(m, "tool", "modaldeform") && says(m, "version", tool_version()) && says(m, "order", r->order) &&
               says(m, "normals", r->normals_name) && counts(frames, "count", in->n) && counts(frames, "start", in->start) &&
               counts(frames, "step", in->step) && json_array_size(fields) == (size_t)info->arrays.n &&
               says(json_object_get(m, in->snapshots ? "input" : "trajectory"), "hash", in->trajectory_hash) &&
               (in->snapshots || says(json_object_get(m, "basis"), "hash", in->trajectory.basis_hash));
    for (int i = 0; ours && i < info->arrays.n; i++)
        ours = strcmp(json_string_value(json_array_get(fields, (size_t)i)), info->arrays.all[i].name) == 0;
    for (int i = 0; ours && i < r->n_formats; i++)
        if (r->formats[i]->files[0]) ours = lists_file(m, r->formats[i]->files[0]);
    *is_ours = ours;
done:
    json_decref(m);
    modal_free(&text);
    return status;
}

/* ---- who finishes ---- */

/* 1: this process does; 0: another one does, or has. */
static modal_status claim(tool *t, modaldeform_share *s, int *ours, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096], manifest[4096];
    struct stat info, named;
    *ours = 0;
    snprintf(path, sizeof path, "%s/finish", s->folder);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", s->r->folder);
    for (int tries = 0; tries < 100 && !*ours; tries++) {
        if (stat(manifest, &info) == 0 || stat(s->folder, &info) != 0) goto done;
        /* The lock is the open file's: it stays with it when the file gets its name. */
        MODAL_TRY(tool_output_begin(&s->made_claim, path, 1, err));
        s->claim = fcntl(s->made_claim.lock, F_DUPFD_CLOEXEC, 3);
        MODAL_TRY(tool_publish(&s->made_claim, path, ours, err));
        if (*ours) break;
        close(s->claim);
        s->claim = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (s->claim < 0) continue; /* gone meanwhile */
        const int locked = tool_lock(s->claim, 0);
        if (locked == 0 || (locked < 0 && !s->r->join)) {
            if (locked < 0) tool_note(t, "%s: another process has begun to finish; --join does it if that was killed", s->r->folder);
            goto done;
        }
        /* Its process is gone. Nobody but who has the lock takes the name away. */
        if (fstat(s->claim, &info) == 0 && stat(path, &named) == 0 && info.st_ino == named.st_ino) unlink(path);
        close(s->claim);
        s->claim = -1;
    }
done:
    return status;
}

/* ---- the outputs ---- */

/* The output is at `path` already. */
static modal_status adopt(modaldeform_output *o, const char *path, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_copy_text(&o->file.path, o->path, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&o->file.temporary, path, SIZE_MAX, err));
    o->file.extension = o->extension;
    o->shared = 1;
done:
    return status;
}

static modal_status adopt_parts(const modaldeform_share *s, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < s->n; i++) {
        const modaldeform_shared *f = &s->all[i];
        int at = out->formats[i].first_output;
        if (f->sharing == MODALDEFORM_FRAMES)
            for (int k = 0; k < MODAL_SEQUENCE_FILES; k++) at += f->format->files[k] != NULL;
        if (f->part) MODAL_TRY(adopt(&out->all[at], f->part, err));
    }
done:
    return status;
}

/* The files that are made in the end. */
static modal_status write_rest(const modaldeform_share *s, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    char piece[4096];
    for (int i = 0; i < s->n; i++) {
        const modaldeform_shared *f = &s->all[i];
        modaldeform_format *to = &out->formats[i];
        if (f->sharing == MODALDEFORM_PLACED) {
            if (f->format->finish) MODAL_TRY(f->format->finish(&to->target, s->info, err));
            continue;
        }
        MODAL_TRY(f->format->begin(&to->writer, &to->target, s->info, err));
        for (int64_t k = 0; f->sharing == MODALDEFORM_PIECES && k < s->share.n; k++) {
            snprintf(piece, sizeof piece, "%s/%" PRId64 ".%s", s->folder, k, f->format->piece->files[0]);
            MODAL_TRY(f->format->string(to->writer, piece, err));
        }
        MODAL_TRY(f->format->end(&to->writer, &to->target, s->info, err));
    }
done:
    return status;
}

/* What share 0's run would have said of itself. */
static modal_status read_run(const modaldeform_share *s, json_t **run, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096], *text = NULL;
    *run = NULL;
    snprintf(path, sizeof path, "%s/0.journal", s->folder);
    MODAL_TRY(tool_shares_load(path, &text, err));
    const char *line = text ? strstr(text, "\nrun ") : NULL;
    if (line) *run = json_loads(line + 5, JSON_DISABLE_EOF_CHECK, NULL);
    if (!json_string_value(json_object_get(*run, "command")) || !json_string_value(json_object_get(*run, "backend")) ||
        !json_string_value(json_object_get(*run, "device")))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: damaged, it does not say what ran", path);
done:
    modal_free(&text);
    return status;
}

/* ---- --verify ---- */

/* Reads what a share has written again. A journal that is not right goes, so that the share is made again. */
static modal_status verify_share(tool *t, const modaldeform_share *s, int64_t index, int64_t *n_wrong, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_share one = *s; /* with other files, and frames of its own */
    char path[4096], *text = NULL;
    uint8_t *done = NULL;
    int same = 1;
    one.share.index = index;
    one.own = (modal_share_run){modal_share_first(s->info->n_frames, index, s->share.n), modal_share_first(s->info->n_frames, index + 1, s->share.n)};
    one.n_runs = 0;
    for (int i = 0; i < s->n; i++) one.all[i].file = NULL;
    for (int i = 0; i < s->n; i++) {
        modaldeform_shared *f = &one.all[i];
        int n;
        if (f->sharing == MODALDEFORM_FRAMES) modal_share_add_run(one.runs, &one.n_runs, one.own);
        if (f->sharing != MODALDEFORM_PLACED) continue;
        MODAL_TRY(modal_share_file_open(&f->file, f->format, f->part, s->info, one.share, err));
        const modal_share_part *parts = modal_share_file_parts(f->file, &n);
        modal_share_add_parts(one.runs, &one.n_runs, parts, n);
    }
    snprintf(path, sizeof path, "%s/%" PRId64 ".journal", s->folder, index);
    MODAL_TRY(tool_shares_load(path, &text, err));
    MODAL_TRY(modal_alloc_zero(&done, s->info->n_frames, 1, "shard", err));
    MODAL_TRY(modaldeform_share_verify(&one, text ? text : "", done, &same, err));
    int pieces = 0;
    for (int i = 0; i < s->n; i++) pieces |= one.all[i].sharing == MODALDEFORM_PIECES;
    for (int i = 0; i < one.n_runs && !pieces; i++)
        for (int64_t k = one.runs[i].first; k < one.runs[i].end; k++) same &= done[k];
    if (!same) {
        tool_warn(t, "shard %" PRId64 ": its bytes are not those of its journal; run it again", index);
        unlink(path);
        ++*n_wrong;
    }
done:
    for (int i = 0; i < s->n; i++) modal_share_file_close(one.all[i].file);
    modal_free(&done);
    modal_free(&text);
    return status;
}

static modal_status verify_all(tool *t, const modaldeform_share *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_wrong = 0;
    for (int64_t i = 0; i < s->share.n; i++) MODAL_TRY(verify_share(t, s, i, &n_wrong, err));
    if (n_wrong > 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: --verify: shards with other bytes than they wrote, %" PRId64, s->r->folder, n_wrong);
done:
    return status;
}

/* ---- together ---- */

static modal_status all_complete(tool *t, const modaldeform_share *s, int *yes, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    char list[256];
    int64_t n_missing = 0;
    *yes = stat(s->folder, &info) == 0;
    if (!*yes) return MODAL_OK; /* another process has finished */
    /* The next ones are the likeliest to be missing: one look is mostly enough. */
    for (int64_t i = 1; i <= s->share.n && *yes; i++) {
        tool_share_state state;
        MODAL_TRY(tool_shares_state(s->r->folder, (s->share.index + i) % s->share.n, &state, err));
        *yes = state == TOOL_SHARE_COMPLETE;
    }
    if (*yes) goto done;
    if (s->r->join || s->share.n <= 64) MODAL_TRY(tool_shares_list(s->r->folder, s->share.n, 0, list, sizeof list, &n_missing, err));
    if (s->r->join && n_missing > 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: --join: %" PRId64 " of %" PRId64 " shards are not complete, %s", s->r->folder, n_missing, s->share.n, list);
    if (n_missing > 0) tool_note(t, "%s: not complete yet: shards %s of %" PRId64, s->r->folder, list, s->share.n);
done:
    return status;
}

modal_status modaldeform_share_finish(tool *t, const modaldeform_request *r, const modaldeform_input *in, modaldeform_share *s,
                                      modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    int yes = 0, ours = 0;
    int64_t bytes = 0;
    json_t *run = NULL;
    const double start = tool_seconds();
    json_object_set_new(t->report, "finished", json_false());
    MODAL_TRY(all_complete(t, s, &yes, err));
    if (!yes) goto done;
    MODAL_TRY(claim(t, s, &ours, err));
    if (!ours) goto done;
    MODAL_TRY(tool_outputs_recover(out->all[out->n_outputs - 1].path, err));
    if (r->verify) MODAL_TRY(verify_all(t, s, err));
    MODAL_TRY(adopt_parts(s, out, err));
    MODAL_TRY(modaldeform_begin_sidecars(r, out, err));
    MODAL_TRY(write_rest(s, out, err));
    MODAL_TRY(read_run(s, &run, err));
    const modaldeform_ran ran = {json_string_value(json_object_get(run, "command")), json_string_value(json_object_get(run, "backend")),
                                 json_string_value(json_object_get(run, "device"))};
    MODAL_TRY(modaldeform_write_manifest(t, r, in, s->info, &ran, out, &bytes, err));
    MODAL_TRY(modaldeform_commit_outputs(r, out, err));
    tool_shares_remove(r->folder);
    tool_stage(t, "finish", tool_seconds() - start, -1);
    json_object_set_new(t->report, "finished", json_true());
    json_object_set_new(t->report, "bytes", json_integer(bytes));
    tool_note(t, "%s: %" PRId64 " frames of %" PRId64 " points, %.1f MB, of %" PRId64 " shards", r->folder, in->n, in->mesh_points, 1e-6 * (double)bytes,
              s->share.n);
done:
    json_decref(run);
    return status;
}
