/* SPDX-License-Identifier: Apache-2.0 */
/* The trajectory that modalsim writes. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "tools/common/commit.h"
#include "tools/common/memory.h"
#include "tools/common/pipes.h"
#include "tools/common/quality.h"
#include "tools/modalsim/modalsim.h"

/* Where the basis is, seen from the trajectory's folder. A name that is given absolute stays so; a
 * relative one leads through the nearest folder that both share, so that both can be moved with it. */
static modal_status link_to_basis(const modalsim_request *r, char **link, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *basis_copy = NULL, *name_copy = NULL, *trajectory_copy = NULL;
    char *basis_folder = NULL, *trajectory_folder = NULL; /* of realpath: free */
    char *between = NULL;
    if (r->to_stdout || r->basis_path[0] == '/') {
        status = modal_copy_text(link, tool_pipe_shown(r->basis_path), SIZE_MAX, err);
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

    MODAL_TRY(modal_path_between(trajectory_folder, basis_folder, &between, err));
    const size_t length = strlen(between);
    MODAL_TRY(modal_alloc(link, (int64_t)(length + strlen(name)) + 2, 1, "link", err));
    char *end = stpcpy(*link, between);
    if (length > 0 && end[-1] != '/') *end++ = '/';
    stpcpy(end, name);
done:
    modal_free(&between);
    modal_free(&basis_copy);
    modal_free(&name_copy);
    modal_free(&trajectory_copy);
    free(basis_folder);
    free(trajectory_folder);
    return status;
}

static modal_status sign(modalsim_writer *w, const modal_basis *basis, int n_files, const char *const *files,
                         const char *back_end, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool *t = w->t;
    const modalsim_request *r = w->r;
    const char *remark = w->remark;
    modal_trajectory *trajectory = &w->head;
    char *inputs = NULL, *arguments = NULL, hash[MODAL_HASH_TEXT];
    const int64_t arguments_length = (int64_t)(strlen(t->command_line) + strlen(remark)) + 1;
    int64_t length = (n_files + 1) * (MODAL_HASH_TEXT + 4) + (int64_t)strlen(r->basis_path);
    for (int i = 0; i < n_files; i++) length += (int64_t)strlen(files[i]);
    MODAL_TRY(link_to_basis(r, &trajectory->basis_path, err));
    MODAL_TRY(modal_alloc(&inputs, length, 1, "provenance", err));
    int used = snprintf(inputs, (size_t)length, "%s  %s", basis->hash, tool_pipe_shown(r->basis_path));
    for (int i = 0; i < n_files; i++) {
        MODAL_TRY(modal_hash_file(files[i], hash, err));
        used += snprintf(inputs + used, (size_t)(length - used), "\n%s  %s", hash, files[i]);
    }
    MODAL_TRY(modal_provenance_append_copies(&trajectory->provenance, &trajectory->n_provenance, basis->provenance, basis->n_provenance, err));
    MODAL_TRY(modal_alloc(&arguments, arguments_length, 1, "provenance", err));
    snprintf(arguments, (size_t)arguments_length, "%s%s", t->command_line, remark);
    MODAL_TRY(modal_provenance_append(&trajectory->provenance, &trajectory->n_provenance, t->program->name,
                                      tool_build(), arguments, inputs, back_end, err));
done:
    modal_free(&inputs);
    modal_free(&arguments);
    return status;
}

/* All that will be written is known before the first byte: frames, and twice the state in a checkpoint. */
static modal_status check_room(const modalsim_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modalsim_request *r = w->r;
    const double coordinates = (double)w->head.mode_offsets[w->head.n_objects], objects = w->head.n_objects;
    const double row = 8 * (1 + (1 + r->velocities) * (coordinates + (w->head.poses ? 12 * objects : 0)) + (w->head.energy ? 4 : 0) +
                            (w->head.quality ? MODAL_QUALITY_NUMBERS : 0));
    const double rows = row * (double)w->head.n_frames;
    const double state = 8 * (6 * coordinates + (double)(MODALSIM_STATE_NUMBERS + 13) * objects); /* with lags and drifts */
    const double kept = r->checkpoint_path ? rows + 2 * state : 0;
    if (r->to_stdout) {
        const double most = r->memory_limit > 0 ? (double)r->memory_limit : tool_available_memory("");
        const double wanted = 2 * (rows + (double)w->head.n_basis_bytes);
        if (most > 0 && wanted > most)
            MODAL_FAIL(err, MODAL_ERROR_MEMORY,
                       "%s: standard output needs all frames and the basis in memory, twice, %.0f bytes of %.0f; a file does not",
                       r->memory_limit > 0 ? "--memory-limit" : "memory", wanted, most);
    }
    MODAL_TRY(tool_output_check_room(r->to_stdout ? NULL : r->trajectory_path, rows, r->checkpoint_path, kept, err));
done:
    return status;
}

void modalsim_watch(tool *t, modalsim_pace *pace, const char *what, int64_t done, int64_t all)
{
    enum { DAY = 24 * 3600 };
    const double seconds = tool_seconds() - pace->started;
    const double wanted = seconds / (double)done * (double)all;
    if (pace->warned || !(seconds > 0.5) || !(wanted > DAY)) return;
    tool_warn(t, "%lld %s will take about %.3g days: %lld took %.3g s", (long long)all, what, wanted / DAY,
              (long long)done, seconds);
    pace->warned = 1;
}

modal_status modalsim_writer_begin(modalsim_writer *w, const modal_basis *basis, int64_t n_frames,
                                   int arrays, int n_files, const char *const *files, const char *back_end,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    static double there;
    static modal_quality some; /* of the arrays of rows the head only says whether they are */
    modal_trajectory *head = &w->head;
    head->n_frames = n_frames;
    head->n_objects = basis->n_objects;
    strcpy(head->basis_hash, basis->hash);
    strcpy(head->basis_recipe, basis->recipe_hash);
    MODAL_TRY(modal_alloc(&head->mode_offsets, (int64_t)basis->n_objects + 1, sizeof(int64_t), "mode offsets",
                          err));
    modal_basis_mode_offsets(basis, head->mode_offsets);
    MODAL_TRY(modalsim_carry_basis(w->r, basis, head, err));
    MODAL_TRY(sign(w, basis, n_files, files, back_end, err));
    head->poses = arrays & MODALSIM_POSES ? &there : NULL;
    head->energy = arrays & MODALSIM_ENERGY ? &there : NULL;
    head->quality = arrays & MODALSIM_QUALITY ? &some : NULL;
    head->q_velocities = w->r->velocities ? &there : NULL;
    MODAL_TRY(check_room(w, err));
    status = modal_trajectory_out_open(&w->out, w->output->temporary, head, err);
done:
    return status;
}

static modal_status copy_rows(void *context, const modal_trajectory_block *rows, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalsim_writer *w = context;
    const int64_t n = w->head.mode_offsets[w->head.n_objects];
    for (int64_t i = 0; i < rows->count; i++) {
        if (rows->q_velocities)
            modal_trajectory_out_velocities(w->out, rows->q_velocities + i * n,
                                            rows->pose_velocities ? rows->pose_velocities + i * 12 * w->head.n_objects : NULL);
        MODAL_TRY(modal_trajectory_out_row(w->out, rows->times[i], rows->q + i * n,
                                           rows->poses ? rows->poses + i * 12 * w->head.n_objects : NULL,
                                           rows->energy ? rows->energy + 4 * i : NULL, rows->quality ? rows->quality + i : NULL, err));
    }
done:
    return status;
}

/* The sizes of the arrays are in the file from the start: a shorter trajectory is another file. The first one
 * loses its name, and is read while the second takes it. */
static modal_status write_anew(modalsim_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory_out *all = w->out;
    w->out = NULL;
    w->head.n_frames = modal_trajectory_out_count(all);
    MODAL_TRY(tool_output_anew(w->output, err));
    MODAL_TRY(modal_trajectory_out_open(&w->out, w->output->temporary, &w->head, err));
    MODAL_TRY(modal_trajectory_out_read(all, 0, w->head.n_frames, copy_rows, w, err));
done:
    modal_trajectory_out_abandon(&all);
    return status;
}

modal_status modalsim_writer_end(modalsim_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    const int64_t total = w->head.mode_offsets[w->head.n_objects];
    if (modal_trajectory_out_count(w->out) < w->head.n_frames) MODAL_TRY(write_anew(w, err));
    json_object_set_new(w->t->report, "frames", json_integer(w->head.n_frames));
    json_object_set_new(w->t->report, "objects", json_integer(w->head.n_objects));
    json_object_set_new(w->t->report, "modes", json_integer(total));
    tool_note(w->t, "%lld frames of %d object%s, %lld modes in all", (long long)w->head.n_frames, w->head.n_objects,
              w->head.n_objects == 1 ? "" : "s", (long long)total);
    modal_quality_judgement quality = *modal_trajectory_out_quality(w->out);
    quality.assumed_material = modal_provenance_assumed(w->head.provenance, w->head.n_provenance);
    json_object_set_new(w->t->report, "quality", tool_quality_json(&quality));
    MODAL_TRY(modal_trajectory_out_close(&w->out, NULL, NULL, err));
    MODAL_TRY(tool_output_complete(w->output, err));
    tool_stage(w->t, "write", tool_seconds() - start, w->head.n_frames * total * (int64_t)sizeof(double));
    tool_quality_say(w->t, &quality);
    if (w->r->require_sound) MODAL_TRY(tool_require_sound(&quality, w->r->trajectory_path, err));
done:
    return status;
}

void modalsim_writer_discard(modalsim_writer *w)
{
    modal_trajectory_out_abandon(&w->out);
    w->head.poses = w->head.energy = w->head.q_velocities = NULL;
    w->head.quality = NULL;
    modal_trajectory_free(&w->head);
}
