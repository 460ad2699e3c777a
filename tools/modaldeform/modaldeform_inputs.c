/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of modaldeform, and the files that it names. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/sequences/sequence_null.h"
#include "lib/base/memory.h"
#include "lib/deform/rates.h"
#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_point_cache.h"
#include "tools/common/endings.h"
#include "tools/common/slow_motion.h"
#include "tools/common/trajectory_input.h"
#include "tools/modaldeform/modaldeform_share.h"

static modal_status unknown_format(const char *name, size_t length, modal_error *err)
{
    char known[128] = "";
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS; i++) {
        const size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", i == 0 ? "" : ", ", modal_sequence_formats[i]->name);
    }
    return modal_error_set(err, MODAL_ERROR_USAGE, "--format: no such format (there are %s), %.*s", known, (int)length, name);
}

/* The name of one file says which format it is: formats gets its name, or what --format says for a folder. */
static modal_status find_format(const tool_arguments *a, modaldeform_request *r, const char **formats, modal_error *err)
{
    const char *names[MODAL_SEQUENCE_FORMATS];
    const char *const options[] = {"resume", "shard", "join"};
    *formats = tool_value(a, "format");
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS; i++) names[i] = modal_sequence_formats[i]->files[0] ? modal_sequence_formats[i]->name : NULL;
    const int named = tool_ending_find(r->folder, names, MODAL_SEQUENCE_FORMATS);
    if (named < 0) return MODAL_OK;
    if (tool_count(a, "format") && strcmp(*formats, names[named]) != 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--format: OUT is a .%s, %s", names[named], *formats);
    if (modal_sequence_formats[named]->folder)
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: .%s is a file a frame: OUT must be a folder, with --format %s", r->folder, names[named],
                               names[named]);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (tool_count(a, options[i])) return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: needs a folder, OUT is %s", options[i], r->folder);
    *formats = names[named];
    r->one_file = 1;
    return MODAL_OK;
}

/* Formats in the order of the table, each once, and rest.obj where one asks for it. */
static modal_status parse_formats(const char *text, modaldeform_request *r, modal_error *err)
{
    int wanted[MODAL_SEQUENCE_FORMATS] = {0}, rest = 0;
    const char *c = text, *part;
    do {
        const size_t length = modaldeform_list_part(&c, &part);
        int i = 0;
        while (i < MODAL_SEQUENCE_FORMATS &&
               (strlen(modal_sequence_formats[i]->name) != length ||
                strncmp(modal_sequence_formats[i]->name, part, length) != 0))
            i++;
        if (i == MODAL_SEQUENCE_FORMATS)
            return unknown_format(part, length, err);
        if (wanted[i]++)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--format: twice, %s",
                                   modal_sequence_formats[i]->name);
        rest |= modal_sequence_formats[i]->wants_rest;
    } while (c > text && (*c || c[-1] == ','));
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS; i++)
        if (wanted[i]) r->formats[r->n_formats++] = modal_sequence_formats[i];
    if (rest && !r->one_file) r->formats[r->n_formats++] = &modal_sequence_rest;
    r->dry = r->formats[r->n_formats - 1] == &modal_sequence_null;
    if (r->dry && r->n_formats > 1)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--format: null stands alone, %s", text);
    return MODAL_OK;
}

/* Surface or volume, and formats that can hold it. */
static modal_status parse_mesh(const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    const char *mesh = tool_value(a, "output-mesh");
    r->volume = strcmp(mesh, "volume") == 0;
    if (!r->volume && strcmp(mesh, "surface") != 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--output-mesh: not surface or volume, %s", mesh);
    for (int i = 0; i < r->n_formats; i++)
        if (!(r->volume ? r->formats[i]->holds_volume : r->formats[i]->holds_surface))
            return modal_error_set(err, MODAL_ERROR_USAGE, "--format: %s is not for --output-mesh %s",
                                   r->formats[i]->name ? r->formats[i]->name : "rest.obj", mesh);
    return MODAL_OK;
}

/* Formats that say when a frame is shown; others say when it was. */
static modal_status check_slow_motion(tool *t, const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    int taken = 0;
    r->slow_motion = -1;
    if (tool_count(a, "slow-motion") == 0) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) taken |= r->formats[i] == &modal_sequence_glb || r->formats[i] == &modal_sequence_mdd;
    if (!taken)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--slow-motion: only with --format glb and mdd, %s%s", r->formats[0]->name,
                               r->formats[0] == &modal_sequence_pc2 ? " (which has no times)" : "");
    for (int i = 0; i < r->n_formats; i++)
        if (r->formats[i]->name && r->formats[i] != &modal_sequence_glb && r->formats[i] != &modal_sequence_mdd)
            tool_note(t, "--slow-motion: left out of %s", r->formats[i]->name);
    return tool_slow_motion(a, &r->slow_motion, err);
}

modal_status modaldeform_read_request(tool *t, modaldeform_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    const char *formats;
    r->trajectory_path = a->operands[0];
    r->folder = a->operands[1];
    r->from_stdin = strcmp(r->trajectory_path, "-") == 0;
    r->basis_path = tool_value(a, "basis");
    r->frames_text = tool_value(a, "frames");
    MODAL_TRY(tool_slice_parse(r->frames_text, &r->frames, err));
    r->force = tool_count(a, "force") > 0;
    r->resume = tool_count(a, "resume") > 0;
    MODAL_TRY(modaldeform_find_snapshots(t, r, err));
    MODAL_TRY(find_format(a, r, &formats, err));
    MODAL_TRY(parse_formats(formats, r, err));
    if (r->resume && !tool_count(a, "shard") && (r->n_formats != 1 || r->formats[0] != &modal_sequence_vtkhdf))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--resume: only with --format vtkhdf, %s",
                   formats);
    r->deform.back_end = tool_value(a, "backend");
    MODAL_TRY(parse_mesh(a, r, err));
    MODAL_TRY(modaldeform_read_fields(t, r, err));
    r->modes_text = tool_value(a, "modes");
    MODAL_TRY(tool_percent(a, "amplitude", &r->amplitude, err));
    const char *show = tool_value(a, "show");
    r->show_arrays = strcmp(show, "arrays") == 0;
    if (!r->show_arrays && strcmp(show, "swing") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--show: not swing or arrays, %s", show);
    MODAL_TRY(check_slow_motion(t, a, r, err));
    MODAL_TRY(modaldeform_check_look(a, r, err));
    MODAL_TRY(modaldeform_check_texture(a, r, err));
    if (r->colour && !r->texture_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: colour is that of a --texture, which is absent");
    MODAL_TRY(modaldeform_check_creases(a, r, err));
    MODAL_TRY(modaldeform_check_sound(t, r, err));
    MODAL_TRY(modaldeform_check_probes(t, r, err));
    r->precision_text = tool_value(a, "precision");
    MODAL_TRY(tool_number(a, "precision", 1e-12, 1e6, &r->precision, err));
    if (r->precision > 0 && ((r->formats[0] != &modal_sequence_vtkhdf && !r->dry) || r->resume))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--precision: only with --format vtkhdf or null, without --resume, %s",
                   tool_value(a, "precision"));
    MODAL_TRY(modaldeform_check_share(a, r, err));
    r->order = tool_value(a, "order");
    if (strcmp(r->order, "user") != 0 && strcmp(r->order, "stored") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--order: not user or stored, %s", r->order);
    r->deform.stored_order = strcmp(r->order, "stored") == 0;
    if (r->volume && r->deform.stored_order)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--order: the nodes of a volume have the user's only, %s", r->order);
    MODAL_TRY(modaldeform_check_snapshots(t, r, err));
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
    if (tool_value(a, "memory-limit") && r->memory_limit <= 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--memory-limit: must be positive, %s",
                   tool_value(a, "memory-limit"));
    MODAL_TRY(tool_threads(t, &r->threads, err));
done:
    return status;
}

/* ---- the files ---- */

static modal_status read_basis(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int parts = (r->volume ? MODAL_BASIS_VOLUME | MODAL_BASIS_VOLUME_MODES : MODAL_BASIS_SURFACE) |
                      (r->swings || r->sound || r->speed ? MODAL_BASIS_MODES : 0) | (r->look_path || r->creases.by_normals ? MODAL_BASIS_LOOK : 0);
    MODAL_TRY(tool_find_basis(r->swings ? r->trajectory_path : r->basis_path, r->trajectory_path, &in->trajectory,
                              &in->basis_path, err));
    MODAL_TRY(modal_basis_read(in->basis_path, parts, &in->basis, err));
    MODAL_TRY(modal_basis_tiles_open(&in->tiles, in->basis_path, &in->basis, &in->hdf5, err));
    MODAL_TRY(modaldeform_read_look(t, r, &in->basis, &in->look, err));
    for (int32_t i = 0; i < in->basis.n_shapes; i++) { /* nobody needs these here */
        modal_shape *s = &in->basis.shapes[i];
        if (!r->sound) modal_free(&s->surface.boundary);
        if (r->deform.tangents == MODAL_TANGENTS_NONE && r->look_path) {
            continue; /* they may have uv */
        } else if (r->deform.tangents == MODAL_TANGENTS_NONE) {
            modal_free(&s->surface.uv);
            modal_free(&s->surface.triangle_uv);
        } else if (!s->surface.uv && s->surface.n_triangles > 0) {
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "%s: shape %s: no texture coordinates, which --tangents %s needs",
                       in->basis_path, s->name ? s->name : "", r->tangents_name);
        }
    }
    MODAL_TRY(tool_creases_check(t, r->creases, &in->basis, in->basis_path, err));
    if (r->volume) MODAL_TRY(modaldeform_use_volume(r, in, err));
    if (r->swings) MODAL_TRY(modaldeform_swing_modes(t, r, in, err));
    if (modal_trajectory_check_basis(&in->trajectory, &in->basis, err) != MODAL_OK) {
        modal_error_context(err, "%s", r->trajectory_path);
        status = err->status;
    }
done:
    return status;
}

/* The options that the frames depend on. The number of threads, the limit and the folder are not
 * among them: runs that differ in those give the same bytes. The manifest has the command line. */
static modal_status describe_arguments(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    int64_t length = 256 + (int64_t)strlen(r->trajectory_path) +
                     (int64_t)(r->basis_path ? strlen(r->basis_path) : 0) +
                     (int64_t)(r->frames_text ? strlen(r->frames_text) : 0) +
                     (int64_t)(r->modes_text ? strlen(r->modes_text) : 0) + (int64_t)(r->precision_text ? strlen(r->precision_text) : 0);
    modal_status status = modal_alloc(&in->arguments, length, 1, "arguments", err);
    if (status != MODAL_OK) return status;
    char swing[64] = "";
    if (r->swings)
        snprintf(swing, sizeof swing, " --amplitude %.17g%%%s", 100 * r->amplitude, r->show_arrays ? " --show arrays" : "");
    snprintf(in->arguments, (size_t)length, "modaldeform %s%s%s%s%s%s%s%s %s --normals %s%s%s%s%s%s%s%s --order %s",
             r->trajectory_path, r->basis_path ? " --basis " : "", r->basis_path ? r->basis_path : "",
             r->frames_text ? " --frames " : "", r->frames_text ? r->frames_text : "", swing,
             r->modes_text ? " --modes " : "", r->modes_text ? r->modes_text : "",
             r->volume ? " --output-mesh volume" : "", r->normals_name,
             r->deform.tangents ? " --tangents " : "", r->deform.tangents ? r->tangents_name : "",
             r->fields_text, r->texture_path ? " --texture " : "", in->texture_hash,
             r->precision > 0 ? " --precision " : "", r->precision > 0 ? r->precision_text : "", r->order);
    return MODAL_OK;
}

modal_status modaldeform_read_inputs(tool *t, modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    if (r->snapshots)
        MODAL_TRY(modaldeform_read_snapshots(r, in, err));
    else if (!r->swings)
        MODAL_TRY(tool_read_trajectory(r->trajectory_path, &in->trajectory, in->trajectory_hash, err));
    tool_stage(t, "read trajectory", tool_seconds() - start, -1);
    start = tool_seconds();
    if (!r->snapshots) MODAL_TRY(read_basis(t, r, in, err));
    MODAL_TRY(tool_slice_select(&r->frames, in->trajectory.n_frames, "the trajectory", &in->start, &in->step, &in->n, err));
    MODAL_TRY(modal_alloc(&in->times, in->n, sizeof *in->times, "times", err));
    for (int64_t i = 0; i < in->n; i++)
        in->times[i] = in->trajectory.times[in->start + i * in->step];
    MODAL_TRY(modal_deform_topology(&in->basis, r->deform.stored_order, &in->n_points,
                                    &in->n_triangles, &in->triangles, err));
    MODAL_TRY(modaldeform_read_texture(t, r, in, err));
    if (r->show_arrays) MODAL_TRY(modaldeform_add_modes(t, r, &in->modes, err));
    if (r->show_arrays) MODAL_TRY(modaldeform_make_modes(r, in, err));
    MODAL_TRY(describe_arguments(r, in, err));
    if (r->speed && r->snapshots && in->trajectory.n_frames < 2)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: speed needs two frames", r->trajectory_path);
    if (r->speed && !r->snapshots && modal_deform_check_rates(&in->basis, &in->trajectory, err) != MODAL_OK) {
        modal_error_context(err, "%s: --fields", r->trajectory_path);
        status = err->status;
        goto done;
    }
    MODAL_TRY(modaldeform_find_probes(t, r, in, err));
    in->mesh_points = in->n_points;
    in->mesh_triangles = in->n_triangles;
    in->mesh_cells = in->cells.n_cells;
    if (!r->snapshots) MODAL_TRY(modaldeform_crop(r, in, err));
    r->deform.point_numbers = in->point_numbers;
    r->deform.n_frames = in->n;
    if (r->speed) r->deform.speed = modal_deform_speed_kind(&in->trajectory);
    tool_stage(t, "read basis", tool_seconds() - start, -1);
done:
    return status;
}

void modaldeform_free_inputs(modaldeform_input *in)
{
    modaldeform_free_look(&in->look);
    modaldeform_free_creases(in);
    in->tiles = modal_basis_tiles_close(in->tiles);
    modal_basis_free(&in->basis);
    modal_trajectory_free(&in->trajectory);
    modal_free(&in->basis_path);
    modal_free(&in->times);
    modal_free(&in->triangles);
    modal_free(&in->texture_values);
    modal_free(&in->probes);
    modal_free(&in->point_numbers);
    modal_solid_cells_free(&in->cells);
    in->snapshots = modaldeform_snapshots_delete(in->snapshots);
    in->stress = modal_stress_frames_delete(in->stress);
    modaldeform_free_modes(&in->modes);
    modaldeform_free_sound(&in->sound);
    modal_free(&in->arguments);
    modal_free(&in->quality);
}
