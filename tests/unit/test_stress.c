/* SPDX-License-Identifier: Apache-2.0 */
/* Strain and stress at points, of cells and at nodes, of elements of every type. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/fem/stress.h"
#include "tests/unit/element_fixtures.h"
#include "tests/unit/stvk_full.h"

typedef struct values {
    double *all[6];
    modal_stress_arrays arrays;
} values;

static double *numbers(int64_t n)
{
    double *p = malloc((size_t)n * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++) p[i] = NAN;
    return p;
}

static values values_of(const modal_volume_mesh *mesh)
{
    values v;
    const int64_t e = mesh->n_elements, n = mesh->n_nodes, sizes[6] = {6 * e, 6 * e, e, 6 * n, 6 * n, n};
    for (int i = 0; i < 6; i++) v.all[i] = numbers(sizes[i]);
    v.arrays = (modal_stress_arrays){v.all[0], v.all[1], v.all[2], v.all[3], v.all[4], v.all[5]};
    return v;
}

static void values_free(values *v)
{
    for (int i = 0; i < 6; i++) free(v->all[i]);
}

static void compute(const modal_volume_mesh *mesh, modal_law_kind law, const double *u, const double *turn, int threads,
                    values *v, int64_t *inverted)
{
    modal_error err = {0};
    modal_stress *stress;
    if (modal_stress_new(&stress, mesh, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_int_equal(modal_stress_compute(stress, law, u, turn, threads, &v->arrays, inverted, &err), MODAL_OK);
    modal_stress_delete(stress);
}

static void six(const double t[9], double out[6])
{
    const double order[6] = {t[0], t[4], t[8], t[1], t[5], t[2]};
    memcpy(out, order, sizeof order);
}

static void expect_six(const char *what, int type, const double *found, const double *wanted, double limit)
{
    for (int k = 0; k < 6; k++)
        if (!(fabs(found[k] - wanted[k]) <= limit))
            fail_msg("%s, %s: %d: %.15g, %.15g", element_mesh_name(type), what, k, found[k], wanted[k]);
}

/* u = A x of bent elements of every type: one strain and one stress everywhere, by the law in numbers made here; a turned
 * body's are turned. */
static void test_homogeneous(void **state)
{
    (void)state;
    const double a[9] = {0.2, -0.1, 0.05, 0.3, -0.15, 0.1, 0.02, 0.07, 0.12};
    double turn[12] = {0};
    const modal_material material = spruce();
    for (int k = 0; k < 9; k++) turn[4 * (k / 3) + k % 3] = material.axes[k];
    for (int type = 0; type < MESH_KINDS; type++)
        for (int law = 0; law < MODAL_LAWS_OF_C; law++)
            for (int turned = 0; turned < 2; turned++) {
                modal_volume_mesh mesh;
                double strain[3][3], stress[3][3], f[3][3], p[3][3], wanted[2][6], own[9], world[9];
                int64_t inverted;
                make(&mesh, type, 2, bend, 0);
                mesh.materials[0] = (modal_material){.name = mesh.materials[0].name, .density = material.density,
                                                     .kind = material.kind};
                memcpy(mesh.materials[0].orthotropic, material.orthotropic, sizeof material.orthotropic);
                memcpy(mesh.materials[0].axes, material.axes, sizeof material.axes);
                double *u = numbers(3 * mesh.n_nodes);
                for (int64_t i = 0; i < 3 * mesh.n_nodes; i++)
                    u[i] = a[3 * (i % 3)] * mesh.nodes[i / 3 * 3] + a[3 * (i % 3) + 1] * mesh.nodes[i / 3 * 3 + 1] +
                           a[3 * (i % 3) + 2] * mesh.nodes[i / 3 * 3 + 2] + 7;
                for (int k = 0; k < 9; k++) f[k / 3][k % 3] = a[k] + (k % 4 == 0);
                for (int k = 0; k < 9; k++) {
                    strain[k / 3][k % 3] = (a[k] + a[k % 3 * 3 + k / 3]) / 2;
                    for (int m = 0; m < 3 && law == MODAL_LAW_STVK; m++)
                        strain[k / 3][k % 3] += a[3 * m + k / 3] * a[3 * m + k % 3] / 2;
                }
                stvk_stress(&mesh.materials[0], strain, stress);
                if (law == MODAL_LAW_STVK) {
                    double inverse[3][3], cauchy[3][3] = {{0}};
                    stvk_density(&mesh.materials[0], f, p);
                    const double det = stvk_invert(f, inverse);
                    for (int k = 0; k < 27; k++) cauchy[k / 9][k / 3 % 3] += p[k / 9][k % 3] * f[k / 3 % 3][k % 3] / det;
                    memcpy(stress, cauchy, sizeof stress);
                }
                for (int which = 0; which < 2; which++) {
                    memcpy(own, which ? stress : strain, sizeof own);
                    memcpy(world, own, sizeof own);
                    if (turned) stvk_turn(material.axes, 0, which ? stress : strain, (double(*)[3])world);
                    six(world, wanted[which]);
                }
                const double von_mises = sqrt(0.5 * (pow(own[0] - own[4], 2) + pow(own[4] - own[8], 2) + pow(own[8] - own[0], 2)) +
                                              3 * (own[1] * own[1] + own[2] * own[2] + own[5] * own[5]));
                values v = values_of(&mesh);
                compute(&mesh, (modal_law_kind)law, u, turned ? turn : NULL, 2, &v, &inverted);
                assert_int_equal(inverted, -1);
                for (int64_t e = 0; e < mesh.n_elements; e++) {
                    expect_six("strain of a cell", type, v.all[0] + 6 * e, wanted[0], 1e-13);
                    expect_six("stress of a cell", type, v.all[1] + 6 * e, wanted[1], 1e-12);
                    assert_true(fabs(v.all[2][e] - von_mises) <= 1e-12);
                }
                for (int64_t i = 0; i < mesh.n_nodes; i++) {
                    expect_six("strain at a node", type, v.all[3] + 6 * i, wanted[0], 1e-12);
                    expect_six("stress at a node", type, v.all[4] + 6 * i, wanted[1], 1e-11);
                    assert_true(fabs(v.all[5][i] - von_mises) <= 1e-11);
                }
                values_free(&v);
                free(u);
                modal_volume_mesh_free(&mesh);
            }
}

/* A rotation by a large angle: Green's strain and the stress are 0, whatever the type; linear ones are not. */
static void test_rotation(void **state)
{
    (void)state;
    const double *r = spruce().axes;
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        int64_t inverted;
        make(&mesh, type, 2, bend, 0);
        double *u = numbers(3 * mesh.n_nodes), axes[9];
        const modal_material material = spruce();
        memcpy(axes, material.axes, sizeof axes);
        r = axes;
        for (int64_t i = 0; i < 3 * mesh.n_nodes; i++) {
            const double *x = mesh.nodes + i / 3 * 3;
            u[i] = r[3 * (i % 3)] * x[0] + r[3 * (i % 3) + 1] * x[1] + r[3 * (i % 3) + 2] * x[2] - x[i % 3];
        }
        values v = values_of(&mesh);
        compute(&mesh, MODAL_LAW_STVK, u, NULL, 1, &v, &inverted);
        const double zero[6] = {0}, young = mesh.materials[0].young;
        for (int64_t e = 0; e < mesh.n_elements; e++) {
            expect_six("strain of a rotation", type, v.all[0] + 6 * e, zero, 1e-13);
            expect_six("stress of a rotation", type, v.all[1] + 6 * e, zero, 1e-12 * young);
        }
        for (int64_t i = 0; i < mesh.n_nodes; i++) assert_true(v.all[5][i] <= 1e-11 * young);
        compute(&mesh, MODAL_LAW_LINEAR, u, NULL, 1, &v, &inverted);
        assert_true(fabs(v.all[0][0]) > 0.05);
        values_free(&v);
        free(u);
        modal_volume_mesh_free(&mesh);
    }
}

static double quadratic(const double x[3], int p, double strain[6])
{
    if (strain) { /* of u = (x^2 / 2 + x y, y z, x z - y^2) */
        const double g[9] = {x[0] + x[1], x[0], 0, 0, x[2], x[1], x[2], -2 * x[1], x[0]};
        double t[9];
        for (int k = 0; k < 9; k++) t[k] = (g[k] + g[k % 3 * 3 + k / 3]) / 2;
        six(t, strain);
    }
    return p == 0 ? x[0] * x[0] / 2 + x[0] * x[1] : p == 1 ? x[1] * x[2] : x[0] * x[2] - x[1] * x[1];
}

/* Quadratic elements with straight sides hold quadratic displacements: strains that run linearly are exact at the nodes, and
 * cells have their mean. */
static void test_linear_strains(void **state)
{
    (void)state;
    for (int type = MODAL_ELEMENT_TET10; type <= MODAL_ELEMENT_HEX20; type += 2) {
        modal_volume_mesh mesh;
        modal_stress *stress;
        modal_stress_point points[MODAL_RULE_MOST_POINTS];
        int64_t inverted;
        make(&mesh, type, 2, NULL, 1);
        double *u = numbers(3 * mesh.n_nodes), wanted[6];
        for (int64_t i = 0; i < 3 * mesh.n_nodes; i++) u[i] = quadratic(mesh.nodes + i / 3 * 3, (int)(i % 3), NULL);
        values v = values_of(&mesh);
        compute(&mesh, MODAL_LAW_LINEAR, u, NULL, 1, &v, &inverted);
        for (int64_t i = 0; i < mesh.n_nodes; i++) {
            quadratic(mesh.nodes + 3 * i, 0, wanted);
            expect_six("linear strain at a node", type, v.all[3] + 6 * i, wanted, 1e-12);
        }
        assert_int_equal(modal_stress_new(&stress, &mesh, NULL), MODAL_OK);
        double volume = 0;
        for (int64_t e = 0; e < mesh.n_elements; e++) {
            double mean[6] = {0}, own = 0, mises = 0;
            const int n = modal_stress_element(stress, MODAL_LAW_LINEAR, e, u, points);
            for (int q = 0; q < n; q++) {
                quadratic(points[q].place, 0, wanted);
                expect_six("linear strain at a point", type, points[q].strain, wanted, 1e-12);
                for (int k = 0; k < 6; k++) mean[k] += points[q].volume * wanted[k];
                mises += points[q].volume * points[q].von_mises;
                own += points[q].volume;
                assert_true(points[q].jacobian == 1);
            }
            for (int k = 0; k < 6; k++) mean[k] /= own;
            expect_six("mean strain", type, v.all[0] + 6 * e, mean, 1e-12);
            assert_true(fabs(v.all[2][e] - mises / own) <= 1e-12 * v.all[2][e]);
            volume += own;
        }
        assert_true(fabs(volume - 1) <= 1e-12);
        modal_stress_delete(stress);
        values_free(&v);
        free(u);
        modal_volume_mesh_free(&mesh);
    }
}

/* The same bytes for every number of threads, for arrays alone and together, and with many chunks. */
static void test_threads(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        modal_stress *stress;
        int64_t inverted;
        make(&mesh, type, 6, bend, 0);
        double *u = numbers(3 * mesh.n_nodes);
        for (int64_t i = 0; i < 3 * mesh.n_nodes; i++) u[i] = 0.01 * random_unit();
        values one = values_of(&mesh), two = values_of(&mesh), alone = values_of(&mesh);
        const int64_t e = mesh.n_elements, n = mesh.n_nodes, sizes[6] = {6 * e, 6 * e, e, 6 * n, 6 * n, n};
        compute(&mesh, MODAL_LAW_STVK, u, NULL, 1, &one, &inverted);
        compute(&mesh, MODAL_LAW_STVK, u, NULL, 3, &two, &inverted);
        assert_int_equal(modal_stress_new(&stress, &mesh, NULL), MODAL_OK);
        for (int i = 0; i < 6; i++) {
            double *p[6] = {NULL};
            p[i] = alone.all[i];
            const modal_stress_arrays arrays = {p[0], p[1], p[2], p[3], p[4], p[5]};
            assert_int_equal(modal_stress_compute(stress, MODAL_LAW_STVK, u, NULL, 2, &arrays, &inverted, NULL), MODAL_OK);
            assert_memory_equal(one.all[i], two.all[i], (size_t)sizes[i] * sizeof(double));
            assert_memory_equal(one.all[i], alone.all[i], (size_t)sizes[i] * sizeof(double));
        }
        modal_stress_delete(stress);
        values_free(&one);
        values_free(&two);
        values_free(&alone);
        free(u);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_bad(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_stress *stress;
    modal_error err = {0};
    int64_t inverted;
    make(&mesh, MODAL_ELEMENT_HEX8, 3, NULL, 1);
    /* the cells in the middle turned inside out: the first one is named, by St. Venant-Kirchhoff's law */
    double *u = numbers(3 * mesh.n_nodes);
    for (int64_t i = 0; i < 3 * mesh.n_nodes; i++) u[i] = 0;
    const int32_t *nodes = modal_mesh_nodes(&mesh, 5);
    for (int a = 0; a < 8; a++) u[3 * nodes[a]] = -3 * (mesh.nodes[3 * nodes[a]] - mesh.nodes[3 * nodes[0]]);
    values v = values_of(&mesh);
    compute(&mesh, MODAL_LAW_STVK, u, NULL, 2, &v, &inverted);
    assert_true(inverted >= 0 && inverted <= 5);
    compute(&mesh, MODAL_LAW_LINEAR, u, NULL, 2, &v, &inverted);
    assert_int_equal(inverted, -1);
    values_free(&v);
    free(u);

    const int32_t material = mesh.element_material[4];
    mesh.element_material[4] = -1;
    assert_int_equal(modal_stress_new(&stress, &mesh, &err), MODAL_ERROR_INPUT);
    assert_null(stress);
    assert_non_null(strstr(err.message, "no material"));
    mesh.element_material[4] = material;
    mesh.materials[0].poisson = 0.5;
    assert_int_equal(modal_stress_new(&stress, &mesh, &err), MODAL_ERROR_INPUT);
    mesh.materials[0].poisson = 0.3;
    for (int k = 0; k < 3; k++) mesh.nodes[3 * nodes[1] + k] = mesh.nodes[3 * nodes[7] + k];
    assert_int_equal(modal_stress_new(&stress, &mesh, &err), MODAL_ERROR_INPUT);
    modal_volume_mesh_free(&mesh);

    make(&mesh, MODAL_ELEMENT_TET10, 1, NULL, 1);
    for (int64_t fail = 1;; fail++) { /* every allocation fails once */
        modal_alloc_fail_at(fail);
        const modal_status status = modal_stress_new(&stress, &mesh, &err);
        modal_alloc_fail_at(0);
        if (status == MODAL_OK) break;
        assert_int_equal(status, MODAL_ERROR_MEMORY);
        assert_null(stress);
        assert_true(fail < 100);
    }
    modal_stress_delete(stress);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_homogeneous), cmocka_unit_test(test_rotation), cmocka_unit_test(test_linear_strains),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
