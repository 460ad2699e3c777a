/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a mesh into shapes, and which of them are congruent. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/shape/congruent.h"
#include "lib/shape/split.h"
#include "tests/unit/solid_fixtures.h"

static const double size[3] = {1, 0.6, 0.7};

static void make(modal_shape *shape)
{
    memset(shape, 0, sizeof *shape);
    solid_bar(&shape->solid.mesh, 3, 2, 2, size, 1, 2e11, 0.3, 7800);
    for (int64_t i = 0; i < 3 * shape->solid.mesh.n_nodes; i++)
        shape->solid.mesh.nodes[i] += 0.05 * sin(7.0 * (double)i * (double)i);
    shape->solid.n_fixed_nodes = 2;
    assert_int_equal(modal_alloc_zero(&shape->solid.fixed_nodes, 2, sizeof(int32_t), "", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&shape->solid.fixed_components, 2, 1, "", NULL), MODAL_OK);
    shape->solid.fixed_nodes[1] = 5;
    memset(shape->solid.fixed_components, MODAL_FIXED_ALL, 2);
}

/* x -> a x + p */
static void move(modal_shape *shape, const double a[9], const double p[3])
{
    for (int64_t i = 0; i < shape->solid.mesh.n_nodes; i++) {
        double *x = shape->solid.mesh.nodes + 3 * i, y[3];
        for (int k = 0; k < 3; k++) y[k] = a[3 * k] * x[0] + a[3 * k + 1] * x[1] + a[3 * k + 2] * x[2] + p[k];
        memcpy(x, y, sizeof y);
    }
}

static void test_congruence(void **state)
{
    (void)state;
    const double c = cos(2.5), s = sin(2.5), turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    const double half[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1}, same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1}, larger[9] = {1.00001, 0, 0, 0, 1.00001, 0, 0, 0, 1.00001};
    const double shear[9] = {1, 1e-7, 0, 0, 1, 0, 0, 0, 1}, p[3] = {3, -40, 0.5};
    const struct { const double *a; int congruent, with_directions; } cases[] = {
        {turn, 1, 0}, {half, 1, 0}, {same, 1, 1}, {mirror, 0, 0}, {larger, 0, 0}, {shear, 0, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        modal_shape a, b;
        double frame[12];
        make(&a), make(&b);
        move(&b, cases[k].a, p);
        assert_int_equal(modal_shapes_are_congruent(&a, &b, frame), cases[k].congruent);
        for (int i = 0; i < 3 && cases[k].congruent; i++) {
            assert_true(fabs(frame[4 * i + 3] - p[i]) <= 1e-12 * 40);
            for (int j = 0; j < 3; j++) assert_true(fabs(frame[4 * i + j] - cases[k].a[3 * i + j]) <= 1e-12);
        }
        a.solid.fixed_components[1] = b.solid.fixed_components[1] = 1; /* rollers have a direction */
        assert_int_equal(modal_shapes_are_congruent(&a, &b, frame), cases[k].with_directions);
        modal_shape_free(&a), modal_shape_free(&b);
    }
}

static void test_differences(void **state)
{
    (void)state;
    for (int difference = 0; difference < 6; difference++) {
        modal_shape a, b;
        double frame[12];
        make(&a), make(&b);
        assert_true(modal_shapes_are_congruent(&a, &b, frame));
        if (difference == 0) b.solid.mesh.materials[0].young *= 1 + 1e-15;
        if (difference == 1) b.solid.mesh.materials[0].density = NAN;
        if (difference == 2) b.solid.fixed_nodes[1] = 6;
        if (difference == 3) b.solid.n_fixed_nodes = 1;
        if (difference == 4) b.solid.mesh.nodes[7] += 1e-8;
        if (difference == 5) b.solid.mesh.nodes[7] = NAN;
        assert_false(modal_shapes_are_congruent(&a, &b, frame));
        modal_shape_free(&a), modal_shape_free(&b);
    }
}

static void test_split(void **state)
{
    (void)state;
    modal_shape whole = {0}, parts[3] = {{0}};
    int32_t part[3 * 72], n_parts = 0;
    int64_t n_shared = -1;
    solid_bar(&whole.solid.mesh, 3, 2, 2, size, 3, 2e11, 0.3, 7800);
    const modal_volume_mesh *mesh = &whole.solid.mesh;
    whole.solid.n_fixed_nodes = 1;
    assert_int_equal(modal_alloc(&whole.solid.fixed_nodes, 1, sizeof(int32_t), "", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&whole.solid.fixed_components, 1, 1, "", NULL), MODAL_OK);
    whole.solid.fixed_nodes[0] = 36 + 4;
    whole.solid.fixed_components[0] = 3;
    assert_int_equal(modal_split_bodies(mesh, part, &n_parts, NULL), MODAL_OK);
    assert_int_equal(n_parts, 3);
    for (int e = 0; e < 216; e++) assert_int_equal(part[e], e / 72);
    assert_int_equal(modal_split_shape(&whole, part, 3, parts, &n_shared, NULL), MODAL_OK);
    assert_int_equal(n_shared, 0);
    for (int k = 0; k < 3; k++) {
        const modal_volume_mesh *to = &parts[k].solid.mesh;
        assert_int_equal(to->n_nodes, 36);
        assert_int_equal(to->n_elements, 72);
        assert_int_equal(parts[k].solid.n_fixed_nodes, k == 1);
        for (int i = 0; i < 36; i++) {
            assert_memory_equal(to->nodes + 3 * i, mesh->nodes + 3 * (36 * k + i), 24);
            assert_int_equal(to->node_tags[i], 1000 + 36 * k + i);
        }
        for (int i = 0; i < 288; i++)
            assert_int_equal(to->element_nodes[i] + 36 * k, mesh->element_nodes[288 * k + i]);
    }
    assert_int_equal(parts[1].solid.fixed_nodes[0], 4);
    assert_int_equal(parts[1].solid.fixed_components[0], 3);
    for (int k = 0; k < 3; k++) modal_shape_free(&parts[k]);
    /* elements taken in turn: nodes between them belong to both */
    for (int e = 0; e < 216; e++) part[e] = e & 1;
    assert_int_equal(modal_split_shape(&whole, part, 2, parts, &n_shared, NULL), MODAL_OK);
    assert_true(n_shared > 50);
    assert_int_equal(parts[0].solid.mesh.n_nodes + parts[1].solid.mesh.n_nodes, 108 + n_shared);
    for (int e = 0; e < 108; e++)
        for (int k = 0; k < 4; k++)
            assert_int_equal(parts[1].solid.mesh.node_tags[modal_mesh_nodes(&parts[1].solid.mesh, e)[k]],
                             1000 + modal_mesh_nodes(mesh, 2 * e + 1)[k]);
    for (int k = 0; k < 2; k++) modal_shape_free(&parts[k]);
    for (int n = 1;; n++) {
        modal_alloc_fail_at(n);
        const modal_status status = modal_split_shape(&whole, part, 2, parts, &n_shared, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        for (int k = 0; k < 2; k++) modal_shape_free(&parts[k]);
        if (!fired) break;
    }
    modal_shape_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_congruence), cmocka_unit_test(test_differences),
                                       cmocka_unit_test(test_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
