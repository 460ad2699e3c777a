/* SPDX-License-Identifier: Apache-2.0 */
/* How far points are from a set of triangles. */
#ifndef MODAL_MESH_TRIANGLE_TREE_H
#define MODAL_MESH_TRIANGLE_TREE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_triangle_box {
    double low[3], high[3];
    int32_t first, count; /* a leaf's triangles in `order`; count 0: the children are at first and first + 1 */
} modal_triangle_box;

/* A tree of boxes around triangles. It owns copies of all it needs. A zeroed tree is empty: everything is infinitely far. */
typedef struct modal_triangle_tree {
    int64_t n_triangles;
    int32_t n_boxes;
    double *corners;  /* [n_triangles, 9] m, in the order of the leaves */
    int32_t *labels;  /* [n_triangles] in the same order */
    modal_triangle_box *boxes;
} modal_triangle_tree;

/* Of the triangles [n, 3] of points [.., 3], with a label each (NULL: 0). O(n log n), at most 2^30 triangles.
 * MODAL_ERROR_MEMORY; the tree is empty then. */
modal_status modal_triangle_tree_new(modal_triangle_tree *tree, const double *points, int64_t n, const int32_t *triangles,
                                     const int32_t *labels, modal_error *err);

/* The square of the distance from the point to the nearest triangle of this label (-1: of any), or `bound` where none is
 * nearer than that. Threads may share a tree. */
double modal_triangle_tree_square(const modal_triangle_tree *tree, const double point[3], int32_t label, double bound);

/* The same of any triangle; *nearest gets its label, and stays as it is where none is nearer than `bound`. */
double modal_triangle_tree_nearest(const modal_triangle_tree *tree, const double point[3], double bound, int32_t *nearest);

/* 1 where a triangle of this label (-1: any) is within sqrt(square) of the point. */
int modal_triangle_tree_is_within(const modal_triangle_tree *tree, const double point[3], int32_t label, double square);

/* The square of the distance from a point to the triangle of corners [9]. C. Ericson, "Real-Time Collision Detection", 2005. */
double modal_triangle_square(const double point[3], const double corners[9]);

/* The largest distance of points of the triangles [n, 3] of `points` to the tree's triangles. Points are at most `step`
 * apart, or wider where that would be more than 100,000 of them. 0 without triangles. */
double modal_triangle_tree_farthest(const modal_triangle_tree *tree, const double *points, int64_t n, const int32_t *triangles,
                                    double step);

void modal_triangle_tree_free(modal_triangle_tree *tree);

#endif
