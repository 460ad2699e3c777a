/* SPDX-License-Identifier: Apache-2.0 */
/* Better tetrahedra: a box of cubes cut into tetrahedra whose inner nodes are shaken until elements are flat, with groups of every kind; needles
 * and caps on the surface; distances to triangles; every allocation made to fail. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/check.h"
#include "lib/mesh/improve.h"
#include "lib/mesh/quality.h"
#include "lib/mesh/triangle_tree.h"
#include "tests/unit/counted_blocks.h"

static const double shaken = 0.8; /* of a cell's edge: elements are flat, none is turned */
static const double wanted = 10 * 3.14159265358979323846 / 180;

static int cells = 4; /* along each edge, even */

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

static modal_status new_group(modal_group *group, const char *name, int dimension, int64_t n_nodes, int64_t n_elements, modal_error *err)
{
    modal_status status = MODAL_OK;
    group->dimension = dimension;
    group->tag = -1;
    MODAL_TRY(modal_copy_text(&group->name, name, strlen(name), err));
    MODAL_TRY(modal_alloc(&group->nodes, n_nodes, sizeof *group->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&group->elements, n_elements, sizeof *group->elements, "elements", err));
done:
    return status;
}

static int node_at(int i, int j, int k) { return i + (cells + 1) * (j + (cells + 1) * k); }

/* The unit cube; nodes inside and, in their plane, inside the sides are shaken. Groups: side (x = 0), left (elements with x < 1/2), point (the node in
 * the middle), held (a condition: the corner 0). */
static modal_status make_box(double shake, modal_volume_mesh *mesh, modal_error *err)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    modal_status status = MODAL_OK;
    const int side = cells + 1;
    uint64_t state = 7;
    *mesh = (modal_volume_mesh){.n_nodes = side * side * side};
    MODAL_TRY(modal_alloc(&mesh->nodes, 3 * mesh->n_nodes, sizeof *mesh->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&mesh->node_tags, mesh->n_nodes, sizeof *mesh->node_tags, "nodes", err));
    MODAL_TRY(modal_volume_mesh_new_elements(mesh, 6 * cells * cells * cells, MODAL_ELEMENT_TET4, err));
    MODAL_TRY(modal_alloc(&mesh->element_tags, mesh->n_elements, sizeof *mesh->element_tags, "elements", err));
    MODAL_TRY(modal_alloc_zero(&mesh->element_material, mesh->n_elements, sizeof *mesh->element_material, "elements", err));
    for (int i = 0; i < mesh->n_nodes; i++) {
        const int at[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) {
            const int is_inside = at[k] > 0 && at[k] < cells && at[0] != cells / 2; /* the wall between the halves stays */
            mesh->nodes[3 * i + k] = (at[k] + (is_inside ? shake * random_number(&state) : 0)) / cells;
        }
        mesh->node_tags[i] = 10 * i + 3;
    }
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        int at[3] = {(int)(e / 6 % cells), (int)(e / 6 / cells % cells), (int)(e / 6 / cells / cells)};
        const int *order = orders[e % 6];
        int32_t *v = mesh->element_nodes + 4 * e;
        mesh->element_tags[e] = 2 * e + 100;
        v[0] = node_at(at[0], at[1], at[2]);
        for (int k = 0; k < 3; k++) {
            at[order[k]]++;
            v[k + 1] = node_at(at[0], at[1], at[2]);
        }
        if (e % 6 >= 3) { /* odd permutations are left-handed */
            const int32_t swap = v[1];
            v[1] = v[2], v[2] = swap;
        }
    }
    MODAL_TRY(modal_alloc_zero(&mesh->groups, 3, sizeof *mesh->groups, "groups", err));
    mesh->n_groups = 3;
    MODAL_TRY(new_group(&mesh->groups[0], "side", 2, side * side, 0, err));
    MODAL_TRY(new_group(&mesh->groups[1], "left", 3, side * side * (cells / 2 + 1), mesh->n_elements / 2, err));
    MODAL_TRY(new_group(&mesh->groups[2], "point", 0, 1, 0, err));
    for (int i = 0; i < mesh->n_nodes; i++) {
        if (i % side == 0) mesh->groups[0].nodes[mesh->groups[0].n_nodes++] = i;
        if (i % side <= cells / 2) mesh->groups[1].nodes[mesh->groups[1].n_nodes++] = i;
    }
    for (int32_t e = 0; e < mesh->n_elements; e++)
        if (e / 6 % cells < cells / 2) mesh->groups[1].elements[mesh->groups[1].n_elements++] = e;
    mesh->groups[2].nodes[mesh->groups[2].n_nodes++] = node_at(1, 1, 1);
    MODAL_TRY(modal_alloc_zero(&mesh->conditions, 1, sizeof *mesh->conditions, "conditions", err));
    mesh->n_conditions = 1;
    mesh->conditions[0].components = 7;
    MODAL_TRY(modal_alloc(&mesh->conditions[0].group.nodes, 1, sizeof(int32_t), "nodes", err));
    mesh->conditions[0].group.nodes[0] = node_at(0, 0, 1);
    mesh->conditions[0].group.n_nodes = 1;
done:
    return status;
}

static double volume_of(const modal_volume_mesh *mesh, const modal_group *group)
{
    double sum = 0;
    for (int64_t i = 0; i < (group ? group->n_elements : mesh->n_elements); i++) {
        const int32_t *v = modal_mesh_nodes(mesh, group ? group->elements[i] : i);
        double a[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) a[c][k] = mesh->nodes[3 * v[c + 1] + k] - mesh->nodes[3 * v[0] + k];
        const double six = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) + a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
                           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
        assert_true(six > 0);
        sum += six / 6;
    }
    return sum;
}

/* The boundary faces on x = 0 are those whose nodes are in the group, and fill the unit square. */
static void check_side(const modal_volume_mesh *mesh, const modal_group *side)
{
    modal_surface_mesh surface = {0};
    int32_t *nodes = NULL;
    uint8_t *in_side = calloc((size_t)mesh->n_nodes, 1);
    double area = 0;
    assert_int_equal(modal_volume_mesh_boundary(mesh, &surface, &nodes, NULL), MODAL_OK);
    for (int64_t i = 0; i < side->n_nodes; i++) {
        in_side[side->nodes[i]] = 1;
        assert_true(fabs(mesh->nodes[3 * side->nodes[i]]) < 1e-6);
    }
    for (int64_t t = 0; t < surface.n_triangles; t++) {
        const int32_t *v = surface.triangles + 3 * t;
        int n_on = 0, n_in = 0;
        for (int k = 0; k < 3; k++) n_on += fabs(surface.positions[3 * v[k]]) < 1e-6, n_in += in_side[nodes[v[k]]];
        assert_int_equal(n_on == 3, n_in == 3);
        if (n_on < 3) continue;
        const double *a = surface.positions + 3 * v[0], *b = surface.positions + 3 * v[1], *c = surface.positions + 3 * v[2];
        area -= ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])) / 2; /* faces -x */
    }
    assert_true(fabs(area - 1) < 1e-6);
    free(in_side);
    modal_free(&nodes);
    modal_surface_mesh_free(&surface);
}

static void test_box(void **state)
{
    (void)state;
    modal_volume_mesh mesh, again;
    modal_improvement told, told_again;
    modal_mesh_quality before, after;
    modal_mesh_summary summary;
    modal_error err = {0};
    assert_int_equal(make_box(shaken, &mesh, &err), MODAL_OK);
    assert_int_equal(make_box(shaken, &again, &err), MODAL_OK);
    modal_mesh_measure_quality(&mesh, &before);
    assert_true(before.least_angle < 5 && fabs(volume_of(&mesh, NULL) - 1) < 1e-12);
    if (modal_volume_mesh_improve(&mesh, 0, wanted, &told, &err) != MODAL_OK) fail_msg("%s", err.message);
    modal_mesh_measure_quality(&mesh, &after);
    assert_true(told.n_bad_before > 0 && told.n_bad == 0 && after.least_angle >= 10 && after.greatest_angle <= 170);
    assert_true(told.distances[0] < 4e-7 && told.distances[1] < 4e-7 && told.n_still == 0);
    assert_int_equal(modal_volume_mesh_check(&mesh, &summary, &err), MODAL_OK);
    assert_true(!summary.flipped && summary.n_turned == 0 && summary.dropped_nodes == 0 && summary.n_components == 1);
    assert_true(fabs(volume_of(&mesh, NULL) - 1) < 1e-6 && fabs(volume_of(&mesh, &mesh.groups[1]) - 0.5) < 1e-6);
    check_side(&mesh, &mesh.groups[0]);
    /* no element of the left half lies in the right one, and their nodes are the group's */
    for (int64_t i = 0; i < mesh.groups[1].n_elements; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t v = modal_mesh_nodes(&mesh, mesh.groups[1].elements[i])[k];
            int found = 0;
            for (int64_t j = 0; j < mesh.groups[1].n_nodes; j++) found |= mesh.groups[1].nodes[j] == v;
            assert_true(found && mesh.nodes[3 * v] <= 0.5);
        }
    /* the point and the held node are what they were */
    assert_int_equal(mesh.groups[2].n_nodes, 1);
    assert_int_equal(mesh.node_tags[mesh.groups[2].nodes[0]], again.node_tags[again.groups[2].nodes[0]]);
    assert_memory_equal(mesh.nodes + 3 * mesh.groups[2].nodes[0], again.nodes + 3 * again.groups[2].nodes[0], 24);
    assert_int_equal(mesh.node_tags[mesh.conditions[0].group.nodes[0]], again.node_tags[again.conditions[0].group.nodes[0]]);
    assert_memory_equal(mesh.nodes + 3 * mesh.conditions[0].group.nodes[0], again.nodes + 3 * again.conditions[0].group.nodes[0], 24);
    /* tags are different, and new ones larger than all old ones */
    for (int64_t e = 1; e < mesh.n_elements; e++) assert_true(mesh.element_tags[e] > mesh.element_tags[e - 1]);
    for (int64_t i = 1; i < mesh.n_nodes; i++) assert_true(mesh.node_tags[i] > mesh.node_tags[i - 1]);
    /* the same once more, and nothing to do after that */
    assert_int_equal(modal_volume_mesh_improve(&again, 0, wanted, &told_again, &err), MODAL_OK);
    assert_int_equal(again.n_elements, mesh.n_elements);
    assert_memory_equal(again.element_nodes, mesh.element_nodes, (size_t)(4 * mesh.n_elements) * sizeof(int32_t));
    assert_memory_equal(again.nodes, mesh.nodes, (size_t)(3 * mesh.n_nodes) * sizeof(double));
    assert_int_equal(modal_volume_mesh_improve(&again, 0, wanted, &told_again, &err), MODAL_OK);
    assert_true(told_again.n_bad_before == 0 && told_again.n_edges + told_again.n_merged + told_again.n_moved == 0);
    assert_memory_equal(again.nodes, mesh.nodes, (size_t)(3 * mesh.n_nodes) * sizeof(double));
    modal_volume_mesh_free(&mesh);
    modal_volume_mesh_free(&again);
}

/* A node 1e-4 beside a corner, and half of that off the edge: it goes within that distance and cannot go without. */
static void test_distance(void **state)
{
    (void)state;
    static const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1e-4, -5e-5, -5e-5}};
    static const int32_t elements[2][4] = {{0, 4, 2, 3}, {4, 1, 2, 3}};
    for (int may = 0; may < 2; may++) {
        modal_volume_mesh mesh = {.n_nodes = 5};
        modal_improvement told;
        modal_mesh_quality quality;
        modal_error err = {0};
        assert_int_equal(modal_alloc(&mesh.nodes, 15, sizeof(double), "nodes", &err), MODAL_OK);
        assert_int_equal(modal_alloc_zero(&mesh.node_tags, 5, sizeof(int64_t), "nodes", &err), MODAL_OK);
        assert_int_equal(modal_volume_mesh_new_elements(&mesh, 2, MODAL_ELEMENT_TET4, &err), MODAL_OK);
        assert_int_equal(modal_alloc_zero(&mesh.element_tags, 2, sizeof(int64_t), "elements", &err), MODAL_OK);
        memcpy(mesh.nodes, points, 15 * sizeof(double));
        memcpy(mesh.element_nodes, elements, sizeof elements);
        assert_int_equal(modal_volume_mesh_improve(&mesh, may ? 1e-3 : 0, wanted, &told, &err), MODAL_OK);
        modal_mesh_measure_quality(&mesh, &quality);
        assert_int_equal(told.n_bad_before, 1);
        assert_int_equal(told.n_bad, !may);
        assert_true(may ? quality.least_angle >= 10 && told.distances[0] <= 1e-3 && told.distances[1] <= 1e-3 && told.distances[1] > 1e-6
                        : quality.least_angle < 0.1 && told.distances[0] <= 4e-7 && told.distances[1] <= 4e-7);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_refused(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_improvement told;
    modal_error err = {0};
    assert_int_equal(make_box(0.5, &mesh, &err), MODAL_OK);
    mesh.element_type[5] = MODAL_ELEMENT_PYRAMID5;
    assert_int_equal(modal_volume_mesh_improve(&mesh, 0, wanted, &told, &err), MODAL_ERROR_INPUT);
    mesh.element_type[5] = MODAL_ELEMENT_TET4;
    assert_int_equal(modal_alloc_zero(&mesh.element_fibres, 3 * mesh.n_elements, sizeof(double), "fibres", &err), MODAL_OK);
    assert_int_equal(modal_volume_mesh_improve(&mesh, 0, wanted, &told, &err), MODAL_ERROR_INPUT);
    modal_volume_mesh_free(&mesh);
}

static modal_status whole(modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh mesh = {0};
    modal_improvement told;
    modal_error own = {0};
    MODAL_TRY(make_box(shaken, &mesh, err));
    const int64_t n_nodes = mesh.n_nodes, n_elements = mesh.n_elements;
    const double *const nodes = mesh.nodes;
    status = modal_volume_mesh_improve(&mesh, 0, wanted, &told, &own);
    if (status != MODAL_OK) assert_true(mesh.n_nodes == n_nodes && mesh.n_elements == n_elements && mesh.nodes == nodes && mesh.n_groups == 3);
done:
    modal_volume_mesh_free(&mesh);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    int64_t n = 0;
    cells = 2;
    for (modal_status status = MODAL_ERROR_MEMORY; status != MODAL_OK;) {
        const int64_t before = blocks_in_use;
        modal_error err = {0};
        modal_alloc_fail_at(++n);
        status = whole(&err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_true(status == MODAL_OK ? !fired : fired && status == MODAL_ERROR_MEMORY);
        if (blocks_in_use != before) fail_msg("allocation %lld leaks", (long long)n);
    }
    cells = 4;
    assert_true(n > 50);
}

/* Distances from points to triangles by dense sampling, and the tree's least ones by going through all. */
static void test_tree(void **state)
{
    (void)state;
    enum { TRIANGLES = 200, POINTS = 300, GRID = 60 };
    static double points[9 * TRIANGLES];
    static int32_t triangles[3 * TRIANGLES], labels[TRIANGLES];
    uint64_t seed = 3;
    modal_triangle_tree tree;
    for (int i = 0; i < 9 * TRIANGLES; i++) points[i] = random_number(&seed) + (i / 9 % 5);
    for (int i = 0; i < 3 * TRIANGLES; i++) triangles[i] = i;
    for (int i = 0; i < TRIANGLES; i++) labels[i] = i % 3;
    assert_int_equal(modal_triangle_tree_new(&tree, points, TRIANGLES, triangles, labels, NULL), MODAL_OK);
    for (int i = 0; i < POINTS; i++) {
        const double p[3] = {5 * random_number(&seed), 5 * random_number(&seed), 5 * random_number(&seed)};
        double least = INFINITY, of_label = INFINITY, sampled = INFINITY;
        for (int t = 0; t < TRIANGLES; t++) {
            const double own = modal_triangle_square(p, points + 9 * t);
            least = fmin(least, own);
            if (labels[t] == 1) of_label = fmin(of_label, own);
        }
        const double *c = points + 9 * (i % TRIANGLES);
        for (int a = 0; a <= GRID; a++)
            for (int b = 0; a + b <= GRID; b++) {
                double square = 0;
                for (int k = 0; k < 3; k++) {
                    const double d = (a * c[k] + b * c[3 + k] + (GRID - a - b) * c[6 + k]) / GRID - p[k];
                    square += d * d;
                }
                sampled = fmin(sampled, square);
            }
        const double exact = modal_triangle_square(p, c);
        assert_true(exact <= sampled + 1e-12 && sqrt(sampled) <= sqrt(exact) + 2.0 / GRID);
        assert_true(modal_triangle_tree_square(&tree, p, -1, INFINITY) == least && modal_triangle_tree_square(&tree, p, 1, INFINITY) == of_label);
        assert_true(modal_triangle_tree_is_within(&tree, p, 1, of_label) && !modal_triangle_tree_is_within(&tree, p, 1, 0.999 * of_label));
        assert_true(modal_triangle_tree_is_within(&tree, p, -1, 1.001 * least));
    }
    assert_true(modal_triangle_tree_farthest(&tree, points, TRIANGLES, triangles, 0.1) < 1e-7);
    for (int i = 0; i < 9 * TRIANGLES; i += 3) points[i] += 10;
    const double far = modal_triangle_tree_farthest(&tree, points, TRIANGLES, triangles, 0.1);
    assert_true(far > 9 && far < 15);
    modal_triangle_tree_free(&tree);
    assert_int_equal(modal_triangle_tree_new(&tree, points, 0, triangles, labels, NULL), MODAL_OK);
    assert_true(modal_triangle_tree_square(&tree, points, -1, INFINITY) == INFINITY && !modal_triangle_tree_is_within(&tree, points, -1, 1e300));
    modal_triangle_tree_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_box), cmocka_unit_test(test_distance), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
