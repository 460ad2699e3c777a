/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

typedef struct mesh {
    int64_t n, n_triangles;
    int32_t *triangles, *faces, *corners;
    int64_t *offsets;
} mesh;

static void add(mesh *m, int64_t a, int64_t b, int64_t c)
{
    int32_t *t = m->triangles + 3 * m->n_triangles++;
    t[0] = (int32_t)a, t[1] = (int32_t)b, t[2] = (int32_t)c;
}

/* A grid of triangles over the first vertices, random triangles between any vertices, one that
 * repeats a vertex; the last tenth of the vertices without faces. */
static void mesh_new(mesh *m, harness *h, int64_t n)
{
    int64_t used = n - n / 10, width = (int64_t)sqrt((double)used), height = used / (width + !width);
    *m = (mesh){.n = n};
    m->triangles = harness_alloc(2 * used + 64, 3 * sizeof(int32_t));
    for (int64_t i = 0; i + 1 < height; i++)
        for (int64_t j = 0; j + 1 < width; j++) {
            const int64_t v = i * width + j;
            add(m, v, v + 1, v + width);
            add(m, v + 1 + width, v + width, v + 1);
        }
    for (int i = 0; i < 20 && used >= 3; i++) {
        const double a = (harness_random(h) + 1.0) / 2.0, b = (harness_random(h) + 1.0) / 2.0;
        const int64_t v = (int64_t)(a * (double)used), w = (int64_t)(b * (double)used);
        add(m, v, (v + 1) % used, w);
    }
    if (used >= 2) add(m, 0, 1, 1);
    m->offsets = harness_alloc(n + 1, sizeof *m->offsets);
    m->faces = harness_alloc(3 * m->n_triangles, sizeof *m->faces);
    memset(m->offsets, 0, (size_t)(n + 1) * sizeof *m->offsets);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill; a face once for each vertex */
        for (int64_t t = 0; t < m->n_triangles; t++)
            for (int i = 0; i < 3; i++) {
                const int32_t *v = m->triangles + 3 * t;
                if ((i > 0 && v[i] == v[0]) || (i > 1 && v[i] == v[1])) continue;
                if (pass == 0)
                    m->offsets[v[i] + 1]++;
                else
                    m->faces[m->offsets[v[i]]++] = (int32_t)t;
            }
        if (pass == 0)
            for (int64_t v = 0; v < n; v++) m->offsets[v + 1] += m->offsets[v];
    }
    for (int64_t v = n; v > 0; v--) m->offsets[v] = m->offsets[v - 1];
    m->offsets[0] = 0;
    m->corners = harness_alloc(m->offsets[n], 2 * sizeof(int32_t));
    modal_error err = {0};
    harness_ok(h, modal_normals_corners(n, m->n_triangles, m->triangles, m->offsets, m->faces,
                                        m->corners, &err),
               &err);
}

static void mesh_free(mesh *m)
{
    free(m->triangles);
    free(m->faces);
    free(m->corners);
    free(m->offsets);
}

/* The oracle goes by triangles, not by the table of corners. */
static void compare(harness *h, const mesh *m, const float *x, const float *normals)
{
    double *sum = harness_alloc(4 * m->n, sizeof *sum);
    int64_t *valence = harness_alloc(m->n, sizeof *valence);
    memset(sum, 0, (size_t)m->n * 4 * sizeof *sum);
    memset(valence, 0, (size_t)m->n * sizeof *valence);
    for (int64_t t = 0; t < m->n_triangles; t++)
        for (int i = 0; i < 3; i++) {
            const int32_t *tri = m->triangles + 3 * t;
            double e[3][3], length[3];
            if ((i > 0 && tri[i] == tri[0]) || (i > 1 && tri[i] == tri[1])) continue;
            for (int k = 1; k < 3; k++) {
                length[k] = 0.0;
                for (int j = 0; j < 3; j++) {
                    e[k][j] = (double)x[3 * (int64_t)tri[(i + k) % 3] + j] -
                              (double)x[3 * (int64_t)tri[i] + j];
                    length[k] += e[k][j] * e[k][j];
                }
            }
            double *s = sum + 4 * (int64_t)tri[i];
            for (int j = 0; j < 3; j++)
                s[j] += e[1][(j + 1) % 3] * e[2][(j + 2) % 3] - e[1][(j + 2) % 3] * e[2][(j + 1) % 3];
            s[3] += sqrt(length[1] * length[2]);
            valence[tri[i]]++;
        }
    for (int64_t v = 0; v < m->n; v++) {
        const double *s = sum + 4 * v;
        const double length = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
        const float *got = normals + 3 * v;
        const double one = sqrt((double)got[0] * (double)got[0] + (double)got[1] * (double)got[1] +
                                (double)got[2] * (double)got[2]);
        const double bound =
            length > 0.0 ? 2.0 * sqrt(6.0) * harness_gamma((double)valence[v] + 6.0) * s[3] / length +
                               3.0 * FLT_EPSILON
                         : INFINITY;
        if (s[3] == 0.0 || valence[v] == 0) {
            for (int j = 0; j < 3; j++) harness_compare(h, "normal of nothing", v, got[j], 0.0, 0.0);
        } else if (bound >= 1.0) { /* no direction to speak of: unit or zero */
            if (!(one == 0.0 || fabs(one - 1.0) <= 4.0 * FLT_EPSILON))
                harness_fail(h, "normal %lld has length %.9g", (long long)v, one);
        } else {
            for (int j = 0; j < 3; j++)
                harness_compare(h, "normal", 3 * v + j, got[j], s[j] / length,
                                h->is_reference ? harness_rounding(s[j] / length) +
                                                      1e-13 * s[3] / length
                                                : bound);
            if (!(fabs(one - 1.0) <= 4.0 * FLT_EPSILON))
                harness_fail(h, "normal %lld has length %.9g", (long long)v, one);
        }
    }
    free(sum);
    free(valence);
}

/* scale: of the positions; flat: all triangles degenerate (every vertex at one of two places). */
static void check(harness *h, int64_t n, int64_t columns, double scale, int flat, int shift)
{
    mesh m;
    modal_error err = {0};
    harness_case(h, "n %lld, %lld columns, scale %g, flat %d, shift %d", (long long)n,
                 (long long)columns, scale, flat, shift);
    mesh_new(&m, h, n);
    const int64_t width = (int64_t)sqrt((double)n) + 1;
    float *x = harness_alloc(columns * n * 3, sizeof *x);
    for (int64_t i = 0; i < columns * n; i++) {
        const int64_t v = i % n;
        x[3 * i] = (float)(scale * ((double)(v % width) + 0.3 * harness_random(h)));
        x[3 * i + 1] = (float)(scale * ((double)(v / width) + 0.3 * harness_random(h)));
        x[3 * i + 2] = (float)(scale * harness_random(h));
        if (flat) x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = v % 2 ? 0.1f : 0.7f;
    }
    harness_output *out[3] = {NULL, NULL, NULL};
    modal_normals_dynamic_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
        .corners = harness_input(h, m.corners, m.offsets[n] * 8, shift * 8),
        .positions = harness_input(h, x, columns * n * 12, shift * 4)};
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * n * 3, shift, NULL);
        task.normals = out[i]->device;
        harness_ok(h, h->device.kernels->normals_dynamic(&task, h->stream, &err), &err);
    }
    if (n < 1000 && columns > 1) {
        out[2] = harness_new_output(h, columns * n * 3, 0, NULL);
        const float *positions = task.positions;
        task.n_columns = 1;
        for (int64_t c = 0; c < columns; c++) {
            task.positions = positions + 3 * c * n;
            task.normals = out[2]->device + 3 * c * n;
            harness_ok(h, h->device.kernels->normals_dynamic(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    if (out[2]) harness_same(h, "columns alone", out[0], out[2]);
    for (int64_t c = 0; c < columns; c++) {
        if (!flat) compare(h, &m, x + 3 * c * n, out[0]->host + 3 * c * n);
        for (int64_t i = 3 * c * n; flat && i < 3 * (c + 1) * n; i++)
            harness_compare(h, "degenerate normal", i, out[0]->host[i], 0.0, 0.0);
    }
    free(x);
    mesh_free(&m);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 4, 7, 64};
    static const double scales[] = {1.0, 1e-12, 1e12};
    const int64_t limit = h->quick ? 10000 : 500000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int kind = 0; kind < 4; kind++)
                if (sizes[i] * columns[k] <= limit)
                    check(h, sizes[i], columns[k], kind < 3 ? scales[kind] : 1.0, kind == 3,
                          (int)(i + k) % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_dynamic", run); }
