/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of surfaces without texture coordinates: nothing overlaps, by whole numbers; angles, area, gaps; what is refused. An atlas
 * beside look-ups at its texels' places; threads. */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/octree/atlas.h"
#include "lib/octree/build.h"
#include "lib/octree/charts.h"

/* A torus with bumps, n by m quads; open > 0: without its last rows. */
static modal_surface_mesh torus(int n, int m, int open)
{
    modal_surface_mesh s = {.n_vertices = n * m, .n_triangles = 2 * (n - open) * m};
    s.positions = malloc(3 * (size_t)s.n_vertices * sizeof *s.positions);
    s.triangles = malloc(3 * (size_t)s.n_triangles * sizeof *s.triangles);
    assert_true(s.positions && s.triangles);
    for (int i = 0; i < n * m; i++) {
        const double u = 2 * M_PI * (i / m) / n, v = 2 * M_PI * (i % m) / m, r = 0.4 + 0.05 * cos(5 * u) * sin(3 * v);
        s.positions[3 * i] = 3 + (1 + r * cos(v)) * cos(u), s.positions[3 * i + 1] = (1 + r * cos(v)) * sin(u), s.positions[3 * i + 2] = r * sin(v);
        if (2 * i >= s.n_triangles) continue;
        const int32_t a = i, b = (i / m + 1) % n * m + i % m, c = i / m * m + (i % m + 1) % m, d = (i / m + 1) % n * m + (i % m + 1) % m;
        const int32_t corners[6] = {a, b, d, a, d, c};
        memcpy(s.triangles + 6 * i, corners, sizeof corners);
    }
    return s;
}

static void drop(modal_surface_mesh *s)
{
    free(s->positions);
    free(s->triangles);
}

static const double *uv_of(const modal_charts *c, int64_t t, int k) { return c->uv + 2 * (int64_t)c->triangle_uv[3 * t + k]; }

/* The area that two triangles have in common is not 0: the second is clipped at the first's edges, in exact fractions of long doubles. */
static int have_common(const modal_charts *c, int64_t s, int64_t t)
{
    long double p[2][3][2], normal[2];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 6; k++) p[i][k / 2][k % 2] = (long double)(uv_of(c, i ? t : s, k / 2)[k % 2] * MODAL_CHART_STEPS);
        normal[i] = (p[i][1][0] - p[i][0][0]) * (p[i][2][1] - p[i][0][1]) - (p[i][2][0] - p[i][0][0]) * (p[i][1][1] - p[i][0][1]);
        if (normal[i] == 0) return 0;
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) { /* an edge with one on the one side and the other on the other: products below 2^62 are exact */
            const long double *a = p[i][k], *b = p[i][(k + 1) % 3];
            int n_out = 0;
            for (int j = 0; j < 3; j++) {
                const long double side = (b[0] - a[0]) * (p[1 - i][j][1] - a[1]) - (b[1] - a[1]) * (p[1 - i][j][0] - a[0]);
                n_out += (normal[i] > 0 ? side : -side) <= 0;
            }
            if (n_out == 3) return 0;
        }
    return 1;
}

static double point_segment(const double *p, const double *a, const double *b)
{
    const double e[2] = {b[0] - a[0], b[1] - a[1]}, d[2] = {p[0] - a[0], p[1] - a[1]}, length = e[0] * e[0] + e[1] * e[1];
    const double t = length > 0 ? fmin(1, fmax(0, (d[0] * e[0] + d[1] * e[1]) / length)) : 0;
    return hypot(d[0] - t * e[0], d[1] - t * e[1]);
}

/* Of two triangles that do not meet. */
static double gap_of(const modal_charts *c, int64_t s, int64_t t)
{
    double least = INFINITY;
    for (int k = 0; k < 9; k++) {
        least = fmin(least, point_segment(uv_of(c, s, k / 3), uv_of(c, t, k % 3), uv_of(c, t, (k + 1) % 3)));
        least = fmin(least, point_segment(uv_of(c, t, k / 3), uv_of(c, s, k % 3), uv_of(c, s, (k + 1) % 3)));
    }
    return least;
}

/* The ratio of the stretches of a triangle in its chart. */
static double distortion(const modal_surface_mesh *s, const modal_charts *c, int64_t t, double *area)
{
    double e[2][3], q[2][2], g[3];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) e[i][k] = s->positions[3 * s->triangles[3 * t + i + 1] + k] - s->positions[3 * s->triangles[3 * t] + k];
        for (int k = 0; k < 2; k++) q[i][k] = uv_of(c, t, i + 1)[k] - uv_of(c, t, 0)[k];
    }
    const double a = e[0][0] * e[0][0] + e[0][1] * e[0][1] + e[0][2] * e[0][2], b = e[0][0] * e[1][0] + e[0][1] * e[1][1] + e[0][2] * e[1][2];
    const double d = e[1][0] * e[1][0] + e[1][1] * e[1][1] + e[1][2] * e[1][2], l = sqrt(a), x = b / l, y = sqrt(fmax(0, d - x * x));
    *area = 0.5 * l * y;
    double m[2][2]; /* from the triangle's plane to uv */
    for (int k = 0; k < 2; k++) m[k][0] = q[0][k] / l, m[k][1] = (q[1][k] - x * m[k][0]) / y;
    g[0] = m[0][0] * m[0][0] + m[1][0] * m[1][0], g[1] = m[0][0] * m[0][1] + m[1][0] * m[1][1], g[2] = m[0][1] * m[0][1] + m[1][1] * m[1][1];
    const double middle = 0.5 * (g[0] + g[2]), apart = hypot(0.5 * (g[0] - g[2]), g[1]);
    return sqrt((middle + apart) / (middle - apart));
}

static void check(const modal_surface_mesh *s, double gap, double least_used)
{
    modal_charts c;
    modal_error err = {0};
    double used = 0, stretched = 0, total = 0, nearest = INFINITY;
    assert_int_equal(modal_charts_make(s, gap, &c, &err), MODAL_OK);
    assert_int_equal(c.n_overlapping, 0);
    for (int64_t i = 0; i < 2 * c.n_uv; i++) assert_true(c.uv[i] >= 0 && c.uv[i] <= 1 && c.uv[i] * MODAL_CHART_STEPS == rint(c.uv[i] * MODAL_CHART_STEPS));
    for (int64_t t = 0; t < s->n_triangles; t++) {
        double area;
        const double ratio = distortion(s, &c, t, &area), *p = uv_of(&c, t, 0), *q = uv_of(&c, t, 1), *r = uv_of(&c, t, 2);
        assert_in_range(c.chart[t], 0, c.n_charts - 1);
        total += area;
        if (!(ratio <= 2 + 1e-4)) stretched += area;
        const double turned = (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1]);
        assert_true(turned > 0); /* seen from outside */
        used += 0.5 * turned;
        for (int64_t o = 0; o < t; o++) {
            assert_false(have_common(&c, o, t));
            if (c.chart[o] != c.chart[t]) nearest = fmin(nearest, gap_of(&c, o, t));
        }
    }
    print_message("%lld triangles: %lld charts, %.3f of the area, gap %.5f of %.5f, stretched %.4f\n", (long long)s->n_triangles, (long long)c.n_charts, used,
                  nearest, gap, stretched / total);
    assert_true(fabs(used - c.used) <= 1e-9 && used >= least_used);
    assert_true(stretched <= 0);
    assert_true(nearest >= gap * (1 - 1e-6));
    modal_charts_free(&c);
}

static void test_charts(void **unused)
{
    (void)unused;
    modal_surface_mesh s = torus(40, 20, 0), open = torus(30, 16, 7);
    check(&s, 5.0 / 2048, 0.6);
    check(&open, 3.0 / 256, 0.3);
    /* edges of three triangles, a triangle without area, vertices apart at the same places */
    open.triangles[3 * 50] = open.triangles[3 * 50 + 1];
    memcpy(open.triangles + 3 * 60, open.triangles + 3 * 61, 2 * sizeof *open.triangles);
    modal_charts c;
    modal_error err = {0};
    assert_int_equal(modal_charts_make(&open, 3.0 / 2048, &c, &err), MODAL_OK);
    assert_int_equal(c.n_overlapping, 0);
    assert_int_equal(c.chart[50], -1);
    modal_charts_free(&c);
    for (int n = 1; n < 200; n++) { /* every allocation fails once */
        err = (modal_error){0};
        modal_alloc_fail_at(n);
        const modal_status status = modal_charts_make(&open, 3.0 / 2048, &c, &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        if (status == MODAL_OK) modal_charts_free(&c);
        if (!fired) {
            assert_int_equal(status, MODAL_OK);
            assert_true(n > 20);
            break;
        }
        assert_int_equal(status, MODAL_ERROR_MEMORY);
    }
    err = (modal_error){0};
    s.positions[4] = NAN;
    assert_int_equal(modal_charts_make(&s, 0.001, &c, &err), MODAL_ERROR_INPUT);
    s.n_triangles = 0;
    assert_int_equal(modal_charts_make(&s, 0.001, &c, &err), MODAL_ERROR_INPUT);
    drop(&s), drop(&open);
}

/* The values of the eight corners of each kept texel, interpolated, beside the texels. */
static void check_kept(const modal_octree *o, const modal_atlas_request *q, const modal_atlas *a)
{
    modal_octree_atlas kept;
    modal_error err = {0};
    assert_int_equal(modal_atlas_keep(o, q, a, &kept, &err), MODAL_OK);
    assert_true(kept.n_rows == a->counts.covered && kept.n_uv == q->surface->n_uv && kept.width == a->width && !kept.image);
    for (int64_t i = 0; i < kept.n_rows; i++) {
        const int64_t x = kept.texels[i] % a->width, y = a->height - 1 - kept.texels[i] / a->width;
        assert_true(i == 0 || kept.texels[i] > kept.texels[i - 1]);
        assert_int_equal(kept.triangles[i], a->triangles[y * a->width + x]);
        for (int k = 0; k < 3; k++) { /* a texture that is linear in space: of x the value of number 0, and so on */
            const double want = 2 * (modal_morton_squeeze((uint64_t)o->keys[kept.samples[i]] >> k) + (double)kept.places[3 * i + k]);
            assert_true(fabs((a->texels[y * a->width + x] >> 8 * k & 255) - want) <= 0.51);
        }
    }
    modal_octree_atlas_free(&kept);
}

static void test_atlas(void **unused)
{
    (void)unused;
    modal_surface_mesh s = torus(40, 20, 0);
    modal_octree o;
    modal_octree_pyramid p;
    modal_device device;
    modal_charts c;
    modal_atlas one, three;
    modal_error err = {0};
    int64_t n_flat;
    const modal_octree_request r = {.n_vertices = s.n_vertices, .n_triangles = s.n_triangles, .positions = s.positions, .triangles = s.triangles,
                                    .side = 2, .resolution = 128, .channels = MODAL_OCTREE_RGBA8};
    assert_int_equal(modal_octree_build(&r, &o, &n_flat, &err), MODAL_OK);
    for (int64_t i = 0; i < o.n_samples; i++)
        for (int k = 0; k < 3; k++) ((uint8_t *)o.values)[4 * i + k] = (uint8_t)(2 * modal_morton_squeeze((uint64_t)o.keys[i] >> k));
    assert_int_equal(modal_octree_make_mipmaps(&o, &err), MODAL_OK);
    assert_int_equal(modal_octree_pyramid_make(&o, &p, &err), MODAL_OK);
    assert_int_equal(modal_charts_make(&s, 3.0 / 256, &c, &err), MODAL_OK);
    s.uv = c.uv, s.n_uv = c.n_uv, s.triangle_uv = c.triangle_uv;
    modal_atlas_request q = {.surface = &s, .width = 256, .height = 256, .fill = 1};
    const int before = omp_get_max_threads();
    for (q.by_footprint = 0; q.by_footprint < 2; q.by_footprint++) {
        omp_set_num_threads(1);
        assert_int_equal(modal_device_open(&device, "cpu", &err), MODAL_OK);
        assert_int_equal(modal_atlas_bake(&device, &p, &q, &one, &err), MODAL_OK);
        omp_set_num_threads(3);
        assert_int_equal(modal_device_open(&device, "cpu", &err), MODAL_OK);
        assert_int_equal(modal_atlas_bake(&device, &p, &q, &three, &err), MODAL_OK);
        omp_set_num_threads(before);
        assert_memory_equal(one.texels, three.texels, 4 * 256 * 256);
        assert_memory_equal(one.covered, three.covered, 4 * 8 * 256);
        assert_true(one.counts.overlapping == 0 && one.counts.outside == 0 && one.n_beyond == 0 && one.n_flat == 0);
        if (!q.by_footprint) check_kept(&o, &q, &one);
        int64_t n_inside = 0;
        for (int64_t t = 0; t < s.n_triangles; t++) /* texels inside of a triangle: the texture is linear in space */
            for (int i = 0; i < 256 * 256; i++) {
                const double x = (i % 256 + 0.5) / 256, y = (i / 256 + 0.5) / 256, *a = uv_of(&c, t, 0), *b = uv_of(&c, t, 1), *d = uv_of(&c, t, 2);
                if (fabs(x - a[0]) > 0.1 || fabs(y - a[1]) > 0.1) continue;
                const double det = (b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]);
                const double v = ((x - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (y - a[1])) / det;
                const double w = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / det;
                if (v < 0 || w < 0 || v + w > 1) continue;
                n_inside++;
                assert_true(one.covered[i / 32] >> i % 32 & 1);
                for (int k = 0; k < 3; k++) {
                    const double *at[3];
                    for (int j = 0; j < 3; j++) at[j] = s.positions + 3 * s.triangles[3 * t + j];
                    const double place = at[0][k] + v * (at[1][k] - at[0][k]) + w * (at[2][k] - at[0][k]), cells = (place - o.origin[k]) * 128 / o.size;
                    const double got = one.texels[i] >> 8 * k & 255;
                    assert_true(fabs(got - 2 * cells) <= (q.by_footprint ? 6 : 1)); /* means are of nodes, in linear light */
                }
            }
        assert_true(n_inside > 256 * 256 / 2);
        print_message("%lld of 65536 texels inside, %lld covered\n", (long long)n_inside, (long long)one.counts.covered);
        modal_atlas_free(&one);
        modal_atlas_free(&three);
    }
    q.by_footprint = 0;
    s.uv[4] = INFINITY;
    assert_int_equal(modal_atlas_bake(&device, &p, &q, &one, &err), MODAL_ERROR_INPUT);
    modal_octree_pyramid_free(&p);
    modal_octree_free(&o);
    modal_charts_free(&c);
    drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_charts), cmocka_unit_test(test_atlas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
