/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tangents_dynamic/tangents_dynamic.h"
#include "tests/kernels/normals_mesh.h"

typedef struct texture {
    int64_t n_uv;
    double *uv;
    int32_t *triangle_uv;
    float *weights;
} texture;

/* Each triangle its own three coordinates near those of a plane, mirrored for every vertex block of
 * 300, and every ninth triangle without area. */
static void texture_new(texture *t, harness *h, const mesh *m)
{
    modal_error err = {0};
    const int64_t width = (int64_t)sqrt((double)m->n) + 1;
    t->n_uv = 3 * m->n_triangles;
    t->uv = harness_alloc(2 * t->n_uv, sizeof *t->uv);
    t->triangle_uv = harness_alloc(t->n_uv, sizeof *t->triangle_uv);
    t->weights = harness_alloc(4 * m->offsets[m->n], sizeof *t->weights);
    for (int64_t k = 0; k < t->n_uv; k++) {
        const int64_t v = m->triangles[k], corner = t->n_uv - 1 - k;
        t->triangle_uv[k] = (int32_t)corner;
        t->uv[2 * corner] = 0.01 * ((double)(v % width) + 0.1 * harness_random(h)) *
                            (k / 3 / 300 % 2 ? -1.0 : 1.0);
        t->uv[2 * corner + 1] = 0.01 * ((double)(v / width) + 0.1 * harness_random(h));
        if (k / 3 % 9 == 4) t->uv[2 * corner] = t->uv[2 * corner + 1] = 0.25;
    }
    const modal_tangents_surface surface = {m->n, m->n_triangles, t->n_uv, m->triangles, t->triangle_uv, t->uv, m->offsets,
                                            m->corner_faces};
    harness_ok(h, modal_tangents_weights(&surface, t->weights, &err), &err);
}

static void texture_free(texture *t)
{
    free(t->uv);
    free(t->triangle_uv);
    free(t->weights);
}

static void cross(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Sums of one vertex by its triangles, from the texture coordinates themselves: dP/du, dP/dv and the
 * sizes of what was added. Returns the number of triangles that count. */
static int64_t sums(const mesh *m, const texture *t, const float *x, int64_t v, double *sum_u,
                    double *sum_v, double *size)
{
    int64_t count = 0;
    memset(sum_u, 0, 3 * sizeof *sum_u);
    memset(sum_v, 0, 3 * sizeof *sum_v);
    size[0] = size[1] = 0.0;
    for (int64_t k = m->offsets[v]; k < m->offsets[v + 1]; k++) {
        const int32_t *tri = m->triangles + 3 * (int64_t)m->faces[k];
        const int32_t *corner = t->triangle_uv + 3 * (int64_t)m->faces[k];
        const int place = tri[0] == v ? 0 : tri[1] == v ? 1 : 2;
        double e[2][3], d[2][2], area[3];
        for (int j = 0; j < 2; j++) {
            const int64_t at = tri[(place + 1 + j) % 3], uv = corner[(place + 1 + j) % 3];
            for (int i = 0; i < 3; i++) e[j][i] = (double)x[3 * at + i] - (double)x[3 * v + i];
            for (int i = 0; i < 2; i++)
                d[j][i] = t->uv[2 * uv + i] - t->uv[2 * (int64_t)corner[place] + i];
        }
        const double determinant = d[0][0] * d[1][1] - d[1][0] * d[0][1];
        cross(e[0], e[1], area);
        if (determinant == 0.0 || dot(area, area) == 0.0) continue;
        count++;
        const double l0 = sqrt(dot(e[0], e[0])), l1 = sqrt(dot(e[1], e[1]));
        for (int i = 0; i < 3; i++) {
            sum_u[i] += (d[1][1] * e[0][i] - d[0][1] * e[1][i]) / determinant;
            sum_v[i] += (d[0][0] * e[1][i] - d[1][0] * e[0][i]) / determinant;
        }
        size[0] += (fabs(d[1][1]) * l0 + fabs(d[0][1]) * l1) / fabs(determinant);
        size[1] += (fabs(d[1][0]) * l0 + fabs(d[0][0]) * l1) / fabs(determinant);
    }
    return count;
}

static void compare(harness *h, const mesh *m, const texture *t, const float *x,
                    const float *normals, const float *tangents)
{
    for (int64_t v = 0; v < m->n; v++) {
        double sum_u[3], sum_v[3], size[2], n[3], across[3];
        const float *got = tangents + 4 * v;
        const int64_t count = sums(m, t, x, v, sum_u, sum_v, size);
        if (count == 0) {
            for (int i = 0; i < 4; i++) harness_compare(h, "tangent of nothing", v, got[i], 0.0, 0.0);
            continue;
        }
        for (int i = 0; i < 3; i++) n[i] = normals[3 * v + i];
        cross(n, sum_u, across);
        const double along = dot(n, sum_u), side = dot(across, sum_v);
        for (int i = 0; i < 3; i++) sum_u[i] -= n[i] * along;
        const double length = sqrt(dot(sum_u, sum_u));
        /* + 1 term: the weights were rounded to float, which the contract does not count */
        const double valence = (double)(m->offsets[v + 1] - m->offsets[v]);
        const double rounding = 12.0 * harness_gamma(valence + 12.0 + 1.0) * size[0];
        const double bound = rounding / length + 4.0 * FLT_EPSILON;
        const double one = sqrt((double)got[0] * (double)got[0] + (double)got[1] * (double)got[1] +
                                (double)got[2] * (double)got[2]);
        if (!(one == 0.0 || fabs(one - 1.0) <= 4.0 * FLT_EPSILON))
            harness_fail(h, "tangent %lld has length %.9g", (long long)v, one);
        if (!(got[3] == (one == 0.0 ? 0.0f : 1.0f) || got[3] == (one == 0.0 ? 0.0f : -1.0f)))
            harness_fail(h, "tangent %lld has handedness %.9g", (long long)v, (double)got[3]);
        if (!(bound < 1.0)) continue; /* no direction to speak of */
        for (int i = 0; i < 3; i++)
            harness_compare(h, "tangent", 4 * v + i, got[i], sum_u[i] / length, bound);
        if (fabs(side) > rounding * size[1])
            harness_compare(h, "handedness", v, got[3], side < 0.0 ? -1.0 : 1.0, 0.0);
    }
}

static void check(harness *h, int64_t n, int64_t columns, double scale, int flat, int shift)
{
    mesh m;
    texture t;
    modal_error err = {0};
    harness_case(h, "n %lld, %lld columns, scale %g, flat %d, shift %d", (long long)n,
                 (long long)columns, scale, flat, shift);
    mesh_new(&m, h, n);
    texture_new(&t, h, &m);
    float *x = mesh_positions(&m, h, columns, scale);
    float *normals = harness_alloc(3 * columns * n, sizeof *normals);
    for (int64_t i = 0; flat && i < 3 * columns * n; i++)
        x[i] = i / 3 % n % 2 ? 0.1f : 0.7f;
    for (int64_t i = 0; i < columns * n; i++) { /* any unit vectors will do; some are zero */
        double a[3], length = 0.0;
        for (int j = 0; j < 3; j++) a[j] = harness_random(h) + (j == 2 ? 2.0 : 0.0);
        for (int j = 0; j < 3; j++) length += a[j] * a[j];
        for (int j = 0; j < 3; j++)
            normals[3 * i + j] = i % 50 == 3 ? 0.0f : (float)(a[j] / sqrt(length));
    }
    harness_output *out[2], *alone = NULL;
    modal_tangents_dynamic_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .corner_offsets = harness_input(h, m.offsets, (n + 1) * 8, shift * 8),
        .corners = harness_input(h, m.corners, m.offsets[n] * 8, shift * 8),
        .weights = harness_input(h, t.weights, m.offsets[n] * 16, shift * 4),
        .positions = harness_input(h, x, columns * n * 12, shift * 4),
        .normals = harness_input(h, normals, columns * n * 12, shift * 4)};
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * n * 4, shift, NULL);
        task.tangents = out[i]->device;
        harness_ok(h, h->kernels->tangents_dynamic(&task, h->stream, &err), &err);
    }
    if (n < 1000 && columns > 1) {
        const float *positions = task.positions, *all_normals = task.normals;
        alone = harness_new_output(h, columns * n * 4, 0, NULL);
        task.n_columns = 1;
        for (int64_t c = 0; c < columns; c++) {
            task.positions = positions + 3 * c * n;
            task.normals = all_normals + 3 * c * n;
            task.tangents = alone->device + 4 * c * n;
            harness_ok(h, h->kernels->tangents_dynamic(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    if (alone) harness_same(h, "columns alone", out[0], alone);
    for (int64_t c = 0; c < columns; c++)
        compare(h, &m, &t, x + 3 * c * n, normals + 3 * c * n, out[0]->host + 4 * c * n);
    free(normals);
    free(x);
    texture_free(&t);
    mesh_free(&m);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 4, 7};
    static const double scales[] = {1.0, 1e-12, 1e12};
    const int64_t limit = h->quick ? 10000 : 500000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int kind = 0; kind < 4; kind++)
                if (sizes[i] * columns[k] <= limit)
                    check(h, sizes[i], columns[k], kind < 3 ? scales[kind] : 1.0, kind == 3,
                          (int)(i + k) % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "tangents_dynamic", run); }
