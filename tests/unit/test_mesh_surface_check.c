/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and repairs of surfaces, shells, quality, quadratic elements, and the writer of .msh files:
 * numbers known by hand, and every allocation made to fail. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/meshes/mesh_read.h"
#include "formats/meshes/msh_write.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/memory.h"
#include "lib/mesh/quality.h"
#include "lib/mesh/raise_order.h"
#include "lib/mesh/shells.h"
#include "lib/mesh/predicates.h"
#include "lib/mesh/surface_check.h"
#include "lib/mesh/surface_repair.h"
#include "tests/unit/counted_blocks.h"
#include "tests/unit/readers_compare.h"

#define FOLDER MODAL_SOURCE_DIR "/tests/files/"

/* The pyramid of tests/files: base 1 x 1, height 0.75. */
static modal_status whole_surface(modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    modal_surface_summary summary;
    modal_surface_repairs repairs;
    modal_shells shells = {0};
    int64_t n_collapsed;
    int32_t part[6], n_parts = 0;
    MODAL_TRY(modal_surface_read(FOLDER "good-pyramid.ply", &surface, &n_collapsed, err));
    /* A triangle less is a hole of three edges, which is closed again. */
    surface.n_triangles--;
    MODAL_TRY(modal_surface_check(&surface, &summary, err));
    assert_true(summary.n_open_edges == 3 && summary.n_holes == 1 && !modal_surface_is_sound(&summary));
    assert_true(summary.open_edge[0] == 0 && summary.open_edge[1] == 3);
    MODAL_TRY(modal_surface_repair(&surface, &repairs, err));
    assert_true(repairs.filled_holes == 1 && repairs.added_triangles == 1 && repairs.turned_triangles == 0);
    MODAL_TRY(modal_surface_check(&surface, &summary, err));
    assert_true(modal_surface_is_sound(&summary) && summary.n_components == 1);
    assert_true(fabs(summary.volume - 0.25) < 1e-15);
    assert_true(fabs(summary.area - (1 + 2 * sqrt(0.25 + 0.5625))) < 1e-15);
    MODAL_TRY(modal_surface_parts(&surface, 0.5, part, &n_parts, err));
    assert_true(n_parts == 5 && part[0] == part[1] && part[2] != part[0]);
    MODAL_TRY(modal_shells_find(&surface, &shells, err));
    assert_true(shells.n == 1 && shells.n_cavities == 0 && fabs(shells.volume - 0.25) < 1e-15);
done:
    modal_shells_free(&shells);
    modal_surface_mesh_free(&surface);
    return status;
}

static char target[] = "/tmp/test_mesh_surface_check.XXXXXX";

static modal_status whole_volume(modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh mesh = {0}, again = {0}, mixed = {0};
    modal_mesh_quality quality;
    MODAL_TRY(modal_mesh_read(FOLDER "good-41.msh", &mesh, err));
    int64_t n_nodes = mesh.n_nodes;
    MODAL_TRY(modal_volume_mesh_raise_order(&mesh, err));
    /* Two tetrahedra with a common face have nine edges. */
    assert_true(mesh.n_nodes == n_nodes + 9 && mesh_is_sound(&mesh));
    MODAL_TRY(modal_msh_write(target, &mesh, 1, err));
    MODAL_TRY(modal_mesh_read(target, &again, err));
    assert_true(meshes_are_equal(&mesh, &again));
    modal_volume_mesh_free(&again);
    MODAL_TRY(modal_mesh_read(FOLDER "good-mixed.vtk", &mixed, err));
    modal_mesh_measure_quality(&mixed, &quality);
    assert_true(quality.n_tetrahedra == 1 && quality.n_others == 3 && quality.worst == 3);
    MODAL_TRY(modal_msh_write(target, &mixed, 0, err));
    MODAL_TRY(modal_mesh_read(target, &again, err));
    assert_true(again.node_tags[0] == 1 && again.element_tags[0] == 1);
    assert_true(ARRAYS_ARE_EQUAL(again.nodes, mixed.nodes, 3 * mixed.n_nodes));
    assert_true(groups_are_equal(&again, &mixed));
done:
    modal_volume_mesh_free(&mesh);
    modal_volume_mesh_free(&again);
    modal_volume_mesh_free(&mixed);
    return status;
}

static void starve(modal_status (*work)(modal_error *err))
{
    modal_error err = {0};
    if (work(&err) != MODAL_OK) fail_msg("%s", err.message);
    int64_t n = 0;
    for (modal_status status = MODAL_ERROR_MEMORY; status != MODAL_OK;) {
        int64_t before = blocks_in_use;
        err = (modal_error){0};
        modal_alloc_fail_at(++n);
        status = work(&err);
        int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_true(status == MODAL_OK ? !fired : fired && status == MODAL_ERROR_MEMORY);
        if (blocks_in_use != before) fail_msg("allocation %lld leaks", (long long)n);
    }
    assert_true(n > 20);
}

static void test_surface(void **state)
{
    (void)state;
    starve(whole_surface);
}

static void test_volume(void **state)
{
    (void)state;
    int file = mkstemp(target);
    assert_true(file >= 0);
    close(file);
    starve(whole_volume);
    assert_int_equal(unlink(target), 0);
}

/* A regular tetrahedron, and one that is flat. */
static void test_quality(void **state)
{
    (void)state;
    double nodes[8][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1},
                          {0, 0, 0}, {1, 0, 0},   {0, 1, 0},   {1, 1, 0}};
    int32_t element_nodes[8] = {0, 2, 1, 3, 4, 5, 6, 7};
    uint8_t types[2] = {MODAL_ELEMENT_TET4, MODAL_ELEMENT_TET4};
    int64_t offsets[3] = {0, 4, 8}, tags[2] = {5, 6};
    modal_volume_mesh mesh = {.n_nodes = 8, .nodes = nodes[0], .n_elements = 1, .element_type = types,
                              .element_offsets = offsets, .element_nodes = element_nodes,
                              .element_tags = tags};
    modal_mesh_quality quality;
    modal_mesh_measure_quality(&mesh, &quality);
    assert_true(fabs(quality.least_ratio - 1) < 1e-12 && quality.ratios[9] == 1 && quality.worst == 5);
    assert_true(fabs(quality.least_angle - 70.528779) < 1e-6 && fabs(quality.greatest_angle - 70.528779) < 1e-6);
    assert_true(quality.angles[7] == 6);
    mesh.n_elements = 2;
    modal_mesh_measure_quality(&mesh, &quality);
    assert_true(quality.least_ratio == 0 && quality.worst == 6 && quality.ratios[0] == 1);
}

/* Of two triangles that cross: not those that touch in a vertex, share an edge or lie in one plane. */
static void test_crossing(void **state)
{
    (void)state;
    static const struct {
        double third[3][3];
        int crosses;
    } cases[] = {
        {{{0.2, 0.2, -1}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 1},
        {{{0.2, 0.2, 0}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 0},  /* a corner in the triangle */
        {{{0.2, 0.2, 0}, {0.9, 0.9, 0}, {0.9, 0.2, 0}}, 0},  /* in one plane */
        {{{0.2, 0.2, 1e-300}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 0},
        {{{2, 2, -1}, {2, 3, 1}, {3, 2, 1}}, 0},
        {{{0.5, 0.5, -1}, {0.5, 0.5, 1}, {2, 2, 1}}, 1},     /* through the middle of an edge */
        {{{0.25, -0.5, -1}, {0.25, 0.5, 1}, {1, -3, 2}}, 1}, /* the same, of another */
        {{{1, 0, -1}, {1, 0, 1}, {2, 2, 1}}, 1},             /* through a corner */
        {{{2, 0, -1}, {2, 0, 1}, {3, 2, 1}}, 0},             /* beside it in the line of an edge */
        {{{0.25, -1, -1e-9}, {0.25, 2, -1e-9}, {0.25, 0.5, 1}}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double positions[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
        int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
        modal_surface_pairs crossing, overlapping;
        modal_surface_mesh surface = {.n_vertices = 6, .positions = positions[0], .n_triangles = 2,
                                      .triangles = triangles};
        memcpy(positions + 3, cases[i].third, sizeof cases[i].third);
        assert_int_equal(modal_surface_intersections(&surface, &crossing, &overlapping, NULL), MODAL_OK);
        if (crossing.count != cases[i].crosses) fail_msg("case %zu: %lld", i, (long long)crossing.count);
        assert_int_equal(crossing.first[0], crossing.count ? 0 : -1);
        assert_int_equal(overlapping.count, i == 2);
    }
}

/* Pairs of triangles in one plane, in planes of every direction: coordinates are whole numbers, so that the plane is
 * exact, and times 0.1 are not whole, so that only the pairs of one coordinate's plane stay in one. */
static void test_overlapping(void **state)
{
    (void)state;
    /* corners in the plane's own coordinates; a corner of the first triangle's number is shared with it */
    static const struct {
        int other[3][2], overlaps;
    } cases[] = {
        {{{0, 0}, {10, 0}, {0, -10}}, 0},  /* across the edge */
        {{{0, 0}, {10, 0}, {3, 8}}, 1},    /* folded over it */
        {{{0, 0}, {10, 0}, {0, 10}}, 1},   /* at the same places, other vertices */
        {{{0, 0}, {-10, 3}, {-10, -3}}, 0},
        {{{0, 0}, {9, 9}, {9, 8}}, 1},     /* a corner in common */
        {{{0, 0}, {0, 10}, {-5, 5}}, 0},
        {{{1, 1}, {2, 1}, {1, 2}}, 1},     /* inside */
        {{{-30, -30}, {60, -30}, {-30, 60}}, 1},
        {{{5, 5}, {10, 10}, {10, 5}}, 0},  /* touches the long edge */
        {{{4, 5}, {10, 10}, {10, 5}}, 1},
        {{{-3, 4}, {13, 4}, {13, 3}}, 1},  /* through it */
        {{{20, 20}, {20, 30}, {30, 20}}, 0},
        {{{1, 1}, {2, 2}, {3, 3}}, 0},     /* without area */
    };
    static const int first[3][2] = {{0, 0}, {10, 0}, {0, 10}};
    static const int axes[4][2][3] = {{{1, 0, 0}, {0, 1, 0}}, {{0, 3, 0}, {0, 0, 7}}, {{3, 1, -2}, {1, 5, 7}}, {{-7, 3, 11}, {2, 13, 5}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turned = 0; turned < 2; turned++)
            for (int plane = 0; plane < 4; plane++) {
                double positions[6][3];
                int32_t triangles[6] = {0, 1, 2, 3, turned ? 5 : 4, turned ? 4 : 5};
                modal_surface_pairs crossing, overlapping;
                modal_surface_mesh surface = {.n_vertices = 6, .positions = positions[0], .n_triangles = 2, .triangles = triangles};
                for (int v = 0; v < 6; v++) {
                    const int *at = v < 3 ? first[v] : cases[i].other[v - 3];
                    for (int k = 0; k < 3; k++) positions[v][k] = 1e5 + at[0] * axes[plane][0][k] + at[1] * axes[plane][1][k];
                    for (int w = 0; v >= 3 && w < 3 && i != 2; w++) /* neighbours share vertices */
                        if (at[0] == first[w][0] && at[1] == first[w][1])
                            for (int n = 3; n < 6; n++)
                                if (triangles[n] == v) triangles[n] = w;
                }
                assert_int_equal(modal_surface_intersections(&surface, &crossing, &overlapping, NULL), MODAL_OK);
                if (overlapping.count != cases[i].overlaps)
                    fail_msg("case %zu, plane %d: %lld", i, plane, (long long)overlapping.count);
                assert_int_equal(overlapping.first[1], cases[i].overlaps ? 1 : -1);
                assert_int_equal(crossing.count, 0);
                /* a corner out of the plane by the least step: no overlap any more, but for a neighbour's it may cross */
                if (plane == 0) {
                    positions[5][2] = nextafter(positions[5][2], INFINITY);
                    assert_int_equal(modal_surface_intersections(&surface, &crossing, &overlapping, NULL), MODAL_OK);
                    assert_int_equal(overlapping.count, 0);
                }
            }
}

/* The signs of determinants of whole numbers up to 2^30, nearly or quite in one plane, against integers of 128 bits. */
static void test_predicates(void **state)
{
    (void)state;
    uint64_t random = 20;
    int n_zero = 0;
    for (int i = 0; i < 20000; i++) {
        int64_t p[4][3];
        double x[4][3];
        for (int v = 0; v < 4; v++)
            for (int k = 0; k < 3; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                p[v][k] = (int64_t)(random >> 34);
            }
        for (int k = 0; k < 3; k++) { /* the fourth in the plane of the others, or beside it by 1 */
            p[1][k] &= -8, p[2][k] &= -8, p[0][k] &= -8;
            p[3][k] = p[0][k] / 2 + p[1][k] / 4 + p[2][k] / 4 + (k == i % 7);
            for (int v = 0; v < 4; v++) x[v][k] = (double)p[v][k] * 0x1p-13;
        }
        __int128 det = 0;
        for (int k = 0; k < 3; k++) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            det += (__int128)(p[0][k] - p[3][k]) * ((__int128)(p[1][l] - p[3][l]) * (p[2][m] - p[3][m]) -
                                                    (__int128)(p[1][m] - p[3][m]) * (p[2][l] - p[3][l]));
        }
        const int sign = (det > 0) - (det < 0), filtered = modal_orientation(x[0], x[1], x[2], x[3]);
        n_zero += sign == 0;
        assert_int_equal(modal_orientation_exact(x[0], x[1], x[2], x[3]), sign);
        assert_true(filtered == 0 || filtered == sign);
        const __int128 area = (__int128)(p[0][0] - p[2][0]) * (p[1][1] - p[2][1]) - (__int128)(p[0][1] - p[2][1]) * (p[1][0] - p[2][0]);
        assert_int_equal(modal_turn_exact(x[0], x[1], x[2], 2), (area > 0) - (area < 0));
        /* three points of a line, or beside it by one part in 2^30 */
        double y[3] = {x[0][0] / 2 + x[1][0] / 2, x[0][1] / 2 + x[1][1] / 2 + (i % 2 ? 0x1p-14 : 0), 0};
        const int expected = i % 2 ? (p[1][0] > p[0][0]) - (p[1][0] < p[0][0]) : 0;
        assert_int_equal(modal_turn_exact(x[0], x[1], y, 2), expected);
    }
    assert_true(n_zero > 1000 && n_zero < 19000);
}

static void test_write_error(void **state)
{
    (void)state;
    modal_volume_mesh mesh = {0};
    modal_error err = {0};
    assert_int_equal(modal_mesh_read(FOLDER "good-41.msh", &mesh, &err), MODAL_OK);
    assert_int_equal(modal_msh_write("/dev/full", &mesh, 1, &err), MODAL_ERROR_SYSTEM);
    assert_non_null(strstr(err.message, "/dev/full: cannot write, "));
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_surface),  cmocka_unit_test(test_volume),
                                       cmocka_unit_test(test_quality),  cmocka_unit_test(test_crossing),
                                       cmocka_unit_test(test_overlapping), cmocka_unit_test(test_predicates),
                                       cmocka_unit_test(test_write_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
