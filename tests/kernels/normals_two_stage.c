/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "kernels/normals_two_stage/normals_two_stage.h"
#include "tests/kernels/normals_mesh.h"

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
    const int64_t faces = m.n_triangles;
    harness_output *out[2], *face_normals[2];
    modal_normals_two_stage_task task = {
        .n_vertices = n,
        .n_triangles = faces,
        .n_columns = columns,
        .triangles = harness_input(h, m.triangles, faces * 12, shift * 4),
        .face_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
        .faces = harness_input(h, m.faces, m.offsets[n] * 4, shift * 4),
        .positions = harness_input(h, x, columns * n * 12, shift * 4)};
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * n * 3, shift, NULL);
        face_normals[i] = harness_new_output(h, columns * faces * 3, shift, NULL);
        task.normals = out[i]->device;
        task.face_normals = face_normals[i]->device;
        harness_ok(h, h->kernels->normals_two_stage(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    harness_same(h, "second run, faces", face_normals[0], face_normals[1]);
    for (int64_t c = 0; c < columns; c++) {
        if (!flat) mesh_compare_normals(h, &m, 1, x + 3 * c * n, out[0]->host + 3 * c * n);
        for (int64_t i = 3 * c * n; flat && i < 3 * (c + 1) * n; i++)
            harness_compare(h, "degenerate normal", i, out[0]->host[i], 0.0, 0.0);
        for (int64_t t = 0; t < faces; t++) { /* a loose bound: the vertices have the tight one */
            const int32_t *v = m.triangles + 3 * t;
            const float *y = x + 3 * c * n;
            double e[2][3], size[2] = {0.0, 0.0};
            for (int k = 0; k < 2; k++)
                for (int i = 0; i < 3; i++) {
                    e[k][i] = (double)y[3 * (int64_t)v[k + 1] + i] - (double)y[3 * (int64_t)v[0] + i];
                    size[k] += e[k][i] * e[k][i];
                }
            for (int i = 0; i < 3; i++)
                harness_compare(h, "face normal", 3 * t + i,
                                face_normals[0]->host[3 * (c * faces + t) + i],
                                e[0][(i + 1) % 3] * e[1][(i + 2) % 3] -
                                    e[0][(i + 2) % 3] * e[1][(i + 1) % 3],
                                harness_gamma(4) * sqrt(2.0 * size[0] * size[1]) + 1e-45);
        }
    }
    free(x);
    mesh_free(&m);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 7};
    static const double scales[] = {1.0, 1e-12, 1e12};
    const int64_t limit = h->quick ? 10000 : 500000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int kind = 0; kind < 4; kind++)
                if (sizes[i] * columns[k] <= limit)
                    check(h, sizes[i], columns[k], kind < 3 ? scales[kind] : 1.0, kind == 3,
                          (int)(i + k) % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_two_stage", run); }
