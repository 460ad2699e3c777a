/* SPDX-License-Identifier: Apache-2.0 */
/* Real meshes, which are not part of the repository: exit 77 (skipped) where they are absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/meshes/bou.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/obj.h"
#include "lib/base/memory.h"
#include "tests/unit/readers_compare.h"

#define DATA MODAL_TEST_DATA "/"

static modal_volume_mesh read_sound(const char *path)
{
    modal_volume_mesh mesh;
    modal_error err = {0};
    if (modal_mesh_read(path, &mesh, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_true(mesh_is_sound(&mesh));
    return mesh;
}

static void test_vegafem_meshes(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t n_nodes, n_elements;
        double young;
    } meshes[] = {{DATA "beam3/beam3_tet.veg", 208, 450, 1e7},
                  {DATA "simpleBridge/simpleBridge-ic_128_0.15_.1.veg", 4000, 12827, 1e7},
                  {DATA "yeahright/yeahright-on-ground.veg", 21122, 71577, 1e6}};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        modal_volume_mesh mesh = read_sound(meshes[i].path);
        assert_true(mesh.n_nodes == meshes[i].n_nodes);
        assert_true(mesh.n_elements == meshes[i].n_elements);
        assert_true(mesh.node_tags[0] == 1 && mesh.element_tags[0] == 1);
        assert_int_equal(mesh.n_groups, 0);
        assert_int_equal(mesh.n_materials, 1);
        assert_true(mesh.materials[0].density == 1000 && mesh.materials[0].poisson == 0.45 &&
                    mesh.materials[0].young == meshes[i].young);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_cubes(void **state)
{
    (void)state;
    modal_volume_mesh mesh = read_sound(DATA "towerCrane/towerCrane_resol166.veg");
    for (int64_t e = 0; e < mesh.n_elements; e++)
        assert_int_equal(mesh.element_type[e], MODAL_ELEMENT_HEX8);
    assert_true(mesh.element_offsets[mesh.n_elements] == 8 * mesh.n_elements);
    modal_volume_mesh_free(&mesh);
}

static void test_stanford_meshes(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "stanford/bunny_10k.bin.msh",
                                        DATA "stanford/dragon_10k.msh"};
    static const char *const names[] = {"fixed", "free", "body"};
    for (size_t i = 0; i < 2; i++) {
        modal_volume_mesh mesh = read_sound(paths[i]);
        assert_true(mesh.n_nodes > 8000 && mesh.n_nodes < 12000);
        assert_true(mesh.n_elements > 3 * mesh.n_nodes);
        assert_int_equal(mesh.n_groups, 3);
        for (int j = 0; j < 3; j++) {
            assert_string_equal(mesh.groups[j].name, names[j]);
            assert_int_equal(mesh.groups[j].dimension, j < 2 ? 2 : 3);
            assert_true(mesh.groups[j].n_nodes > 10);
        }
        assert_true(mesh.groups[2].n_elements == mesh.n_elements);
        print_message("%s: %lld nodes, %lld tetrahedra, %lld fixed\n", paths[i],
                      (long long)mesh.n_nodes, (long long)mesh.n_elements,
                      (long long)mesh.groups[0].n_nodes);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_fixed_vertices(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t count;
    } lists[] = {{DATA "beam3/beam3.bou", 8},
                 {DATA "simpleBridge/simpleBridge.bou", 121},
                 {DATA "towerCrane/towerCrane_resol166.bou", 66}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int64_t *numbers, count;
        assert_int_equal(modal_bou_read(lists[i].path, &numbers, &count, NULL), MODAL_OK);
        assert_true(count == lists[i].count);
        modal_free(&numbers);
    }
}

static void test_surfaces(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t n_vertices, n_uv;
    } surfaces[] = {{DATA "simpleBridge/simpleBridge.obj", 16085, 18353},
                    {DATA "simpleBridge/simpleBridge-ic_128_0.15_.1.obj", 0, 0},
                    {DATA "beam3/beam3_tet.obj", 0, 0},
                    {DATA "towerCrane/towerCrane_resol166.obj", 9875, 0}};
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++) {
        modal_surface_mesh surface;
        modal_error err = {0};
        if (modal_obj_read(surfaces[i].path, &surface, &err) != MODAL_OK)
            fail_msg("%s", err.message);
        assert_true(surface_is_sound(&surface));
        if (surfaces[i].n_vertices > 0) assert_true(surface.n_vertices == surfaces[i].n_vertices);
        assert_true(surface.n_uv == surfaces[i].n_uv);
        modal_surface_mesh_free(&surface);
    }
}

int main(void)
{
    if (access(DATA "README.md", R_OK) != 0) {
        printf("SKIPPED: no real meshes at %s (set MODAL_TEST_DATA)\n", MODAL_TEST_DATA);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vegafem_meshes),  cmocka_unit_test(test_cubes),
        cmocka_unit_test(test_stanford_meshes), cmocka_unit_test(test_fixed_vertices),
        cmocka_unit_test(test_surfaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
