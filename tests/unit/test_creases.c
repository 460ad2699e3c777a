/* SPDX-License-Identifier: Apache-2.0 */
/* Which corners share a normal: a cube, a cylinder, edges of three triangles, triangles without area, vertices of several fans. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/model/creases.h"

static const double pi = 3.14159265358979323846;

static const double cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const int32_t cube_triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                              {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static modal_creases make(int64_t n, int64_t n_triangles, const int32_t *triangles, const double *x, double degrees)
{
    modal_creases c;
    modal_error err = {0};
    assert_int_equal(modal_creases_make(&c, n, n_triangles, triangles, x, degrees, &err), MODAL_OK);
    assert_int_equal(c.n_vertices, n);
    assert_int_equal(c.n_triangles, n_triangles);
    /* rules of the table: corners are at their vertices, triangles of wedges are those that have them, sources ascend */
    for (int64_t i = 0; i < 3 * n_triangles; i++) assert_int_equal(modal_creases_vertex(&c, c.corners[i]), triangles[i]);
    for (int64_t i = 1; i < c.n_wedges - n; i++) assert_true(c.source[i] >= c.source[i - 1]);
    assert_int_equal(c.face_offsets[0], 0);
    for (int64_t w = 0; w < c.n_wedges; w++) {
        for (int64_t i = c.face_offsets[w]; i < c.face_offsets[w + 1]; i++) {
            const int32_t *t = c.corners + 3 * (int64_t)c.faces[i];
            assert_true(t[0] == w || t[1] == w || t[2] == w);
            assert_true(i == c.face_offsets[w] || c.faces[i] > c.faces[i - 1]);
        }
        if (w >= n) assert_true(c.face_offsets[w + 1] > c.face_offsets[w]);
    }
    return c;
}

/* Area-weighted normal of a wedge. */
static void normal_of(const modal_creases *c, const int32_t *triangles, const double *x, int64_t wedge, double normal[3])
{
    double sum[3] = {0, 0, 0};
    for (int64_t i = c->face_offsets[wedge]; i < c->face_offsets[wedge + 1]; i++) {
        const int32_t *t = triangles + 3 * (int64_t)c->faces[i];
        double a[3], b[3];
        for (int k = 0; k < 3; k++) a[k] = x[3 * t[1] + k] - x[3 * t[0] + k], b[k] = x[3 * t[2] + k] - x[3 * t[0] + k];
        for (int k = 0; k < 3; k++) sum[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int k = 0; k < 3; k++) normal[k] = sum[k] / length;
}

static void test_cube(void **state)
{
    (void)state;
    static const double outward[6][3] = {{0, 0, -1}, {0, 0, 1}, {0, -1, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 0}};
    static const double angles[] = {0, 40, 89.9, 90, 180};
    for (size_t i = 0; i < 5; i++) {
        modal_creases c = make(8, 12, cube_triangles[0], cube[0], angles[i]);
        assert_int_equal(c.n_wedges, angles[i] < 90 ? 24 : 8);
        for (int t = 0; t < 12 && angles[i] < 90; t++)
            for (int k = 0; k < 3; k++) {
                double n[3];
                normal_of(&c, cube_triangles[0], cube[0], c.corners[3 * t + k], n);
                for (int a = 0; a < 3; a++) assert_true(n[a] == outward[t / 2][a]);
            }
        modal_creases_free(&c);
    }
}

/* N sides, each of four triangles about its middle, so that area weights are even; caps about their middles. */
enum { SIDES = 24 };

static void test_cylinder(void **state)
{
    (void)state;
    double x[3 * SIDES + 2][3];
    int32_t triangles[6 * SIDES][3];
    for (int i = 0; i < SIDES; i++) {
        const double at = 2 * pi * i / SIDES, next = 2 * pi * (i + 1) / SIDES;
        const double all[3][3] = {{cos(at), sin(at), 0}, {cos(at), sin(at), 1}, {(cos(at) + cos(next)) / 2, (sin(at) + sin(next)) / 2, 0.5}};
        for (int k = 0; k < 3; k++) memcpy(x[k * SIDES + i], all[k], sizeof all[k]);
        const int a = i, b = (i + 1) % SIDES, m = 2 * SIDES + i, bottom = 3 * SIDES, top = bottom + 1;
        const int t[6][3] = {{a, b, m}, {b, SIDES + b, m}, {SIDES + b, SIDES + a, m}, {SIDES + a, a, m}, {bottom, b, a}, {top, SIDES + a, SIDES + b}};
        for (int k = 0; k < 6; k++)
            for (int j = 0; j < 3; j++) triangles[6 * i + k][j] = t[k][j];
    }
    const double middle[2][3] = {{0, 0, 0}, {0, 0, 1}};
    memcpy(x[3 * SIDES], middle, sizeof middle);
    modal_creases c = make(3 * SIDES + 2, 6 * SIDES, triangles[0], x[0], 40);
    assert_int_equal(c.n_wedges, 3 * SIDES + 2 + 2 * SIDES); /* a second wedge at every vertex of the rims */
    for (int t = 0; t < 6 * SIDES; t++)
        for (int k = 0; k < 3; k++) {
            double n[3];
            const int32_t v = triangles[t][k];
            normal_of(&c, triangles[0], x[0], c.corners[3 * t + k], n);
            const int cap = t % 6 >= 4;
            const double angle = 2 * pi * (v % SIDES + (v >= 2 * SIDES ? 0.5 : 0)) / SIDES;
            const double wanted[3] = {cap ? 0 : cos(angle), cap ? 0 : sin(angle), cap ? (t % 6 == 4 ? -1 : 1) : 0};
            for (int a = 0; a < 3; a++) assert_true(fabs(n[a] - wanted[a]) <= 1e-14);
        }
    modal_creases_free(&c);
    c = make(3 * SIDES + 2, 6 * SIDES, triangles[0], x[0], 14.9); /* sides meet at 15 degrees */
    assert_int_equal(c.n_wedges, 3 * SIDES + 2 + 4 * SIDES);
    modal_creases_free(&c);
    c = make(3 * SIDES + 2, 6 * SIDES, triangles[0], x[0], 15);
    assert_int_equal(c.n_wedges, 3 * SIDES + 2 + 2 * SIDES);
    modal_creases_free(&c);
}

static void test_odd(void **state)
{
    (void)state;
    /* three triangles at one edge, flat: each of its own */
    const double fins[5][3] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {2, 0, 0}};
    const int32_t three[3][3] = {{0, 1, 2}, {0, 3, 1}, {0, 1, 4}};
    modal_creases c = make(5, 3, three[0], fins[0], 180);
    assert_int_equal(c.n_wedges, 5 + 4);
    modal_creases_free(&c);
    /* a triangle that is turned over meets its neighbour at 180 degrees */
    const double square[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    const int32_t turned[2][3] = {{0, 1, 2}, {1, 2, 3}};
    c = make(4, 2, turned[0], square[0], 179);
    assert_int_equal(c.n_wedges, 4 + 2);
    modal_creases_free(&c);
    c = make(4, 2, turned[0], square[0], 180);
    assert_int_equal(c.n_wedges, 4);
    modal_creases_free(&c);
    /* two fans at one vertex; a triangle with a vertex twice; a vertex of none */
    const int32_t fans[3][3] = {{0, 1, 2}, {0, 3, 4}, {1, 1, 2}};
    const double places[6][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {-1, 0, 0}, {-1, -1, 0}, {5, 5, 5}};
    c = make(6, 3, fans[0], places[0], 40);
    assert_int_equal(c.n_wedges, 6 + 1);
    assert_int_equal(c.source[0], 0);
    assert_int_equal(c.face_offsets[6], c.face_offsets[5]);
    modal_creases_free(&c);
    /* a triangle without area along a right angle joins one side, not both */
    const double corner[6][3] = {{0, 0, 0}, {2, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 1}};
    const int32_t flat[4][3] = {{0, 1, 3}, {0, 2, 1}, {0, 4, 2}, {2, 4, 1}};
    c = make(6, 4, flat[0], corner[0], 40);
    assert_int_not_equal(c.corners[0], c.corners[6]);
    assert_true(c.corners[3] == c.corners[0] || c.corners[3] == c.corners[6]);
    modal_creases_free(&c);
    c = make(0, 0, NULL, NULL, 40);
    assert_int_equal(c.n_wedges, 0);
    modal_creases_free(&c);
}

/* By numbers of corners: an edge may be hard at one end, triangles that do not touch may share a normal, and no angle counts. */
static void test_numbers(void **state)
{
    (void)state;
    const int32_t fan[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 1}}, two_ends[4][3] = {{7, 0, 0}, {9, 0, 0}, {7, 0, 0}, {9, 0, 1}};
    modal_creases c;
    modal_error err = {0};
    assert_int_equal(modal_creases_of_numbers(&c, 5, 4, fan[0], two_ends[0], &err), MODAL_OK);
    assert_int_equal(c.n_wedges, 5 + 2);
    assert_int_equal(c.source[0], 0);
    assert_int_equal(c.source[1], 1);
    const int32_t wanted[4][3] = {{0, 1, 2}, {5, 2, 3}, {0, 3, 4}, {5, 4, 6}};
    assert_memory_equal(c.corners, wanted, sizeof wanted);
    modal_creases_free(&c);
    for (int64_t i = 1;; i++) {
        modal_alloc_fail_at(i);
        const modal_status status = modal_creases_of_numbers(&c, 5, 4, fan[0], two_ends[0], &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (!fired) break;
        assert_null(c.corners);
    }
    modal_creases_free(&c);
}

/* A fan of 100,000 triangles about one vertex is not slow, and the n-th allocation that fails leaves nothing. */
static void test_limits(void **state)
{
    (void)state;
    enum { FAN = 100000 };
    double *x = malloc((FAN + 1) * 3 * sizeof *x);
    int32_t *t = malloc(FAN * 3 * sizeof *t);
    for (int i = 0; i < FAN; i++) {
        x[3 * i + 3] = cos(2 * pi * i / FAN), x[3 * i + 4] = sin(2 * pi * i / FAN), x[3 * i + 5] = -10;
        t[3 * i] = 0, t[3 * i + 1] = 1 + i, t[3 * i + 2] = 1 + (i + 1) % FAN;
    }
    x[0] = x[1] = x[2] = 0;
    modal_creases c = make(FAN + 1, FAN, t, x, 40);
    assert_int_equal(c.n_wedges, FAN + 1);
    modal_creases_free(&c);
    free(x);
    free(t);
    for (int64_t i = 1;; i++) {
        modal_error err = {0};
        modal_alloc_fail_at(i);
        const modal_status status = modal_creases_make(&c, 8, 12, cube_triangles[0], cube[0], 40, &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (!fired) break;
        assert_null(c.corners);
    }
    modal_creases_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cube), cmocka_unit_test(test_cylinder), cmocka_unit_test(test_odd),
                                       cmocka_unit_test(test_numbers), cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
