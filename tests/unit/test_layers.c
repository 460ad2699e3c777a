/* SPDX-License-Identifier: Apache-2.0 */
/* Elements through the thickness: plates, cubes and a step, of every type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/check.h"
#include "lib/mesh/layers.h"
#include "tests/unit/element_meshes.h"

static void bend(const double x[3], double y[3])
{
    /* a thin, bent plate: sizes must not matter */
    y[0] = 10 * x[0];
    y[1] = 7 * x[1];
    y[2] = 0.01 * x[2] + x[0] * x[0];
}

static modal_layers layers_of(const modal_volume_mesh *mesh)
{
    modal_surface_mesh surface;
    modal_layers layers;
    modal_error err = {0};
    int32_t *nodes;
    if (modal_volume_mesh_boundary(mesh, &surface, &nodes, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_int_equal(modal_mesh_count_layers(mesh, surface.n_vertices, nodes, &layers, &err), MODAL_OK);
    modal_free(&nodes);
    modal_surface_mesh_free(&surface);
    return layers;
}

static modal_layers box_layers(int type, int x, int y, int z)
{
    const int cells[3] = {x, y, z};
    modal_volume_mesh mesh;
    modal_mesh_summary summary;
    element_mesh(&mesh, type, cells, type == MODAL_ELEMENT_PYRAMID5 ? NULL : bend, 1);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    const modal_layers layers = layers_of(&mesh);
    modal_volume_mesh_free(&mesh);
    return layers;
}

/* A plate of n layers of cells: thin below four, thick from four on; one layer is said to be one. */
static void test_plates(void **state)
{
    (void)state;
    static const int types[] = {MODAL_ELEMENT_TET4, MODAL_ELEMENT_HEX8, MODAL_ELEMENT_WEDGE6};
    for (int t = 0; t < 3; t++)
        for (int n = 1; n <= 8; n++) {
            const modal_layers l = box_layers(types[t], 20, 16, n);
            const double thin = (double)l.n_thin / (double)l.n_surface;
            if (n < 4 ? l.n_thin != l.n_surface : !(thin < 0.1))
                fail_msg("%s, %d layers: %lld of %lld are thin", element_mesh_name(types[t]), n, (long long)l.n_thin,
                         (long long)l.n_surface);
            assert_true(n == 1 ? l.n_single == l.n_surface : l.n_single == 0);
        }
}

/* Rods are thin in two directions, cubes in none. */
static void test_rods(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        const modal_layers rod = box_layers(MODAL_ELEMENT_HEX8, 30, n, n), flat = box_layers(MODAL_ELEMENT_HEX8, 30, n, 2);
        assert_true(n < 4 ? rod.n_thin == rod.n_surface : rod.n_thin == 0);
        assert_true(flat.n_thin == flat.n_surface);
    }
}

/* A pyramid's cell has a node inside: one cell of pyramids is two layers. */
static void test_pyramids(void **state)
{
    (void)state;
    assert_true(box_layers(MODAL_ELEMENT_PYRAMID5, 8, 8, 1).n_single == 0);
    assert_true(box_layers(MODAL_ELEMENT_PYRAMID5, 8, 8, 1).n_thin > 0);
    assert_true(box_layers(MODAL_ELEMENT_PYRAMID5, 8, 8, 4).n_thin == 0);
}

/* Half of a plate is one layer, the other six: the thin half is thin but for what is near the step. */
static void test_step(void **state)
{
    (void)state;
    const int cells[3] = {24, 8, 6};
    modal_volume_mesh mesh;
    modal_mesh_summary summary;
    element_mesh(&mesh, MODAL_ELEMENT_HEX8, cells, NULL, 1);
    int64_t kept = 0;
    for (int64_t e = 0; e < mesh.n_elements; e++) { /* of cells with x > 1/2 the lowest layer stays */
        const int32_t *nodes = modal_mesh_nodes(&mesh, e);
        double low[3] = {1, 1, 1};
        for (int a = 0; a < 8; a++)
            for (int k = 0; k < 3; k++)
                if (mesh.nodes[3 * nodes[a] + k] < low[k]) low[k] = mesh.nodes[3 * nodes[a] + k];
        if (low[0] > 0.49 && low[2] > 0.01) continue;
        for (int a = 0; a < 8; a++) mesh.element_nodes[8 * kept + a] = nodes[a];
        kept++;
    }
    mesh.n_elements = kept;
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    const modal_layers l = layers_of(&mesh);
    /* the arm: 12 x 8 cells, 2 x 12 x 9 nodes without those at the step; three hops of it pass for thick */
    assert_true(l.n_thin <= 2 * 12 * 9 && l.n_thin >= 2 * 9 * 9);
    assert_true(l.n_single >= 2 * 9 * 9 && l.n_single <= l.n_thin);
    modal_volume_mesh_free(&mesh);
}

/* Quadratic elements do not count. */
static void test_quadratic(void **state)
{
    (void)state;
    for (int type = MODAL_ELEMENT_TET10; type <= MODAL_ELEMENT_HEX20; type += 2)
        assert_true(box_layers(type, 4, 4, 1).n_surface == 0);
}

static void test_memory(void **state)
{
    (void)state;
    const int cells[3] = {2, 2, 2};
    modal_volume_mesh mesh;
    modal_layers layers;
    const int32_t node = 0;
    element_mesh(&mesh, MODAL_ELEMENT_HEX8, cells, NULL, 1);
    modal_alloc_fail_at(1);
    assert_int_equal(modal_mesh_count_layers(&mesh, 1, &node, &layers, NULL), MODAL_ERROR_MEMORY);
    modal_alloc_fail_at(0);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plates), cmocka_unit_test(test_rods),      cmocka_unit_test(test_pyramids),
        cmocka_unit_test(test_step),   cmocka_unit_test(test_quadratic), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
