/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex flow: frame by frame, the deformed surface, the flow to its time, the sequence. */
#include <string.h>

#include "formats/sequences/sequence_vtkhdf.h"
#include "kernels/device.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "tools/common/commit.h"
#include "tools/common/files.h"
#include "tools/common/folder_files.h"
#include "tools/common/pipes.h"
#include "tools/modaltex/modaltex_flow.h"

static const char *const names[MODALTEX_FLOW_OUTPUTS] = {"sequence.vtkhdf", "sequence.xdmf", "manifest.json"};
static const char *const kinds[MODALTEX_FLOW_OUTPUTS] = {"vtkhdf", "xdmf", "manifest"};

/* ---- outputs ---- */

modal_status modaltex_flow_begin(const modaltex_flow_request *r, modaltex_flow_output *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < MODALTEX_FLOW_OUTPUTS; i++) {
        const int64_t length = (int64_t)(strlen(r->folder) + strlen(names[i])) + 2;
        MODAL_TRY(modal_alloc(&out->paths[i], length, 1, "name", err));
        snprintf(out->paths[i], (size_t)length, "%s/%s", r->folder, names[i]);
        MODAL_TRY(tool_files_write(out->paths[i], TOOL_FILES_ONE, NULL, &out->files[i], err));
    }
    MODAL_TRY(tool_folder_begin(r->folder, &out->folder_made, err));
    MODAL_TRY(tool_outputs_recover(out->paths[MODALTEX_FLOW_OUTPUTS - 1], err));
    for (int i = 0; i < MODALTEX_FLOW_OUTPUTS; i++) MODAL_TRY(tool_output_begin(&out->files[i], out->paths[i], r->force, err));
    out->last.option = "--texture";
    if (r->last) MODAL_TRY(tool_output_begin(&out->last, r->last, r->force, err));
    out->checkpoint.option = "--checkpoint";
    if (r->images) {
        const int64_t length = (int64_t)strlen(r->folder) + 5;
        MODAL_TRY(modal_alloc(&out->images_path, length, 1, "name", err));
        snprintf(out->images_path, (size_t)length, "%s/png", r->folder);
        MODAL_TRY(tool_files_write(out->images_path, TOOL_FILES_FOLDER, NULL, &out->images, err));
        MODAL_TRY(tool_numbered_begin(&out->images, out->images_path, "png", r->force, err));
    }
    const int goes_on = r->restart && r->checkpoint && strcmp(r->restart, r->checkpoint) == 0; /* it may replace what it went on from */
    if (r->checkpoint) MODAL_TRY(tool_output_begin(&out->checkpoint, r->checkpoint, r->force || goes_on, err));
done:
    return status;
}

void modaltex_flow_end(const modaltex_flow_request *r, modaltex_flow_output *out, modal_error *err)
{
    modal_sequence_vtkhdf.abort(&out->writer);
    tool_output *all[] = {&out->files[0], &out->files[1], &out->files[2], &out->last, &out->checkpoint, &out->images};
    for (int i = 0; i < 6; i++) {
        tool_output_name_error(all[i], err);
        tool_output_discard(all[i]);
    }
    for (int i = 0; i < MODALTEX_FLOW_OUTPUTS; i++) modal_free(&out->paths[i]);
    modal_free(&out->images_path);
    if (!out->complete) tool_folder_discard(r->folder, out->folder_made);
}

/* The texture with its state, a step of provenance more. */
static modal_status write_texture(const tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, const char *path, modal_error *err)
{
    modal_octree_file *file = &in->file;
    const modal_status status = modal_provenance_append(&file->provenance, &file->n_provenance, "modaltex flow", tool_build(), t->command_line,
                                                        in->inputs, r->device.name, err);
    if (status != MODAL_OK) return status;
    const modal_status written = modal_octree_write(path, file, err);
    modal_provenance_free(&file->provenance[--file->n_provenance]);
    return written;
}

/* more: another one follows, which replaces this. */
static modal_status write_checkpoint(const tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, tool_output *output, int more,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    in->file.flow = in->state; /* borrowed */
    status = write_texture(t, r, in, output->temporary, err);
    in->file.flow = (modal_flow_state){0};
    if (status != MODAL_OK) goto done;
    MODAL_TRY(tool_output_commit(output, err));
    if (!more) goto done;
    tool_output_discard(output);
    *output = (tool_output){.option = "--checkpoint"};
    MODAL_TRY(tool_output_begin(output, r->checkpoint, 1, err));
done:
    return status;
}

/* kg/m^2 of what a sample has, as a texture of numbers. */
static modal_status write_last(const tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, modaltex_flow_output *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree *o = &in->file.octree;
    const modal_flow_state *s = &in->state;
    float *values = NULL;
    if (!r->last) return MODAL_OK;
    MODAL_TRY(modal_alloc(&values, o->n_samples, sizeof *values, "values", err));
    for (int64_t i = 0; i < o->n_samples; i++) values[i] = o->areas[i] > 0 ? (s->liquid[i] + s->wetness[i]) / o->areas[i] : 0;
    modal_free(&o->values);
    modal_free(&o->mipmaps); /* of other values */
    modal_free(&in->file.atlas.image);
    o->values = values;
    o->channels = MODAL_OCTREE_FLOAT;
    MODAL_TRY(write_texture(t, r, in, out->last.temporary, err));
    MODAL_TRY(tool_output_commit(&out->last, err));
done:
    return status;
}

/* ---- frames ---- */

enum { POINTS, WETNESS, DIRT, TOGETHER = 4 << 20 /* bytes of points */ };

typedef struct running {
    tool *t;
    const modaltex_flow_request *r;
    modaltex_flow_input *in;
    modaltex_flow_output *out;
    modal_deformer *deformer;
    modal_flow *flow;
    modaltex_flow_images *images; /* or NULL */
    int64_t held, most; /* frames that wait to be written: small ones go together */
    float *arrays[3];   /* [most] frames of all points */
    int64_t n_steps, n_flat, flat_frames;
    double writing, drawing; /* s that the sequence and the images took */
} running;

static modal_status open_deformer(running *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_deform_request request = {.back_end = w->r->device.name, .direct = 1, .n_frames = w->in->n};
    MODAL_TRY(modal_deformer_new(&w->deformer, &w->in->basis, &request, err));
    w->most = TOGETHER / (12 * w->in->n_points) + 1;
    if (w->most > w->in->n) w->most = w->in->n;
    for (int i = 0; i < 3; i++)
        MODAL_TRY(modal_alloc_zero(&w->arrays[i], w->most * (i == POINTS ? 3 : 1) * w->in->n_points, sizeof(float), "frame", err));
done:
    return status;
}

static modal_status write_held(running *w, modal_error *err)
{
    const modal_frames frames = {.n_frames = w->held, .arrays = {w->arrays[POINTS], w->arrays[WETNESS], w->in->state.dirt ? w->arrays[DIRT] : NULL}};
    const double start = tool_seconds();
    const modal_status status = w->held > 0 ? modal_sequence_vtkhdf.add(w->out->writer, &frames, err) : MODAL_OK;
    w->held = 0;
    w->writing += tool_seconds() - start;
    return status;
}

static modal_status make_frame(running *w, int64_t i, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltex_flow_input *in = w->in;
    const modal_trajectory *q = &in->trajectory;
    const modal_flow_state *s = &in->state;
    const int64_t frame = in->start + i * in->step, modes = q->mode_offsets[q->n_objects];
    float *const points = w->arrays[POINTS] + 3 * w->held * in->n_points;
    const int64_t first = w->held * in->n_points + in->first_point;
    const modal_deform_arrays to = {.positions = points};
    const double *poses = q->poses ? q->poses + 12 * frame * q->n_objects : NULL;
    int64_t n_steps = 0, n_flat = 0;
    status = modal_deformer_frames(w->deformer, 1, q->q + frame * modes, poses, NULL, NULL, &to, err);
    if (status == MODAL_OK && in->times[i] > s->time)
        status = modal_flow_advance(w->flow, points + 3 * in->first_point, in->times[i], &n_steps, &n_flat, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s: frame %lld", w->r->trajectory, (long long)frame);
        goto done;
    }
    w->n_steps += n_steps;
    w->n_flat += n_flat;
    w->flat_frames += n_flat > 0;
    modal_flow_read(&in->probe, s->liquid, s->wetness, w->arrays[WETNESS] + first);
    if (s->dirt) modal_flow_read(&in->probe, s->dirt, NULL, w->arrays[DIRT] + first);
    if (++w->held == w->most) MODAL_TRY(write_held(w, err));
    const double start = tool_seconds();
    const int dirty = w->r->images && strcmp(w->r->images, "dirt") == 0;
    if (w->images) MODAL_TRY(modaltex_flow_images_add(w->images, dirty ? s->dirt : s->liquid, dirty ? NULL : s->wetness, err));
    w->drawing += tool_seconds() - start;
done:
    return status;
}

static modal_status make_frames(running *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modaltex_flow_request *r = w->r;
    tool_progress_amount(w->t, (double)w->in->n, "frames");
    for (int64_t i = 0; i < w->in->n; i++) {
        MODAL_TRY(modal_progress_report(&w->t->progress, "flow", (double)i / (double)w->in->n, err));
        MODAL_TRY(make_frame(w, i, err));
        if (!r->checkpoint || ((i + 1) % r->checkpoint_every && i + 1 < w->in->n)) continue;
        MODAL_TRY(write_checkpoint(w->t, r, w->in, &w->out->checkpoint, i + 1 < w->in->n, err));
    }
    MODAL_TRY(write_held(w, err));
    const double start = tool_seconds();
    if (w->images) MODAL_TRY(modaltex_flow_images_flush(w->images, err));
    w->drawing += tool_seconds() - start;
done:
    return status;
}

/* ---- all of it ---- */

static void report(const running *w)
{
    const modal_flow_state *s = &w->in->state;
    json_t *to = w->t->report, *balance = json_object();
    const double now = modal_flow_liquid(s), want = s->initial + s->added - s->evaporated, dirt = modal_flow_dirt(s);
    json_object_set_new(to, "frames", json_integer(w->in->n));
    json_object_set_new(to, "steps", json_integer(w->n_steps));
    json_object_set_new(to, "samples", json_integer(w->in->file.octree.n_samples));
    json_object_set_new(to, "backend", json_string(w->r->device.name));
    json_object_set_new(to, "device", json_string(w->r->device.hardware));
    json_object_set_new(balance, "initial", json_real(s->initial));
    json_object_set_new(balance, "added", json_real(s->added));
    json_object_set_new(balance, "evaporated", json_real(s->evaporated));
    json_object_set_new(balance, "now", json_real(now));
    json_object_set_new(balance, "error", json_real(want > 0 ? now / want - 1 : 0));
    json_object_set_new(balance, "dirt_error", json_real(s->initial_dirt > 0 ? dirt / s->initial_dirt - 1 : 0));
    json_object_set_new(to, "balance", balance);
    json_object_set_new(to, "flat_triangles", json_integer(w->n_flat));
    if (w->n_flat > 0)
        tool_warn(w->t, "triangles that are flat in %lld frames: nothing runs there and no rain falls on them", (long long)w->flat_frames);
    tool_note(w->t, "%s: %lld frames, %lld steps of %lld samples; %g kg of liquid", w->r->folder, (long long)w->in->n, (long long)w->n_steps,
              (long long)w->in->file.octree.n_samples, now);
}

static modal_status commit(running *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltex_flow_output *out = w->out;
    const modaltex_flow_input *in = w->in;
    tool_folder_output listed[MODALTEX_FLOW_OUTPUTS + 1];
    tool_output *all[MODALTEX_FLOW_OUTPUTS + 1];
    modal_manifest_file *files = NULL;
    char *text = NULL;
    int64_t bytes = 0;
    const char *fields[3];
    for (int i = 0; i < info->arrays.n; i++) fields[i] = info->arrays.all[i].name;
    modal_manifest manifest = {.tool = "modaltex", .version = tool_version(), .arguments = w->t->command_line, .trajectory = w->r->trajectory,
                               .trajectory_hash = in->trajectory_hash, .basis = tool_pipe_shown(in->basis_path), .basis_hash = in->basis.hash,
                               .back_end = w->r->device.name, .device = w->r->device.hardware, .frame_start = in->start, .frame_step = in->step,
                               .n_frames = in->n, .first_time = in->times[0], .last_time = in->times[in->n - 1], .n_points = in->n_points,
                               .n_triangles = in->n_triangles, .order = "user", .normals = "none", .n_fields = info->arrays.n, .fields = fields};
    int n = 0;
    for (; n < MODALTEX_FLOW_OUTPUTS - 1; n++) {
        listed[n] = (tool_folder_output){names[n], kinds[n], NULL, out->files[n].temporary, 0};
        all[n] = &out->files[n];
    }
    if (w->images) {
        listed[n] = (tool_folder_output){"png", "png", "png", out->images.temporary, 0};
        all[n++] = &out->images;
    }
    all[n] = &out->files[MODALTEX_FLOW_OUTPUTS - 1];
    MODAL_TRY(tool_folder_files(listed, n, in->n, &files, &text, &manifest.n_files, &bytes, err));
    manifest.files = files;
    MODAL_TRY(modal_manifest_write(out->files[MODALTEX_FLOW_OUTPUTS - 1].temporary, &manifest, err));
    status = tool_outputs_commit(all, n + 1, NULL, err);
    out->complete = !all[0]->temporary;
    if (out->complete) tool_folder_keep(w->r->folder);
done:
    modal_free(&files);
    modal_free(&text);
    return status;
}

modal_status modaltex_flow_run(tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, modaltex_flow_output *out, modal_error *err)
{
    static const modal_array wetness = {.name = "wetness", .components = 1, .unit = "kg/m^2"}, dirt = {.name = "dirt", .components = 1, .unit = "kg/m^2"};
    modal_status status = MODAL_OK;
    running w = {.t = t, .r = r, .in = in, .out = out};
    modal_trajectory *q = &in->trajectory;
    modal_sequence_info info = {.n_points = in->n_points, .n_triangles = in->n_triangles, .triangles = in->triangles, .n_frames = in->n, .times = in->times,
                                .basis_hash = q->basis_hash, .source_kind = "trajectory", .source_hash = in->trajectory_hash, .threads = r->threads};
    const modal_sequence_target target = {.files = {out->files[0].temporary, out->files[1].temporary}};
    int64_t disk = 0, memory = 0;
    const double start = tool_seconds();
    MODAL_TRY(modal_array_add(&info.arrays, &modal_sequence_points, err));
    MODAL_TRY(modal_array_add(&info.arrays, &wetness, err));
    if (in->state.dirt) MODAL_TRY(modal_array_add(&info.arrays, &dirt, err));
    MODAL_TRY(modal_provenance_append(&q->provenance, &q->n_provenance, "modaltex flow", tool_build(), t->command_line, in->inputs, r->device.name, err));
    info.n_provenance = q->n_provenance, info.provenance = q->provenance;
    MODAL_TRY(modal_sequence_check_info(&info, err));
    MODAL_TRY(modal_sequence_vtkhdf.size(&info, &disk, &memory, err));
    MODAL_TRY(modal_disk_check(r->folder, r->folder, (double)disk, err));
    MODAL_TRY(modal_sequence_vtkhdf.begin(&out->writer, &target, &info, err));
    if (r->images) MODAL_TRY(modaltex_flow_images_new(&w.images, r, in, out->images.temporary, err));
    MODAL_TRY(open_deformer(&w, err));
    MODAL_TRY(modal_device_select(&r->device, err));
    MODAL_TRY(modal_flow_new(&w.flow, &r->device, &in->file.octree, in->surface.positions, in->surface.triangles, &r->settings, &in->state, err));
    MODAL_TRY(make_frames(&w, err));
    tool_stage(t, "flow", tool_seconds() - start - w.writing - w.drawing, -1);
    if (r->images) tool_stage(t, "images", w.drawing, -1);
    if (r->images) tool_stage(t, "images, processor", modaltex_flow_images_processor(w.images), -1);
    MODAL_TRY(write_last(t, r, in, out, err));
    double closing = tool_seconds();
    MODAL_TRY(modal_sequence_vtkhdf.end(&out->writer, &target, &info, err));
    MODAL_TRY(tool_output_sync(&out->files[0], err));
    tool_stage(t, "sequence", w.writing + tool_seconds() - closing, disk);
    closing = tool_seconds();
    MODAL_TRY(commit(&w, &info, err));
    tool_stage(t, "close and sync", tool_seconds() - closing, -1);
    report(&w);
done:
    modaltex_flow_images_delete(w.images);
    modal_flow_delete(w.flow);
    modal_deformer_delete(w.deformer);
    for (int i = 0; i < 3; i++) modal_free(&w.arrays[i]);
    return status;
}
