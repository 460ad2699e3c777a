/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/ring_mesh.h"

#include <math.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "lib/base/memory.h"
#include "lib/mesh/order.h"

static double random_of(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

static void place_vertices(ring_shape shape, int64_t width, double aside, uint64_t *state, double *x)
{
    const int64_t cells = shape == RING_TORUS ? width : width - 1;
    for (int64_t v = 0; v < width * width; v++) {
        const int64_t i = v / width, j = v % width;
        const int inside = shape == RING_IRREGULAR && i > 0 && j > 0 && i < width - 1 && j < width - 1;
        const double a = (double)i + (inside ? aside * random_of(state) : 0.0);
        const double b = (double)j + (inside ? aside * random_of(state) : 0.0);
        if (shape == RING_TORUS) {
            const double u = 2.0 * M_PI * a / (double)width, w = 2.0 * M_PI * b / (double)width;
            x[3 * v] = (1.0 + 0.4 * cos(w)) * cos(u), x[3 * v + 1] = (1.0 + 0.4 * cos(w)) * sin(u), x[3 * v + 2] = 0.4 * sin(w);
        } else {
            const double u = 2.0 * a / (double)cells - 1.0, w = 2.0 * b / (double)cells - 1.0;
            x[3 * v] = u, x[3 * v + 1] = w, x[3 * v + 2] = u * u - w * w;
        }
        for (int c = 0; c < 3; c++) x[3 * v + c] = (double)(float)x[3 * v + c];
    }
}

/* The square's rim, once around, and its middle. */
static int64_t make_fan(int64_t width, int64_t corner, int32_t *t)
{
    const int64_t steps[4] = {width, 1, -width, -1}, side = RING_FAN_SIDE;
    const int64_t middle = (corner + side / 2) * width + corner + side / 2;
    int64_t at = corner * width + corner, m = 0;
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < side; i++, at += steps[k], m++)
            t[3 * m] = (int32_t)middle, t[3 * m + 1] = (int32_t)at, t[3 * m + 2] = (int32_t)(at + steps[k]);
    return m;
}

static int64_t join(ring_shape shape, int64_t width, uint64_t *state, int32_t *t)
{
    const int64_t cells = shape == RING_TORUS ? width : width - 1, corner = (width - RING_FAN_SIDE) / 2;
    int64_t m = 0;
    for (int64_t i = 0; i < cells; i++)
        for (int64_t j = 0; j < cells; j++) {
            const int64_t k = (i + 1) % width, l = (j + 1) % width;
            const int64_t p = i * width + j, q = k * width + j, r = k * width + l, s = i * width + l;
            const int64_t two[2][6] = {{p, q, r, p, r, s}, {p, q, s, q, r, s}};
            const int which = shape == RING_IRREGULAR && random_of(state) > 0.0;
            if (shape == RING_FAN && i >= corner && j >= corner && i < corner + RING_FAN_SIDE && j < corner + RING_FAN_SIDE)
                continue;
            for (int c = 0; c < 6; c++) t[3 * m + c] = (int32_t)two[which][c];
            m += 2;
        }
    if (shape == RING_FAN) m += make_fan(width, corner, t + 3 * m);
    return m;
}

static void shuffle(int64_t n, int width, int32_t *items)
{
    uint64_t state = 7;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t k = (int64_t)((random_of(&state) + 1.0) / 2.0 * (double)(i + 1));
        for (int c = 0; c < width; c++) {
            const int32_t kept = items[width * i + c];
            items[width * i + c] = items[width * k + c], items[width * k + c] = kept;
        }
    }
}

/* Vertices in the order of the tools, or at random. x: in the order of the grid. */
static modal_status put_in_order(ring_mesh *m, const double *x, int shuffled, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *from = NULL, *to = NULL;
    const int64_t n = m->n_vertices;
    MODAL_TRY(modal_alloc(&from, n, sizeof *from, "order", err));
    MODAL_TRY(modal_alloc(&to, n, sizeof *to, "order", err));
    MODAL_TRY(modal_order_vertices(n, x, m->n_triangles, m->triangles, from, err));
    if (shuffled) shuffle(n, 1, from);
    if (shuffled) shuffle(m->n_triangles, 3, m->triangles);
    for (int64_t v = 0; v < n; v++) {
        to[from[v]] = (int32_t)v;
        for (int c = 0; c < 3; c++) m->positions[3 * v + c] = x[3 * (int64_t)from[v] + c];
    }
    for (int64_t k = 0; k < 3 * m->n_triangles; k++) m->triangles[k] = to[m->triangles[k]];
done:
    modal_free(&from);
    modal_free(&to);
    return status;
}

static modal_status make_tables(ring_mesh *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = m->n_vertices, n_tiles = (n + 31) / 32, corners = 3 * m->n_triangles;
    int64_t *next = NULL;
    MODAL_TRY(modal_alloc_zero(&m->offsets, n + 1, sizeof *m->offsets, "faces", err));
    MODAL_TRY(modal_alloc(&next, n + 1, sizeof *next, "faces", err));
    MODAL_TRY(modal_alloc(&m->faces, corners, sizeof *m->faces, "faces", err));
    MODAL_TRY(modal_alloc(&m->corners, 2 * corners, sizeof *m->corners, "corners", err));
    MODAL_TRY(modal_alloc(&m->ring_offsets, n_tiles + 1, sizeof *m->ring_offsets, "ring", err));
    for (int64_t k = 0; k < corners; k++) m->offsets[m->triangles[k] + 1]++;
    for (int64_t v = 0; v < n; v++) m->offsets[v + 1] += m->offsets[v];
    for (int64_t v = 0; v <= n; v++) next[v] = m->offsets[v];
    for (int64_t k = 0; k < corners; k++) m->faces[next[m->triangles[k]]++] = (int32_t)(k / 3);
    MODAL_TRY(modal_normals_corners(n, m->n_triangles, m->triangles, m->offsets, m->faces, m->corners, err));
    modal_normals_ring_offsets(n, m->offsets, m->corners, m->ring_offsets);
    m->n_rows = m->ring_offsets[n_tiles];
    MODAL_TRY(modal_alloc(&m->ring, 32 * m->n_rows, sizeof *m->ring, "ring", err));
    modal_normals_ring(n, m->offsets, m->corners, m->ring_offsets, m->ring);
done:
    modal_free(&next);
    return status;
}

modal_status ring_mesh_new(ring_mesh **mesh, ring_shape shape, int64_t width, double aside, int shuffled, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *x = NULL;
    uint64_t state = 5;
    const int64_t n = width * width;
    *mesh = NULL;
    MODAL_TRY(modal_alloc_zero(mesh, 1, sizeof **mesh, "mesh", err));
    ring_mesh *m = *mesh;
    m->n_vertices = n;
    m->scale = (float)exp2(floor(log2((double)width / 3.0)));
    MODAL_TRY(modal_alloc(&x, 3 * n, sizeof *x, "mesh", err));
    MODAL_TRY(modal_alloc(&m->positions, 3 * n, sizeof *m->positions, "mesh", err));
    MODAL_TRY(modal_alloc(&m->triangles, 6 * n, sizeof *m->triangles, "mesh", err));
    place_vertices(shape, width, aside, &state, x);
    m->n_triangles = join(shape, width, &state, m->triangles);
    MODAL_TRY(put_in_order(m, x, shuffled, err));
    MODAL_TRY(make_tables(m, err));
done:
    modal_free(&x);
    if (status != MODAL_OK) *mesh = ring_mesh_delete(*mesh);
    return status;
}

ring_mesh *ring_mesh_delete(ring_mesh *m)
{
    if (!m) return NULL;
    void *all[] = {&m->positions, &m->triangles, &m->offsets, &m->faces, &m->corners, &m->ring_offsets, &m->ring};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_free(all[i]);
    modal_free(&m);
    return NULL;
}
