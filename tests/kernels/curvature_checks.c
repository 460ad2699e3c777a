/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/curvature_checks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/normals_corner/normals_corner.h"

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Rings of latitude with random steps, and two poles: 2 (rings * width) triangles. */
static void sphere_new(mesh *m, harness *h, int64_t n)
{
    const int64_t width = (int64_t)sqrt((double)n * 1.5) + 3, rings = (n - 2) / width;
    const int64_t used = rings * width + 2;
    *m = (mesh){.n = n};
    m->triangles = harness_alloc(2 * used + 8, 3 * sizeof(int32_t));
    for (int64_t i = 0; i <= rings && rings > 0; i++)
        for (int64_t j = 0; j < width; j++) {
            const int64_t next = (j + 1) % width, south = rings * width, north = south + 1;
            const int64_t a = i > 0 ? (i - 1) * width + j : south, b = i > 0 ? (i - 1) * width + next : south;
            const int64_t c = i < rings ? i * width + j : north, d = i < rings ? i * width + next : north;
            const int flip = harness_random(h) > 0.0;
            const int64_t t[2][2][3] = {{{a, d, b}, {a, c, d}}, {{a, c, b}, {b, c, d}}};
            for (int k = 0; k < 2; k++) {
                const int64_t *f = t[flip][k];
                if (f[0] == f[1] || f[1] == f[2] || f[0] == f[2]) continue;
                int32_t *to = m->triangles + 3 * m->n_triangles++;
                for (int l = 0; l < 3; l++) to[l] = (int32_t)f[l];
            }
        }
    mesh_finish(m, h);
}

static void sphere_positions(const mesh *m, harness *h, int64_t columns, double size, float *x)
{
    const int64_t width = (int64_t)sqrt((double)m->n * 1.5) + 3, rings = (m->n - 2) / width;
    for (int64_t c = 0; c < columns; c++)
        for (int64_t v = 0; v < m->n; v++) {
            double theta = M_PI * ((double)(v / width) + 1.0 + 0.25 * harness_random(h)) / (double)(rings + 1);
            const double phi = 2.0 * M_PI * ((double)(v % width) + 0.25 * harness_random(h)) / (double)width;
            if (v == rings * width) theta = 0.0;
            if (v > rings * width) theta = M_PI;
            float *p = x + 3 * (c * m->n + v);
            p[0] = (float)(size * sin(theta) * cos(phi)), p[1] = (float)(size * sin(theta) * sin(phi));
            p[2] = (float)(size * cos(theta));
        }
}

void surface_new(surface_case *s, harness *h, surface_kind kind, int64_t n, int64_t columns, double size, int shift)
{
    *s = (surface_case){.columns = columns, .shift = shift};
    if (kind == SPHERE)
        sphere_new(&s->m, h, n);
    else
        mesh_new(&s->m, h, n);
    const mesh *m = &s->m;
    if (kind == SPHERE) {
        s->x = harness_alloc(3 * columns * n, sizeof *s->x);
        sphere_positions(m, h, columns, size, s->x);
    } else {
        s->x = mesh_positions(m, h, columns, size);
    }
    for (int64_t i = 0; kind == FLAT && i < 3 * columns * n; i++) s->x[i] = i / 3 % n % 2 ? 0.1f : 0.7f;
    s->scale = (float)exp2(floor(-log2(kind == SPHERE ? size * 3.0 / sqrt((double)n + 1.0) : size)));
    s->normals = harness_alloc(3 * columns * n, sizeof *s->normals);
    s->dx = harness_alloc(3 * n, sizeof *s->dx);
    s->dn = harness_alloc(3 * n, sizeof *s->dn);
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t i = 0; i < 3 * n; i++) s->dx[i] = (double)s->x[3 * c * n + i];
        modal_normals_corner_exact(n, m->ring_offsets, m->ring, s->dx, s->dn);
        for (int64_t i = 0; i < 3 * n; i++) s->normals[3 * c * n + i] = (float)s->dn[i];
    }
    const int64_t n_tiles = (n + 31) / 32;
    s->task = (modal_curvature_surface){
        .n_vertices = n,
        .n_columns = columns,
        .scale = s->scale,
        .ring_offsets = harness_input(h, m->ring_offsets, (n_tiles + 1) * 8, shift * 8),
        .ring = harness_input(h, m->ring, m->ring_offsets[n_tiles] * 128, shift * 4),
        .positions = harness_input(h, s->x, 12 * columns * n, shift * 4),
        .normals = harness_input(h, s->normals, 12 * columns * n, shift * 4)};
}

void surface_column(surface_case *s, int64_t column)
{
    const int64_t count = 3 * s->m.n;
    for (int64_t i = 0; i < count; i++) {
        s->dx[i] = (double)s->x[column * count + i];
        s->dn[i] = (double)s->normals[column * count + i];
    }
}

void surface_free(surface_case *s)
{
    mesh_free(&s->m);
    free(s->x);
    free(s->normals);
    free(s->dx);
    free(s->dn);
}

void surface_bounds(const surface_case *s, double *bounds)
{
    const mesh *m = &s->m;
    memset(bounds, 0, (size_t)m->n * sizeof *bounds);
    for (int64_t t = 0; t < m->n_triangles; t++) {
        const int32_t *v = m->triangles + 3 * t;
        double e[3][3], dn[3][3], squares = 0.0, longest = 0.0, along = 0.0, face[3];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                e[k][i] = s->dx[3 * v[(k + 1) % 3] + i] - s->dx[3 * v[k] + i];
                dn[k][i] = s->dn[3 * v[(k + 1) % 3] + i] - s->dn[3 * v[k] + i];
            }
            squares += dot(e[k], e[k]) / 2.0;
            longest = fmax(longest, sqrt(dot(e[k], e[k])));
        }
        for (int i = 0; i < 3; i++)
            face[i] = e[0][(i + 1) % 3] * e[1][(i + 2) % 3] - e[0][(i + 2) % 3] * e[1][(i + 1) % 3];
        const double doubled = sqrt(dot(face, face)), quality = squares > 0.0 ? doubled / squares : 0.0;
        for (int k = 0; k < 3; k++) along = fmax(along, sqrt(dot(dn[k], dn[k]) / fmax(dot(e[k], e[k]), 1e-300)));
        for (int k = 0; k < 3; k++) {
            const double *n = s->dn + 3 * v[k];
            const double cosine = doubled > 0.0 ? dot(face, n) / doubled : 0.0;
            double bound = FLT_EPSILON / 2 * (along + longest / doubled) / quality / (1.0 + cosine);
            /* along a needle the normals' changes are read across it */
            if (quality > 1e-7 && !(quality > 1e-4 && 1.0 + cosine > 1e-3)) bound = INFINITY;
            if (quality <= 1e-7) bound = 0.0; /* left out */
            bounds[v[k]] = fmax(bounds[v[k]], bound / fmin(quality, 1.0));
        }
    }
}

modal_curvature_output outputs_new(harness *h, curvature_outputs *out, int64_t points, int shift, int with_areas)
{
    *out = (curvature_outputs){
        .tensors = harness_new_output(h, 3 * points, shift, NULL),
        .areas = with_areas ? harness_new_output(h, points, shift, NULL) : NULL,
        .k_max = harness_new_output(h, points, shift, NULL),
        .k_min = harness_new_output(h, points, shift, NULL),
        .mean = harness_new_output(h, points, shift, NULL),
        .gauss = harness_new_output(h, points, shift, NULL),
        .direction_max = harness_new_output(h, 3 * points, shift, NULL),
        .direction_min = harness_new_output(h, 3 * points, shift, NULL)};
    return (modal_curvature_output){.tensors = out->tensors->device,
                                    .areas = with_areas ? out->areas->device : NULL,
                                    .k_max = out->k_max->device,
                                    .k_min = out->k_min->device,
                                    .mean = out->mean->device,
                                    .gauss = out->gauss->device,
                                    .direction_max = out->direction_max->device,
                                    .direction_min = out->direction_min->device};
}

/* A direction is a unit eigenvector of the tensor, in the tangent plane. */
static void compare_direction(harness *h, const char *what, int64_t v, const float *got, const double *normal,
                              const double *tensor, double eigenvalue, double bound)
{
    const double d[3] = {(double)got[0], (double)got[1], (double)got[2]};
    double p[3], q[3];
    if (dot(normal, normal) == 0.0) {
        for (int i = 0; i < 3; i++) harness_compare(h, what, v, got[i], 0.0, 0.0);
        return;
    }
    modal_curvature_frame_exact(normal, p, q);
    const double x = dot(d, p), y = dot(d, q), e = 16.0 * FLT_EPSILON;
    harness_compare(h, "length of direction", v, (float)dot(d, d), 1.0, e);
    harness_compare(h, "direction along the normal", v, (float)dot(d, normal), 0.0, e);
    const double slope = fabs(tensor[0]) + fabs(tensor[1]) + fabs(tensor[2]);
    harness_compare(h, what, v, (float)(tensor[0] * x + tensor[1] * y - eigenvalue * x), 0.0, 4.0 * bound + e * slope);
    harness_compare(h, what, v, (float)(tensor[1] * x + tensor[2] * y - eigenvalue * y), 0.0, 4.0 * bound + e * slope);
}

void outputs_compare(harness *h, const curvature_outputs *out, int64_t n, int64_t column, const double *normals,
                     const double *tensors, const double *bounds)
{
    for (int64_t v = 0; v < n; v++) {
        const double *normal = normals + 3 * v;
        const int there = dot(normal, normal) > 0.0;
        const double zero[3] = {0.0, 0.0, 0.0}, *t = there ? tensors + 3 * v : zero;
        double k[2], direction[3];
        const int64_t at = column * n + v;
        modal_curvature_diagonal_exact(normal, t, k, direction);
        const double largest = fmax(fabs(k[0]), fabs(k[1]));
        /* the outputs' own rounding: of the tensor, of sums of its parts, of their root */
        const double bound = bounds[v] + 8.0 * FLT_EPSILON * largest + FLT_TRUE_MIN;
        if (isinf(bound)) continue;
        for (int i = 0; i < 3; i++) harness_compare(h, "tensor", 3 * at + i, out->tensors->host[3 * at + i], t[i], bound);
        harness_compare(h, "k_max", at, out->k_max->host[at], k[0], 2.0 * bound);
        harness_compare(h, "k_min", at, out->k_min->host[at], k[1], 2.0 * bound);
        harness_compare(h, "mean", at, out->mean->host[at], (k[0] + k[1]) / 2.0, bound);
        harness_compare(h, "gauss", at, out->gauss->host[at], k[0] * k[1], 4.0 * bound * (largest + bound));
        compare_direction(h, "direction_max", at, out->direction_max->host + 3 * at, normal, t, k[0], bound);
        compare_direction(h, "direction_min", at, out->direction_min->host + 3 * at, normal, t, k[1], bound);
    }
}

void outputs_same(harness *h, const curvature_outputs *a, const curvature_outputs *b)
{
    harness_same(h, "tensors", a->tensors, b->tensors);
    if (a->areas) harness_same(h, "areas", a->areas, b->areas);
    harness_same(h, "k_max", a->k_max, b->k_max);
    harness_same(h, "k_min", a->k_min, b->k_min);
    harness_same(h, "mean", a->mean, b->mean);
    harness_same(h, "gauss", a->gauss, b->gauss);
    harness_same(h, "direction_max", a->direction_max, b->direction_max);
    harness_same(h, "direction_min", a->direction_min, b->direction_min);
}

/* ---- curvature_tensor and curvature_ring, which read the same ---- */

static void launch(harness *h, const surface_case *s, int from_ring, const modal_curvature_output *output)
{
    modal_error err = {0};
    const modal_curvature_tensor_task tensor = {s->task, *output};
    const modal_curvature_ring_task ring = {s->task, *output};
    harness_ok(h,
               from_ring ? h->kernels->curvature_ring(&ring, h->stream, &err)
                         : h->kernels->curvature_tensor(&tensor, h->stream, &err),
               &err);
}

static void check(harness *h, surface_kind kind, int from_ring, int64_t n, int64_t columns, double size, int shift)
{
    surface_case s;
    curvature_outputs out[2];
    harness_case(h, "%s, kind %d, n %lld, %lld columns, size %g, shift %d", from_ring ? "ring" : "tensor", kind,
                 (long long)n, (long long)columns, size, shift);
    surface_new(&s, h, kind, n, columns, size, shift);
    for (int i = 0; i < 2; i++) {
        const modal_curvature_output output = outputs_new(h, &out[i], n * columns, shift, !from_ring);
        launch(h, &s, from_ring, &output);
    }
    harness_output *alone = harness_new_output(h, n * columns, 0, NULL); /* one output and no other */
    launch(h, &s, from_ring, &(modal_curvature_output){.gauss = alone->device});
    /* the same of records */
    float *records = harness_alloc(8 * n * columns, sizeof *records);
    for (int64_t i = 0; i < 3 * n * columns; i++) {
        records[8 * (i / 3) + i % 3] = s.x[i];
        records[8 * (i / 3) + 4 + i % 3] = s.normals[i];
    }
    harness_output *gathered = harness_new_output(h, n * columns, 0, NULL);
    surface_case t = s;
    t.task.records = harness_input(h, records, 32 * n * columns, 0);
    launch(h, &t, from_ring, &(modal_curvature_output){.gauss = gathered->device});
    harness_fetch(h);
    harness_same(h, "gauss of records", out[0].gauss, gathered);
    free(records);
    outputs_same(h, &out[0], &out[1]);
    harness_same(h, "gauss alone", out[0].gauss, alone);
    double *tensors = harness_alloc(3 * n, sizeof *tensors), *areas = harness_alloc(n, sizeof *areas);
    double *bounds = harness_alloc(n, sizeof *bounds);
    double worst = 0.0;
    for (int64_t c = 0; c < columns; c++) {
        surface_column(&s, c);
        surface_bounds(&s, bounds);
        if (from_ring)
            modal_curvature_ring_exact(n, s.m.ring_offsets, s.m.ring, s.dx, s.dn, tensors);
        else
            modal_curvature_tensor_exact(n, s.m.ring_offsets, s.m.ring, s.dx, s.dn, tensors, areas);
        for (int64_t v = 0; v < n; v++) bounds[v] *= h->is_reference ? 0.0 : from_ring ? 64.0 : 16.0;
        for (int64_t v = 0; h->is_reference && v < n; v++)
            if (isnan(bounds[v])) bounds[v] = 0.0;
        outputs_compare(h, out, n, c, s.dn, tensors, bounds);
        for (int64_t v = 0; !from_ring && v < n; v++)
            if (isfinite(bounds[v])) /* shares of needles lose digits as their tensors do */
                harness_compare(h, "area", c * n + v, out[0].areas->host[c * n + v], areas[v],
                                areas[v] * (1e-6 + bounds[v] * (h->is_reference ? 0.0 : size)) + FLT_TRUE_MIN);
        for (int64_t v = 0; kind == SPHERE && v < n; v++) {
            double k[2], d[3];
            modal_curvature_diagonal_exact(s.dn + 3 * v, tensors + 3 * v, k, d);
            if (s.dn[3 * v] == 0.0 && s.dn[3 * v + 1] == 0.0 && s.dn[3 * v + 2] == 0.0) continue;
            if (fabs(s.dx[3 * v + 2]) < 0.8 * size) /* triangles get narrow at the poles */
                worst = fmax(worst, fabs((double)out[0].k_max->host[c * n + v] - k[0]) * size);
            harness_compare(h, "curvature of a sphere", v, out[0].k_max->host[c * n + v], 1.0 / size, 2e-3 / size);
            harness_compare(h, "curvature of a sphere", v, out[0].k_min->host[c * n + v], 1.0 / size, 2e-3 / size);
        }
    }
    if (kind == SPHERE) harness_compare(h, "agreement on a sphere", 0, (float)worst, 0.0, 5e-6);
    free(tensors);
    free(areas);
    free(bounds);
    surface_free(&s);
}

void surface_check(harness *h, int from_ring)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 997, 10007};
    static const int64_t columns[] = {0, 1, 2, 5};
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int kind = 0; kind < 4; kind++)
                if (sizes[i] * columns[k] <= (h->quick ? 2000 : 20014))
                    check(h, kind == 3 ? FLAT : HOSTILE, from_ring, sizes[i], columns[k], scales[kind % 3],
                          (int)(i + k) % 2);
    check(h, SPHERE, from_ring, 3002, 2, 1.0, 0);
    check(h, SPHERE, from_ring, 3002, 1, 1e6, 1);
}
