/* SPDX-License-Identifier: Apache-2.0 */
/* A device that is lost while pictures are made of frames: whatever it is asked for from the n-th call on fails, for every n. That is said once, the run ends,
 * all is freed (the sanitizers see to that), and a run that is long enough before it has the picture of one without.
 * The linker leads modal_device_open here (--wrap), so that deformer and stages all have the device that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/json/look.h"
#include "kernels/device_interface.h"
#include "lib/base/memory.h"
#include "lib/deform/source.h"
#include "lib/render/camera.h"
#include "lib/render/stage.h"
#include "tests/bench/noise.h"
#include "tests/bench/torus.h"

enum { MODES = 3, FRAMES = 5, WIDTH = 40, HEIGHT = 30, POSITIONS = 0, OF_NORMALS = 1 };

/* ---- the device ---- */

static const char LOST[] = "CUDA: wait for a stream: the device is lost";
static int64_t calls, lost_from = INT64_MAX; /* atomic: two threads ask */
static modal_device real;

static modal_status next(modal_error *err)
{
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) < lost_from) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s", LOST);
}

#define OR_LOST(name, parameters, arguments)                  \
    static modal_status name parameters                       \
    {                                                         \
        const modal_status status = next(err);                \
        return status != MODAL_OK ? status : real.interface->name arguments; \
    }
OR_LOST(alloc, (void **p, int64_t bytes, const char *what, modal_error *err), (p, bytes, what, err))
OR_LOST(alloc_host, (void **p, int64_t bytes, const char *what, modal_error *err), (p, bytes, what, err))
OR_LOST(copy_in, (void *to, const void *from, int64_t n, modal_stream *s, modal_error *err), (to, from, n, s, err))
OR_LOST(copy_out, (void *to, const void *from, int64_t n, modal_stream *s, modal_error *err), (to, from, n, s, err))
OR_LOST(copy, (void *to, const void *from, int64_t n, modal_stream *s, modal_error *err), (to, from, n, s, err))
OR_LOST(stream_new, (modal_stream **s, modal_error *err), (s, err))
OR_LOST(stream_wait, (modal_stream *s, modal_error *err), (s, err))
OR_LOST(event_new, (modal_event **e, modal_error *err), (e, err))
OR_LOST(event_record, (modal_event *e, modal_stream *s, modal_error *err), (e, s, err))
OR_LOST(stream_wait_event, (modal_stream *s, modal_event *e, modal_error *err), (s, e, err))
OR_LOST(event_wait, (modal_event *e, modal_error *err), (e, err))

#define OPERATION_OR_LOST(folder, name, cpu, cuda)                                                   \
    static modal_status lost_##folder(const name##_task *task, modal_stream *stream, modal_error *err) \
    {                                                                                                \
        const modal_status status = next(err);                                                       \
        return status != MODAL_OK ? status : real.kernels->folder(task, stream, err);                \
    }
MODAL_OPERATIONS(OPERATION_OR_LOST)

modal_status __real_modal_device_open(modal_device *device, const char *name, modal_error *err);
modal_status __wrap_modal_device_open(modal_device *device, const char *name, modal_error *err);
modal_status __wrap_modal_device_open(modal_device *device, const char *name, modal_error *err)
{
    static modal_kernels kernels;
    static modal_device_interface interface;
    const modal_status status = __real_modal_device_open(device, name, err);
    if (status != MODAL_OK) return status;
    real = *device;
    kernels = *real.kernels, interface = *real.interface;
#define REPLACE(folder, name, cpu, cuda) \
    if (kernels.folder) kernels.folder = lost_##folder;
    MODAL_OPERATIONS(REPLACE)
    interface.alloc = alloc, interface.alloc_host = alloc_host, interface.copy_in = copy_in, interface.copy_out = copy_out, interface.copy = copy;
    interface.stream_new = stream_new, interface.stream_wait = stream_wait, interface.event_new = event_new, interface.event_record = event_record;
    interface.stream_wait_event = stream_wait_event, interface.event_wait = event_wait;
    device->kernels = &kernels, device->interface = &interface;
    return MODAL_OK;
}

/* ---- the pictures ---- */

/* What the torus asks for: modalbench has one of many threads. */
modal_status bench_random(float **host, int64_t count, uint64_t seed, modal_error *err)
{
    const modal_status status = modal_alloc(host, count, sizeof **host, "random numbers", err);
    for (int64_t i = 0; status == MODAL_OK && i < count; i++) (*host)[i] = bench_noise(seed, (uint64_t)i);
    return status;
}

typedef struct scene {
    modal_basis basis;
    modal_trajectory trajectory;
    modal_look look;
    modal_render_scene drawn;
    modal_raster_view view;
    uint8_t pictures[FRAMES][4 * WIDTH * HEIGHT];
    int64_t taken;
} scene;

static modal_status make_scene(scene *s, const char *look, double crease, modal_error *err)
{
    modal_status status = MODAL_OK;
    torus *t = NULL;
    modal_render_bounds bounds = {0};
    const modal_render_ground ground = {.up = {0, 0, 1}, .height = -0.6, .size = 8.0, .tile = 1.0};
    const modal_render_scene_request request = {.basis = &s->basis, .look = &s->look, .ground = &ground, .shadow_alpha = 0.5, .creases = {.degrees = crease}};
    modal_trajectory *q = &s->trajectory;
    MODAL_TRY(torus_new(&t, 12, 0, err));
    MODAL_TRY(torus_basis(&s->basis, t, MODES, err));
    MODAL_TRY(modal_alloc_zero(&s->basis.shapes[0].surface.boundary, t->n_vertices, 1, "torus", err));
    q->n_objects = 1, q->n_frames = FRAMES;
    MODAL_TRY(modal_alloc(&q->mode_offsets, 2, sizeof *q->mode_offsets, "coordinates", err));
    modal_basis_mode_offsets(&s->basis, q->mode_offsets);
    MODAL_TRY(modal_alloc(&q->times, FRAMES, sizeof *q->times, "times", err));
    MODAL_TRY(modal_alloc(&q->q, FRAMES * MODES, sizeof *q->q, "coordinates", err));
    for (int f = 0; f < FRAMES; f++) q->times[f] = f / 60.0;
    for (int i = 0; i < FRAMES * MODES; i++) q->q[i] = (double)bench_noise(91, (uint64_t)i);
    MODAL_TRY(modal_look_parse(look, strlen(look), "look", 0, &s->look, err));
    MODAL_TRY(modal_render_bounds_new(&bounds, s->look.cameras[0].direction, s->look.cameras[0].up, &s->basis, &(modal_matrix_source){0}, q, err));
    MODAL_TRY(modal_render_scene_new(&s->drawn, &request, err));
    s->view = modal_render_view(&s->look.cameras[0], 0.0, &bounds, WIDTH, HEIGHT);
done:
    modal_render_bounds_free(&bounds);
    torus_delete(t);
    return status;
}

static void free_scene(scene *s)
{
    modal_render_scene_free(&s->drawn);
    modal_look_free(&s->look);
    modal_trajectory_free(&s->trajectory);
    modal_basis_free(&s->basis);
}

static modal_status take(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    scene *s = self;
    (void)err;
    memcpy(s->pictures[first], frames->arrays[1], (size_t)frames->n_frames * sizeof *s->pictures);
    s->taken += frames->n_frames;
    return MODAL_OK;
}

/* A stage whose device is taken for one with memory of its own: it does what it does on a GPU. */
static modal_frame_stage pictures;
static modal_status open_apart(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err)
{
    modal_device apart = *device;
    apart.shares_memory = 0;
    return pictures.open(self, &apart, most_frames, opened, err);
}

/* All frames, on a device that is opened for it. times: where passes are measured as on a GPU; or NULL. */
static modal_status draw(scene *s, modal_render_times *times, modal_error *err)
{
    static const modal_array points = {.name = "Points", .components = 3, .unit = "m", .source = MODAL_FROM_POSITIONS},
                             normals = {.name = "Normals", .components = 3, .unit = "1", .source = MODAL_FROM_NORMALS};
    modal_status status = MODAL_OK;
    modal_deformer *deformer = NULL;
    modal_deform_source *source = NULL;
    modal_frame_source frames;
    modal_frame_plan plan = {0};
    modal_array picture = modal_render_arrays[MODAL_RENDER_PICTURE];
    const int wedges = s->drawn.wedges.creases.corners != NULL;
    modal_render_stage stage = {.scene = &s->drawn, .views = &s->view, .n_views = 1, .step = 1, .width = WIDTH, .height = HEIGHT, .samples = 4,
                                .shadows = MODAL_SHADOW_VSM, .shadow_size = 64, .shadow_radius = 2, .bleeding = 0.2, .shadow_alpha = 0.5,
                                .most_fragments = 1 << 16, .times = times, .positions = 0, .normals = wedges ? -1 : 2};
    const modal_frame_step step = {s, take};
    s->taken = 0;
    picture.source = MODAL_FROM_STAGES;
    for (int i = 0; i < MODAL_RENDER_BUFFERS; i++) stage.arrays[i] = i == MODAL_RENDER_PICTURE ? 1 : -1;
    MODAL_TRY(modal_frame_plan_add(&plan, &points, 0, MODAL_ON_DEVICE, err));
    MODAL_TRY(modal_frame_plan_add(&plan, &picture, WIDTH * HEIGHT, MODAL_TAKEN, err));
    if (!wedges) MODAL_TRY(modal_frame_plan_add(&plan, &normals, 0, MODAL_ON_DEVICE, err));
    pictures = modal_render_stage_of(&stage);
    plan.stages[plan.n_stages] = pictures;
    if (times) plan.stages[plan.n_stages].open = open_apart;
    plan.n_stages++;
    const modal_deform_request request = {.back_end = "cpu", .normals = wedges ? MODAL_NORMALS_NONE : MODAL_NORMALS_DYNAMIC, .stored_order = 1,
                                          .n_frames = FRAMES, .n_made = 2, .plan = &plan};
    MODAL_TRY(modal_deformer_new(&deformer, &s->basis, &request, err));
    const modal_deform_source_request from = {.deformer = deformer, .trajectory = &s->trajectory, .step = 1, .plan = &plan};
    MODAL_TRY(modal_deform_source_new(&source, &from, &frames, err));
    MODAL_TRY(modal_frames_run(&frames, 1, &step, 0, FRAMES, NULL, NULL, err));
done:
    modal_deform_source_delete(source);
    modal_deformer_delete(deformer);
    return status;
}

static void lose(const char *look, double crease)
{
    modal_error err = {0};
    scene *s = calloc(1, sizeof *s), *whole = calloc(1, sizeof *whole);
    assert_non_null(s);
    assert_non_null(whole);
    if (make_scene(s, look, crease, &err) != MODAL_OK) fail_msg("%s", err.message);
    calls = 0, lost_from = INT64_MAX;
    if (draw(s, NULL, &err) != MODAL_OK) fail_msg("%s", err.message);
    memcpy(whole->pictures, s->pictures, sizeof s->pictures);
    const int64_t all = calls;
    assert_true(all > 8 * FRAMES && s->taken == FRAMES);
    for (int64_t n = 1; n <= all; n++) {
        memset(&err, 0, sizeof err);
        memset(s->pictures, 0, sizeof s->pictures);
        calls = 0, lost_from = n;
        const modal_status status = draw(s, NULL, &err);
        if (status != MODAL_ERROR_SYSTEM || !strstr(err.message, LOST))
            fail_msg("lost at call %lld of %lld: %d, %s", (long long)n, (long long)all, status, err.message);
        assert_true(s->taken < FRAMES); /* and what was taken before is what it is */
        assert_memory_equal(s->pictures, whole->pictures, (size_t)s->taken * sizeof *s->pictures);
    }
    calls = 0, lost_from = all + 1;
    assert_int_equal(draw(s, NULL, &err), MODAL_OK);
    assert_memory_equal(s->pictures, whole->pictures, sizeof s->pictures);
    free_scene(s);
    free(s);
    free(whole);
}

#define LOOK(material)                                                                                                             \
    "{\"look\": 1, \"materials\": {\"a\": {" material "}, \"b\": {}}, \"default\": \"a\", \"lights\": [{\"direction\": [-1, 0.6, -2]}], " \
    "\"ground\": {\"material\": \"b\"}, \"cameras\": [{\"direction\": [-0.55, 0.8, -0.5]}]}"

static void test_opaque(void **state)
{
    (void)state;
    lose(LOOK("\"diffuse\": [0.5, 0.4, 0.3]"), -1.0);
}

static void test_hard_edges(void **state)
{
    (void)state;
    lose(LOOK("\"diffuse\": [0.5, 0.4, 0.3]"), 20.0);
}

static void test_blended(void **state)
{
    (void)state;
    lose(LOOK("\"alpha\": \"blend\", \"opacity\": 0.6"), -1.0);
}

/* Passes of a GPU are measured in the frames that are asked for, and in no other; the pictures are the same. */
static void test_measured(void **state)
{
    static const char *const looks[] = {LOOK("\"diffuse\": [0.5, 0.4, 0.3]"), LOOK("\"alpha\": \"blend\", \"opacity\": 0.6")};
    (void)state;
    calls = 0, lost_from = INT64_MAX;
    for (int blended = 0; blended < 2; blended++) {
        modal_error err = {0};
        scene *s = calloc(1, sizeof *s), *whole = calloc(1, sizeof *whole);
        assert_non_null(s);
        assert_non_null(whole);
        if (make_scene(s, looks[blended], -1.0, &err) != MODAL_OK || draw(s, NULL, &err) != MODAL_OK) fail_msg("%s", err.message);
        memcpy(whole->pictures, s->pictures, sizeof s->pictures);
        for (int64_t end = 0; end <= 4; end += 2) { /* none, none after the second, two */
            modal_render_times times = {.waits_from = 2, .waits_to = end};
            memset(s->pictures, 0, sizeof s->pictures);
            if (draw(s, &times, &err) != MODAL_OK) fail_msg("%s", err.message);
            assert_memory_equal(s->pictures, whole->pictures, sizeof s->pictures);
            assert_int_equal(times.n_frames, FRAMES);
            assert_int_equal(times.n_measured, end == 4 ? 2 : 0);
            for (int pass = MODAL_PASS_SHADOWS; pass < MODAL_RENDER_PASSES; pass++)
                assert_true((times.seconds[pass] > 0.0) == (end == 4 && (blended || pass != MODAL_PASS_LAYERS)));
        }
        free_scene(s);
        free(s);
        free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opaque), cmocka_unit_test(test_hard_edges), cmocka_unit_test(test_blended),
                                       cmocka_unit_test(test_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
