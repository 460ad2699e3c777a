/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "tests/kernels/normals_mesh.h"

/* scale: of the positions; flat: all triangles degenerate (every vertex at one of two places). */
static void check(harness *h, int64_t n, int64_t columns, double scale, int flat, int shift)
{
    mesh m;
    modal_error err = {0};
    harness_case(h, "n %lld, %lld columns, scale %g, flat %d, shift %d", (long long)n,
                 (long long)columns, scale, flat, shift);
    mesh_new(&m, h, n);
    float *x = mesh_positions(&m, h, columns, scale);
    for (int64_t i = 0; flat && i < 3 * columns * n; i++)
        x[i] = i / 3 % n % 2 ? 0.1f : 0.7f;
    harness_output *out[4] = {NULL, NULL, NULL, NULL};
    modal_normals_dynamic_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
        .corners = harness_input(h, m.corners, m.offsets[n] * 8, shift * 8),
        .positions = harness_input(h, x, columns * n * 12, shift * 4)};
    const void *ring_offsets = harness_input(h, m.ring_offsets, ((n + 31) / 32 + 1) * 8, shift * 8);
    const void *ring = harness_input(h, m.ring, m.ring_offsets[(n + 31) / 32] * 128, shift * 4);
    for (int i = 0; i < 4; i++) { /* the last two from the ring */
        task.ring_offsets = i < 2 ? NULL : ring_offsets;
        task.ring = i < 2 ? NULL : ring;
        out[i] = harness_new_output(h, columns * n * 3, shift, NULL);
        task.normals = out[i]->device;
        harness_ok(h, h->kernels->normals_dynamic(&task, h->stream, &err), &err);
    }
    harness_output *alone = NULL;
    if (n < 1000 && columns > 1) {
        alone = harness_new_output(h, columns * n * 3, 0, NULL);
        const float *positions = task.positions;
        task.n_columns = 1;
        for (int64_t c = 0; c < columns; c++) {
            task.positions = positions + 3 * c * n;
            task.normals = alone->device + 3 * c * n;
            harness_ok(h, h->kernels->normals_dynamic(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    harness_same(h, "ring", out[0], out[2]);
    harness_same(h, "ring, second run", out[0], out[3]);
    if (alone) harness_same(h, "columns alone", out[0], alone);
    for (int64_t c = 0; c < columns; c++) {
        if (!flat) mesh_compare_normals(h, &m, 0, x + 3 * c * n, out[0]->host + 3 * c * n);
        for (int64_t i = 3 * c * n; flat && i < 3 * (c + 1) * n; i++)
            harness_compare(h, "degenerate normal", i, out[0]->host[i], 0.0, 0.0);
    }
    free(x);
    mesh_free(&m);
}

/* Edges whose products overflow float32: every vertex that has faces gets a NaN, on every back end, and a
 * vertex without faces its zero vector; so that no wrong direction hides an overflow. */
static void check_overflow(harness *h, int64_t n, int64_t columns, int only)
{
    mesh m;
    modal_error err = {0};
    harness_case(h, "overflow, n %lld, %lld columns, vertex %d alone", (long long)n, (long long)columns, only);
    mesh_new(&m, h, n);
    float *x = mesh_positions(&m, h, columns, only < 0 ? 1e21 : 1.0);
    for (int64_t c = 0; c < columns && only >= 0; c++)
        for (int i = 0; i < 3; i++) x[3 * (c * n + only) + i] = 1e20f * (float)(1 + i);
    modal_normals_dynamic_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, 0),
        .corners = harness_input(h, m.corners, m.offsets[n] * 8, 0),
        .positions = harness_input(h, x, columns * n * 12, 0)};
    harness_output *out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * n * 3, 0, NULL);
        task.normals = out[i]->device;
        task.ring_offsets = i ? harness_input(h, m.ring_offsets, ((n + 31) / 32 + 1) * 8, 0) : NULL;
        task.ring = i ? harness_input(h, m.ring, m.ring_offsets[(n + 31) / 32] * 128, 0) : NULL;
        harness_ok(h, h->kernels->normals_dynamic(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    for (int i = 0; i < 2; i++)
        for (int64_t v = 0; v < columns * n; v++) {
            const float *normal = out[i]->host + 3 * v;
            const int faces = m.offsets[v % n + 1] > m.offsets[v % n];
            const int finite = isfinite(normal[0]) && isfinite(normal[1]) && isfinite(normal[2]);
            h->n_values++;
            if (finite && (only < 0 ? faces : v % n == only))
                harness_fail(h, "vertex %lld: %g %g %g", (long long)v, (double)normal[0], (double)normal[1],
                             (double)normal[2]);
            if (!finite && !faces) harness_fail(h, "vertex %lld has no faces and no zero", (long long)v);
        }
    free(x);
    mesh_free(&m);
}

static void run(harness *h)
{
    for (int64_t columns = 1; columns <= 20; columns = 4 * columns + 1) {
        check_overflow(h, 100, columns, -1);
        for (int only = 0; only < 40; only += h->quick ? 13 : 1) check_overflow(h, 100, columns, only);
    }
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
    if (!h->quick || !h->is_reference) check(h, 20000, 48, 1.0, 0, 0); /* large enough to be written past the caches */
}

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_dynamic", run); }
