/* SPDX-License-Identifier: Apache-2.0 */
/* Dense symmetric eigenproblems, of easy and of graded matrices; and the same bits from every set of instructions
 * with fused multiply-add, for these and for whole solids. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/cpu.h"
#include "lib/base/memory.h"
#include "lib/modes/modes.h"
#include "lib/modes/problem.h"
#include "lib/modes/symmetric.h"
#include "tests/unit/solid_fixtures.h"

enum { MOST = 400 };
static double a[MOST * MOST], v[MOST * MOST], b[MOST * MOST], values[MOST], other[MOST], last[MOST * 8];

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

typedef enum kind { RANDOM, GRADED, ARROW, EQUAL, ZERO, TINY, N_KINDS } kind;

/* ARROW is what Lanczos starts again from: couplings of the converged ones that underflow when squared. */
static void fill(kind what, int n)
{
    uint64_t state = 7 + (uint64_t)n;
    memset(a, 0, sizeof a);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            const double x = uniform(&state);
            double value = 0;
            if (what == RANDOM) value = x;
            if (what == GRADED) value = x * pow(10, -12.0 * (i + j) / (2.0 * n));
            if (what == ARROW) value = i == j ? 1.0 / (1 + j) : i >= n - 8 ? x * pow(10, -330.0 * (n - j) / n) : 0;
            if (what == EQUAL) value = i == j ? 3 + (j >= n / 2) : 0;
            if (what == TINY) value = 1e-300 * x;
            a[j * n + i] = a[i * n + j] = value;
        }
}

static double inner(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void check(kind what, int n)
{
    double norm = DBL_MIN, rest = 0, skew = 0, moved = 0;
    fill(what, n);
    for (int i = 0; i < n * n; i++) norm = fmax(norm, fabs(a[i]));
    memcpy(v, a, sizeof v);
    memcpy(b, a, sizeof b);
    assert_int_equal(modal_symmetric_eigen(n, v, values, NULL), MODAL_OK);
    assert_int_equal(modal_symmetric_eigen_last(n, b, other, last, NULL), MODAL_OK);
    for (int k = 0; k < n; k++) {
        assert_true(k == 0 || values[k] >= values[k - 1]);
        assert_true(memcmp(&values[k], &other[k], sizeof *values) == 0);
        for (int i = 0; i < n; i++) {
            const double error = fabs(inner(n, a + i * n, v + k * n) - values[k] * v[k * n + i]) / norm;
            if (!(error <= rest)) rest = error;
            const double angle = fabs(inner(n, v + i * n, v + k * n) - (i == k));
            if (!(angle <= skew)) skew = angle;
        }
        for (int i = 0; i < 8; i++) {
            const double wanted = i < 8 - n ? 0 : v[k * n + n - 8 + i], got = last[8 * k + i];
            if (!(fabs(got - wanted) <= moved)) moved = fabs(got - wanted);
        }
    }
    if (!(rest <= 1e-14 * n && skew <= 1e-14 * n && moved <= 1e-13))
        fail_msg("kind %d, n %d: residual %.2e, orthogonality %.2e, last rows %.2e", what, n, rest, skew, moved);
}

static void test_accuracy(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 100, 257, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (kind what = 0; what < N_KINDS; what++) check(what, sizes[k]);
}

static void test_not_finite(void **state)
{
    (void)state;
    modal_error err = {0};
    for (int k = 0; k < 2; k++) {
        fill(RANDOM, 9);
        a[4 * 9 + 6] = k ? INFINITY : NAN;
        assert_int_equal(modal_symmetric_eigen(9, a, values, &err), MODAL_ERROR_NOT_CONVERGED);
        assert_non_null(strstr(err.message, "not finite"));
    }
}

static void test_general(void **state)
{
    (void)state;
    for (int n = 1; n <= 130; n += 43) {
        static double k[MOST * MOST], m[MOST * MOST];
        fill(RANDOM, n);
        for (int i = 0; i < n; i++) a[i * n + i] += 2 * n;
        memcpy(m, a, sizeof m);
        memcpy(b, a, sizeof b);
        fill(GRADED, n + 1);
        memcpy(k, a, sizeof k);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) k[j * n + i] = k[i * n + j];
        memcpy(v, k, sizeof v);
        assert_int_equal(modal_modes_small(n, v, b, values, NULL), MODAL_OK);
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++) {
                double mass = 0, stiffness = 0;
                for (int i = 0; i < n; i++) {
                    mass += v[p * n + i] * inner(n, m + i * n, v + q * n);
                    stiffness += v[p * n + i] * inner(n, k + i * n, v + q * n);
                }
                assert_true(fabs(mass - (p == q)) <= 1e-13);
                assert_true(fabs(stiffness - (p == q ? values[p] : 0)) <= 1e-14);
            }
        memcpy(b, m, sizeof b);
        b[(n - 1) * n + n - 1] = -1;
        modal_error err = {0};
        assert_int_equal(modal_modes_small(n, v, b, values, &err), MODAL_ERROR_NOT_CONVERGED);
    }
}

/* Everything that modalpack keeps of modes. */
static void solve(modal_modes_factor factor, int n_modes, modal_modes_result *result)
{
    const double size[3] = {1, 0.3, 0.2};
    modal_volume_mesh mesh;
    const modal_modes_options options = {
        .n_modes = n_modes, .n_threads = 2, .factor = factor, .proof = MODAL_PROOF_NEVER};
    solid_bar(&mesh, 14, 6, 5, size, 1, 2e11, 0.3, 7800);
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, result, NULL, NULL), MODAL_OK);
    modal_volume_mesh_free(&mesh);
}

static void test_same_bits(void **state)
{
    (void)state;
    const modal_simd widest = modal_cpu_simd();
    if (!modal_cpu_simd_select(MODAL_SIMD_AVX512)) {
        print_message("this processor, or this build, has no AVX-512 to compare\n");
        skip();
    }
    for (int k = 0; k < 3; k++) {
        modal_modes_result wide, narrow;
        const modal_modes_factor factor = k == 1 ? MODAL_FACTOR_FLOAT32 : MODAL_FACTOR_FLOAT64;
        const int n_modes = k == 2 ? 40 : 12;
        modal_cpu_simd_select(MODAL_SIMD_AVX512);
        solve(factor, n_modes, &wide);
        modal_cpu_simd_select(MODAL_SIMD_AVX2);
        solve(factor, n_modes, &narrow);
        assert_memory_equal(wide.eigenvalues, narrow.eigenvalues, (size_t)n_modes * sizeof(double));
        assert_memory_equal(wide.residuals, narrow.residuals, (size_t)n_modes * sizeof(double));
        assert_memory_equal(wide.modes, narrow.modes, (size_t)(3 * wide.n_nodes * n_modes) * sizeof(double));
        modal_modes_result_free(&wide);
        modal_modes_result_free(&narrow);
    }
    for (kind what = 0; what < N_KINDS; what++) {
        fill(what, MOST - 3);
        memcpy(v, a, sizeof v);
        memcpy(b, a, sizeof b);
        modal_cpu_simd_select(MODAL_SIMD_AVX512);
        assert_int_equal(modal_symmetric_eigen(MOST - 3, v, values, NULL), MODAL_OK);
        modal_cpu_simd_select(MODAL_SIMD_AVX2);
        assert_int_equal(modal_symmetric_eigen(MOST - 3, b, other, NULL), MODAL_OK);
        assert_memory_equal(v, b, sizeof v);
    }
    modal_cpu_simd_select(widest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accuracy), cmocka_unit_test(test_not_finite),
                                       cmocka_unit_test(test_general), cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
