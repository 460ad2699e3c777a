/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform: from a trajectory and its basis to the deformed sequence. */
#include <inttypes.h>
#include <omp.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_null.h"
#include "kernels/device_held.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "tools/common/back_ends.h"
#include "tools/common/files.h"
#include "tools/common/parts.h"
#include "tools/common/pipes.h"
#include "tools/common/quality.h"
#include "tools/common/slow_motion.h"
#include "tools/modaldeform/modaldeform_share.h"

static const tool_option options[] = {
    {"basis", 0, "FILE", NULL, "The basis, where the trajectory's own link does not lead to it.", TOOL_READS},
    TOOL_OPTION_PARTS,
    {"backend", 0, "NAME", "auto",
     "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N; several GPUs "
     "as cuda:0,1 or cuda:all; cuda:auto takes that of the rank on its node.",
     0},
    {"format", 0, "LIST", "vtkhdf",
     "What to write, separated by commas: vtkhdf (with an XDMF sidecar), glb (modes as morph targets), pc2 and mdd (point "
     "caches, with rest.obj), ply, vtp, obj, vtu of a volume (a file a frame), csv (probes), wav (sound), "
     "null (nothing). Where OUT ends with .vtkhdf, .glb, .pc2, .mdd, .csv or .wav, that decides.",
     TOOL_FIRST},
    {"probe", 0, "POINT|X,Y,Z", NULL,
     "Point of csv (without --listen of wav, a contact microphone), or the nearest to a place at rest.", TOOL_REPEATABLE | TOOL_FIRST},
    {"listen", 0, "X,Y,Z", NULL, "Where wav hears it, m; each one a channel.",
     TOOL_REPEATABLE | TOOL_FIRST},
    {"gain", 0, "G|auto", "1", "Samples of wav are Pa (of contact microphones m/s^2) times G; auto: the largest is at -3 dB.", 0},
    {"frames", 0, "A:B:STEP", NULL,
     "Frames to write, as Python slices them: 10:20, ::5, -1: and so on, or one index.", TOOL_FIRST},
    {"modes", 0, "LIST", NULL, "Of a basis: modes, 0,2,5-8 (default: all).", TOOL_FIRST},
    {"amplitude", 0, "P%", "5%",
     "Of a basis: the largest displacement of a mode, as a share of the box's diagonal.", TOOL_FIRST},
    {"show", 0, "swing|arrays", "swing",
     "Of a basis: its modes swing, one after the other, or are arrays of one frame at rest (mode_000 ...), for Warp By Vector.", 0},
    {"normals", 0, "none|rigid|dynamic", "dynamic",
     "rigid: as at rest, turned with each object; dynamic: of the deformed surface, area-weighted.",
     TOOL_FIRST},
    {"tangents", 0, "none|rigid|dynamic", "none",
     "none, rigid (the rest tangents, turned with each object) or dynamic (of the deformed surface; needs "
     "dynamic normals). Both need texture coordinates in the basis.",
     0},
    {"fields", 0, "LIST", NULL,
     "Further arrays: displacement, speed, curvature ..; of volumes, and of snapshots, strain, stress, von_mises, jacobian, pressure.", TOOL_FIRST},
    {"output-mesh", 0, "surface|volume", "surface",
     "surface, or volume: the nodes and elements of the solid. The latter with vtkhdf, vtu and csv.", TOOL_FIRST},
    {"precision", 0, "EPS", NULL,
     "Store positions and displacements in vtkhdf with fewer bits, off by at most EPS m.", 0},
    {"order", 0, "user|stored", "user",
     "Vertices and triangles as in the user's mesh (user) or as the basis stores them (stored).", 0},
    {"resume", 0, NULL, NULL,
     "If the run stops for any reason, keep the frames written so far; the same command continues from them.",
     0},
    {"shard", 0, "I/N", NULL,
     "Make part I of N of the sequence, 0 to N - 1, into the files that all parts share; auto takes I and N from mpirun, srun or a Slurm array, "
     "auto/N takes I. Whoever comes last finishes OUT.", 0},
    {"join", 0, NULL, NULL, "Finish OUT by hand where all shards are complete.", 0},
    {"verify", 0, NULL, NULL, "With --join: read what the shards have written again, against their hashes.", 0},
    {"crease", 0, "DEG|vn", NULL,
     "glb and obj: edges sharper than this at rest, 0 to 180 degrees, give their corners normals of their own; vertices are split there. vn: the edges "
     "where the .obj that modalpack read has several normals.", 0},
    {"texture", 0, "TEX.h5", NULL,
     "Values of an octree texture (modaltex) at the points, in vtkhdf, colours also in ply and glb; also said as --fields colour.", TOOL_READS},
    TOOL_OPTION_LOOK,
    TOOL_OPTION_ANY_PATH,
    TOOL_OPTION_SLOW_MOTION("glb and mdd show"),
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    fprintf(to, "%s\n", modal_h5_version());
    tool_print_back_ends(to);
}

static int is_divided(const tool_arguments *a)
{
    const char *format = tool_value(a, "format");
    return tool_count(a, "shard") || tool_count(a, "join") || (format && strcmp(format, "null") == 0);
}

static const tool_program program = {
    .name = "modaldeform",
    .summary = "deforms the surfaces of a trajectory and writes the sequence",
    .usage = "[options] TRAJ.h5|BASIS.h5|SNAPSHOTS.h5 OUT",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES,
    .endings = "vtkhdf glb pc2 mdd csv wav ply vtp vtu obj",
    .divided_by = "--shard auto",
    .is_divided = is_divided,
    .notes =
        "OUT is a folder, made if absent: sequence.vtkhdf (all frames; ParaView 5.13, VTK 9.3, h5py),\n"
        "sequence.xdmf (for ParaView 5.11 and others) or what --format says, and manifest.json; or one file,\n"
        "whose ending says its format: .vtkhdf .glb .pc2 .mdd .csv .wav, with nothing beside it. Of a\n"
        "basis the modes swing, one after the other, a second each. SNAPSHOTS are those of modaltled, with\n"
        "the solid.",
    .examples = "modaldeform ring.h5 out\n"
                "modaldeform basis.h5 modes --modes 0-3 --amplitude 10% --format glb\n"
                "modaldeform ring.h5 out --frames ::10 --fields displacement --backend cpu -j 8\n"
                "modaldeform ring.h5 out --format glb,pc2 --normals none\n"
                "modaldeform ring.h5 ring.glb --slow-motion auto\n"
                "modaldeform ring.h5 out --format glb --look ring.json\n"
                "modaldeform ring.h5 out --output-mesh volume --format vtu --fields displacement\n"
                "modaldeform ring.h5 out --format csv --probe 17 --probe 0.02,0.15,0 --fields speed\n"
                "modaldeform ring.h5 out --format wav --listen 0,0.2,0.3 --gain auto\n"
                "mpirun -n 4 modaldeform ring.h5 out --shard auto -j 2\n"
                "modalsim fork.h5 - --duration 1 --fps 60 --initial 1=0.01 | modaldeform - out",
    .first_examples = "modaldeform ring.h5 out\n"
                      "modaldeform ring.h5 out --format glb,pc2 --normals none\n"
                      "modaldeform ring.h5 out --format csv --probe 17 --probe 0.02,0.15,0 --fields speed",
    .print_versions = print_versions,
};

/* ---- the deformer ---- */

/* CUDA takes a quarter of a second to start: meanwhile the files are read. */
typedef struct warm_up {
    const char *back_end;
    int running;
    pthread_t thread;
} warm_up;

static void *open_devices(void *argument)
{
    modal_deform_warm_up(((const warm_up *)argument)->back_end);
    return NULL;
}

static void start_warm_up(warm_up *w, const char *back_end)
{
    if (strncmp(back_end, "cuda", 4) != 0 && strcmp(back_end, "auto") != 0) return;
    w->back_end = back_end;
    w->running = pthread_create(&w->thread, NULL, open_devices, w) == 0;
}

static void end_warm_up(tool *t, warm_up *w)
{
    double start = tool_seconds();
    if (!w->running) return;
    pthread_join(w->thread, NULL);
    w->running = 0;
    tool_stage(t, "wait for the device", tool_seconds() - start, -1);
}

/* Main memory that the inputs hold while the deformer makes its own arrays. */
static int64_t held_bytes(const modaldeform_request *r, const modaldeform_input *in)
{
    const modal_trajectory *q = &in->trajectory;
    int64_t bytes = q->n_frames * 8 * (1 + q->mode_offsets[q->n_objects] +
                                       (q->poses ? 12 * (int64_t)q->n_objects : 0));
    /* Batches are gathered: at most all frames again, and their velocities. */
    bytes *= 1 + (in->step > 1) + r->speed;
    bytes += 24 * in->n_triangles + 8 * in->n;
    bytes += modaldeform_look_bytes(&in->look) + (in->texture_values ? 12 * in->n_points : 0);
    if (r->show_arrays) bytes += 12 * (int64_t)in->modes.n * in->n_points;
    if (r->curved) bytes += modaldeform_curvature_bytes(in->n_points, in->n_triangles);
    if (in->stress) bytes += modal_stress_frames_bytes(in->stress);
    if (in->snapshots) bytes += modaldeform_snapshots_bytes(in->snapshots);
    if (in->cells.n_cells) bytes += 9 * in->cells.n_cells + 8 * in->cells.offsets[in->cells.n_cells];
    for (int32_t i = 0; i < in->basis.n_shapes; i++) {
        const modal_shape *s = &in->basis.shapes[i];
        bytes += s->surface.n_vertices * (24 + 4 + 8) + s->surface.n_triangles * (12 + 4);
        bytes += s->surface.face_offsets ? 4 * s->surface.face_offsets[s->surface.n_vertices] : 0;
        if (s->modes.modal_matrix) bytes += modal_tile_count(s->surface.n_vertices) * s->modes.n_modes * 3 * MODAL_TILE * 4;
        if (s->surface.uv) bytes += 16 * s->surface.n_uv + 12 * s->surface.n_triangles;
    }
    return bytes;
}

static modal_status check_memory(const tool *t, const modaldeform_request *r, const modaldeform_input *in, int64_t writer_bytes,
                                 modal_error *err)
{
    const int64_t held = held_bytes(r, in) + writer_bytes;
    if (r->memory_limit == 0 || held < r->memory_limit) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_MEMORY,
                           "--memory-limit: basis, trajectory and writers alone take %" PRId64 " bytes, %s", held,
                           tool_value(&t->arguments, "memory-limit"));
}

/* writer_bytes: memory that the writers take. */
static modal_status make_deformer(tool *t, modaldeform_request *r, const modaldeform_input *in, int64_t writer_bytes,
                                  modal_deformer **deformer, modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    if (r->memory_limit > 0) r->deform.memory_limit = r->memory_limit - held_bytes(r, in) - writer_bytes;
    if (!r->volume && !in->point_numbers) r->deform.matrix = (modal_matrix_source){modal_basis_tiles_read, in->tiles};
    /* The CPU back end takes its number of threads from the thread that opens it. */
    omp_set_num_threads(r->threads);
    MODAL_TRY(modal_deformer_new(deformer, &in->basis, &r->deform, err));
    tool_stage(t, "prepare", tool_seconds() - start, -1);
    if (strcmp(r->deform.back_end, "auto") == 0)
        tool_note(t, "back end: %s, %s", modal_deformer_back_end(*deformer),
                  modal_deformer_device(*deformer));
    tool_detail(t, "%" PRId64 " frames a batch", modal_deformer_batch_frames(*deformer));
    if (modal_deformer_streamed_bytes(*deformer) > 0)
        tool_detail(t, "modal matrices do not fit: every batch reads %.3f GB of them",
                    1e-9 * (double)modal_deformer_streamed_bytes(*deformer));
done:
    return status;
}

/* ---- the files ---- */

static modal_status add_provenance(const modaldeform_request *r, modaldeform_input *in, const char *back_end,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory *q = &in->trajectory;
    char *inputs = NULL;
    int64_t length = 2 * MODAL_HASH_TEXT + 8 + (int64_t)strlen(r->trajectory_path) +
                     (in->basis_path ? (int64_t)strlen(in->basis_path) : 0);
    MODAL_TRY(modal_alloc(&inputs, length, 1, "provenance", err));
    const int used = snprintf(inputs, (size_t)length, "%s  %s", in->trajectory_hash, r->trajectory_path);
    if (in->basis_path) snprintf(inputs + used, (size_t)(length - used), "\n%s  %s", in->basis.hash, tool_pipe_shown(in->basis_path));
    MODAL_TRY(modal_provenance_append(&q->provenance, &q->n_provenance, program.name, tool_build(),
                                      in->arguments, inputs, back_end, err));
    if (in->quality)
        MODAL_TRY(modal_copy_text(&q->provenance[q->n_provenance - 1].quality, in->quality, SIZE_MAX, err));
done:
    modal_free(&inputs);
    return status;
}

/* What is known of how far the motion may be trusted, of the frames that are wanted: said once where that is not far. */
static modal_status judge_motion(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    const modal_trajectory *q = &in->trajectory;
    modal_quality_judgement j = {.assumed_material = modal_provenance_assumed(q->provenance, q->n_provenance)};
    char text[TOOL_QUALITY_SUMMARY];
    if (r->swings || (in->snapshots && !q->quality)) return MODAL_OK; /* no motion, or one whose file has no verdict */
    for (int64_t i = 0; i < in->n; i++) {
        const int64_t frame = in->start + i * in->step;
        modal_quality_judge(&j, frame, q->times[frame], q->quality ? &q->quality[frame] : NULL);
    }
    tool_quality_summary(&j, text);
    json_object_set_new(t->report, "quality", tool_quality_json(&j));
    if (j.verdict > MODAL_SOUND) tool_warn(t, "%s: the motion is %s", r->trajectory_path, text);
    if (j.verdict == MODAL_NOT_JUDGED || (j.verdict == MODAL_SOUND && j.assumed_material)) tool_note(t, "%s: the motion is %s", r->trajectory_path, text);
    return modal_copy_text(&in->quality, text, SIZE_MAX, err);
}

static void report(tool *t, const modaldeform_request *r, const modaldeform_input *in, const modal_deformer *deformer,
                   int64_t bytes)
{
    json_t *to = t->report;
    const modal_device *own = in->snapshots ? modaldeform_snapshots_device(in->snapshots) : NULL;
    json_object_set_new(to, "backend", json_string(own ? own->name : deformer ? modal_deformer_back_end(deformer) : "none"));
    json_object_set_new(to, "device", json_string(own ? own->hardware : deformer ? modal_deformer_device(deformer) : "none"));
    json_object_set_new(to, "threads", json_integer(r->threads));
    if (deformer) {
        json_object_set_new(to, "batch_frames", json_integer(modal_deformer_batch_frames(deformer)));
        json_object_set_new(to, "device_memory_bytes", json_integer(modal_device_most_bytes()));
        json_object_set_new(to, "streamed_bytes", json_integer(modal_deformer_streamed_bytes(deformer)));
    }
    json_object_set_new(to, "frames", json_integer(in->n));
    json_object_set_new(to, "points", json_integer(in->mesh_points));
    json_object_set_new(to, "computed_points", json_integer(in->n_points));
    json_object_set_new(to, "triangles", json_integer(in->mesh_triangles));
    json_object_set_new(to, "cells", json_integer(in->mesh_cells));
    json_object_set_new(to, "bytes", json_integer(bytes));
    json_object_set_new(to, "bytes_per_point_and_frame",
                        json_real((double)bytes / (double)in->mesh_points / (double)in->n));
    tool_note(t, "%s: %" PRId64 " frames of %" PRId64 " points, %.1f MB", r->dry ? "dropped" : r->folder, in->n, in->mesh_points,
              1e-6 * (double)bytes);
}

/* WebGL 2 promises 256 layers of a texture, which is where viewers keep their morph targets. */
static void warn_of_targets(tool *t, const modaldeform_request *r, const modaldeform_input *in)
{
    enum { MANY = 200 };
    for (int i = 0; i < r->n_formats; i++)
        for (int32_t s = 0; r->formats[i] == &modal_sequence_glb && s < in->basis.n_shapes; s++)
            if (in->basis.shapes[s].modes.n_modes > MANY)
                tool_warn(t, "glb: shape %d has %d modes, viewers may fail above %d morph targets", s,
                          in->basis.shapes[s].modes.n_modes, MANY);
}

/* 0 without --slow-motion. */
static double slow_motion_of(tool *t, const modaldeform_request *r, const modaldeform_input *in)
{
    if (r->slow_motion < 0) return 0;
    const double factor =
        r->slow_motion > 0 ? r->slow_motion : tool_slow_motion_auto(&in->trajectory, in->start, in->step, in->n);
    tool_note(t, "slow motion %g: the %g s are shown in %g s", factor, in->times[in->n - 1] - in->times[0],
              factor * (in->times[in->n - 1] - in->times[0]));
    json_object_set_new(t->report, "slow_motion", json_real(factor));
    return factor;
}

/* What the sequence is. Everything in it is borrowed. */
static modal_sequence_info describe(tool *t, const modaldeform_request *r, const modaldeform_input *in, const modal_sequence_scene *scene,
                                    const modal_sequence_cells *cells)
{
    return (modal_sequence_info){
        .n_points = in->n_points, .n_triangles = in->n_triangles, .triangles = in->triangles,
        .n_frames = in->n, .times = in->times,
        .arrays = r->arrays, .basis_hash = in->snapshots ? NULL : in->trajectory.basis_hash,
        .source_kind = in->snapshots ? "snapshots" : r->swings ? "basis" : "trajectory",
        .source_hash = r->swings ? in->trajectory.basis_hash : in->trajectory_hash,
        .precision = r->precision, .threads = r->threads, .n_probes = in->n_probes, .probes = in->probes, .scene = scene,
        .target_normals = tool_count(&t->arguments, "normals") || r->creases.degrees >= 0 ? (int)r->deform.normals : 0,
        .uv = in->look.uv, .texture = in->texture_values ? &in->texture : NULL,
        .look = in->look.about.look ? &in->look.about : NULL, .paint = in->look.paint.paints ? &in->look.paint : NULL,
        .creases = in->creases, .frame_creases = in->frame_creases.corners ? &in->frame_creases : NULL,
        .slow_motion = slow_motion_of(t, r, in), .sound = r->sound ? &in->sound.about : NULL, .volume = r->volume ? cells : NULL};
}

static modal_status write_all(tool *t, modaldeform_request *r, modaldeform_input *in, modaldeform_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deformer *deformer = NULL;
    modaldeform_curvature *curvature = NULL;
    modal_frame_plan plan = {0};
    int64_t writer_bytes = 0, sound_bytes = 0, bytes = 0;
    int needs_frames = 0, finished = 0;
    modaldeform_share *share = NULL;
    char shared_kind[32];
    MODAL_TRY(modaldeform_make_creases(t, r, in, err));
    MODAL_TRY(modaldeform_paint_frames(r, in, err));
    for (int i = 0; i < r->n_formats; i++) needs_frames |= r->formats[i]->needs_frames;
    const modal_sequence_scene scene = {
        .basis = &in->basis, .matrix = {modal_basis_tiles_read, in->tiles},
        .stored_order = r->deform.stored_order, .trajectory = &in->trajectory, .start = in->start,
        .step = in->step};
    const modal_sequence_cells cells = {in->cells.n_cells, in->cells.connectivity, in->cells.offsets,
                                        in->cells.types};
    modal_sequence_info info = describe(t, r, in, &scene, &cells);
    int64_t frame_bytes = 0;
    if (!needs_frames) info.arrays.n = 1;
    MODAL_TRY(modal_sequence_check_info(&info, err));
    modal_sequence_frame_bytes(&info, &frame_bytes); /* it fits */
    MODAL_TRY(tool_files_check(err));
    MODAL_TRY(modaldeform_share_open(t, r, in, &info, out, &share, &finished, err));
    if (finished) goto done;
    if (!share) modaldeform_discard_shares(r);
    else r->deform.n_made = share->own.end - share->own.first + 2; /* with those on its borders */
    modaldeform_journal_discard(r, out);
    if (r->sound) MODAL_TRY(modaldeform_prepare_sound(t, r, in, &sound_bytes, err));
    MODAL_TRY(modaldeform_check_space(r, &info, out, &writer_bytes, err));
    MODAL_TRY(check_memory(t, r, in, writer_bytes + sound_bytes, err));
    if (r->sound) MODAL_TRY(modaldeform_make_sound(t, r, in, err));
    warn_of_targets(t, r, in);
    MODAL_TRY(in->snapshots ? modaldeform_plan_snapshots(r, in, &plan, err) : modaldeform_plan(r, in, &plan, err));
    MODAL_TRY(modaldeform_curvature_new(&curvature, t, r, in, &plan, err));
    r->deform.plan = &plan;
    const char *shares_are = modaldeform_share_kind(share, shared_kind); /* nothing is to be computed */
    if (in->snapshots) MODAL_TRY(modaldeform_snapshots_batch(in->snapshots, frame_bytes, held_bytes(r, in) + writer_bytes, err));
    else if (needs_frames && !shares_are) MODAL_TRY(make_deformer(t, r, in, writer_bytes, &deformer, err));
    const char *kind = shares_are      ? shares_are
                       : in->snapshots ? modaldeform_snapshots_device(in->snapshots)->kernels->back_end
                       : deformer    ? modal_deformer_kind(deformer)
                                     : "none";
    MODAL_TRY(judge_motion(t, r, in, err));
    MODAL_TRY(add_provenance(r, in, kind, err));
    info.n_provenance = in->trajectory.n_provenance;
    info.provenance = in->trajectory.provenance;
    if (share) {
        MODAL_TRY(modaldeform_share_run(t, in, share, kind, deformer, &plan, out, err));
        goto done;
    }
    MODAL_TRY(modaldeform_begin_writers(out, &info, 1, err));
    info.scene = NULL;
    /* The deformer has what it needs, unless it comes back for matrices that the basis holds. */
    if (!in->snapshots && (!(r->volume || in->point_numbers) || modal_deformer_streamed_bytes(deformer) == 0)) modal_basis_free(&in->basis);
    if (r->resume)
        MODAL_TRY(modaldeform_journal_begin(t, r, in, &info, kind, out, err));
    MODAL_TRY(modaldeform_begin_writers(out, &info, 0, err));
    const modaldeform_way way = {.out = out, .run = {out->n_kept, in->n}, .frame_bytes = frame_bytes};
    if (needs_frames) MODAL_TRY(modaldeform_write_frames(t, r, in, deformer, &plan, &way, err));
    double start = tool_seconds();
    MODAL_TRY(modaldeform_begin_sidecars(r, out, err));
    if (r->dry) bytes = modal_sequence_null_bytes(out->formats[0].writer);
    MODAL_TRY(modaldeform_end_writers(out, &info, err));
    const modal_device *own = in->snapshots ? modaldeform_snapshots_device(in->snapshots) : NULL;
    const modaldeform_ran ran = {t->command_line, own ? own->name : deformer ? modal_deformer_back_end(deformer) : "none",
                                 own ? own->hardware : deformer ? modal_deformer_device(deformer) : "none"};
    if (!r->dry) MODAL_TRY(modaldeform_write_manifest(t, r, in, &info, &ran, out, &bytes, err));
    MODAL_TRY(modaldeform_commit_outputs(r, out, err));
    tool_stage(t, "close and sync", tool_seconds() - start, -1);
    report(t, r, in, deformer, bytes);
done:
    modaldeform_share_delete(share);
    modaldeform_name_error(out, err);
    modal_deformer_delete(deformer);
    modaldeform_curvature_delete(curvature);
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modaldeform_request r = {0};
    modaldeform_input in = {.hdf5 = PTHREAD_MUTEX_INITIALIZER};
    warm_up warm = {0};
    modaldeform_outputs out = {.journal = {.file = -1}};
    char *gpu = NULL;

    MODAL_TRY(modaldeform_read_request(&t, &r, &err));
    MODAL_TRY(tool_use_parts(&t, &err));
    MODAL_TRY(modaldeform_find_kind(&t, &r, &err));
    MODAL_TRY(modaldeform_pick_gpu(&r, &gpu, &err));
#ifdef __GLIBC__
    /* Arrays that are freed go back to the system at once; else the limit would not be what it says. */
    if (r.memory_limit > 0) mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
    start_warm_up(&warm, r.deform.back_end);
    MODAL_TRY(modaldeform_begin_outputs(&r, &out, &err));
    MODAL_TRY(modaldeform_read_inputs(&t, &r, &in, &err));
    end_warm_up(&t, &warm);
    MODAL_TRY(write_all(&t, &r, &in, &out, &err));
done:
    end_warm_up(&t, &warm);
    modaldeform_end_outputs(&t, &r, &out);
    modaldeform_free_inputs(&in);
    modal_free(&gpu);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
