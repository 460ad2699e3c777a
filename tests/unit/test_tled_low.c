/* SPDX-License-Identifier: Apache-2.0 */
/* What float32 loses of u and d, packed: rounding, signs, ends; free fall in the arithmetic of tled_nodes.cuh. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "kernels/tled_step/tled_low.h"

static uint64_t seed = 1;

static double random_number(void) /* in [-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-52 - 1;
}

static float unit(float x) { return nextafterf(fabsf(x), HUGE_VALF) - fabsf(x); }

static void test_pack(void **ignored)
{
    (void)ignored;
    for (int k = 0; k < 200000; k++) {
        float u[3], d[3];
        modal_tled_low low, back, again;
        uint32_t words[2], same[2];
        for (int c = 0; c < 3; c++) {
            u[c] = (float)ldexp(random_number(), (int)(random_number() * 30));
            d[c] = (float)ldexp(random_number(), (int)(random_number() * 30));
            low.u[c] = (float)(random_number() * unit(u[c]) / 2), low.d[c] = (float)(random_number() * unit(d[c]) / 2);
            if (k % 7 == c) low.u[c] = 0;
        }
        modal_tled_low_pack(&low, u, d, modal_tled_low_shift(k), words);
        modal_tled_low_unpack(words, u, d, &back);
        for (int c = 0; c < 3; c++) {
            assert_true(fabsf(back.u[c] - low.u[c]) <= 1.001f * unit(u[c]) * 0x1p-11f); /* a unit */
            assert_true(fabsf(back.d[c] - low.d[c]) <= 1.001f * unit(d[c]) * 0x1p-10f);
            if (low.u[c] == 0) assert_true(back.u[c] == 0);
        }
        modal_tled_low_rounded(&low, u, d, modal_tled_low_shift(k));
        for (int c = 0; c < 3; c++) assert_true(low.u[c] == back.u[c] && low.d[c] == back.d[c]);
        modal_tled_low_pack(&back, u, d, modal_tled_low_shift(3 * k + 1), same);
        modal_tled_low_unpack(same, u, d, &again);
        assert_true(same[0] == words[0] && same[1] == words[1] && memcmp(&again, &back, sizeof back) == 0);
    }
}

static void test_ends(void **ignored)
{
    (void)ignored;
    const float u[3] = {0, 1e-38f, 3e38f}, d[3] = {0, -1e-44f, NAN}, ones[3] = {1, -1, 1};
    modal_tled_low low = {{0, 0, 0}, {0, 0, 0}}, back;
    uint32_t words[2];
    modal_tled_low_pack(&low, u, d, 0, words);
    assert_true(words[0] == 0 && words[1] == 0);
    modal_tled_low_unpack(words, ones, ones, &back);
    assert_true(memcmp(&back, &low, sizeof low) == 0);
    low = (modal_tled_low){{0.5f, 1e-45f, 1e30f}, {1, 1, 1}}; /* of what nothing is kept of */
    modal_tled_low_pack(&low, u, d, 0, words);
    assert_true(words[0] == 0 && words[1] == 0);
    low = (modal_tled_low){{1, -1, HUGE_VALF}, {1, -1, NAN}}; /* more than half a unit: as much as there is room for, with its sign */
    modal_tled_low_pack(&low, ones, ones, 0, words);
    modal_tled_low_unpack(words, ones, ones, &back);
    assert_true(back.u[0] == 1023 * 0x1p-34f && back.u[1] == -1023 * 0x1p-34f && back.u[2] == 1023 * 0x1p-34f);
    assert_true(back.d[0] == 511 * 0x1p-33f && back.d[1] == -511 * 0x1p-33f && isfinite(back.d[2]));
}

/* Central differences of one node in floats, as tled_nodes.cuh does them; where the sum is split the order matters. */
static void step(float u[3], float d[3], uint32_t words[2], const float push[3], float lose, int64_t n)
{
    modal_tled_low low;
    modal_tled_low_unpack(words, u, d, &low);
    for (int c = 0; c < 3; c++) {
        volatile float more = low.d[c] * (1 - lose) + (push[c] - lose * d[c]);
        volatile float next_d = d[c] + more, part = next_d - d[c];
        low.d[c] = more - part;
        d[c] = next_d;
        volatile float way = low.u[c] + next_d, next = u[c] + way, went = next - u[c];
        low.u[c] = way - went;
        u[c] = next;
    }
    modal_tled_low_pack(&low, u, d, modal_tled_low_shift(n), words);
}

static void test_fall(void **ignored)
{
    (void)ignored;
    enum { STEPS = 1000000 };
    const double g[3] = {1e-7, -2.3e-8, -9.81e-7};
    float u[3] = {0, 0, 0}, d[3] = {0, 0, 0}, push[3];
    uint32_t words[2] = {0, 0};
    for (int c = 0; c < 3; c++) push[c] = (float)g[c];
    for (int k = 0; k < STEPS; k++) step(u, d, words, push, 0, k);
    for (int c = 0; c < 3; c++) { /* d = n g, u = n (n + 1) / 2 g */
        const double exact = (double)push[c] * STEPS, far = exact * (STEPS + 1) / 2;
        assert_true(fabs(d[c] - exact) <= 2 * FLT_EPSILON * fabs(exact));
        assert_true(fabs(u[c] - far) <= 2 * FLT_EPSILON * fabs(far));
    }
    /* damped: d comes to rest at push / lose, within what the damping's own number is rounded by */
    const float lose = 1e-6f;
    for (int k = 0; k < 15 * STEPS; k++) step(u, d, words, push, lose, k);
    for (int c = 0; c < 3; c++) assert_true(fabs(d[c] - (double)push[c] / lose) <= 1e-5 * fabs(push[c] / (double)lose));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pack), cmocka_unit_test(test_ends), cmocka_unit_test(test_fall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
