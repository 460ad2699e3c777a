/* SPDX-License-Identifier: Apache-2.0 */
/* The deformer on the back ends of this machine's processor. tests/kernels/engine.c compares its
 * numbers for every kind of request; here are its limits, threads and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "tests/kernels/synthetic.h"

enum { FRAMES = 23 };

typedef struct scene {
    modal_basis basis;
    int64_t modes, points;
    double *q, *poses;
} scene;

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_true(synthetic_basis(&s->basis, 2));
    s->modes = modal_basis_mode_offsets(&s->basis, NULL);
    for (int32_t i = 0; i < s->basis.n_objects; i++)
        s->points += s->basis.shapes[s->basis.objects[i].shape].surface.n_vertices;
    s->q = calloc((size_t)(FRAMES * s->modes), sizeof *s->q);
    s->poses = calloc((size_t)(FRAMES * s->basis.n_objects * 12), sizeof *s->poses);
    assert_true(s->q && s->poses);
    synthetic_motion(&s->basis, FRAMES, s->q, s->poses);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    modal_basis_free(&s->basis);
    free(s->q);
    free(s->poses);
    free(s);
    return 0;
}

static modal_deform_request request_of(const char *back_end)
{
    return (modal_deform_request){.back_end = back_end,
                                  .normals = MODAL_NORMALS_DYNAMIC,
                                  .displacement = 1,
                                  .n_frames = FRAMES};
}

/* Positions, normals, displacement of all frames, one batch after the other in this thread. */
static float *produce(const scene *s, const modal_deform_request *request, int64_t *batch_frames)
{
    modal_error err = {0};
    modal_deformer *d = NULL;
    const int64_t count = FRAMES * s->points * 3;
    float *out = malloc((size_t)count * 3 * sizeof *out);
    assert_non_null(out);
    memset(out, 0xff, (size_t)count * 3 * sizeof *out);
    assert_int_equal(modal_deformer_new(&d, &s->basis, request, &err), MODAL_OK);
    assert_int_equal(modal_deformer_n_points(d), s->points);
    const int64_t batch = modal_deformer_batch_frames(d);
    assert_true(batch >= 1 && batch <= FRAMES);
    if (batch_frames) *batch_frames = batch;
    for (int64_t f = 0; f < FRAMES; f += batch) {
        const int64_t n = FRAMES - f < batch ? FRAMES - f : batch;
        modal_deform_batch b;
        assert_int_equal(modal_deformer_submit(d, n, s->q + f * s->modes,
                                               s->poses + f * s->basis.n_objects * 12, &err),
                         MODAL_OK);
        assert_int_equal(modal_deformer_collect(d, &b, &err), MODAL_OK);
        assert_int_equal(b.n_frames, n);
        const float *from[3] = {b.positions, b.normals, b.displacement};
        for (int k = 0; k < 3; k++) {
            assert_non_null(from[k]);
            memcpy(out + k * count + f * s->points * 3, from[k],
                   (size_t)(n * s->points * 3) * sizeof *out);
        }
        modal_deformer_release(d, &b);
    }
    assert_null(modal_deformer_delete(d));
    return out;
}

static void check_against_double(const scene *s, const char *back_end)
{
    const modal_deform_request request = request_of(back_end);
    float *out = produce(s, &request, NULL);
    const int64_t frame = s->points * 3, count = FRAMES * frame;
    double *want = malloc((size_t)frame * 4 * sizeof *want);
    assert_non_null(want);
    for (int64_t f = 0; f < FRAMES; f++) {
        synthetic_expected(&s->basis, s->q + f * s->modes,
                           s->poses + f * s->basis.n_objects * 12, 0, 0, want, want + frame,
                           want + 2 * frame, want + 3 * frame);
        for (int64_t i = 0; i < frame; i++) {
            const float *got = out + f * frame + i;
            const double tolerance = want[3 * frame + i];
            for (int k = 0; k < 3; k++) {
                const double error = (double)got[k * count] - want[k * frame + i];
                const double bound = k == 1 ? 2e-4 : tolerance;
                if (!(error <= bound && -error <= bound))
                    fail_msg("%s: frame %d, output %d, value %d: %g, not %g", back_end, (int)f, k,
                             (int)i, (double)got[k * count], want[k * frame + i]);
            }
        }
    }
    free(want);
    free(out);
}

static void test_values(void **state)
{
    check_against_double(*state, "cpu");
    check_against_double(*state, "ref");
}

/* The smallest limit that is accepted gives batches of one frame, and the same bytes. */
static void test_batches_give_the_same_bytes(void **state)
{
    const scene *s = *state;
    modal_error err = {0};
    modal_deformer *d = NULL;
    modal_deform_request request = request_of("cpu");
    int64_t batch = 0;
    float *many = produce(s, &request, &batch);
    assert_true(batch > 1);
    long long needed = 0, limit = 0, points = 0;
    request.memory_limit = 1000;
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, &err), MODAL_ERROR_MEMORY);
    assert_null(d);
    assert_int_equal(sscanf(err.message,
                            "deform: one frame of %lld points needs %lld bytes of main memory, "
                            "the limit is %lld bytes",
                            &points, &needed, &limit),
                     3);
    assert_int_equal(points, s->points);
    assert_int_equal(limit, 1000);
    request.memory_limit = needed - 1;
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_ERROR_MEMORY);
    const size_t bytes = (size_t)(FRAMES * s->points * 9) * sizeof(float);
    for (int64_t more = 0; more < 4; more++) {
        int64_t other = 0;
        request.memory_limit = needed + more * needed / 2;
        float *few = produce(s, &request, &other);
        if (more == 0) assert_int_equal(other, 1);
        assert_memory_equal(few, many, bytes);
        free(few);
    }
    free(many);
}

typedef struct job {
    modal_deformer *deformer;
    const scene *scene;
    int64_t n_batches;
    modal_status status;
} job;

static void *submit_single_frames(void *argument)
{
    job *j = argument;
    for (int64_t i = 0; i < j->n_batches && j->status == MODAL_OK; i++)
        j->status = modal_deformer_submit(j->deformer, 1, j->scene->q + i % FRAMES * j->scene->modes,
                                          NULL, NULL);
    return NULL;
}

static void test_two_threads(void **state)
{
    const scene *s = *state;
    modal_deform_request request = request_of("cpu");
    pthread_t thread;
    job j = {.scene = s, .n_batches = 200};
    request.normals = MODAL_NORMALS_NONE;
    request.displacement = 0;
    assert_int_equal(modal_deformer_new(&j.deformer, &s->basis, &request, NULL), MODAL_OK);
    assert_int_equal(pthread_create(&thread, NULL, submit_single_frames, &j), 0);
    float *first = calloc((size_t)(FRAMES * s->points * 3), sizeof *first);
    assert_non_null(first);
    for (int64_t i = 0; i < j.n_batches; i++) {
        modal_deform_batch b;
        assert_int_equal(modal_deformer_collect(j.deformer, &b, NULL), MODAL_OK);
        assert_int_equal(b.n_frames, 1);
        assert_null(b.normals);
        assert_null(b.displacement);
        /* batches come in the order in which they were submitted */
        float *kept = first + i % FRAMES * s->points * 3;
        const size_t bytes = (size_t)(s->points * 3) * sizeof *kept;
        if (i < FRAMES)
            memcpy(kept, b.positions, bytes);
        else
            assert_memory_equal(kept, b.positions, bytes);
        if (i > 0 && i < FRAMES) assert_memory_not_equal(kept, kept - s->points * 3, bytes);
        modal_deformer_release(j.deformer, &b);
    }
    pthread_join(thread, NULL);
    assert_int_equal(j.status, MODAL_OK);
    free(first);
    modal_deformer_delete(j.deformer);
}

static void *collect_one(void *argument)
{
    job *j = argument;
    modal_deform_batch b;
    j->status = modal_deformer_collect(j->deformer, &b, NULL);
    return NULL;
}

static void test_cancel_wakes_both(void **state)
{
    const scene *s = *state;
    const modal_deform_request request = request_of("cpu");
    for (int side = 0; side < 2; side++) {
        pthread_t thread;
        modal_deform_batch b;
        job j = {.scene = s, .n_batches = 1000};
        assert_int_equal(modal_deformer_new(&j.deformer, &s->basis, &request, NULL), MODAL_OK);
        assert_int_equal(
            pthread_create(&thread, NULL, side ? collect_one : submit_single_frames, &j), 0);
        usleep(20000); /* it now waits for a slot, or for a batch, or is about to */
        modal_deformer_cancel(j.deformer);
        pthread_join(thread, NULL);
        assert_int_equal(j.status, MODAL_ERROR_INTERRUPTED);
        assert_int_equal(modal_deformer_collect(j.deformer, &b, NULL), MODAL_ERROR_INTERRUPTED);
        modal_deformer_release(j.deformer, &b); /* of nothing */
        modal_deformer_delete(j.deformer);
    }
}

static void test_topology(void **state)
{
    const scene *s = *state;
    for (int stored = 0; stored < 2; stored++) {
        int64_t points = 0, n_triangles = 0, *triangles = NULL, first = 0, place = 0;
        assert_int_equal(modal_deform_topology(&s->basis, stored, &points, &n_triangles,
                                               &triangles, NULL),
                         MODAL_OK);
        assert_int_equal(points, s->points);
        for (int32_t o = 0; o < s->basis.n_objects; o++) {
            const modal_shape *shape = &s->basis.shapes[s->basis.objects[o].shape];
            for (int64_t t = 0; t < shape->surface.n_triangles; t++)
                for (int k = 0; k < 3; k++) {
                    const int32_t v = shape->surface.triangles[3 * t + k];
                    const int64_t at = place + (stored ? t : shape->surface.user_triangle[t]);
                    assert_int_equal(triangles[3 * at + k],
                                     first + (stored ? v : shape->surface.user_vertex[v]));
                }
            first += shape->surface.n_vertices;
            place += shape->surface.n_triangles;
        }
        assert_int_equal(n_triangles, place);
        modal_free(&triangles);
    }
    modal_alloc_fail_at(1);
    int64_t points = 1, n_triangles = 1, *triangles = NULL;
    assert_int_equal(modal_deform_topology(&s->basis, 0, &points, &n_triangles, &triangles, NULL),
                     MODAL_ERROR_MEMORY);
    modal_alloc_fail_at(0);
    assert_null(triangles);
}

static void test_back_end_names(void **state)
{
    const scene *s = *state;
    static const struct {
        const char *name, *part;
        modal_status status;
    } cases[] = {{"gpu", "'gpu' is none of", MODAL_ERROR_USAGE},
                 {"", "is none of", MODAL_ERROR_USAGE},
                 {"cuda:", "is none of", MODAL_ERROR_USAGE},
                 {"cuda:1x", "is none of", MODAL_ERROR_USAGE},
                 {"cuda:-1", "is none of", MODAL_ERROR_USAGE},
                 {"cuda:99999999999999999999", "available: ref, cpu", MODAL_ERROR_SYSTEM},
                 {"cuda:999", "available: ref, cpu", MODAL_ERROR_SYSTEM}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_error err = {0};
        modal_deformer *d = NULL;
        const modal_deform_request request = request_of(cases[i].name);
        assert_int_equal(modal_deformer_new(&d, &s->basis, &request, &err), cases[i].status);
        assert_null(d);
        assert_non_null(strstr(err.message, cases[i].part));
    }
    char reason[256];
    modal_device device;
    modal_device_cuda_reason(reason, sizeof reason);
    assert_int_equal(modal_device_open(&device, "auto", NULL), MODAL_OK);
    assert_string_equal(device.name, modal_device_count() > 2 ? "cuda:0" : "cpu");
    assert_int_equal(modal_device_count() == 2, reason[0] != '\0');
    assert_int_equal(modal_device_describe(0, &device, NULL), MODAL_OK);
    assert_string_equal(device.name, "ref");
    assert_int_equal(modal_device_describe(1, &device, NULL), MODAL_OK);
    assert_string_equal(device.name, "cpu");
    assert_non_null(strstr(device.hardware, "thread"));
}

static void test_bad_requests(void **state)
{
    scene *s = *state;
    modal_error err = {0};
    modal_deformer *d = NULL;
    modal_deform_request request = request_of("cpu");
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_OK);
    const int64_t batch = modal_deformer_batch_frames(d);
    assert_int_equal(modal_deformer_submit(d, batch + 1, s->q, NULL, NULL), MODAL_ERROR_USAGE);
    assert_int_equal(modal_deformer_submit(d, -1, s->q, NULL, NULL), MODAL_ERROR_USAGE);
    const double kept = s->q[2];
    s->q[2] = 1e39;
    assert_int_equal(modal_deformer_submit(d, 1, s->q, NULL, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "object 0: reduced coordinate 2 = 1e+39"));
    s->q[2] = kept;
    /* the slot is free again: three more batches fit */
    for (int i = 0; i < 3; i++)
        assert_int_equal(modal_deformer_submit(d, 1, s->q, NULL, NULL), MODAL_OK);
    d = modal_deformer_delete(d); /* with batches that nobody collected */
    int32_t *user = &s->basis.shapes[0].surface.user_vertex[3];
    const int32_t kept_index = *user;
    memset(&err, 0, sizeof err);
    *user = s->basis.shapes[0].surface.user_vertex[4];
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "not a permutation"));
    *user = kept_index;
    request.n_frames = -1;
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_ERROR_USAGE);
    assert_null(modal_deformer_delete(NULL));
}

static void test_every_allocation_can_fail(void **state)
{
    const scene *s = *state;
    for (int way = 0; way < 6; way++) { /* three kinds of normals and tangents, columns and packs */
        modal_deform_request request = request_of("cpu");
        request.normals = (modal_normals)(way % 3);
        request.tangents = (modal_tangents)(way % 3);
        request.packing = way < 3 ? -1 : 1;
        int64_t n = 1;
        for (;; n++) {
            modal_deformer *d = NULL;
            modal_error err = {0};
            modal_alloc_fail_at(n);
            const modal_status status = modal_deformer_new(&d, &s->basis, &request, &err);
            const int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            if (fired) assert_true(d == NULL && err.message[0] != '\0');
            modal_deformer_delete(d);
            if (!fired) break;
        }
        assert_true(n > 20);
    }
}

static void test_empty_scene(void **state)
{
    (void)state;
    modal_basis empty = {0};
    modal_deformer *d = NULL;
    modal_deform_batch b;
    const modal_deform_request request = request_of("cpu");
    assert_int_equal(modal_deformer_new(&d, &empty, &request, NULL), MODAL_OK);
    assert_int_equal(modal_deformer_n_points(d), 0);
    assert_int_equal(modal_deformer_submit(d, 1, NULL, NULL, NULL), MODAL_OK);
    assert_int_equal(modal_deformer_collect(d, &b, NULL), MODAL_OK);
    assert_int_equal(b.n_frames, 1);
    modal_deformer_release(d, &b);
    modal_deformer_delete(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_batches_give_the_same_bytes),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_cancel_wakes_both),
        cmocka_unit_test(test_topology),
        cmocka_unit_test(test_back_end_names),
        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_every_allocation_can_fail),
        cmocka_unit_test(test_empty_scene),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
