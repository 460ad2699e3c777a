/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/glb_normals.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

/* Adds a x b to `to`. */
static void add_cross(const double a[3], const double b[3], double to[3])
{
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        to[k] += a[l] * b[m] - a[m] * b[l];
    }
}

static void edges_of(const double *x, const uint32_t c[3], double a[3], double b[3])
{
    for (int k = 0; k < 3; k++) {
        a[k] = x[3 * (int64_t)c[1] + k] - x[3 * (int64_t)c[0] + k];
        b[k] = x[3 * (int64_t)c[2] + k] - x[3 * (int64_t)c[0] + k];
    }
}

static void add_to_corners(double *sums, const uint32_t c[3], const double value[3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) sums[3 * (int64_t)c[i] + k] += value[k];
}

modal_status modal_glb_normals_init(modal_glb_normals *g, int64_t n_vertices, int64_t n_triangles, const uint32_t *corners,
                                    const double *rest, modal_error *err)
{
    modal_status status = MODAL_OK;
    *g = (modal_glb_normals){.n_vertices = n_vertices, .n_triangles = n_triangles, .corners = corners, .rest = rest};
    MODAL_TRY(modal_alloc_zero(&g->normals, 3 * n_vertices, sizeof *g->normals, "normals", err));
    MODAL_TRY(modal_alloc(&g->scale, n_vertices, sizeof *g->scale, "normals", err));
    MODAL_TRY(modal_alloc(&g->change, 3 * n_vertices, sizeof *g->change, "normals", err));
    MODAL_TRY(modal_alloc(&g->work, 3 * n_vertices, sizeof *g->work, "normals", err));
    for (int64_t t = 0; t < n_triangles; t++) {
        double a[3], b[3], n[3] = {0, 0, 0};
        edges_of(rest, corners + 3 * t, a, b);
        add_cross(a, b, n);
        add_to_corners(g->normals, corners + 3 * t, n);
    }
done:
    if (status != MODAL_OK) modal_glb_normals_free(g);
    return status;
}

void modal_glb_normals_free(modal_glb_normals *g)
{
    modal_free(&g->normals);
    modal_free(&g->scale);
    modal_free(&g->change);
    modal_free(&g->work);
}

/* g->change = G(g->work). */
static void differentiate(modal_glb_normals *g)
{
    double *sums = g->change;
    const double *d = g->work;
    memset(sums, 0, (size_t)(3 * g->n_vertices) * sizeof *sums);
    for (int64_t t = 0; t < g->n_triangles; t++) {
        const uint32_t *c = g->corners + 3 * t;
        double a[3], b[3], da[3], db[3], n[3] = {0, 0, 0};
        edges_of(g->rest, c, a, b);
        edges_of(d, c, da, db);
        add_cross(da, b, n);
        add_cross(a, db, n);
        add_to_corners(sums, c, n);
    }
    for (int64_t v = 0; v < g->n_vertices; v++) {
        const double *n = g->normals + 3 * v;
        double *dn = sums + 3 * v;
        const double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], length = sqrt(square);
        const double along = (n[0] * dn[0] + n[1] * dn[1] + n[2] * dn[2]) / square;
        for (int k = 0; k < 3; k++) dn[k] = square > 0 ? (dn[k] - n[k] * along) / length : 0;
    }
}

void modal_glb_normals_base(modal_glb_normals *g, const double *positions, float *to)
{
    for (int64_t i = 0; i < 3 * g->n_vertices; i++) g->work[i] = positions[i] - g->rest[i];
    differentiate(g);
    for (int64_t v = 0; v < g->n_vertices; v++) {
        const double *n = g->normals + 3 * v;
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        double sum[3], square = 0;
        for (int k = 0; k < 3; k++) {
            sum[k] = (length > 0 ? n[k] / length : k == 2) + g->change[3 * v + k];
            square += sum[k] * sum[k];
        }
        g->scale[v] = 1 / sqrt(square); /* G is orthogonal to N, so the length is 1 at least */
        for (int k = 0; k < 3; k++) to[3 * v + k] = (float)(sum[k] * g->scale[v]);
    }
}

void modal_glb_normals_target(modal_glb_normals *g, const float *target, float *to)
{
    for (int64_t i = 0; i < 3 * g->n_vertices; i++) g->work[i] = (double)target[i];
    differentiate(g);
    for (int64_t i = 0; i < 3 * g->n_vertices; i++) to[i] = (float)(g->change[i] * g->scale[i / 3]);
}
