/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of arrays, the ring of slots, and a run from a source through steps: order, waiting, errors of each side. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/frames/frames.h"
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
    const modal_frame_source source = {s, MOST, submit, collect, release, cancel};
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_runs), cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
