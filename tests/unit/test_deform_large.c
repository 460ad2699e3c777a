/* SPDX-License-Identifier: Apache-2.0 */
/* The deformer where memory is short, or devices are several, or fail: modal matrices that stay at
 * their source, groups of engines, errors in the middle of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <omp.h>

#include "kernels/deform/deform.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"
#include "tests/kernels/synthetic.h"

enum { FRAMES = 23 };

typedef struct scene {
    modal_basis basis; /* without modal matrices */
    float *matrices[3];
    int64_t modes, points, matrix_bytes;
    double *q, *poses;
    int64_t n_reads, bytes_read, fail_at; /* of the source; fail_at 0: never */
} scene;

/* A modal matrix of more modes: most of the memory then goes there. */
static void enlarge(modal_shape *s, int32_t n_modes)
{
    const int64_t count = modal_tile_count(s->surface.n_vertices) * 96 * n_modes;
    modal_free(&s->modes.modal_matrix);
    assert_int_equal(modal_alloc(&s->modes.modal_matrix, count, sizeof(float), "U", NULL), MODAL_OK);
    for (int64_t i = 0; i < count; i++)
        s->modes.modal_matrix[i] = (float)(i * 7919 % 2003 - 1001) / 4096.0f;
    s->modes.n_modes = n_modes;
}

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_true(synthetic_basis(&s->basis, 6));
    enlarge(&s->basis.shapes[0], 160);
    enlarge(&s->basis.shapes[2], 120);
    s->modes = modal_basis_mode_offsets(&s->basis, NULL);
    for (int32_t i = 0; i < s->basis.n_objects; i++)
        s->points += s->basis.shapes[s->basis.objects[i].shape].surface.n_vertices;
    for (int i = 0; i < 3; i++) {
        modal_shape *shape = &s->basis.shapes[i];
        s->matrices[i] = shape->modes.modal_matrix;
        s->matrix_bytes += modal_tile_count(shape->surface.n_vertices) * shape->modes.n_modes * 384;
        shape->modes.modal_matrix = NULL;
    }
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
    for (int i = 0; i < 3; i++) modal_free(&s->matrices[i]);
    modal_basis_free(&s->basis);
    free(s->q);
    free(s->poses);
    free(s);
    return 0;
}

static modal_status read_tiles(void *context, int32_t shape, int64_t begin, int64_t end, float *to,
                               modal_error *err)
{
    scene *s = context;
    const int64_t floats = (int64_t)s->basis.shapes[shape].modes.n_modes * 96;
    assert_true(begin >= 0 && begin < end &&
                end <= modal_tile_count(s->basis.shapes[shape].surface.n_vertices));
    if (++s->n_reads == s->fail_at)
        return modal_error_set(err, MODAL_ERROR_INPUT, "basis.h5: read error");
    s->bytes_read += (end - begin) * floats * 4;
    memcpy(to, s->matrices[shape] + begin * floats, (size_t)((end - begin) * floats) * sizeof *to);
    return MODAL_OK;
}

static modal_deform_request request_of(scene *s, const char *back_end, int64_t limit)
{
    return (modal_deform_request){.back_end = back_end,
                                  .normals = MODAL_NORMALS_DYNAMIC,
                                  .displacement = 1,
                                  .packing = -1, /* all of them by ranges of tiles */
                                  .n_frames = FRAMES,
                                  .memory_limit = limit,
                                  .matrix = {read_tiles, s}};
}

/* Runs a deformer to its end; the outputs of all frames go to out. */
static void run(const scene *s, modal_deformer *d, float *out)
{
    const int64_t frame = s->points * 3, batch = modal_deformer_batch_frames(d);
    memset(out, 0xff, (size_t)(FRAMES * frame * 3) * sizeof *out);
    for (int64_t f = 0; f < FRAMES; f += batch) {
        const int64_t n = FRAMES - f < batch ? FRAMES - f : batch;
        modal_deform_batch b;
        assert_int_equal(modal_deformer_submit(d, n, s->q + f * s->modes,
                                               s->poses + f * s->basis.n_objects * 12, NULL),
                         MODAL_OK);
        assert_int_equal(modal_deformer_collect(d, &b, NULL), MODAL_OK);
        assert_int_equal(b.n_frames, n);
        const float *from[3] = {b.positions, b.normals, b.displacement};
        for (int k = 0; k < 3; k++)
            memcpy(out + (k * FRAMES + f) * frame, from[k], (size_t)(n * frame) * sizeof *out);
        modal_deformer_release(d, &b);
    }
}

static float *produce(const scene *s, const modal_deform_request *request, int64_t *streamed)
{
    modal_deformer *d = NULL;
    float *out = malloc((size_t)(FRAMES * s->points * 9) * sizeof *out);
    assert_non_null(out);
    assert_int_equal(modal_deformer_new(&d, &s->basis, request, NULL), MODAL_OK);
    if (streamed) *streamed = modal_deformer_streamed_bytes(d);
    run(s, d, out);
    modal_deformer_delete(d);
    return out;
}

static int64_t least_limit(scene *s)
{
    modal_error err = {0};
    modal_deformer *d = NULL;
    long long needed = 0;
    const modal_deform_request request = request_of(s, "cpu", 1);
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, &err), MODAL_ERROR_MEMORY);
    assert_int_equal(sscanf(err.message, "deform: one frame of %*d points needs %lld bytes", &needed),
                     1);
    return needed;
}

static void test_matrices_that_do_not_fit(void **state)
{
    scene *s = *state;
    const size_t bytes = (size_t)(FRAMES * s->points * 9) * sizeof(float);
    const int64_t least = least_limit(s);
    modal_deform_request request = request_of(s, "cpu", 0);
    int64_t streamed = 1, before = 0;
    s->bytes_read = 0;
    float *want = produce(s, &request, &streamed);
    assert_int_equal(streamed, 0);
    assert_int_equal(s->bytes_read, s->matrix_bytes); /* every tile once */
    /* the least memory is less than the matrices alone */
    assert_true(least < s->matrix_bytes);
    int part = 0;
    for (int more = 0; more < 24; more++) {
        request.memory_limit = least + least * more / 8;
        s->bytes_read = 0;
        float *out = produce(s, &request, &streamed);
        assert_memory_equal(out, want, bytes);
        free(out);
        if (more == 0) assert_int_equal(streamed, s->matrix_bytes);
        if (more > 0) assert_true(s->bytes_read <= before || before == 0);
        part += streamed > 0 && streamed < s->matrix_bytes;
        before = s->bytes_read;
    }
    assert_true(part > 0); /* some limits leave room for the small shapes' matrices */
    free(want);
}

static void test_an_array_in_memory_is_used_in_place(void **state)
{
    scene *s = *state;
    modal_deform_request request = request_of(s, "cpu", 0);
    const size_t bytes = (size_t)(FRAMES * s->points * 9) * sizeof(float);
    float *want = produce(s, &request, NULL);
    request.memory_limit = least_limit(s);
    request.matrix.read = NULL;
    for (int i = 0; i < 3; i++) s->basis.shapes[i].modes.modal_matrix = s->matrices[i];
    int64_t streamed = 0;
    float *out = produce(s, &request, &streamed);
    for (int i = 0; i < 3; i++) s->basis.shapes[i].modes.modal_matrix = NULL;
    assert_true(streamed > 0);
    assert_memory_equal(out, want, bytes);
    free(out);
    free(want);
}

static void test_groups(void **state)
{
    scene *s = *state;
    const size_t bytes = (size_t)(FRAMES * s->points * 9) * sizeof(float);
    const int64_t least = least_limit(s);
    modal_deform_request request = request_of(s, "cpu", 0);
    float *want = produce(s, &request, NULL);
    static const struct {
        const char *name;
        int n;
    } cases[] = {{"cpu,cpu", 2}, {"cpu,cpu,cpu,cpu,cpu", 5}};
    for (size_t i = 0; i < 2; i++)
        for (int limited = 0; limited < 2; limited++) {
            modal_deformer *d = NULL;
            request = request_of(s, cases[i].name, limited ? cases[i].n * least : 0);
            assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_OK);
            assert_string_equal(modal_deformer_back_end(d), cases[i].name);
            assert_string_equal(modal_deformer_kind(d), "cpu");
            assert_int_equal(modal_deformer_n_devices(d), cases[i].n);
            float *out = malloc(bytes);
            assert_non_null(out);
            run(s, d, out);
            assert_memory_equal(out, want, bytes);
            free(out);
            modal_deformer_delete(d);
        }
    free(want);
    /* all batches in flight before the first one is collected: they come back in their order */
    modal_deformer *d = NULL;
    modal_deform_batch b[6];
    request = request_of(s, "cpu,cpu", 0);
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(modal_deformer_submit(d, i % 2 + 1, s->q, NULL, NULL), MODAL_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(modal_deformer_collect(d, &b[i], NULL), MODAL_OK);
        assert_int_equal(b[i].n_frames, i % 2 + 1);
    }
    for (int i = 5; i >= 0; i--) modal_deformer_release(d, &b[i]);
    modal_deformer_cancel(d);
    assert_int_equal(modal_deformer_submit(d, 1, s->q, NULL, NULL), MODAL_ERROR_INTERRUPTED);
    modal_deformer_delete(d);
}

static void test_lists_of_back_ends(void **state)
{
    scene *s = *state;
    static const struct {
        const char *name, *part;
        modal_status status;
    } cases[] = {{",", "is no list of devices", MODAL_ERROR_USAGE},
                 {"cpu,", "is no list of devices", MODAL_ERROR_USAGE},
                 {",cpu", "is no list of devices", MODAL_ERROR_USAGE},
                 {"cpu,1", "is no list of devices", MODAL_ERROR_USAGE},
                 {"0,1", "is no list of devices", MODAL_ERROR_USAGE},
                 {"cuda,1", "is no list of devices", MODAL_ERROR_USAGE},
                 {"cuda:0,99999999999999999", "is no list of devices", MODAL_ERROR_USAGE},
                 {"cpu,ref", "all must be of one kind", MODAL_ERROR_USAGE},
                 {"cuda:0,cpu", "all must be of one kind", MODAL_ERROR_USAGE},
                 {"auto,auto", "all must be of one kind", MODAL_ERROR_USAGE},
                 {"gpu,gpu", "'gpu' is none of", MODAL_ERROR_USAGE},
                 {"cuda:0,1x", "", MODAL_OK},
                 {"cuda:998,999", "available: ref, cpu", MODAL_ERROR_SYSTEM}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_error err = {0};
        modal_deformer *d = NULL;
        const modal_deform_request request = request_of(s, cases[i].name, 0);
        const modal_status status = modal_deformer_new(&d, &s->basis, &request, &err);
        assert_null(d);
        if (cases[i].status == MODAL_OK) { /* what it says depends on the devices */
            assert_int_not_equal(status, MODAL_OK);
            continue;
        }
        assert_int_equal(status, cases[i].status);
        if (!strstr(err.message, cases[i].part)) fail_msg("%s: %s", cases[i].name, err.message);
        modal_deform_warm_up(cases[i].name); /* says nothing */
    }
    modal_device device;
    modal_error err = {0};
    modal_deformer *d = NULL;
    const modal_deform_request request = request_of(s, "cuda:all", 0);
    const int n = modal_device_count() - 2;
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, &err),
                     n > 0 ? MODAL_OK : MODAL_ERROR_SYSTEM);
    if (n > 0) assert_int_equal(modal_deformer_n_devices(d), n);
    modal_deformer_delete(d);
    modal_deform_warm_up("cpu,cpu");
    modal_deform_warm_up("cuda:all");
    assert_int_equal(modal_device_open(&device, "cpu", NULL), MODAL_OK);
}

static void test_every_allocation_can_fail(void **state)
{
    scene *s = *state;
    const int64_t least = least_limit(s);
    static const char *const names[] = {"cpu", "cpu,cpu"};
    for (int i = 0; i < 2; i++)
        for (int limited = 0; limited < 2; limited++) {
            const modal_deform_request request =
                request_of(s, names[i], limited ? (i + 1) * least : 0);
            for (int64_t n = 1;; n++) {
                modal_deformer *d = NULL;
                modal_error err = {0};
                modal_alloc_fail_at(n);
                const modal_status status = modal_deformer_new(&d, &s->basis, &request, &err);
                const int fired = modal_alloc_fired();
                modal_alloc_fail_at(0);
                assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
                if (fired) assert_true(d == NULL && strstr(err.message, "out of memory"));
                modal_deformer_delete(d);
                if (!fired) break;
            }
        }
}

/* A source that cannot be read, first while the deformer is made, then in a batch. */
static void test_a_source_that_fails(void **state)
{
    scene *s = *state;
    modal_deform_request request = request_of(s, "cpu", 0);
    modal_deformer *d = NULL;
    modal_error err = {0};
    s->n_reads = 0;
    s->fail_at = 1;
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "basis.h5: read error");
    assert_null(d);
    request.memory_limit = least_limit(s);
    memset(&err, 0, sizeof err);
    s->n_reads = 0;
    s->fail_at = 3;
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_OK);
    assert_int_equal(modal_deformer_submit(d, 1, s->q, NULL, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "basis.h5: read error");
    s->fail_at = 0;
    float *out = malloc((size_t)(FRAMES * s->points * 9) * sizeof *out);
    assert_non_null(out);
    run(s, d, out); /* the slot is free again */
    free(out);
    modal_deformer_delete(d);
}

static int64_t operations_left;

static modal_status lose_device(const modal_deform_task *task, modal_stream *stream,
                                modal_error *err)
{
    if (operations_left-- > 0) return modal_deform_cpu(task, stream, err);
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "deform: the device is lost");
}

/* A device that stops working: the batch that notices says so, the earlier ones are good, and the
 * thread that collects is woken by the cancellation. */
static void test_a_lost_device(void **state)
{
    scene *s = *state;
    modal_deform_request request = request_of(s, "cpu", 0);
    modal_deformer *d = NULL;
    modal_deform_batch b;
    modal_error err = {0};
    assert_int_equal(modal_deformer_new(&d, &s->basis, &request, NULL), MODAL_OK);
    modal_kernels kernels = *d->engines[0]->device.kernels;
    kernels.deform = lose_device;
    d->engines[0]->device.kernels = &kernels;
    operations_left = 3; /* one a shape */
    assert_int_equal(modal_deformer_submit(d, 1, s->q, NULL, &err), MODAL_OK);
    assert_int_equal(modal_deformer_submit(d, 1, s->q, NULL, &err), MODAL_ERROR_SYSTEM);
    assert_string_equal(err.message, "deform: the device is lost");
    assert_int_equal(modal_deformer_collect(d, &b, NULL), MODAL_OK);
    modal_deformer_release(d, &b);
    modal_deformer_cancel(d);
    assert_int_equal(modal_deformer_collect(d, &b, NULL), MODAL_ERROR_INTERRUPTED);
    modal_deformer_delete(d);
}

/* Positions, normals, displacements and speeds of some frames, [n, points, 10] floats, all at once or by the batches of 16 columns. */
static float *all_outputs(const scene *s, const modal_basis *basis, int64_t points, int direct, int stored, int *scatters)
{
    enum { N = 19 };
    const modal_deform_request request = {.back_end = "cpu",
                                          .normals = MODAL_NORMALS_DYNAMIC,
                                          .displacement = 1,
                                          .speed = MODAL_SPEED_MOVING,
                                          .stored_order = stored,
                                          .n_frames = N,
                                          .direct = direct ? N : 0};
    modal_deformer *d = NULL;
    float *out = malloc((size_t)(N * points * 10) * sizeof *out);
    assert_non_null(out);
    memset(out, 0xff, (size_t)(N * points * 10) * sizeof *out);
    assert_int_equal(modal_deformer_new(&d, basis, &request, NULL), MODAL_OK);
    const deform_unit *unit = &d->engines[0]->shapes[0];
    *scatters = unit->scatters;
    if (unit->scatters) assert_true(unit->range_tiles < modal_tile_count(unit->n_vertices)); /* several ranges */
    const int64_t modes = modal_basis_mode_offsets(basis, NULL), poses = 12 * (int64_t)basis->n_objects, batch = modal_deformer_batch_frames(d);
    for (int64_t f = 0, n; f < N; f += n) {
        float *at[4] = {out + f * points * 3, out + (N + f) * points * 3, out + (2 * N + f) * points * 3, out + 9 * N * points + f * points};
        n = N - f < batch ? N - f : batch;
        if (direct) {
            const modal_deform_arrays to = {.positions = at[0], .normals = at[1], .displacement = at[2], .speed = at[3]};
            assert_int_equal(modal_deformer_frames(d, n, s->q + f * modes, s->poses + f * poses, s->q + (f + 1) * modes, s->poses + (f + 1) * poses,
                                                   &to, NULL), MODAL_OK);
            continue;
        }
        modal_deform_batch b;
        assert_int_equal(modal_deformer_submit_moving(d, n, s->q + f * modes, s->poses + f * poses, s->q + (f + 1) * modes,
                                                      s->poses + (f + 1) * poses, NULL), MODAL_OK);
        assert_int_equal(modal_deformer_collect(d, &b, NULL), MODAL_OK);
        const float *from[4] = {b.positions, b.normals, b.displacement, b.speed};
        for (int k = 0; k < 4; k++) memcpy(at[k], from[k], (size_t)(n * points * (k < 3 ? 3 : 1)) * sizeof *out);
        modal_deformer_release(d, &b);
    }
    modal_deformer_delete(d);
    return out;
}

/* A large shape whose orders are the same, near each other, and at random: each vertex has the same bytes, by ranges and by scratch arrays. */
static void test_orders_of_vertices(void **state)
{
    const scene *small = *state;
    scene s = *small; /* its q and poses are longer than is needed here */
    modal_basis basis;
    const int threads = omp_get_max_threads();
    int64_t first = 0, points = 0;
    omp_set_num_threads(1);
    assert_true(synthetic_basis(&basis, 400));
    const int64_t n = basis.shapes[0].surface.n_vertices;
    int32_t *user = basis.shapes[0].surface.user_vertex;
    assert_int_equal(basis.objects[0].shape, 0);
    for (int32_t i = 0; i < basis.n_objects; i++) points += basis.shapes[basis.objects[i].shape].surface.n_vertices;
    for (int order = 0; order < 3; order++) {
        int scatters = 0;
        assert_true(n % 7919 != 0);
        for (int64_t v = 0; v < n; v++) user[v] = (int32_t)(order == 0 ? v : order == 1 ? (v ^ 63) < n ? v ^ 63 : v : v * 7919 % n);
        if (order == 1) /* the last piece stays as it is */
            for (int64_t v = n / 64 * 64; v < n; v++) user[v] = (int32_t)v;
        float *stored = all_outputs(&s, &basis, points, 0, 1, &scatters);
        assert_true(scatters);
        for (int direct = 0; direct < 2; direct++) {
            float *out = all_outputs(&s, &basis, points, direct, 0, &scatters);
            assert_int_equal(scatters, order < 2);
            for (int k = 0; k < 4; k++)
                for (int64_t f = 0; f < 19; f++)
                    for (int64_t v = 0; v < n; v++) {
                        const int64_t width = k < 3 ? 3 : 1, frame = k < 3 ? (k * 19 + f) * points * 3 : (9 * 19 + f) * points;
                        assert_memory_equal(out + frame + (first + user[v]) * width, stored + frame + (first + v) * width,
                                            (size_t)width * sizeof *out);
                    }
            free(out);
        }
        free(stored);
    }
    modal_basis_free(&basis);
    omp_set_num_threads(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_of_vertices),
        cmocka_unit_test(test_matrices_that_do_not_fit),
        cmocka_unit_test(test_an_array_in_memory_is_used_in_place),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_lists_of_back_ends),
        cmocka_unit_test(test_every_allocation_can_fail),
        cmocka_unit_test(test_a_source_that_fails),
        cmocka_unit_test(test_a_lost_device),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
