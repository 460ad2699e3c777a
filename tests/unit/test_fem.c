/* SPDX-License-Identifier: Apache-2.0 */
/* Element matrices, assembly and rigid motions against exact statements about them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/fem/assemble.h"
#include "lib/fem/rigid.h"
#include "lib/fem/tetrahedron.h"
#include "lib/laws/elasticity.h"
#include "tests/unit/solid_fixtures.h"

static const double unit_size[3] = {1, 1, 1};

/* A cube of 4 x 4 x 4 cells whose inner nodes are moved about, so that no element is special. */
static void irregular_cube(modal_volume_mesh *mesh, double poisson)
{
    solid_bar(mesh, 4, 4, 4, unit_size, 1, 2e5, poisson, 3);
    unsigned state = 7;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        double *x = mesh->nodes + 3 * i;
        int inside = 1;
        for (int p = 0; p < 3; p++) inside &= x[p] > 0.01 && x[p] < 0.99;
        for (int p = 0; p < 3; p++) {
            state = state * 1664525u + 1013904223u;
            if (inside) x[p] += 0.08 * ((double)(state >> 8) / (1 << 24) - 0.5);
        }
    }
}

static double norm(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Gaussian elimination with partial pivoting, a [n, n] row-major; the solution replaces b. */
static void solve_dense(int64_t n, double *a, double *b)
{
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) pivot = r;
        for (int64_t k = 0; k < n; k++) {
            const double t = a[c * n + k];
            a[c * n + k] = a[pivot * n + k];
            a[pivot * n + k] = t;
        }
        const double t = b[c];
        b[c] = b[pivot];
        b[pivot] = t;
        for (int64_t r = c + 1; r < n; r++) {
            const double f = a[r * n + c] / a[c * n + c];
            for (int64_t k = c; k < n; k++) a[r * n + k] -= f * a[c * n + k];
            b[r] -= f * b[c];
        }
    }
    for (int64_t c = n - 1; c >= 0; c--) {
        for (int64_t k = c + 1; k < n; k++) b[c] -= a[c * n + k] * b[k];
        b[c] /= a[c * n + c];
    }
}

/* The whole K as a dense matrix [3 n, 3 n]. */
static double *expand_stiffness(const modal_fem_system *system)
{
    const int64_t n = 3 * system->n_free;
    double *k = calloc((size_t)(n * n), sizeof *k);
    for (int64_t j = 0; j < system->n_free; j++)
        for (int64_t at = system->pattern.offsets[j]; at < system->pattern.offsets[j + 1]; at++)
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++) {
                    const int64_t row = 3 * (int64_t)system->pattern.rows[at] + p, column = 3 * j + q;
                    k[row * n + column] = k[column * n + row] = system->stiffness[9 * at + 3 * p + q];
                }
    return k;
}

static void test_element_matrices(void **state)
{
    (void)state;
    const double x[4][3] = {{0.1, 0, 0}, {1.2, 0.3, 0}, {0.2, 0.9, -0.1}, {0, 0.2, 1.1}};
    const double *corners[4] = {x[0], x[1], x[2], x[3]}, *turned[4] = {x[0], x[2], x[1], x[3]};
    double k[144], other[144], gradients[4][3];
    const double volume = modal_tetrahedron_gradients(corners, gradients);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) { /* N_a (x_b) - N_a (x_0) = delta_ab - delta_a0 */
            double value = 0;
            for (int p = 0; p < 3; p++) value += gradients[a][p] * (x[b][p] - x[0][p]);
            assert_true(fabs(value - (a == b) + (a == 0)) <= 1e-14);
        }
    modal_tetrahedron_stiffness(corners, 3.0, 0.3, k);
    for (int r = 0; r < 12; r++)
        for (int c = 0; c < 12; c++) assert_true(k[12 * r + c] == k[12 * c + r]);
    assert_true(fabs(modal_tetrahedron_gradients(turned, gradients) - volume) <= 1e-15);
    modal_tetrahedron_stiffness(turned, 3.0, 0.3, other);
    assert_true(fabs(other[12 * 3 + 6] - k[12 * 6 + 3]) <= 1e-14 * norm(k, 144));
    double sums[2] = {0};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            sums[0] += modal_tetrahedron_mass_entry(5.0, MODAL_MASS_CONSISTENT, a == b);
            sums[1] += modal_tetrahedron_mass_entry(5.0, MODAL_MASS_LUMPED, a == b);
        }
    assert_true(fabs(sums[0] - 5) <= 1e-14 && fabs(sums[1] - 5) <= 1e-14);
    assert_true(modal_tetrahedron_mass_entry(20.0, MODAL_MASS_CONSISTENT, 1) == 2.0);
}

/* A linear displacement of the boundary is continued into the inside exactly, and its energy is that of
 * the constant strain. */
static void test_patch(void **state)
{
    (void)state;
    static const double gradient[3][3] = {{1e-3, 2e-3, -1e-3}, {0.5e-3, -1e-3, 3e-3}, {0, 2e-3, 4e-3}};
    const double poissons[3] = {0.0, 0.3, 0.49};
    for (int test = 0; test < 3; test++) {
        modal_volume_mesh mesh;
        modal_fem_system system;
        irregular_cube(&mesh, poissons[test]);
        assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_LUMPED, 2, &system, NULL),
                         MODAL_OK);
        const int64_t n = 3 * mesh.n_nodes;
        double *k = expand_stiffness(&system), *u = calloc((size_t)n, sizeof *u);
        double *ku = calloc((size_t)n, sizeof *ku);
        int64_t *inside = calloc((size_t)n, sizeof *inside), m = 0;
        for (int64_t i = 0; i < n; i++) {
            const double *x = mesh.nodes + 3 * (i / 3);
            int is_inside = 1;
            u[i] = 0.01;
            for (int p = 0; p < 3; p++) {
                u[i] += gradient[i % 3][p] * x[p];
                is_inside &= x[p] > 1e-6 && x[p] < 1 - 1e-6;
            }
            if (is_inside) inside[m++] = i;
        }
        assert_int_equal(m, 81);
        double *kff = calloc((size_t)(m * m), sizeof *kff), *rhs = calloc((size_t)m, sizeof *rhs);
        for (int64_t r = 0; r < m; r++) {
            int64_t c = 0;
            for (int64_t j = 0; j < n; j++) {
                if (c < m && inside[c] == j) kff[r * m + c++] = k[inside[r] * n + j];
                else rhs[r] -= k[inside[r] * n + j] * u[j];
            }
        }
        solve_dense(m, kff, rhs);
        for (int64_t r = 0; r < m; r++)
            assert_true(fabs(rhs[r] - u[inside[r]]) <= 1e-12 * norm(u, n));
        double lambda, mu, trace = 0, squares = 0, energy = 0;
        modal_lame_constants(2e5, poissons[test], &lambda, &mu);
        for (int p = 0; p < 3; p++) {
            trace += gradient[p][p];
            for (int q = 0; q < 3; q++)
                squares += pow((gradient[p][q] + gradient[q][p]) / 2, 2);
        }
        modal_blocks_multiply(&system.pattern, system.stiffness, 1, u, ku, 1);
        for (int64_t i = 0; i < n; i++) energy += u[i] * ku[i] / 2;
        const double exact = lambda / 2 * trace * trace + mu * squares; /* times the volume 1 */
        assert_true(fabs(energy - exact) <= 1e-11 * exact);
        free(k), free(u), free(ku), free(inside), free(kff), free(rhs);
        modal_fem_system_free(&system);
        modal_volume_mesh_free(&mesh);
    }
}

/* K takes translations and infinitesimal rotations to zero; M holds the whole mass. */
static void test_rigid_motions_and_mass(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    irregular_cube(&mesh, 0.3);
    for (int rule = 0; rule < 2; rule++) {
        modal_fem_system system;
        modal_rigid_space rigid;
        assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, (modal_mass_rule)rule, 1, &system, NULL),
                         MODAL_OK);
        assert_int_equal(modal_rigid_space_build(&mesh, &system, 1, &rigid, NULL), MODAL_OK);
        const int64_t n = 3 * mesh.n_nodes;
        double *x = calloc((size_t)(6 * n), sizeof *x), *y = calloc((size_t)(6 * n), sizeof *y);
        for (int64_t i = 0; i < mesh.n_nodes; i++)
            for (int k = 0; k < 3; k++) {
                const double *c = mesh.nodes + 3 * i;
                x[k * n + 3 * i + k] = 1;
                x[(3 + k) * n + 3 * i + (k + 1) % 3] = -c[(k + 2) % 3];
                x[(3 + k) * n + 3 * i + (k + 2) % 3] = c[(k + 1) % 3];
            }
        const double size = norm(system.stiffness, 9 * modal_block_count(&system.pattern));
        modal_blocks_multiply(&system.pattern, system.stiffness, 6, x, y, 2);
        for (int k = 0; k < 6; k++) assert_true(norm(y + k * n, n) <= 1e-14 * size * norm(x + k * n, n));
        modal_identity_blocks_multiply(&system.pattern, system.mass, 6, x, y, 2);
        double sum = 0, nodal = 0;
        for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
        for (int64_t i = 0; i < mesh.n_nodes; i++) {
            nodal += system.nodal_mass[i];
            assert_true(fabs(system.nodal_mass[i] - y[3 * i]) <= 1e-14);
        }
        assert_true(fabs(sum - 3) <= 1e-13 && fabs(nodal - 3) <= 1e-13);
        assert_true(fabs(system.total_mass - 3) <= 1e-13);
        /* the six are in the span of the basis, and nothing else is taken out */
        assert_int_equal(rigid.n_rigid, 6);
        modal_rigid_remove(&rigid, 6, x);
        assert_true(norm(x, 6 * n) <= 1e-12);
        for (int64_t i = 0; i < n; i++) x[i] = (double)(i % 7);
        const double before = norm(x, n);
        modal_rigid_remove(&rigid, 1, x);
        assert_true(norm(x, n) > 0.1 * before);
        free(x), free(y);
        modal_rigid_space_free(&rigid);
        modal_fem_system_free(&system);
    }
    modal_volume_mesh_free(&mesh);
}

/* Fixed rows and columns are left out of the same matrix; any number of threads gives the same bytes. */
static void test_fixed_nodes_and_threads(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_fem_system whole, part, again;
    irregular_cube(&mesh, 0.3);
    const int32_t fixed[4] = {31, 0, 124, 31};
    assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_CONSISTENT, 1, &whole, NULL),
                     MODAL_OK);
    assert_int_equal(modal_fem_assemble(&mesh, fixed, NULL, 4, MODAL_MASS_CONSISTENT, 1, &part, NULL),
                     MODAL_OK);
    assert_int_equal(part.n_free, mesh.n_nodes - 3);
    assert_int_equal(part.free_index[31], -1);
    double *k = expand_stiffness(&whole), *kff = expand_stiffness(&part);
    const int64_t n = 3 * whole.n_free, m = 3 * part.n_free;
    for (int64_t r = 0; r < m; r++)
        for (int64_t c = 0; c < m; c++)
            assert_true(kff[r * m + c] == k[(3 * (int64_t)part.free_nodes[r / 3] + r % 3) * n +
                                            3 * (int64_t)part.free_nodes[c / 3] + c % 3]);
    for (int threads = 2; threads <= 5; threads++) {
        assert_int_equal(modal_fem_assemble(&mesh, fixed, NULL, 4, MODAL_MASS_CONSISTENT, threads, &again,
                                            NULL),
                         MODAL_OK);
        const size_t blocks = (size_t)modal_block_count(&part.pattern);
        assert_memory_equal(again.pattern.offsets, part.pattern.offsets,
                            (size_t)(part.n_free + 1) * sizeof(int64_t));
        assert_memory_equal(again.pattern.rows, part.pattern.rows, blocks * sizeof(int32_t));
        assert_memory_equal(again.stiffness, part.stiffness, blocks * 9 * sizeof(double));
        assert_memory_equal(again.mass, part.mass, blocks * sizeof(double));
        modal_fem_system_free(&again);
    }
    free(k), free(kff);
    modal_fem_system_free(&whole);
    modal_fem_system_free(&part);
    modal_volume_mesh_free(&mesh);
}

static int64_t count_rigid(const modal_volume_mesh *mesh, const int32_t *fixed, int64_t n_fixed)
{
    modal_fem_system system;
    modal_rigid_space rigid;
    assert_int_equal(modal_fem_assemble(mesh, fixed, NULL, n_fixed, MODAL_MASS_LUMPED, 1, &system, NULL),
                     MODAL_OK);
    assert_int_equal(modal_rigid_space_build(mesh, &system, 1, &rigid, NULL), MODAL_OK);
    const int64_t n_rigid = rigid.n_rigid;
    modal_rigid_space_free(&rigid);
    modal_fem_system_free(&system);
    return n_rigid;
}

static void test_rigid_counts(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    solid_bar(&mesh, 2, 2, 2, unit_size, 2, 1, 0, 1);
    const int32_t line[3] = {0, 1, 2}, corner[3] = {0, 1, 3}, both[4] = {0, 1, 3, 27};
    assert_int_equal(count_rigid(&mesh, NULL, 0), 12);
    assert_int_equal(count_rigid(&mesh, line, 1), 9);
    assert_int_equal(count_rigid(&mesh, line, 2), 7);
    assert_int_equal(count_rigid(&mesh, line, 3), 7);
    assert_int_equal(count_rigid(&mesh, corner, 3), 6);
    assert_int_equal(count_rigid(&mesh, both, 4), 3);
    modal_volume_mesh_free(&mesh);
    /* a slice of fixed nodes parts the solid: both sides are held */
    solid_bar(&mesh, 4, 1, 1, unit_size, 1, 1, 0, 1);
    const int32_t slice[4] = {8, 9, 10, 11};
    assert_int_equal(count_rigid(&mesh, slice, 4), 0);
    assert_int_equal(count_rigid(&mesh, slice, 2), 1);
    modal_volume_mesh_free(&mesh);
}

static void expect_refusal(const modal_volume_mesh *mesh, const int32_t *fixed, int64_t n_fixed,
                           const char *message)
{
    modal_fem_system system;
    modal_error err = {0};
    assert_int_equal(modal_fem_assemble(mesh, fixed, NULL, n_fixed, MODAL_MASS_LUMPED, 1, &system, &err),
                     MODAL_ERROR_INPUT);
    assert_string_equal(err.message, message);
    assert_null(system.stiffness);
}

static void test_refusals(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    solid_bar(&mesh, 1, 1, 1, unit_size, 1, 1, 0, 1);
    modal_material *steel = &mesh.materials[0];
    const int32_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7}, outside[1] = {8};
    steel->young = -2;
    expect_refusal(&mesh, NULL, 0, "material \"steel\": Young's modulus E must be > 0 and finite, -2 Pa");
    steel->young = INFINITY;
    expect_refusal(&mesh, NULL, 0, "material \"steel\": Young's modulus E must be > 0 and finite, inf Pa");
    steel->young = 1;
    steel->poisson = 0.5;
    expect_refusal(&mesh, NULL, 0, "material \"steel\": Poisson's ratio nu must be in (-1, 0.5), 0.5");
    steel->poisson = -1;
    expect_refusal(&mesh, NULL, 0, "material \"steel\": Poisson's ratio nu must be in (-1, 0.5), -1");
    steel->poisson = NAN;
    modal_fem_system system;
    assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_LUMPED, 1, &system, NULL),
                     MODAL_ERROR_INPUT);
    steel->poisson = 0;
    steel->density = 0;
    expect_refusal(&mesh, NULL, 0,
                   "material \"steel\": density rho must be > 0 and finite, 0 kg/m^3");
    steel->density = 1;
    mesh.element_material[3] = -1;
    expect_refusal(&mesh, NULL, 0, "element 5003: no material");
    mesh.element_material[3] = 0;
    expect_refusal(&mesh, outside, 1, "fixed nodes: index 8, the mesh has 8");
    expect_refusal(&mesh, all, 8, "fixed nodes: all 8 nodes are fixed");
    const int32_t kept = mesh.element_nodes[4];
    mesh.element_nodes[4] = mesh.element_nodes[5];
    expect_refusal(&mesh, NULL, 0, "element 5001: volume 0 m^3");
    mesh.element_nodes[4] = 8;
    expect_refusal(&mesh, NULL, 0, "element 5001: node index 8, the mesh has 8");
    mesh.element_nodes[4] = kept;
    mesh.n_elements = 1; /* leaves nodes behind */
    expect_refusal(&mesh, NULL, 0, "node 1001: belongs to no element");
    mesh.n_elements = 6;
    modal_volume_mesh_free(&mesh);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    solid_bar(&mesh, 2, 1, 1, unit_size, 1, 1, 0, 1);
    for (int n = 1;; n++) {
        modal_fem_system system;
        modal_rigid_space rigid = {0};
        modal_alloc_fail_at(n);
        modal_status status =
            modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_LUMPED, 1, &system, NULL);
        if (status == MODAL_OK) status = modal_rigid_space_build(&mesh, &system, 1, &rigid, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        modal_rigid_space_free(&rigid);
        modal_fem_system_free(&system);
        if (!fired) {
            assert_true(n > 15);
            break;
        }
    }
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_element_matrices),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_rigid_motions_and_mass),
        cmocka_unit_test(test_fixed_nodes_and_threads),
        cmocka_unit_test(test_rigid_counts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
