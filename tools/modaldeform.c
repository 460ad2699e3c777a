/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform: from a trajectory and its basis to the deformed sequence. */
#include <ctype.h>
#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "formats/basis_h5.h"
#include "formats/manifest.h"
#include "formats/sequence_vtkhdf.h"
#include "formats/trajectory_h5.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"

static const tool_option options[] = {
    {"basis", 0, "FILE", NULL, "The basis, where the trajectory's own link does not lead to it.", 0},
    {"backend", 0, "NAME", "auto",
     "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N.", 0},
    {"frames", 0, "A:B:STEP", NULL,
     "Frames to write, as Python slices them: 10:20, ::5, -1: and so on, or one index.", 0},
    {"normals", 0, "KIND", "dynamic",
     "none, rigid (the rest normals, turned with each object) or dynamic (of the deformed surface, "
     "area-weighted).",
     0},
    {"fields", 0, "LIST", NULL, "Further arrays: displacement.", 0},
    {"order", 0, "ORDER", "user",
     "Vertices and triangles as in the user's mesh (user) or as the basis stores them (stored).", 0},
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    unsigned h[3];
    char reason[256] = "";
    modal_device device;
    H5get_libversion(&h[0], &h[1], &h[2]);
    fprintf(to, "HDF5 %u.%u.%u\nback ends:\n", h[0], h[1], h[2]);
    for (int i = 0; i < modal_device_count(); i++)
        if (modal_device_describe(i, &device, NULL) == MODAL_OK)
            fprintf(to, "  %s: %s\n", device.name, device.hardware);
    modal_device_cuda_reason(reason, sizeof reason);
    if (reason[0]) fprintf(to, "  no cuda: %s\n", reason);
}

static const tool_program program = {
    .name = "modaldeform",
    .summary = "deforms the surfaces of a trajectory and writes the sequence",
    .usage = "[options] TRAJ.h5 OUT",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .notes =
        "OUT is a folder, made if absent: sequence.vtkhdf (all frames; ParaView 5.13, VTK 9.3, h5py),\n"
        "sequence.xdmf (for ParaView 5.11 and others) and manifest.json. TRAJ may be -, standard input;\n"
        "a relative link to the basis then starts at the current folder.",
    .examples = "modaldeform ring.h5 out\n"
                "modaldeform ring.h5 out --frames ::10 --fields displacement --backend cpu -j 8\n"
                "modalsim fork.h5 - --duration 1 --fps 60 --initial 1=0.01 | modaldeform - out",
    .print_versions = print_versions,
};

enum { VTKHDF, XDMF, MANIFEST, N_FILES };
static const char *const file_names[N_FILES] = {"sequence.vtkhdf", "sequence.xdmf", "manifest.json"};

/* A:B:STEP, or one index. */
typedef struct slice {
    const char *text;
    int64_t part[3];
    int given[3], single;
} slice;

/* What the command line asks for. */
typedef struct request {
    const char *trajectory_path, *folder, *basis_path, *normals_name, *order;
    const char *frames_text; /* NULL: not given */
    slice frames;
    int from_stdin, force, threads;
    int64_t memory_limit; /* 0: none */
    modal_deform_request deform;
} request;

/* The inputs, and the frames of them that are wanted: start + i step, i < n. */
typedef struct input {
    modal_basis basis;
    modal_trajectory trajectory;
    char trajectory_hash[MODAL_HASH_TEXT];
    char *basis_path;
    int64_t start, step, n;
    double *times;
    int64_t n_points, n_triangles, *triangles;
    char *arguments; /* what the frames depend on, for provenance */
} input;

typedef struct outputs {
    int folder_made, complete;
    char *paths[N_FILES];
    tool_output files[N_FILES];
    int committed[N_FILES];
} outputs;

/* ---- the command line ---- */

/* An optional index of a slice; *text moves behind it. */
static int slice_part(const char **text, int64_t *value, int *given)
{
    char *end = NULL;
    const char *c = *text;
    *given = *c != '\0' && *c != ':';
    if (!*given) return 1;
    if (!isdigit((unsigned char)c[*c == '-'])) return 0;
    errno = 0;
    *value = strtoll(c, &end, 10);
    *text = end;
    return errno == 0;
}

static modal_status parse_slice(const char *text, slice *s, modal_error *err)
{
    const char *c = text;
    *s = (slice){.text = text, .part = {0, 0, 1}};
    int n = 1, fine = slice_part(&c, &s->part[0], &s->given[0]);
    for (; fine && n < 3 && *c == ':'; n++) {
        c++;
        fine = slice_part(&c, &s->part[n], &s->given[n]);
    }
    s->single = n == 1;
    if (!fine || *c || (s->single && !s->given[0]))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--frames: not A:B:STEP or an index, %s", text);
    if (s->part[2] <= 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--frames: the step must be positive, %s", text);
    return MODAL_OK;
}

/* The frames of n that a slice selects. */
static modal_status select_frames(const slice *s, int64_t n, input *in, modal_error *err)
{
    int64_t low = s->given[0] ? s->part[0] : 0, high = s->given[1] ? s->part[1] : n;
    if (low < 0) low += n;
    if (high < 0) high += n;
    if (s->single) { /* an index: unlike the ends of a slice, it must be there */
        if (low < 0 || low >= n)
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "--frames: the trajectory has frames 0 .. %" PRId64 ", %s", n - 1,
                                   s->text);
        high = low + 1;
    }
    if (low < 0) low = 0;
    if (high > n) high = n;
    in->start = low;
    in->step = s->part[2];
    in->n = high > low ? (high - low - 1) / in->step + 1 : 0;
    if (in->n == 0)
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "--frames: selects none of %" PRId64 " frames, %s", n, s->text);
    return MODAL_OK;
}

static modal_status read_request(const tool *t, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    static const char *const kinds[] = {"none", "rigid", "dynamic"}; /* as modal_normals counts */
    const char *fields = tool_value(a, "fields");
    int kind = 0;
    r->trajectory_path = a->operands[0];
    r->folder = a->operands[1];
    r->from_stdin = strcmp(r->trajectory_path, "-") == 0;
    r->basis_path = tool_value(a, "basis");
    r->frames_text = tool_value(a, "frames");
    MODAL_TRY(parse_slice(r->frames_text ? r->frames_text : ":", &r->frames, err));
    r->force = tool_count(a, "force") > 0;
    r->deform.back_end = tool_value(a, "backend");
    r->normals_name = tool_value(a, "normals");
    while (kind < 3 && strcmp(r->normals_name, kinds[kind]) != 0) kind++;
    if (kind == 3)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--normals: not none, rigid or dynamic, %s",
                   r->normals_name);
    r->deform.normals = (modal_normals)kind;
    if (fields && strcmp(fields, "displacement") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: the only one is displacement, %s", fields);
    r->deform.displacement = fields != NULL;
    r->order = tool_value(a, "order");
    if (strcmp(r->order, "user") != 0 && strcmp(r->order, "stored") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--order: not user or stored, %s", r->order);
    r->deform.stored_order = strcmp(r->order, "stored") == 0;
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
    if (tool_value(a, "memory-limit") && r->memory_limit <= 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--memory-limit: must be positive, %s",
                   tool_value(a, "memory-limit"));
    MODAL_TRY(tool_threads(t, &r->threads, err));
    if (strcmp(r->folder, "-") == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "OUT: a folder, cannot be standard output, -");
    if (r->basis_path && strcmp(r->basis_path, "-") == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--basis: cannot be standard input, -");
done:
    return status;
}

/* ---- the inputs ---- */

static modal_status read_trajectory(const request *r, input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *bytes = NULL;
    size_t length = 0;
    if (r->from_stdin) {
        XXH128_canonical_t canonical;
        MODAL_TRY(tool_read_stdin(&bytes, &length, err));
        MODAL_TRY(modal_trajectory_read_image(bytes, length, "standard input", &in->trajectory, err));
        XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, length));
        for (int i = 0; i < 16; i++)
            snprintf(in->trajectory_hash + 2 * i, 3, "%02x", canonical.digest[i]);
    } else {
        MODAL_TRY(modal_trajectory_read(r->trajectory_path, &in->trajectory, err));
        MODAL_TRY(modal_hash_file(r->trajectory_path, in->trajectory_hash, err));
    }
done:
    modal_free(&bytes);
    return status;
}

static modal_status read_basis(const request *r, input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (r->basis_path)
        MODAL_TRY(modal_copy_text(&in->basis_path, r->basis_path, SIZE_MAX, err));
    else
        MODAL_TRY(modal_trajectory_basis_path(&in->trajectory,
                                              r->from_stdin ? NULL : r->trajectory_path,
                                              &in->basis_path, err));
    if (!r->basis_path && access(in->basis_path, F_OK) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its basis is not there (--basis names another place), %s",
                   r->trajectory_path, in->basis_path);
    MODAL_TRY(modal_basis_read(in->basis_path, MODAL_BASIS_DEFORM, &in->basis, err));
    if (modal_trajectory_check_basis(&in->trajectory, &in->basis, err) != MODAL_OK) {
        modal_error_context(err, "%s", r->trajectory_path);
        status = err->status;
    }
done:
    return status;
}

/* The options that the frames depend on. The number of threads, the limit and the folder are not
 * among them: runs that differ in those give the same bytes. The manifest has the command line. */
static modal_status describe_arguments(const request *r, input *in, modal_error *err)
{
    int64_t length = 256 + (int64_t)strlen(r->trajectory_path) +
                     (int64_t)(r->basis_path ? strlen(r->basis_path) : 0) +
                     (int64_t)(r->frames_text ? strlen(r->frames_text) : 0);
    modal_status status = modal_alloc(&in->arguments, length, 1, "arguments", err);
    if (status != MODAL_OK) return status;
    snprintf(in->arguments, (size_t)length, "modaldeform %s%s%s%s%s --normals %s%s --order %s",
             r->trajectory_path, r->basis_path ? " --basis " : "", r->basis_path ? r->basis_path : "",
             r->frames_text ? " --frames " : "", r->frames_text ? r->frames_text : "", r->normals_name,
             r->deform.displacement ? " --fields displacement" : "", r->order);
    return MODAL_OK;
}

static modal_status read_inputs(tool *t, request *r, input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    MODAL_TRY(read_trajectory(r, in, err));
    MODAL_TRY(select_frames(&r->frames, in->trajectory.n_frames, in, err));
    tool_stage(t, "read trajectory", tool_seconds() - start, -1);
    start = tool_seconds();
    MODAL_TRY(read_basis(r, in, err));
    MODAL_TRY(modal_alloc(&in->times, in->n, sizeof *in->times, "times", err));
    for (int64_t i = 0; i < in->n; i++)
        in->times[i] = in->trajectory.times[in->start + i * in->step];
    MODAL_TRY(modal_deform_topology(&in->basis, r->deform.stored_order, &in->n_points,
                                    &in->n_triangles, &in->triangles, err));
    MODAL_TRY(describe_arguments(r, in, err));
    r->deform.n_frames = in->n;
    tool_stage(t, "read basis", tool_seconds() - start, -1);
done:
    return status;
}

static void free_input(input *in)
{
    modal_basis_free(&in->basis);
    modal_trajectory_free(&in->trajectory);
    modal_free(&in->basis_path);
    modal_free(&in->times);
    modal_free(&in->triangles);
    modal_free(&in->arguments);
}

/* ---- the deformer ---- */

/* Main memory that the inputs hold while the deformer makes its own arrays. */
static int64_t held_bytes(const input *in)
{
    const modal_trajectory *q = &in->trajectory;
    int64_t bytes = q->n_frames * 8 * (1 + q->mode_offsets[q->n_objects] +
                                       (q->frames ? 12 * (int64_t)q->n_objects : 0));
    bytes += 24 * in->n_triangles + 8 * in->n;
    for (int32_t i = 0; i < in->basis.n_shapes; i++) {
        const modal_shape *s = &in->basis.shapes[i];
        bytes += 12 * MODAL_TILE * modal_tile_count(s->n_vertices) * s->n_modes;
        bytes += s->n_vertices * (24 + 4 + 8 + 8 + 1) + s->n_triangles * (12 + 4);
        bytes += 4 * (s->face_offsets[s->n_vertices] + s->ring_offsets[s->n_vertices]);
    }
    return bytes;
}

static modal_status make_deformer(tool *t, request *r, const input *in, modal_deformer **deformer,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    if (r->memory_limit > 0) {
        int64_t held = held_bytes(in);
        if (held >= r->memory_limit)
            MODAL_FAIL(err, MODAL_ERROR_MEMORY,
                       "--memory-limit: basis and trajectory alone take %" PRId64 " bytes, %s", held,
                       tool_value(&t->arguments, "memory-limit"));
        r->deform.memory_limit = r->memory_limit - held;
    }
    /* The CPU back end takes its number of threads from the thread that opens it. */
    omp_set_num_threads(r->threads);
    MODAL_TRY(modal_deformer_new(deformer, &in->basis, &r->deform, err));
    tool_stage(t, "prepare", tool_seconds() - start, -1);
    if (strcmp(r->deform.back_end, "auto") == 0)
        tool_note(t, "back end: %s, %s", modal_deformer_back_end(*deformer),
                  modal_deformer_device(*deformer));
    tool_detail(t, "%" PRId64 " frames a batch", modal_deformer_batch_frames(*deformer));
done:
    return status;
}

/* ---- the outputs ---- */

/* Before the inputs are read: what cannot be written is said at once. */
static modal_status begin_outputs(const request *r, outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < N_FILES; i++) {
        int64_t length = (int64_t)strlen(r->folder) + 32;
        MODAL_TRY(modal_alloc(&out->paths[i], length, 1, "name", err));
        snprintf(out->paths[i], (size_t)length, "%s/%s", r->folder, file_names[i]);
        if (!r->from_stdin)
            MODAL_TRY(tool_refuse_same_file(r->trajectory_path, out->paths[i], err));
    }
    MODAL_TRY(tool_folder_begin(r->folder, &out->folder_made, err));
    for (int i = 0; i < N_FILES; i++)
        MODAL_TRY(tool_output_begin(&out->files[i], out->paths[i], r->force, err));
done:
    return status;
}

/* Renames all, the manifest last. An older manifest would speak of other files: it goes first. */
static modal_status commit_outputs(const request *r, outputs *out, modal_error *err)
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

static void end_outputs(const request *r, outputs *out)
{
    for (int i = 0; i < N_FILES; i++) {
        if (out->committed[i] && !out->complete) unlink(out->paths[i]);
        tool_output_discard(&out->files[i]);
        modal_free(&out->paths[i]);
    }
    if (!out->complete) tool_folder_discard(r->folder, out->folder_made);
}

static modal_status check_space(const request *r, const modal_sequence_info *info, modal_error *err)
{
    struct statvfs disk;
    int64_t needed = 0;
    modal_status status = modal_sequence_bytes(info, &needed, err);
    if (status != MODAL_OK) return status;
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

/* ---- the loop: this thread submits, another one collects and writes ---- */

typedef struct writing {
    modal_deformer *deformer;
    modal_sequence_writer *writer;
    int64_t n_frames;
    double wait_seconds, write_seconds;
    modal_status status;
    modal_error err;
} writing;

static void *write_batches(void *argument)
{
    writing *w = argument;
    for (int64_t done = 0; done < w->n_frames && w->status == MODAL_OK;) {
        modal_deform_batch batch;
        double start = tool_seconds();
        w->status = modal_deformer_collect(w->deformer, &batch, &w->err);
        if (w->status != MODAL_OK) break;
        double collected = tool_seconds();
        w->status = modal_sequence_append(w->writer, batch.n_frames, batch.positions, batch.normals,
                                          batch.displacement, &w->err);
        w->wait_seconds += collected - start;
        w->write_seconds += tool_seconds() - collected;
        done += batch.n_frames;
        modal_deformer_release(w->deformer, &batch);
    }
    if (w->status != MODAL_OK) modal_deformer_cancel(w->deformer);
    return NULL;
}

static modal_status submit_batches(tool *t, const input *in, modal_deformer *deformer,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *q = &in->trajectory;
    const int64_t total = q->mode_offsets[q->n_objects], most = modal_deformer_batch_frames(deformer);
    const int64_t frame = 12 * (int64_t)q->n_objects;
    double *some_q = NULL, *some_frames = NULL;
    if (in->step > 1) {
        MODAL_TRY(modal_alloc(&some_q, most * total, sizeof *some_q, "batch", err));
        MODAL_TRY(modal_alloc(&some_frames, q->frames ? most * frame : 0, sizeof *some_frames, "batch",
                              err));
    }
    for (int64_t done = 0; done < in->n;) {
        const int64_t n = in->n - done < most ? in->n - done : most;
        const int64_t first = in->start + done * in->step;
        const double *these_q = q->q + first * total;
        const double *these_frames = q->frames ? q->frames + first * frame : NULL;
        MODAL_TRY(modal_progress_report(&t->progress, "deform", (double)done / (double)in->n, err));
        if (in->step > 1) {
            for (int64_t i = 0; i < n; i++) {
                const int64_t from = first + i * in->step;
                memcpy(some_q + i * total, q->q + from * total, (size_t)total * sizeof *some_q);
                if (q->frames)
                    memcpy(some_frames + i * frame, q->frames + from * frame,
                           (size_t)frame * sizeof *some_frames);
            }
            these_q = some_q;
            these_frames = q->frames ? some_frames : NULL;
        }
        MODAL_TRY(modal_deformer_submit(deformer, n, these_q, these_frames, err));
        done += n;
    }
done:
    modal_free(&some_q);
    modal_free(&some_frames);
    return status;
}

static modal_status deform(tool *t, const input *in, modal_deformer *deformer,
                           modal_sequence_writer *writer, int64_t bytes, modal_error *err)
{
    writing w = {.deformer = deformer, .writer = writer, .n_frames = in->n};
    modal_error submit_err = {0};
    pthread_t thread;
    double start = tool_seconds();
    if (pthread_create(&thread, NULL, write_batches, &w) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "writer: cannot start a thread");
    modal_status status = submit_batches(t, in, deformer, &submit_err);
    double submitted = tool_seconds() - start;
    if (status != MODAL_OK) modal_deformer_cancel(deformer);
    pthread_join(thread, NULL);
    tool_stage(t, "submit", submitted, -1);
    tool_stage(t, "wait for frames", w.wait_seconds, -1);
    tool_stage(t, "write", w.write_seconds, bytes);
    tool_stage(t, "deform and write", tool_seconds() - start, bytes);
    /* The thread that failed first knows why; the other one was only interrupted. */
    if (w.status != MODAL_OK && (status == MODAL_OK || status == MODAL_ERROR_INTERRUPTED))
        return modal_error_set(err, w.status, "%s", w.err.message);
    if (status != MODAL_OK) return modal_error_set(err, status, "%s", submit_err.message);
    return MODAL_OK;
}

/* ---- the files ---- */

static modal_status add_provenance(const request *r, input *in, const char *back_end,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory *q = &in->trajectory;
    char *inputs = NULL;
    int64_t length = 2 * MODAL_HASH_TEXT + 8 + (int64_t)strlen(r->trajectory_path) +
                     (int64_t)strlen(in->basis_path);
    MODAL_TRY(modal_alloc(&inputs, length, 1, "provenance", err));
    snprintf(inputs, (size_t)length, "%s  %s\n%s  %s", in->trajectory_hash, r->trajectory_path,
             in->basis.hash, in->basis_path);
    MODAL_TRY(modal_provenance_append(&q->provenance, &q->n_provenance, program.name, tool_version(),
                                      in->arguments, inputs, back_end, err));
done:
    modal_free(&inputs);
    return status;
}

static modal_status write_manifest(const tool *t, const request *r, const input *in,
                                   const modal_deformer *deformer, const outputs *out,
                                   modal_error *err)
{
    modal_manifest_file files[2] = {{file_names[VTKHDF], "vtkhdf", 0}, {file_names[XDMF], "xdmf", 0}};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        if (stat(out->files[i].temporary, &info) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be found, %s",
                                   out->files[i].temporary, strerror(errno));
        files[i].bytes = (int64_t)info.st_size;
    }
    modal_manifest manifest = {
        .tool = program.name, .version = tool_version(), .arguments = t->command_line,
        .trajectory = r->trajectory_path, .trajectory_hash = in->trajectory_hash,
        .basis = in->basis_path, .basis_hash = in->trajectory.basis_hash,
        .back_end = modal_deformer_back_end(deformer), .device = modal_deformer_device(deformer),
        .frame_start = in->start, .frame_step = in->step, .n_frames = in->n,
        .first_time = in->times[0], .last_time = in->times[in->n - 1], .n_points = in->n_points,
        .n_triangles = in->n_triangles, .order = r->order, .normals = r->normals_name,
        .displacement = r->deform.displacement, .n_files = 2, .files = files};
    return modal_manifest_write(out->files[MANIFEST].temporary, &manifest, err);
}

static modal_status write_all(tool *t, request *r, input *in, outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deformer *deformer = NULL;
    modal_sequence_writer *writer = NULL;
    const int64_t arrays = 1 + (r->deform.normals != MODAL_NORMALS_NONE) + r->deform.displacement;
    modal_sequence_info info = {
        .n_points = in->n_points, .n_triangles = in->n_triangles, .triangles = in->triangles,
        .n_frames = in->n, .times = in->times, .normals = r->deform.normals != MODAL_NORMALS_NONE,
        .displacement = r->deform.displacement, .basis_hash = in->trajectory.basis_hash};
    for (int i = 0; i < N_FILES; i++)
        MODAL_TRY(tool_refuse_same_file(in->basis_path, out->paths[i], err));
    MODAL_TRY(check_space(r, &info, err));
    MODAL_TRY(make_deformer(t, r, in, &deformer, err));
    MODAL_TRY(add_provenance(r, in, modal_deformer_back_end(deformer), err));
    modal_basis_free(&in->basis); /* the deformer has what it needs */
    info.n_provenance = in->trajectory.n_provenance;
    info.provenance = in->trajectory.provenance;
    const int64_t bytes = 12 * arrays * in->n_points * in->n;
    MODAL_TRY(modal_sequence_begin(&writer, out->files[VTKHDF].temporary, &info, err));
    MODAL_TRY(deform(t, in, deformer, writer, bytes, err));
    double start = tool_seconds();
    MODAL_TRY(modal_sequence_end(&writer, err));
    MODAL_TRY(modal_sequence_write_xdmf(out->files[XDMF].temporary, file_names[VTKHDF], &info, err));
    MODAL_TRY(write_manifest(t, r, in, deformer, out, err));
    MODAL_TRY(commit_outputs(r, out, err));
    tool_stage(t, "close and sync", tool_seconds() - start, -1);

    json_object_set_new(t->report, "back_end", json_string(modal_deformer_back_end(deformer)));
    json_object_set_new(t->report, "device", json_string(modal_deformer_device(deformer)));
    json_object_set_new(t->report, "threads", json_integer(r->threads));
    json_object_set_new(t->report, "batch_frames",
                        json_integer(modal_deformer_batch_frames(deformer)));
    json_object_set_new(t->report, "frames", json_integer(in->n));
    json_object_set_new(t->report, "points", json_integer(in->n_points));
    json_object_set_new(t->report, "triangles", json_integer(in->n_triangles));
    json_object_set_new(t->report, "bytes", json_integer(bytes));
    tool_note(t, "%s: %" PRId64 " frames of %" PRId64 " points, %.3f GB", r->folder, in->n,
              in->n_points, 1e-9 * (double)bytes);
done:
    for (int i = 0; i < N_FILES; i++) tool_output_name_error(&out->files[i], err);
    modal_sequence_abort(writer);
    modal_deformer_delete(deformer);
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    request r = {0};
    input in = {0};
    outputs out = {0};

    MODAL_TRY(read_request(&t, &r, &err));
    MODAL_TRY(begin_outputs(&r, &out, &err));
    MODAL_TRY(read_inputs(&t, &r, &in, &err));
    MODAL_TRY(write_all(&t, &r, &in, &out, &err));
done:
    end_outputs(&r, &out);
    free_input(&in);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
