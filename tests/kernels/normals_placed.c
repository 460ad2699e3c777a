/* SPDX-License-Identifier: Apache-2.0 */
/* The fused operation gives the bytes of normals_dynamic, in their places; here against the oracle of normals, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/normals_placed/normals_placed.h"
#include "tests/kernels/normals_mesh.h"

enum { LOCAL = 128 };

/* A permutation: the identity, local or random. */
static void order_vertices(harness *h, int64_t n, int kind, int32_t *target)
{
    for (int64_t v = 0; v < n; v++) target[v] = (int32_t)v;
    for (int64_t v = n - 1; kind > 0 && v > 0; v--) {
        const int64_t least = kind == 1 ? v / LOCAL * LOCAL : 0;
        int64_t other = least + (int64_t)(0.5 * (harness_random(h) + 1) * (double)(v - least + 1));
        if (other > v) other = v;
        const int32_t swap = target[v];
        target[v] = target[other];
        target[other] = swap;
    }
}

/* The column's floats go to their places in an array of frames; target NULL: as they lie. */
static void place(const float *values, int64_t n, const int32_t *target, int64_t base, float *frames)
{
    for (int64_t v = 0; v < n; v++) memcpy(frames + 3 * (base + (target ? target[v] : v)), values + 3 * v, 3 * sizeof *frames);
}

/* The ring of the places, whose vertices are source[place]: on the device. */
static void order_ring(harness *h, const mesh *m, const int32_t *source, modal_normals_placed_task *task)
{
    const int64_t n = m->n, n_tiles = (n + 31) / 32;
    int64_t *offsets = harness_alloc(n + 1, sizeof *offsets), *rows = harness_alloc(n_tiles + 1, sizeof *rows);
    int32_t *corners = harness_alloc(2 * m->offsets[n], sizeof *corners), *ring;
    modal_normals_order_corners(n, source, m->offsets, m->corners, offsets, corners);
    modal_normals_ring_offsets(n, offsets, corners, rows);
    ring = harness_alloc(32 * rows[n_tiles], sizeof *ring);
    modal_normals_ring(n, offsets, corners, rows, ring);
    task->surface.ring_offsets = harness_input(h, rows, (n_tiles + 1) * 8, 0);
    task->surface.ring = harness_input(h, ring, rows[n_tiles] * 128, 0);
    task->source = harness_input(h, source, n * 4, 0);
    free(offsets), free(rows), free(corners), free(ring);
}

/* odd: a position that is not finite, to be found; -1: none. Columns lie in the frames the other way round, with `gap`
 * points between them. */
static void check(harness *h, int64_t n, int64_t columns, int order, int shift, int64_t odd)
{
    mesh m;
    modal_error err = {0};
    const int64_t gap = 5, points = columns * (n + gap);
    harness_case(h, "n %lld, %lld columns, order %d, shift %d, odd at %lld", (long long)n, (long long)columns, order, shift,
                 (long long)odd);
    mesh_new(&m, h, n);
    float *x = mesh_positions(&m, h, columns, 1.0);
    int32_t *target = harness_alloc(n, sizeof *target), *source = harness_alloc(n, sizeof *source);
    int64_t *base = harness_alloc(columns, sizeof *base);
    if (odd >= 0) x[odd] = odd % 2 ? NAN : -INFINITY;
    order_vertices(h, n, order, target);
    for (int64_t v = 0; v < n; v++) source[target[v]] = (int32_t)v;
    for (int64_t c = 0; c < columns; c++) base[c] = (columns - 1 - c) * (n + gap) + 2;
    modal_normals_placed_task task = {
        .surface = {.n_vertices = n,
                    .n_columns = columns,
                    .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
                    .corners = harness_input(h, m.corners, m.offsets[n] * 8, shift * 8),
                    .positions = harness_input(h, x, columns * n * 12, shift * 4)},
        .target = order ? harness_input(h, target, n * 4, shift * 4) : NULL,
        .base = harness_input(h, base, columns * 8, shift * 8)};
    const void *ring_offsets = harness_input(h, m.ring_offsets, ((n + 31) / 32 + 1) * 8, 0);
    const void *ring = harness_input(h, m.ring, m.ring_offsets[(n + 31) / 32] * 128, 0);
    enum { FROM_CORNERS, AGAIN, FROM_RING, GATHERED, RUNS };
    int32_t *found[RUNS] = {NULL};
    harness_output *out[RUNS][2], *expected[2];
    for (int i = 0; i < RUNS; i++) {
        for (int k = 0; k < 2; k++) out[i][k] = harness_new_output(h, 3 * points, shift, NULL);
        harness_ok(h, modal_device_alloc_host(h->device, &found[i], 1, sizeof **found, "flag", &err), &err);
        *found[i] = 0;
        task.surface.ring_offsets = i == FROM_RING ? ring_offsets : NULL;
        task.surface.ring = i == FROM_RING ? ring : NULL;
        task.source = NULL;
        if (i == GATHERED) order_ring(h, &m, source, &task);
        task.positions = out[i][0]->device;
        task.normals = out[i][1]->device;
        task.nonfinite = i == AGAIN ? NULL : found[i];
        harness_ok(h, h->kernels->normals_placed(&task, h->stream, &err), &err);
    }
    for (int k = 0; k < 2; k++) expected[k] = harness_new_output(h, 3 * points, 0, NULL);
    harness_output *stored = harness_new_output(h, 3 * n * columns, 0, NULL);
    task.surface.ring_offsets = NULL, task.surface.ring = NULL;
    task.surface.normals = stored->device;
    harness_ok(h, h->kernels->normals_dynamic(&task.surface, h->stream, &err), &err);
    harness_fetch(h);
    for (int64_t c = 0; c < columns; c++) {
        place(x + 3 * c * n, n, order ? target : NULL, base[c], expected[0]->host);
        place(stored->host + 3 * c * n, n, order ? target : NULL, base[c], expected[1]->host);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < RUNS; i++) harness_same(h, k ? "normals" : "positions", expected[k], out[i][k]);
    for (int i = 0; i < RUNS; i++) {
        if (*found[i] != (odd >= 0 && i != AGAIN)) harness_fail(h, "run %d: the flag is %d", i, *found[i]);
        modal_device_free_host(h->device, &found[i]);
    }
    float *normals = harness_alloc(3 * n, sizeof *normals);
    for (int64_t c = 0; c < columns && odd < 0; c++) {
        for (int64_t k = 0; k < 3 * n; k++) {
            const int64_t at = 3 * (base[c] + (order ? target[k / 3] : k / 3)) + k % 3;
            normals[k] = out[0][1]->host[at];
            harness_compare(h, "position", k, out[0][0]->host[at], (double)x[3 * c * n + k], 0.0);
        }
        mesh_compare_normals(h, &m, 0, x + 3 * c * n, normals);
    }
    free(normals);
    free(target);
    free(source);
    free(base);
    free(x);
    mesh_free(&m);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 997, 20011};
    static const int64_t columns[] = {0, 1, 2, 4, 7, 17};
    if (!h->kernels->normals_placed) {
        harness_unsupported(h, "this back end has no such operation");
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int order = 0; order < 3; order++)
                if (sizes[i] * columns[k] <= (h->quick ? 10000 : 200000))
                    check(h, sizes[i], columns[k], order, (int)(i + k) % 2, -1);
    for (int64_t odd = 0; odd < 3 * 4 * 997; odd += h->quick ? 3701 : 1801) check(h, 997, 4, 2, 0, odd);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_placed", run); }
