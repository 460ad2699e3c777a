/* SPDX-License-Identifier: Apache-2.0 */
/* Which boxes of a lattice a triangle meets, exactly: no axis separates them (S. Gottschalk, M. Lin, D. Manocha, OBBTree, 1996;
 * T. Akenine-Möller, Fast 3D triangle-box overlap testing, 2001). Along a row the boxes that are met follow each other, since
 * both are convex, so each of the thirteen axes bounds a run. */
#ifndef MODAL_OCTREE_OVERLAP_H
#define MODAL_OCTREE_OVERLAP_H

#include <math.h>
#include <stdint.h>

/* Boxes c + [low, high]^3 of c along `axis`, from first to last; u and v are c's coordinates along the next two axes. */
typedef void modal_run_function(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last);

/* Narrows [*low, *high] of x to from <= slope x <= to. */
static inline void modal_overlap_narrow(double slope, double from, double to, double *low, double *high)
{
    if (slope == 0.0) {
        if (!(from <= 0.0 && to >= 0.0)) *high = -INFINITY;
        return;
    }
    const double a = (slope > 0 ? from : to) / slope, b = (slope > 0 ? to : from) / slope;
    if (a > *low) *low = a;
    if (b < *high) *high = b;
}

/* The triangle p [3, 3], in lattice units. Returns 0, and calls nothing, where it has no area. */
static inline int modal_overlap_runs(const double p[9], double low, double high, modal_run_function *run, void *context)
{
    const double h = 0.5 * (high - low), middle = 0.5 * (high + low);
    double edge[3][3], normal[3], q[3][3];
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) {
            edge[j][k] = p[3 * ((j + 1) % 3) + k] - p[3 * j + k];
            q[j][k] = p[3 * j + k] - p[k];
        }
    for (int k = 0; k < 3; k++) normal[k] = edge[0][(k + 1) % 3] * q[2][(k + 2) % 3] - edge[0][(k + 2) % 3] * q[2][(k + 1) % 3];
    int w = 0; /* rows go along the axis that is steepest to the triangle */
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[w])) w = k;
    if (!(fabs(normal[w]) > 0)) return 0;
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    double least[3], most[3]; /* of the corners; m, the middle of a box, is seen from the first corner */
    for (int k = 0; k < 3; k++) {
        least[k] = fmin(0, fmin(q[1][k], q[2][k])) - h;
        most[k] = fmax(0, fmax(q[1][k], q[2][k])) + h;
    }
    const double reach = h * (fabs(normal[0]) + fabs(normal[1]) + fabs(normal[2]));
    const double base[3] = {p[0] - middle, p[1] - middle, p[2] - middle}; /* c = base + m */
    for (int64_t cu = (int64_t)ceil(base[u] + least[u]); cu <= (int64_t)floor(base[u] + most[u]); cu++) {
        const double mu = (double)cu - base[u];
        double from = least[v], to = most[v];
        for (int j = 0; j < 3; j++) { /* edge x w */
            const double *e = edge[j], *a = q[j], *b = q[(j + 2) % 3];
            const double r = h * (fabs(e[u]) + fabs(e[v])), ca = e[v] * a[u] - e[u] * a[v], cb = e[v] * b[u] - e[u] * b[v];
            modal_overlap_narrow(e[u], -r - fmax(ca, cb) + e[v] * mu, r - fmin(ca, cb) + e[v] * mu, &from, &to);
        }
        if (!(from <= to)) continue;
        for (int64_t cv = (int64_t)ceil(base[v] + from); cv <= (int64_t)floor(base[v] + to); cv++) {
            const double mv = (double)cv - base[v], plane = -normal[u] * mu - normal[v] * mv;
            double begin = least[w], end = most[w];
            modal_overlap_narrow(normal[w], plane - reach, plane + reach, &begin, &end);
            for (int j = 0; j < 3; j++) {
                const double *e = edge[j], *a = q[j], *b = q[(j + 2) % 3];
                double r = h * (fabs(e[w]) + fabs(e[v])), ca = e[w] * a[v] - e[v] * a[w], cb = e[w] * b[v] - e[v] * b[w]; /* edge x u */
                modal_overlap_narrow(e[v], -r - fmax(ca, cb) + e[w] * mv, r - fmin(ca, cb) + e[w] * mv, &begin, &end);
                r = h * (fabs(e[w]) + fabs(e[u])), ca = e[u] * a[w] - e[w] * a[u], cb = e[u] * b[w] - e[w] * b[u]; /* edge x v */
                modal_overlap_narrow(e[u], fmin(ca, cb) + e[w] * mu - r, fmax(ca, cb) + e[w] * mu + r, &begin, &end);
            }
            if (!(begin <= end)) continue;
            const int64_t first = (int64_t)ceil(base[w] + begin), last = (int64_t)floor(base[w] + end);
            if (first <= last) run(context, w, cu, cv, first, last);
        }
    }
    return 1;
}

#endif
