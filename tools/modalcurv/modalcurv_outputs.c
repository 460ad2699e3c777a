/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that modalcurv writes: temporary files, and folders of frames, that become the outputs together. */
#include <string.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/common/folder_files.h"
#include "tools/modalcurv/modalcurv.h"

static modal_status add_output(const modalcurv_request *r, modalcurv_outputs *out, const char *name, const char *kind,
                               const char *extension, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalcurv_output *o = &out->all[out->n_outputs++];
    const int64_t length = (int64_t)strlen(r->folder) + (int64_t)strlen(name) + 2;
    o->name = name, o->kind = kind, o->extension = extension;
    MODAL_TRY(modal_alloc(&o->path, length, 1, "name", err));
    snprintf(o->path, (size_t)length, "%s/%s", r->folder, name);
    MODAL_TRY(tool_files_write(o->path, extension ? TOOL_FILES_FOLDER : TOOL_FILES_ONE, NULL, &o->file, err));
done:
    return status;
}

modal_status modalcurv_begin_outputs(const modalcurv_request *r, modalcurv_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    out->folder = r->folder;
    if (r->n_formats == 0 && !r->lines[0] && !r->lines[1]) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) {
        const modal_sequence_format *format = r->formats[i];
        for (int k = 0; k < MODAL_SEQUENCE_FILES; k++)
            if (format->files[k]) MODAL_TRY(add_output(r, out, format->files[k], format->kinds[k], NULL, err));
        if (format->folder) MODAL_TRY(add_output(r, out, format->folder, format->extension, format->extension, err));
    }
    if (r->lines[0] || r->lines[1]) MODAL_TRY(add_output(r, out, "lines", "lines", "vtp", err));
    MODAL_TRY(add_output(r, out, "manifest.json", "manifest", NULL, err));
    MODAL_TRY(tool_folder_begin(r->folder, &out->folder_made, err));
    MODAL_TRY(tool_outputs_recover(out->all[out->n_outputs - 1].path, err));
    for (int i = 0; i < out->n_outputs; i++) {
        modalcurv_output *o = &out->all[i];
        MODAL_TRY(o->extension ? tool_numbered_begin(&o->file, o->path, o->extension, r->force, err)
                               : tool_output_begin(&o->file, o->path, r->force, err));
    }
    for (int i = 0, at = 0; i < r->n_formats; i++) {
        const modal_sequence_format *format = r->formats[i];
        out->formats[out->n_formats].format = format;
        modal_sequence_target *target = &out->formats[out->n_formats++].target;
        for (int k = 0; k < MODAL_SEQUENCE_FILES; k++)
            if (format->files[k]) target->files[k] = out->all[at++].file.temporary;
        if (format->folder) target->folder = out->all[at++].file.temporary;
    }
    if (r->lines[0] || r->lines[1]) out->lines = out->all[out->n_outputs - 2].file.temporary;
done:
    return status;
}

modal_status modalcurv_begin_writers(modalcurv_outputs *out, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    double needed = 0.0;
    for (int i = 0; i < out->n_formats; i++) {
        int64_t disk_bytes = 0, memory_bytes = 0;
        MODAL_TRY(out->formats[i].format->size(info, &disk_bytes, &memory_bytes, err));
        needed += (double)disk_bytes;
    }
    if (out->n_formats > 0) MODAL_TRY(modal_disk_check(out->folder, out->folder, needed, err));
    for (int i = 0; i < out->n_formats; i++)
        MODAL_TRY(out->formats[i].format->begin(&out->formats[i].writer, &out->formats[i].target, info, err));
done:
    return status;
}

modal_status modalcurv_add_frames(modalcurv_outputs *out, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < out->n_formats; i++)
        MODAL_TRY(out->formats[i].format->add(out->formats[i].writer, frames, err));
done:
    return status;
}

/* Lists the files in the manifest and writes it. */
static modal_status write_manifest(modalcurv_outputs *out, const modal_sequence_info *info, modal_manifest *manifest, modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_folder_output outputs[sizeof out->all / sizeof *out->all];
    modal_manifest_file *files = NULL;
    char *names = NULL;
    int64_t bytes = 0;
    const int n = out->n_outputs - 1;
    for (int i = 0; i < n; i++)
        outputs[i] = (tool_folder_output){out->all[i].name, out->all[i].kind, out->all[i].extension, out->all[i].file.temporary};
    MODAL_TRY(tool_folder_files(outputs, n, info->n_frames, &files, &names, &manifest->n_files, &bytes, err));
    manifest->files = files;
    MODAL_TRY(modal_manifest_write(out->all[n].file.temporary, manifest, err));
done:
    modal_free(&names);
    modal_free(&files);
    return status;
}

modal_status modalcurv_commit_outputs(modalcurv_outputs *out, const modal_sequence_info *info, modal_manifest *manifest,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_output *all[sizeof out->all / sizeof *out->all];
    for (int i = 0; i < out->n_formats; i++)
        MODAL_TRY(out->formats[i].format->end(&out->formats[i].writer, &out->formats[i].target, info, err));
    if (out->n_outputs == 0) return MODAL_OK;
    MODAL_TRY(write_manifest(out, info, manifest, err));
    for (int i = 0; i < out->n_outputs; i++) all[i] = &out->all[i].file;
    status = tool_outputs_commit(all, out->n_outputs, NULL, err);
    out->complete = !all[0]->temporary; /* in place, even if their folder could not be synced */
    if (out->complete) tool_folder_keep(out->folder);
done:
    return status;
}

void modalcurv_end_outputs(modalcurv_outputs *out, modal_error *err)
{
    for (int i = 0; i < out->n_outputs; i++) tool_output_name_error(&out->all[i].file, err);
    for (int i = 0; i < out->n_formats; i++) out->formats[i].format->abort(&out->formats[i].writer);
    for (int i = 0; i < out->n_outputs; i++) {
        tool_output_discard(&out->all[i].file);
        modal_free(&out->all[i].path);
    }
    if (!out->complete && out->folder) tool_folder_discard(out->folder, out->folder_made);
}
