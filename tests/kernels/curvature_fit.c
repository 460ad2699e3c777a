/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_fit/curvature_fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/memory.h"
#include "tests/kernels/curvature_checks.h"

/* Lists of neighbours by breadth-first search over triangles, one vertex after another. */
static void check_lists(harness *h, const mesh *m, int n_rings, const int64_t *offsets, const int32_t *neighbours)
{
    int *distance = harness_alloc(m->n, sizeof *distance);
    for (int64_t v = 0; v < m->n; v += 1 + m->n / 50) {
        int64_t expected = 0, found = 0;
        for (int64_t i = 0; i < m->n; i++) distance[i] = i == v ? 0 : 1000;
        for (int turn = 0; turn < n_rings; turn++)
            for (int64_t t = 0; t < m->n_triangles; t++)
                for (int k = 0; k < 3; k++) {
                    const int32_t a = m->triangles[3 * t + k];
                    for (int l = 0; l < 3; l++)
                        if (distance[m->triangles[3 * t + l]] == turn && distance[a] > turn + 1) distance[a] = turn + 1;
                }
        for (int64_t i = 0; i < m->n; i++) expected += distance[i] > 0 && distance[i] <= n_rings;
        for (int64_t row = offsets[v / 32]; row < offsets[v / 32 + 1]; row++) {
            const int32_t j = neighbours[row * 32 + v % 32];
            if (j < 0 && j != ~(int32_t)v) harness_fail(h, "vertex %lld: filled up with %d", (long long)v, j);
            if (j < 0) continue;
            found++;
            if (!(distance[j] > 0 && distance[j] <= n_rings)) harness_fail(h, "vertex %lld: not near %d", (long long)v, j);
            distance[j] = 2000; /* once */
        }
        if (found != expected)
            harness_fail(h, "vertex %lld: %lld neighbours, not %lld", (long long)v, (long long)found,
                         (long long)expected);
    }
    free(distance);
}

static void check(harness *h, surface_kind kind, int degree, int n_rings, int64_t n, int64_t columns, double size,
                  int shift)
{
    surface_case s;
    modal_error err = {0};
    int64_t *offsets = NULL;
    int32_t *neighbours = NULL;
    harness_case(h, "degree %d, %d rings, kind %d, n %lld, %lld columns, size %g, shift %d", degree, n_rings, kind,
                 (long long)n, (long long)columns, size, shift);
    surface_new(&s, h, kind, n, columns, size, shift);
    harness_ok(h, modal_neighbour_rings(n, s.m.ring_offsets, s.m.ring, n_rings, &offsets, &neighbours, &err), &err);
    if (n <= 997) check_lists(h, &s.m, n_rings, offsets, neighbours);
    const int64_t n_tiles = (n + 31) / 32, points = n * columns;
    modal_curvature_fit_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .neighbour_offsets = harness_input(h, offsets, (n_tiles + 1) * 8, shift * 8),
        .neighbours = harness_input(h, neighbours, offsets[n_tiles] * 128, shift * 4),
        .positions = s.task.positions,
        .normals = s.task.normals,
        .degree = degree};
    curvature_outputs out[2];
    harness_output *reached[2];
    for (int i = 0; i < 2; i++) {
        task.output = outputs_new(h, &out[i], points, shift, 0);
        reached[i] = harness_new_output(h, points, shift, NULL);
        task.degrees = reached[i]->device;
        harness_ok(h, h->kernels->curvature_fit(&task, h->stream, &err), &err);
    }
    task.degree = 3;
    if (h->kernels->curvature_fit(&task, h->stream, NULL) != MODAL_ERROR_USAGE)
        harness_fail(h, "degree 3 is not refused");
    harness_fetch(h);
    outputs_same(h, &out[0], &out[1]);
    harness_same(h, "degrees", reached[0], reached[1]);
    double *tensors = harness_alloc(3 * n, sizeof *tensors), *degrees = harness_alloc(n, sizeof *degrees);
    double *bounds = harness_alloc(n, sizeof *bounds);
    for (int64_t c = 0; c < columns; c++) {
        surface_column(&s, c);
        harness_ok(h, modal_curvature_fit_exact(&(modal_curvature_exact){n, offsets, neighbours, s.dx, s.dn}, degree,
                                                tensors, degrees, &err),
                   &err);
        for (int64_t v = 0; v < n; v++) {
            const double *t = tensors + 3 * v;
            bounds[v] = (h->is_reference ? 0.0 : degree == 2 ? 1e-6 : 5e-6) * (fabs(t[0]) + fabs(t[1]) + fabs(t[2])) + 4.0 * FLT_EPSILON / size;
            if (s.dn[3 * v] == 0.0 && s.dn[3 * v + 1] == 0.0 && s.dn[3 * v + 2] == 0.0) degrees[v] = 0.0;
            harness_compare(h, "degree", c * n + v, reached[0]->host[c * n + v], degrees[v], 0.0);
            if (kind == SPHERE && degrees[v] >= 2.0)
                harness_compare(h, "mean of a sphere", c * n + v, out[0].mean->host[c * n + v], 1.0 / size,
                                0.05 / size);
        }
        outputs_compare(h, out, n, c, s.dn, tensors, bounds);
    }
    modal_free(&offsets);
    modal_free(&neighbours);
    free(tensors);
    free(degrees);
    free(bounds);
    surface_free(&s);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 997};
    static const int64_t columns[] = {0, 1, 3};
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int degree = 2; degree <= 4; degree += 2)
                if (sizes[i] * columns[k] <= (h->quick ? 200 : 1000))
                    check(h, HOSTILE, degree, 1 + (int)(i + k) % 3, sizes[i], columns[k], scales[(i + k) % 3],
                          (int)(i + k) % 2);
    check(h, SPHERE, 2, 2, 2002, 1, 1.0, 0);
    check(h, SPHERE, 4, 3, 2002, 1, 1.0, 1);
    check(h, FLAT, 4, 2, 997, 1, 1.0, 0);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "curvature_fit", run); }
