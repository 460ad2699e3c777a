/* SPDX-License-Identifier: Apache-2.0 */
/* The deformer end to end: a trajectory's reduced coordinates in, positions and normals of every frame
 * in main memory, against what the bus to the device reaches; and into a file, against a plain write
 * and fsync of as many bytes to the same folder. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/sequences/sequence_vtkhdf.h"
#include "kernels/device.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "lib/frames/slots.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_bus.h"
#include "tests/bench/bench_cpu.h"
#include "tests/bench/torus.h"

enum { MODES = 15, FILE_RUNS = 5, WRITE_BYTES = 8 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the bus ---- */

typedef struct bus_case {
    bench_side *side;
    void *host;
    int64_t bytes;
} bus_case;

static modal_status call_bus(void *context, int64_t k, modal_error *err)
{
    const bus_case *c = context;
    (void)k;
    return modal_device_copy_out(&c->side->device, c->host, c->side->pool, c->bytes, c->side->stream,
                                 err);
}

static modal_status measure_bus(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    bus_case c = {.side = &b->gpu, .bytes = b->quick ? 16 << 20 : 512 << 20};
    MODAL_TRY(modal_device_alloc_host(&c.side->device, &c.host, c.bytes, 1, "bus", err));
    memset(c.host, 0, (size_t)c.bytes);
    bench_row row = {.name = "device to pinned host: the ceiling", .side = c.side, .n_columns = 1,
                     .bytes = (double)c.bytes, .error = -1.0};
    MODAL_TRY(bench_measure(b, c.side, call_bus, &c, &row.time, err));
    MODAL_TRY(bench_row_add(b, &row, err));
done:
    if (c.host) modal_device_free_host(&b->gpu.device, &c.host);
    return status;
}

/* ---- the deformer: this thread collects, another submits ---- */

typedef struct stream_case {
    modal_bench *b;
    bench_side *side;
    const modal_basis *basis;
    modal_deformer *deformer;
    int64_t n_frames;
    double *q, *times;
    int64_t n_triangles, *triangles;
    char path[512];
    double bytes;
    void *block; /* of the plain write */
    /* of the thread that submits */
    modal_status submit_status;
    modal_error submit_error;
} stream_case;

static void *submit(void *context)
{
    stream_case *c = context;
    const int64_t most = modal_deformer_batch_frames(c->deformer);
    c->submit_status = MODAL_OK;
    for (int64_t f = 0; f < c->n_frames && c->submit_status == MODAL_OK; f += most) {
        const int64_t n = c->n_frames - f < most ? c->n_frames - f : most;
        c->submit_status = modal_deformer_submit(c->deformer, n, c->q + f * MODES, NULL, &c->submit_error);
    }
    if (c->submit_status != MODAL_OK) modal_deformer_cancel(c->deformer);
    return NULL;
}

/* All frames once, to the writer or, where it is NULL, nowhere. */
static modal_status deform_all(stream_case *c, modal_sequence_writer *writer, modal_error *err)
{
    modal_status status = MODAL_OK;
    pthread_t thread;
    int started = 0;
    c->submit_error = (modal_error){0};
    if (pthread_create(&thread, NULL, submit, c) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "thread: cannot be started");
    started = 1;
    for (int64_t done_frames = 0; done_frames < c->n_frames;) {
        modal_deform_batch batch = {0};
        MODAL_TRY(modal_deformer_collect(c->deformer, &batch, err));
        const modal_frames frames = {batch.n_frames, {batch.positions, batch.normals}};
        if (writer) status = modal_sequence_append(writer, &frames, err);
        done_frames += batch.n_frames;
        modal_deformer_release(c->deformer, &batch);
        if (status != MODAL_OK) goto done;
    }
done:
    if (status != MODAL_OK && started) modal_deformer_cancel(c->deformer);
    if (started) pthread_join(thread, NULL);
    if (started && c->submit_status != MODAL_OK && c->submit_status != MODAL_ERROR_INTERRUPTED) {
        *err = c->submit_error;
        status = c->submit_status;
    }
    return status;
}

static modal_status to_nowhere(stream_case *c, modal_error *err) { return deform_all(c, NULL, err); }

/* As modaldeform writes it, synced. The name goes at once: nothing stays behind. */
static modal_status to_file(stream_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_writer *writer = NULL;
    int file = -1;
    const modal_sequence_info info = {
        .n_points = c->basis->shapes[0].surface.n_vertices, .n_triangles = c->n_triangles,
        .triangles = c->triangles, .n_frames = c->n_frames, .times = c->times,
        .arrays = {2, {modal_sequence_points, *modal_sequence_known("Normals")}}, .basis_hash = c->basis->hash,
        .source_kind = "basis", .source_hash = c->basis->hash};
    status = modal_sequence_begin(&writer, c->path, &info, err);
    file = open(c->path, O_RDONLY);
    unlink(c->path);
    if (status != MODAL_OK) goto done;
    if (file < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", c->path, strerror(errno));
    MODAL_TRY(deform_all(c, writer, err));
    MODAL_TRY(modal_sequence_end(&writer, err));
    if (fsync(file) != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", c->path, strerror(errno));
done:
    modal_sequence_abort(writer);
    if (file >= 0) close(file);
    return status;
}

static modal_status plain_write(stream_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    int file = open(c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    unlink(c->path);
    if (file < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", c->path, strerror(errno));
    for (int64_t left = (int64_t)c->bytes; left > 0;) {
        const ssize_t n = write(file, c->block, (size_t)(left < WRITE_BYTES ? left : WRITE_BYTES));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", c->path, strerror(errno));
        left -= n;
    }
    if (fsync(file) != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", c->path, strerror(errno));
done:
    if (file >= 0) close(file);
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* With the clock, whatever computes: what arrives at the end counts. */
static modal_status measure(stream_case *c, const char *name, int ours, int runs,
                            modal_status (*call)(stream_case *, modal_error *), modal_error *err)
{
    modal_status status = MODAL_OK;
    double seconds[BENCH_RUNS];
    bench_settle(c->b);
    for (int i = -1; i < runs; i++) {
        const double start = now();
        MODAL_TRY(call(c, err));
        if (i >= 0) seconds[i] = now() - start;
    }
    qsort(seconds, (size_t)runs, sizeof *seconds, ascending);
    const bench_row row = {.name = name, .ours = ours, .side = c->side, .n_columns = c->n_frames,
                           .n_vertices = c->basis->shapes[0].surface.n_vertices, .n_objects = 1,
                           .n_modes = MODES, .bytes = c->bytes, .error = -1.0,
                           .time = {seconds[runs / 2], seconds[0], seconds[runs - 1], runs, 1}};
    MODAL_TRY(bench_row_add(c->b, &row, err));
done:
    return status;
}

/* The frames that the deformer delivers: the first against the reference back end, once. */
static modal_status check(stream_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deformer *right = NULL;
    modal_deform_batch got = {0}, expected = {0};
    const int64_t n = 3 * c->basis->shapes[0].surface.n_vertices;
    const modal_deform_request request = {.back_end = "ref", .normals = MODAL_NORMALS_DYNAMIC, .n_frames = 1};
    MODAL_TRY(modal_deformer_new(&right, c->basis, &request, err));
    MODAL_TRY(modal_deformer_submit(right, 1, c->q, NULL, err));
    MODAL_TRY(modal_deformer_collect(right, &expected, err));
    MODAL_TRY(modal_deformer_submit(c->deformer, 1, c->q, NULL, err));
    MODAL_TRY(modal_deformer_collect(c->deformer, &got, err));
    double worst = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)got.positions[i] - (double)expected.positions[i];
        const double m = (double)got.normals[i] - (double)expected.normals[i];
        const double share = (x < 0 ? -x : x) / 4e-6 + (m < 0 ? -m : m) / 2e-3;
        worst = bench_worse(worst, share);
    }
    modal_deformer_release(c->deformer, &got);
    modal_deformer_release(right, &expected);
    if (!(worst <= 1.0))
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "pipeline: wrong frame, error %g times its tolerance", worst);
done:
    modal_deformer_delete(right);
    return status;
}

static modal_status run_side(modal_bench *b, bench_side *side, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    stream_case c = {.b = b, .side = side, .basis = basis, .n_frames = b->quick ? 8 : 128};
    const modal_deform_request request = {.back_end = side->device.name, .normals = MODAL_NORMALS_DYNAMIC,
                                          .n_frames = c.n_frames, .memory_limit = b->memory_limit / 4};
    int64_t points = 0;
    c.bytes = 24.0 * (double)basis->shapes[0].surface.n_vertices * (double)c.n_frames;
    snprintf(c.path, sizeof c.path, "%s/modalbench-%ld.tmp", b->folder, (long)getpid());
    MODAL_TRY(modal_alloc(&c.q, c.n_frames * MODES, sizeof *c.q, "q", err));
    MODAL_TRY(modal_alloc(&c.times, c.n_frames, sizeof *c.times, "times", err));
    MODAL_TRY(modal_alloc(&c.block, WRITE_BYTES, 1, "block", err));
    bench_cpu_fill(c.block, WRITE_BYTES / 4, 61);
    for (int64_t i = 0; i < c.n_frames * MODES; i++) c.q[i] = (double)bench_noise(62, (uint64_t)i);
    for (int64_t i = 0; i < c.n_frames; i++) c.times[i] = (double)i / 60.0;
    MODAL_TRY(modal_deform_topology(basis, 0, &points, &c.n_triangles, &c.triangles, err));
    MODAL_TRY(modal_deformer_new(&c.deformer, basis, &request, err));
    MODAL_TRY(check(&c, err));
    b->ours = 0.0;
    MODAL_TRY(measure(&c, "deformer, frames in main memory", 1, b->runs, to_nowhere, err));
    if (side->is_cuda && b->gpu.present) MODAL_TRY(measure_bus(b, err));
    b->ours = 0.0;
    const int runs = b->quick ? b->runs : FILE_RUNS;
    MODAL_TRY(measure(&c, "deformer into sequence.vtkhdf, synced", 1, runs, to_file, err));
    MODAL_TRY(measure(&c, "plain write and fsync, same bytes", 0, runs, plain_write, err));
done:
    c.deformer = modal_deformer_delete(c.deformer);
    modal_free(&c.q);
    modal_free(&c.times);
    modal_free(&c.block);
    modal_free(&c.triangles);
    return status;
}

/* Positions alone, as they are and encoded: bytes are those of the floats in both rows. */
static modal_status run_encoded(modal_bench *b, bench_side *side, const modal_basis *basis, modal_error *err)
{
    static const modal_array array = {.name = "Points", .components = 3, .unit = "m", .source = 0};
    modal_status status = MODAL_OK;
    stream_case c = {.b = b, .side = side, .basis = basis, .n_frames = b->quick ? 8 : 512};
    modal_frame_plan plan = {.scale = 1e5};
    modal_deform_request request = {.back_end = side->device.name, .n_frames = c.n_frames, .memory_limit = b->memory_limit / 4,
                                    .plan = &plan};
    c.bytes = 12.0 * (double)basis->shapes[0].surface.n_vertices * (double)c.n_frames;
    MODAL_TRY(modal_frame_plan_add(&plan, &array, 0, MODAL_TAKEN, err));
    MODAL_TRY(modal_alloc(&c.q, c.n_frames * MODES, sizeof *c.q, "q", err));
    for (int64_t i = 0; i < c.n_frames * MODES; i++) c.q[i] = (double)bench_noise(63, (uint64_t)i);
    for (int encoded = 0; encoded < 2; encoded++) {
        plan.places[0] = encoded ? MODAL_TAKEN_ENCODED : MODAL_TAKEN;
        c.deformer = modal_deformer_delete(c.deformer);
        MODAL_TRY(modal_deformer_new(&c.deformer, basis, &request, err));
        b->ours = 0.0;
        MODAL_TRY(measure(&c, encoded ? "deformer, positions encoded (1e-5 m), in main memory" : "deformer, positions in main memory",
                          1, b->runs, to_nowhere, err));
    }
done:
    c.deformer = modal_deformer_delete(c.deformer);
    modal_free(&c.q);
    return status;
}

modal_status bench_pipeline(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    torus *t = NULL;
    modal_basis basis = {0};
    MODAL_TRY(torus_new(&t, b->quick ? 60 : 675, 0, err));
    MODAL_TRY(torus_basis(&basis, t, MODES, err));
    bench_table(b, "pipeline", "The deformer end to end: positions and normals of all frames (cols); bytes: "
                               "those of the frames");
    bench_headings(b);
    if (b->gpu.present) MODAL_TRY(run_side(b, &b->gpu, &basis, err));
    MODAL_TRY(run_side(b, &b->cpu, &basis, err));
    if (b->gpu.present) MODAL_TRY(run_encoded(b, &b->gpu, &basis, err));
    MODAL_TRY(run_encoded(b, &b->cpu, &basis, err));
#ifdef MODAL_HAVE_CUDA
    if (b->gpu.present) MODAL_TRY(bench_bus(b, err));
#endif
done:
    t = torus_delete(t);
    modal_basis_free(&basis);
    return status;
}
