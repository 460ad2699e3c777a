/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/connect.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"

enum { POLYGON = 9 }; /* corners of a triangle that a cube has cut */

/* ---- neighbours ---- */

static modal_status find_neighbours(const modal_sheets *s, const modal_progress *progress, modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    int stopped = 0;
    MODAL_TRY(modal_alloc_zero(&o->neighbours, o->n_samples, sizeof *o->neighbours, "neighbours", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 4096)
    for (int64_t i = 0; i < o->n_samples; i++) {
        int64_t c[3], there[3];
        int d[3], stop;
#pragma omp atomic read
        stop = stopped;
        if (stop) continue;
        if (omp_get_thread_num() == 0 && i % 4096 == 0 && modal_progress_report(progress, "neighbours", (double)i / (double)o->n_samples, NULL) != MODAL_OK) {
#pragma omp atomic write
            stopped = 1;
        }
        modal_sheets_near near = {.sheets = s, .sample = i};
        for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze((uint64_t)o->keys[i] >> k);
        for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
            modal_octree_offset(bit, d);
            for (int k = 0; k < 3; k++) there[k] = c[k] + d[k];
            const int64_t j = modal_sheets_sample(s, there);
            if (j < 0 || (o->triangles[i] != o->triangles[j] && !modal_sheets_is_near(&near, s->homes[j]))) continue;
            __atomic_fetch_or(&o->neighbours[i], 1 << bit, __ATOMIC_RELAXED);
            __atomic_fetch_or(&o->neighbours[j], 1 << (MODAL_OCTREE_AROUND - 1 - bit), __ATOMIC_RELAXED);
        }
    }
    if (stopped) MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "neighbours: interrupted");
done:
    return status;
}

/* ---- areas ---- */

/* What the cube [0, 1]^3 leaves of a convex polygon, which gets at most one corner more at each plane; returns its corners. A polygon in an
 * upper face belongs to the next cube, which has it in a lower one. */
static int clip(double a[POLYGON][3], int n)
{
    for (int plane = 0; plane < 6 && n > 0; plane++) {
        const int k = plane / 2, upper = plane % 2;
        double b[POLYGON + 1][3];
        int m = 0, below = 0;
        for (int i = 0; i < n && m < POLYGON; i++) {
            const double *x = a[i], *y = a[(i + 1) % n], dx = upper ? 1 - x[k] : x[k], dy = upper ? 1 - y[k] : y[k];
            below += dx > 0;
            if (dx >= 0) memcpy(b[m++], x, sizeof b[0]);
            if (!((dx > 0 && dy < 0) || (dx < 0 && dy > 0))) continue;
            for (int j = 0; j < 3; j++) b[m][j] = x[j] + dx / (dx - dy) * (y[j] - x[j]);
            m++;
        }
        if (upper && !below) return 0;
        n = m < POLYGON ? m : POLYGON;
        memcpy(a, b, (size_t)n * sizeof a[0]);
    }
    return n;
}

/* Adds the area of a triangle of a cell's polygon, by the middles of its edges. */
static void add_area(const double *p, const double *q, const double *r, double unit, const int64_t samples[8], double shares[8])
{
    const double *corner[3] = {p, q, r};
    double u[3], v[3], n[3], weights[8], x[3];
    for (int k = 0; k < 3; k++) u[k] = q[k] - p[k], v[k] = r[k] - p[k];
    for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    const double third = unit * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 6;
    for (int e = 0; e < 3; e++) {
        for (int k = 0; k < 3; k++) x[k] = 0.5 * (corner[e][k] + corner[(e + 1) % 3][k]);
        modal_sheets_weights(samples, x, weights);
        for (int k = 0; k < 8; k++) shares[k] += third * weights[k];
    }
}

/* shares [8] m^2 of the corners of one cell, of all triangles in it. */
static void share_cell(const modal_sheets *s, int64_t cell, double shares[8])
{
    const double unit = 1 / (s->frame.scale * s->frame.scale);
    const int64_t key = s->octree->keys[s->cell_samples[cell]];
    int64_t samples[8];
    int32_t piece = -1;
    for (int64_t e = s->first[cell]; e < s->first[cell + 1]; e++) {
        double p[9], polygon[POLYGON][3];
        modal_octree_corners(&s->frame, s->triangles + 3 * (int64_t)s->entries[e], p);
        for (int i = 0; i < 9; i++) polygon[i / 3][i % 3] = p[i] - (double)modal_morton_squeeze((uint64_t)key >> i % 3);
        const int n = clip(polygon, 3);
        if (n < 3) continue;
        if (piece != s->pieces[e]) modal_sheets_corners(s, piece = s->pieces[e], samples);
        for (int i = 2; i < n; i++) add_area(polygon[0], polygon[i - 1], polygon[i], unit, samples, shares);
    }
}

static modal_status find_areas(const modal_sheets *s, modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    double(*shares)[8] = NULL;
    MODAL_TRY(modal_alloc_zero(&shares, s->n_cells, sizeof *shares, "areas", err));
    MODAL_TRY(modal_alloc(&o->areas, o->n_samples, sizeof *o->areas, "areas", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 1024)
    for (int64_t i = 0; i < s->n_cells; i++) share_cell(s, i, shares[i]);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) { /* of the eight cells around it, in their order */
        double sum = 0;
        for (int k = 0; k < 8; k++) {
            int64_t c[3];
            for (int j = 0; j < 3; j++) c[j] = modal_morton_squeeze((uint64_t)o->keys[i] >> j) - (k >> j & 1);
            const int64_t lower = modal_sheets_sample(s, c);
            if (lower >= 0 && s->cell_of[lower] >= 0) sum += shares[s->cell_of[lower]][k];
        }
        o->areas[i] = (float)sum;
    }
done:
    modal_free(&shares);
    return status;
}

modal_status modal_octree_connect(const modal_sheets *s, const modal_progress *progress, modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_free(&o->areas);
    modal_free(&o->neighbours);
    MODAL_TRY(find_neighbours(s, progress, o, err));
    MODAL_TRY(find_areas(s, o, err));
done:
    if (status != MODAL_OK) {
        modal_free(&o->areas);
        modal_free(&o->neighbours);
    }
    return status;
}
