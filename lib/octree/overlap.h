/* SPDX-License-Identifier: Apache-2.0 */
/* Which boxes of a lattice a triangle meets, exactly: no axis separates them (S. Gottschalk, M. Lin, D. Manocha, OBBTree, 1996;
 * T. Akenine-Möller, Fast 3D triangle-box overlap testing, 2001). Along a row the boxes that are met follow each other, since
 * both are convex, so each of the thirteen axes bounds a run. In double, every operation rounded on its own. */
#ifndef MODAL_OCTREE_OVERLAP_H
#define MODAL_OCTREE_OVERLAP_H

#include <math.h>
#include <stdint.h>

/* Boxes c + [low, high]^3 of c along `axis`, from first to last; u and v are c's coordinates along the next two axes. */
typedef void modal_run_function(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last);

/* A triangle. Coordinates are in the order u, v, w: rows go along w, the axis that is steepest to the triangle; u and v are the next two. */
typedef struct modal_overlap {
    int axis; /* w */
    double h; /* half a box */
    double edge[3][3], q[3][3], normal[3]; /* q: corners seen from the first */
    double least[3], most[3], base[3];     /* of a box's middle m, seen from the first corner; its c is base + m */
    double reach;
} modal_overlap;

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

/* The triangle p [3, 3], in lattice units. Returns 0 where it has no area. */
static inline int modal_overlap_start(const double p[9], double low, double high, modal_overlap *o)
{
    const double h = 0.5 * (high - low), middle = 0.5 * (high + low);
    double normal[3];
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        normal[k] = (p[3 + a] - p[a]) * (p[6 + b] - p[b]) - (p[3 + b] - p[b]) * (p[6 + a] - p[a]);
    }
    int w = 0;
    if (fabs(normal[1]) > fabs(normal[0])) w = 1;
    if (fabs(normal[2]) > fabs(w ? normal[1] : normal[0])) w = 2;
    o->axis = w;
    o->h = h;
    o->reach = h * (fabs(normal[0]) + fabs(normal[1]) + fabs(normal[2]));
    for (int i = 0; i < 3; i++) {
        const int k = (w + 1 + i) % 3;
        o->normal[i] = normal[k];
        for (int j = 0; j < 3; j++) {
            o->edge[j][i] = p[3 * ((j + 1) % 3) + k] - p[3 * j + k];
            o->q[j][i] = p[3 * j + k] - p[k];
        }
        o->least[i] = fmin(0.0, fmin(o->q[1][i], o->q[2][i])) - h;
        o->most[i] = fmax(0.0, fmax(o->q[1][i], o->q[2][i])) + h;
        o->base[i] = p[k] - middle;
    }
    return fabs(o->normal[2]) > 0;
}

/* The first and the last u of boxes that may be met. */
static inline void modal_overlap_columns(const modal_overlap *o, int64_t *first, int64_t *last)
{
    *first = (int64_t)ceil(o->base[0] + o->least[0]);
    *last = (int64_t)floor(o->base[0] + o->most[0]);
}

/* The first and the last v of u. */
static inline void modal_overlap_rows(const modal_overlap *o, int64_t u, int64_t *first, int64_t *last)
{
    const double mu = (double)u - o->base[0];
    double from = o->least[1], to = o->most[1];
    for (int j = 0; j < 3; j++) { /* edge x w */
        const double *e = o->edge[j], *a = o->q[j], *b = o->q[(j + 2) % 3];
        const double r = o->h * (fabs(e[0]) + fabs(e[1])), ca = e[1] * a[0] - e[0] * a[1], cb = e[1] * b[0] - e[0] * b[1];
        modal_overlap_narrow(e[0], -r - fmax(ca, cb) + e[1] * mu, r - fmin(ca, cb) + e[1] * mu, &from, &to);
    }
    *first = 0, *last = -1;
    if (!(from <= to)) return;
    *first = (int64_t)ceil(o->base[1] + from);
    *last = (int64_t)floor(o->base[1] + to);
}

/* The first and the last w of the row (u, v). */
static inline void modal_overlap_run(const modal_overlap *o, int64_t u, int64_t v, int64_t *first, int64_t *last)
{
    const double mu = (double)u - o->base[0], mv = (double)v - o->base[1], plane = -o->normal[0] * mu - o->normal[1] * mv;
    double begin = o->least[2], end = o->most[2];
    modal_overlap_narrow(o->normal[2], plane - o->reach, plane + o->reach, &begin, &end);
    for (int j = 0; j < 3; j++) {
        const double *e = o->edge[j], *a = o->q[j], *b = o->q[(j + 2) % 3];
        double r = o->h * (fabs(e[2]) + fabs(e[1])), ca = e[2] * a[1] - e[1] * a[2], cb = e[2] * b[1] - e[1] * b[2]; /* edge x u */
        modal_overlap_narrow(e[1], -r - fmax(ca, cb) + e[2] * mv, r - fmin(ca, cb) + e[2] * mv, &begin, &end);
        r = o->h * (fabs(e[2]) + fabs(e[0])), ca = e[0] * a[2] - e[2] * a[0], cb = e[0] * b[2] - e[2] * b[0]; /* edge x v */
        modal_overlap_narrow(e[0], fmin(ca, cb) + e[2] * mu - r, fmax(ca, cb) + e[2] * mu + r, &begin, &end);
    }
    *first = 0, *last = -1;
    if (!(begin <= end)) return;
    *first = (int64_t)ceil(o->base[2] + begin);
    *last = (int64_t)floor(o->base[2] + end);
}

/* All runs of the triangle p [3, 3]. Returns 0, and calls nothing, where it has no area. */
static inline int modal_overlap_runs(const double p[9], double low, double high, modal_run_function *run, void *context)
{
    modal_overlap o;
    int64_t last_u, last_v, u, v, first, last;
    if (!modal_overlap_start(p, low, high, &o)) return 0;
    for (modal_overlap_columns(&o, &u, &last_u); u <= last_u; u++)
        for (modal_overlap_rows(&o, u, &v, &last_v); v <= last_v; v++) {
            modal_overlap_run(&o, u, v, &first, &last);
            if (first <= last) run(context, o.axis, u, v, first, last);
        }
    return 1;
}

#endif
