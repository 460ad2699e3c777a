/* SPDX-License-Identifier: Apache-2.0 */
/* modaltled: the motion, frame by frame into the file. */
#include <math.h>
#include <string.h>

#include "formats/snapshots/snapshots_out.h"
#include "lib/base/memory.h"
#include "lib/mesh/boundary.h"
#include "lib/tled/steady.h"
#include "tools/common/inputs.h"
#include "tools/common/quality.h"
#include "tools/modaltled/modaltled_run.h"

static int report_progress(void *context, const char *stage, double fraction)
{
    run *w = context;
    (void)fraction;
    const double done = (double)modal_tled_motion_steps(w->motion) / (double)(w->c->n_steps > 0 ? w->c->n_steps : 1);
    return tool_signalled() || (w->t->progress.report && w->t->progress.report(w->t->progress.context, stage, done));
}

static modal_status add_provenance(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *inputs = NULL;
    int64_t used = 0, room = 0;
    MODAL_TRY(tool_add_input(w->r->input.mesh_path, &inputs, &used, &room, err));
    MODAL_TRY(tool_add_input(w->r->scene_path, &inputs, &used, &room, err));
    for (int32_t i = 0; i < w->c->scene.n_files; i++)
        MODAL_TRY(tool_add_input(w->c->scene.files[i], &inputs, &used, &room, err));
    if (w->r->input.materials_path) MODAL_TRY(tool_add_material_inputs(w->r->input.materials_path, &inputs, &used, &room, err));
    MODAL_TRY(modal_provenance_append(&w->provenance, &w->n_provenance, w->t->program->name, tool_build(),
                                      w->t->command_line, inputs, w->r->device.name, err));
    if (w->t->assumed_material)
        MODAL_TRY(modal_copy_text(&w->provenance[w->n_provenance - 1].assumed_material, w->t->assumed_material, SIZE_MAX, err));
done:
    modal_free(&inputs);
    return status;
}

static modal_status new_arrays(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = 3 * w->c->model.solid.n_nodes, probes = 3 * (int64_t)w->n_probes;
    const int forces = w->r->fields[MODALTLED_FORCES];
    struct {
        double **to;
        int64_t count;
    } all[5 + MODAL_TLED_SLOTS + 3 * (MODAL_TLED_SLOTS + 1)] = {{&w->u, probes > 0 ? n : 0}, {&w->v, probes > 0 ? n : 0},
                                                                {&w->reactions, probes > 0 ? n : 0}, {&w->own_forces, forces ? n : 0},
                                                                {&w->solid_u, w->r->fields[MODALTLED_ENERGY] ? 0 : n}};
    int used = 5;
    for (int k = 0; k <= MODAL_TLED_SLOTS; k++) {
        run_probes *p = k < MODAL_TLED_SLOTS ? &w->beside[k].probes : &w->line;
        double **const arrays[] = {&p->u, &p->v, &p->f};
        if (k < MODAL_TLED_SLOTS) all[used].to = &w->beside[k].forces, all[used++].count = forces ? n : 0;
        for (int a = 0; a < 3; a++) all[used].to = arrays[a], all[used++].count = probes;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].count > 0) MODAL_TRY(modal_alloc_zero(all[i].to, all[i].count, sizeof(double), "frame", err));
done:
    return status;
}

static void free_arrays(run *w)
{
    double **const all[] = {&w->u, &w->v, &w->reactions, &w->own_forces, &w->solid_u};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_free(all[i]);
    for (int k = 0; k <= MODAL_TLED_SLOTS; k++) {
        run_probes *p = k < MODAL_TLED_SLOTS ? &w->beside[k].probes : &w->line;
        if (k < MODAL_TLED_SLOTS) modal_free(&w->beside[k].forces);
        modal_free(&p->u), modal_free(&p->v), modal_free(&p->f);
    }
}

static modal_status open_file(run *w, const char *path, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &w->c->solid.mesh;
    modal_surface_mesh surface = {0};
    int32_t *vertex_nodes = NULL;
    double *mass = NULL;
    int32_t *patches = NULL;
    modal_snapshots_solid solid = {0};
    modal_snapshots_head head = {.n_nodes = mesh->n_nodes,
                                 .single = w->r->precision == MODAL_TLED_FLOAT32,
                                 .velocities = w->r->fields[MODALTLED_VELOCITIES],
                                 .forces = w->r->fields[MODALTLED_FORCES],
                                 .n_energies = w->r->fields[MODALTLED_ENERGY] ? MODAL_TLED_ENERGIES : 0,
                                 .n_parts = w->r->fields[MODALTLED_ENERGY] ? MODAL_TLED_PARTS : 0,
                                 .quality = 1,
                                 .n_probes = w->n_probes,
                                 .probe_names = w->probe_names,
                                 .n_provenance = w->n_provenance,
                                 .provenance = w->provenance};
    if (w->r->fields[MODALTLED_SOLID]) {
        MODAL_TRY(modal_volume_mesh_boundary(mesh, &surface, &vertex_nodes, err));
        for (int64_t k = 0; k < 3 * surface.n_triangles; k++) surface.triangles[k] = vertex_nodes[surface.triangles[k]];
        MODAL_TRY(modal_alloc(&mass, mesh->n_nodes, sizeof *mass, "masses", err));
        const modal_tled_solid *s = &w->c->model.solid;
        const double *own = s->weights ? s->weights : s->mass; /* not what mass scaling has added */
        for (int64_t i = 0; i < mesh->n_nodes; i++) mass[w->c->model.node_from[i]] = own[i];
        solid = (modal_snapshots_solid){*mesh, mass, w->c->laws, surface.n_triangles, surface.triangles, NULL};
        if (s->macro_of) {
            MODAL_TRY(modal_alloc(&patches, mesh->n_elements, sizeof *patches, "mean patches", err));
            for (int64_t e = 0; e < mesh->n_elements; e++) patches[w->c->model.element_from[e]] = e < s->n_tetrahedra ? s->macro_of[e] : -1;
            solid.patches = patches;
        }
        head.solid = &solid;
    }
    MODAL_TRY(modal_snapshots_out_open(&w->out, path, &head, err));
done:
    modal_surface_mesh_free(&surface);
    modal_free(&vertex_nodes);
    modal_free(&mass);
    modal_free(&patches);
    return status;
}

/* What will be written is known before the first frame: the frames, and in a checkpoint a state every so many of them. */
static modal_status check_room(const run *w, modal_error *err)
{
    const int steady = w->c->scene.steady, *fields = w->r->fields;
    const double frames = steady ? 2 : (double)w->c->n_frames, number = w->r->precision == MODAL_TLED_FLOAT32 ? 4 : 8;
    const double field = 3 * (double)w->c->model.solid.n_nodes * (1 + fields[MODALTLED_VELOCITIES] + fields[MODALTLED_FORCES]);
    const double others = 8 * (1 + MODAL_QUALITY_NUMBERS + (fields[MODALTLED_ENERGY] ? MODAL_TLED_ENERGIES + MODAL_TLED_PARTS : 0) + 9 * (double)w->n_probes);
    const double states = steady ? 1 : floor(frames / (double)w->r->checkpoint_every);
    return tool_output_check_room(w->r->snapshots_path, frames * (number * field + others), w->r->checkpoint_path,
                                  frames * (8 * field + others) + states * (double)modal_tled_motion_save_bytes(w->motion), err);
}

/* Says that the step has become shorter, or that it is too long. */
static void tell_change(void *context, const modal_tled_change *change)
{
    run *w = context;
    if (change->limit == 0)
        tool_note(w->t, "t = %.6g s: an element was turned, the step from step %lld on is %.6g s", change->time, (long long)change->steps,
                  change->step);
    else if (w->follow.automatic)
        tool_note(w->t, "t = %.6g s: the critical step falls to %.6g s, the step from step %lld on is %.6g s", change->time, change->limit,
                  (long long)change->steps, change->step);
    else
        tool_warn(w->t, "t = %.6g s: the critical step of the deformed solid is %.6g s, the step %.6g s", change->time, change->limit,
                  change->step);
}

/* Steps that are done at frame f, or in the end: by number, or those that bring the motion nearest to a time. */
static int64_t steps_at(const run *w, int64_t f)
{
    const modal_solid_scene *s = &w->c->scene;
    const int last = f == w->c->n_frames;
    if (w->follow.at.n_shrunk == 0 || (last ? s->n_steps > 0 : !(s->fps > 0))) return last ? w->c->n_steps : w->c->frames[f];
    const int64_t done = modal_tled_motion_steps(w->motion);
    const double way = (last ? s->duration : (double)f / s->fps) - modal_tled_motion_time(w->motion, done);
    return done + (way > 0 ? (int64_t)rint(way / modal_tled_motion_step(w->motion)) : 0);
}

/* How far a frame may be trusted. Without energies the elements are measured here, beside the steps. */
static modal_quality measure(run *w, const modal_tled_frame *f)
{
    const run_frame *b = &w->beside[f->slot];
    const int energy = w->r->fields[MODALTLED_ENERGY];
    const modal_tled_model *model = &w->c->model;
    modal_tled_gauge gauge = {.time = f->time, .u = f->u, .energies = energy ? b->energies : NULL, .sums = b->measures.sums,
                              .largest = b->largest, .largest_internal = b->largest_internal, .added_kinetic = b->measures.added_kinetic};
    if (!energy) {
        for (int64_t i = 0; i < model->solid.n_nodes; i++)
            memcpy(w->solid_u + 3 * i, f->u + 3 * (int64_t)model->node_from[i], 3 * sizeof(double));
        modal_tled_ratios_at(&w->c->forces, w->solid_u, &gauge.sums);
    }
    return modal_tled_quality_of(&w->quality, &gauge);
}

/* In the frames' thread: into the file and the checkpoint. */
static modal_status write_frame(void *context, const modal_tled_frame *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    run *w = context;
    const run_frame *b = &w->beside[f->slot];
    const modal_quality quality = measure(w, f);
    const modal_snapshot frame = {f->time, f->u, f->velocity, b->forces, b->energies, b->parts, b->probes.u, b->probes.f, b->probes.v, &quality};
    for (int64_t i = 0; i < w->c->model.solid.n_nodes; i++) {
        const double *u = f->u + 3 * i;
        w->largest_square = fmax(w->largest_square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    status = modal_snapshots_out_add(w->out, &frame, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", w->r->snapshots_path);
        goto done;
    }
    MODAL_TRY(modaltled_checkpoint_frame(w, &frame, err));
done:
    return status;
}

/* The state at hand is a frame: what it has beside displacements, then on its way. */
static modal_status make_frame(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int *fields = w->r->fields;
    int slot;
    MODAL_TRY(modal_tled_frames_slot(w->frames, &slot, err));
    run_frame *b = &w->beside[slot];
    if (fields[MODALTLED_ENERGY] || fields[MODALTLED_FORCES] || w->n_probes > 0) MODAL_TRY(modal_tled_motion_state(w->motion, w->u, w->v, err));
    if (fields[MODALTLED_ENERGY]) {
        MODAL_TRY(modal_tled_motion_energy(w->motion, &w->c->forces, b->energies, b->parts, &b->measures, err));
        for (int k = 0; k < MODAL_TLED_BALANCE; k++) w->largest_energy = fmax(w->largest_energy, fabs(b->energies[k]));
        w->worst_balance = fmax(w->worst_balance, fabs(b->energies[MODAL_TLED_BALANCE]));
        w->largest_internal = fmax(w->largest_internal, b->energies[MODAL_TLED_INTERNAL]);
        b->largest = w->largest_energy, b->largest_internal = w->largest_internal;
    }
    if (fields[MODALTLED_FORCES]) {
        MODAL_TRY(modal_tled_forces_at(&w->c->forces, modal_tled_motion_own(w->motion), w->own_forces, err));
        for (int64_t i = 0; i < w->c->model.solid.n_nodes; i++)
            memcpy(b->forces + 3 * (int64_t)w->c->model.node_from[i], w->own_forces + 3 * i, 3 * sizeof(double));
    }
    if (w->n_probes > 0) MODAL_TRY(modaltled_probes_measure(w, &b->probes, err));
    MODAL_TRY(modal_tled_frames_take(w->frames, err));
done:
    return status;
}

/* What ended the motion, with what to do. */
static void explain(const run *w, int64_t element, int64_t halvings, modal_error *err)
{
    char advice[160];
    const size_t length = strlen(err->message);
    if (err->status != MODAL_ERROR_NOT_CONVERGED) return;
    if (!w->c->scene.steady) snprintf(advice, sizeof advice, "; try a smaller step, smoother or smaller loads, or a finer mesh there");
    else /* the step is not the user's */
        snprintf(advice, sizeof advice, ", after the step was halved %lld times; try loads that rise more slowly, smaller loads, or a finer mesh there",
                 (long long)halvings);
    if (length + strlen(advice) < sizeof err->message) memcpy(err->message + length, advice, strlen(advice) + 1);
    if (element >= 0) modal_error_context(err, "element %lld", (long long)w->c->solid.mesh.element_tags[element]);
    modal_error_context(err, "%s", w->r->scene_path);
}

/* After a signal. What cannot be kept is said, and the signal ends the run as it would have. */
static void keep_state(run *w, int64_t next)
{
    modal_error err = {0};
    if (modaltled_checkpoint_state(w, next, &err) != MODAL_OK) tool_warn(w->t, "the checkpoint could not be kept: %s", err.message);
    else if (w->r->checkpoint_path) tool_note(w->t, "%s: goes on from t = %.9g s", w->r->checkpoint_path,
                                              modal_tled_motion_time(w->motion, modal_tled_motion_steps(w->motion)));
}

/* From rest to where the solid comes to rest: two frames. */
static modal_status relax(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_progress progress = {report_progress, w};
    const double start = tool_seconds();
    modal_tled_steady r;
    int64_t element = -1;
    tool_progress_amount(w->t, (double)w->c->n_steps, "steps");
    const modal_tled_steady_plan plan = {w->c->n_steps, w, w->checkpoint ? modaltled_checkpoint_steady : NULL,
                                             w->first_frame > 0 ? (const char *)w->state + w->state_bytes - w->steady_bytes : NULL};
    if (w->first_frame == 0) MODAL_TRY(make_frame(w, err));
    status = modal_tled_steady_run(w->motion, &w->c->model, &w->c->forces, &plan, &progress, &element, &r, err);
    json_object_set_new(w->t->report, "steady",
                        json_pack("{s:b, s:I, s:f, s:f, s:f, s:I, s:I}", "converged", (int)r.converged, "steps", (json_int_t)r.steps, "error_m",
                                  r.error, "radius", r.radius, "lowest", r.lowest, "remassed", (json_int_t)r.remassed, "halvings",
                                  (json_int_t)r.shrunk));
    if (status == MODAL_OK && r.shrunk > 0)
        tool_note(w->t, "elements were inverted on the way: the step was halved %lld time%s", (long long)r.shrunk, r.shrunk == 1 ? "" : "s");
    if (status != MODAL_OK) {
        explain(w, element, r.shrunk, err);
        goto done;
    }
    w->compute_seconds += tool_seconds() - start;
    MODAL_TRY(make_frame(w, err));
    MODAL_TRY(modal_tled_frames_wait(w->frames, err));
    const double largest = sqrt(w->largest_square);
    if (r.radius == 1) /* no look was at loads that stay */
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "%s: not steady within duration, %lld steps: what acts changes until then; curves must end before",
                   w->r->scene_path, (long long)r.steps);
    tool_note(w->t, "%s after %lld steps, error about %.3g m, %.3g of the largest displacement", r.converged ? "steady" : "not steady",
              (long long)r.steps, r.error, largest > 0 ? r.error / largest : 0.0);
    if (!r.converged)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "%s: not steady within duration, %lld steps: error about %.3g m, %.3g m asked",
                   w->r->scene_path, (long long)r.steps, r.error, w->c->scene.accuracy * largest);
done:
    return status;
}

/* The steps up to frame f, or to the end; they become more where the step shrinks on the way. */
static modal_status reach(run *w, int64_t f, const modal_progress *progress, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t steps;
    do {
        steps = steps_at(w, f);
        MODAL_TRY(modaltled_probes_advance(w, steps, progress, element, err));
    } while (modal_tled_motion_steps(w->motion) < steps);
done:
    return status;
}

static modal_status move(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_progress progress = {report_progress, w};
    const double start = tool_seconds();
    int64_t element = -1;
    tool_progress_amount(w->t, (double)w->c->n_steps, "steps");
    for (int64_t f = w->first_frame; f <= w->c->n_frames; f++) {
        const int last = f == w->c->n_frames;
        status = reach(w, f, &progress, &element, err);
        if (status == MODAL_OK && !last) status = make_frame(w, err);
        if (status != MODAL_OK) {
            if (status == MODAL_ERROR_INTERRUPTED) keep_state(w, f);
            explain(w, element, 0, err);
            goto done;
        }
        if (!last && (f + 1) % w->r->checkpoint_every == 0) MODAL_TRY(modaltled_checkpoint_state(w, f + 1, err));
    }
done:
    w->compute_seconds += tool_seconds() - start;
    return status;
}

static void report(run *w)
{
    const int64_t steps = modal_tled_motion_steps(w->motion);
    double beside, waited;
    modal_tled_frames_seconds(w->frames, &beside, &waited);
    w->compute_seconds -= fmin(waited, w->compute_seconds);
    const double rate = w->compute_seconds > 0 ? (double)(w->c->solid.mesh.n_elements * (steps - w->first_step)) / w->compute_seconds : 0;
    json_t *all = w->t->report;
    tool_stage(w->t, "steps", w->compute_seconds, -1);
    tool_stage(w->t, "wait for frames", waited, -1);
    tool_stage(w->t, "frames beside the steps", beside, -1);
    json_object_set_new(all, "backend", json_string(w->r->device.name));
    json_object_set_new(all, "steps_done", json_integer(steps));
    json_object_set_new(all, "element_steps_per_second", json_real(rate));
    json_object_set_new(all, "largest_displacement_m", json_real(sqrt(w->largest_square)));
    if (w->follow.at.n_shrunk > 0) json_object_set_new(all, "last_step_s", json_real(modal_tled_motion_step(w->motion)));
    if (isfinite(w->follow.at.least_limit)) json_object_set_new(all, "least_critical_step_s", json_real(w->follow.at.least_limit));
    if (w->r->fields[MODALTLED_ENERGY])
        json_object_set_new(all, "energy",
                            json_pack("{s:f, s:f}", "largest_J", w->largest_energy, "worst_balance_J", w->worst_balance));
    tool_note(w->t, "%lld steps, %.3g million element steps a second, largest displacement %.6g m", (long long)steps,
              rate * 1e-6, sqrt(w->largest_square));
}

modal_status modaltled_run(tool *t, const modaltled_request *r, modaltled_case *c, modaltled_outputs *outputs,
                           int64_t *n_written, modal_quality_judgement *quality, modal_error *err)
{
    modal_status status = MODAL_OK;
    run w = {.t = t, .r = r, .c = c, .outputs = outputs};
    modal_error later = {0};
    double *rest = NULL;
    *n_written = 0;
    MODAL_TRY(add_provenance(&w, err));
    MODAL_TRY(modaltled_probes_name(&w, err));
    MODAL_TRY(new_arrays(&w, err));
    MODAL_TRY(open_file(&w, outputs->snapshots.temporary, err));
    MODAL_TRY(modal_tled_quality_new(&c->model, &c->scene, &w.quality, err));
    const modal_tled_motion_options options = {r->precision, c->step, r->fields[MODALTLED_ENERGY], w.n_probes > 0,
                                              1, r->devices, r->n_devices, c->scene.steady ? 1 : 0};
    if (c->scene.steady) {
        MODAL_TRY(modal_alloc_zero(&rest, c->model.solid.n_nodes, 3 * sizeof *rest, "displacements", err));
        MODAL_TRY(modal_tled_steady_masses(&c->model, &c->forces, rest, err));
    }
    MODAL_TRY(modal_tled_motion_new(&r->device, &c->model, &c->scene, &options, &w.motion, err));
    MODAL_TRY(check_room(&w, err));
    w.follow = (modal_tled_follow){.motion = w.motion, .forces = &c->forces, .automatic = c->scene.step == 0, .unsafe = r->unsafe_step,
                                   .tell = tell_change, .context = &w};
    w.follow.at.least_limit = c->critical.estimate;
    if (!c->scene.steady) MODAL_TRY(modal_tled_follow_begin(&w.follow, &c->critical, err));
    MODAL_TRY(modal_tled_frames_new(w.motion, r->fields[MODALTLED_VELOCITIES], write_frame, &w, &w.frames, err));
    MODAL_TRY(modaltled_checkpoint_begin(&w, err));
    MODAL_TRY(modaltled_probes_begin(&w, err));
    status = c->scene.steady ? relax(&w, err) : move(&w, err);
    /* what ended the motion wins over an error of frames before it */
    const modal_status left = modal_tled_frames_wait(w.frames, status == MODAL_OK ? err : &later);
    if (status == MODAL_OK && (status = left) != MODAL_OK) explain(&w, -1, 0, err);
    report(&w);
    *n_written = modal_snapshots_out_count(w.out);
    *quality = *modal_snapshots_out_quality(w.out);
    quality->assumed_material = t->assumed_material;
    json_object_set_new(t->report, "quality", tool_quality_json(quality));
done:
    modal_tled_frames_delete(w.frames);
    later = (modal_error){0};
    const modal_status closed = modal_snapshots_out_close(&w.out, MODAL_OK, status == MODAL_OK ? err : &later);
    if (status == MODAL_OK && closed != MODAL_OK) modal_error_context(err, "%s", r->snapshots_path);
    if (status == MODAL_OK) status = closed;
    if (closed != MODAL_OK) *n_written = 0;
    modaltled_checkpoint_end(&w);
    const int keeps = status == MODAL_OK || (r->keep_partial && *n_written > 0);
    const modal_status told = modaltled_probes_end(&w, keeps, status == MODAL_OK ? err : &later);
    if (status == MODAL_OK) status = told;
    modal_tled_motion_delete(w.motion);
    modal_tled_quality_free(&w.quality);
    free_arrays(&w);
    modal_free(&rest);
    modal_free(&w.probe_names);
    for (int32_t i = 0; i < w.n_provenance; i++) modal_provenance_free(&w.provenance[i]);
    modal_free(&w.provenance);
    return status;
}
