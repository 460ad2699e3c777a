/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/curvature/stretch.h"

#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double modal_stretch_triangle(const double rest[3][3], const double positions[3][3], double values[6])
{
    double E[2][3], e[2][3], f[2][3], cross[3];
    memset(values, 0, 6 * sizeof *values);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) E[k][i] = rest[k + 1][i] - rest[0][i], e[k][i] = positions[k + 1][i] - positions[0][i];
    for (int i = 0; i < 3; i++) cross[i] = E[0][(i + 1) % 3] * E[1][(i + 2) % 3] - E[0][(i + 2) % 3] * E[1][(i + 1) % 3];
    const double doubled = sqrt(dot(cross, cross)), length = sqrt(dot(E[0], E[0]));
    if (!(doubled > 0.0)) return 0.0;
    /* rest edges (length, 0) and (x, y); F's columns */
    const double x = dot(E[0], E[1]) / length, y = doubled / length;
    for (int i = 0; i < 3; i++) {
        f[0][i] = e[0][i] / length;
        f[1][i] = (e[1][i] - x * f[0][i]) / y;
    }
    for (int i = 0; i < 3; i++) cross[i] = f[0][(i + 1) % 3] * f[1][(i + 2) % 3] - f[0][(i + 2) % 3] * f[1][(i + 1) % 3];
    const double a = dot(f[0], f[0]), b = dot(f[0], f[1]), c = dot(f[1], f[1]), half = (a - c) / 2.0;
    const double radius = sqrt(half * half + b * b), ratio = sqrt(dot(cross, cross));
    const double most = sqrt((a + c) / 2.0 + radius);
    const double u = half >= 0.0 ? radius + half : b, v = half >= 0.0 ? b : radius - half;
    double square = 0.0;
    values[0] = ratio, values[1] = most, values[2] = most > 0.0 ? ratio / most : 0.0;
    for (int i = 0; i < 3; i++) {
        values[3 + i] = u * f[0][i] + v * f[1][i];
        square += values[3 + i] * values[3 + i];
    }
    for (int i = 0; i < 3; i++) values[3 + i] = square > 0.0 ? values[3 + i] / sqrt(square) : 0.0;
    return doubled / 2.0;
}

/* The main axis of a positive semidefinite matrix xx yy zz xy yz xz, by squaring it ten times. */
static void main_axis(const double m[6], double axis[3])
{
    double a[3][3] = {{m[0], m[3], m[5]}, {m[3], m[1], m[4]}, {m[5], m[4], m[2]}};
    int best = 0;
    for (int turn = 0; turn < 10; turn++) {
        const double trace = a[0][0] + a[1][1] + a[2][2];
        double b[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                b[i][j] = (a[i][0] * a[0][j] + a[i][1] * a[1][j] + a[i][2] * a[2][j]) / (trace * trace);
        memcpy(a, b, sizeof a);
    }
    for (int i = 1; i < 3; i++)
        if (a[i][i] > a[best][best]) best = i;
    const double length = sqrt(dot(a[best], a[best]));
    for (int i = 0; i < 3; i++) axis[i] = a[best][i] / length;
}

/* Sums of a vertex: area, the three values, and the matrix of directions. */
enum { AREA, VALUES, MATRIX = 4, SUMS = 10 };

static void give(int64_t v, const double *sum, const modal_stretch_output *out)
{
    const double area = sum[AREA], inverse = area > 0.0 ? 1.0 / area : 0.0;
    float *const scalars[] = {out->area_ratio, out->stretch_max, out->stretch_min};
    double axis[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++)
        if (scalars[i]) scalars[i][v] = (float)(sum[VALUES + i] * inverse);
    if (!out->direction) return;
    if (sum[MATRIX] + sum[MATRIX + 1] + sum[MATRIX + 2] > 1e-6 * sum[VALUES + 1]) main_axis(sum + MATRIX, axis);
    for (int i = 0; i < 3; i++) out->direction[3 * v + i] = (float)axis[i];
}

modal_status modal_stretch_compute(const modal_stretch_rest *of, const float *positions, const modal_stretch_output *out,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_vertices = of->n_vertices;
    const float *rest = of->rest;
    double *sums = NULL;
    MODAL_TRY(modal_alloc_zero(&sums, SUMS * n_vertices, sizeof *sums, "stretch", err));
    for (int64_t t = 0; t < of->n_triangles; t++) {
        const int32_t *v = of->triangles + 3 * t;
        double X[3][3], x[3][3], s[6];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                X[k][i] = (double)rest[3 * (int64_t)v[k] + i];
                x[k][i] = (double)positions[3 * (int64_t)v[k] + i];
            }
        const double area = modal_stretch_triangle(X, x, s), weight = area * (s[1] - s[2]);
        const double *d = s + 3;
        const double matrix[6] = {d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[1] * d[2], d[0] * d[2]};
        for (int k = 0; k < 3; k++) {
            double *sum = sums + SUMS * (int64_t)v[k];
            sum[AREA] += area;
            for (int i = 0; i < 3; i++) sum[VALUES + i] += area * s[i];
            for (int i = 0; i < 6; i++) sum[MATRIX + i] += weight * matrix[i];
        }
    }
    for (int64_t v = 0; v < n_vertices; v++) give(v, sums + SUMS * v, out);
done:
    modal_free(&sums);
    return status;
}

modal_status modal_stretch_frames(int64_t n_frames, int n_threads, const modal_stretch_rest *of, const float *positions,
                                  const modal_stretch_output *out, modal_error *err)
{
    modal_status status = MODAL_OK;
#pragma omp parallel for num_threads(modal_free_threads(n_threads)) if (n_frames > 1 && n_threads > 1)
    for (int64_t f = 0; f < n_frames; f++) {
        const int64_t at = of->n_vertices * f;
        const modal_stretch_output one = {out->area_ratio ? out->area_ratio + at : NULL,
                                          out->stretch_max ? out->stretch_max + at : NULL,
                                          out->stretch_min ? out->stretch_min + at : NULL,
                                          out->direction ? out->direction + 3 * at : NULL};
        modal_error fault = {0};
        const modal_status failed = modal_stretch_compute(of, positions + 3 * at, &one, &fault);
#pragma omp critical
        if (failed != MODAL_OK) status = modal_error_set(err, failed, "%s", fault.message);
    }
    return status;
}
