/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers make of good files: those of tests/files, and small ones written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/meshes/bou.h"
#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/obj.h"
#include "lib/base/memory.h"
#include "tests/unit/readers_compare.h"

#define FILES MODAL_SOURCE_DIR "/tests/files/"

static modal_volume_mesh read_good(const char *path)
{
    modal_volume_mesh mesh;
    modal_error err = {0};
    if (modal_mesh_read(path, &mesh, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_true(mesh_is_sound(&mesh));
    return mesh;
}

static const modal_group *find_group(const modal_volume_mesh *mesh, const char *name)
{
    for (int32_t i = 0; i < mesh->n_groups; i++)
        if (strcmp(mesh->groups[i].name, name) == 0) return &mesh->groups[i];
    fail_msg("no group %s", name);
    return NULL;
}

#define ASSERT_ARRAY(actual, n, ...) \
    do { \
        const __typeof__(*(actual)) expected_[] = {__VA_ARGS__}; \
        assert_int_equal((n), sizeof expected_ / sizeof *expected_); \
        assert_memory_equal((actual), expected_, sizeof expected_); \
    } while (0)

static void test_msh_contents(void **state)
{
    (void)state;
    modal_volume_mesh mesh = read_good(FILES "good-22.msh");
    ASSERT_ARRAY(mesh.node_tags, mesh.n_nodes, 10, 3, 700, 41, 5);
    ASSERT_ARRAY(mesh.nodes, 3 * mesh.n_nodes, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1);
    ASSERT_ARRAY(mesh.element_tags, mesh.n_elements, 12, 7);
    ASSERT_ARRAY(mesh.element_nodes, 4 * mesh.n_elements, 0, 1, 2, 3, 1, 2, 3, 4);
    ASSERT_ARRAY(mesh.element_material, mesh.n_elements, -1, -1);
    assert_int_equal(mesh.n_materials, 0);
    assert_int_equal(mesh.n_groups, 4);
    static const struct {
        const char *name;
        int dimension, tag;
    } expected[4] = {{"tip", 0, 9}, {"3", 1, 3}, {"fixed side", 2, 2}, {"body", 3, 1}};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(mesh.groups[i].name, expected[i].name);
        assert_int_equal(mesh.groups[i].dimension, expected[i].dimension);
        assert_int_equal(mesh.groups[i].tag, expected[i].tag);
    }
    ASSERT_ARRAY(mesh.groups[0].nodes, mesh.groups[0].n_nodes, 4);
    ASSERT_ARRAY(mesh.groups[1].nodes, mesh.groups[1].n_nodes, 0, 1);
    ASSERT_ARRAY(mesh.groups[2].nodes, mesh.groups[2].n_nodes, 0, 1, 2);
    ASSERT_ARRAY(mesh.groups[3].nodes, mesh.groups[3].n_nodes, 0, 1, 2, 3, 4);
    ASSERT_ARRAY(mesh.groups[3].elements, mesh.groups[3].n_elements, 0, 1);
    modal_volume_mesh_free(&mesh);
}

static void test_msh_variants_are_equal(void **state)
{
    (void)state;
    static const char *const variants[] = {FILES "good-41.msh",
                                           FILES "good-22-binary.msh",
                                           FILES "good-41-binary.msh",
                                           FILES "good-22-crlf.msh",
                                           FILES "good-41-parametric.msh",
                                           FILES "good-22-other-sections.msh"};
    modal_volume_mesh mesh = read_good(FILES "good-22.msh");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        modal_volume_mesh other = read_good(variants[i]);
        if (!meshes_are_equal(&mesh, &other)) fail_msg("%s differs", variants[i]);
        modal_volume_mesh_free(&other);
    }
    modal_volume_mesh_free(&mesh);
}

static void test_msh_without_groups(void **state)
{
    (void)state;
    modal_volume_mesh mesh = read_good(FILES "good-22.msh");
    modal_volume_mesh other = read_good(FILES "good-41-no-groups.msh");
    assert_true(nodes_and_elements_are_equal(&mesh, &other));
    assert_int_equal(other.n_groups, 0);
    modal_volume_mesh_free(&mesh);
    modal_volume_mesh_free(&other);
}

/* A tetrahedron of two groups is written twice in version 2.2 and is one element. */
static void test_msh_element_of_two_groups(void **state)
{
    (void)state;
    modal_volume_mesh mesh = read_good(FILES "good-22.msh");
    modal_volume_mesh other = read_good(FILES "good-22-two-groups.msh");
    assert_true(nodes_and_elements_are_equal(&mesh, &other));
    const modal_group *body = find_group(&other, "body"), *second = find_group(&other, "6");
    ASSERT_ARRAY(body->elements, body->n_elements, 0, 1);
    ASSERT_ARRAY(second->elements, second->n_elements, 0);
    ASSERT_ARRAY(second->nodes, second->n_nodes, 0, 1, 2, 3);
    modal_volume_mesh_free(&mesh);
    modal_volume_mesh_free(&other);
}

static modal_status parse_mesh(const char *text, const char *name, modal_volume_mesh *mesh,
                               modal_error *err)
{
    *err = (modal_error){0};
    return modal_mesh_parse(text, (int64_t)strlen(text), name, mesh, err);
}

/* The same tetrahedron twice in one group is a mistake of the mesh, for lib/mesh to report. */
static void test_msh_repeated_tetrahedron_is_kept(void **state)
{
    (void)state;
    static const char text[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
        "$EndNodes\n$Elements\n2\n1 4 2 1 1 1 2 3 4\n2 4 2 1 1 1 2 3 4\n$EndElements\n";
    modal_volume_mesh mesh;
    modal_error err;
    assert_int_equal(parse_mesh(text, "a", &mesh, &err), MODAL_OK);
    ASSERT_ARRAY(mesh.element_tags, mesh.n_elements, 1, 2);
    modal_volume_mesh_free(&mesh);
}

static void test_msh_groups_of_entities(void **state)
{
    (void)state;
    /* Two groups of one volume, one of them turned over; a named group of nothing; a group number
     * that no element has; second-order triangles. */
    static const char text[] =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 2 \"b c\"\n2 9 \"none\"\n"
        "$EndPhysicalNames\n$Entities\n0 0 2 1\n1 0 0 0 1 1 1 1 4 0\n2 0 0 0 1 1 1 1 77 0\n"
        "5 0 0 0 1 1 1 2 1 -2 0\n$EndEntities\n$Nodes\n1 7 1 7\n3 5 0 7\n1\n2\n3\n4\n5\n6\n7\n"
        "0 0 0\n1 0 0\n0 1 0\n0 0 1\n.5 0 0\n.5 .5 0\n0 .5 0\n$EndNodes\n$Elements\n2 2 1 2\n"
        "2 1 9 1\n1 1 2 3 5 6 7\n3 5 4 1\n2 1 2 3 4\n$EndElements\n";
    modal_volume_mesh mesh;
    modal_error err;
    assert_int_equal(parse_mesh(text, "a", &mesh, &err), MODAL_OK);
    assert_true(mesh_is_sound(&mesh));
    assert_int_equal(mesh.n_groups, 4);
    const modal_group *group = find_group(&mesh, "4");
    ASSERT_ARRAY(group->nodes, group->n_nodes, 0, 1, 2, 4, 5, 6);
    assert_int_equal(find_group(&mesh, "none")->n_nodes, 0);
    group = find_group(&mesh, "1");
    ASSERT_ARRAY(group->elements, group->n_elements, 0);
    group = find_group(&mesh, "b c");
    ASSERT_ARRAY(group->elements, group->n_elements, 0);
    modal_volume_mesh_free(&mesh);
}

static void test_type_is_recognised(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_error err;
    assert_int_equal(parse_mesh("v 0 0 0\n", "a.obj", &mesh, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "a.obj: not a volume mesh that can be read, which are Gmsh "
                                     ".msh 1.0, 2 and 4, VegaFEM .veg, Abaqus .inp, Medit .mesh "
                                     "and .meshb, TetGen .node, .ele and .face, VTK .vtk and .vtu");
    assert_int_equal(parse_mesh("v 0 0 0\n", "a.VEG", &mesh, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "a.VEG:1: name of a section expected, 'v'");
    assert_int_equal(parse_mesh("# x\n\n*VERTICES\n", "a", &mesh, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "a:4: the file ends, number of vertices expected");
    assert_int_equal(parse_mesh("$MeshFormat\n", "a.veg", &mesh, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "a.veg:2: version of the format missing");
}

/* Every type of element; mid-side nodes must lie in the middle of their edges, which they only do in
 * the order of element.h. */
static void test_element_types(void **state)
{
    (void)state;
    modal_volume_mesh mesh = read_good(FILES "good-41-mixed.msh");
    ASSERT_ARRAY(mesh.element_type, mesh.n_elements, MODAL_ELEMENT_HEX8, MODAL_ELEMENT_PYRAMID5,
                 MODAL_ELEMENT_WEDGE6, MODAL_ELEMENT_TET4);
    ASSERT_ARRAY(mesh.element_offsets, mesh.n_elements + 1, 0, 8, 13, 19, 23);
    ASSERT_ARRAY(mesh.element_nodes, mesh.element_offsets[mesh.n_elements], 0, 1, 2, 3, 4, 5, 6, 7, 4,
                 5, 6, 7, 8, 3, 2, 9, 7, 6, 10, 7, 6, 10, 8);
    ASSERT_ARRAY(mesh.groups[0].elements, mesh.groups[0].n_elements, 0, 1, 2, 3);
    assert_true(mesh.groups[0].n_nodes == 11);
    modal_volume_mesh_free(&mesh);
    mesh = read_good(FILES "good-cubic.veg");
    ASSERT_ARRAY(mesh.element_type, mesh.n_elements, MODAL_ELEMENT_HEX8, MODAL_ELEMENT_HEX8);
    ASSERT_ARRAY(mesh.element_nodes, mesh.element_offsets[mesh.n_elements], 0, 1, 2, 3, 4, 5, 6, 7, 4,
                 5, 6, 7, 8, 9, 10, 11);
    modal_volume_mesh_free(&mesh);
    mesh = read_good(FILES "good-22-quadratic.msh");
    ASSERT_ARRAY(mesh.element_type, mesh.n_elements, MODAL_ELEMENT_TET10, MODAL_ELEMENT_HEX20);
    for (int64_t e = 0; e < mesh.n_elements; e++) {
        const modal_element_kind *kind = modal_mesh_kind(&mesh, e);
        const int32_t *nodes = modal_mesh_nodes(&mesh, e);
        for (int i = 0; i < kind->n_edges; i++)
            for (int k = 0; k < 3; k++) {
                const double middle = (mesh.nodes[3 * nodes[kind->edges[i][0]] + k] +
                                       mesh.nodes[3 * nodes[kind->edges[i][1]] + k]) / 2;
                assert_true(mesh.nodes[3 * nodes[kind->n_corners + i] + k] == middle);
            }
    }
    modal_volume_mesh_free(&mesh);
}

static void test_veg_contents(void **state)
{
    (void)state;
    modal_volume_mesh mesh = read_good(FILES "good.veg");
    ASSERT_ARRAY(mesh.node_tags, mesh.n_nodes, 1, 2, 3, 4, 5);
    ASSERT_ARRAY(mesh.nodes, 3 * mesh.n_nodes, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1);
    ASSERT_ARRAY(mesh.element_tags, mesh.n_elements, 1, 2);
    ASSERT_ARRAY(mesh.element_nodes, 4 * mesh.n_elements, 0, 1, 2, 3, 1, 2, 3, 4);
    ASSERT_ARRAY(mesh.element_material, mesh.n_elements, 0, 1);
    assert_int_equal(mesh.n_materials, 2);
    assert_string_equal(mesh.materials[0].name, "soft");
    assert_true(mesh.materials[0].density == 1000 && mesh.materials[0].young == 1e6 &&
                mesh.materials[0].poisson == 0.45);
    assert_string_equal(mesh.materials[1].name, "hard");
    assert_true(mesh.materials[1].density == 7800 && mesh.materials[1].young == 2.1e11 &&
                mesh.materials[1].poisson == 0.3);
    assert_int_equal(mesh.n_groups, 2);
    assert_string_equal(mesh.groups[0].name, "far");
    assert_int_equal(mesh.groups[0].dimension, 3);
    assert_int_equal(mesh.groups[0].tag, -1);
    ASSERT_ARRAY(mesh.groups[0].elements, mesh.groups[0].n_elements, 1);
    ASSERT_ARRAY(mesh.groups[0].nodes, mesh.groups[0].n_nodes, 1, 2, 3, 4);
    assert_string_equal(mesh.groups[1].name, "both");
    ASSERT_ARRAY(mesh.groups[1].elements, mesh.groups[1].n_elements, 0, 1);

    modal_volume_mesh other = read_good(FILES "good-crlf.veg");
    assert_true(meshes_are_equal(&mesh, &other));
    modal_volume_mesh_free(&other);

    other = read_good(FILES "good-zero-based.veg");
    ASSERT_ARRAY(other.node_tags, other.n_nodes, 0, 1, 2, 3, 4);
    ASSERT_ARRAY(other.element_tags, other.n_elements, 0, 1);
    for (int64_t i = 0; i < other.n_nodes; i++) other.node_tags[i]++;
    for (int64_t i = 0; i < other.n_elements; i++) other.element_tags[i]++;
    assert_true(meshes_are_equal(&mesh, &other));
    modal_volume_mesh_free(&other);

    other = read_good(FILES "good-no-material.veg");
    assert_true(nodes_and_elements_are_equal(&mesh, &other));
    ASSERT_ARRAY(other.element_material, other.n_elements, -1, -1);
    assert_int_equal(other.n_materials, 0);
    modal_volume_mesh_free(&other);
    modal_volume_mesh_free(&mesh);
}

static void test_bou_contents(void **state)
{
    (void)state;
    int64_t *numbers, count;
    assert_int_equal(modal_bou_read(FILES "good.bou", &numbers, &count, NULL), MODAL_OK);
    ASSERT_ARRAY(numbers, count, 7, 51, 52, 103, 104);
    modal_free(&numbers);
    assert_int_equal(modal_bou_read(FILES "good-no-newline.bou", &numbers, &count, NULL), MODAL_OK);
    ASSERT_ARRAY(numbers, count, 3);
    modal_free(&numbers);
}

static modal_surface_mesh read_surface(const char *path)
{
    modal_surface_mesh surface;
    modal_error err = {0};
    if (modal_obj_read(path, &surface, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_true(surface_is_sound(&surface));
    return surface;
}

static void test_obj_contents(void **state)
{
    (void)state;
    modal_surface_mesh surface = read_surface(FILES "good.obj");
    ASSERT_ARRAY(surface.positions, 3 * surface.n_vertices, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0,
                 0, 1);
    ASSERT_ARRAY(surface.triangles, 3 * surface.n_triangles, 0, 1, 2, 0, 2, 3, 0, 1, 4);
    ASSERT_ARRAY(surface.uv, 2 * surface.n_uv, 0, 0, 1, 0, 1, 1, .5, 0);
    ASSERT_ARRAY(surface.triangle_uv, 3 * surface.n_triangles, 0, 1, 2, 0, 2, 3, 0, 1, 2);
    modal_surface_mesh_free(&surface);

    static const char *const without_uv[] = {FILES "good-positions.obj", FILES "good-normals.obj"};
    for (size_t i = 0; i < 2; i++) {
        surface = read_surface(without_uv[i]);
        ASSERT_ARRAY(surface.positions, 3 * surface.n_vertices, 0, 0, 0, 1, 0, 0, 0, 1, 0);
        ASSERT_ARRAY(surface.triangles, 3 * surface.n_triangles, 0, 1, 2);
        assert_null(surface.uv);
        modal_surface_mesh_free(&surface);
    }
    surface = read_surface(FILES "good-some-uv.obj");
    ASSERT_ARRAY(surface.triangles, 3 * surface.n_triangles, 0, 1, 2, 2, 1, 0);
    assert_null(surface.uv);
    assert_null(surface.triangle_uv);
    assert_true(surface.n_uv == 0);
    modal_surface_mesh_free(&surface);
}

static void test_obj_polygon_is_a_fan(void **state)
{
    (void)state;
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 2 0\nf 2 3 4 5 1\n";
    modal_surface_mesh surface;
    assert_int_equal(modal_obj_parse(text, sizeof text - 1, "a", &surface, NULL, NULL), MODAL_OK);
    ASSERT_ARRAY(surface.triangles, 3 * surface.n_triangles, 1, 2, 3, 1, 3, 4, 1, 4, 0);
    modal_surface_mesh_free(&surface);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_msh_contents),
        cmocka_unit_test(test_msh_variants_are_equal),
        cmocka_unit_test(test_msh_without_groups),
        cmocka_unit_test(test_msh_element_of_two_groups),
        cmocka_unit_test(test_msh_repeated_tetrahedron_is_kept),
        cmocka_unit_test(test_msh_groups_of_entities),
        cmocka_unit_test(test_type_is_recognised),
        cmocka_unit_test(test_element_types),
        cmocka_unit_test(test_veg_contents),
        cmocka_unit_test(test_bou_contents),
        cmocka_unit_test(test_obj_contents),
        cmocka_unit_test(test_obj_polygon_is_a_fan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
