/* SPDX-License-Identifier: Apache-2.0 */
/* A sample is a corner of a cell that the surface meets, so the nearest triangle is within its diagonal, and every triangle offers itself to
 * the samples that near. */
#include "lib/octree/nearest.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/octree_lookup/octree_lookup.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/octree/overlap.h"

/* The point of the segment from a + along [0, 1] ab that is nearest to the origin seen from a at x. */
static double on_edge(double along, double length) { return length > 0 ? fmin(1.0, fmax(0.0, along / length)) : 0.0; }

/* A triangle's edges from its first corner, and their products. */
typedef struct seen {
    double a[3], ab[3], ac[3], bb, bc, cc, det;
} seen;

static void see(seen *s, const double p[9])
{
    for (int k = 0; k < 3; k++) s->a[k] = p[k], s->ab[k] = p[3 + k] - p[k], s->ac[k] = p[6 + k] - p[k];
    s->bb = modal_dot(s->ab, s->ab), s->bc = modal_dot(s->ab, s->ac), s->cc = modal_dot(s->ac, s->ac);
    s->det = s->bb * s->cc - s->bc * s->bc;
}

static inline double closest(const seen *s, const double x[3], double weights[2])
{
    const double bb = s->bb, bc = s->bc, cc = s->cc, det = s->det;
    double ax[3], left[3];
    for (int k = 0; k < 3; k++) ax[k] = x[k] - s->a[k];
    const double xb = modal_dot(ax, s->ab), xc = modal_dot(ax, s->ac);
    double b = det > 0 ? (cc * xb - bc * xc) / det : -1, c = det > 0 ? (bb * xc - bc * xb) / det : -1;
    if (!(b >= 0 && c >= 0 && b + c <= 1)) { /* the nearest of the three edges */
        const double along = on_edge(xb, bb), t = on_edge(xc, cc), u = on_edge(xc - xb + bb - bc, bb - 2 * bc + cc);
        const double of_s = bb * along * along - 2 * xb * along, of_t = cc * t * t - 2 * xc * t;
        const double of_u = (1 - u) * (1 - u) * bb + 2 * u * (1 - u) * bc + u * u * cc - 2 * ((1 - u) * xb + u * xc);
        b = of_s <= of_t && of_s <= of_u ? along : of_t <= of_u ? 0 : 1 - u;
        c = of_s <= of_t && of_s <= of_u ? 0 : of_t <= of_u ? t : u;
    }
    for (int k = 0; k < 3; k++) left[k] = ax[k] - b * s->ab[k] - c * s->ac[k];
    weights[0] = b;
    weights[1] = c;
    return modal_dot(left, left);
}

double modal_octree_closest(const double p[9], const double x[3], double weights[2])
{
    seen s;
    see(&s, p);
    return closest(&s, x, weights);
}

/* A triangle among the samples; best [n_samples]: the square of the distance as a float, which keeps its order as bits, and below
 * it the triangle. */
typedef struct offer {
    const modal_bricks *samples;
    uint64_t *best;
    seen seen;
    uint32_t triangle;
} offer;

static void offer_point(const offer *o, int64_t sample, const double x[3])
{
    double weights[2];
    const float square = (float)closest(&o->seen, x, weights);
    uint32_t bits;
    memcpy(&bits, &square, sizeof bits);
    const uint64_t mine = (uint64_t)bits << 32 | o->triangle;
    uint64_t there = __atomic_load_n(&o->best[sample], __ATOMIC_RELAXED); /* the least of all, in whatever order they come */
    while (mine < there && !__atomic_compare_exchange_n(&o->best[sample], &there, mine, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* Along a run only one digit of keys and places changes. */
static void offer_run(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last)
{
    static const int along[4] = {0, 1, 8, 9};
    const offer *o = context;
    const int second = (axis + 1) % 3, third = (axis + 2) % 3;
    if (u < 0 || v < 0) return;
    const uint64_t others = modal_morton_spread((uint64_t)u >> 2) << second | modal_morton_spread((uint64_t)v >> 2) << third;
    const int place = along[u & 3] << second | along[v & 3] << third;
    double x[3];
    x[second] = (double)u;
    x[third] = (double)v;
    for (int64_t w = first < 0 ? 0 : first; w <= last;) {
        const int64_t brick = modal_bricks_find(o->samples, others | modal_morton_spread((uint64_t)w >> 2) << axis), end = (w | 3) < last ? w | 3 : last;
        for (; brick >= 0 && w <= end; w++) {
            const int64_t sample = modal_bricks_point(o->samples, brick, place | along[w & 3] << axis);
            x[axis] = (double)w;
            if (sample >= 0) offer_point(o, sample, x);
        }
        w = end + 1;
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
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) best[i] = UINT64_MAX;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 256)
    for (int64_t t = 0; t < o->n_triangles; t++) {
        offer mine = {.samples = samples, .best = best, .triangle = (uint32_t)t};
        double p[9];
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (stop) continue;
        if (omp_get_thread_num() == 0 && t % 256 == 0 &&
            modal_progress_report(progress, "nearest", (double)t / (double)o->n_triangles, NULL) != MODAL_OK) {
#pragma omp atomic write
            stopped = 1;
        }
        modal_octree_corners(frame, triangles + 3 * t, p);
        see(&mine.seen, p);
        modal_overlap_runs(p, -reach, reach, offer_run, &mine);
    }
    if (stopped) MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "nearest: interrupted");
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
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
