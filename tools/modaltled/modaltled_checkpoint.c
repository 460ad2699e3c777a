/* SPDX-License-Identifier: Apache-2.0 */
/* modaltled: --checkpoint and --restart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/tled/steady.h"
#include "tools/common/commit.h"
#include "tools/modaltled/modaltled_run.h"

/* What of a run is not the motion's; doubles and 64-bit numbers only, so that there are no gaps. */
typedef struct run_head {
    double worst_balance, largest_energy, largest_internal, largest_square;
    int64_t next;
    modal_tled_followed follow;
} run_head;

/* The arrays of a frame, in the order of the file. */
enum { FRAME = 10 };

static void pieces_of(const run *w, const modal_snapshot *f, modal_solid_piece all[FRAME])
{
    const int64_t field = 24 * w->c->model.solid.n_nodes, probes = 24 * (int64_t)w->n_probes;
    const int *fields = w->r->fields;
    const modal_solid_piece list[FRAME] = {
        {&f->time, 8}, {f->displacements, field}, {f->velocities, fields[MODALTLED_VELOCITIES] ? field : 0},
        {f->forces, fields[MODALTLED_FORCES] ? field : 0}, {f->energies, fields[MODALTLED_ENERGY] ? 8 * MODAL_TLED_ENERGIES : 0},
        {f->parts, fields[MODALTLED_ENERGY] ? 8 * MODAL_TLED_PARTS : 0}, {f->probe_displacements, probes},
        {f->probe_reactions, probes}, {f->probe_velocities, probes}, {f->quality, sizeof *f->quality}};
    memcpy(all, list, sizeof list);
}

static modal_status add_file(modal_hash *hash, const char *path, modal_error *err)
{
    char text[MODAL_HASH_TEXT];
    const modal_status status = modal_hash_file(path, text, err);
    if (status == MODAL_OK) modal_hash_array(hash, "file", text, 1, sizeof text);
    return status;
}

/* Everything that the bytes of a run depend on. */
static modal_status hash_inputs(const run *w, modal_solid_inputs *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_solid *solid = &w->c->solid;
    const modal_volume_mesh *mesh = &solid->mesh;
    modal_hash *hash = NULL;
    MODAL_TRY(modal_hash_new(&hash, err));
    MODAL_TRY(add_file(hash, w->r->input.mesh_path, err));
    /* a mesh may be several files */
    modal_hash_array(hash, "elements", mesh->element_nodes, mesh->element_offsets[mesh->n_elements], sizeof *mesh->element_nodes);
    modal_hash_text(hash, to->hashes[MODAL_SOLID_MESH]);
    modal_hash_restart(hash);
    MODAL_TRY(add_file(hash, w->r->scene_path, err));
    for (int32_t i = 0; i < w->c->scene.n_files; i++) MODAL_TRY(add_file(hash, w->c->scene.files[i], err));
    modal_hash_text(hash, to->hashes[MODAL_SOLID_SCENE]);
    modal_hash_restart(hash);
    for (int32_t i = 0; i < mesh->n_materials; i++) {
        const modal_material *m = &mesh->materials[i];
        const double numbers[] = {m->young, m->poisson, m->density, m->law, m->fibre_stiffness, m->fibre[0], m->fibre[1], m->fibre[2],
                                  m->isochoric.n, m->volumetric.n};
        modal_hash_array(hash, "material", numbers, sizeof numbers / sizeof *numbers, sizeof *numbers);
        for (int k = 0; k < 2; k++) {
            const modal_prony *terms = k ? &m->volumetric : &m->isochoric;
            modal_hash_array(hash, "shares", terms->share, terms->n, sizeof(double));
            modal_hash_array(hash, "times", terms->time, terms->n, sizeof(double));
        }
    }
    modal_hash_array(hash, "materials", mesh->element_material, mesh->n_elements, sizeof *mesh->element_material);
    if (mesh->element_fibres) modal_hash_array(hash, "fibres", mesh->element_fibres, 3 * mesh->n_elements, sizeof(double));
    modal_hash_array(hash, "nodes", mesh->nodes, 3 * mesh->n_nodes, sizeof(double)); /* in metres: --unit */
    modal_hash_array(hash, "held", solid->fixed_nodes, solid->n_fixed_nodes, sizeof *solid->fixed_nodes);
    modal_hash_array(hash, "components", solid->fixed_components, solid->n_fixed_nodes, sizeof *solid->fixed_components);
    modal_hash_array(hash, "fields", w->r->fields, MODALTLED_FIELDS, sizeof *w->r->fields);
    const int32_t precision = (int32_t)w->r->precision;
    modal_hash_array(hash, "precision", &precision, 1, sizeof precision);
    modal_hash_array(hash, "back end", w->r->device.name, (int64_t)strlen(w->r->device.name), 1);
    modal_hash_array(hash, "version", tool_version(), (int64_t)strlen(tool_version()), 1);
    modal_hash_text(hash, to->hashes[MODAL_SOLID_RUN]);
done:
    modal_hash_delete(hash);
    return status;
}

/* What the records of frames are read into. */
typedef struct reading {
    run *w;
    double *values; /* all of a frame, in the order of pieces_of */
    modal_snapshot frame;
} reading;

static modal_status new_reading(reading *r, run *w, int64_t frame_bytes, modal_error *err)
{
    modal_solid_piece all[FRAME];
    const double *at[FRAME];
    const modal_status status = modal_alloc(&r->values, frame_bytes, 1, "checkpoint", err);
    if (status != MODAL_OK) return status;
    r->w = w;
    pieces_of(w, &r->frame, all);
    at[0] = r->values;
    for (int k = 1; k < FRAME; k++) at[k] = at[k - 1] + all[k - 1].length / 8;
    r->frame = (modal_snapshot){0, at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8], (const modal_quality *)at[9]};
    return MODAL_OK;
}

/* A frame of the checkpoint, into the file of frames and the next checkpoint. */
static modal_status take_frame(void *context, const void *frame, modal_error *err)
{
    reading *r = context;
    modal_solid_piece all[FRAME];
    int64_t bytes = 0;
    pieces_of(r->w, &r->frame, all);
    for (int k = 0; k < FRAME; k++) bytes += all[k].length;
    memcpy(r->values, frame, (size_t)bytes);
    r->frame.time = r->values[0];
    const modal_status status = modal_snapshots_out_add(r->w->out, &r->frame, err);
    return status == MODAL_OK ? modaltled_checkpoint_frame(r->w, &r->frame, err) : status;
}

static modal_status restart(run *w, const modal_solid_inputs *inputs, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_solid_piece all[FRAME];
    run_head head;
    int64_t frame_bytes = 0;
    reading r = {0};
    pieces_of(w, &r.frame, all);
    for (int k = 0; k < FRAME; k++) frame_bytes += all[k].length;
    MODAL_TRY(new_reading(&r, w, frame_bytes, err));
    MODAL_TRY(modal_solid_checkpoint_read(w->r->restart_path, inputs, frame_bytes, w->state_bytes, w->state, take_frame, &r, err));
    memcpy(&head, w->state, sizeof head);
    if (head.next != modal_snapshots_out_count(w->out) || head.next > (w->c->scene.steady ? 1 : w->c->n_frames) || !(head.largest_square >= 0) ||
        (!w->c->scene.steady && head.follow.interval < 1) || head.follow.n_shrunk < 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %lld frames, and a state of %lld", w->r->restart_path,
                   (long long)modal_snapshots_out_count(w->out), (long long)head.next);
    MODAL_TRY(modal_tled_motion_load(w->motion, (const char *)w->state + sizeof head, err));
    w->worst_balance = head.worst_balance, w->largest_energy = head.largest_energy, w->largest_internal = head.largest_internal;
    w->largest_square = head.largest_square;
    w->follow.at = head.follow, w->first_frame = head.next;
    if (!w->c->scene.steady) MODAL_TRY(modal_tled_motion_keep(w->motion, err));
    w->first_step = modal_tled_motion_steps(w->motion);
    tool_note(w->t, "%s: goes on after %lld frames, t = %.9g s", w->r->restart_path, (long long)head.next,
              modal_tled_motion_time(w->motion, modal_tled_motion_steps(w->motion)));
done:
    modal_free(&r.values);
    return status;
}

modal_status modaltled_checkpoint_begin(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_solid_inputs inputs;
    if (!w->r->checkpoint_path && !w->r->restart_path) return MODAL_OK;
    w->steady_bytes = w->c->scene.steady ? modal_tled_steady_bytes(&w->c->model) : 0;
    w->state_bytes = (int64_t)sizeof(run_head) + modal_tled_motion_save_bytes(w->motion) + w->steady_bytes;
    MODAL_TRY(modal_alloc(&w->state, w->state_bytes, 1, "checkpoint", err));
    MODAL_TRY(hash_inputs(w, &inputs, err));
    if (w->r->checkpoint_path)
        MODAL_TRY(modal_solid_checkpoint_open(&w->checkpoint, w->outputs->checkpoint.temporary, &inputs, err));
    if (w->r->restart_path) MODAL_TRY(restart(w, &inputs, err));
done:
    return status;
}

static modal_status add(run *w, int is_state, const modal_solid_piece *pieces, int n, modal_error *err)
{
    const modal_status status = modal_solid_checkpoint_add(w->checkpoint, is_state, pieces, n, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", w->r->checkpoint_path);
    return status;
}

modal_status modaltled_checkpoint_frame(run *w, const modal_snapshot *frame, modal_error *err)
{
    modal_solid_piece all[FRAME];
    if (!w->checkpoint) return MODAL_OK;
    pieces_of(w, frame, all);
    return add(w, 0, all, FRAME, err);
}

modal_status modaltled_checkpoint_state(run *w, int64_t next, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!w->checkpoint) return MODAL_OK;
    MODAL_TRY(modal_tled_frames_wait(w->frames, err)); /* they stand before the state, and their thread ends with the checkpoint */
    const run_head head = {w->worst_balance, w->largest_energy, w->largest_internal, w->largest_square, next, w->follow.at};
    memcpy(w->state, &head, sizeof head);
    MODAL_TRY(modal_tled_motion_save(w->motion, (char *)w->state + sizeof head, err));
    const modal_solid_piece piece = {w->state, w->state_bytes};
    MODAL_TRY(add(w, 1, &piece, 1, err));
    if (w->outputs->checkpoint.temporary) MODAL_TRY(tool_output_commit(&w->outputs->checkpoint, err)); /* the next ones are added to it */
done:
    return status;
}

modal_status modaltled_checkpoint_steady(void *run_at_hand, const void *at, modal_error *err)
{
    run *w = run_at_hand;
    if (!w->checkpoint || ++w->n_looks % w->r->checkpoint_every != 0) return MODAL_OK;
    memcpy((char *)w->state + w->state_bytes - w->steady_bytes, at, (size_t)w->steady_bytes);
    return modaltled_checkpoint_state(w, 1, err);
}

void modaltled_checkpoint_end(run *w)
{
    w->checkpoint = modal_solid_checkpoint_close(w->checkpoint);
    modal_free(&w->state);
}
