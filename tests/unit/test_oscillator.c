/* SPDX-License-Identifier: Apache-2.0 */
/* The transition of one oscillator against the matrix exponential of its system and closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/oscillators/oscillator.h"
#include "tests/unit/oscillator_reference.h"

static modal_transition transition(double k, double d, double h)
{
    modal_oscillator o;
    modal_transition t;
    modal_oscillator_set(&o, k, d);
    modal_oscillator_transition(&o, h, &t);
    return t;
}

static void test_transition_is_the_matrix_exponential(void **state)
{
    (void)state;
    const double phases[] = {0, 1e-300, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.99, 1, 1.01, 1.7, 3, 10, 40};
    const double ratios[] = {0,         1e-9,      1e-3,     0.1,       0.5,     0.9,
                             1 - 1e-3,  1 - 1e-6,  1 - 1e-9, 1 - 1e-12, 1,       1 + 1e-12,
                             1 + 1e-9,  1 + 1e-6,  1 + 1e-3, 1.5,       3,       30};
    const double steps[] = {1e-4, 0.04, 1, 300};
    int n = 0;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        for (size_t j = 0; j < sizeof ratios / sizeof *ratios; j++)
            for (size_t l = 0; l < sizeof steps / sizeof *steps; l++, n++) {
                double h = steps[l], w = phases[i] / h, k = w * w, d = 2 * ratios[j] * w;
                modal_transition t = transition(k, d, h);
                long double e[4][4], H = h;
                exponential(d * H, k * H * H, e);
                /* the scale of the motion: what is left of it after h */
                long double scale = hypotl(hypotl(e[0][0], e[0][1]), hypotl(e[1][0], e[1][1]));
                if (scale > 1) scale = 1;
                const long double eps = 5e-15L;
                const long double own = 1e-18L; /* the rounding of the reference */
                check_close(t.qq, e[0][0], eps * scale + own, "qq");
                check_close(t.qv / h, e[0][1], eps * scale + own, "qv");
                check_close(t.vq * h, e[1][0], (eps * scale + own) * (1 + k * H * H), "vq");
                check_close(t.vv, e[1][1], (eps * scale + own) * (1 + d * H), "vv");
                /* the static answer 1/k bounds the two, so their own size is what counts */
                check_close(t.step / h / h, e[0][2], eps * (fabsl(e[0][2]) + 1 / (1 + k * H * H)),
                            "step");
                check_close(t.ramp / h / h / h, e[0][3], eps * (fabsl(e[0][3])), "ramp");
            }
    assert_int_equal(n, 14 * 18 * 4);
}

static void test_particle_without_stiffness(void **state)
{
    (void)state;
    const double h = 0.37;
    modal_transition t = transition(0, 0, h);
    assert_true(t.qq == 1 && t.qv == h && t.vq == 0 && t.vv == 1);
    check_close(t.step, (long double)h * h / 2, 1e-17L, "step");
    check_close(t.ramp, (long double)h * h * h / 6, 1e-17L, "ramp");
    const double drags[] = {1e-9, 1e-3, 0.5, 5, 5.5, 100, 1e8};
    for (size_t i = 0; i < sizeof drags / sizeof *drags; i++) {
        long double d = drags[i], x = d * h, e[4][4];
        t = transition(0, drags[i], h);
        exponential(x < 1000 ? x : 0, 0, e);
        long double impulse = x < 1000 ? e[0][1] * h : 1 / d;
        long double step = x < 1000 ? e[0][2] * h * h : h / d - 1 / d / d;
        long double ramp = x < 1000 ? e[0][3] * h * h * h : (h * h / 2 - step) / d;
        assert_true(t.qq == 1 && t.vq == 0);
        check_close(t.qv, impulse, 1e-14L * impulse, "impulse response");
        check_close(t.vv, expl(-x), 1e-15L, "rate");
        check_close(t.step, step, 1e-14L * step, "step");
        check_close(t.ramp, ramp, 1e-14L * ramp, "ramp");
    }
}

static void test_critical_damping_is_continuous(void **state)
{
    (void)state;
    const double w = 7, h = 0.3; /* sinc-like forms; h = 0.01 takes the series */
    for (int small = 0; small < 2; small++) {
        double step = small ? 0.01 : h;
        modal_transition middle = transition(w * w, 2 * w, step);
        closed exact = closed_form(49, 14, step);
        check_close(middle.qv, exact.impulse, 1e-15L, "critical");
        for (double delta = 1e-16; delta < 2e-3; delta *= 10)
            for (int sign = -1; sign <= 1; sign += 2) {
                modal_transition t = transition(w * w, 2 * w * (1 + sign * delta), step);
                double most = 20 * delta + 1e-15;
                check_close(t.qq, middle.qq, most, "qq");
                check_close(t.qv, middle.qv, most, "qv");
                check_close(t.vv, middle.vv, most * 10, "vv");
                check_close(t.step, middle.step, most, "step");
                check_close(t.ramp, middle.ramp, most, "ramp");
            }
    }
}

static void test_stiff_and_slow_extremes(void **state)
{
    (void)state;
    const double ratios[] = {0, 0.01, 0.999999, 1, 1.000001, 2, 1e6};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        for (double w = 1e4; w < 2e8; w *= 100) {
            const double h = 1, k = w * w, d = 2 * ratios[i] * w;
            modal_transition t = transition(k, d, h);
            closed c = closed_form(k, d, h);
            char what[64];
            snprintf(what, sizeof what, "zeta %g, omega h %g", ratios[i], w);
            /* the closed form has the rounding of long double in its phase */
            long double eps = 1e-14L + w * 1e-19L;
            check_close(t.qv * w, c.impulse * w, eps, what);
            check_close(t.vv, c.rate, eps, what);
            check_close(t.step * k, c.step * k, eps, what);
            check_close(t.ramp * k, c.ramp * k, eps, what);
            check_close(t.qq, 1 - c.step * k, eps, what);
        }
    /* far past what squares survive */
    const double huge[] = {1e-300, 1, 1e150, 1e300};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int l = 0; l < 4; l++) {
                if (i == 3 && l == 3) continue; /* the time itself overflows the ramp */
                double h = l == 3 ? 1e100 : huge[l];
                modal_transition t = transition(huge[i], huge[j], h);
assert_true(fabs(t.qq) <= 1 && fabs(t.vv) <= 1 && isfinite(t.qv));
                assert_true(isfinite(t.step) && isfinite(t.vq));
            }
}

static void test_phase_after_long_times(void **state)
{
    (void)state;
    /* omega is no number of float64: sqrt(2) loses 1e-16 of itself, times 1e9 rad */
    const double hours = 7e8;
    check_close(transition(2, 0, hours).qq, cosl(sqrtl(2) * (long double)hours), 1e-9L, "irrational");
    const double minutes = 3e5;
    check_close(transition(2, 0, minutes).qq, cosl(sqrtl(2) * (long double)minutes), 1e-13L,
                "irrational");
}

/* The convolution of load and impulse response by Gauss's rule with five points in every panel. */
static void test_harmonic_response(void **state)
{
    (void)state;
    const long double nodes[] = {-0.906179845938663992797626878299393L, -0.538469310105683091036314420700209L, 0,
                                 0.538469310105683091036314420700209L, 0.906179845938663992797626878299393L};
    const long double weights[] = {0.236926885056189087514264040719917L, 0.478628670499366468041291514835638L,
                                   0.568888888888888888888888888888889L, 0.478628670499366468041291514835638L,
                                   0.236926885056189087514264040719917L};
    const double omegas[] = {0.3, 1, 1.7, 12, 40}, ratios[] = {0, 0.01, 0.5, 1 - 1e-9, 1, 1 + 1e-6, 3};
    const double loads[] = {0, 1e-5, 0.3, 1, 1 + 1e-9, 1.7, 12, 12.001, 55}, h = 0.71;
    enum { PANELS = 300 };
    for (size_t i = 0; i < sizeof omegas / sizeof *omegas; i++)
        for (size_t j = 0; j < sizeof ratios / sizeof *ratios; j++)
            for (size_t l = 0; l < sizeof loads / sizeof *loads; l++) {
                const double k = omegas[i] * omegas[i], d = 2 * ratios[j] * omegas[i], w = loads[l];
                long double q[2] = {0}, v[2] = {0};
                modal_oscillator o;
                modal_transition t;
                modal_oscillator_set(&o, k, d);
                for (int p = 0; p < PANELS; p++)
                    for (int n = 0; n < 5; n++) {
                        const long double s = (p + 0.5L * (1 + nodes[n])) * h / PANELS;
                        const long double part = 0.5L * weights[n] * h / PANELS;
                        modal_oscillator_transition(&o, (double)(h - s), &t);
                        q[0] += part * t.qv * cosl(w * s);
                        q[1] += part * t.qv * sinl(w * s);
                        v[0] += part * t.vv * cosl(w * s);
                        v[1] += part * t.vv * sinl(w * s);
                    }
                double got_q[2], got_v[2];
                modal_oscillator_harmonic(&o, h, w, got_q, got_v);
                for (int c = 0; c < 2; c++) {
                    check_close(got_q[c], q[c], 2e-14L / (1 + k), "q");
                    check_close(got_v[c], v[c], 2e-14L, "q'");
                }
            }
    /* at rest at once, and a stiff mode that only follows */
    double q[2], v[2];
    modal_oscillator o;
    modal_oscillator_set(&o, 4, 0.1);
    modal_oscillator_harmonic(&o, 0, 3, q, v);
    assert_true(q[0] == 0 && q[1] == 0 && v[0] == 0 && v[1] == 0);
    modal_oscillator_set(&o, 1e12, 2e6);
    modal_oscillator_harmonic(&o, 0.1, 2, q, v);
    /* u'' + d u' + k u = e^(iwt): u = e^(iwt) / (k - w^2 + i w d) */
    const double re = 1e12 - 4, im = 4e6, size = re * re + im * im;
    check_close(q[0], (re * cos(0.2) + im * sin(0.2)) / size, 1e-26L, "stiff, sine");
    check_close(q[1], (re * sin(0.2) - im * cos(0.2)) / size, 1e-26L, "stiff, cosine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transition_is_the_matrix_exponential),
        cmocka_unit_test(test_particle_without_stiffness),
        cmocka_unit_test(test_critical_damping_is_continuous),
        cmocka_unit_test(test_stiff_and_slow_extremes),
        cmocka_unit_test(test_phase_after_long_times),
        cmocka_unit_test(test_harmonic_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
