/* SPDX-License-Identifier: Apache-2.0 */
/* lib/mesh/tables.h, lib/mesh/order.h */
#include <math.h>
#include <stdlib.h>

#include "lib/base/sort.h"
#include "lib/mesh/order.h"
#include "lib/mesh/tables.h"
#include "tests/unit/test_mesh_helpers.h"

static int has(const int32_t *triangle, int64_t v)
{
    return triangle[0] == v || triangle[1] == v || triangle[2] == v;
}

/* Each row by looking at every triangle for every pair of vertices. */
static void check_tables(int64_t n, int64_t n_triangles, const int32_t *triangles)
{
    modal_surface_tables tables;
    assert_int_equal(modal_surface_tables_build(n, n_triangles, triangles, &tables, NULL), MODAL_OK);
    int64_t face = 0, neighbour = 0;
    for (int64_t v = 0; v < n; v++) {
        int on_boundary = 0;
        assert_int_equal(tables.face_offsets[v], face);
        assert_int_equal(tables.ring_offsets[v], neighbour);
        for (int64_t t = 0; t < n_triangles; t++)
            if (has(triangles + 3 * t, v)) assert_int_equal(tables.faces[face++], t);
        for (int64_t w = 0; w < n; w++) {
            int n_shared = 0;
            for (int64_t t = 0; w != v && t < n_triangles; t++)
                n_shared += has(triangles + 3 * t, v) && has(triangles + 3 * t, w);
            if (n_shared) assert_int_equal(tables.ring[neighbour++], w);
            on_boundary |= n_shared == 1;
        }
        assert_int_equal(tables.boundary[v], on_boundary);
    }
    assert_int_equal(tables.face_offsets[n], face);
    assert_int_equal(tables.ring_offsets[n], neighbour);
    assert_int_equal(face, 3 * n_triangles);
    modal_surface_tables_free(&tables);
    assert_null(tables.ring);
}

static void test_tables(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        modal_surface_mesh surface;
        modal_surface_tables tables;
        make_surface(&surface, 7, 9, open);
        check_tables(surface.n_vertices, surface.n_triangles, surface.triangles);
        assert_int_equal(modal_surface_tables_build(surface.n_vertices, surface.n_triangles,
                                                    surface.triangles, &tables, NULL), MODAL_OK);
        int n_boundary = 0;
        for (int64_t v = 0; v < surface.n_vertices; v++) n_boundary += tables.boundary[v];
        assert_int_equal(n_boundary, open ? 2 * (7 + 9) : 0);
        modal_surface_tables_free(&tables);
        modal_surface_mesh_free(&surface);
    }
    /* No surface at all: edges of many triangles, triangles given twice, vertices of none. */
    for (int run = 0; run < 20; run++) {
        int64_t n = 3 + random_below(30), n_triangles = random_below(90);
        int32_t triangles[3 * 90];
        for (int64_t t = 0; t < n_triangles; t++) {
            int32_t *v = triangles + 3 * t;
            do {
                for (int k = 0; k < 3; k++) v[k] = (int32_t)random_below(n);
            } while (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]);
        }
        check_tables(n, n_triangles, triangles);
    }
    check_tables(0, 0, NULL);
    check_tables(4, 0, NULL);
}

static void test_tables_refuse(void **state)
{
    (void)state;
    static const struct {
        int32_t triangle[3];
        const char *message;
    } cases[] = {
        {{0, 1, 5}, "triangle 1: no vertex of index 5 among 5"},
        {{-1, 1, 2}, "triangle 1: no vertex of index -1 among 5"},
        {{3, 3, 2}, "triangle 1: vertex 3 twice"},
        {{3, 2, 2}, "triangle 1: vertex 2 twice"},
        {{3, 2, 3}, "triangle 1: vertex 3 twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t triangles[6] = {0, 1, 2};
        modal_surface_tables tables;
        modal_error err = {0};
        memcpy(triangles + 3, cases[i].triangle, sizeof cases[i].triangle);
        assert_int_equal(modal_surface_tables_build(5, 2, triangles, &tables, &err), MODAL_ERROR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_null(tables.faces);
    }
}

/* Consecutive cells of the curve share a face, and every cell of a small grid is met once. */
static void test_hilbert_is_a_curve(void **state)
{
    (void)state;
    enum { SIDE = 8, N = SIDE * SIDE * SIDE };
    static double positions[N][3];
    static uint64_t keys[N];
    static int32_t order[N];
    for (int i = 0; i < N; i++) {
        positions[i][0] = i % SIDE;
        positions[i][1] = i / SIDE % SIDE;
        positions[i][2] = i / SIDE / SIDE;
        order[i] = i;
    }
    modal_order_hilbert_keys(N, positions[0], keys);
    assert_int_equal(modal_sort_by_key(N, keys, order, NULL), MODAL_OK);
    for (int i = 1; i < N; i++) {
        double steps = 0;
        for (int k = 0; k < 3; k++) steps += fabs(positions[order[i]][k] - positions[order[i - 1]][k]);
        assert_true(keys[i] != keys[i - 1]);
        assert_true(steps == 1);
    }
    /* All in one place, and no number at all: any key, no crash. */
    double odd[4][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    modal_order_hilbert_keys(4, odd[0], keys);
    for (int i = 1; i < 4; i++) assert_true(keys[i] == keys[0]);
    odd[2][1] = NAN;
    odd[3][0] = INFINITY;
    modal_order_hilbert_keys(4, odd[0], keys);
}

static void check_permutation(int64_t n, const int32_t *order)
{
    char *seen = calloc((size_t)n, 1);
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(order[i], 0, n - 1);
        assert_false(seen[order[i]]);
        seen[order[i]] = 1;
    }
    free(seen);
}

static double lines_of(int64_t n, int64_t n_triangles, const int32_t *triangles)
{
    modal_surface_tables tables;
    double lines = NAN;
    assert_int_equal(modal_surface_tables_build(n, n_triangles, triangles, &tables, NULL), MODAL_OK);
    assert_int_equal(modal_order_gather_lines(n, tables.ring_offsets, tables.ring, &lines, NULL),
                     MODAL_OK);
    modal_surface_tables_free(&tables);
    return lines;
}

static void test_order(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        modal_surface_mesh surface;
        make_surface(&surface, 60, 50, open);
        int64_t n = surface.n_vertices, n_triangles = surface.n_triangles;
        size_t bytes = (size_t)n * sizeof(int32_t), triangle_bytes = (size_t)n_triangles * sizeof(int32_t);
        int32_t *order = malloc(bytes), *again = malloc(bytes), *user_triangle = malloc(triangle_bytes);
        int32_t *triangles = malloc(3 * triangle_bytes), *uv = malloc(3 * triangle_bytes);
        double *positions = malloc(3 * (size_t)n * sizeof *positions);
        assert_int_equal(modal_alloc(&surface.triangle_uv, 3 * n_triangles, sizeof(int32_t), "uv", NULL),
                         MODAL_OK);
        for (int64_t i = 0; i < 3 * n_triangles; i++) surface.triangle_uv[i] = (int32_t)i;

        for (int run = 0; run < 2; run++)
            assert_int_equal(modal_order_vertices(n, surface.positions, n_triangles, surface.triangles,
                                                  run ? again : order, NULL), MODAL_OK);
        assert_memory_equal(order, again, bytes);
        check_permutation(n, order);
        assert_int_equal(modal_order_triangles(n, order, n_triangles, surface.triangles, user_triangle,
                                               NULL), MODAL_OK);
        check_permutation(n_triangles, user_triangle);
        assert_int_equal(modal_order_apply(&surface, order, user_triangle, positions, triangles, uv,
                                           NULL), MODAL_OK);
        int32_t previous = -1;
        for (int64_t t = 0; t < n_triangles; t++) {
            int64_t user = user_triangle[t];
            int32_t smallest = INT32_MAX;
            for (int k = 0; k < 3; k++) {
                int32_t v = triangles[3 * t + k];
                if (v < smallest) smallest = v;
                assert_int_equal(order[v], surface.triangles[3 * user + k]);
                assert_int_equal(uv[3 * t + k], 3 * user + k);
                for (int j = 0; j < 3; j++)
                    assert_true(positions[3 * v + j] == surface.positions[3 * order[v] + j]);
            }
            assert_true(smallest > previous ||
                        (smallest == previous && user > user_triangle[t - 1]));
            previous = smallest;
        }
        double random = lines_of(n, n_triangles, surface.triangles);
        double ordered = lines_of(n, n_triangles, triangles);
        assert_true(ordered >= 3); /* a tile's own positions are three lines */
        assert_true(ordered < 0.12 * random);

        /* The order does not depend on how the surface was numbered: a surface in stored order
         * keeps it. */
        modal_surface_mesh stored = {.n_vertices = n, .positions = positions,
                                     .n_triangles = n_triangles, .triangles = triangles};
        assert_int_equal(modal_order_vertices(n, stored.positions, n_triangles, stored.triangles, again,
                                              NULL), MODAL_OK);
        for (int64_t v = 0; v < n; v++) assert_int_equal(again[v], v);
        free(order);
        free(again);
        free(user_triangle);
        free(triangles);
        free(uv);
        free(positions);
        modal_surface_mesh_free(&surface);
    }
}

/* A fan of more neighbours than the frontier holds, and vertices without a triangle. */
static void test_order_of_a_fan(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double positions[N][3];
    static int32_t triangles[N][3], order[N];
    int64_t n_triangles = 0;
    for (int i = 1; i < N; i++) {
        positions[i][0] = cos(i * 0.003);
        positions[i][1] = sin(i * 0.003);
        if (i + 1 < N - 10) {
            triangles[n_triangles][0] = 0;
            triangles[n_triangles][1] = i;
            triangles[n_triangles++][2] = i + 1;
        }
    }
    assert_int_equal(modal_order_vertices(N, positions[0], n_triangles, triangles[0], order, NULL),
                     MODAL_OK);
    check_permutation(N, order);
    assert_int_equal(modal_order_vertices(0, NULL, 0, NULL, order, NULL), MODAL_OK);
}

static void test_gather_lines(void **state)
{
    (void)state;
    /* 33 vertices, alone: 32 x 12 bytes are 3 lines, the last vertex lies on the fourth. */
    int64_t offsets[34] = {0};
    double lines = NAN;
    int32_t none[1] = {0};
    assert_int_equal(modal_order_gather_lines(33, offsets, none, &lines, NULL), MODAL_OK);
    assert_true(lines == (3 + 1) / 2.0);
    /* Vertex 0 has the neighbours 10 (bytes 120 to 131: two lines, both known) and 32. */
    int32_t ring[2] = {10, 32};
    for (int v = 1; v < 34; v++) offsets[v] = 2;
    assert_int_equal(modal_order_gather_lines(33, offsets, ring, &lines, NULL), MODAL_OK);
    assert_true(lines == (4 + 1) / 2.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_tables_refuse),
        cmocka_unit_test(test_hilbert_is_a_curve),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_of_a_fan),
        cmocka_unit_test(test_gather_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
