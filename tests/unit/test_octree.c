/* SPDX-License-Identifier: Apache-2.0 */
/* The tree around a surface: which cells triangles meet, beside clipping; trees of n = 2, 4, 8 beside each other and beside a dense
 * lattice; nearest points beside a search of all triangles; constants and linear functions everywhere on the surface; threads. */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/octree/bricks.h"
#include "lib/octree/build.h"
#include "lib/octree/mipmaps.h"
#include "lib/octree/nearest.h"
#include "lib/octree/overlap.h"

static uint64_t state = 7;

static double uniform(double low, double high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

/* ---- cells that a triangle meets ---- */

enum { SIDE = 12 };

static void mark(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last)
{
    uint8_t *seen = context;
    int64_t c[3];
    c[(axis + 1) % 3] = u;
    c[(axis + 2) % 3] = v;
    for (c[axis] = first; c[axis] <= last; c[axis]++) {
        assert_true(c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && c[0] < SIDE && c[1] < SIDE && c[2] < SIDE);
        assert_int_equal(seen[(c[2] * SIDE + c[1]) * SIDE + c[0]]++, 0); /* each once */
    }
}

/* Whether something is left of a triangle that is clipped at the six planes of a box. */
static int clips(const double p[9], const double low[3], const double high[3])
{
    double a[12][3], b[12][3];
    int n = 3;
    memcpy(a, p, 9 * sizeof(double));
    for (int plane = 0; plane < 6 && n > 0; plane++) {
        const int k = plane / 2;
        const double sign = plane % 2 ? -1 : 1, at = plane % 2 ? -high[k] : low[k];
        int m = 0;
        for (int i = 0; i < n; i++) {
            const double *x = a[i], *y = a[(i + 1) % n];
            const double dx = sign * x[k] - at, dy = sign * y[k] - at;
            if (dx >= 0) memcpy(b[m++], x, sizeof b[0]);
            if ((dx >= 0) == (dy >= 0)) continue;
            for (int j = 0; j < 3; j++) b[m][j] = x[j] + dx / (dx - dy) * (y[j] - x[j]);
            m++;
        }
        memcpy(a, b, sizeof a);
        n = m;
    }
    return n > 0;
}

static void test_overlap(void **unused)
{
    (void)unused;
    enum { TRIANGLES = 10000 };
    int64_t met = 0;
    for (int t = 0; t < TRIANGLES; t++) {
        double p[9];
        uint8_t seen[SIDE * SIDE * SIDE] = {0};
        const double size = t % 3 == 0 ? 9 : t % 3 == 1 ? 2 : 0.3;
        for (int k = 0; k < 3; k++) {
            const double middle = uniform(1 + size / 2, SIDE - 1.1 - size / 2);
            for (int j = 0; j < 3; j++) p[3 * j + k] = middle + uniform(-size / 2, size / 2);
        }
        if (t % 7 == 0) p[2] = p[5] = p[8];                                     /* flat in an axis */
        if (t % 11 == 0) for (int i = 0; i < 9; i++) p[i] = floor(p[i]);          /* on the lattice */
        if (t % 13 == 0) for (int k = 0; k < 3; k++) p[6 + k] = 0.5 * (p[k] + p[3 + k]) + uniform(-1e-3, 1e-3); /* a needle */
        const double margin = t % 2 ? 0 : 0.01;
        if (!modal_overlap_runs(p, -margin, 1 + margin, mark, seen)) continue;
        for (int64_t i = 0; i < SIDE * SIDE * SIDE; i++) {
            const double c[3] = {(double)(i % SIDE), (double)(i / SIDE % SIDE), (double)(i / SIDE / SIDE)};
            double in[2][3], out[2][3];
            for (int k = 0; k < 3; k++) {
                in[0][k] = c[k] - margin + 1e-9, in[1][k] = c[k] + 1 + margin - 1e-9;
                out[0][k] = c[k] - margin - 1e-9, out[1][k] = c[k] + 1 + margin + 1e-9;
            }
            int near = 1;
            for (int k = 0; k < 3; k++)
                near &= fmin(p[k], fmin(p[3 + k], p[6 + k])) <= out[1][k] && fmax(p[k], fmax(p[3 + k], p[6 + k])) >= out[0][k];
            if (!near) assert_false(seen[i]);
            else if (seen[i]) assert_true(clips(p, out[0], out[1]));
            else assert_false(clips(p, in[0], in[1]));
            met += seen[i];
        }
    }
    assert_true(met > 100000);
    double flat[9] = {1, 1, 1, 3, 3, 3, 2, 2, 2};
    assert_int_equal(modal_overlap_runs(flat, 0, 1, mark, NULL), 0);
}

/* ---- trees ---- */

typedef struct surface {
    int64_t n_vertices, n_triangles;
    double *positions;
    int32_t *triangles;
} surface;

/* A torus, n by m quads, away from the origin. */
static surface torus(int n, int m)
{
    surface s = {.n_vertices = n * m, .n_triangles = 2 * n * m};
    s.positions = malloc(3 * (size_t)s.n_vertices * sizeof *s.positions);
    s.triangles = malloc(3 * (size_t)s.n_triangles * sizeof *s.triangles);
    assert_true(s.positions && s.triangles);
    for (int i = 0; i < n * m; i++) {
        const double u = 2 * M_PI * (i / m) / n, v = 2 * M_PI * (i % m) / m, r = 1 + 0.4 * cos(v);
        s.positions[3 * i] = 10 + r * cos(u), s.positions[3 * i + 1] = -3 + r * sin(u), s.positions[3 * i + 2] = 0.4 * sin(v) + 0.3 * r * cos(u);
        const int32_t a = i, b = (i / m + 1) % n * m + i % m, c = i / m * m + (i % m + 1) % m, d = (i / m + 1) % n * m + (i % m + 1) % m;
        const int32_t corners[6] = {a, b, d, a, d, c};
        memcpy(s.triangles + 6 * i, corners, sizeof corners);
    }
    return s;
}

static void drop(surface *s)
{
    free(s->positions);
    free(s->triangles);
}

static modal_octree build(const surface *s, int side, int64_t resolution, modal_octree_channels channels)
{
    modal_octree o;
    modal_error err = {0};
    int64_t n_flat = -1;
    const modal_octree_request r = {.n_vertices = s->n_vertices, .n_triangles = s->n_triangles, .positions = s->positions, .triangles = s->triangles,
                                    .side = side, .resolution = resolution, .channels = channels};
    const modal_status status = modal_octree_build(&r, &o, &n_flat, &err);
    if (status != MODAL_OK) fail_msg("%s", err.message);
    assert_int_equal(n_flat, 0);
    return o;
}

/* The sample of a key by going down from the root, -1: none. */
static int64_t descend(const modal_octree *o, int64_t key)
{
    const int b = modal_octree_side_bits(o);
    const int64_t width = (int64_t)1 << 3 * b;
    int64_t node = 0;
    for (int level = 0; level < o->depth; level++) {
        const int32_t cell = o->cells[node * width + (key >> 3 * b * (o->depth - 1 - level) & (width - 1))];
        if (cell == 0) return -1;
        if (cell < 0) return modal_octree_leaf_sample(cell);
        node = cell;
    }
    return -2;
}

static void test_trees(void **unused)
{
    (void)unused;
    surface s = torus(40, 20);
    modal_octree all[3];
    for (int i = 0; i < 3; i++) all[i] = build(&s, 2 << i, 64, MODAL_OCTREE_FLOAT);
    const modal_octree *o = all;
    uint8_t *dense = calloc(1 << 18, 1), *met = calloc(1 << 18, 1);
    assert_true(dense && met);
    /* brute force: every cell against every triangle, clipped, grown by the margin */
    const double scale = 64 / o->size, margin = 0x1p-11;
    for (int64_t t = 0; t < s.n_triangles; t++) {
        double p[9];
        for (int j = 0; j < 9; j++) p[j] = (s.positions[3 * s.triangles[3 * t + j / 3] + j % 3] - o->origin[j % 3]) * scale;
        int from[3], n[3];
        for (int k = 0; k < 3; k++) {
            from[k] = (int)fmin(p[k], fmin(p[3 + k], p[6 + k])) - 1;
            n[k] = (int)fmax(p[k], fmax(p[3 + k], p[6 + k])) + 2 - from[k];
        }
        for (int j = 0; j < n[0] * n[1] * n[2]; j++) {
            const int c[3] = {from[0] + j % n[0], from[1] + j / n[0] % n[1], from[2] + j / n[0] / n[1]}, i = c[0] + 64 * c[1] + 4096 * c[2];
            assert_true(c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && c[0] < 64 && c[1] < 64 && c[2] < 64);
            if (met[i]) continue;
            const double low[3] = {c[0] - margin, c[1] - margin, c[2] - margin}, high[3] = {c[0] + 1 + margin, c[1] + 1 + margin, c[2] + 1 + margin};
            met[i] = (uint8_t)clips(p, low, high);
        }
    }
    int64_t n_cells = 0, n_samples = 0;
    for (int i = 0; i < 1 << 18; i++)
        for (int k = 0; k < 8 && met[i]; k++) dense[i + (k & 1) + (k >> 1 & 1) * 64 + (k >> 2) * 4096] = 1;
    for (int i = 0; i < 1 << 18; i++) {
        n_cells += met[i], n_samples += dense[i];
        const int64_t key = (int64_t)modal_morton(i & 63, i >> 6 & 63, i >> 12);
        for (int n = 0; n < 3; n++) {
            const int64_t sample = descend(&all[n], key);
            assert_int_equal(sample >= 0, dense[i]);
            if (sample >= 0) assert_int_equal(all[n].keys[sample], key);
        }
    }
    for (int n = 0; n < 3; n++) {
        assert_int_equal(all[n].n_samples, n_samples);
        assert_int_equal(all[n].n_cells, n_cells);
        assert_memory_equal(all[n].keys, o->keys, (size_t)n_samples * 8);
        assert_memory_equal(all[n].triangles, o->triangles, (size_t)n_samples * 4);
        assert_memory_equal(all[n].barycentric, o->barycentric, (size_t)n_samples * 8);
    }
    /* the nearest triangle of all */
    for (int64_t i = 0; i < n_samples; i += 7) {
        double best = INFINITY, mine = 0, weights[2], p[9], x[3];
        for (int k = 0; k < 3; k++) x[k] = modal_morton_squeeze((uint64_t)o->keys[i] >> k);
        for (int64_t t = 0; t < s.n_triangles; t++) {
            for (int j = 0; j < 9; j++) p[j] = (s.positions[3 * s.triangles[3 * t + j / 3] + j % 3] - o->origin[j % 3]) * scale;
            const double d = modal_octree_closest(p, x, weights);
            best = fmin(best, d);
            if (t != o->triangles[i]) continue;
            mine = d;
            for (int k = 0; k < 2; k++) assert_true(fabs(weights[k] - (double)o->barycentric[2 * i + k]) <= 1e-6);
            double found = 0; /* the weights give that point */
            for (int k = 0; k < 3; k++) {
                const double q = p[k] + weights[0] * (p[3 + k] - p[k]) + weights[1] * (p[6 + k] - p[k]) - x[k];
                found += q * q;
            }
            assert_true(fabs(found - d) <= 1e-9);
        }
        assert_true(mine <= best * (1 + 2e-7) + 1e-12);
    }
    /* neighbours, counted one by one */
    double mean;
    modal_error err = {0};
    int64_t count = 0;
    assert_int_equal(modal_octree_neighbours(o, &mean, &err), MODAL_OK);
    for (int i = 0; i < 1 << 18; i++)
        for (int k = 0; k < 27 && dense[i]; k++) {
            const int x = (i & 63) + k % 3 - 1, y = (i >> 6 & 63) + k / 3 % 3 - 1, z = (i >> 12) + k / 9 - 1;
            count += k != 13 && x >= 0 && y >= 0 && z >= 0 && x < 64 && y < 64 && z < 64 && dense[x + 64 * y + 4096 * z];
        }
    assert_true(fabs(mean - (double)count / (double)n_samples) <= 1e-12);
    for (int n = 0; n < 3; n++) modal_octree_free(&all[n]);
    free(dense), free(met);
    drop(&s);
}

/* ---- values on the surface ---- */

/* Points [n, 3] on the surface. */
static double *points_on(const surface *s, int64_t n)
{
    double *points = malloc(3 * (size_t)n * sizeof *points);
    assert_true(points != NULL);
    for (int64_t i = 0; i < n; i++) {
        const int64_t t = (int64_t)uniform(0, (double)s->n_triangles);
        double a = uniform(0, 1), b = uniform(0, 1);
        if (i % 10 == 0) a = 0; /* edges and corners, too */
        if (i % 100 == 0) b = 0;
        if (a + b > 1) a = 1 - a, b = 1 - b;
        for (int k = 0; k < 3; k++) {
            const double *p[3];
            for (int j = 0; j < 3; j++) p[j] = s->positions + 3 * s->triangles[3 * t + j];
            points[3 * i + k] = p[0][k] + a * (p[1][k] - p[0][k]) + b * (p[2][k] - p[0][k]);
        }
    }
    return points;
}

/* A torus, n points on it, and room for three numbers of each. */
static surface probed_torus(int64_t n, double **points, float **values)
{
    const surface s = torus(90, 50);
    *points = points_on(&s, n);
    *values = malloc(3 * (size_t)n * sizeof **values);
    assert_true(*values != NULL);
    return s;
}

static void test_linear(void **unused)
{
    (void)unused;
    enum { POINTS = 300000 };
    double *points;
    float *values;
    surface s = probed_torus(POINTS, &points, &values);
    for (int side = 2; side <= 8; side *= 2) {
        modal_octree o = build(&s, side, side == 8 ? 64 : 200, MODAL_OCTREE_FLOAT3);
        modal_octree_tables t;
        modal_error err = {0};
        int64_t n_outside = -1;
        const double step = o.size / (double)(1 << modal_octree_bits(&o));
        for (int64_t i = 0; i < o.n_samples; i++) {
            double x[3];
            for (int k = 0; k < 3; k++) x[k] = o.origin[k] + step * modal_morton_squeeze((uint64_t)o.keys[i] >> k);
            const float v[3] = {0.75f, (float)(x[0] - 10 + 2 * (x[1] + 3) - x[2]), (float)(x[1] + 3)};
            memcpy((float *)o.values + 3 * i, v, sizeof v);
        }
        assert_int_equal(modal_octree_tables_make(&o, &t, &err), MODAL_OK);
        assert_int_equal(modal_octree_sample(&t, MODAL_OCTREE_TRILINEAR, points, POINTS, values, NULL, &n_outside, &err), MODAL_OK);
        assert_int_equal(n_outside, 0); /* no sample is missing */
        double worst = 0;
        for (int i = 0; i < POINTS; i++) {
            const double *x = points + 3 * i;
            assert_true(values[3 * i] == 0.75f);
            const double error = fabs((double)values[3 * i + 1] - (x[0] - 10 + 2 * (x[1] + 3) - x[2]));
            assert_true(error <= 4e-6 && fabs((double)values[3 * i + 2] - (x[1] + 3)) <= 2e-6); /* 1e-6 of the range, 4 and 2 */
            worst = fmax(worst, error);
        }
        print_message("n = %d: %d cells a side, %lld samples, %.1f B a sample, linear function to %.1e\n", side, 1 << modal_octree_bits(&o),
                      (long long)o.n_samples, (double)modal_octree_tables_bytes(&t) / (double)o.n_samples, worst);
        const double far[6] = {0, 0, 0, NAN, 0, 0};
        assert_int_equal(modal_octree_sample(&t, MODAL_OCTREE_NEAREST, far, 2, values, NULL, &n_outside, &err), MODAL_OK);
        assert_int_equal(n_outside, 2);
        modal_octree_tables_free(&t);
        modal_octree_free(&o);
    }
    free(points), free(values);
    drop(&s);
}

/* Means beside a search of all samples; look-ups of all footprints: a value everywhere on the surface, constants come out, and
 * a linear function to the size of a node. */
static void test_mipmaps(void **unused)
{
    (void)unused;
    enum { POINTS = 20000 };
    double *points;
    float *values;
    surface s = probed_torus(POINTS, &points, &values);
    for (int side = 2; side <= 8; side *= 2) {
        modal_octree o = build(&s, side, side == 8 ? 64 : 200, MODAL_OCTREE_FLOAT3);
        modal_octree_pyramid p;
        modal_error err = {0};
        const int bits = modal_octree_bits(&o);
        const double step = ldexp(o.size, -bits);
        for (int64_t i = 0; i < o.n_samples; i++) {
            float *v = (float *)o.values + 3 * i;
            v[0] = 0.75f, v[1] = (float)modal_morton_squeeze((uint64_t)o.keys[i]), v[2] = (float)(i % 17);
        }
        assert_int_equal(modal_octree_make_mipmaps(&o, &err), MODAL_OK);
        for (int level = 0; level < o.depth; level++) { /* some nodes of each level */
            const int shift = 3 * modal_octree_side_bits(&o) * (o.depth - level);
            int64_t node = o.node_offsets[level], n = 0;
            double sum = 0;
            for (int64_t i = 0; i < o.n_samples; i++) {
                sum += (double)((float *)o.values)[3 * i + 2];
                n++;
                if (i + 1 < o.n_samples && o.keys[i + 1] >> shift == o.keys[i] >> shift) continue;
                assert_true(fabs((double)((float *)o.mipmaps)[3 * node + 2] - sum / (double)n) <= 1e-5 * 17);
                sum = 0, n = 0, node++;
            }
            assert_int_equal(node, o.node_offsets[level + 1]);
        }
        assert_int_equal(modal_octree_pyramid_make(&o, &p, &err), MODAL_OK);
        assert_int_equal(p.n_mips, o.depth);
        double worst = 0;
        for (double level = 0; level <= bits + 1; level += 0.23) {
            int64_t n_outside = -1;
            assert_int_equal(modal_octree_sample_level(&p, (float)level, points, POINTS, values, NULL, &n_outside, &err), MODAL_OK);
            assert_int_equal(n_outside, 0);
            const double coarse = ldexp(1, modal_octree_side_bits(&o) * (int)ceil(level / modal_octree_side_bits(&o)));
            for (int i = 0; i < POINTS; i++) {
                const double error = fabs((double)values[3 * i + 1] - (points[3 * i] - o.origin[0]) / step);
                assert_true(fabs((double)values[3 * i] - 0.75) <= 1e-6 && error <= coarse + 1e-3);
                if (level > 0) worst = fmax(worst, error / coarse);
            }
        }
        print_message("n = %d: a linear function through all levels to %.2f of a node\n", side, worst);
        modal_octree_pyramid_free(&p);
        for (int n = 1; n < 400; n++) { /* every allocation fails once */
            modal_alloc_fail_at(n);
            modal_status status = modal_octree_make_mipmaps(&o, &err);
            if (status == MODAL_OK) status = modal_octree_pyramid_make(&o, &p, &err);
            const int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            if (status == MODAL_OK) modal_octree_pyramid_free(&p);
            if (!fired) {
                assert_int_equal(status, MODAL_OK);
                break;
            }
            assert_int_equal(status, MODAL_ERROR_MEMORY);
            if (n > 40) n += 30; /* the tables of all levels allocate alike */
        }
        modal_octree_free(&o);
    }
    free(points), free(values);
    drop(&s);
}

static void test_threads_and_refusals(void **unused)
{
    (void)unused;
    surface s = torus(60, 30);
    modal_octree one, three;
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    one = build(&s, 2, 256, MODAL_OCTREE_RGBA8);
    omp_set_num_threads(3);
    three = build(&s, 2, 256, MODAL_OCTREE_RGBA8);
    omp_set_num_threads(before);
    assert_int_equal(one.n_samples, three.n_samples);
    assert_memory_equal(one.keys, three.keys, (size_t)one.n_samples * 8);
    assert_memory_equal(one.cells, three.cells, (size_t)one.n_nodes * 32);
    assert_memory_equal(one.triangles, three.triangles, (size_t)one.n_samples * 4);
    assert_memory_equal(one.barycentric, three.barycentric, (size_t)one.n_samples * 8);
    for (int64_t i = 0; i < 4 * one.n_samples; i++) assert_int_equal(((uint8_t *)one.values)[i], 255);
    modal_octree_free(&one);
    modal_octree_free(&three);

    modal_octree_request r = {.n_vertices = s.n_vertices, .n_triangles = s.n_triangles, .positions = s.positions, .triangles = s.triangles,
                              .side = 2, .resolution = 256, .channels = MODAL_OCTREE_FLOAT};
    modal_error err = {0};
    modal_octree o;
    int64_t n_flat;
    r.memory_limit = 1000;
    assert_int_equal(modal_octree_build(&r, &o, &n_flat, &err), MODAL_ERROR_MEMORY);
    assert_non_null(strstr(err.message, "--memory-limit: "));
    r.memory_limit = 0;
    err = (modal_error){0};
    r.resolution = (1 << 20) + 1;
    assert_int_equal(modal_octree_build(&r, &o, &n_flat, &err), MODAL_ERROR_USAGE);
    r.resolution = 64;
    err = (modal_error){0};
    const double kept = s.positions[5];
    s.positions[5] = NAN;
    assert_int_equal(modal_octree_build(&r, &o, &n_flat, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "not finite"));
    s.positions[5] = kept;
    for (int k = 0; k < 4; k++) { /* far from the origin, and of sizes beyond what numbers hold */
        static const double scales[4] = {1, 1, 1e300, 1e-30}, moves[4] = {1e8, 1e15, 0, 0};
        double *there = NULL;
        assert_int_equal(modal_alloc(&there, 3 * s.n_vertices, sizeof *there, "positions", NULL), MODAL_OK);
        for (int64_t i = 0; i < 3 * s.n_vertices; i++) there[i] = scales[k] * s.positions[i] + moves[k];
        modal_octree_request moved = r;
        moved.positions = there;
        err = (modal_error){0};
        assert_int_equal(modal_octree_build(&moved, &o, &n_flat, &err), k == 0 ? MODAL_OK : MODAL_ERROR_INPUT);
        if (k > 0) assert_non_null(strstr(err.message, k == 1 ? "too coarse for cells of" : "longest side must be in 1e-15 .. 1e+15 m"));
        if (k == 0) modal_octree_free(&o);
        modal_free(&there);
    }
    err = (modal_error){0};
    r.n_triangles = 0;
    assert_int_equal(modal_octree_build(&r, &o, &n_flat, &err), MODAL_ERROR_INPUT);
    /* triangles without area give nothing and are counted */
    r.n_triangles = s.n_triangles;
    s.triangles[1] = s.triangles[0];
    err = (modal_error){0};
    assert_int_equal(modal_octree_build(&r, &o, &n_flat, &err), MODAL_OK);
    assert_int_equal(n_flat, 1);
    modal_octree_free(&o);
    for (int n = 1; n < 200; n++) { /* every allocation fails once */
        omp_set_num_threads(1);
        err = (modal_error){0};
        modal_alloc_fail_at(n);
        const modal_status status = modal_octree_build(&r, &o, &n_flat, &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        if (!fired) {
            assert_int_equal(status, MODAL_OK);
            modal_octree_free(&o);
            break;
        }
        assert_int_equal(status, MODAL_ERROR_MEMORY);
    }
    omp_set_num_threads(before);
    drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overlap), cmocka_unit_test(test_trees), cmocka_unit_test(test_linear),
                                       cmocka_unit_test(test_mipmaps), cmocka_unit_test(test_threads_and_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
