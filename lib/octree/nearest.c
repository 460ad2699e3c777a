/* SPDX-License-Identifier: Apache-2.0 */
/* A sample is a corner of a cell that the surface meets, so the nearest triangle is within its diagonal, and every triangle offers itself to
 * the samples that near. */
#include "lib/octree/nearest.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/octree_lookup/octree_lookup.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"
#include "kernels/octree_build/octree_overlap.h"

/* The point of the segment from a + along [0, 1] ab that is nearest to the origin seen from a at x. */
static double on_edge(double along, double length) { return length > 0 ? fmin(1.0, fmax(0.0, along / length)) : 0.0; }

double modal_octree_closest(const double p[9], const double x[3], double weights[2])
{
    double ab[3], ac[3], ax[3], left[3];
    for (int k = 0; k < 3; k++) ab[k] = p[3 + k] - p[k], ac[k] = p[6 + k] - p[k], ax[k] = x[k] - p[k];
    const double bb = modal_dot(ab, ab), bc = modal_dot(ab, ac), cc = modal_dot(ac, ac), xb = modal_dot(ax, ab), xc = modal_dot(ax, ac);
    const double det = bb * cc - bc * bc;
    double b = det > 0 ? (cc * xb - bc * xc) / det : -1, c = det > 0 ? (bb * xc - bc * xb) / det : -1;
    if (!(b >= 0 && c >= 0 && b + c <= 1)) { /* the nearest of the three edges */
        const double s = on_edge(xb, bb), t = on_edge(xc, cc), u = on_edge(xc - xb + bb - bc, bb - 2 * bc + cc);
        const double of_s = bb * s * s - 2 * xb * s, of_t = cc * t * t - 2 * xc * t;
        const double of_u = (1 - u) * (1 - u) * bb + 2 * u * (1 - u) * bc + u * u * cc - 2 * ((1 - u) * xb + u * xc);
        b = of_s <= of_t && of_s <= of_u ? s : of_t <= of_u ? 0 : 1 - u;
        c = of_s <= of_t && of_s <= of_u ? 0 : of_t <= of_u ? t : u;
    }
    for (int k = 0; k < 3; k++) left[k] = ax[k] - b * ab[k] - c * ac[k];
    weights[0] = b;
    weights[1] = c;
    return modal_dot(left, left);
}

/* A triangle among the samples; best [n_samples]: the square of the distance as a float, which keeps its order as bits, and below
 * it the triangle. */
typedef struct offer {
    const modal_bricks *samples;
    uint64_t *best, last_key;
    int64_t last;
    double p[9];
    uint32_t triangle;
} offer;

static void offer_point(offer *o, const uint32_t c[3])
{
    const uint64_t key = modal_morton(c[0] >> 2, c[1] >> 2, c[2] >> 2);
    if (key != o->last_key) {
        o->last_key = key;
        o->last = modal_bricks_find(o->samples, key);
    }
    const int64_t sample = o->last < 0 ? -1 : modal_bricks_point(o->samples, o->last, modal_octree_place(c[0], c[1], c[2], 0));
    if (sample < 0) return;
    const double x[3] = {c[0], c[1], c[2]};
    double weights[2];
    const float square = (float)modal_octree_closest(o->p, x, weights);
    uint32_t bits;
    memcpy(&bits, &square, sizeof bits);
    const uint64_t mine = (uint64_t)bits << 32 | o->triangle;
    uint64_t there = __atomic_load_n(&o->best[sample], __ATOMIC_RELAXED); /* the least of all, in whatever order they come */
    while (mine < there && !__atomic_compare_exchange_n(&o->best[sample], &there, mine, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void offer_run(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last)
{
    uint32_t c[3];
    if (u < 0 || v < 0) return;
    c[(axis + 1) % 3] = (uint32_t)u;
    c[(axis + 2) % 3] = (uint32_t)v;
    for (int64_t w = first < 0 ? 0 : first; w <= last; w++) {
        c[axis] = (uint32_t)w;
        offer_point(context, c);
    }
}

modal_status modal_octree_nearest(const modal_octree_frame *frame, const int32_t *triangles, double margin, const modal_bricks *samples,
                                  const modal_progress *progress, modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double reach = sqrt(3.0) * (1 + margin) + 1e-6;
    uint64_t *best = NULL;
    int stopped = 0;
    MODAL_TRY(modal_alloc(&best, o->n_samples, sizeof *best, "samples", err));
    MODAL_TRY(modal_alloc(&o->triangles, o->n_samples, sizeof *o->triangles, "samples", err));
    MODAL_TRY(modal_alloc(&o->barycentric, 2 * o->n_samples, sizeof *o->barycentric, "samples", err));
    memset(best, -1, (size_t)o->n_samples * sizeof *best);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t t = 0; t < o->n_triangles; t++) {
        offer mine = {.samples = samples, .best = best, .last_key = UINT64_MAX, .last = -1, .triangle = (uint32_t)t};
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (stop) continue;
        if (omp_get_thread_num() == 0 && t % 256 == 0 &&
            modal_progress_report(progress, "nearest", (double)t / (double)o->n_triangles, NULL) != MODAL_OK) {
#pragma omp atomic write
            stopped = 1;
        }
        modal_octree_corners(frame, triangles + 3 * t, mine.p);
        modal_overlap_runs(mine.p, -reach, reach, offer_run, &mine);
    }
    if (stopped) MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "nearest: interrupted");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int32_t t = (int32_t)(best[i] & UINT32_MAX);
        double p[9], weights[2], x[3];
        for (int k = 0; k < 3; k++) x[k] = modal_morton_squeeze((uint64_t)o->keys[i] >> k);
        modal_octree_corners(frame, triangles + 3 * (int64_t)t, p);
        modal_octree_closest(p, x, weights);
        o->triangles[i] = t;
        for (int k = 0; k < 2; k++) o->barycentric[2 * i + k] = (float)weights[k];
    }
done:
    modal_free(&best);
    return status;
}
