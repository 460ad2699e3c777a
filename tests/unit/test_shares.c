/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes which byte of a sequence in shares: every byte of an array once, and no block of the file by two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/sequences/sequence_share.h"

enum { MOST_BLOCKS = 4000 };

static uint64_t state = 88172645463325252u;

static int64_t roll(int64_t n) /* 0 .. n - 1 */
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

typedef struct layout {
    int n;
    int64_t n_frames, n_shares, end;
    modal_sequence_place places[MODAL_MOST_ARRAYS];
} layout;

/* Arrays one after the other, now and then with something between, listed in any order. */
static layout make_layout(void)
{
    layout l = {.n = 1 + (int)roll(6), .n_frames = 1 + roll(roll(2) ? 5 : 300), .n_shares = 1 + roll(roll(2) ? 4 : 400)};
    int64_t at = roll(3 * MODAL_SHARE_BLOCK);
    for (int i = 0; i < l.n; i++) {
        const int64_t most = roll(3) == 0 ? 4 * MODAL_SHARE_BLOCK : roll(2) ? 100 : 40000;
        l.places[i] = (modal_sequence_place){i, 0, at, 4 * (1 + roll(most / 4))};
        at += l.n_frames * l.places[i].frame_bytes + (roll(2) ? roll(2 * MODAL_SHARE_BLOCK) : 0);
    }
    l.end = at;
    for (int i = l.n - 1; i > 0; i--) {
        const int k = (int)roll(i + 1);
        const modal_sequence_place kept = l.places[i];
        l.places[i] = l.places[k], l.places[k] = kept;
    }
    return l;
}

static void test_owners(void **unused)
{
    static int64_t owner[MOST_BLOCKS];
    (void)unused;
    int n_tried = 0;
    for (int round = 0; round < 3000; round++) {
        const layout l = make_layout();
        int64_t owned[MODAL_MOST_ARRAYS] = {0};
        if (l.end / MODAL_SHARE_BLOCK >= MOST_BLOCKS) continue;
        n_tried++;
        memset(owner, -1, sizeof owner);
        for (int64_t s = 0; s < l.n_shares; s++) {
            modal_share_part parts[MODAL_MOST_ARRAYS];
            modal_share_run runs[MODAL_SHARE_RUNS];
            int n_runs = 0;
            modal_share_divide(l.places, l.n, l.n_frames, (modal_share){s, l.n_shares}, parts);
            modal_share_add_parts(runs, &n_runs, parts, l.n);
            assert_true(n_runs <= MODAL_SHARE_RUNS);
            for (int i = 0; i < n_runs; i++) {
                assert_true(runs[i].first >= 0 && runs[i].first < runs[i].end && runs[i].end <= l.n_frames);
                assert_true(i == 0 || runs[i].first > runs[i - 1].end);
            }
            for (int i = 0; i < l.n; i++) {
                const modal_share_part *p = &parts[i];
                assert_true(i == 0 || parts[i - 1].at.place < p->at.place);
                for (int k = 0; k < 2; k++) {
                    if (p->from[k] >= p->to[k]) continue;
                    assert_true(p->from[k] >= p->at.place && p->to[k] <= p->at.place + l.n_frames * p->at.frame_bytes);
                    owned[p->at.array] += p->to[k] - p->from[k];
                    for (int64_t b = p->from[k] / MODAL_SHARE_BLOCK; b <= (p->to[k] - 1) / MODAL_SHARE_BLOCK; b++) {
                        assert_true(owner[b] < 0 || owner[b] == s);
                        owner[b] = s;
                    }
                    /* all its frames are among those that the share makes */
                    const int64_t first = (p->from[k] - p->at.place) / p->at.frame_bytes, last = (p->to[k] - 1 - p->at.place) / p->at.frame_bytes;
                    int inside = 0;
                    for (int j = 0; j < n_runs; j++) inside |= runs[j].first <= first && last < runs[j].end;
                    assert_true(inside);
                }
            }
        }
        /* blocks have one owner, so that bytes are counted once */
        for (int i = 0; i < l.n; i++) assert_int_equal(owned[l.places[i].array], l.n_frames * l.places[i].frame_bytes);
    }
    assert_true(n_tried > 1000);
}

static void test_frames(void **unused)
{
    (void)unused;
    for (int64_t n_frames = 0; n_frames < 60; n_frames++)
        for (int64_t n = 1; n < 70; n++) {
            assert_int_equal(modal_share_first(n_frames, 0, n), 0);
            for (int64_t i = 0; i <= n; i++) assert_int_equal(modal_share_first(n_frames, i, n), n_frames * i / n);
        }
    assert_int_equal(modal_share_first(999999, 1000000, 1000000), 999999);
}

static void test_runs(void **unused)
{
    (void)unused;
    for (int round = 0; round < 2000; round++) {
        enum { FRAMES = 60 };
        uint8_t wanted[FRAMES] = {0}, found[FRAMES] = {0};
        modal_share_run runs[MODAL_SHARE_RUNS];
        int n = 0;
        for (int i = 0; i < 12; i++) {
            const int64_t first = roll(FRAMES), end = first + roll(1 + (FRAMES - first) / 4);
            modal_share_add_run(runs, &n, (modal_share_run){first, end});
            for (int64_t f = first; f < end; f++) wanted[f] = 1;
        }
        for (int i = 0; i < n; i++) {
            assert_true(i == 0 || runs[i].first > runs[i - 1].end);
            for (int64_t f = runs[i].first; f < runs[i].end; f++) found[f] = 1;
        }
        assert_memory_equal(wanted, found, FRAMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_owners), cmocka_unit_test(test_frames), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
