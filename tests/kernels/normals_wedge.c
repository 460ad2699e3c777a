/* SPDX-License-Identifier: Apache-2.0 */
/* The vertices of a mesh are taken as wedges, the later ones of which are put at the places of earlier ones: the oracle of normals_dynamic then holds
 * for positions that are repeated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/normals_wedge/normals_wedge.h"
#include "tests/kernels/normals_mesh.h"

/* n wedges of which `further` share places, kind 0: with neighbours, 1: at random. */
static void check(harness *h, int64_t n, int64_t further, int64_t columns, int kind, int shift)
{
    mesh m;
    modal_error err = {0};
    const int64_t n_vertices = n - further, n_tiles = (n + 31) / 32;
    harness_case(h, "n %lld, %lld further, %lld columns, kind %d, shift %d", (long long)n, (long long)further, (long long)columns, kind, shift);
    mesh_new(&m, h, n);
    float *all = mesh_positions(&m, h, columns, 1.0), *x = harness_alloc(3 * columns * n_vertices, sizeof *x);
    int32_t *source = harness_alloc(further, sizeof *source);
    for (int64_t i = 0; i < further; i++) {
        const double at = kind ? (harness_random(h) + 1) / 2 : (double)i / (double)further;
        source[i] = (int32_t)(at * (double)(n_vertices - 1));
    }
    for (int64_t c = 0; c < columns; c++) {
        memcpy(x + 3 * c * n_vertices, all + 3 * c * n, (size_t)(3 * n_vertices) * sizeof *x);
        for (int64_t i = 0; i < further; i++)
            memcpy(all + 3 * (c * n + n_vertices + i), x + 3 * (c * n_vertices + source[i]), 3 * sizeof *x);
    }
    modal_normals_wedge_vertices(n_vertices, source, 2 * m.offsets[n], m.corners);
    modal_normals_wedge_vertices(n_vertices, source, 32 * m.ring_offsets[n_tiles], m.ring);
    harness_output *out[4], *plain = NULL;
    modal_normals_wedge_task task = {.n_vertices = n_vertices,
                                     .n_wedges = n,
                                     .n_columns = columns,
                                     .source = harness_input(h, source, further * 4, shift * 4),
                                     .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
                                     .corners = harness_input(h, m.corners, m.offsets[n] * 8, shift * 8),
                                     .positions = harness_input(h, x, columns * n_vertices * 12, shift * 4)};
    const void *ring_offsets = harness_input(h, m.ring_offsets, (n_tiles + 1) * 8, shift * 8);
    const void *ring = harness_input(h, m.ring, m.ring_offsets[n_tiles] * 128, shift * 4);
    for (int i = 0; i < 4; i++) { /* the last two from the ring */
        task.ring_offsets = i < 2 ? NULL : ring_offsets;
        task.ring = i < 2 ? NULL : ring;
        out[i] = harness_new_output(h, columns * n * 3, shift, NULL);
        task.normals = out[i]->device;
        harness_ok(h, h->kernels->normals_wedge(&task, h->stream, &err), &err);
    }
    if (further == 0) {
        plain = harness_new_output(h, columns * n * 3, shift, NULL);
        const modal_normals_dynamic_task same = {.n_vertices = n, .n_columns = columns, .corner_offsets = task.corner_offsets,
                                                 .corners = task.corners, .positions = task.positions, .normals = plain->device};
        harness_ok(h, h->kernels->normals_dynamic(&same, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    harness_same(h, "ring", out[0], out[2]);
    harness_same(h, "ring, second run", out[0], out[3]);
    if (plain) harness_same(h, "no further wedges", out[0], plain);
    for (int64_t c = 0; c < columns; c++) mesh_compare_normals(h, &m, 0, all + 3 * c * n, out[0]->host + 3 * c * n);
    free(all);
    free(x);
    free(source);
    mesh_free(&m);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 33, 997, 40009};
    static const int64_t columns[] = {0, 1, 4, 7, 33};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int kind = 0; kind < 2; kind++)
                for (int part = 0; part < 3; part++) {
                    const int64_t further = part == 0 ? 0 : part == 1 ? sizes[i] / 10 : sizes[i] / 2;
                    if (sizes[i] * columns[k] <= (h->quick ? 10000 : 200000)) check(h, sizes[i], further, columns[k], kind, (int)(i + k) % 2);
                }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_wedge", run); }
