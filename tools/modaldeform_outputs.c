/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a sequence: temporary files that become the outputs together. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "formats/manifest.h"
#include "lib/base/memory.h"
#include "tools/modaldeform.h"

const char *const modaldeform_files[N_FILES] = {"sequence.vtkhdf", "sequence.xdmf", "manifest.json"};

modal_status modaldeform_begin_outputs(const request *r, outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < N_FILES; i++) {
        int64_t length = (int64_t)strlen(r->folder) + 32;
        MODAL_TRY(modal_alloc(&out->paths[i], length, 1, "name", err));
        snprintf(out->paths[i], (size_t)length, "%s/%s", r->folder, modaldeform_files[i]);
        if (!r->from_stdin)
            MODAL_TRY(tool_refuse_same_file(r->trajectory_path, out->paths[i], err));
    }
    MODAL_TRY(tool_folder_begin(r->folder, &out->folder_made, err));
    for (int i = 0; i < N_FILES; i++)
        MODAL_TRY(tool_output_begin(&out->files[i], out->paths[i], r->force, err));
    MODAL_TRY(modaldeform_journal_open(r, out, err));
    if (!r->resume) goto done;
    for (int i = 0; i < N_FILES; i++) tool_output_discard(&out->files[i]); /* they could be made */
    out->files[VTKHDF].force = r->force;
    MODAL_TRY(modal_copy_text(&out->files[VTKHDF].path, out->paths[VTKHDF], SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&out->files[VTKHDF].temporary, out->part_path, SIZE_MAX, err));
done:
    return status;
}

modal_status modaldeform_begin_sidecars(const request *r, outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = XDMF; i < N_FILES; i++)
        if (!out->files[i].temporary)
            MODAL_TRY(tool_output_begin(&out->files[i], out->paths[i], r->force, err));
done:
    return status;
}

/* Renames all, the manifest last. An older manifest would speak of other files: it goes first. */
modal_status modaldeform_commit_outputs(const request *r, outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (r->force && unlink(out->paths[MANIFEST]) != 0 && errno != ENOENT)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be removed, %s", out->paths[MANIFEST],
                   strerror(errno));
    for (int i = 0; i < N_FILES; i++) {
        status = tool_output_commit(&out->files[i], err);
        /* It may be in place although its folder could not be synced. */
        out->committed[i] = status == MODAL_OK || !out->files[i].temporary;
        if (status != MODAL_OK) goto done;
    }
    out->complete = 1;
    tool_folder_keep(r->folder);
done:
    return status;
}

void modaldeform_end_outputs(tool *t, const request *r, outputs *out)
{
    if (out->journal >= 0) { /* the frames are not lost */
        if (out->committed[VTKHDF] && !out->complete &&
            rename(out->paths[VTKHDF], out->part_path) == 0)
            out->committed[VTKHDF] = 0;
        if (out->files[VTKHDF].temporary &&
            strcmp(out->files[VTKHDF].temporary, out->part_path) == 0)
            modal_free(&out->files[VTKHDF].temporary);
    }
    modaldeform_journal_end(t, r, out);
    for (int i = 0; i < N_FILES; i++) {
        if (out->committed[i] && !out->complete) unlink(out->paths[i]);
        tool_output_discard(&out->files[i]);
        modal_free(&out->paths[i]);
    }
    if (!out->complete) tool_folder_discard(r->folder, out->folder_made);
}

modal_status modaldeform_check_space(const request *r, const modal_sequence_info *info,
                                     const outputs *out, modal_error *err)
{
    struct statvfs disk;
    struct stat part;
    int64_t needed = 0;
    modal_status status = modal_sequence_bytes(info, &needed, err);
    if (status != MODAL_OK) return status;
    if (out->part_path && stat(out->part_path, &part) == 0) needed -= (int64_t)part.st_blocks * 512;
    if (statvfs(r->folder, &disk) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot ask for free space, %s", r->folder,
                               strerror(errno));
    if ((double)disk.f_bavail * (double)disk.f_frsize < (double)needed)
        return modal_error_set(err, MODAL_ERROR_SYSTEM,
                               "%s: disk too full, %.3f GB are needed and %.3f GB free", r->folder,
                               1e-9 * (double)needed,
                               1e-9 * (double)disk.f_bavail * (double)disk.f_frsize);
    return MODAL_OK;
}

modal_status modaldeform_write_manifest(const tool *t, const request *r, const input *in,
                                        const modal_deformer *deformer, const outputs *out,
                                        modal_error *err)
{
    modal_manifest_file files[2] = {{modaldeform_files[VTKHDF], "vtkhdf", 0},
                                    {modaldeform_files[XDMF], "xdmf", 0}};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        if (stat(out->files[i].temporary, &info) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be found, %s",
                                   out->files[i].temporary, strerror(errno));
        files[i].bytes = (int64_t)info.st_size;
    }
    modal_manifest manifest = {
        .tool = t->program->name, .version = tool_version(), .arguments = t->command_line,
        .trajectory = r->trajectory_path, .trajectory_hash = in->trajectory_hash,
        .basis = in->basis_path, .basis_hash = in->trajectory.basis_hash,
        .back_end = modal_deformer_back_end(deformer), .device = modal_deformer_device(deformer),
        .frame_start = in->start, .frame_step = in->step, .n_frames = in->n,
        .first_time = in->times[0], .last_time = in->times[in->n - 1], .n_points = in->n_points,
        .n_triangles = in->n_triangles, .order = r->order, .normals = r->normals_name,
        .displacement = r->deform.displacement, .n_files = 2, .files = files};
    return modal_manifest_write(out->files[MANIFEST].temporary, &manifest, err);
}
