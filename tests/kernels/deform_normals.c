/* SPDX-License-Identifier: Apache-2.0 */
/* The fused operation gives the bytes of the two that it stands for, which have programs of their own;
 * here against the oracle of normals, too. */
#include <stdlib.h>
#include <string.h>

#include "kernels/deform_normals/deform_normals.h"
#include "tests/kernels/harness.h"
#include "tests/kernels/normals_mesh.h"
#include "tests/kernels/scene.h"

static void check(harness *h, int64_t n, int32_t r, int64_t columns, int random, int shift)
{
    scene s;
    mesh m;
    modal_error err = {0};
    const modal_kernels *kernels = h->kernels;
    harness_case(h, "n %lld, r %d, %lld columns, random order %d, shift %d", (long long)n, r,
                 (long long)columns, random, shift);
    scene_new(&s, h, n, r, columns);
    if (random) {
        mesh_new(&m, h, n);
    } else { /* a strip: vertex v is in the triangles (v, v + 1, v + 2) and its like */
        memset(&m, 0, sizeof m);
        m.n = n;
        m.offsets = harness_alloc(n + 1, sizeof *m.offsets);
        m.corners = harness_alloc(6 * n, sizeof *m.corners);
        int64_t k = 0;
        for (int64_t v = 0; v < n; v++) {
            m.offsets[v] = k;
            for (int64_t t = v - 2; t <= v; t++) {
                if (t < 0 || t + 2 >= n) continue;
                m.corners[2 * k] = (int32_t)(t + (v - t + 1) % 3);
                m.corners[2 * k++ + 1] = (int32_t)(t + (v - t + 2) % 3);
            }
        }
        m.offsets[n] = k;
        m.n_triangles = n > 2 ? n - 2 : 0;
        m.triangles = harness_alloc(3 * m.n_triangles, sizeof *m.triangles);
        for (int64_t i = 0; i < 3 * m.n_triangles; i++) m.triangles[i] = (int32_t)(i / 3 + i % 3);
    }
    harness_output *x[3], *normals[3];
    modal_deform_task deform = {
        .n_vertices = n,
        .n_columns = columns,
        .n_modes = r,
        .modal_matrix = harness_input(h, s.tiles, s.n_tiles * 96 * r * 4, shift ? 16 : 0),
        .rest_tiles = harness_input(h, s.rest_tiles, s.n_tiles * 96 * 4, shift * 4),
        .q = harness_input(h, s.q, columns * r * 4, shift * 4),
        .poses = harness_input(h, s.poses, columns * 48, shift * 4)};
    modal_normals_dynamic_task surface = {
        .n_vertices = n,
        .n_columns = columns,
        .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
        .corners = harness_input(h, m.corners, m.offsets[n] * 8, shift * 8)};
    for (int i = 0; i < 3; i++) {
        x[i] = harness_new_output(h, columns * n * 3, shift, NULL);
        normals[i] = harness_new_output(h, columns * n * 3, shift, NULL);
        deform.positions = x[i]->device;
        surface.positions = x[i]->device;
        surface.normals = normals[i]->device;
        if (i < 2) {
            harness_ok(h, kernels->deform_normals(&(modal_deform_normals_task){&deform, &surface}, h->stream, &err), &err);
        } else {
            harness_ok(h, kernels->deform(&deform, h->stream, &err), &err);
            harness_ok(h, kernels->normals_dynamic(&surface, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "positions, second run", x[0], x[1]);
    harness_same(h, "normals, second run", normals[0], normals[1]);
    harness_same(h, "positions, by themselves", x[0], x[2]);
    harness_same(h, "normals, by themselves", normals[0], normals[2]);
    for (int64_t c = 0; c < columns; c++)
        mesh_compare_normals(h, &m, 0, x[0]->host + 3 * c * n, normals[0]->host + 3 * c * n);
    mesh_free(&m);
    scene_free(&s);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 31, 32, 33, 997, 2049, 10007};
    static const int32_t ranks[] = {0, 1, 5, 32, 100};
    static const int64_t columns[] = {0, 1, 3, 8, 9, 16, 17, 40, 64};
    const int64_t limit = h->quick ? 200000 : 5000000;
    if (!h->kernels->deform_normals) {
        harness_unsupported(h, "not fused there, the engine takes the two operations");
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof ranks / sizeof *ranks; j++)
            for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
                if (sizes[i] * (ranks[j] + 1) * columns[k] <= limit)
                    check(h, sizes[i], ranks[j], columns[k], (int)(i + j + k) % 3 == 0,
                          (int)(i + k) % 2);
    if (!h->quick) check(h, 20000, 16, 48, 0, 0); /* large enough to be written past the caches */
}

int main(int argc, char **argv) { return harness_main(argc, argv, "deform_normals", run); }
