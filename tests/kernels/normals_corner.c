/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_corner/normals_corner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/curvature_checks.h"

/* g(m + 12) 2 sqrt(2) B for each vertex, and N, by triangles. */
static void by_triangles(const surface_case *s, double *sums, double *sizes, int64_t *valences)
{
    const mesh *m = &s->m;
    for (int64_t i = 0; i < m->n; i++) sums[3 * i] = sums[3 * i + 1] = sums[3 * i + 2] = sizes[i] = 0.0, valences[i] = 0;
    for (int64_t t = 0; t < m->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t *v = m->triangles + 3 * t;
            double e[2][3], square[2] = {0.0, 0.0};
            if ((k > 0 && v[k] == v[0]) || (k > 1 && v[k] == v[1])) continue;
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < 3; i++) {
                    e[j][i] = s->dx[3 * v[(k + 1 + j) % 3] + i] - s->dx[3 * v[k] + i];
                    square[j] += e[j][i] * e[j][i];
                }
            if (!(square[0] * square[1] > 0.0)) continue;
            for (int i = 0; i < 3; i++)
                sums[3 * v[k] + i] +=
                    (e[0][(i + 1) % 3] * e[1][(i + 2) % 3] - e[0][(i + 2) % 3] * e[1][(i + 1) % 3]) /
                    (square[0] * square[1]);
            sizes[v[k]] += 1.0 / sqrt(square[0] * square[1]);
            valences[v[k]]++;
        }
}

static void check(harness *h, surface_kind kind, int64_t n, int64_t columns, double size, int shift)
{
    surface_case s;
    modal_error err = {0};
    harness_case(h, "kind %d, n %lld, %lld columns, size %g, shift %d", kind, (long long)n, (long long)columns, size,
                 shift);
    surface_new(&s, h, kind, n, columns, size, shift);
    harness_output *out[2], *records = harness_new_output(h, 8 * columns * n, 0, NULL);
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, 3 * columns * n, shift, NULL);
        const modal_normals_corner_task task = {n, columns, s.task.ring_offsets, s.task.ring, s.task.positions,
                                                s.scale, out[i]->device, i ? records->device : NULL};
        harness_ok(h, h->kernels->normals_corner(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "normals twice", out[0], out[1]);
    for (int64_t i = 0; i < 8 * columns * n; i++) {
        const float *of = i / 4 % 2 ? out[0]->host : s.x;
        harness_compare(h, "record", i, records->host[i], i % 4 < 3 ? (double)of[3 * (i / 8) + i % 4] : 0.0, 0.0);
    }
    double *sums = harness_alloc(3 * n, sizeof *sums), *sizes = harness_alloc(n, sizeof *sizes);
    int64_t *valences = harness_alloc(n, sizeof *valences);
    for (int64_t c = 0; c < columns; c++) {
        surface_column(&s, c);
        by_triangles(&s, sums, sizes, valences);
        for (int64_t v = 0; v < n; v++) {
            const double *N = sums + 3 * v, length = sqrt(N[0] * N[0] + N[1] * N[1] + N[2] * N[2]);
            const float *got = out[0]->host + 3 * (c * n + v);
            const double one = sqrt((double)got[0] * (double)got[0] + (double)got[1] * (double)got[1] +
                                    (double)got[2] * (double)got[2]);
            const double bound = 2.0 * sqrt(3.0) * 2.0 * sqrt(2.0) * harness_gamma((double)valences[v] + 12.0) *
                                     sizes[v] / length + 3.0 * FLT_EPSILON;
            if (sizes[v] == 0.0) {
                for (int i = 0; i < 3; i++) harness_compare(h, "normal of nothing", v, got[i], 0.0, 0.0);
                continue;
            }
            if (!(one == 0.0 || fabs(one - 1.0) <= 8.0 * FLT_EPSILON))
                harness_fail(h, "normal %lld has length %.9g", (long long)v, one);
            for (int i = 0; i < 3 && bound < 1.0; i++)
                harness_compare(h, "normal", 3 * v + i, got[i], N[i] / length,
                                h->is_reference ? harness_rounding(N[i] / length) + 1e-13 * sizes[v] / length : bound);
            if (kind == SPHERE && v < n / 2) /* exact on spheres, as far as positions are: 1e-7 over an edge */
                for (int i = 0; i < 3; i++)
                    harness_compare(h, "normal of a sphere", 3 * v + i, got[i], s.dx[3 * v + i] / size, 1e-4);
        }
    }
    free(sums);
    free(sizes);
    free(valences);
    surface_free(&s);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 997, 10007};
    static const int64_t columns[] = {0, 1, 2, 5};
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int kind = 0; kind < 4; kind++)
                if (sizes[i] * columns[k] <= (h->quick ? 2000 : 20014))
                    check(h, kind == 3 ? FLAT : HOSTILE, sizes[i], columns[k], scales[kind % 3], (int)(i + k) % 2);
    check(h, SPHERE, 3002, 2, 1.0, 0);
    check(h, SPHERE, 3002, 1, 1e6, 1);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_corner", run); }
