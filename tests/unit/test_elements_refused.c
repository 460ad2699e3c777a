/* SPDX-License-Identifier: Apache-2.0 */
/* Elements and materials that are refused, and failing allocations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/fem/rigid.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/embed.h"
#include "lib/model/material.h"
#include "tests/unit/element_fixtures.h"

static void expect_material(modal_material m, const char *message)
{
    modal_error err = {0};
    m.name = (char *)"m";
    assert_int_equal(modal_material_check(&m, &err), MODAL_ERROR_INPUT);
    if (!strstr(err.message, message)) fail_msg("%s, not %s", err.message, message);
}

static void test_materials_refused(void **state)
{
    (void)state;
    modal_material good = spruce(), m;
    assert_int_equal(modal_material_check(&good, NULL), MODAL_OK);
    for (int i = 0; i < 9; i++) {
        char message[32];
        m = good;
        m.orthotropic[i] = i >= 3 && i < 6 ? NAN : 0;
        snprintf(message, sizeof message, "\"m\": %s must be ", modal_orthotropic_names[i]);
        expect_material(m, message);
    }
    m = good;
    m.orthotropic[3] = -3.5;
    expect_material(m, "|nu12| must be less than sqrt(E1 / E2) = 3.49603, -3.5");
    m = good;
    memcpy(m.orthotropic + 3, (double[]){3, 3.5, 1}, 3 * sizeof(double));
    expect_material(m, "nu12, nu13 and nu23 are not positive definite together");
    m = good;
    m.axes[4] += 1e-3;
    expect_material(m, "axes 1 and 2 must have the product 0, ");
    m = good;
    for (int k = 0; k < 3; k++) m.axes[k] = -m.axes[k];
    expect_material(m, "axes must be right-handed, determinant -1");
    m = good;
    m.density = -1;
    expect_material(m, "density rho must be > 0 and finite, -1 kg/m^3");
    m = good;
    m.kind = (modal_material_kind)7;
    expect_material(m, "no kind of number 7");
}

static void expect_refused(modal_volume_mesh *mesh, const char *message)
{
    modal_mesh_summary summary;
    modal_error err = {0};
    modal_fem_system system;
    assert_int_equal(modal_volume_mesh_check(mesh, &summary, &err), MODAL_ERROR_INPUT);
    if (!strstr(err.message, message)) fail_msg("%s, not %s", err.message, message);
    err = (modal_error){0};
    assert_int_equal(modal_fem_assemble(mesh, NULL, NULL, 0, MODAL_MASS_CONSISTENT, 1, &system, &err),
                     MODAL_ERROR_INPUT);
    if (!strstr(err.message, "element 5001: ")) fail_msg("%s", err.message);
}

static void test_refused(void **state)
{
    (void)state;
    const int cells[3] = {2, 1, 1};
    for (int type = MODAL_ELEMENT_TET10; type < MODAL_ELEMENT_TYPES; type++) {
        modal_volume_mesh mesh;
        modal_mesh_summary summary;
        char message[128];
        /* one element turned inside out */
        element_mesh(&mesh, type, cells, NULL, 1);
        const modal_element_kind *kind = &modal_element_kinds[type];
        int32_t *nodes = modal_mesh_nodes(&mesh, 1), kept[20];
        memcpy(kept, nodes, sizeof *nodes * kind->n_nodes);
        for (int a = 0; a < kind->n_nodes; a++) nodes[a] = kept[kind->mirror[a]];
        snprintf(message, sizeof message, "element 5001: %s with the Jacobian -", kind->name);
        expect_refused(&mesh, message);
        modal_volume_mesh_free(&mesh);
        /* all of them: put right */
        element_mesh(&mesh, type, cells, NULL, 1);
        for (int64_t e = 0; e < mesh.n_elements; e++) {
            nodes = modal_mesh_nodes(&mesh, e);
            memcpy(kept, nodes, sizeof *nodes * kind->n_nodes);
            for (int a = 0; a < kind->n_nodes; a++) nodes[a] = kept[kind->mirror[a]];
        }
        assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
        assert_true(summary.flipped && fabs(summary.volume - 1) <= 1e-14);
        modal_fem_system system = assemble(&mesh, MODAL_MASS_CONSISTENT, 1);
        modal_fem_system_free(&system);
        modal_volume_mesh_free(&mesh);
    }
    /* a mid-side node beyond the other end of its edge: the volume alone would not show it */
    modal_volume_mesh mesh;
    element_mesh(&mesh, MODAL_ELEMENT_HEX20, cells, NULL, 1);
    mesh.nodes[3 * modal_mesh_nodes(&mesh, 1)[12]] += 0.9;
    modal_error err = {0};
    modal_mesh_summary summary;
    modal_fem_system system;
    assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_CONSISTENT, 1, &system, &err), MODAL_ERROR_INPUT);
    if (!strstr(err.message, "element 5001: HEX20 with the Jacobian -")) fail_msg("%s", err.message);
    /* the check puts it back */
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_true(summary.n_straightened == 1 && fabs(summary.volume - 1) <= 1e-14);
    system = assemble(&mesh, MODAL_MASS_CONSISTENT, 1);
    modal_fem_system_free(&system);
    modal_volume_mesh_free(&mesh);
    err = (modal_error){0};
    /* what is no type */
    element_mesh(&mesh, MODAL_ELEMENT_HEX8, cells, NULL, 1);
    mesh.element_type[1] = 9;
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "element 5001: no type of number 9");
    mesh.element_type[1] = MODAL_ELEMENT_HEX8;
    /* components out of range */
    err = (modal_error){0};
    assert_int_equal(modal_fem_assemble(&mesh, (int32_t[]){3}, (uint8_t[]){8}, 1,
                                        MODAL_MASS_CONSISTENT, 1, &system, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "fixed nodes: components 8 of node 1003");
    modal_volume_mesh_free(&mesh);
    /* two tetrahedra of which one has mid-side nodes on the common face */
    static const int32_t pair[14] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 2, 10};
    static const double places[11][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {.5, 0, 0},
                                         {.5, .5, 0}, {0, .5, 0}, {0, 0, .5}, {.5, 0, .5}, {0, .5, .5},
                                         {-1, -1, -1}};
    solid_allocate(&mesh, 11, 2);
    modal_free(&mesh.element_nodes);
    assert_int_equal(modal_alloc(&mesh.element_nodes, 14, sizeof(int32_t), "", NULL), MODAL_OK);
    memcpy(mesh.element_nodes, pair, sizeof pair);
    memcpy(mesh.nodes, places, sizeof places);
    for (int k = 0; k < 3; k++) mesh.nodes[30 + k] = 1;
    mesh.element_type[0] = MODAL_ELEMENT_TET10;
    mesh.element_offsets[1] = 10;
    mesh.element_offsets[2] = 14;
    mesh.element_nodes[11] = 2;
    mesh.element_nodes[12] = 3;
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    modal_surface_mesh surface;
    int32_t *surface_nodes;
    err = (modal_error){0};
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &surface_nodes, &err),
                     MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "elements 5000 and 5001: face 1001 1002 1003 has not the same "
                                     "mid-side nodes in both");
    modal_volume_mesh_free(&mesh);
}

/* Every allocation may fail: a status, and nothing lost. */
static void test_failing_allocations(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    make(&mesh, MESH_MIXED, 3, bend, 0);
    mesh.materials[0] = (modal_material){mesh.materials[0].name, 0, 0, 1, MODAL_MATERIAL_ORTHOTROPIC,
                                         {1, 1, 1, 0, 0, 0, 1, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    int64_t n = 1;
    for (int fired = 1; fired; n++) {
        modal_mesh_summary summary;
        modal_surface_mesh surface = {0};
        modal_fem_system system = {0};
        modal_rigid_space rigid = {0};
        modal_point_embedding embedding = {0};
        int32_t *nodes = NULL;
        modal_alloc_fail_at(n);
        modal_status status = modal_volume_mesh_check(&mesh, &summary, NULL);
        if (status == MODAL_OK) status = modal_volume_mesh_boundary(&mesh, &surface, &nodes, NULL);
        if (status == MODAL_OK)
            status = modal_embed_points(&mesh, 1, (double[]){0.5, 0.5, 0.5}, &embedding, NULL, NULL);
        if (status == MODAL_OK)
            status = modal_fem_assemble(&mesh, (int32_t[]){0, 1}, (uint8_t[]){1, 2}, 2,
                                        MODAL_MASS_CONSISTENT, 1, &system, NULL);
        if (status == MODAL_OK) status = modal_rigid_space_build(&mesh, &system, 1, &rigid, NULL);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        modal_free(&nodes);
        modal_point_embedding_free(&embedding);
        modal_surface_mesh_free(&surface);
        modal_rigid_space_free(&rigid);
        modal_fem_system_free(&system);
    }
    assert_true(n > 40);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials_refused),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
