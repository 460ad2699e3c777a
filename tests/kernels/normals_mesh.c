/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/normals_mesh.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/normals_dynamic/normals_dynamic.h"

static void add(mesh *m, int64_t a, int64_t b, int64_t c)
{
    int32_t *t = m->triangles + 3 * m->n_triangles++;
    t[0] = (int32_t)a, t[1] = (int32_t)b, t[2] = (int32_t)c;
}

void mesh_new(mesh *m, harness *h, int64_t n)
{
    int64_t used = n - n / 10, width = (int64_t)sqrt((double)used), height = used / (width + !width);
    *m = (mesh){.n = n};
    m->triangles = harness_alloc(2 * used + 256, 3 * sizeof(int32_t));
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
    for (int i = 1; i < 100 && used >= 200; i++) add(m, 7, used / 2 + i, used / 2 + i + 1);
    if (used >= 2) add(m, 0, 1, 1);
    mesh_finish(m, h);
}

void mesh_finish(mesh *m, harness *h)
{
    const int64_t n = m->n;
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
    m->corner_faces = harness_alloc(m->offsets[n], sizeof(int32_t));
    harness_ok(h, modal_normals_corner_faces(n, m->n_triangles, m->triangles, m->offsets, m->faces,
                                             m->corners, m->corner_faces, &err),
               &err);
    const int64_t n_tiles = (n + 31) / 32;
    m->ring_offsets = harness_alloc(n_tiles + 1, sizeof *m->ring_offsets);
    modal_normals_ring_offsets(n, m->offsets, m->corners, m->ring_offsets);
    m->ring = harness_alloc(m->ring_offsets[n_tiles] * 32, sizeof *m->ring);
    modal_normals_ring(n, m->offsets, m->corners, m->ring_offsets, m->ring);
}

void mesh_free(mesh *m)
{
    free(m->triangles);
    free(m->faces);
    free(m->corners);
    free(m->corner_faces);
    free(m->ring_offsets);
    free(m->ring);
    free(m->offsets);
}

float *mesh_positions(const mesh *m, harness *h, int64_t columns, double scale)
{
    const int64_t width = (int64_t)sqrt((double)m->n) + 1;
    float *x = harness_alloc(columns * m->n * 3, sizeof *x);
    for (int64_t i = 0; i < columns * m->n; i++) {
        const int64_t v = i % m->n;
        x[3 * i] = (float)(scale * ((double)(v % width) + 0.3 * harness_random(h)));
        x[3 * i + 1] = (float)(scale * ((double)(v / width) + 0.3 * harness_random(h)));
        x[3 * i + 2] = (float)(scale * harness_random(h));
    }
    return x;
}

static double first_edges(const int32_t *triangle, const float *x)
{
    double product = 1.0;
    for (int k = 1; k < 3; k++) {
        double square = 0.0;
        for (int j = 0; j < 3; j++) {
            const double e = (double)x[3 * (int64_t)triangle[k] + j] -
                             (double)x[3 * (int64_t)triangle[0] + j];
            square += e * e;
        }
        product *= sqrt(square);
    }
    return product;
}

/* The oracle goes by triangles, not by the table of corners. */
void mesh_compare_normals(harness *h, const mesh *m, int two_stage, const float *x,
                          const float *normals)
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
            s[3] += two_stage ? first_edges(tri, x) : sqrt(length[1] * length[2]);
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
