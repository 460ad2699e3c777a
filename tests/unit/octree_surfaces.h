/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces and octrees around them, for the tests of neighbours and flow. */
#ifndef TESTS_UNIT_OCTREE_SURFACES_H
#define TESTS_UNIT_OCTREE_SURFACES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/octree/build.h"
#include "lib/octree/connect.h"

typedef struct surface {
    int64_t n_vertices, n_triangles;
    double *positions;
    int32_t *triangles;
} surface;

static inline surface room(int64_t n_vertices, int64_t n_triangles)
{
    const surface s = {n_vertices, n_triangles, malloc(24 * (size_t)n_vertices), malloc(12 * (size_t)n_triangles)};
    assert_true(s.positions && s.triangles);
    return s;
}

static inline void drop(surface *s)
{
    free(s->positions);
    free(s->triangles);
}

/* A grid of n by m quads of points at(u, v), u and v from 0 to 1; closed along u and v where said. */
static inline surface grid(int n, int m, int closes_u, int closes_v, void (*at)(double u, double v, double x[3]))
{
    const int rows = n + !closes_u, columns = m + !closes_v;
    surface s = room((int64_t)rows * columns, (int64_t)2 * n * m);
    for (int i = 0; i < rows * columns; i++) at((double)(i / columns) / n, (double)(i % columns) / m, s.positions + 3 * i);
    for (int i = 0; i < n * m; i++) {
        const int u = i / m, v = i % m, u1 = (u + 1) % rows, v1 = (v + 1) % columns;
        const int32_t a = u * columns + v, b = u1 * columns + v, c = u1 * columns + v1, d = u * columns + v1, quad[6] = {a, b, c, a, c, d};
        memcpy(s.triangles + 6 * i, quad, sizeof quad);
    }
    return s;
}

static inline void torus_at(double u, double v, double x[3])
{
    const double r = 1 + 0.4 * cos(2 * M_PI * v);
    x[0] = 10 + r * cos(2 * M_PI * u), x[1] = -3 + r * sin(2 * M_PI * u), x[2] = 0.4 * sin(2 * M_PI * v) + 0.3 * r * cos(2 * M_PI * u);
}

/* An octree with neighbours and areas around a surface. */
static inline modal_octree connected(const surface *s, int64_t resolution)
{
    modal_octree o;
    modal_sheets sheets;
    modal_error err = {0};
    int64_t n_flat;
    const modal_octree_request r = {.n_vertices = s->n_vertices, .n_triangles = s->n_triangles, .positions = s->positions, .triangles = s->triangles,
                                    .side = 2, .resolution = resolution, .channels = MODAL_OCTREE_FLOAT};
    modal_status status = modal_octree_build(&r, &o, &n_flat, &err);
    if (status == MODAL_OK) status = modal_sheets_make(&o, s->positions, s->n_vertices, s->triangles, s->n_triangles, &sheets, &err);
    if (status == MODAL_OK) status = modal_octree_connect(&sheets, NULL, &o, &err);
    if (status != MODAL_OK) fail_msg("%s", err.message);
    modal_sheets_free(&sheets);
    return o;
}

#endif
