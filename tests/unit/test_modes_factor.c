/* SPDX-License-Identifier: Apache-2.0 */
/* Modes by a factor in floats: the same as by one in doubles; and which of them the memory limit chooses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/fem/assemble.h"
#include "lib/modes/factor.h"
#include "lib/modes/modes.h"
#include "tests/unit/element_meshes.h"

static const double bar_size[3] = {1.0, 0.2, 0.15};

static void solve(const modal_volume_mesh *mesh, int n_fixed, modal_modes_options options,
                  modal_modes_factor factor, modal_modes_result *result)
{
    modal_error err = {0};
    int32_t fixed[64];
    for (int i = 0; i < n_fixed; i++) fixed[i] = i;
    options.factor = factor;
    const modal_status status = modal_modes_solve(mesh, fixed, n_fixed, &options, result, NULL, &err);
    if (status != MODAL_OK) print_message("%s\n", err.message);
    assert_int_equal(status, MODAL_OK);
}

/* Every mode of b lies in the span of a's, but for `tolerance`, in the norm of M; the last few may belong
 * to what the other has cut off. */
static void same_space(const modal_volume_mesh *mesh, const modal_modes_result *a, const modal_modes_result *b,
                       int n_compared, double tolerance)
{
    modal_fem_system system;
    const int r = a->n_modes;
    const int64_t n = 3 * mesh->n_nodes;
    assert_int_equal(modal_fem_assemble(mesh, NULL, NULL, 0, MODAL_MASS_CONSISTENT, 1, &system, NULL), MODAL_OK);
    double *mx = malloc((size_t)(r * n) * sizeof *mx);
    modal_identity_blocks_multiply(&system.pattern, system.mass, r, b->modes, mx, 1);
    for (int k = 0; k < n_compared; k++) {
        double inside = 0;
        for (int j = 0; j < r; j++) {
            double product = 0;
            for (int64_t i = 0; i < n; i++) product += a->modes[j * n + i] * mx[k * n + i];
            inside += product * product;
        }
        assert_true(fabs(inside - 1) <= tolerance);
    }
    free(mx);
    modal_fem_system_free(&system);
}

/* Clamped and free, one part and three, soft and stiff together, in millimetres and in kilometres, slender. */
static void test_floats_equal_doubles(void **state)
{
    (void)state;
    static const struct {
        int cells[3];
        double size[3], young;
        int n_fixed, n_parts;
        double scale, stiffer, tolerance;
    } cases[] = {
        {{12, 3, 3}, {1, 0.2, 0.15}, 2e11, 16, 1, 1, 1, 1e-10}, {{12, 3, 3}, {1, 0.2, 0.15}, 2e11, 0, 1, 1, 1, 1e-10},
        {{9, 4, 4}, {1, 0.2, 0.2}, 2e11, 0, 3, 1, 1, 1e-10},    {{8, 3, 3}, {1, 0.2, 0.15}, 1e12, 16, 1, 1e-3, 1, 1e-10},
        {{8, 3, 3}, {1, 0.2, 0.15}, 1e3, 0, 1, 1e3, 1, 1e-10},  {{12, 3, 3}, {1, 0.2, 0.15}, 1e7, 16, 1, 1, 1e6, 1e-8},
        {{150, 2, 2}, {30, 0.2, 0.2}, 2e11, 9, 1, 1, 1, 1e-6},  {{200, 1, 1}, {20, 0.1, 0.1}, 2e11, 4, 1, 1, 1, 1e-5},
    };
    for (size_t test = 0; test < sizeof cases / sizeof *cases; test++) {
        modal_volume_mesh mesh;
        modal_modes_result doubles, floats;
        modal_material two[2];
        const modal_modes_options options = {.n_modes = 12, .n_threads = 1, .solver = MODAL_MODES_LANCZOS};
        const int *cells = cases[test].cells;
        solid_bar(&mesh, cells[0], cells[1], cells[2], cases[test].size, cases[test].n_parts, cases[test].young, 0.3,
                  1000);
        solid_scale(&mesh, cases[test].scale);
        modal_material *const own = mesh.materials;
        if (cases[test].stiffer > 1) { /* every second element */
            two[0] = two[1] = own[0];
            two[1].young *= cases[test].stiffer;
            mesh.materials = two;
            mesh.n_materials = 2;
            for (int64_t e = 0; e < mesh.n_elements; e += 2) mesh.element_material[e] = 1;
        }
        solve(&mesh, cases[test].n_fixed, options, MODAL_FACTOR_FLOAT64, &doubles);
        solve(&mesh, cases[test].n_fixed, options, MODAL_FACTOR_FLOAT32, &floats);
        assert_int_equal(doubles.factor_float32, 0);
        assert_int_equal(floats.factor_float32, 1);
        assert_int_equal(doubles.n_inner_solves, 0);
        assert_true(floats.n_inner_solves >= 2 * floats.n_solves);
        assert_true(floats.sturm.n_below < 0 && doubles.sturm.n_below >= 12);
        assert_int_equal(floats.n_rigid, doubles.n_rigid);
        assert_true(floats.orthogonality <= 1e-10);
        double worst = 0;
        for (int k = 0; k < 12; k++) {
            const double error = fabs(floats.eigenvalues[k] / doubles.eigenvalues[k] - 1);
            if (!(error <= worst)) worst = error;
            /* the same level: 1e-9, or what rounding leaves of slender and mixed ones */
            assert_true(floats.residuals[k] <= fmax(1e-9, 4 * doubles.residuals[k]));
        }
        print_message("case %zu: eigenvalues to %.1e, %.1f solves with floats for one\n", test, worst,
                      (double)floats.n_inner_solves / (double)floats.n_solves);
        assert_true(worst <= cases[test].tolerance);
        same_space(&mesh, &doubles, &floats, 9, cases[test].tolerance);
        modal_modes_result_free(&doubles);
        modal_modes_result_free(&floats);
        mesh.materials = own;
        mesh.n_materials = 1;
        modal_volume_mesh_free(&mesh);
    }
}

/* Every element type and their mixture, both masses, with some components held of some nodes. */
static void test_elements(void **state)
{
    (void)state;
    const int cells[3] = {3, 2, 2};
    const uint8_t components[12] = {7, 1, 2, 4, 3, 5, 6, 7, 1, 2, 4, 3};
    for (int type = 0; type < MESH_KINDS; type++)
        for (int rule = 0; rule < 2; rule++) {
            modal_volume_mesh mesh;
            modal_modes_result doubles, floats;
            const modal_modes_options options = {.n_modes = 8, .n_threads = 1, .solver = MODAL_MODES_LANCZOS,
                                                 .mass_rule = (modal_mass_rule)rule, .fixed_components = components};
            element_mesh(&mesh, type, cells, NULL, 0);
            solve(&mesh, 12, options, MODAL_FACTOR_FLOAT64, &doubles);
            solve(&mesh, 12, options, MODAL_FACTOR_FLOAT32, &floats);
            for (int k = 0; k < 8; k++) {
                assert_true(fabs(floats.eigenvalues[k] / doubles.eigenvalues[k] - 1) <= 1e-10);
                assert_true(floats.residuals[k] <= 1e-9);
            }
            modal_modes_result_free(&doubles);
            modal_modes_result_free(&floats);
            modal_volume_mesh_free(&mesh);
        }
}

/* Sixteen copies of every mode: a block shows eight, and there is no count. */
static void test_many_equal_modes(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result doubles, floats;
    const modal_modes_options options = {.n_modes = 40, .n_threads = 1};
    const double size[3] = {1, 0.6, 0.7};
    solid_bar(&mesh, 3, 3, 3, size, 16, 2e11, 0.3, 7800);
    solve(&mesh, 0, options, MODAL_FACTOR_FLOAT64, &doubles);
    solve(&mesh, 0, options, MODAL_FACTOR_FLOAT32, &floats);
    assert_int_equal(floats.n_rigid, 96);
    for (int k = 0; k < 40; k++)
        assert_true(fabs(floats.eigenvalues[k] / doubles.eigenvalues[k] - 1) <= 1e-9);
    modal_modes_result_free(&doubles);
    modal_modes_result_free(&floats);
    modal_volume_mesh_free(&mesh);
}

static void test_same_bytes(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result a, b;
    modal_modes_options options = {.n_modes = 8, .n_threads = 1};
    solid_bar(&mesh, 24, 7, 7, bar_size, 1, 2e11, 0.3, 7800);
    solve(&mesh, 0, options, MODAL_FACTOR_FLOAT32, &a);
    options.n_threads = 2;
    solve(&mesh, 0, options, MODAL_FACTOR_FLOAT32, &b);
    assert_memory_equal(a.modes, b.modes, (size_t)(24 * mesh.n_nodes) * sizeof(double));
    assert_memory_equal(a.residuals, b.residuals, 8 * sizeof(double));
    modal_modes_result_free(&a);
    modal_modes_result_free(&b);
    modal_volume_mesh_free(&mesh);
}

static void refuses(const modal_volume_mesh *mesh, const modal_modes_options *options, modal_status status,
                    const char *says)
{
    modal_modes_result result;
    modal_error err = {0};
    assert_int_equal(modal_modes_solve(mesh, NULL, 0, options, &result, NULL, &err), status);
    print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, says));
    assert_null(result.modes);
}

/* Doubles, doubles with a smaller basis, floats, floats with a smaller one, no. */
static void test_limit_chooses(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result doubles, result;
    modal_modes_options options = {.n_modes = 4, .n_threads = 1};
    int n_floats = 0, n_doubles = 0, refused = 0;
    double fit = 0;
    solid_bar(&mesh, 14, 10, 10, bar_size, 1, 2e11, 0.3, 7800);
    solve(&mesh, 0, options, MODAL_FACTOR_AUTO, &doubles);
    assert_int_equal(doubles.factor_float32, 0);
    for (int percent = 95; percent >= 25 && !refused; percent -= 10) {
        modal_error err = {0};
        options.memory_limit = 0.01 * percent * doubles.peak_bytes;
        const modal_status status = modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err);
        if (status != MODAL_OK) {
            assert_int_equal(status, MODAL_ERROR_MEMORY);
            assert_non_null(strstr(err.message, " in floats, "));
            refused = 1;
            break;
        }
        assert_true(result.peak_bytes <= options.memory_limit);
        assert_true(result.factor_float32 || n_floats == 0);
        fit = options.memory_limit;
        n_floats += result.factor_float32;
        n_doubles += !result.factor_float32;
        for (int k = 0; k < 4; k++) assert_true(fabs(result.eigenvalues[k] / doubles.eigenvalues[k] - 1) <= 1e-10);
        modal_modes_result_free(&result);
    }
    assert_true(n_doubles > 0 && n_floats > 0 && refused);
    /* where only floats fit, what needs doubles is refused with their figure */
    options.memory_limit = fit;
    options.factor = MODAL_FACTOR_FLOAT64;
    refuses(&mesh, &options, MODAL_ERROR_MEMORY, " in doubles, ");
    options.limit_is_available = 1;
    refuses(&mesh, &options, MODAL_ERROR_MEMORY, "the machine has ");
    options.limit_is_available = 0;
    options.factor = MODAL_FACTOR_AUTO;
    options.proof = MODAL_PROOF_ALWAYS;
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, NULL), MODAL_OK);
    assert_true(result.factor_float32 && result.sturm.n_below >= 10 && result.peak_bytes <= options.memory_limit);
    modal_modes_result_free(&result);
    modal_modes_result_free(&doubles);
    modal_volume_mesh_free(&mesh);
}

/* K of a free body is singular, and floats see six pivots of noise: the diagonal is lifted, and what comes out is still a
 * preconditioner, symmetric and positive definite. */
static void test_lost_pivots_are_lifted(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_fem_system system;
    modal_factor *factor = NULL;
    modal_factor_report report = {0};
    int definite = 0;
    int64_t pivot = 0;
    solid_bar(&mesh, 6, 3, 3, bar_size, 1, 2e11, 0.3, 7800);
    assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_CONSISTENT, 1, &system, NULL), MODAL_OK);
    assert_int_equal(modal_factor_new(&system, 1, &factor, &report, NULL, NULL), MODAL_OK);
    modal_factor_use(factor, MODAL_FLOAT32);
    assert_int_equal(modal_factor_compute(factor, 0, &definite, &pivot, &report, NULL, NULL), MODAL_OK);
    assert_int_equal(definite, 1);
    assert_true(report.lift > 0 && report.lift < 1e-5 && report.n_raised == 0);
    const int64_t n = 3 * system.n_free;
    double *b = calloc((size_t)(8 * n), sizeof *b), *x = calloc((size_t)(8 * n), sizeof *x);
    for (int64_t i = 0; i < 8 * n; i++) b[i] = (double)(i * 7919 % 1009) / 1009 - 0.5;
    assert_int_equal(modal_factor_solve(factor, 8, b, x, NULL), MODAL_OK);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j <= i; j++) {
            double ij = 0, ji = 0, ii = 0, jj = 0;
            for (int64_t k = 0; k < n; k++) {
                ij += b[i * n + k] * x[j * n + k], ji += b[j * n + k] * x[i * n + k];
                ii += b[i * n + k] * x[i * n + k], jj += b[j * n + k] * x[j * n + k];
            }
            assert_true(ii > 0 && fabs(ij - ji) <= 1e-9 * sqrt(ii * jj));
        }
    free(b), free(x);
    modal_factor_delete(factor);
    modal_fem_system_free(&system);
    modal_volume_mesh_free(&mesh);
}

/* Two blocks that share an edge only: a mode of zero that is no rigid motion is no mode. */
static void test_hinge_is_refused(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    const double size[3] = {1, 1, 1};
    const modal_modes_options options = {
        .n_modes = 6, .n_threads = 1, .solver = MODAL_MODES_LANCZOS, .factor = MODAL_FACTOR_FLOAT32};
    int32_t left[4];
    solid_bar(&mesh, 3, 3, 3, size, 2, 1e6, 0.3, 1000);
    for (int i = 0; i < 4; i++) {
        left[i] = 64 + 16 * i; /* the nodes of the second block's edge, unused from here on, hence fixed */
        for (int64_t k = 0; k < 4 * mesh.n_elements; k++)
            if (mesh.element_nodes[k] == left[i]) mesh.element_nodes[k] = 16 * i + 15;
    }
    for (int64_t i = 64; i < 128; i++) {
        mesh.nodes[3 * i + 1] -= 0.5;
        mesh.nodes[3 * i + 2] += 1;
    }
    assert_int_equal(modal_modes_solve(&mesh, left, 4, &options, &result, NULL, &err), MODAL_ERROR_NOT_CONVERGED);
    print_message("%s\n", err.message);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats_equal_doubles),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_many_equal_modes),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_limit_chooses),
        cmocka_unit_test(test_lost_pivots_are_lifted),
        cmocka_unit_test(test_hinge_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
