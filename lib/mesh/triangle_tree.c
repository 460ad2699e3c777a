/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/triangle_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

enum { LEAF = 4, DEEPEST = 64 };

typedef struct entry {
    double key;
    int32_t triangle;
} entry;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double square_at(const double p[3], const double a[3], const double u[3], double s, const double v[3], double t)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = p[k] - a[k] - s * u[k] - t * v[k];
        sum += d * d;
    }
    return sum;
}

double modal_triangle_square(const double point[3], const double corners[9])
{
    const double *a = corners, *b = corners + 3, *c = corners + 6;
    double ab[3], ac[3], bc[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k], ac[k] = c[k] - a[k], bc[k] = c[k] - b[k];
        ap[k] = point[k] - a[k], bp[k] = point[k] - b[k], cp[k] = point[k] - c[k];
    }
    const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d1 <= 0 && d2 <= 0) return dot(ap, ap);
    if (d3 >= 0 && d4 <= d3) return dot(bp, bp);
    if (d6 >= 0 && d5 <= d6) return dot(cp, cp);
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return square_at(point, a, ab, d1 / (d1 - d3), ac, 0);
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return square_at(point, a, ab, 0, ac, d2 / (d2 - d6));
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return square_at(point, b, bc, (d4 - d3) / (d4 - d3 + d5 - d6), ac, 0);
    const double sum = va + vb + vc;
    if (!(sum > 0)) return fmin(dot(ap, ap), fmin(dot(bp, bp), dot(cp, cp)));
    return square_at(point, a, ab, vb / sum, ac, vc / sum);
}

static int compare_entries(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static void box_of(const double *points, const int32_t *triangles, const entry *order, modal_triangle_box *box)
{
    for (int k = 0; k < 3; k++) box->low[k] = INFINITY, box->high[k] = -INFINITY;
    for (int32_t i = 0; i < box->count; i++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                const double x = points[3 * (int64_t)triangles[3 * (int64_t)order[box->first + i].triangle + c] + k];
                box->low[k] = fmin(box->low[k], x);
                box->high[k] = fmax(box->high[k], x);
            }
}

/* Halves boxes along their longest side, at the middle triangle, until few are left in each. */
static void split_boxes(modal_triangle_tree *tree, const double *points, const int32_t *triangles, entry *order)
{
    tree->boxes[0] = (modal_triangle_box){.count = (int32_t)tree->n_triangles};
    tree->n_boxes = 1;
    for (int32_t b = 0; b < tree->n_boxes; b++) {
        modal_triangle_box *box = &tree->boxes[b];
        box_of(points, triangles, order, box);
        if (box->count <= LEAF) continue;
        int axis = 0;
        for (int k = 1; k < 3; k++)
            if (box->high[k] - box->low[k] > box->high[axis] - box->low[axis]) axis = k;
        entry *part = order + box->first;
        for (int32_t i = 0; i < box->count; i++) {
            const int32_t *v = triangles + 3 * (int64_t)part[i].triangle;
            part[i].key = points[3 * (int64_t)v[0] + axis] + points[3 * (int64_t)v[1] + axis] + points[3 * (int64_t)v[2] + axis];
        }
        qsort(part, (size_t)box->count, sizeof *part, compare_entries);
        const int32_t half = box->count / 2;
        tree->boxes[tree->n_boxes] = (modal_triangle_box){.first = box->first, .count = half};
        tree->boxes[tree->n_boxes + 1] = (modal_triangle_box){.first = box->first + half, .count = box->count - half};
        box->first = tree->n_boxes;
        box->count = 0;
        tree->n_boxes += 2;
    }
}

modal_status modal_triangle_tree_new(modal_triangle_tree *tree, const double *points, int64_t n, const int32_t *triangles,
                                     const int32_t *labels, modal_error *err)
{
    modal_status status = MODAL_OK;
    entry *order = NULL;
    *tree = (modal_triangle_tree){0};
    if (n == 0) return MODAL_OK;
    if (n > 1 << 30) return modal_error_set(err, MODAL_ERROR_INPUT, "too many triangles, %lld", (long long)n);
    MODAL_TRY(modal_alloc(&order, n, sizeof *order, "triangles", err));
    MODAL_TRY(modal_alloc(&tree->boxes, 2 * n, sizeof *tree->boxes, "triangles", err));
    MODAL_TRY(modal_alloc(&tree->corners, 9 * n, sizeof *tree->corners, "triangles", err));
    MODAL_TRY(modal_alloc(&tree->labels, n, sizeof *tree->labels, "triangles", err));
    for (int64_t t = 0; t < n; t++) order[t].triangle = (int32_t)t;
    tree->n_triangles = n;
    split_boxes(tree, points, triangles, order);
    for (int64_t i = 0; i < n; i++) {
        const int64_t t = order[i].triangle;
        tree->labels[i] = labels ? labels[t] : 0;
        for (int c = 0; c < 3; c++)
            memcpy(tree->corners + 9 * i + 3 * c, points + 3 * (int64_t)triangles[3 * t + c], 3 * sizeof(double));
    }
done:
    modal_free(&order);
    if (status != MODAL_OK) modal_triangle_tree_free(tree);
    return status;
}

static double box_square(const modal_triangle_box *box, const double p[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(fmax(box->low[k] - p[k], p[k] - box->high[k]), 0);
        sum += d * d;
    }
    return sum;
}

/* Ends early once a triangle is within sqrt(enough). nearest: its label, or NULL. */
static double search(const modal_triangle_tree *tree, const double p[3], int32_t label, double bound, double enough, int32_t *nearest)
{
    int32_t stack[DEEPEST];
    int n = 0;
    if (tree->n_triangles > 0) stack[n++] = 0;
    while (n > 0) {
        const modal_triangle_box *box = &tree->boxes[stack[--n]];
        if (!(box_square(box, p) < bound)) continue;
        for (int32_t i = box->first; i < box->first + box->count; i++) {
            if (label >= 0 && tree->labels[i] != label) continue;
            const double square = modal_triangle_square(p, tree->corners + 9 * (int64_t)i);
            if (!(square < bound)) continue;
            bound = square;
            if (nearest) *nearest = tree->labels[i];
            if (bound <= enough) return bound;
        }
        if (box->count > 0) continue;
        const int second = box_square(&tree->boxes[box->first], p) > box_square(&tree->boxes[box->first + 1], p);
        stack[n++] = box->first + 1 - second;
        stack[n++] = box->first + second;
    }
    return bound;
}

double modal_triangle_tree_square(const modal_triangle_tree *tree, const double point[3], int32_t label, double bound)
{
    return search(tree, point, label, bound, 0, NULL);
}

double modal_triangle_tree_nearest(const modal_triangle_tree *tree, const double point[3], double bound, int32_t *nearest)
{
    return search(tree, point, -1, bound, 0, nearest);
}

int modal_triangle_tree_is_within(const modal_triangle_tree *tree, const double point[3], int32_t label, double square)
{
    const double more = nextafter(square, INFINITY);
    return search(tree, point, label, more, square, NULL) < more;
}

double modal_triangle_tree_farthest(const modal_triangle_tree *tree, const double *points, int64_t n, const int32_t *triangles,
                                    double step)
{
    static const double most_points = 1e5;
    double area = 0, worst = 0;
    for (int64_t t = 0; t < n; t++) {
        const double *a = points + 3 * (int64_t)triangles[3 * t], *b = points + 3 * (int64_t)triangles[3 * t + 1],
                     *c = points + 3 * (int64_t)triangles[3 * t + 2];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        area += sqrt(fmax(dot(u, u) * dot(v, v) - dot(u, v) * dot(u, v), 0)) / 2;
    }
    step = fmax(step, sqrt(2 * area / most_points));
    for (int64_t t = 0; t < n; t++) {
        const double *a = points + 3 * (int64_t)triangles[3 * t], *b = points + 3 * (int64_t)triangles[3 * t + 1],
                     *c = points + 3 * (int64_t)triangles[3 * t + 2];
        double u[3], v[3], w[3];
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = c[k] - b[k];
        const double longest = sqrt(fmax(dot(u, u), fmax(dot(v, v), dot(w, w))));
        const int m = longest < 1e6 * step ? (int)fmax(ceil(longest / step), 1) : 1000000;
        for (int i = 0; i <= m; i++)
            for (int j = 0; i + j <= m; j++) {
                double p[3];
                for (int k = 0; k < 3; k++) p[k] = a[k] + u[k] * i / m + v[k] * j / m;
                worst = fmax(worst, modal_triangle_tree_square(tree, p, -1, INFINITY));
            }
    }
    return sqrt(worst);
}

void modal_triangle_tree_free(modal_triangle_tree *tree)
{
    modal_free(&tree->corners);
    modal_free(&tree->labels);
    modal_free(&tree->boxes);
    *tree = (modal_triangle_tree){0};
}
