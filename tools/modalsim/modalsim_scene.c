/* SPDX-License-Identifier: Apache-2.0 */
/* A scene, of a file or of the flags: run on a back end, kept at checkpoints. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "formats/checkpoint/checkpoint_h5.h"
#include "formats/json/scene.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/forest/deformation.h"
#include "lib/forest/judge.h"
#include "lib/forest/simulate.h"
#include "lib/model/node_modes.h"
#include "tools/common/commit.h"
#include "tools/common/memory.h"
#include "tools/modalsim/modalsim.h"

enum { MEASURE_NUMBERS = MODALSIM_MEASURE_NUMBERS, POSE_NUMBERS = MODALSIM_STATE_NUMBERS - MEASURE_NUMBERS };

typedef struct scene_run {
    tool *t;
    const modalsim_request *r;
    modal_scene scene;
    modal_basis basis;
    modal_basis_tiles *tiles; /* of its file, or NULL */
    modal_device device;
    modalsim_writer writer;
    double *poses;  /* [objects, 12] of one frame, or NULL */
    double *pose_velocities; /* likewise, with --velocities */
    char scene_hash[MODAL_HASH_TEXT];
    double *numbers; /* [objects, FRAME_NUMBERS + MEASURE_NUMBERS] of a checkpoint */
    tool_output checkpoint_output;    /* until the first one is there */
    modal_checkpoint_out *checkpoint; /* then */
    modalsim_pace pace;
    int write_failed; /* what is wrong is not the scene */
    modalsim_range range; /* of the flags' motion */
} scene_run;

/* Of the scene's text and of the files that it names, so that a restart sees a change in any. */
static modal_status hash_scene(scene_run *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    char text[MODAL_HASH_TEXT];
    MODAL_TRY(modal_hash_new(&hash, err));
    MODAL_TRY(modal_hash_file(s->r->scene_path, text, err));
    modal_hash_array(hash, "scene", text, 1, sizeof text);
    for (int i = 0; i < s->r->n_sets; i++) modal_hash_array(hash, "set", s->r->sets[i], (int64_t)strlen(s->r->sets[i]), 1);
    for (int32_t i = 0; i < s->scene.n_files; i++) {
        MODAL_TRY(modal_hash_file(s->scene.files[i], text, err));
        modal_hash_array(hash, "file", text, 1, sizeof text);
    }
    modal_hash_text(hash, s->scene_hash);
done:
    modal_hash_delete(hash);
    return status;
}

/* ---- checkpoints ---- */

/* The first one is a file that is made under another name; the next ones are added to it, unless somebody moved it
 * away meanwhile. */
static modal_status put_checkpoint(scene_run *s, const modal_checkpoint *file, modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_output *output = &s->checkpoint_output;
    if (s->checkpoint && modal_checkpoint_out_is_at(s->checkpoint, s->r->checkpoint_path))
        return modal_checkpoint_out_put(s->checkpoint, file, s->writer.out, err);
    if (s->checkpoint) {
        s->checkpoint = modal_checkpoint_out_close(s->checkpoint);
        tool_output_discard(output);
        MODAL_TRY(tool_output_begin(output, s->r->checkpoint_path, s->r->force, err));
    }
    MODAL_TRY(modal_checkpoint_out_open(&s->checkpoint, output->temporary, s->r->checkpoint_path, file, err));
    MODAL_TRY(modal_checkpoint_out_put(s->checkpoint, file, s->writer.out, err));
    MODAL_TRY(tool_output_commit(output, err));
done:
    return status;
}

static modal_status write_checkpoint(scene_run *s, const modal_scene_state *state, int64_t n_frames, modal_error *err)
{
    const int64_t n = s->basis.n_objects, c = modal_basis_mode_offsets(&s->basis, NULL);
    double *measures = s->numbers + n * POSE_NUMBERS;
    memcpy(s->numbers, state->poses, (size_t)n * sizeof *state->poses);
    for (int64_t i = 0; i < n; i++) {
        const modal_step_measure *m = &state->measures[i];
        const modal_judged *j = &state->judged[i];
        const double values[MEASURE_NUMBERS] = {m->dissipated_power, m->external_power, m->dissipated, m->external, j->initial,
                                                j->work, j->moved, j->off, j->level, j->quiet, j->keeps};
        memcpy(measures + i * MEASURE_NUMBERS, values, sizeof values);
    }
    modal_checkpoint file = {.back_end = s->device.name, .n_frames = state->next_frame,
                             .most_frames = n_frames,
                             .state_counts = {c, c, modal_scene_state_numbers(c, n), n * POSE_NUMBERS, n * MEASURE_NUMBERS},
                             .state = {state->q, state->v, state->a, s->numbers, measures},
                             .n_coordinates = c, .n_objects = s->poses ? n : 0,
                             .n_quality = MODAL_QUALITY_NUMBERS};
    strcpy(file.basis_hash, s->basis.hash);
    strcpy(file.scene_hash, s->scene_hash);
    const modal_status status = put_checkpoint(s, &file, err);
    tool_output_name_error(&s->checkpoint_output, err);
    return status;
}

static modal_status read_restart(scene_run *s, modal_simulation *run, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_checkpoint file = {0};
    const char *path = s->r->restart_path;
    const int64_t n = s->basis.n_objects, c = modal_basis_mode_offsets(&s->basis, NULL);
    const int64_t counts[MODAL_CHECKPOINT_STATE] = {c, c, modal_scene_state_numbers(c, n), n * POSE_NUMBERS, n * MEASURE_NUMBERS};
    if (!path) goto done;
    MODAL_TRY(modal_checkpoint_read(path, &file, err));
    if (strcmp(file.basis_hash, s->basis.hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: made with another basis, %s", path, file.basis_hash);
    if (strcmp(file.scene_hash, s->scene_hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: made with another scene, %s", path, s->r->scene_path);
    if (!file.back_end || strcmp(file.back_end, s->device.name) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: made on another back end (--backend), %s", path,
                   file.back_end ? file.back_end : "");
    int fits = file.most_frames == run->n_frames && file.n_coordinates == c &&
               file.n_objects == (s->poses ? n : 0) && file.n_quality == MODAL_QUALITY_NUMBERS;
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) fits &= file.state_counts[i] == counts[i];
    if (!fits) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: does not fit the basis and the scene", path);
    modal_scene_state *state = &run->state;
    state->next_frame = file.n_frames;
    memcpy(state->q, file.state[0], (size_t)c * sizeof(double));
    memcpy(state->v, file.state[1], (size_t)c * sizeof(double));
    memcpy(state->a, file.state[2], (size_t)counts[2] * sizeof(double)); /* and what is behind it */
    memcpy(state->poses, file.state[3], (size_t)n * sizeof *state->poses);
    for (int64_t i = 0; i < n; i++) {
        const double *m = file.state[4] + i * MEASURE_NUMBERS;
        state->measures[i] = (modal_step_measure){.dissipated_power = m[0], .external_power = m[1],
                                                  .dissipated = m[2], .external = m[3]};
        state->judged[i] = (modal_judged){m[4], m[5], m[6], m[7], m[8], m[9], m[10]};
    }
    MODAL_TRY(modal_checkpoint_rows(path, &file, s->scene.fps, s->writer.out, err));
    tool_note(s->t, "%s: goes on after frame %lld", path, (long long)file.n_frames - 1);
done:
    modal_checkpoint_free(&file);
    return status;
}

/* A checkpoint where one is due, or after a signal, which ends the run. */
static modal_status keep(scene_run *s, const modal_simulation *run, int due, modal_error *err)
{
    const int64_t done = run->state.next_frame;
    const int stop = tool_signalled();
    if (s->r->checkpoint_path && (stop || due)) {
        modal_status status = write_checkpoint(s, &run->state, run->n_frames, err);
        s->write_failed = status != MODAL_OK;
        if (status != MODAL_OK) return status;
    }
    if (!stop || done == run->n_frames) return MODAL_OK; /* all that was asked for is done */
    return modal_error_set(err, MODAL_ERROR_INTERRUPTED, "interrupted after frame %lld, t = %g s",
                           (long long)done - 1, modal_frame_time(done - 1, s->scene.fps));
}

/* [R p]' [objects, 3, 4]: R [w]x with the spin w in the body's axes, and p'. */
static void find_pose_velocities(const modal_scene_state *state, int32_t n_objects, double *to)
{
    for (int32_t i = 0; i < n_objects; i++) {
        const modal_step_pose *f = &state->poses[i];
        for (int r = 0; r < 3; r++, to += 4) {
            const double *row = f->rotation + 3 * r;
            for (int c = 0; c < 3; c++) to[c] = row[(c + 1) % 3] * f->spin[(c + 2) % 3] - row[(c + 2) % 3] * f->spin[(c + 1) % 3];
            to[3] = f->velocity[r];
        }
    }
}

static modal_status frame_done(void *context, const modal_simulation *run, modal_error *err)
{
    scene_run *s = context;
    const int64_t done = run->state.next_frame;
    const double time = modal_frame_time(done - 1, s->scene.fps);
    if (s->pose_velocities) find_pose_velocities(&run->state, s->basis.n_objects, s->pose_velocities);
    if (s->r->velocities) modal_trajectory_out_velocities(s->writer.out, run->state.v, s->pose_velocities);
    modal_status wrote =
        modal_trajectory_out_row(s->writer.out, time, run->state.q, s->poses, run->energy, &run->quality, err);
    s->write_failed = wrote != MODAL_OK;
    if (wrote != MODAL_OK) return wrote;
    if (!s->r->scene_path) modalsim_range_observe(&s->range, done - 1, run->state.q);
    return keep(s, run, done % s->r->checkpoint_every == 0, err);
}

/* A frame may be many steps. */
static modal_status watch(void *context, const modal_simulation *run, int64_t done, int64_t all, modal_error *err)
{
    scene_run *s = context;
    modalsim_watch(s->t, &s->pace, "steps", done, all);
    return keep(s, run, 0, err);
}

static void placed(void *context, const char *list, const modal_scene_force *force, int64_t vertex, double distance)
{
    const scene_run *s = context;
    modalsim_say_vertex(s->t, &s->basis, list, force, vertex, distance);
}

/* The step, and what it follows; where the scene says a coarser one, a warning. */
static void planned(void *context, const modal_simulation *run)
{
    enum { COARSE = 4 }; /* times the step that would be chosen: ten steps in a period of the mode that moves most */
    const scene_run *s = context;
    const modal_scene_pace *pace = &run->pace;
    char what[96] = "";
    if (pace->mode >= 0)
        snprintf(what, sizeof what, "mode %d of object %d at %.4g Hz", pace->mode, pace->object, pace->frequency);
    else if (pace->what)
        snprintf(what, sizeof what, "%s of %.4g Hz", pace->what, pace->frequency);
    json_object_set_new(s->t->report, "step_s", json_real(run->step));
    json_object_set_new(s->t->report, "steps_a_frame", json_integer(run->steps_a_frame));
    if (pace->what) json_object_set_new(s->t->report, "step_follows", json_string(what));
    if (s->scene.step > 0 && run->step > COARSE * pace->step)
        tool_warn(s->t, "%s: step: %g s is coarse for %s, which %.3g s would follow; without \"step\" that is chosen",
                  s->r->scene_path, s->scene.step, what, pace->step);
    tool_note(s->t, "steps of %.4g s, %lld a frame%s%s", run->step, (long long)run->steps_a_frame,
              s->scene.step <= 0 && run->steps_a_frame > 1 ? ", for " : "",
              s->scene.step <= 0 && run->steps_a_frame > 1 ? what : "");
}

static modal_status load_tiles(void *context, int32_t shape, int64_t n, const int64_t *tiles, modal_error *err)
{
    scene_run *s = context;
    return modalsim_basis_tiles(s->r, &s->basis, &s->tiles, shape, n, tiles, err);
}

/* ---- the run ---- */

static modal_status read_inputs(scene_run *s, modalsim_request *r, int64_t *basis_bytes, int32_t *n_passed, modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    if (r->scene_path) {
        MODAL_TRY(modal_scene_read_changed(r->scene_path, r->n_sets, r->sets, &s->scene, err));
        MODAL_TRY(hash_scene(s, err));
    }
    MODAL_TRY(modalsim_basis_read(r, r->scene_path ? &s->scene : NULL, &s->basis, basis_bytes, n_passed, err));
    tool_stage(s->t, r->scene_path ? "read" : "read basis", tool_seconds() - start, -1);
    if (!r->scene_path) MODAL_TRY(modalsim_flags_scene(s->t, r, &s->basis, &s->scene, err));
    if (r->plucks) MODAL_TRY(modalsim_pluck(s->t, r, &s->basis, &s->scene, s->writer.remark, err));
done:
    return status;
}

static modal_status open_back_end(scene_run *s, int threads, modal_error *err)
{
    omp_set_num_threads(threads);
    modal_status status = modal_device_open(&s->device, s->r->scene_path ? s->r->back_end : "cpu", err);
    if (status != MODAL_OK) return status;
    json_object_set_new(s->t->report, "backend", json_string(s->device.name));
    json_object_set_new(s->t->report, "device", json_string(s->device.hardware));
    tool_detail(s->t, "back end %s: %s", s->device.name, s->device.hardware);
    return MODAL_OK;
}

static void warn_soft(scene_run *s, const modal_simulation *run)
{
    const int32_t object = run->least_jacobian.object;
    const modal_volume_mesh *mesh = &s->basis.shapes[s->basis.objects[object].shape].solid.mesh;
    tool_warn(s->t, "%s: object %d: t = %g s: element %lld has J = det F = %.3g, the least; below %.2g St. Venant-Kirchhoff "
                    "material softens under pressure",
              s->r->scene_path, object, run->least_jacobian.time, (long long)mesh->element_tags[run->least_jacobian.element],
              run->least_jacobian.value, MODAL_JACOBIAN_SOFT);
}

static void report_run(scene_run *s, const modal_simulation *run, modal_status ran)
{
    json_object_set_new(s->t->report, "steps", json_integer(run->steps));
    json_object_set_new(s->t->report, "newton_iterations", json_integer(run->iterations));
    json_object_set_new(s->t->report, "halved_steps", json_integer(run->halvings));
    if (run->balance >= 0) {
        json_object_set_new(s->t->report, "step_reductions", json_integer(run->shortened));
        json_object_set_new(s->t->report, "energy_rule_switches", json_integer(run->kept));
        json_object_set_new(s->t->report, "energy_balance", json_real(run->balance));
    }
    if (run->attraction.known) {
        json_object_set_new(s->t->report, "attraction",
                            json_pack("{s:f, s:f, s:f}", "potential", run->attraction.potential, "energy_drift",
                                      run->attraction.drift, "energy_size", run->attraction.size));
        const double drift = run->attraction.drift / fmax(run->attraction.size, DBL_MIN);
        tool_note(s->t, "attraction: the sum of energies differs from that at the start by at most %.2g %% of the largest", 100 * drift);
        if (ran == MODAL_OK && !(drift <= s->scene.balance))
            tool_warn(s->t, "%s: attraction: energies drift by %.2g %%: try a smaller \"step\" or \"tolerance\", or more \"softening\"",
                      s->r->scene_path, 100 * drift);
    }
    if (run->steps > 0)
        json_object_set_new(s->t->report, "milliseconds_a_step",
                            json_real(1e3 * run->seconds_stepping / (double)run->steps));
    json_object_set_new(s->t->report, "milliseconds_a_frame_for_quality",
                        json_real(1e3 * run->seconds_measuring / fmax(1, (double)run->state.next_frame)));
    if (ran == MODAL_OK && run->balance >= 0) {
        char done[128] = "";
        if (run->shortened + run->kept > 0)
            snprintf(done, sizeof done, "; steps were made shorter %lld times, %lld objects are kept at their energy",
                     (long long)run->shortened, (long long)run->kept);
        tool_note(s->t, "energies balance within %.2g %% of the work done%s", 100 * run->balance, done);
    }
    if (isfinite(run->least_jacobian.value))
        json_object_set_new(s->t->report, "min_jacobian", json_real(run->least_jacobian.value));
    if (ran == MODAL_OK && run->least_jacobian.value < MODAL_JACOBIAN_SOFT) warn_soft(s, run);
    tool_detail(s->t, "%lld steps, %lld iterations, %lld halvings, %.3g ms a step", (long long)run->steps,
                (long long)run->iterations, (long long)run->halvings,
                run->steps > 0 ? 1e3 * run->seconds_stepping / (double)run->steps : 0.0);
}

/* Natural modes where deformations are large: with the command that made them, and the derivatives. */
static void warn_of_natural_modes(const scene_run *s)
{
    const int32_t stiff = modal_scene_stiff_shape(&s->scene, &s->basis);
    if (stiff < 0) return;
    const modal_shape *shape = &s->basis.shapes[stiff];
    const char *made = NULL;
    int32_t modes = 1;
    while (modes * (modes + 3) / 2 < shape->modes.n_modes) modes++; /* so many columns do these and their derivatives have */
    for (int32_t i = 0; i < s->basis.n_provenance; i++)
        if (strcmp(s->basis.provenance[i].tool, "modalpack") == 0) made = s->basis.provenance[i].arguments;
    tool_warn(s->t, "%s: shape %d has natural modes alone, which are far too stiff in a large bend (\"model\": \"stvk\"); with their "
                    "derivatives: %s --derivatives %d --force", s->r->basis_path, stiff, made ? made : "modalpack ...", modes);
}

static void say_of_inputs(const scene_run *s, int32_t n_passed)
{
    const int32_t unheld = modal_scene_unheld(&s->scene, &s->basis);
    if (unheld >= 0)
        tool_warn(s->t, "%s: object %d is a free body and only deforms in a frame that stands still; in a scene \"pose_motion\": "
                        "\"free\" lets it move, \"fixed\" means it so", s->r->basis_path, unheld);
    if (n_passed > 0 && !s->scene.response.given)
        tool_note(s->t, "%s: solids of %d shapes are large: whether elements are inside out is not looked at (--quality full does)",
                  s->r->basis_path, n_passed);
}

/* Of the flags' motion few solids are looked at, and of those not every frame: it takes no longer than to move them. */
static void plan_run(scene_run *s, modal_simulation *run)
{
    enum { LOOKS = 128 };
    const modalsim_request *r = s->r;
    *run = (modal_simulation){.scene = &s->scene, .basis = &s->basis, .device = &s->device, .progress = &s->t->progress,
                              .memory_limit = r->memory_limit, .load_tiles = load_tiles, .frame_done = frame_done,
                              .watch = watch, .n_threads = r->n_threads, .allow_inversion = r->allow_inversion, .context = s};
    run->look_at_loads = r->quality != MODALSIM_QUALITY_STEPS;
    run->measure_all = r->quality == MODALSIM_QUALITY_FULL;
    if (r->scene_path) {
        run->planned = planned;
        run->placed = placed;
        run->look_at_solids = r->quality != MODALSIM_QUALITY_STEPS;
        return;
    }
    run->anew = 1;
    run->look_every = run->measure_all ? 1 : 1 + r->n_frames / LOOKS;
    for (int32_t i = 0; i < s->basis.n_shapes && run->look_at_loads; i++)
        run->look_at_solids |= modal_shape_has_node_modes(&s->basis.shapes[i]);
}

/* Frames of rigid objects that stand still are not repeated: files with such objects are of version 2.0 anyway. */
static modal_status find_still(scene_run *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int rigid = 0;
    for (int32_t i = 0; i < s->basis.n_objects; i++) rigid |= s->basis.shapes[s->basis.objects[i].shape].modes.n_modes == 0;
    if (!rigid || !s->poses) return MODAL_OK;
    MODAL_TRY(modal_alloc(&s->writer.head.still, s->basis.n_objects, 1, "frames", err));
    const int32_t n = modal_scene_still(&s->scene, &s->basis, s->writer.head.still);
    if (n == 0 || n == s->basis.n_objects) modal_free(&s->writer.head.still);
done:
    return status;
}

/* The arrays of a frame, and what is beside the frames in the trajectory. */
static modal_status open_trajectory(scene_run *s, modal_simulation *run, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modalsim_request *r = s->r;
    const int64_t n = s->basis.n_objects;
    const char **files = NULL;
    int n_files = 0;
    run->n_frames = r->scene_path ? modal_scene_frame_count(s->scene.duration, s->scene.fps) : r->n_frames;
    if (run->n_frames < 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: more than 2^31 frames, %g s at %g a second", r->scene_path,
                   s->scene.duration, s->scene.fps);
    if (r->scene_path && modal_scene_moves(&s->scene, &s->basis))
        MODAL_TRY(modal_alloc(&s->poses, 12 * n, sizeof(double), "frames", err));
    if (s->poses && r->velocities) MODAL_TRY(modal_alloc(&s->pose_velocities, 12 * n, sizeof(double), "frames", err));
    MODAL_TRY(modal_alloc(&s->numbers, n * (POSE_NUMBERS + MEASURE_NUMBERS), sizeof(double), "checkpoint", err));
    run->poses = s->poses;
    MODAL_TRY(modal_scene_state_alloc(&run->state, &s->basis, err));
    MODAL_TRY(modal_alloc(&files, (int64_t)s->scene.n_files + 1, sizeof *files, "files", err));
    if (r->scene_path || r->base_path) files[n_files++] = r->scene_path ? r->scene_path : r->base_path;
    for (int32_t i = 0; i < s->scene.n_files; i++) files[n_files++] = s->scene.files[i];
    MODAL_TRY(modal_alloc(&s->writer.head.models, n, 1, "models", err));
    if (!modal_scene_models(&s->scene, &s->basis, s->writer.head.models)) modal_free(&s->writer.head.models);
    if (r->amplitude > 0)
        MODAL_TRY(modalsim_scale_scene(s->t, r, run, &s->scene, s->writer.head.models, s->writer.remark, err));
    MODAL_TRY(find_still(s, err));
    MODAL_TRY(modalsim_writer_begin(&s->writer, &s->basis, run->n_frames,
                                    (s->poses ? MODALSIM_POSES : 0) | MODALSIM_ENERGY | MODALSIM_QUALITY, n_files, files, s->device.name, err));
done:
    modal_free(&files);
    return status;
}

/* Ends what was moved: also the part before what ended it, where that is wanted. */
static modal_status close_trajectory(scene_run *s, modal_status ran, modal_error *err)
{
    modal_error later = {0}; /* what ended the motion is said in the end */
    if (ran == MODAL_OK) return modalsim_writer_end(&s->writer, err);
    if (s->r->keep_partial && modal_trajectory_out_count(s->writer.out) > 0 &&
        (ran == MODAL_ERROR_NOT_CONVERGED || ran == MODAL_ERROR_INTERRUPTED) &&
        modalsim_writer_end(&s->writer, &later) != MODAL_OK)
        tool_warn(s->t, "the part that is done could not be written: %s", later.message);
    return ran;
}

modal_status modalsim_scene(tool *t, modalsim_request *r, tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    scene_run s = {.t = t, .r = r, .writer = {.t = t, .r = r, .output = output}};
    int32_t n_passed = 0;
    int64_t bytes = 0;
    modal_simulation run = {0};
    MODAL_TRY(read_inputs(&s, r, &bytes, &n_passed, err));
    if (r->scene_path) say_of_inputs(&s, n_passed);
    if (r->scene_path) modalsim_doubt_loads(t, r, &s.scene, &s.basis);
    if (s.scene.response.given && !(r->amplitude > 0)) {
        status = modalsim_response(t, r, &s.scene, &s.basis, output, err);
        goto done;
    }
    plan_run(&s, &run);
    run.basis_bytes = bytes;
    if (r->memory_limit == 0) run.memory_left = (int64_t)tool_available_memory("");
    MODAL_TRY(open_back_end(&s, r->scene_path ? r->n_threads : 1, err)); /* what flags move is too little to share */
    MODAL_TRY(open_trajectory(&s, &run, err));
    MODAL_TRY(read_restart(&s, &run, err));
    if (r->checkpoint_path) MODAL_TRY(tool_output_begin(&s.checkpoint_output, r->checkpoint_path, r->force, err));
    if (r->keep_partial || r->checkpoint_path) tool_signals_hold();
    if (r->scene_path) warn_of_natural_modes(&s);
    else MODAL_TRY(modalsim_range_begin(&s.range, &s.basis, err));
    double start = s.pace.started = tool_seconds();
    const modal_status ran = modal_scene_simulate(&run, err);
    tool_stage(t, "simulate", tool_seconds() - start, -1);
    report_run(&s, &run, ran);
    if (ran != MODAL_OK && !s.write_failed && r->scene_path) modal_error_context(err, "%s", r->scene_path);
    MODAL_TRY(close_trajectory(&s, ran, err));
    if (!r->scene_path) modalsim_range_tell(t, &s.range);
done:
    modal_checkpoint_out_close(s.checkpoint);
    tool_output_discard(&s.checkpoint_output);
    modal_scene_state_free(&run.state);
    modalsim_writer_discard(&s.writer);
    modalsim_range_end(&s.range);
    s.tiles = modal_basis_tiles_close(s.tiles);
    modal_free(&s.poses);
    modal_free(&s.pose_velocities);
    modal_basis_free(&s.basis);
    modal_scene_free(&s.scene);
    modal_free(&s.numbers);
    return status;
}
