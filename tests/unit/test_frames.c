/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of arrays, the ring of slots, and a run from a source through steps: order, waiting, errors of each side; a source
 * that reads, with a stage. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "kernels/device_interface.h"
#include "lib/frames/frames.h"
#include "lib/frames/reading.h"
#include "lib/frames/ring.h"

static void test_lists(void **state)
{
    (void)state;
    modal_error err = {0};
    modal_array_list list = {0};
    modal_array a = {.name = "Points", .components = 3, .unit = "m"}, cells = {.name = "strain", .components = 6, .of_cells = 1, .unit = "1"};
    int64_t bytes;
    assert_int_equal(modal_array_add(&list, &a, &err), MODAL_OK);
    assert_int_equal(modal_array_add(&list, &cells, &err), MODAL_OK);
    assert_int_equal(modal_array_find(&list, "strain"), 1);
    assert_int_equal(modal_array_find(&list, "stress"), -1);
    assert_true(modal_array_frame_bytes(&list, 10, 7, &bytes));
    assert_int_equal(bytes, 4 * (3 * 10 + 6 * 7));
    assert_false(modal_array_frame_bytes(&list, 10, INT64_MAX / 20, &bytes));
    assert_int_equal(modal_array_add(&list, &a, &err), MODAL_ERROR_USAGE);
    for (int i = list.n; i < MODAL_MOST_ARRAYS; i++) {
        snprintf(a.name, sizeof a.name, "a%d", i);
        assert_int_equal(modal_array_add(&list, &a, &err), MODAL_OK);
    }
    strcpy(a.name, "last");
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_array_add(&list, &a, &err), MODAL_ERROR_USAGE);
    assert_non_null(strstr(err.message, "array last: more than 24 arrays"));
}

/* ---- a source of numbers: frame i has the value i ---- */

enum { SLOTS = 3, MOST = 4 };

typedef struct numbers {
    modal_ring ring;
    float values[SLOTS][MOST];
    int64_t n[SLOTS];
    int taken, releases;
    int64_t fails_at, collect_fails_at; /* frames, -1: never */
    useconds_t slow;                    /* of a submission */
} numbers;

static modal_status submit(void *self, int64_t first, int64_t n, modal_error *err)
{
    numbers *s = self;
    int slot;
    modal_status status = modal_ring_fill(&s->ring, &slot, err);
    if (status != MODAL_OK) return status;
    usleep(s->slow);
    s->n[slot] = n;
    for (int64_t i = 0; i < n; i++) s->values[slot][i] = (float)(first + i);
    if (s->fails_at >= first && s->fails_at < first + n) status = modal_error_set(err, MODAL_ERROR_INPUT, "submit fails");
    modal_ring_submit(&s->ring, slot, status == MODAL_OK);
    return status;
}

static modal_status collect(void *self, modal_frames *frames, modal_error *err)
{
    numbers *s = self;
    modal_status status = modal_ring_take(&s->ring, &s->taken, err);
    if (status != MODAL_OK) return status;
    frames->n_frames = s->n[s->taken];
    frames->arrays[0] = s->values[s->taken];
    if (s->collect_fails_at >= 0 && s->values[s->taken][0] >= (float)s->collect_fails_at)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "collect fails");
    return MODAL_OK;
}

static void release(void *self)
{
    numbers *s = self;
    s->releases++;
    modal_ring_give_back(&s->ring, s->taken);
}

static void cancel(void *self) { modal_ring_cancel(&((numbers *)self)->ring); }

/* ---- a stage that doubles, and a sink that adds up ---- */

typedef struct sums {
    float doubled[MOST];
    double sum;
    int64_t next, fails_at;
    useconds_t slow;
} sums;

static modal_status twice(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    sums *s = self;
    (void)first, (void)err;
    for (int64_t i = 0; i < frames->n_frames; i++) s->doubled[i] = 2 * frames->arrays[0][i];
    frames->arrays[1] = s->doubled;
    return MODAL_OK;
}

static modal_status add(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    sums *s = self;
    assert_int_equal(first, s->next);
    s->next += frames->n_frames;
    usleep(s->slow);
    for (int64_t i = 0; i < frames->n_frames; i++) {
        assert_true(frames->arrays[0][i] == (float)(first + i)); /* in order, and not overwritten meanwhile */
        s->sum += frames->arrays[1][i];
    }
    return s->fails_at >= 0 && s->next > s->fails_at ? modal_error_set(err, MODAL_ERROR_SYSTEM, "sink fails") : MODAL_OK;
}

static modal_status run(int n_slots, int64_t first, int64_t n, numbers *s, sums *t, const modal_progress *progress, modal_error *err)
{
    modal_frames_times times;
    const modal_frame_source source = {s, MOST, submit, collect, release, cancel, "run"};
    const modal_frame_step steps[] = {{t, twice}, {t, add}};
    t->next = first;
    assert_int_equal(modal_ring_make(&s->ring, n_slots, err), MODAL_OK);
    const modal_status status = modal_frames_run(&source, 2, steps, first, n, progress, &times, err);
    modal_ring_free(&s->ring);
    modal_ring_free(&s->ring); /* may be called twice */
    assert_true(times.submit >= 0 && times.wait >= 0 && times.work >= 0 && times.processor >= 0);
    return status;
}

static void test_runs(void **state)
{
    (void)state;
    for (int n_slots = 1; n_slots <= SLOTS; n_slots++)
        for (int64_t n = 0; n <= 41; n += 41)
            for (int slow = 0; slow < 3; slow++) {
                modal_error err = {0};
                numbers s = {.fails_at = -1, .collect_fails_at = -1, .slow = slow == 1 ? 500 : 0};
                sums t = {.fails_at = -1, .slow = slow == 2 ? 500 : 0};
                const int64_t first = n > 0 ? 3 : 0;
                assert_int_equal(run(n_slots, first, n, &s, &t, NULL, &err), MODAL_OK);
                assert_int_equal(t.next, n);
                assert_true(t.sum == (n > 0 ? (double)n * (double)(n - 1) - 6 : 0));
                assert_int_equal(s.releases, n > 0 ? 10 : 0);
            }
}

static int stop(void *context, const char *stage, double fraction)
{
    (void)context, (void)stage;
    return fraction > 0.5;
}

/* Whoever fails first is who is heard, and the other side ends. */
static void test_failures(void **state)
{
    (void)state;
    static const struct {
        int64_t submit, collect, sink;
        int stops;
        modal_status status;
        const char *says;
    } cases[] = {{17, -1, -1, 0, MODAL_ERROR_INPUT, "submit fails"},
                 {-1, 17, -1, 0, MODAL_ERROR_SYSTEM, "collect fails"},
                 {-1, -1, 17, 0, MODAL_ERROR_SYSTEM, "sink fails"},
                 {-1, -1, 0, 0, MODAL_ERROR_SYSTEM, "sink fails"},
                 {-1, -1, -1, 1, MODAL_ERROR_INTERRUPTED, "interrupted"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n_slots = 1; n_slots <= SLOTS; n_slots++) {
            modal_error err = {0};
            numbers s = {.fails_at = cases[i].submit, .collect_fails_at = cases[i].collect};
            sums t = {.fails_at = cases[i].sink};
            const modal_progress progress = {cases[i].stops ? stop : NULL, NULL};
            assert_int_equal(run(n_slots, 0, 1000, &s, &t, &progress, &err), cases[i].status);
            assert_non_null(strstr(err.message, cases[i].says));
        }
}

/* ---- a source that reads: frame i has i in its read array and i + 1/2 in the uploaded one, which a stage doubles ---- */

enum { POINTS = 5, LONG = 23 };

typedef struct reader {
    int64_t fails_at, stage_fails_at, sink_fails_at, next;
    int opened;
} reader;

static modal_status read_frame(void *self, int64_t frame, float *const to[MODAL_MOST_ARRAYS], modal_error *err)
{
    const reader *r = self;
    assert_null(to[2]);
    for (int i = 0; i < POINTS; i++) to[0][i] = (float)frame, to[1][i] = (float)frame + 0.5f;
    return frame == r->fails_at ? modal_error_set(err, MODAL_ERROR_INPUT, "read fails") : MODAL_OK;
}

static modal_status open_stage(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err)
{
    reader *r = (reader *)(uintptr_t)self;
    (void)err;
    assert_string_equal(device->name, "cpu");
    assert_int_equal(most_frames, MOST);
    r->opened++;
    *opened = r;
    return MODAL_OK;
}

static modal_status queue(void *opened, modal_stream *stream, const modal_device_frames *frames, modal_error *err)
{
    const reader *r = opened;
    (void)stream;
    for (int64_t i = 0; i < frames->n_frames * POINTS; i++) frames->arrays[2][i] = 2 * frames->arrays[1][i];
    return r->stage_fails_at >= 0 && frames->arrays[0][0] >= (float)r->stage_fails_at
               ? modal_error_set(err, MODAL_ERROR_SYSTEM, "stage fails")
               : MODAL_OK;
}

static void close_stage(void *opened) { ((reader *)opened)->opened--; }

static modal_status look(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    reader *r = self;
    assert_int_equal(first, r->next);
    assert_null(frames->arrays[3]);
    for (int64_t f = 0; f < frames->n_frames; f++)
        for (int i = 0; i < POINTS; i++) {
            assert_true(frames->arrays[0][POINTS * f + i] == (float)(first + f));
            assert_true(frames->arrays[1][POINTS * f + i] == (float)(first + f) + 0.5f);
            assert_true(frames->arrays[2][POINTS * f + i] == (float)(2 * (first + f) + 1));
        }
    r->next += frames->n_frames;
    return r->sink_fails_at >= 0 && r->next > r->sink_fails_at ? modal_error_set(err, MODAL_ERROR_SYSTEM, "sink fails") : MODAL_OK;
}

/* A device's streams, as a GPU has them: each is given back, to the device that made it. */
static int n_streams;

static modal_status stream_new(modal_stream **stream, modal_error *err)
{
    (void)err;
    *stream = (modal_stream *)&n_streams;
    n_streams++;
    return MODAL_OK;
}

static void stream_delete(modal_stream *stream)
{
    assert_ptr_equal(stream, &n_streams);
    n_streams--;
}

static modal_status run_reading(reader *r, const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_reading *reading = NULL;
    modal_frame_source source;
    modal_frame_plan plan = {.n_stages = 1, .stages = {{.self = r, .open = open_stage, .queue = queue, .close = close_stage}}};
    modal_device device;
    modal_reading_request request = {.device = &device, .plan = &plan, .most_frames = MOST, .reader = r, .read = read_frame, .doing = "read"};
    modal_array array = {.components = 1, .unit = "1"};
    static const struct {
        const char *name;
        modal_array_place place;
    } arrays[] = {{"read", MODAL_READ}, {"half", MODAL_UPLOADED}, {"twice", MODAL_TAKEN}, {"stays", MODAL_ON_DEVICE}};
    const modal_frame_step step = {r, look};
    double reads, works;
    for (int i = 0; i < 4; i++) {
        strcpy(array.name, arrays[i].name);
        assert_int_equal(modal_frame_plan_add(&plan, &array, POINTS, arrays[i].place, NULL), MODAL_OK);
    }
    MODAL_TRY(modal_device_open(&device, "cpu", err));
    modal_device_interface interface = *device.interface;
    interface.stream_new = stream_new, interface.stream_delete = stream_delete;
    device.interface = &interface;
    MODAL_TRY(modal_reading_new(&reading, &request, &source, err));
    status = modal_frames_run(&source, 1, &step, 0, LONG, progress, NULL, err);
    modal_reading_seconds(reading, &reads, &works);
    assert_true(reads >= 0 && works >= 0);
done:
    modal_reading_delete(reading);
    assert_int_equal(n_streams, 0);
    return status;
}

static void test_reading(void **state)
{
    (void)state;
    static const struct {
        int64_t read, stage, sink;
        int stops;
        modal_status status;
        const char *says;
    } cases[] = {{-1, -1, -1, 0, MODAL_OK, ""},
                 {0, -1, -1, 0, MODAL_ERROR_INPUT, "read fails"},
                 {17, -1, -1, 0, MODAL_ERROR_INPUT, "read fails"},
                 {-1, 0, -1, 0, MODAL_ERROR_SYSTEM, "stage fails"},
                 {-1, 12, -1, 0, MODAL_ERROR_SYSTEM, "stage fails"},
                 {-1, -1, 9, 0, MODAL_ERROR_SYSTEM, "sink fails"},
                 {-1, -1, -1, 1, MODAL_ERROR_INTERRUPTED, "interrupted"}};
    for (int turn = 0; turn < 20; turn++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            modal_error err = {0};
            reader r = {.fails_at = cases[i].read, .stage_fails_at = cases[i].stage, .sink_fails_at = cases[i].sink};
            const modal_progress progress = {cases[i].stops ? stop : NULL, NULL};
            assert_int_equal(run_reading(&r, &progress, &err), cases[i].status);
            assert_non_null(strstr(err.message, cases[i].says));
            assert_int_equal(r.opened, 0);
            if (cases[i].status == MODAL_OK) assert_int_equal(r.next, LONG);
        }
    for (int64_t n = 1;; n++) { /* every allocation */
        modal_error err = {0};
        reader r = {.fails_at = -1, .stage_fails_at = -1, .sink_fails_at = -1};
        modal_alloc_fail_at(n);
        const modal_status status = run_reading(&r, NULL, &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        assert_int_equal(r.opened, 0);
        if (!fired) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_runs), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_reading)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
