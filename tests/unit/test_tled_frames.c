/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that leave beside the steps: every one is the state of its own step, whatever the sink's pace; an error of the sink, and a
 * displacement that is not finite, end them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/tled/frames.h"
#include "tests/bench/tled_cube.h"

enum { FRAMES = 7, NODES = 125 };

typedef struct rig {
    tled_cube cube;
    modal_tled_model model;
    modal_solid_scene scene;
    modal_device device;
    modal_tled_motion *motion;
    double u[FRAMES][3 * NODES], velocity[FRAMES][3 * NODES], times[FRAMES];
    int n, slow, fails_at, slots[FRAMES];
} rig;

static void ok(modal_status status, const modal_error *err)
{
    if (status != MODAL_OK) fail_msg("%s", err->message);
}

static void set_up(rig *r, modal_tled_precision precision)
{
    const tled_cube_kind kind = {.cells = 4};
    modal_error err = {0};
    *r = (rig){.fails_at = -1};
    ok(tled_cube_make(&r->cube, &kind, &err), &err);
    assert_int_equal(r->cube.solid.n_nodes, NODES);
    r->model.solid = r->cube.solid;
    ok(modal_alloc(&r->model.node_from, NODES, sizeof(int32_t), "nodes", &err), &err);
    for (int i = 0; i < NODES; i++) r->model.node_from[i] = (i * 7 + 3) % NODES;
    r->scene = (modal_solid_scene){.gravity = {3, 0, -9.81}, .alpha = 10};
    ok(modal_device_open(&r->device, "cpu", &err), &err);
    const modal_tled_motion_options options = {.precision = precision, .step = r->cube.step};
    ok(modal_tled_motion_new(&r->device, &r->model, &r->scene, &options, &r->motion, &err), &err);
}

static void tear_down(rig *r)
{
    modal_tled_motion_delete(r->motion);
    modal_free(&r->model.node_from);
    tled_cube_free(&r->cube);
}

static modal_status sink(void *context, const modal_tled_frame *frame, modal_error *err)
{
    rig *r = context;
    const struct timespec pause = {0, r->slow * 1000000L};
    if (r->slow > 0) nanosleep(&pause, NULL);
    if (r->n == r->fails_at) return modal_error_set(err, MODAL_ERROR_SYSTEM, "the sink is full");
    assert_true(r->n < FRAMES);
    memcpy(r->u[r->n], frame->u, sizeof r->u[0]);
    if (frame->velocity) memcpy(r->velocity[r->n], frame->velocity, sizeof r->velocity[0]);
    r->times[r->n] = frame->time, r->slots[r->n] = frame->slot;
    r->n++;
    return MODAL_OK;
}

/* A frame every 5 steps, from 0 on. Returns the first error. */
static modal_status take_all(rig *r, modal_tled_frames *frames, int *slots, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t element;
    for (int f = 0; f < FRAMES; f++) {
        MODAL_TRY(modal_tled_motion_advance(r->motion, 5 * f, NULL, &element, err));
        MODAL_TRY(modal_tled_frames_slot(frames, &slots[f], err));
        MODAL_TRY(modal_tled_frames_take(frames, err));
    }
    MODAL_TRY(modal_tled_frames_wait(frames, err));
done:
    return status;
}

static void test_same_frames(void **state)
{
    (void)state;
    for (int precision = MODAL_TLED_FLOAT32; precision <= MODAL_TLED_FLOAT64; precision++)
        for (int slow = 0; slow < 3; slow += 2) {
            rig beside, after;
            modal_tled_frames *frames;
            modal_error err = {0};
            int64_t element;
            int slots[FRAMES];
            double u[3 * NODES], velocity[3 * NODES], spent, waited;
            set_up(&beside, (modal_tled_precision)precision), set_up(&after, (modal_tled_precision)precision);
            beside.slow = slow;
            ok(modal_tled_frames_new(beside.motion, 1, sink, &beside, &frames, &err), &err);
            ok(take_all(&beside, frames, slots, &err), &err);
            assert_int_equal(beside.n, FRAMES);
            modal_tled_frames_seconds(frames, &spent, &waited);
            assert_true(spent >= 1e-3 * slow * FRAMES && waited >= 0 && (slow == 0 || waited > 0));
            for (int f = 0; f < FRAMES; f++) {
                ok(modal_tled_motion_advance(after.motion, 5 * f, NULL, &element, &err), &err);
                ok(modal_tled_motion_state(after.motion, u, velocity, &err), &err);
                assert_true(beside.times[f] == modal_tled_motion_time(after.motion, 5 * f));
                assert_int_equal(slots[f], beside.slots[f]);
                assert_memory_equal(u, beside.u[f], sizeof u);
                assert_memory_equal(velocity, beside.velocity[f], sizeof velocity);
            }
            assert_true(fabs(u[2]) + fabs(u[3 * 60 + 2]) > 0);
            assert_null(modal_tled_frames_delete(frames));
            tear_down(&beside), tear_down(&after);
        }
}

static void test_errors(void **state)
{
    (void)state;
    rig r;
    modal_tled_frames *frames;
    modal_error err = {0};
    int slots[FRAMES];
    int64_t element;
    char *kept;
    set_up(&r, MODAL_TLED_FLOAT32);
    r.fails_at = 2;
    ok(modal_tled_frames_new(r.motion, 0, sink, &r, &frames, &err), &err);
    assert_int_equal(take_all(&r, frames, slots, &err), MODAL_ERROR_SYSTEM);
    assert_string_equal(err.message, "the sink is full");
    assert_int_equal(r.n, 2);
    assert_int_equal(modal_tled_frames_wait(frames, &err), MODAL_ERROR_SYSTEM); /* it stays */
    modal_tled_frames_delete(frames);
    tear_down(&r);

    set_up(&r, MODAL_TLED_FLOAT32);
    ok(modal_tled_frames_new(r.motion, 0, sink, &r, &frames, &err), &err);
    ok(modal_tled_motion_advance(r.motion, 3, NULL, &element, &err), &err);
    ok(modal_tled_frames_slot(frames, slots, &err), &err);
    ok(modal_tled_frames_take(frames, &err), &err);
    ok(modal_alloc(&kept, modal_tled_motion_save_bytes(r.motion), 1, "state", &err), &err);
    ok(modal_tled_motion_save(r.motion, kept, &err), &err);
    const float bad = NAN;
    /* u stands first after the head of 5 numbers */
    memcpy(kept + 40 + 16 * 50, &bad, sizeof bad);
    ok(modal_tled_motion_load(r.motion, kept, &err), &err);
    ok(modal_tled_frames_slot(frames, slots, &err), &err);
    ok(modal_tled_frames_take(frames, &err), &err);
    assert_int_equal(modal_tled_frames_wait(frames, &err), MODAL_ERROR_NOT_CONVERGED);
    assert_non_null(strstr(err.message, "a displacement is not finite"));
    assert_int_equal(r.n, 1);
    modal_tled_frames_delete(frames);
    modal_free(&kept);
    tear_down(&r);
}

/* Frames that nobody has waited for are left out, and nothing is used after it is freed. */
static void test_left(void **state)
{
    (void)state;
    rig r;
    modal_tled_frames *frames;
    modal_error err = {0};
    int slot;
    set_up(&r, MODAL_TLED_FLOAT64);
    r.slow = 20;
    ok(modal_tled_frames_new(r.motion, 0, sink, &r, &frames, &err), &err);
    for (int f = 0; f < 2; f++) {
        ok(modal_tled_frames_slot(frames, &slot, &err), &err);
        ok(modal_tled_frames_take(frames, &err), &err);
    }
    modal_tled_frames_delete(frames);
    assert_true(r.n <= 2);
    assert_null(modal_tled_frames_delete(NULL));
    tear_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_frames), cmocka_unit_test(test_errors), cmocka_unit_test(test_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
