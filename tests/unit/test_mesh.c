/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/sort.h, lib/mesh/check.h, lib/mesh/boundary.h */
#include <math.h>
#include <stdlib.h>

#include "lib/base/sort.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/check.h"
#include "lib/mesh/raise_order.h"
#include "lib/mesh/tetrahedron.h"
#include "tests/unit/test_mesh_helpers.h"

static void add_group(modal_volume_mesh *mesh, const char *name, int64_t n, const int32_t *nodes)
{
    if (!mesh->groups)
        assert_int_equal(modal_alloc_zero(&mesh->groups, 4, sizeof *mesh->groups, "g", NULL), MODAL_OK);
    modal_group *group = &mesh->groups[mesh->n_groups++];
    assert_int_equal(modal_copy_text(&group->name, name, SIZE_MAX, NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&group->nodes, n, sizeof(int32_t), "g", NULL), MODAL_OK);
    memcpy(group->nodes, nodes, (size_t)n * sizeof(int32_t));
    group->n_nodes = n;
}

static void test_sort(void **state)
{
    (void)state;
    enum { N = 5000 };
    static uint64_t keys[N], keys_before[N];
    static int32_t values[N];
    for (int wide = 0; wide < 3; wide++) {
        for (int i = 0; i < N; i++) {
            keys_before[i] = keys[i] = wide == 0 ? random_bits() % 40 << 30
                                     : wide == 1 ? random_bits() : random_bits() % 3000;
            values[i] = i;
        }
        assert_int_equal(modal_sort_by_key(N, keys, values, NULL), MODAL_OK);
        for (int i = 0; i < N; i++) assert_true(keys[i] == keys_before[values[i]]);
        for (int i = 1; i < N; i++)
            assert_true(keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]));
    }
    assert_int_equal(modal_sort_by_key(0, keys, values, NULL), MODAL_OK);
    assert_int_equal(modal_sort_by_key(1, keys, values, NULL), MODAL_OK);
}

static void test_check_good_cube(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_mesh_summary summary;
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.flipped, 0);
    assert_int_equal(summary.dropped_nodes, 0);
    assert_int_equal(summary.n_components, 1);
    assert_true(fabs(summary.volume - 1) <= 1e-15);
    for (int k = 0; k < 3; k++) assert_true(summary.box_min[k] == 0 && summary.box_max[k] == 1);
    assert_memory_equal(mesh.element_nodes, cube_six, sizeof cube_six);
    modal_volume_mesh_free(&mesh);
}

/* Expects a refusal with this message, and nothing changed. */
static void expect_refused(modal_volume_mesh *mesh, const char *message)
{
    modal_error err = {0};
    modal_mesh_summary summary = {.n_components = -7};
    size_t bytes = 4 * (size_t)mesh->n_elements * sizeof(int32_t);
    int32_t *before = malloc(bytes + 1);
    memcpy(before, mesh->element_nodes, bytes);
    int64_t n_nodes = mesh->n_nodes;
    assert_int_equal(modal_volume_mesh_check(mesh, &summary, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, message);
    assert_int_equal(summary.n_components, -7);
    assert_int_equal(mesh->n_nodes, n_nodes);
    assert_memory_equal(before, mesh->element_nodes, bytes);
    free(before);
    modal_volume_mesh_free(mesh);
}

static void swap_last_two(modal_volume_mesh *mesh, int64_t e)
{
    int32_t kept = mesh->element_nodes[4 * e + 2];
    mesh->element_nodes[4 * e + 2] = mesh->element_nodes[4 * e + 3];
    mesh->element_nodes[4 * e + 3] = kept;
}

static void test_check_refuses(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    /* left-handed, and on its neighbour's side of their face: no order of its nodes makes that right */
    double over[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 0.5}};
    static const int32_t two[2][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}};
    make_mesh(&mesh, 5, over[0], 2, two[0]);
    expect_refused(&mesh, "element 102: negative volume -0.0833 (1 element in all)");
    /* left-handed without a neighbour that could agree */
    double apart[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    static const int32_t turned[2][4] = {{0, 1, 2, 3}, {4, 6, 5, 7}};
    make_mesh(&mesh, 8, apart[0], 2, turned[0]);
    expect_refused(&mesh, "element 102: negative volume -0.167 (1 element in all)");
    /* a turned one beside one of no volume */
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    swap_last_two(&mesh, 0);
    mesh.element_nodes[4] = mesh.element_nodes[5];
    expect_refused(&mesh, "element 101: negative volume -0.167 (2 elements in all)");

    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    mesh.element_nodes[4] = mesh.element_nodes[5];
    expect_refused(&mesh, "element 102: zero volume 0 (1 element in all)");

    /* A height of 1e-15 is zero, of 1e-13 is not; scale does not matter. */
    for (int fine = 0; fine < 2; fine++) {
        const double h = 1e-6 * (fine ? 1e-13 : 1e-15);
        double flat[4][3] = {{0, 0, 0}, {1e-6, 0, 0}, {0, 1e-6, 0}, {0, 0, h}};
        static const int32_t one[4] = {0, 1, 2, 3};
        modal_mesh_summary summary;
        make_mesh(&mesh, 4, flat[0], 1, one);
        if (!fine) {
            expect_refused(&mesh, "element 101: zero volume 1.67e-34 (1 element in all)");
            continue;
        }
        assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
        modal_volume_mesh_free(&mesh);
    }

    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    mesh.nodes[3 * 4 + 1] = NAN;
    expect_refused(&mesh, "node 5: coordinate y is not finite");
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    mesh.nodes[0] = INFINITY;
    expect_refused(&mesh, "node 1: coordinate x is not finite");
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    mesh.element_nodes[23] = 8;
    expect_refused(&mesh, "element 106: no node of index 8 among 8");
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    mesh.element_nodes[0] = -1;
    expect_refused(&mesh, "element 101: no node of index -1 among 8");
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    add_group(&mesh, "fixed", 1, (const int32_t[]){9});
    expect_refused(&mesh, "group fixed: no node of index 9 among 8");
    make_mesh(&mesh, 8, cube_nodes[0], 0, NULL);
    expect_refused(&mesh, "no elements");
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    mesh.n_nodes = (int64_t)INT32_MAX + 1;
    expect_refused(&mesh, "2147483648 nodes: more than 2147483647");
}

static void test_check_flips_left_handed(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_mesh_summary summary;
    make_mesh(&mesh, 8, cube_nodes[0], 5, cube_five[0]);
    for (int64_t e = 0; e < 5; e++) swap_last_two(&mesh, e);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.flipped, 1);
    assert_true(fabs(summary.volume - 1) <= 1e-15);
    assert_memory_equal(mesh.element_nodes, cube_five, sizeof cube_five);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.flipped, 0);
    modal_volume_mesh_free(&mesh);
}

/* Tetrahedra that are left-handed among others and beside them, one or two that touch, are turned round. */
static void test_check_turns_some(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        modal_volume_mesh mesh;
        modal_mesh_summary summary;
        make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
        swap_last_two(&mesh, 2);
        if (many) swap_last_two(&mesh, 3);
        assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
        assert_int_equal(summary.n_turned, 1 + many);
        assert_int_equal(summary.flipped, 0);
        assert_true(fabs(summary.volume - 1) <= 1e-15);
        assert_memory_equal(mesh.element_nodes, cube_six, sizeof cube_six);
        for (int n = 1;; n++) { /* an allocation that fails changes nothing */
            swap_last_two(&mesh, 2);
            modal_alloc_fail_at(n);
            const modal_status status = modal_volume_mesh_check(&mesh, &summary, NULL);
            const int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            if (!fired) break;
            swap_last_two(&mesh, 2);
            assert_memory_equal(mesh.element_nodes, cube_six, sizeof cube_six);
        }
        modal_volume_mesh_free(&mesh);
    }
}

/* Quadratic elements that a middle node turns inside out get straight edges, and so do those beside that suffer from it; where the corners are
 * the wrong way round, they are refused as before. */
static void test_check_straightens(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_mesh_summary summary;
    make_mesh(&mesh, 8, cube_nodes[0], 6, cube_six[0]);
    assert_int_equal(modal_volume_mesh_raise_order(&mesh, NULL), MODAL_OK);
    const int64_t n = mesh.n_nodes;
    double *straight = NULL;
    assert_int_equal(modal_alloc(&straight, 3 * n, sizeof *straight, "nodes", NULL), MODAL_OK);
    memcpy(straight, mesh.nodes, (size_t)(3 * n) * sizeof *straight);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.n_straightened, 0);
    const int32_t off = modal_mesh_nodes(&mesh, 0)[4]; /* of the edge between the first element's corners 0 and 1 */
    for (int k = 0; k < 3; k++) mesh.nodes[3 * off + k] += 0.9;
    double *const moved = mesh.nodes;
    for (int i = 1;; i++) { /* an allocation that fails changes nothing */
        modal_alloc_fail_at(i);
        const modal_status status = modal_volume_mesh_check(&mesh, &summary, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (!fired) break;
        assert_true(mesh.nodes == moved && mesh.nodes[3 * off] == straight[3 * off] + 0.9);
    }
    assert_true(summary.n_straightened >= 1 && summary.n_straightened < 6 && fabs(summary.volume - 1) <= 1e-14);
    assert_memory_equal(mesh.nodes, straight, (size_t)(3 * n) * sizeof *straight);
    /* one corner through the opposite side: no middle node is to blame */
    const int32_t corner = modal_mesh_nodes(&mesh, 0)[0];
    mesh.nodes[3 * corner] += 5;
    memcpy(straight, mesh.nodes, (size_t)(3 * n) * sizeof *straight);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_ERROR_INPUT);
    assert_memory_equal(mesh.nodes, straight, (size_t)(3 * n) * sizeof *straight);
    modal_free(&straight);
    modal_volume_mesh_free(&mesh);
}

static void test_check_drops_nodes(void **state)
{
    (void)state;
    /* Nodes 0, 3 and 6 belong to nothing. */
    double nodes[7][3] = {{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {-9, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -9, 0}};
    static const int32_t one[4] = {1, 2, 4, 5};
    modal_volume_mesh mesh;
    modal_mesh_summary summary;
    make_mesh(&mesh, 7, nodes[0], 1, one);
    add_group(&mesh, "mixed", 4, (const int32_t[]){0, 2, 3, 5});
    add_group(&mesh, "lost", 2, (const int32_t[]){0, 6});
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.dropped_nodes, 3);
    assert_int_equal(mesh.n_nodes, 4);
    static const int64_t tags[4] = {2, 3, 5, 6};
    static const int32_t renumbered[4] = {0, 1, 2, 3}, mixed[2] = {1, 3};
    static const double kept[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    assert_memory_equal(mesh.node_tags, tags, sizeof tags);
    assert_memory_equal(mesh.element_nodes, renumbered, sizeof renumbered);
    assert_memory_equal(mesh.nodes, kept, sizeof kept);
    assert_int_equal(mesh.n_groups, 2);
    assert_int_equal(mesh.groups[0].n_nodes, 2);
    assert_memory_equal(mesh.groups[0].nodes, mixed, sizeof mixed);
    assert_int_equal(mesh.groups[1].n_nodes, 0);
    /* The box is that of what is left. */
    for (int k = 0; k < 3; k++) assert_true(summary.box_min[k] == 0 && summary.box_max[k] == 1);
    modal_volume_mesh_free(&mesh);
}

static void test_components(void **state)
{
    (void)state;
    /* Elements of nodes {7, 1, 9, 3}, {2, 4, 6, 8} and {8, 10, 11, 5}: 0 is unused, 8 is shared. */
    static const int32_t tetrahedra[3][4] = {{7, 1, 9, 3}, {8, 10, 11, 5}, {2, 4, 6, 8}};
    static const int32_t expected[12] = {-1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1};
    int32_t component[12];
    modal_volume_mesh mesh;
    make_mesh(&mesh, 12, NULL, 3, tetrahedra[0]);
    assert_int_equal(modal_volume_mesh_components(&mesh, component), 2);
    assert_memory_equal(component, expected, sizeof expected);
    modal_volume_mesh_free(&mesh);

    /* Two cubes apart. */
    double nodes[16][3];
    int32_t both[12][4];
    modal_mesh_summary summary;
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 3; k++) nodes[i][k] = cube_nodes[i / 2][k] + (i % 2 ? 3 : 0);
    for (int e = 0; e < 12; e++)
        for (int k = 0; k < 4; k++) both[e][k] = 2 * cube_six[e / 2][k] + e % 2;
    make_mesh(&mesh, 16, nodes[0], 12, both[0]);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.n_components, 2);
    assert_true(fabs(summary.volume - 2) <= 1e-14);
    int32_t of_cube[16];
    assert_int_equal(modal_volume_mesh_components(&mesh, of_cube), 2);
    for (int i = 0; i < 16; i++) assert_int_equal(of_cube[i], i % 2);
    modal_volume_mesh_free(&mesh);

    /* A block in random order is one. */
    make_block(&mesh, 6, 0.1);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, NULL), MODAL_OK);
    assert_int_equal(summary.n_components, 1);
    assert_true(fabs(summary.volume - 1) <= 1e-13);
    modal_volume_mesh_free(&mesh);
}

/* Closed, oriented, of the Euler characteristic of a sphere, and of the volume that it encloses. */
static void check_sphere(const modal_volume_mesh *mesh, const modal_surface_mesh *surface,
                         const int32_t *nodes, double volume)
{
    int64_t n_edges = 0;
    double enclosed = 0;
    static const double origin[3];
    for (int64_t t = 0; t < surface->n_triangles; t++) {
        const int32_t *a = surface->triangles + 3 * t;
        enclosed += modal_six_volume(origin, surface->positions + 3 * a[0],
                                     surface->positions + 3 * a[1], surface->positions + 3 * a[2]) / 6;
        for (int k = 0; k < 3; k++) {
            int opposite = 0;
            for (int64_t s = 0; s < surface->n_triangles; s++)
                for (int j = 0; j < 3; j++) {
                    const int32_t *b = surface->triangles + 3 * s;
                    opposite += b[j] == a[(k + 1) % 3] && b[(j + 1) % 3] == a[k];
                }
            assert_int_equal(opposite, 1);
            n_edges++;
        }
    }
    assert_int_equal(surface->n_vertices - n_edges / 2 + surface->n_triangles, 2);
    assert_true(fabs(enclosed - volume) <= 1e-13);
    for (int64_t v = 0; v < surface->n_vertices; v++) {
        assert_true(v == 0 || nodes[v] > nodes[v - 1]);
        assert_memory_equal(surface->positions + 3 * v, mesh->nodes + 3 * nodes[v], 3 * sizeof(double));
    }
}

static void test_boundary_of_cube(void **state)
{
    (void)state;
    for (int six = 0; six < 2; six++) {
        modal_volume_mesh mesh;
        modal_surface_mesh surface;
        int32_t *nodes;
        make_mesh(&mesh, 8, cube_nodes[0], six ? 6 : 5, six ? cube_six[0] : cube_five[0]);
        assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, NULL), MODAL_OK);
        assert_int_equal(surface.n_vertices, 8);
        assert_int_equal(surface.n_triangles, 12);
        check_sphere(&mesh, &surface, nodes, 1);
        /* (1, 1, 1) is outwards on the sides through node 6, inwards on those through node 0. */
        for (int64_t t = 0; t < 12; t++) {
            double ab[3], ac[3], normal[3], outwards[3];
            const double *a = surface.positions + 3 * surface.triangles[3 * t];
            const double *b = surface.positions + 3 * surface.triangles[3 * t + 1];
            const double *c = surface.positions + 3 * surface.triangles[3 * t + 2];
            modal_subtract(b, a, ab);
            modal_subtract(c, a, ac);
            modal_cross(ab, ac, normal);
            for (int k = 0; k < 3; k++) outwards[k] = (a[k] + b[k] + c[k]) / 3 - 0.5;
            assert_true(modal_dot(normal, outwards) > 0);
        }
        modal_free(&nodes);
        modal_surface_mesh_free(&surface);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_boundary_order(void **state)
{
    (void)state;
    /* Ascending (element, local face): recomputed from all pairs of faces. */
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    int32_t *nodes;
    int64_t t = 0;
    make_block(&mesh, 3, 0.2);
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, NULL), MODAL_OK);
    assert_int_equal(surface.n_triangles, 6 * 9 * 2);
    assert_int_equal(surface.n_vertices, 64 - 8);
    check_sphere(&mesh, &surface, nodes, 1);
    for (int64_t f = 0; f < 4 * mesh.n_elements; f++) {
        const int32_t *e = mesh.element_nodes + 4 * (f / 4);
        int alone = 1, common;
        for (int64_t other = 0; alone && other < mesh.n_elements; other++) {
            if (other == f / 4) continue;
            common = 0;
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < 4; j++)
                    common += e[modal_tetrahedron_faces[f % 4][k]] == mesh.element_nodes[4 * other + j];
            alone = common < 3;
        }
        if (!alone) continue;
        for (int k = 0; k < 3; k++)
            assert_int_equal(nodes[surface.triangles[3 * t + k]], e[modal_tetrahedron_faces[f % 4][k]]);
        t++;
    }
    assert_int_equal(t, surface.n_triangles);
    modal_free(&nodes);
    modal_surface_mesh_free(&surface);
    modal_volume_mesh_free(&mesh);
}

static void test_boundary_refuses(void **state)
{
    (void)state;
    static const double nodes[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}, {1, 1, 2}};
    static const int32_t three[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}, {0, 1, 2, 5}};
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    modal_error err = {0};
    int32_t *found;
    make_mesh(&mesh, 6, nodes[0], 3, three[0]);
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &found, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "elements 101, 102 and 103: face 1 2 3 is used 3 times");
    assert_null(found);
    assert_null(surface.triangles);
    mesh.n_elements = 2;
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &found, NULL), MODAL_OK);
    assert_int_equal(surface.n_triangles, 6);
    modal_surface_mesh_free(&surface);
    modal_free(&found);
    memcpy(mesh.element_nodes + 4, three[2], sizeof three[2]);
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &found, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "elements 101 and 102: on the same side of face 1 2 3");
    modal_volume_mesh_free(&mesh);
}

/* More faces than are matched at a time: what one range of nodes has is found and refused as what another has. */
static void test_boundary_in_ranges(void **state)
{
    (void)state;
    enum { N = 36 }; /* 1.1 million faces, two ranges */
    modal_volume_mesh mesh;
    modal_surface_mesh surface;
    modal_error err = {0};
    int32_t *nodes;
    int64_t t = 0, least = 0, last = -1;
    make_block(&mesh, N, 0.2);
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, NULL), MODAL_OK);
    assert_int_equal(surface.n_triangles, 6 * N * N * 2);
    assert_int_equal(surface.n_vertices, (N + 1) * (N + 1) * (N + 1) - (N - 1) * (N - 1) * (N - 1));
    for (int64_t i = 0; i < surface.n_triangles; i++) {
        const double *a = surface.positions + 3 * (int64_t)surface.triangles[3 * i];
        const double *b = surface.positions + 3 * (int64_t)surface.triangles[3 * i + 1];
        const double *c = surface.positions + 3 * (int64_t)surface.triangles[3 * i + 2];
        int in_side = 0;
        for (int k = 0; k < 3; k++) in_side |= (a[k] == 0 || a[k] == 1) && a[k] == b[k] && a[k] == c[k];
        assert_true(in_side);
    }
    for (int64_t f = 0; f < 4 * mesh.n_elements && t < surface.n_triangles; f++) { /* ascending: no triangle twice */
        int same = 1;
        for (int k = 0; k < 3; k++)
            same &= nodes[surface.triangles[3 * t + k]] == mesh.element_nodes[4 * (f / 4) + modal_tetrahedron_faces[f % 4][k]];
        t += same;
    }
    assert_int_equal(t, surface.n_triangles);
    modal_free(&nodes);
    modal_surface_mesh_free(&surface);
    for (int64_t e = 0; e < mesh.n_elements; e++) { /* an element twice, whose faces come last */
        int32_t lowest = INT32_MAX;
        for (int k = 0; k < 4; k++)
            if (mesh.element_nodes[4 * e + k] < lowest) lowest = mesh.element_nodes[4 * e + k];
        if (lowest <= least) continue;
        least = lowest;
        last = e;
    }
    const int64_t other = last > 0 ? 0 : 1;
    memcpy(mesh.element_nodes + 4 * other, mesh.element_nodes + 4 * last, 4 * sizeof(int32_t));
    assert_int_equal(modal_volume_mesh_boundary(&mesh, &surface, &nodes, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "elements "));
    assert_null(nodes);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_check_good_cube),
        cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_check_flips_left_handed),
        cmocka_unit_test(test_check_turns_some),
        cmocka_unit_test(test_check_straightens),
        cmocka_unit_test(test_check_drops_nodes),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_boundary_of_cube),
        cmocka_unit_test(test_boundary_order),
        cmocka_unit_test(test_boundary_refuses),
        cmocka_unit_test(test_boundary_in_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
