/* SPDX-License-Identifier: Apache-2.0 */
/* A deformer with a plan (lib/frames/slots.h): what comes encoded are the bytes of what comes as it is; what no sink takes
 * does not come; curvature, a stage, is that of the positions, whatever the batches are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/curvature/stage.h"
#include "lib/deform/source.h"
#include "lib/frames/slots.h"
#include "tests/kernels/harness.h"
#include "tests/kernels/synthetic.h"

enum { FRAMES = 9, FIELDS = 4 };
static const double SCALE = 1e5;
static const modal_curvature_field fields[FIELDS] = {MODAL_K_MAX, MODAL_GAUSS_CURVATURE, MODAL_DIRECTION_MAX, MODAL_BOUNDARY};
static const modal_array positions = {.name = "Points", .components = 3, .unit = "m", .source = MODAL_FROM_POSITIONS};
static const modal_array normals = {.name = "Normals", .components = 3, .unit = "1", .source = MODAL_FROM_NORMALS};
static const modal_array moved = {.name = "moved", .components = 3, .unit = "m", .source = MODAL_FROM_DISPLACEMENT};

typedef struct scene {
    modal_basis basis;
    int64_t n_points, n_triangles, modes;
    double *q, *poses;
    int32_t *triangles;
    modal_curvature_topology topology;
    float *positions, *displacement, *curvature[MODAL_CURVATURE_FIELDS]; /* [FRAMES, n_points, ..], as they are to be */
} scene;

/* Deforms [first, first + n) and hands the batch to the caller, who releases it. */
static int deform(harness *h, const scene *s, modal_deformer *deformer, int64_t first, int64_t n, modal_deform_batch *b)
{
    modal_error err = {0};
    modal_status status = modal_deformer_submit(deformer, n, s->q + first * s->modes,
                                                s->poses + first * s->basis.n_objects * 12, &err);
    if (status == MODAL_OK) status = modal_deformer_collect(deformer, b, &err);
    harness_ok(h, status, &err);
    return status == MODAL_OK;
}

/* What comes without a plan, and its curvature. */
static void expect(harness *h, scene *s, modal_deform_request request)
{
    modal_error err = {0};
    modal_deformer *deformer = NULL;
    modal_curvature *curvature = NULL;
    modal_curvature_options options = {0};
    modal_deform_batch b;
    for (int i = 0; i < FIELDS; i++) options.fields[fields[i]] = 1;
    harness_ok(h, modal_deformer_new(&deformer, &s->basis, &request, &err), &err);
    harness_ok(h, modal_curvature_new(&curvature, h->device, &options, &s->topology, 0.01, 1, &err), &err);
    for (int64_t f = 0; f < FRAMES; f++) {
        float *out[MODAL_CURVATURE_FIELDS] = {NULL}, *x = s->positions + 3 * s->n_points * f;
        if (!deform(h, s, deformer, f, 1, &b)) break;
        memcpy(x, b.positions, (size_t)(3 * s->n_points) * sizeof *x);
        memcpy(s->displacement + 3 * s->n_points * f, b.displacement, (size_t)(3 * s->n_points) * sizeof *x);
        modal_deformer_release(deformer, &b);
        for (int i = 0; i < FIELDS; i++)
            out[fields[i]] = s->curvature[fields[i]] + modal_curvature_arrays[fields[i]].components * s->n_points * f;
        harness_ok(h, modal_curvature_compute(curvature, 1, x, out, NULL, &err), &err);
    }
    modal_curvature_delete(curvature);
    modal_deformer_delete(deformer);
}

static void same(harness *h, const char *what, const float *got, const float *want, int64_t count)
{
    if (!got || memcmp(got, want, (size_t)count * sizeof *got) != 0) harness_fail(h, "%s: other bytes", what);
    h->n_values += count;
}

static void check_batch(harness *h, const scene *s, const modal_frame_plan *plan, int64_t first, const modal_deform_batch *b)
{
    const int64_t n = 3 * s->n_points;
    unsigned char *right = harness_alloc(modal_encoded_room(n), 1);
    const modal_encoded_array *e = &b->frames.encoded[0];
    if (b->normals || b->frames.arrays[1]) harness_fail(h, "normals came");
    if ((b->positions != NULL) != (plan->places[0] == MODAL_TAKEN) || (e->bytes != NULL) == (b->positions != NULL))
        harness_fail(h, "positions came, or came not");
    if (b->positions) same(h, "positions", b->positions, s->positions + n * first, n * b->n_frames);
    for (int64_t f = 0; f < b->n_frames && e->bytes; f++) {
        const modal_encoded is = modal_encode(s->positions + n * (first + f), n, SCALE, right);
        if (e->of[f].n_bytes != is.n_bytes || memcmp(e->bytes + f * e->stride, right, (size_t)is.n_bytes) != 0)
            harness_fail(h, "frame %lld: other chunk", (long long)(first + f));
        h->n_values += n;
    }
    same(h, "displacement", b->displacement, s->displacement + n * first, n * b->n_frames);
    for (int i = 0; i < FIELDS; i++) {
        const int64_t width = modal_curvature_arrays[fields[i]].components * s->n_points;
        same(h, modal_curvature_arrays[fields[i]].name, b->frames.arrays[3 + i], s->curvature[fields[i]] + width * first,
             width * b->n_frames);
    }
    free(right);
}

static void check_plan(harness *h, scene *s, modal_deform_request request, modal_array_place place)
{
    modal_error err = {0};
    modal_frame_plan plan = {.scale = SCALE};
    modal_curvature_stage stage = {.topology = &s->topology, .mean_edge = 0.02, .areas = -1};
    modal_deformer *deformer = NULL;
    modal_deform_batch b;
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) stage.arrays[i] = -1;
    harness_ok(h, modal_frame_plan_add(&plan, &positions, 0, place, &err), &err);
    request.plan = &plan;
    if (modal_deformer_new(&deformer, &s->basis, &request, &err) != MODAL_ERROR_USAGE || !strstr(err.message, "lacks"))
        harness_fail(h, "a plan without the outputs was taken");
    harness_ok(h, modal_frame_plan_add(&plan, &normals, s->n_points, MODAL_ON_DEVICE, &err), &err);
    harness_ok(h, modal_frame_plan_add(&plan, &moved, 0, MODAL_TAKEN, &err), &err);
    for (int i = 0; i < FIELDS; i++) {
        modal_array array = modal_curvature_arrays[fields[i]];
        array.source = MODAL_FROM_STAGES;
        stage.arrays[fields[i]] = plan.list.n;
        harness_ok(h, modal_frame_plan_add(&plan, &array, 0, MODAL_TAKEN, &err), &err);
    }
    plan.stages[plan.n_stages++] = modal_curvature_stage_of(&stage);
    harness_ok(h, modal_deformer_new(&deformer, &s->basis, &request, &err), &err);
    for (int64_t batch = 1; batch <= 4 && deformer; batch += 3)
        for (int64_t f = 0; f < FRAMES; f += batch) {
            const int64_t left = FRAMES - f < batch ? FRAMES - f : batch;
            const int64_t most = modal_deformer_batch_frames(deformer);
            if (left > most || !deform(h, s, deformer, f, left, &b)) break;
            check_batch(h, s, &plan, f, &b);
            modal_deformer_release(deformer, &b);
        }
    /* what is not finite is found where it stays, too */
    err = (modal_error){0};
    s->q[0] = 3e38;
    s->poses[3] = 3e38;
    modal_status status = modal_deformer_submit(deformer, 1, s->q, s->poses, &err);
    if (status == MODAL_OK) status = modal_deformer_collect(deformer, &b, &err);
    if (status != MODAL_ERROR_INPUT || !strstr(err.message, "does not fit float32"))
        harness_fail(h, "infinite positions: status %d, %s", (int)status, err.message);
    s->q[0] = s->poses[3] = 0.0;
    modal_deformer_delete(deformer);
}

static void check(harness *h, int64_t scale, int packing, int stored_order)
{
    scene s = {.n_points = 0};
    modal_error err = {0};
    int64_t *triangles = NULL;
    harness_case(h, "scale %lld, packing %d, stored order %d", (long long)scale, packing, stored_order);
    if (!synthetic_basis(&s.basis, scale)) abort();
    s.modes = modal_basis_mode_offsets(&s.basis, NULL);
    harness_ok(h, modal_deform_topology(&s.basis, stored_order, &s.n_points, &s.n_triangles, &triangles, &err), &err);
    s.q = harness_alloc(FRAMES * s.modes, sizeof *s.q);
    s.poses = harness_alloc(FRAMES * s.basis.n_objects * 12, sizeof *s.poses);
    s.triangles = harness_alloc(3 * s.n_triangles, sizeof *s.triangles);
    for (int64_t i = 0; i < 3 * s.n_triangles; i++) s.triangles[i] = (int32_t)triangles[i];
    synthetic_motion(&s.basis, FRAMES, s.q, s.poses);
    s.q[0] = s.poses[3] = 0.0;
    harness_ok(h, modal_curvature_topology_build(s.n_points, s.n_triangles, s.triangles, &s.topology, &err), &err);
    s.positions = harness_alloc(3 * FRAMES * s.n_points, sizeof(float));
    s.displacement = harness_alloc(3 * FRAMES * s.n_points, sizeof(float));
    for (int i = 0; i < FIELDS; i++)
        s.curvature[fields[i]] =
            harness_alloc(modal_curvature_arrays[fields[i]].components * FRAMES * s.n_points, sizeof(float));
    const modal_deform_request request = {.back_end = h->device->name, .normals = MODAL_NORMALS_DYNAMIC, .displacement = 1,
                                          .stored_order = stored_order, .packing = packing, .n_frames = FRAMES};
    expect(h, &s, request);
    check_plan(h, &s, request, MODAL_TAKEN_ENCODED);
    check_plan(h, &s, request, MODAL_TAKEN);
    modal_curvature_topology_free(&s.topology);
    modal_basis_free(&s.basis);
    for (int i = 0; i < FIELDS; i++) free(s.curvature[fields[i]]);
    free(s.positions), free(s.displacement), free(s.q), free(s.poses), free(s.triangles);
    modal_free(&triangles);
}

static void run(harness *h)
{
    for (int64_t scale = 1; scale <= (h->quick ? 1 : 3); scale += 2)
        for (int packing = -1; packing <= 1; packing += 2)
            for (int stored = 0; stored < 2; stored++) check(h, scale, packing, stored);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "stages", run); }
