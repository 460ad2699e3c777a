/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tensor_smooth/tensor_smooth.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/curvature_fit/neighbour_rings.h"
#include "lib/base/memory.h"
#include "tests/kernels/curvature_checks.h"

static void check(harness *h, surface_kind kind, int64_t n, int64_t columns, double size, int n_rings, int shift)
{
    surface_case s;
    modal_error err = {0};
    int64_t *offsets = NULL;
    int32_t *neighbours = NULL;
    harness_case(h, "kind %d, n %lld, %lld columns, size %g, %d rings, shift %d", kind, (long long)n,
                 (long long)columns, size, n_rings, shift);
    surface_new(&s, h, kind, n, columns, size, shift);
    harness_ok(h, modal_neighbour_rings(n, s.m.ring_offsets, s.m.ring, n_rings, &offsets, &neighbours, &err), &err);
    const int64_t n_tiles = (n + 31) / 32, points = n * columns;
    const float radius = (float)(2.5 * size / (kind == SPHERE ? sqrt((double)n) : 1.0));
    float *tensors = harness_alloc(3 * points, sizeof *tensors), *areas = harness_alloc(points, sizeof *areas);
    for (int64_t i = 0; i < 3 * points; i++) tensors[i] = (float)(harness_random(h) / size);
    for (int64_t i = 0; i < points; i++)
        areas[i] = i % 13 ? (float)(size * size * (1.1 + harness_random(h))) : 0.0f;
    modal_tensor_smooth_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .neighbour_offsets = harness_input(h, offsets, (n_tiles + 1) * 8, shift * 8),
        .neighbours = harness_input(h, neighbours, offsets[n_tiles] * 128, shift * 4),
        .positions = s.task.positions,
        .normals = s.task.normals,
        .areas = harness_input(h, areas, 4 * points, shift * 4),
        .tensors = harness_input(h, tensors, 12 * points, shift * 4),
        .radius = radius};
    curvature_outputs out[2];
    for (int i = 0; i < 2; i++) {
        task.output = outputs_new(h, &out[i], points, shift, 0);
        harness_ok(h, h->kernels->tensor_smooth(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    outputs_same(h, &out[0], &out[1]);
    double *exact = harness_alloc(3 * n, sizeof *exact), *d_areas = harness_alloc(n, sizeof *d_areas);
    double *smoothed = harness_alloc(3 * n, sizeof *smoothed), *bounds = harness_alloc(n, sizeof *bounds);
    for (int64_t c = 0; c < columns; c++) {
        surface_column(&s, c);
        for (int64_t i = 0; i < 3 * n; i++) exact[i] = (double)tensors[3 * c * n + i];
        for (int64_t i = 0; i < n; i++) d_areas[i] = (double)areas[c * n + i];
        modal_tensor_smooth_exact(&(modal_curvature_exact){n, offsets, neighbours, s.dx, s.dn}, d_areas, exact,
                                  (double)radius, smoothed);
        for (int64_t v = 0; v < n; v++) {
            bounds[v] = h->is_reference ? 0.0 : 64.0 * FLT_EPSILON / 2.0 * 3.0 / size;
            /* in or out by rounding: at a right angle, or nothing but neighbours at the rim */
            double weight = 0.0;
            for (int64_t row = offsets[v / 32] - 1; row < offsets[v / 32 + 1]; row++) {
                const int64_t j = row < offsets[v / 32] ? v : neighbours[row * 32 + v % 32];
                double square = 0.0, cosine = 0.0;
                if (j < 0) continue;
                for (int i = 0; i < 3; i++) {
                    square += pow(s.dx[3 * j + i] - s.dx[3 * v + i], 2.0);
                    cosine += s.dn[3 * j + i] * s.dn[3 * v + i];
                }
                const double left = 1.0 - square / ((double)radius * (double)radius);
                if (fabs(cosine) < 1e-5 && cosine != 0.0 && left > 0.0) bounds[v] = INFINITY;
                if (left > 0.0 && cosine > 0.0) weight += d_areas[j] * left * left / (size * size);
            }
            if (weight > 0.0 && weight < 1e-3) bounds[v] = INFINITY;
        }
        outputs_compare(h, out, n, c, s.dn, smoothed, bounds);
    }
    modal_free(&offsets);
    modal_free(&neighbours);
    free(tensors);
    free(areas);
    free(exact);
    free(d_areas);
    free(smoothed);
    free(bounds);
    surface_free(&s);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 997, 4001};
    static const int64_t columns[] = {0, 1, 2, 5};
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (sizes[i] * columns[k] <= (h->quick ? 500 : 5000))
                check(h, HOSTILE, sizes[i], columns[k], scales[(i + k) % 3], 1 + (int)(i + k) % 2, (int)(i + k) % 2);
    check(h, SPHERE, 3002, 2, 1.0, 2, 0);
    check(h, FLAT, 997, 2, 1.0, 2, 0);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "tensor_smooth", run); }
