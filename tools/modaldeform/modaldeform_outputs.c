/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a sequence: temporary files, and folders of frames, that become the outputs together.
 * Writers know nothing of that; here they get the temporary names. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/sequences/manifest.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/common/folder_files.h"
#include "tools/common/pipes.h"
#include "tools/common/shares.h"
#include "tools/modaldeform/modaldeform.h"

/* ---- the names ---- */

static modal_status add_output(const modaldeform_request *r, modaldeform_outputs *out, const char *name, const char *kind,
                               const char *extension, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_output *o = &out->all[out->n_outputs++];
    const int64_t length = (int64_t)strlen(r->folder) + 64;
    *o = (modaldeform_output){.name = name, .kind = kind, .extension = extension};
    MODAL_TRY(modal_alloc(&o->path, length, 1, "name", err));
    snprintf(o->path, (size_t)length, r->one_file ? "%s" : "%s/%s", r->folder, name);
    MODAL_TRY(tool_files_write(o->path, extension ? TOOL_FILES_FOLDER : TOOL_FILES_ONE, NULL, &o->file, err));
done:
    return status;
}

static modal_status list_outputs(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) {
        const modal_sequence_format *format = r->formats[i];
        out->formats[out->n_formats++] =
            (modaldeform_format){.format = format, .first_output = out->n_outputs};
        for (int k = 0; k < MODAL_SEQUENCE_FILES; k++)
            if (format->files[k] && !(r->one_file && k > 0))
                MODAL_TRY(add_output(r, out, format->files[k], format->kinds[k], NULL, err));
        if (format->folder)
            MODAL_TRY(add_output(r, out, format->folder, format->extension, format->extension, err));
    }
    if (!r->dry && !r->one_file) MODAL_TRY(add_output(r, out, "manifest.json", "manifest", NULL, err));
done:
    return status;
}

static modal_status begin_output(modaldeform_output *o, int force, modal_error *err)
{
    return o->extension ? tool_numbered_begin(&o->file, o->path, o->extension, force, err)
                        : tool_output_begin(&o->file, o->path, force, err);
}

/* A writer's own list of the temporary names. */
static void aim(modaldeform_outputs *out)
{
    for (int i = 0; i < out->n_formats; i++) {
        modaldeform_format *f = &out->formats[i];
        int at = f->first_output;
        for (int k = 0; k < MODAL_SEQUENCE_FILES; k++)
            if (f->format->files[k] && at < out->n_outputs) f->target.files[k] = out->all[at++].file.temporary;
        if (f->format->folder) f->target.folder = out->all[at].file.temporary;
    }
}

/* An unfinished sequence of --shard is not lost by chance. */
static modal_status refuse_shares(const modaldeform_request *r, modal_error *err)
{
    char path[4096];
    struct stat info;
    if (r->force || snprintf(path, sizeof path, "%s/" TOOL_SHARES_FOLDER, r->folder) >= (int)sizeof path || lstat(path, &info) != 0) return MODAL_OK;
    return modal_error_set(err, TOOL_ERROR_EXISTS, "%s: exists, shards of an unfinished sequence (--shard goes on with it, --force discards it)", path);
}

void modaldeform_discard_shares(const modaldeform_request *r)
{
    char path[4096];
    struct stat info;
    if (!r->force || r->dry || r->one_file) return;
    /* Without that folder a .part is one of --resume. */
    if (snprintf(path, sizeof path, "%s/" TOOL_SHARES_FOLDER, r->folder) >= (int)sizeof path || lstat(path, &info) != 0) return;
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS; i++) {
        const modal_sequence_format *f = modal_sequence_formats[i];
        if (f->lay_out && snprintf(path, sizeof path, "%s/%s.part", r->folder, f->files[0]) < (int)sizeof path) unlink(path);
        if (f->folder && snprintf(path, sizeof path, "%s/%s.part", r->folder, f->folder) < (int)sizeof path) tool_numbered_remove(path, f->extension);
    }
    tool_shares_remove(r->folder);
}

modal_status modaldeform_begin_outputs(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(list_outputs(r, out, err));
    if (r->dry) goto done;
    if (r->one_file) {
        MODAL_TRY(begin_output(&out->all[0], r->force, err));
        aim(out);
        goto done;
    }
    MODAL_TRY(tool_folder_begin(r->folder, &out->folder_made, err));
    if (r->share.n > 0 || r->join) goto done; /* which have names of their own (modaldeform_share.c) */
    MODAL_TRY(refuse_shares(r, err));
    MODAL_TRY(tool_outputs_recover(out->all[out->n_outputs - 1].path, err));
    for (int i = 0; i < out->n_outputs; i++)
        MODAL_TRY(begin_output(&out->all[i], r->force, err));
    MODAL_TRY(modaldeform_journal_open(r, out, err));
    if (r->resume) { /* they could be made */
        for (int i = 0; i < out->n_outputs; i++) tool_output_discard(&out->all[i].file);
        tool_output *sequence = &out->all[0].file;
        sequence->force = r->force;
        MODAL_TRY(modal_copy_text(&sequence->path, out->all[0].path, SIZE_MAX, err));
        MODAL_TRY(modal_copy_text(&sequence->temporary, out->part_path, SIZE_MAX, err));
    }
    aim(out);
done:
    return status;
}

modal_status modaldeform_begin_sidecars(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < out->n_outputs; i++)
        if (!out->all[i].file.temporary) MODAL_TRY(begin_output(&out->all[i], r->force, err));
    aim(out);
done:
    return status;
}

/* ---- the writers ---- */

modal_status modaldeform_begin_writers(modaldeform_outputs *out, const modal_sequence_info *info, int scene,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < out->n_formats; i++) {
        modaldeform_format *f = &out->formats[i];
        if (!f->writer && !f->format->needs_scene == !scene)
            MODAL_TRY(f->format->begin(&f->writer, &f->target, info, err));
    }
done:
    return status;
}

modal_status modaldeform_add_frames(modaldeform_outputs *out, const modal_frames *frames,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < out->n_formats; i++)
        if (out->formats[i].format->needs_frames)
            MODAL_TRY(out->formats[i].format->add(out->formats[i].writer, frames, err));
done:
    return status;
}

modal_status modaldeform_end_writers(modaldeform_outputs *out, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < out->n_formats; i++) {
        modaldeform_format *f = &out->formats[i];
        MODAL_TRY(f->format->end(&f->writer, &f->target, info, err));
    }
done:
    return status;
}

/* ---- together ---- */

modal_status modaldeform_commit_outputs(const modaldeform_request *r, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_output *all[MOST_OUTPUTS];
    if (r->dry) return MODAL_OK;
    if (r->one_file) return tool_output_complete(&out->all[0].file, err);
    for (int i = 0; i < out->n_outputs; i++) all[i] = &out->all[i].file;
    status = tool_outputs_commit(all, out->n_outputs, out->journal.file >= 0 ? out->journal.path : NULL, err);
    out->complete = !all[0]->temporary; /* in place, even if their folder could not be synced */
    if (out->complete) tool_folder_keep(r->folder);
    return status;
}

void modaldeform_name_error(const modaldeform_outputs *out, modal_error *err)
{
    for (int i = 0; i < out->n_outputs; i++) tool_output_name_error(&out->all[i].file, err);
}

void modaldeform_end_outputs(tool *t, const modaldeform_request *r, modaldeform_outputs *out)
{
    for (int i = 0; i < out->n_formats; i++)
        out->formats[i].format->abort(&out->formats[i].writer);
    tool_output *first = &out->all[0].file; /* with a journal its frames are not lost */
    if (out->journal.file >= 0 && first->temporary && strcmp(first->temporary, out->part_path) == 0)
        modal_free(&first->temporary);
    modaldeform_journal_end(t, r, out);
    for (int i = 0; i < out->n_outputs; i++) {
        if (out->all[i].shared) modal_free(&out->all[i].file.temporary);
        tool_output_discard(&out->all[i].file);
        modal_free(&out->all[i].path);
    }
    if (!out->complete && !r->one_file) tool_folder_discard(r->folder, out->folder_made);
}

modal_status modaldeform_check_space(const modaldeform_request *r, const modal_sequence_info *info,
                                     const modaldeform_outputs *out, int64_t *memory_bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat part;
    int64_t needed = 0;
    *memory_bytes = 0;
    for (int i = 0; i < r->n_formats; i++) {
        int64_t disk_bytes = 0, memory = 0;
        MODAL_TRY(r->formats[i]->size(info, &disk_bytes, &memory, err));
        if (!modal_size_add(needed, disk_bytes, &needed) ||
            !modal_size_add(*memory_bytes, memory, memory_bytes))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: too large, %" PRId64 " frames", r->folder,
                       info->n_frames);
    }
    if (r->share.n > 0) needed /= r->share.n; /* of what the others write there is no telling how much is there */
    if (r->join) needed = 0;
    if (out->part_path && stat(out->part_path, &part) == 0) needed -= (int64_t)part.st_blocks * 512;
    if (r->one_file) MODAL_TRY(tool_output_check_room(r->folder, (double)needed, NULL, 0, err));
    else if (!r->dry) MODAL_TRY(modal_disk_check(r->folder, r->folder, (double)needed, err));
done:
    return status;
}

/* ---- the manifest ---- */

static modal_status find_bytes(const modaldeform_outputs *out, int64_t *bytes, modal_error *err)
{
    struct stat info;
    if (stat(out->all[0].file.temporary, &info) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be found, %s", out->all[0].path, strerror(errno));
    *bytes = info.st_size;
    return MODAL_OK;
}

modal_status modaldeform_write_manifest(const tool *t, const modaldeform_request *r, const modaldeform_input *in,
                                        const modal_sequence_info *info,
                                        const modaldeform_ran *ran, const modaldeform_outputs *out,
                                        int64_t *bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_manifest_file *files = NULL;
    if (r->one_file) return find_bytes(out, bytes, err);
    char *names = NULL;
    int n_files = 0;
    tool_folder_output outputs[MOST_OUTPUTS];
    for (int i = 0; i < out->n_outputs - 1; i++) {
        const modaldeform_output *o = &out->all[i];
        outputs[i] = (tool_folder_output){o->name, o->kind, o->extension, o->file.temporary};
    }
    MODAL_TRY(tool_folder_files(outputs, out->n_outputs - 1, in->n, &files, &names, &n_files, bytes, err));
    const char *fields[MODAL_MOST_ARRAYS];
    for (int i = 0; i < info->arrays.n; i++) fields[i] = info->arrays.all[i].name;
    const modal_device *own = in->snapshots ? modaldeform_snapshots_device(in->snapshots) : NULL;
    const modal_manifest manifest = {
        .input = own ? r->trajectory_path : NULL, .input_hash = own ? in->trajectory_hash : NULL,
        .tool = t->program->name, .version = tool_version(), .arguments = ran->command,
        .trajectory = r->trajectory_path, .trajectory_hash = in->trajectory_hash,
        .basis = in->basis_path ? tool_pipe_shown(in->basis_path) : NULL, .basis_hash = in->trajectory.basis_hash,
        .back_end = ran->back_end, .device = ran->device,
        .frame_start = in->start, .frame_step = in->step, .n_frames = in->n,
        .first_time = in->times[0], .last_time = in->times[in->n - 1], .n_points = in->mesh_points,
        .n_triangles = in->mesh_triangles, .n_cells = in->mesh_cells, .order = r->order, .normals = r->normals_name,
        .n_fields = info->arrays.n, .fields = fields, .sound = info->sound, .quality = in->quality, .slow_motion = info->slow_motion,
        .n_files = n_files, .files = files};
    MODAL_TRY(modal_manifest_write(out->all[out->n_outputs - 1].file.temporary, &manifest, err));
done:
    modal_free(&names);
    modal_free(&files);
    return status;
}
