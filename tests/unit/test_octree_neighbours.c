/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours on the connected surface, and areas of samples. */
#include <omp.h>

#include "lib/base/memory.h"
#include "tests/unit/octree_surfaces.h"

static int64_t find(const modal_octree *o, const int64_t c[3])
{
    const int64_t key = c[0] < 0 || c[1] < 0 || c[2] < 0 ? -1 : (int64_t)modal_morton(c[0], c[1], c[2]);
    int64_t low = 0, high = o->n_samples;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (o->keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < o->n_samples && o->keys[low] == key ? low : -1;
}

/* Neighbour `bit` of sample i in space, or -1. */
static int64_t in_space(const modal_octree *o, int64_t i, int bit)
{
    int d[3];
    int64_t c[3];
    modal_octree_offset(bit, d);
    for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze((uint64_t)o->keys[i] >> k) + d[k];
    return find(o, c);
}

static void nearest_point(const surface *s, const modal_octree *o, int64_t i, double x[3])
{
    const int32_t *t = s->triangles + 3 * (int64_t)o->triangles[i];
    const double b = (double)o->barycentric[2 * i], c = (double)o->barycentric[2 * i + 1];
    for (int k = 0; k < 3; k++) x[k] = (1 - b - c) * s->positions[3 * t[0] + k] + b * s->positions[3 * t[1] + k] + c * s->positions[3 * t[2] + k];
}

/* Bits lead to samples, and back. Returns pairs that are side by side in space and not neighbours. */
static int64_t check_symmetry(const modal_octree *o)
{
    int64_t apart = 0;
    for (int64_t i = 0; i < o->n_samples; i++) {
        assert_int_equal(o->neighbours[i] >> MODAL_OCTREE_AROUND, 0);
        for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
            const int64_t j = in_space(o, i, bit);
            const int there = o->neighbours[i] >> bit & 1;
            if (there) assert_true(j >= 0 && (o->neighbours[j] >> (MODAL_OCTREE_AROUND - 1 - bit) & 1));
            apart += j >= 0 && !there;
        }
    }
    return apart / 2;
}

/* Areas are positive, and their sums with 1 and with the samples' places are those of the surface: trilinear weights give both exactly.
 * Where `moves` is 0, weights went to other corners, and only the sum stays. */
static void check_areas(const surface *s, const modal_octree *o, int moves)
{
    double want[4] = {0}, got[4] = {0};
    const double step = o->size / (double)(1 << modal_octree_bits(o));
    for (int64_t t = 0; t < s->n_triangles; t++) {
        double u[3], v[3], n[3], middle[3];
        const double *p[3];
        for (int j = 0; j < 3; j++) p[j] = s->positions + 3 * s->triangles[3 * t + j];
        for (int k = 0; k < 3; k++) u[k] = p[1][k] - p[0][k], v[k] = p[2][k] - p[0][k], middle[k] = (p[0][k] + p[1][k] + p[2][k]) / 3;
        for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        const double area = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        want[0] += area;
        for (int k = 0; k < 3; k++) want[1 + k] += area * middle[k];
    }
    for (int64_t i = 0; i < o->n_samples; i++) {
        assert_true(o->areas[i] >= 0);
        got[0] += (double)o->areas[i];
        for (int k = 0; k < 3; k++)
            got[1 + k] += (double)o->areas[i] * (o->origin[k] + step * modal_morton_squeeze((uint64_t)o->keys[i] >> k));
    }
    assert_true(fabs(got[0] - want[0]) <= 1e-6 * want[0]);
    for (int k = 1; k < 4 && moves; k++) assert_true(fabs(got[k] - want[k]) <= 1e-6 * (fabs(want[k]) + want[0]));
}

static void test_torus(void **unused)
{
    (void)unused;
    surface coarse = grid(40, 20, 1, 1, torus_at), fine = grid(300, 150, 1, 1, torus_at);
    for (int k = 0; k < 2; k++) { /* triangles larger and smaller than cells */
        const surface *s = k ? &fine : &coarse;
        modal_octree o = connected(s, 64);
        const int64_t apart = check_symmetry(&o);
        check_areas(s, &o, 1);
        print_message("torus of %lld triangles: %lld samples, %lld pairs in space that are no neighbours\n", (long long)s->n_triangles,
                      (long long)o.n_samples, (long long)apart);
        assert_int_equal(apart, 0); /* no wall of it is thin */
        modal_octree_free(&o);
    }
    drop(&coarse);
    drop(&fine);
}

static double tilt[2], gap;

static void plate_at(double u, double v, double x[3])
{
    x[0] = u, x[1] = v, x[2] = 0.3 + tilt[0] * u + tilt[1] * v;
}

/* Two plates `gap` apart: twice the one. */
static surface two_plates(int n)
{
    surface one = grid(n, n, 0, 0, plate_at), s = room(2 * one.n_vertices, 2 * one.n_triangles);
    const double down = gap * sqrt(1 + tilt[0] * tilt[0] + tilt[1] * tilt[1]);
    for (int64_t v = 0; v < s.n_vertices; v++) {
        memcpy(s.positions + 3 * v, one.positions + 3 * (v % one.n_vertices), 24);
        if (v >= one.n_vertices) s.positions[3 * v + 2] -= down;
    }
    for (int64_t t = 0; t < 3 * s.n_triangles; t++)
        s.triangles[t] = one.triangles[t % (3 * one.n_triangles)] + (t >= 3 * one.n_triangles ? (int32_t)one.n_vertices : 0);
    drop(&one);
    return s;
}

static void test_two_sheets(void **unused)
{
    (void)unused;
    static const double tilts[][2] = {{0, 0}, {0.3, 0.2}, {1, 0}, {0.05, 0.9}};
    for (int k = 0; k < 8; k++) {
        memcpy(tilt, tilts[k / 2], sizeof tilt);
        const double cell = fmax(1, fmax(tilt[0] + tilt[1], 0)) / 59;
        gap = 0.5 * cell;
        surface s = two_plates(k % 2 ? 90 : 1);
        modal_octree o = connected(&s, 64);
        const int64_t apart = check_symmetry(&o), upper = s.n_triangles / 2;
        int64_t both[2] = {0};
        check_areas(&s, &o, 0);
        for (int64_t i = 0; i < o.n_samples; i++) {
            both[o.triangles[i] >= upper]++;
            for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
                const int64_t j = in_space(&o, i, bit);
                if (j < 0) continue;
                const int same = (o.triangles[i] >= upper) == (o.triangles[j] >= upper);
                assert_int_equal(o.neighbours[i] >> bit & 1, same); /* never across, always along */
            }
        }
        assert_true(apart > 10000 && both[0] > 3000 && both[1] > 3000);
        modal_octree_free(&o);
        drop(&s);
    }
}

/* A closed plate half a cell thick: sides are neighbours at the rim alone. The same folded of two triangles: a wedge. */
static void test_rim(void **unused)
{
    (void)unused;
    const double cell = 1.0 / 59, h = 0.5 * cell;
    surface box = room(8, 12), wedge = room(6, 8);
    static const int32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                         {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int v = 0; v < 8; v++) box.positions[3 * v] = v & 1, box.positions[3 * v + 1] = v >> 1 & 1, box.positions[3 * v + 2] = 0.3 + (v >> 2) * h;
    memcpy(box.triangles, faces, sizeof faces);
    modal_octree o = connected(&box, 64);
    int64_t across = 0, far = 0;
    check_symmetry(&o);
    check_areas(&box, &o, 0);
    for (int64_t i = 0; i < o.n_samples; i++)
        for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
            const int64_t j = in_space(&o, i, bit);
            if (j < 0 || o.triangles[i] >= 4 || o.triangles[j] >= 4 || (o.triangles[i] < 2) == (o.triangles[j] < 2)) continue;
            double x[3];
            nearest_point(&box, &o, i, x);
            const double rim = fmin(fmin(x[0], 1 - x[0]), fmin(x[1], 1 - x[1])) / cell;
            if (o.neighbours[i] >> bit & 1) {
                across++;
                assert_true(rim <= 4);
            } else far++;
            if (rim > 4) assert_int_equal(o.neighbours[i] >> bit & 1, 0);
        }
    assert_true(across > 100 && far > 10000);
    modal_octree_free(&o);
    /* both sides of a fold are neighbours within reach of its edge and nowhere else: triangles have an edge in common */
    static const double corners[4][3] = {{0, 0, 0.3}, {0, 1, 0.3}, {1, 0.5, 0.3}, {1, 0.5, 0.3}};
    memcpy(wedge.positions, corners, sizeof corners);
    wedge.positions[11] += 0.9 * cell;
    wedge.n_vertices = 4, wedge.n_triangles = 2;
    static const int32_t sides[6] = {0, 1, 2, 1, 0, 3};
    memcpy(wedge.triangles, sides, sizeof sides);
    o = connected(&wedge, 64);
    across = far = 0;
    for (int64_t i = 0; i < o.n_samples; i++)
        for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
            const int64_t j = in_space(&o, i, bit);
            if (j < 0 || o.triangles[i] == o.triangles[j]) continue;
            double x[3];
            nearest_point(&wedge, &o, i, x);
            const int there = o.neighbours[i] >> bit & 1;
            if (there) assert_true(x[0] / cell <= 4);
            across += there, far += !there;
        }
    assert_true(across > 50 && far > 100);
    modal_octree_free(&o);
    drop(&box);
    drop(&wedge);
}

/* Vertices at the same place are one; another surface is refused; the same bytes for any threads; allocations fail. */
static void test_more(void **unused)
{
    (void)unused;
    surface s = grid(40, 20, 1, 1, torus_at), soup = room(3 * s.n_triangles, s.n_triangles);
    for (int64_t i = 0; i < 3 * s.n_triangles; i++) {
        soup.triangles[i] = (int32_t)i;
        memcpy(soup.positions + 3 * i, s.positions + 3 * s.triangles[i], 24);
    }
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    modal_octree one = connected(&s, 64);
    omp_set_num_threads(3);
    modal_octree three = connected(&soup, 64);
    omp_set_num_threads(before);
    assert_int_equal(one.n_samples, three.n_samples);
    assert_memory_equal(one.neighbours, three.neighbours, (size_t)one.n_samples * 4);
    assert_memory_equal(one.areas, three.areas, (size_t)one.n_samples * 4);
    modal_sheets sheets;
    modal_error err = {0};
    assert_int_equal(modal_sheets_make(&one, soup.positions, soup.n_vertices, soup.triangles, soup.n_triangles, &sheets, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "another surface"));
    modal_sheets_free(&sheets);
    omp_set_num_threads(1);
    for (int n = 1; n < 100; n++) {
        err = (modal_error){0};
        modal_alloc_fail_at(n);
        modal_status status = modal_sheets_make(&one, s.positions, s.n_vertices, s.triangles, s.n_triangles, &sheets, &err);
        if (status == MODAL_OK) status = modal_octree_connect(&sheets, NULL, &one, &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        modal_sheets_free(&sheets);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (!fired) break;
        assert_true(n < 99);
    }
    omp_set_num_threads(before);
    modal_octree_free(&one);
    modal_octree_free(&three);
    drop(&s);
    drop(&soup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_torus), cmocka_unit_test(test_two_sheets), cmocka_unit_test(test_rim),
                                       cmocka_unit_test(test_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
