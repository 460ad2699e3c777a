/* SPDX-License-Identifier: Apache-2.0 */
/* The whole deformer on a back end against plain loops in double: several shapes and objects, every
 * kind of output, batches through two threads; the same bytes for every batch size, for the last frames
 * alone, where the modal matrices do not fit the memory, and for several devices. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "tests/kernels/harness.h"
#include "tests/kernels/synthetic.h"

enum { OUTPUTS = 4 };
static const size_t widths[OUTPUTS] = {3, 3, 3, 4};

typedef struct job {
    modal_deformer *deformer;
    int64_t first, n_frames, batch, n_modes, n_objects;
    const double *q, *poses;
    modal_status status;
    modal_error err;
} job;

static void *submit_all(void *argument)
{
    job *j = argument;
    for (int64_t f = j->first; f < j->n_frames && j->status == MODAL_OK; f += j->batch) {
        const int64_t count = j->n_frames - f < j->batch ? j->n_frames - f : j->batch;
        j->status = modal_deformer_submit(j->deformer, count, j->q + f * j->n_modes,
                                          j->poses ? j->poses + f * j->n_objects * 12 : NULL,
                                          &j->err);
    }
    if (j->status != MODAL_OK) modal_deformer_cancel(j->deformer);
    return NULL;
}

/* Frames from `first` on to their places in out[OUTPUTS], [n_frames, n_points, 3] each, tangents 4. */
static void produce(harness *h, const modal_basis *basis, const modal_deform_request *request,
                    int64_t first, int64_t batch, const double *q, const double *poses,
                    float *const out[OUTPUTS])
{
    modal_error err = {0};
    pthread_t thread;
    job j = {.first = first,
             .n_frames = request->n_frames,
             .n_modes = modal_basis_mode_offsets(basis, NULL),
             .n_objects = basis->n_objects,
             .q = q,
             .poses = poses};
    modal_status status = modal_deformer_new(&j.deformer, basis, request, &err);
    if (status != MODAL_OK) {
        harness_fail(h, "%s", err.message);
        return;
    }
    const int64_t n_points = modal_deformer_n_points(j.deformer);
    j.batch = modal_deformer_batch_frames(j.deformer);
    if (batch > 0 && batch < j.batch) j.batch = batch;
    if (pthread_create(&thread, NULL, submit_all, &j) != 0) abort();
    for (int64_t f = first; f < j.n_frames && status == MODAL_OK;) {
        modal_deform_batch b;
        status = modal_deformer_collect(j.deformer, &b, &err);
        if (status != MODAL_OK) break;
        const float *from[OUTPUTS] = {b.positions, b.normals, b.displacement, b.tangents};
        for (int k = 0; k < OUTPUTS; k++)
            if (from[k])
                memcpy(out[k] + (size_t)(f * n_points) * widths[k], from[k],
                       (size_t)(b.n_frames * n_points) * widths[k] * sizeof(float));
        f += b.n_frames;
        modal_deformer_release(j.deformer, &b);
    }
    pthread_join(thread, NULL);
    if (j.status != MODAL_OK) harness_fail(h, "submit: %s", j.err.message);
    if (status != MODAL_OK) harness_fail(h, "collect: %s", err.message);
    modal_deformer_delete(j.deformer);
}

/* A source of U as a file is one. */
static modal_status read_tiles(void *context, int32_t shape, int64_t begin, int64_t end, float *to,
                               modal_error *err)
{
    const modal_shape *s = &((const modal_basis *)context)->shapes[shape];
    (void)err;
    memcpy(to, s->modes.modal_matrix + begin * s->modes.n_modes * 96,
           (size_t)((end - begin) * s->modes.n_modes * 96) * sizeof *to);
    return MODAL_OK;
}

/* Bytes of the memory in question that the request needs at least. */
static int64_t least_bytes(harness *h, const modal_basis *basis, modal_deform_request request)
{
    modal_error err = {0};
    modal_deformer *deformer = NULL;
    long long bytes = 0;
    *(h->device->shares_memory ? &request.memory_limit : &request.device_limit) = 1;
    if (modal_deformer_new(&deformer, basis, &request, &err) != MODAL_ERROR_MEMORY ||
        sscanf(err.message, "deform: one frame of %*d points needs %lld", &bytes) != 1)
        harness_fail(h, "a limit of one byte: %s", err.message);
    modal_deformer_delete(deformer);
    return bytes;
}

/* The same frames with less and less memory for U, and on two devices (of the same number). */
static void check_limits(harness *h, const modal_basis *basis, modal_deform_request request,
                         const double *q, const double *poses, float *const want[OUTPUTS], int64_t points)
{
    float *out[OUTPUTS];
    char pair[2 * MODAL_DEVICE_NAME + 2];
    size_t bytes[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) {
        bytes[k] = (size_t)(request.n_frames * points) * widths[k] * sizeof(float);
        out[k] = harness_alloc(1, bytes[k]);
    }
    for (int source = points > 10000; source < 2; source++) {
        if (source) request.matrix = (modal_matrix_source){read_tiles, (void *)(uintptr_t)basis};
        const int64_t least = least_bytes(h, basis, request);
        for (int more = 0; more < 4; more += points > 10000 ? 3 : 1) {
            modal_deform_request limited = request;
            *(h->device->shares_memory ? &limited.memory_limit : &limited.device_limit) =
                least + least * more / 2;
            for (int k = 0; k < OUTPUTS; k++) memset(out[k], 0xff, bytes[k]);
            produce(h, basis, &limited, 0, 0, q, poses, out);
            for (int k = 0; k < OUTPUTS; k++)
                if (memcmp(out[k], want[k], bytes[k]) != 0)
                    harness_fail(h, "output %d depends on the limit, %lld of %lld bytes", k,
                                 (long long)(least + least * more / 2), (long long)least);
        }
    }
    snprintf(pair, sizeof pair, "%s,%s", h->device->name, h->device->name);
    request.back_end = pair;
    for (int k = 0; k < OUTPUTS; k++) memset(out[k], 0xff, bytes[k]);
    produce(h, basis, &request, 0, 3, q, poses, out);
    for (int k = 0; k < OUTPUTS; k++) {
        if (memcmp(out[k], want[k], bytes[k]) != 0)
            harness_fail(h, "output %d depends on the number of devices", k);
        free(out[k]);
    }
}

static void check(harness *h, int64_t scale, int64_t n_frames, modal_normals normals,
                  modal_tangents tangents, int stored_order, int with_poses, int packing)
{
    modal_basis basis;
    harness_case(h, "scale %lld, %lld frames, normals %d, tangents %d, stored order %d, frames %d, "
                 "packing %d",
                 (long long)scale, (long long)n_frames, (int)normals, (int)tangents, stored_order,
                 with_poses, packing);
    if (!synthetic_basis(&basis, scale)) abort();
    const int64_t modes = modal_basis_mode_offsets(&basis, NULL);
    int64_t points = 0;
    for (int32_t i = 0; i < basis.n_objects; i++)
        points += basis.shapes[basis.objects[i].shape].surface.n_vertices;
    double *q = harness_alloc(n_frames * modes, sizeof *q);
    double *poses = harness_alloc(n_frames * basis.n_objects * 12, sizeof *poses);
    synthetic_motion(&basis, n_frames, q, poses);
    for (int64_t i = 0; i < n_frames * modes; i++) q[i] = (double)(float)q[i];
    const modal_deform_request request = {.back_end = h->device->name,
                                          .normals = normals,
                                          .tangents = tangents,
                                          .displacement = 1,
                                          .stored_order = stored_order,
                                          .packing = packing,
                                          .n_frames = n_frames};
    float *out[OUTPUTS], *again[OUTPUTS];
    size_t bytes[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) {
        bytes[k] = (size_t)(n_frames * points) * widths[k] * sizeof(float);
        out[k] = harness_alloc(1, bytes[k]);
        again[k] = harness_alloc(1, bytes[k]);
        memset(out[k], 0xff, bytes[k]);
        memset(again[k], 0xff, bytes[k]);
    }
    produce(h, &basis, &request, 0, 0, q, with_poses ? poses : NULL, out);
    produce(h, &basis, &request, 0, 3, q, with_poses ? poses : NULL, again);
    for (int k = 0; k < OUTPUTS; k++)
        if (memcmp(out[k], again[k], bytes[k]) != 0)
            harness_fail(h, "output %d depends on the size of a batch", k);
    const int64_t kept = n_frames - 2; /* an interrupted sequence is resumed */
    for (int k = 0; k < OUTPUTS; k++)
        memset((char *)again[k] + bytes[k] / n_frames * kept, 0xff, bytes[k] / n_frames * 2);
    produce(h, &basis, &request, kept, 0, q, with_poses ? poses : NULL, again);
    for (int k = 0; k < OUTPUTS; k++)
        if (memcmp(out[k], again[k], bytes[k]) != 0)
            harness_fail(h, "output %d depends on the frames that are left", k);
    if (h->device->shares_memory) {
        modal_deform_request plain = request; /* positions and normals may be made in one pass */
        plain.displacement = 0;
        for (int k = 0; k < OUTPUTS; k++) memset(again[k], 0xff, bytes[k]);
        produce(h, &basis, &plain, 0, 0, q, with_poses ? poses : NULL, again);
        for (int k = 0; k < OUTPUTS; k++)
            if (k != 2 && memcmp(out[k], again[k], bytes[k]) != 0)
                harness_fail(h, "output %d depends on whether there are displacements", k);
    }
    check_limits(h, &basis, request, q, with_poses ? poses : NULL, out, points);
    double *want[6];
    for (int k = 0; k < 6; k++) want[k] = harness_alloc(points * 4, sizeof(double));
    for (int64_t f = 0; f < n_frames; f++) {
        synthetic_expected(&basis, q + f * modes,
                           with_poses ? poses + f * basis.n_objects * 12 : NULL, stored_order,
                           normals == MODAL_NORMALS_RIGID, want[0], want[1], want[2], want[3]);
        for (int64_t i = 0; i < points * 3; i++) {
            const int64_t at = f * points * 3 + i;
            harness_compare(h, "position", at, out[0][at], want[0][i], want[3][i]);
            harness_compare(h, "displacement", at, out[2][at], want[2][i], want[3][i]);
            if (normals != MODAL_NORMALS_NONE)
                harness_compare(h, "normal", at, out[1][at], want[1][i], 2e-4);
        }
        if (tangents == MODAL_TANGENTS_NONE) continue;
        synthetic_tangents(&basis, tangents == MODAL_TANGENTS_RIGID ? NULL : q + f * modes,
                           with_poses ? poses + f * basis.n_objects * 12 : NULL, stored_order,
                           want[4], want[5]);
        for (int64_t i = 0; i < points * 4; i++) {
            const int64_t at = f * points * 4 + i;
            if (i % 4 == 3 && want[4][i] == 0.0) /* no tangent, or either hand */
                harness_compare(h, "handedness", at, fabs(out[3][at]), want[5][i / 4] > 0.0, 0.0);
            else
                harness_compare(h, "tangent", at, out[3][at], want[4][i], i % 4 == 3 ? 0.0 : want[5][i / 4]);
        }
    }
    for (int k = 0; k < 6; k++) free(want[k]);
    for (int k = 0; k < OUTPUTS; k++) {
        free(out[k]);
        free(again[k]);
    }
    free(q);
    free(poses);
    modal_basis_free(&basis);
}

/* ---- values that float32 cannot hold ---- */

/* Deforms all frames in batches of `batch`, one after the other; the last status, and its message. */
static modal_status deform_all(const modal_basis *basis, const modal_deform_request *request, int64_t batch,
                               const double *q, const double *poses, modal_error *err)
{
    modal_deformer *deformer = NULL;
    modal_deform_batch b;
    const int64_t modes = modal_basis_mode_offsets(basis, NULL);
    modal_status status = modal_deformer_new(&deformer, basis, request, err);
    for (int64_t f = 0; f < request->n_frames && status == MODAL_OK; f += batch) {
        const int64_t n = request->n_frames - f < batch ? request->n_frames - f : batch;
        modal_deformer_number_frames(deformer, 100 + 10 * f, 10);
        status = modal_deformer_submit(deformer, n, q + f * modes, poses + f * basis->n_objects * 12, err);
        if (status == MODAL_OK) status = modal_deformer_collect(deformer, &b, err);
        if (status == MODAL_OK) modal_deformer_release(deformer, &b);
    }
    modal_deformer_delete(deformer);
    return status;
}

enum { LARGE_POSITION, LARGE_DISPLACEMENT, LONG_EDGES, LARGE_FRAME, PADDING, SOUND, FAULTS };

/* One vertex of object 3, which shares its shape with object 0, in frame 13 alone; it is found, and named. */
static void check_fault(harness *h, int fault, modal_normals normals, int stored_order, int packing, int streamed,
                        int64_t scale)
{
    static const char *const says[FAULTS] = {"position does not fit float32", "position does not fit float32",
                                             "normal: products of edges do not fit float32",
                                             "position does not fit float32"};
    enum { FRAMES = 16, FRAME = 13, OBJECT = 3 }; /* a CPU takes whole blocks of 16 columns */
    modal_basis basis;
    modal_error err = {0};
    char expected[128];
    harness_case(h, "fault %d, normals %d, stored order %d, packing %d, streamed %d, scale %lld", fault, (int)normals,
                 stored_order, packing, streamed, (long long)scale);
    if (!synthetic_basis(&basis, scale)) abort();
    modal_shape *s = &basis.shapes[basis.objects[OBJECT].shape];
    const int64_t modes = modal_basis_mode_offsets(&basis, NULL), r = s->modes.n_modes;
    const int64_t v = s->surface.n_vertices - 1 - s->surface.n_vertices / 3, tiles = modal_tile_count(s->surface.n_vertices);
    double *q = harness_alloc(FRAMES * modes, sizeof *q);
    double *poses = harness_alloc(FRAMES * basis.n_objects * 12, sizeof *poses);
    synthetic_motion(&basis, FRAMES, q, poses);
    double *q_bad = q + FRAME * modes + (modes - r), *frame_bad = poses + (FRAME * basis.n_objects + OBJECT) * 12;
    float *u = s->modes.modal_matrix + (v / 32 * r * 3) * 32 + v % 32; /* mode 0 */
    if (fault <= LONG_EDGES) {
        const float entry = fault == LONG_EDGES ? 1e15f : 3e38f;
        for (int64_t i = 0; i < tiles * r * 96; i++) /* mode 0 moves the vertex alone */
            if (i / 96 % r == 0) s->modes.modal_matrix[i] = 0.0f;
        for (int i = 0; i < 3; i++) u[32 * i] = entry;
        for (int64_t f = 0; f < FRAMES; f++)
            for (int64_t k = 0; k < modes; k += modes - r) q[f * modes + k] = 0.0; /* of objects 0 and 3 */
        q_bad[0] = fault == LONG_EDGES ? 1e6 : 2.0;
    }
    if (fault == LARGE_FRAME) { /* 2e38 + 2e38 */
        for (int64_t i = 0; i < FRAMES * basis.n_objects * 12; i++) poses[i] = i % 12 % 5 == 0;
        for (int i = 0; i < 3; i++) s->surface.rest_positions[3 * v + i] = frame_bad[4 * i + 3] = 2e38;
    }
    if (fault == PADDING)
        for (int64_t i = 0; i < tiles * r * 96; i++)
            if (i / (r * 96) * 32 + i % 32 >= s->surface.n_vertices) s->modes.modal_matrix[i] = NAN;
    modal_deform_request request = {.back_end = h->device->name,
                                    .normals = normals,
                                    .displacement = fault == LARGE_DISPLACEMENT,
                                    .stored_order = stored_order,
                                    .packing = packing,
                                    .n_frames = FRAMES};
    if (streamed) {
        request.matrix = (modal_matrix_source){read_tiles, &basis};
        *(h->device->shares_memory ? &request.memory_limit : &request.device_limit) =
            least_bytes(h, &basis, request);
    }
    for (int64_t batch = 1; batch <= FRAMES; batch = batch < FRAMES && batch * 4 > FRAMES ? FRAMES : batch * 4) {
        if (streamed && batch > 1) break;
        const modal_status status = deform_all(&basis, &request, batch, q, poses, &err);
        h->n_values++;
        if (fault >= PADDING) {
            harness_ok(h, status, &err);
            continue;
        }
        snprintf(expected, sizeof expected, "frame %d, object %d, vertex %d: %s", 100 + 10 * FRAME, OBJECT,
                 stored_order ? (int)v : s->surface.user_vertex[v], says[fault]);
        if (status != MODAL_ERROR_INPUT || strncmp(err.message, expected, strlen(expected)) != 0)
            harness_fail(h, "batches of %lld: status %d, '%s', not '%s'", (long long)batch, (int)status,
                         status == MODAL_OK ? "" : err.message, expected);
    }
    free(q);
    free(poses);
    modal_basis_free(&basis);
}

static void check_faults(harness *h)
{
    for (int fault = 0; fault < FAULTS; fault++)
        for (int stored = 0; stored < 2; stored++)
            for (int packing = -1; packing < 2; packing += 2) {
                if (fault == PADDING && packing == 1) continue; /* a pack takes its own lanes of U */
                const modal_normals normals = fault == LONG_EDGES ? MODAL_NORMALS_DYNAMIC : MODAL_NORMALS_NONE;
                if (h->quick && stored != (packing + 1) / 2) continue;
                check_fault(h, fault, normals, stored, packing, 0, 1);
                if (fault != LARGE_FRAME) check_fault(h, fault, MODAL_NORMALS_DYNAMIC, stored, packing, 0, 1);
                if (packing < 0) check_fault(h, fault, normals, stored, packing, 1, 5);
            }
}

static void run(harness *h)
{
    check_faults(h);
    for (int normals = 0; normals < 3; normals++)
        for (int stored = 0; stored < 2; stored++)
            for (int with_poses = 0; with_poses < 2; with_poses++)
                for (int tangents = 0; tangents < (normals == MODAL_NORMALS_DYNAMIC ? 3 : 2); tangents++)
                    for (int packing = -1; packing < 2; packing += 2)
                        if (!h->quick || (stored == with_poses && stored == (normals + tangents) % 2 &&
                                          packing == (normals % 2 ? 1 : -1)))
                            check(h, 1, 17, (modal_normals)normals, (modal_tangents)tangents, stored,
                                  with_poses, packing);
    for (int packing = -1; packing < 2; packing += 2) /* few columns */
        check(h, 1, 3, MODAL_NORMALS_DYNAMIC, MODAL_TANGENTS_DYNAMIC, 0, 1, packing);
    /* the large shape is no part of the pack */
    if (!h->quick) check(h, 250, 100, MODAL_NORMALS_DYNAMIC, MODAL_TANGENTS_DYNAMIC, 0, 1, 1);
    check(h, h->quick ? 5 : 200, h->quick ? 20 : 200, MODAL_NORMALS_DYNAMIC,
          MODAL_TANGENTS_DYNAMIC, 0, 1, -1);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "engine", run); }
