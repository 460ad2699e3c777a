/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_derivative/curvature_derivative.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/curvature_checks.h"

static double size_of(const double *t)
{
    return fabs(t[0]) + 2.0 * fabs(t[1]) + fabs(t[2]);
}

/* Rounding of a tensor, over the heights of its triangles: like the bounds of curvature_tensor, with the tensors of a
 * triangle in the place of its curvature, over the least height again. */
static void derivative_bounds(const surface_case *s, const double *tensors, double *bounds)
{
    const mesh *m = &s->m;
    surface_bounds(s, bounds);
    double *factor = harness_alloc(m->n, sizeof *factor);
    for (int64_t v = 0; v < m->n; v++) factor[v] = 0.0;
    for (int64_t t = 0; t < m->n_triangles; t++) {
        const int32_t *v = m->triangles + 3 * t;
        double largest = 0.0, bound = 0.0;
        for (int k = 0; k < 3; k++) {
            largest = fmax(largest, size_of(tensors + 3 * v[k]));
            bound = fmax(bound, bounds[v[k]]);
        }
        for (int k = 0; k < 3; k++)
            factor[v[k]] = fmax(factor[v[k]], largest * bound);
    }
    for (int64_t v = 0; v < m->n; v++) bounds[v] = isfinite(factor[v]) ? factor[v] : INFINITY;
    free(factor);
}

static void check(harness *h, surface_kind kind, int64_t n, int64_t columns, double size, int shift)
{
    surface_case s;
    modal_error err = {0};
    harness_case(h, "kind %d, n %lld, %lld columns, size %g, shift %d", kind, (long long)n, (long long)columns, size,
                 shift);
    surface_new(&s, h, kind, n, columns, size, shift);
    float *tensors = harness_alloc(3 * n * columns, sizeof *tensors);
    double *exact = harness_alloc(3 * n, sizeof *exact), *areas = harness_alloc(n, sizeof *areas);
    double *derivatives = harness_alloc(4 * n, sizeof *derivatives), *bounds = harness_alloc(n, sizeof *bounds);
    for (int64_t c = 0; c < columns; c++) {
        surface_column(&s, c);
        modal_curvature_tensor_exact(n, s.m.ring_offsets, s.m.ring, s.dx, s.dn, exact, areas);
        /* principal curvatures that differ, so that directions are certain */
        for (int64_t v = 0; v < n; v++)
            for (int i = 0; i < 3; i++)
                tensors[3 * (c * n + v) + i] =
                    (float)(exact[3 * v + i] + (i == 0 ? 1.0 : 0.2 * harness_random(h)) / size);
    }
    harness_output *out[2];
    const float *d_tensors = harness_input(h, tensors, 12 * n * columns, shift * 4);
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, 4 * n * columns, shift, NULL);
        const modal_curvature_derivative_task task = {s.task, d_tensors, out[i]->device};
        harness_ok(h, h->kernels->curvature_derivative(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "derivatives twice", out[0], out[1]);
    for (int64_t c = 0; c < columns; c++) {
        surface_column(&s, c);
        for (int64_t i = 0; i < 3 * n; i++) exact[i] = (double)tensors[3 * c * n + i];
        modal_curvature_derivative_exact(n, s.m.ring_offsets, s.m.ring, s.dx, s.dn, exact, derivatives);
        derivative_bounds(&s, exact, bounds);
        for (int64_t v = 0; v < n; v++) {
            const double *d = derivatives + 4 * v, *t = exact + 3 * v;
            double k[2], direction[3], largest = 0.0;
            modal_curvature_diagonal_exact(s.dn + 3 * v, t, k, direction);
            for (int i = 0; i < 4; i++) largest = fmax(largest, fabs(d[i]));
            /* the components' frame turns by the tensor's rounding over the difference of its eigenvalues */
            const double turn = 8.0 * FLT_EPSILON * size_of(t) / fmax(k[0] - k[1], DBL_MIN);
            const double bound = (h->is_reference ? 0.0 : bounds[v]) + largest * (turn + 16.0 * FLT_EPSILON);
            /* a direction of the other sign turns all components' sign */
            const float *got = out[0]->host + 4 * (c * n + v);
            const double same = fabs((double)got[0] - d[0]) + fabs((double)got[3] - d[3]);
            const double other = fabs((double)got[0] + d[0]) + fabs((double)got[3] + d[3]);
            const double sign = other < same ? -1.0 : 1.0;
            if (isinf(bounds[v]) || turn > 0.1) continue;
            for (int i = 0; i < 4; i++)
                harness_compare(h, "derivative", 4 * (c * n + v) + i, got[i], sign * d[i], bound + FLT_TRUE_MIN);
        }
    }
    free(tensors);
    free(exact);
    free(areas);
    free(derivatives);
    free(bounds);
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
                if (sizes[i] * columns[k] <= (h->quick ? 2000 : 10007))
                    check(h, kind == 3 ? FLAT : HOSTILE, sizes[i], columns[k], scales[kind % 3], (int)(i + k) % 2);
    check(h, SPHERE, 3002, 2, 1.0, 0);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "curvature_derivative", run); }
