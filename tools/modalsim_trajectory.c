/* SPDX-License-Identifier: Apache-2.0 */
/* The trajectory that modalsim writes. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trajectory_h5.h"
#include "lib/base/memory.h"
#include "tools/modalsim.h"

/* Where the basis is, seen from the trajectory's folder. A name that is given absolute stays so; a
 * relative one leads through the nearest folder that both share, so that both can be moved with it. */
static modal_status link_to_basis(const request *r, char **link, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *basis_copy = NULL, *name_copy = NULL, *trajectory_copy = NULL;
    char *basis_folder = NULL, *trajectory_folder = NULL; /* of realpath: free */
    if (r->to_stdout || r->basis_path[0] == '/') {
        status = modal_copy_text(link, r->basis_path, SIZE_MAX, err);
        goto done;
    }
    MODAL_TRY(modal_copy_text(&basis_copy, r->basis_path, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&name_copy, r->basis_path, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&trajectory_copy, r->trajectory_path, SIZE_MAX, err));
    const char *name = basename(name_copy);
    basis_folder = realpath(dirname(basis_copy), NULL);
    trajectory_folder = realpath(dirname(trajectory_copy), NULL);
    if (!basis_folder || !trajectory_folder)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot resolve its folder, %s",
                   basis_folder ? r->trajectory_path : r->basis_path, strerror(errno));

    /* "/" alone is the empty list of folders, like the others then without a slash at the end */
    const char *from = strcmp(trajectory_folder, "/") == 0 ? "" : trajectory_folder;
    const char *to = strcmp(basis_folder, "/") == 0 ? "" : basis_folder;
    size_t same = 0; /* length of the folders that both share */
    for (size_t i = 0;; i++) {
        int from_ends = from[i] == '\0' || from[i] == '/', to_ends = to[i] == '\0' || to[i] == '/';
        if (from_ends && to_ends) same = i;
        if (from[i] != to[i] || from[i] == '\0') break;
    }
    int64_t ups = 0;
    for (const char *c = from + same; *c; c++) ups += *c == '/';
    const char *down = to[same] == '/' ? to + same + 1 : to + same;
    MODAL_TRY(modal_alloc(link, 3 * ups + (int64_t)strlen(down) + (int64_t)strlen(name) + 2, 1, "link",
                          err));
    char *end = *link;
    for (int64_t i = 0; i < ups; i++) end = stpcpy(end, "../");
    end = stpcpy(end, down);
    if (*down) end = stpcpy(end, "/");
    stpcpy(end, name);
done:
    modal_free(&basis_copy);
    modal_free(&name_copy);
    modal_free(&trajectory_copy);
    free(basis_folder);
    free(trajectory_folder);
    return status;
}

modal_status modalsim_trajectory_begin(const modal_basis *basis, int64_t n_frames, double fps,
                                       modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t total = modal_basis_mode_offsets(basis, NULL);
    int64_t values;
    trajectory->n_frames = n_frames;
    trajectory->n_objects = basis->n_objects;
    strcpy(trajectory->basis_hash, basis->hash);
    MODAL_TRY(modal_alloc(&trajectory->mode_offsets, (int64_t)basis->n_objects + 1, sizeof(int64_t),
                          "mode offsets", err));
    modal_basis_mode_offsets(basis, trajectory->mode_offsets);
    if (!modal_size_multiply(n_frames, total, &values)) values = INT64_MAX; /* refused below */
    MODAL_TRY(modal_alloc(&trajectory->q, values, sizeof(double), "reduced coordinates", err));
    MODAL_TRY(modal_alloc(&trajectory->times, n_frames, sizeof(double), "times", err));
    for (int64_t i = 0; i < n_frames; i++) trajectory->times[i] = i == 0 ? 0 : (double)i / fps;
done:
    return status;
}

modal_status modalsim_trajectory_sign(const tool *t, const request *r, const modal_basis *basis, int n_files,
                                      const char *const *files, const char *back_end,
                                      modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *inputs = NULL, hash[MODAL_HASH_TEXT];
    int64_t length = (n_files + 1) * (MODAL_HASH_TEXT + 4) + (int64_t)strlen(r->basis_path);
    for (int i = 0; i < n_files; i++) length += (int64_t)strlen(files[i]);
    MODAL_TRY(link_to_basis(r, &trajectory->basis_path, err));
    MODAL_TRY(modal_alloc(&inputs, length, 1, "provenance", err));
    int used = snprintf(inputs, (size_t)length, "%s  %s", basis->hash, r->basis_path);
    for (int i = 0; i < n_files; i++) {
        MODAL_TRY(modal_hash_file(files[i], hash, err));
        used += snprintf(inputs + used, (size_t)(length - used), "\n%s  %s", hash, files[i]);
    }
    for (int32_t i = 0; i < basis->n_provenance; i++) {
        const modal_provenance *p = &basis->provenance[i];
        MODAL_TRY(modal_provenance_append(&trajectory->provenance, &trajectory->n_provenance, p->tool,
                                          p->version, p->arguments, p->inputs, p->back_end, err));
    }
    MODAL_TRY(modal_provenance_append(&trajectory->provenance, &trajectory->n_provenance, t->program->name,
                                      tool_version(), t->command_line, inputs, back_end, err));
    const int64_t total = trajectory->mode_offsets[trajectory->n_objects];
    json_object_set_new(t->report, "frames", json_integer(trajectory->n_frames));
    json_object_set_new(t->report, "objects", json_integer(basis->n_objects));
    json_object_set_new(t->report, "modes", json_integer(total));
done:
    modal_free(&inputs);
    return status;
}

modal_status modalsim_trajectory_write(tool *t, const request *r, tool_output *output,
                                     const modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *bytes = NULL;
    size_t length = 0;
    double start = tool_seconds();
    tool_note(t, "%lld frames of %d objects, %lld modes in all", (long long)trajectory->n_frames,
              trajectory->n_objects, (long long)trajectory->mode_offsets[trajectory->n_objects]);
    if (r->to_stdout) {
        MODAL_TRY(modal_trajectory_image(trajectory, &bytes, &length, err));
        MODAL_TRY(tool_write_stdout(bytes, length, err));
    } else {
        MODAL_TRY(modal_trajectory_write(output->temporary, trajectory, err));
        MODAL_TRY(tool_output_commit(output, err));
    }
    tool_stage(t, "write", tool_seconds() - start,
               trajectory->n_frames * trajectory->mode_offsets[trajectory->n_objects] *
                   (int64_t)sizeof(double));
done:
    modal_free(&bytes);
    return status;
}
