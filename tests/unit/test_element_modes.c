/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes of solids of every type of element against exact solutions of elasticity, with the
 * order of convergence that theory gives (eigenvalues: h^2 for linear elements, h^4 for quadratic ones;
 * G. Strang, G. J. Fix, "An Analysis of the Finite Element Method", 1973, chapter 6), and held
 * components against what symmetry says. With an argument, prints the table of docs/elements.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/mesh/check.h"
#include "lib/modes/modes.h"
#include "tests/unit/element_meshes.h"

static const double pi = 3.14159265358979323846;
static int print_table;

static void check_mesh(modal_volume_mesh *mesh)
{
    modal_mesh_summary summary;
    modal_error err = {0};
    if (modal_volume_mesh_check(mesh, &summary, &err) != MODAL_OK) fail_msg("%s", err.message);
}

static void solve(const modal_volume_mesh *mesh, const int32_t *fixed, const uint8_t *components,
                  int64_t n_fixed, int32_t n_modes, modal_mass_rule rule, modal_modes_result *result)
{
    modal_error err = {0};
    const modal_modes_options options = {
        .n_modes = n_modes, .mass_rule = rule, .n_threads = 1, .fixed_components = components};
    if (modal_modes_solve(mesh, fixed, n_fixed, &options, result, NULL, &err) != MODAL_OK)
        fail_msg("%s", err.message);
}

static int is_quadratic(int type)
{
    return type == MODAL_ELEMENT_TET10 || type == MODAL_ELEMENT_HEX20;
}

/* The mode that looks most like u [n_nodes, 3]. */
static int32_t most_alike(const modal_modes_result *result, const double *u)
{
    int32_t best = -1;
    double most = 0;
    for (int32_t k = 0; k < result->n_modes; k++) {
        const double *phi = result->modes + 3 * result->n_nodes * k;
        double uu = 0, pp = 0, up = 0;
        for (int64_t i = 0; i < 3 * result->n_nodes; i++) {
            uu += u[i] * u[i];
            pp += phi[i] * phi[i];
            up += u[i] * phi[i];
        }
        if (!(up * up / uu / pp > most)) continue;
        most = up * up / uu / pp;
        best = k;
    }
    assert_true(most > 0.8);
    return best;
}

/* A solid with a known eigenvalue: how to make it, and the motion. */
typedef struct exact_case {
    const char *name;
    int cells[3];        /* a quarter of those of the coarser mesh of linear elements */
    double poisson;
    double eigenvalue;   /* for E = rho = 1 */
    int32_t n_modes;
    mesh_map map;
    void (*motion)(const double x[3], double u[3]); /* NULL: the lowest mode */
} exact_case;

/* Relative error of the eigenvalue with the cells multiplied by `factor`. */
static double eigenvalue_error(const exact_case *c, int type, int factor)
{
    modal_volume_mesh mesh;
    modal_modes_result result;
    int cells[3];
    for (int k = 0; k < 3; k++)
        cells[k] = factor * (is_quadratic(type) ? (c->cells[k] + 1) / 2 : c->cells[k]);
    element_mesh(&mesh, type, cells, c->map, 0);
    mesh.materials[0].poisson = c->poisson;
    check_mesh(&mesh);
    solve(&mesh, NULL, NULL, 0, c->n_modes, MODAL_MASS_CONSISTENT, &result);
    assert_int_equal(result.n_rigid, 6);
    int32_t k = 0;
    if (c->motion) {
        double *u = malloc(sizeof *u * 3 * (size_t)mesh.n_nodes);
        for (int64_t i = 0; i < mesh.n_nodes; i++) c->motion(mesh.nodes + 3 * i, u + 3 * i);
        k = most_alike(&result, u);
        free(u);
    }
    const double error = result.eigenvalues[k] / c->eigenvalue - 1;
    modal_modes_result_free(&result);
    modal_volume_mesh_free(&mesh);
    return error;
}

/* The face-shear mode of a free block of square cross-section (G. Lame): no stress on any face, no
 * change of volume, omega^2 = 2 (pi / L)^2 G / rho. */
static void slab(const double x[3], double y[3])
{
    y[0] = x[0];
    y[1] = x[1];
    y[2] = 0.3 * x[2];
}

static void lame_motion(const double x[3], double u[3])
{
    u[0] = cos(pi * x[0]) * sin(pi * x[1]);
    u[1] = -sin(pi * x[0]) * cos(pi * x[1]);
    u[2] = 0;
}

static const exact_case lame = {"free block, Lame's shear mode", {3, 3, 1}, 0.3, 0, 16, slab, lame_motion};

/* Axial mode of a free bar without Poisson's effect: omega^2 = (pi / L)^2 E / rho. */
static void bar(const double x[3], double y[3])
{
    y[0] = 3 * x[0];
    y[1] = x[1];
    y[2] = 0.8 * x[2];
}

static void axial_motion(const double x[3], double u[3])
{
    u[0] = cos(pi * x[0] / 3);
    u[1] = u[2] = 0;
}

static const exact_case axial = {"free bar, axial mode", {4, 1, 1}, 0, 0, 12, bar, axial_motion};

static void check_orders(const exact_case *c, double eigenvalue)
{
    exact_case here = *c;
    here.eigenvalue = eigenvalue;
    for (int type = 0; type < MESH_KINDS; type++) {
        const int factor = is_quadratic(type) ? 2 : 4;
        const double coarse = eigenvalue_error(&here, type, factor);
        const double fine = eigenvalue_error(&here, type, 2 * factor);
        const double order = log2(coarse / fine), expected = is_quadratic(type) ? 4 : 2;
        /* meshes that lean couple the mode with its neighbours, which costs order on coarse ones */
        const int leans = type == MODAL_ELEMENT_TET4 || type == MODAL_ELEMENT_TET10 ||
                          type == MODAL_ELEMENT_WEDGE6;
        if (print_table)
            printf("| %s | %s | %.2e | %.2e | %.2f |\n", c->name, element_mesh_name(type), coarse, fine,
                   order);
        /* conforming elements with exact masses are too stiff: the error is positive */
        if (!(coarse > fine && fine > 0 && fabs(order - expected) <= (leans ? 0.2 : 0.06) * expected))
            fail_msg("%s, %s: errors %.3e, %.3e, order %.3f", c->name, element_mesh_name(type), coarse,
                     fine, order);
    }
}

static void test_lame_mode(void **state)
{
    (void)state;
    check_orders(&lame, 2 * pi * pi / 2.6);
}

static void test_axial_mode(void **state)
{
    (void)state;
    check_orders(&axial, pi * pi / 9);
}

/* The cube onto the ball of radius 1: at its surface P. Nowell's map, towards the middle more and more
 * the cube itself, which keeps the cells at its edges, flat on the sphere, from folding. */
static void ball(const double x[3], double y[3])
{
    double s[3], outside = 1;
    for (int k = 0; k < 3; k++) {
        s[k] = (2 * x[k] - 1) * (2 * x[k] - 1);
        outside *= 1 - s[k];
    }
    for (int k = 0; k < 3; k++) {
        const double a = s[(k + 1) % 3], b = s[(k + 2) % 3];
        y[k] = (2 * x[k] - 1) * (0.6 * outside + (1 - outside) * sqrt(1 - a / 2 - b / 2 + a * b / 3));
    }
}

/* Torsional modes of degree 2 of a free sphere: j_2(eta) = eta j_3(eta), eta = omega R sqrt(rho / G),
 * five of them, the lowest of the sphere. */
static double sphere_eta(void)
{
    double low = 2, high = 3;
    for (int i = 0; i < 60; i++) {
        const double x = (low + high) / 2, s = sin(x), c = cos(x);
        const double j1 = s / (x * x) - c / x, j2 = 3 * j1 / x - s / x, j3 = 5 * j2 / x - j1;
        if (j2 - x * j3 > 0) low = x;
        else high = x;
    }
    return low;
}

static void test_sphere(void **state)
{
    (void)state;
    const double eta = sphere_eta(), exact = eta * eta / 2.6;
    assert_true(fabs(eta - 2.501133) <= 1e-5);
    for (int type = 0; type < MESH_KINDS; type++) {
        double errors[2];
        for (int i = 0; i < 2; i++) {
            const int n = (is_quadratic(type) ? 3 : 4) << i, cells[3] = {n, n, n};
            modal_volume_mesh mesh;
            modal_modes_result result;
            element_mesh(&mesh, type, cells, ball, 0);
            check_mesh(&mesh);
            solve(&mesh, NULL, NULL, 0, 10, MODAL_MASS_CONSISTENT, &result);
            assert_int_equal(result.n_rigid, 6);
            /* all five, and a gap to the next: the whole eigenspace */
            const double spread = result.eigenvalues[4] / result.eigenvalues[0] - 1;
            errors[i] = result.eigenvalues[2] / exact - 1;
            if (i == 1) assert_true(spread <= 0.06 && result.eigenvalues[5] > 1.05 * exact);
            modal_modes_result_free(&result);
            modal_volume_mesh_free(&mesh);
        }
        const double order = log2(fabs(errors[0] / errors[1]));
        if (print_table)
            printf("| sphere, torsion | %s | %.2e | %.2e | %.2f |\n", element_mesh_name(type), errors[0],
                   errors[1], order);
        if (!(fabs(errors[1]) <= (is_quadratic(type) ? 3e-3 : 0.12) &&
              order > (is_quadratic(type) ? 2.3 : 1.55)))
            fail_msg("%s: errors %.3e, %.3e, order %.2f", element_mesh_name(type), errors[0], errors[1],
                     order);
    }
}

/* A cantilever 10 x 1 x 0.8: the first mode in each plane, against Timoshenko's beam within what the
 * theory itself is good for. */
static void beam(const double x[3], double y[3])
{
    y[0] = 10 * x[0];
    y[1] = x[1];
    y[2] = 0.8 * x[2];
}

static void test_cantilever(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++) {
        const int quadratic = is_quadratic(type), cells[3] = {quadratic ? 10 : 48, quadratic ? 1 : 4, quadratic ? 1 : 4};
        modal_volume_mesh mesh;
        modal_modes_result result;
        int32_t fixed[400];
        int64_t n_fixed = 0;
        element_mesh(&mesh, type, cells, beam, 0);
        mesh.materials[0].poisson = 0;
        check_mesh(&mesh);
        for (int64_t i = 0; i < mesh.n_nodes; i++)
            if (mesh.nodes[3 * i] == 0) fixed[n_fixed++] = (int32_t)i;
        solve(&mesh, fixed, NULL, n_fixed, 2, MODAL_MASS_CONSISTENT, &result);
        for (int k = 0; k < 2; k++) {
            /* Euler-Bernoulli, lambda_1 = 1.8751041, corrected for shear and rotary inertia to first
             * order (S. Timoshenko, "Vibration Problems in Engineering", 1937) */
            const double h = k ? 1 : 0.8, r2 = h * h / 12 / 100, b = 1.87510406871;
            const double euler = b * b * b * b * h * h / 12 / 1e4;
            /* 4.6478: the integral of (phi')^2 over that of phi^2, times L^2 */
            const double slopes = 4.6478, expected = euler / (1 + r2 * slopes * (1 + 2 / (5.0 / 6)));
            const double error = result.eigenvalues[k] / expected - 1;
            if (print_table)
                printf("| cantilever, bending %d | %s | %.2e |\n", k, element_mesh_name(type), error);
            if (!(fabs(error) <= (quadratic ? 0.004 : 0.25)))
                fail_msg("%s: mode %d, %g, beam %g", element_mesh_name(type), k, result.eigenvalues[k], expected);
        }
        assert_int_equal(result.n_rigid, 0);
        modal_modes_result_free(&result);
        modal_volume_mesh_free(&mesh);
    }
}

/* One free element has six zero eigenvalues and no more; two bodies have twelve. */
static void test_single_elements(void **state)
{
    (void)state;
    static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0.1}, {1.1, 1, 0}, {0, 0.9, -0.1},
                                         {0.1, 0, 1}, {1, 0.1, 1.2}, {0.9, 1, 1}, {0, 1.1, 0.9}};
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++) {
        const modal_element_kind *kind = &modal_element_kinds[type];
        modal_volume_mesh mesh;
        modal_modes_result result;
        solid_allocate(&mesh, 2 * kind->n_nodes, 2);
        mesh.materials[0] = (modal_material){mesh.materials[0].name, 1, 0.3, 1, 0, {0}, {0}};
        modal_free(&mesh.element_nodes);
        solid_require(modal_alloc(&mesh.element_nodes, 40, sizeof(int32_t), "", NULL) == MODAL_OK, "memory");
        for (int e = 0; e < 2; e++) {
            mesh.element_type[e] = (uint8_t)type;
            mesh.element_offsets[e + 1] = (e + 1) * kind->n_nodes;
            for (int a = 0; a < kind->n_nodes; a++) {
                const int32_t node = e * kind->n_nodes + a;
                mesh.element_nodes[node] = node;
                for (int k = 0; k < 3; k++) {
                    /* tetrahedra, wedges and pyramids take the corners that suit them */
                    static const int of[MODAL_ELEMENT_TYPES][8] = {
                        {0, 1, 3, 4}, {0, 1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
                        {0, 1, 3, 4, 5, 7}, {0, 1, 2, 3, 6}};
                    const int *c = of[type];
                    const int edge = a - kind->n_corners;
                    mesh.nodes[3 * node + k] =
                        edge < 0 ? corners[c[a]][k]
                                 : (corners[c[kind->edges[edge][0]]][k] + corners[c[kind->edges[edge][1]]][k]) / 2;
                    if (k == 0) mesh.nodes[3 * node] += 3 * e;
                }
            }
        }
        check_mesh(&mesh);
        for (int rule = 0; rule < 2; rule++) {
            solve(&mesh, NULL, NULL, 0, 6 * kind->n_nodes - 12, (modal_mass_rule)rule, &result);
            assert_int_equal(result.n_rigid, 12);
            assert_true(result.eigenvalues[0] > 1e-3);
            modal_modes_result_free(&result);
        }
        modal_volume_mesh_free(&mesh);
    }
}

/* Half of a free bar whose cut face may not move along the axis has the symmetric half of the whole
 * bar's modes, and three rigid motions. */
static void test_symmetry(void **state)
{
    (void)state;
    static const int types[] = {MODAL_ELEMENT_HEX8, MODAL_ELEMENT_HEX20, MODAL_ELEMENT_PYRAMID5};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int rule = 0; rule < 2; rule++) {
            const int whole_cells[3] = {8, 2, 2}, half_cells[3] = {4, 2, 2};
            modal_volume_mesh whole, half;
            modal_modes_result all, symmetric;
            int32_t held[64];
            uint8_t components[64];
            int64_t n_held = 0;
            element_mesh(&whole, types[t], whole_cells, bar, 0);
            element_mesh(&half, types[t], half_cells, bar, 0);
            for (int64_t i = 0; i < half.n_nodes; i++) {
                half.nodes[3 * i] /= 2;
                if (half.nodes[3 * i] != 1.5) continue;
                held[n_held] = (int32_t)i;
                components[n_held++] = 1;
            }
            check_mesh(&whole);
            check_mesh(&half);
            solve(&whole, NULL, NULL, 0, 30, (modal_mass_rule)rule, &all);
            solve(&half, held, components, n_held, 10, (modal_mass_rule)rule, &symmetric);
            assert_int_equal(symmetric.n_rigid, 3);
            int32_t next = 0;
            for (int32_t k = 0; k < 10; k++) {
                while (next < all.n_modes && all.eigenvalues[next] < symmetric.eigenvalues[k] * (1 - 1e-9))
                    next++;
                assert_true(next < all.n_modes);
                assert_true(fabs(all.eigenvalues[next] / symmetric.eigenvalues[k] - 1) <= 1e-9);
                next++;
                for (int64_t i = 0; i < n_held; i++)
                    assert_true(symmetric.modes[3 * (half.n_nodes * k + held[i])] == 0);
                assert_true(symmetric.residuals[k] <= 1e-9);
            }
            modal_modes_result_free(&all);
            modal_modes_result_free(&symmetric);
            modal_volume_mesh_free(&whole);
            modal_volume_mesh_free(&half);
        }
    /* more modes than there are: held components do not count */
    const int cells[3] = {1, 1, 1};
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    element_mesh(&mesh, MODAL_ELEMENT_HEX8, cells, NULL, 0);
    const int32_t nodes[3] = {0, 1, 2};
    const uint8_t components[3] = {7, 6, 4};
    const modal_modes_options options = {.n_modes = 19, .n_threads = 1, .fixed_components = components};
    assert_int_equal(modal_modes_solve(&mesh, nodes, 3, &options, &result, NULL, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "modes: 19 asked for, 18 degrees of freedom");
    modal_volume_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lame_mode),  cmocka_unit_test(test_axial_mode),
        cmocka_unit_test(test_sphere),     cmocka_unit_test(test_cantilever),
        cmocka_unit_test(test_single_elements), cmocka_unit_test(test_symmetry),
    };
    print_table = argc > 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
