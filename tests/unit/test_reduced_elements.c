/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced St. Venant-Kirchhoff forces and modal derivatives of elements of every type and of orthotropic
 * materials, against the full element forces, those against differences of their energy, and both against
 * what is known exactly of homogeneous deformations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/mesh/measure.h"
#include "lib/reduced/derivatives.h"
#include "lib/reduced/stvk.h"
#include "tests/unit/element_meshes.h"
#include "tests/unit/reduced_fixtures.h"
#include "tests/unit/stvk_full.h"

static void bend(const double from[3], double to[3])
{
    to[0] = 1.5 * from[0] + 0.2 * from[1] * from[2];
    to[1] = from[1] + 0.15 * from[0] * from[0] - 0.1 * from[2];
    to[2] = 0.9 * from[2] + 0.1 * from[0] * from[1];
}

/* A bent box, stone and wood in turn, or wood alone; wood's axes lie askew. */
static void make_solid(modal_volume_mesh *mesh, int type, int straight, int wood_only)
{
    modal_material *two = NULL;
    element_mesh(mesh, type, (int[]){2, 2, 2}, bend, straight);
    assert_int_equal(modal_alloc_zero(&two, 2, sizeof *two, "", NULL), MODAL_OK);
    two[0] = mesh->materials[0];
    two[0].young = 3e6;
    two[0].density = 1100;
    two[1] = (modal_material){.density = 600,
                              .kind = MODAL_MATERIAL_ORTHOTROPIC,
                              .orthotropic = {9e6, 2e6, 1e6, 0.3, 0.35, 0.4, 8e5, 6e5, 3e5}};
    const double c = cos(0.7), s = sin(0.7), d = cos(-0.4), t = sin(-0.4);
    const double axes[9] = {c, s, 0, -s * d, c * d, t, s * t, -c * t, d};
    memcpy(two[1].axes, axes, sizeof axes);
    assert_int_equal(modal_copy_text(&two[1].name, "wood", 4, NULL), MODAL_OK);
    modal_free(&mesh->materials);
    mesh->materials = two;
    mesh->n_materials = 2;
    for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = wood_only || e % 2 == 1;
}

static void test_forces(void **state)
{
    (void)state;
    enum { R = 7 };
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        modal_reduced_forces forces;
        random_state = 5;
        make_solid(&mesh, type, 0, 0);
        const int64_t n = 3 * mesh.n_nodes;
        double *modes = make_modes(&mesh, R, 1), *u = room(n), *full = room(n), q[R], reduced[R];
        assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 2, NULL, &forces, NULL, NULL), MODAL_OK);
        for (int turn = 0; turn < 4; turn++) {
            /* from small motions to ones that turn elements inside out */
            for (int k = 0; k < R; k++) q[k] = random_unit() * pow(10, turn - 3);
            combine(n, R, modes, q, u);
            const double energy = stvk_full(&mesh, u, full);
            assert_true(fabs(evaluate(&forces, R, q, reduced) / energy - 1) <= 1e-11);
            double top = 0;
            for (int l = 0; l < R; l++) {
                double wanted = 0, terms = 0;
                for (int64_t i = 0; i < n; i++) {
                    wanted += modes[n * l + i] * full[i];
                    terms += fabs(modes[n * l + i] * full[i]);
                }
                assert_true(fabs(reduced[l] - wanted) <= 1e-12 * terms);
                top = fmax(top, fabs(reduced[l]));
            }
            assert_true(top > 0);
        }
        modal_reduced_forces_free(&forces);
        modal_free(&modes);
        modal_free(&u);
        modal_free(&full);
        modal_volume_mesh_free(&mesh);
    }
}

/* Full forces along a direction are central differences of the energy; the error falls as the square of
 * the step. */
static void test_full_forces(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        random_state = 6;
        make_solid(&mesh, type, 0, 0);
        const int64_t n = 3 * mesh.n_nodes;
        double *modes = make_modes(&mesh, 2, 1), *u = room(n), *force = room(n), slope = 0, errors[2];
        stvk_full(&mesh, modes, force);
        for (int64_t i = 0; i < n; i++) slope += modes[n + i] * force[i];
        for (int half = 0; half < 2; half++) {
            const double step = half ? 5e-3 : 1e-2;
            combine(n, 2, modes, (double[]){1, step}, u);
            const double above = stvk_full(&mesh, u, NULL);
            combine(n, 2, modes, (double[]){1, -step}, u);
            errors[half] = fabs((above - stvk_full(&mesh, u, NULL)) / (2 * step) / slope - 1);
        }
        assert_true(errors[0] < 1e-2 && errors[0] > 1e-9);
        assert_true(errors[0] / errors[1] > 3.9 && errors[0] / errors[1] < 4.1);
        modal_free(&modes);
        modal_free(&u);
        modal_free(&force);
        modal_volume_mesh_free(&mesh);
    }
}

/* Elements of every type carry u = A X exactly, so that the energy of all of them is the volume times the
 * density of F = I + A; and none at all where F is a rotation, however far. */
static void test_homogeneous(void **state)
{
    (void)state;
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        modal_rule_table rules;
        modal_reduced_forces forces;
        random_state = 7;
        make_solid(&mesh, type, 1, 1);
        const int64_t n = 3 * mesh.n_nodes;
        double *modes = room(9 * n), *u = room(n), *full = room(n), q[9], reduced[9], volume = 0, p[3][3];
        for (int k = 0; k < 9; k++)
            for (int64_t i = 0; i < mesh.n_nodes; i++)
                modes[n * k + 3 * i + k / 3] = mesh.nodes[3 * i + k % 3];
        assert_int_equal(modal_rule_table_init(&mesh, &rules, NULL), MODAL_OK);
        for (int64_t e = 0; e < mesh.n_elements; e++) volume += modal_element_measure(&mesh, e, &rules).volume;
        assert_int_equal(modal_stvk_reduced_forces(&mesh, 9, modes, 1, NULL, &forces, NULL, NULL), MODAL_OK);
        for (int turn = 0; turn < 4; turn++) {
            double f[3][3];
            for (int k = 0; k < 9; k++) f[k / 3][k % 3] = (k % 4 == 0) + (q[k] = random_unit() * pow(4, turn - 2));
            const double energy = volume * stvk_density(&mesh.materials[1], f, p);
            assert_true(fabs(evaluate(&forces, 9, q, reduced) / energy - 1) <= 1e-12);
            for (int k = 0; k < 9; k++)
                assert_true(fabs(reduced[k] - volume * p[k / 3][k % 3]) <= 1e-12 * volume * largest(9, p[0]));
        }
        for (int turn = 0; turn < 4; turn++) {
            /* Rodrigues: by an angle about an axis */
            const double angle = 0.8 * turn + 0.3, axis[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3};
            const double cross[9] = {0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0};
            for (int k = 0; k < 9; k++)
                q[k] = sin(angle) * cross[k] +
                       (1 - cos(angle)) * (axis[k / 3] * axis[k % 3] - (k % 4 == 0));
            combine(n, 9, modes, q, u);
            const double size = largest(9 * 9, forces.linear);
            assert_true(fabs(stvk_full(&mesh, u, full)) <= 1e-12 * size);
            assert_true(largest(n, full) <= 1e-12 * size);
            assert_true(fabs(evaluate(&forces, 9, q, reduced)) <= 1e-12 * size);
            assert_true(largest(9, reduced) <= 1e-12 * size);
        }
        modal_reduced_forces_free(&forces);
        modal_rule_table_free(&rules);
        modal_free(&modes);
        modal_free(&u);
        modal_free(&full);
        modal_volume_mesh_free(&mesh);
    }
}

/* out = f(a x + b y) */
static void force_at(const modal_volume_mesh *mesh, double a, const double *x, double b, const double *y,
                     double *out)
{
    double *u = room(3 * mesh->n_nodes);
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) u[i] = a * x[i] + b * y[i];
    stvk_full(mesh, u, out);
    modal_free(&u);
}

/* K phi_ij = -H(phi_i, phi_j) at the free nodes, both sides from differences of the full forces, which are
 * exact at any step for forces of third degree. */
static void test_derivatives(void **state)
{
    (void)state;
    enum { K = 3 };
    for (int type = 0; type < MESH_KINDS; type++) {
        modal_volume_mesh mesh;
        modal_modes_result modes;
        modal_derivatives_report report;
        random_state = 8;
        make_solid(&mesh, type, 0, 0);
        const int64_t n = 3 * mesh.n_nodes;
        int32_t fixed[64], n_fixed = 0;
        for (int64_t i = 0; i < mesh.n_nodes; i++) /* where bend() puts the face x = 0 */
            if (fabs(mesh.nodes[3 * i] - 0.2 * (mesh.nodes[3 * i + 1] + mesh.nodes[3 * i + 2] / 9) *
                                             mesh.nodes[3 * i + 2] / 0.9) < 1e-9)
                fixed[n_fixed++] = (int32_t)i;
        assert_true(n_fixed >= 9);
        const modal_modes_options wanted = {.n_modes = 6, .n_threads = 1};
        const modal_derivatives_options options = {.n_linear = K, .n_modes = 1, .n_threads = 2};
        assert_int_equal(modal_modes_solve(&mesh, fixed, n_fixed, &wanted, &modes, NULL, NULL), MODAL_OK);
        double *derivatives, *image = room(n), *curvature = room(n), *f = room(n);
        const reduced_solid solid = {&mesh, fixed, n_fixed, &options, modes.eigenvalues, modes.modes};
        assert_int_equal(modal_derivatives_compute(&solid, &derivatives, &report, NULL, NULL),
                         MODAL_OK);
        for (int i = 0, at = 0; i < K; i++)
            for (int j = i; j < K; j++, at++) {
                const double *x = modes.modes + n * i, *y = modes.modes + n * j, *d = derivatives + n * at;
                double h = 0.1 / largest(n, d);
                memset(image, 0, (size_t)n * sizeof *image);
                memset(curvature, 0, (size_t)n * sizeof *curvature);
                for (int step = -2; step <= 2; step++) {
                    force_at(&mesh, step * h, d, 0, d, f);
                    const double weight = (step > 0 ? 1 : -1) * (abs(step) == 1 ? 8 : -1) / (12 * h);
                    for (int64_t k = 0; k < n && step != 0; k++) image[k] += weight * f[k];
                }
                h = 0.1 / fmax(largest(n, x), largest(n, y));
                for (int corner = 0; corner < 4; corner++) {
                    const int a = corner / 2 * 2 - 1, b = corner % 2 * 2 - 1;
                    force_at(&mesh, a * h, x, b * h, y, f);
                    for (int64_t k = 0; k < n; k++) curvature[k] += a * b * f[k] / (4 * h * h);
                }
                for (int k = 0; k < n_fixed; k++)
                    for (int p = 0; p < 3; p++) {
                        assert_true(d[3 * fixed[k] + p] == 0);
                        image[3 * fixed[k] + p] = curvature[3 * fixed[k] + p] = 0;
                    }
                const double size = largest(n, curvature);
                assert_true(size > 0);
                for (int64_t k = 0; k < n; k++) assert_true(fabs(image[k] + curvature[k]) <= 1e-8 * size);
            }
        modal_free(&derivatives);
        modal_free(&image);
        modal_free(&curvature);
        modal_free(&f);
        modal_modes_result_free(&modes);
        modal_volume_mesh_free(&mesh);
    }
}

/* A coefficient of the energy has one value, from whichever force it is read; and the bytes are the same
 * for every number of threads. Of the mixture, whose points come in blocks of five types. */
static void test_unique_terms(void **state)
{
    (void)state;
    enum { R = 5 };
    modal_volume_mesh mesh;
    modal_reduced_forces forces, other;
    random_state = 9;
    make_solid(&mesh, MESH_MIXED, 0, 0);
    double *modes = make_modes(&mesh, R, 1);
    assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 1, NULL, &forces, NULL, NULL), MODAL_OK);
    for (int a = 0; a < R; a++)
        for (int b = a; b < R; b++)
            for (int c = b; c < R; c++)
                for (int d = c; d < R; d++) {
                    const int word[4] = {a, b, c, d};
                    double value = 0;
                    for (int at = 0; at < 4; at++) {
                        const int l = word[at], count = (l == a) + (l == b) + (l == c) + (l == d);
                        int rest[3], n = 0;
                        for (int k = 0; k < 4; k++)
                            if (k != at) rest[n++] = word[k];
                        const double here = forces.cubic[l * modal_cubic_count(R) +
                                                         modal_cubic_index(R, rest[0], rest[1], rest[2])] /
                                            count;
                        assert_true(at == 0 || fabs(here - value) <= 1e-15 * fabs(value));
                        value = here;
                    }
                    assert_true(value != 0);
                }
    for (int threads = 2; threads < 5; threads++) {
        assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, threads, NULL, &other, NULL, NULL),
                         MODAL_OK);
        assert_memory_equal(forces.linear, other.linear, R * R * sizeof(double));
        assert_memory_equal(forces.cubic, other.cubic, (size_t)(R * modal_cubic_count(R)) * sizeof(double));
        modal_reduced_forces_free(&other);
    }
    for (int i = 0; i < modal_device_count(); i++) { /* the reference, this processor, GPUs where there are */
        modal_device device;
        assert_int_equal(modal_device_describe(i, &device, NULL), MODAL_OK);
        assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 2, &device, &other, NULL, NULL), MODAL_OK);
        const int64_t n = R * modal_cubic_count(R);
        const double top = largest(n, forces.cubic);
        for (int64_t k = 0; k < n; k++) assert_true(fabs(forces.cubic[k] - other.cubic[k]) <= 1e-13 * top);
        modal_reduced_forces_free(&other);
        print_message("%s: %s\n", device.name, device.hardware);
    }
    modal_reduced_forces_free(&forces);
    modal_free(&modes);
    modal_volume_mesh_free(&mesh);
}

static void test_refusals(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_reduced_forces forces;
    modal_error err = {0};
    make_solid(&mesh, MODAL_ELEMENT_HEX8, 0, 0);
    double *modes = make_modes(&mesh, 2, 1);
    int32_t *nodes = modal_mesh_nodes(&mesh, 3), keep = nodes[0];
    const uint8_t *mirror = modal_element_kinds[MODAL_ELEMENT_HEX8].mirror;
    int32_t kept[8];
#define REFUSED(wanted)                                                                                   \
    memset(&err, 0, sizeof err);                                                                             \
    assert_int_equal(modal_stvk_reduced_forces(&mesh, 2, modes, 1, NULL, &forces, NULL, &err),               \
                     MODAL_ERROR_INPUT);                                                                     \
    assert_non_null(strstr(err.message, wanted));                                                            \
    assert_null(forces.cubic)
    memcpy(kept, nodes, sizeof kept);
    for (int a = 0; a < 8; a++) nodes[a] = kept[mirror[a]];
    REFUSED("element 5003: HEX8 with the Jacobian");
    memcpy(nodes, kept, sizeof kept);
    nodes[0] = (int32_t)mesh.n_nodes;
    REFUSED("element 5003: node index");
    nodes[0] = keep;
    mesh.element_type[3] = 77;
    REFUSED("element 5003: no type of number 77");
    mesh.element_type[3] = MODAL_ELEMENT_HEX8;
    mesh.element_material[3] = 2;
    REFUSED("element 5003: no material");
    mesh.element_material[3] = 1;
    mesh.materials[1].orthotropic[8] = -1;
    REFUSED("G23");
    mesh.materials[1].orthotropic[8] = 1e5;
    for (int n = 1;; n++) {
        modal_alloc_fail_at(n);
        const modal_status status = modal_stvk_reduced_forces(&mesh, 2, modes, 1, NULL, &forces, NULL, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        modal_reduced_forces_free(&forces);
        if (!fired) break;
    }
    modal_free(&modes);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces),       cmocka_unit_test(test_full_forces),
        cmocka_unit_test(test_homogeneous),  cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_unique_terms), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
