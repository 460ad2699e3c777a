/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/embed.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/element_split.h"
#include "lib/mesh/order.h"
#include "lib/mesh/tetrahedron.h"

static const double FLAT = 1e-12; /* |6 V| relative to the longest edge cubed */
static const double TIE_TOLERANCE = 1e-12; /* of the bounding box diagonal */

/* Tetrahedra in Hilbert order of their centroids, cut into leaves of LEAF; above them a complete
 * binary tree of boxes without pointers: node i has the children 2 i and 2 i + 1, node 1 is the
 * root, leaf l is node n_leaves + l. Leaves past the last tetrahedron have the empty box, which is
 * infinitely far from everything. */
enum { LEAF = 4, MAX_DEPTH = 40 };

typedef struct box {
    double low[3], high[3];
} box;

typedef struct tetrahedron_tree {
    const double *positions;   /* [.., 3] of the nodes */
    int64_t n;                 /* tetrahedra */
    const int32_t *tetrahedra; /* [n, 4] nodes: the mesh's own, or cut */
    int32_t *cut, *owner;      /* where elements were cut: [n, 4], and [n] the element of each */
    int64_t n_leaves;          /* a power of two */
    box *boxes;                /* [2 n_leaves], entry 0 unused */
    int32_t *order;            /* [n] */
    double tolerance;  /* m */
} tetrahedron_tree;

static void corners_of(const tetrahedron_tree *tree, int64_t i, const double *x[4])
{
    for (int k = 0; k < 4; k++) x[k] = tree->positions + 3 * (int64_t)tree->tetrahedra[4 * i + k];
}

static void box_add(box *b, const double low[3], const double high[3])
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], low[k]);
        b->high[k] = fmax(b->high[k], high[k]);
    }
}

static double box_distance2(const box *b, const double p[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double below = b->low[k] - p[k], above = p[k] - b->high[k];
        double d = below > above ? below : above;
        if (d > 0) sum += d * d;
    }
    return sum;
}

static void tree_free(tetrahedron_tree *tree)
{
    modal_free(&tree->boxes);
    modal_free(&tree->order);
    modal_free(&tree->cut);
    modal_free(&tree->owner);
}

/* All elements as right-handed tetrahedra, in the order of the elements. */
static modal_status cut_elements(const modal_volume_mesh *mesh, tetrahedron_tree *tree,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    tree->positions = mesh->nodes;
    tree->n = mesh->n_elements;
    tree->tetrahedra = mesh->element_nodes;
    if (modal_volume_mesh_is_all(mesh, MODAL_ELEMENT_TET4)) return MODAL_OK;
    const int64_t most = MODAL_SPLIT_MOST * mesh->n_elements;
    int64_t n = 0;
    if (most > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld elements: more than %d to be cut into tetrahedra",
                   (long long)mesh->n_elements, INT32_MAX / MODAL_SPLIT_MOST);
    MODAL_TRY(modal_alloc(&tree->cut, 4 * most, sizeof *tree->cut, "tetrahedra", err));
    MODAL_TRY(modal_alloc(&tree->owner, most, sizeof *tree->owner, "tetrahedra", err));
    tree->tetrahedra = tree->cut;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        uint8_t local[MODAL_SPLIT_MOST][4];
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const int parts = modal_element_split(mesh->element_type[e], nodes, local);
        for (int i = 0; i < parts; i++) {
            int32_t *part = tree->cut + 4 * n;
            const double *x[4];
            for (int k = 0; k < 4; k++) part[k] = nodes[local[i][k]];
            corners_of(tree, n, x);
            const double six_volume = modal_six_volume(x[0], x[1], x[2], x[3]);
            double longest2 = 0;
            for (int k = 0; k < 6; k++) {
                const uint8_t *ends = modal_element_kinds[MODAL_ELEMENT_TET4].edges[k];
                double edge[3];
                modal_subtract(x[ends[0]], x[ends[1]], edge);
                longest2 = fmax(longest2, modal_dot(edge, edge));
            }
            if (!(fabs(six_volume) > FLAT * longest2 * sqrt(longest2))) continue;
            if (six_volume < 0) { /* in a distorted element */
                const int32_t third = part[2];
                part[2] = part[3];
                part[3] = third;
            }
            tree->owner[n++] = (int32_t)e;
        }
    }
    tree->n = n;
done:
    return status;
}

static modal_status tree_build(const modal_volume_mesh *mesh, tetrahedron_tree *tree,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    double *centroids = NULL;
    uint64_t *keys = NULL;
    int64_t n_leaves = 1;
    const double *x[4];
    MODAL_TRY(cut_elements(mesh, tree, err));
    const int64_t n = tree->n;
    while (n_leaves * LEAF < n) n_leaves *= 2;
    tree->n_leaves = n_leaves;
    MODAL_TRY(modal_alloc(&tree->order, n, sizeof *tree->order, "tree order", err));
    MODAL_TRY(modal_alloc(&tree->boxes, 2 * n_leaves, sizeof *tree->boxes, "tree boxes", err));
    MODAL_TRY(modal_alloc(&centroids, 3 * n, sizeof *centroids, "centroids", err));
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "centroid keys", err));
    for (int64_t e = 0; e < n; e++) {
        corners_of(tree, e, x);
        for (int k = 0; k < 3; k++)
            centroids[3 * e + k] = 0.25 * (x[0][k] + x[1][k] + x[2][k] + x[3][k]);
        tree->order[e] = (int32_t)e;
    }
    modal_order_hilbert_keys(n, centroids, keys);
    MODAL_TRY(modal_sort_by_key(n, keys, tree->order, err));

    for (int64_t i = 0; i < 2 * n_leaves; i++)
        for (int k = 0; k < 3; k++) {
            tree->boxes[i].low[k] = INFINITY;
            tree->boxes[i].high[k] = -INFINITY;
        }
    for (int64_t i = 0; i < n; i++) {
        corners_of(tree, tree->order[i], x);
        for (int k = 0; k < 4; k++) box_add(&tree->boxes[n_leaves + i / LEAF], x[k], x[k]);
    }
    for (int64_t i = 2 * n_leaves - 1; i > 1; i--)
        box_add(&tree->boxes[i / 2], tree->boxes[i].low, tree->boxes[i].high);
    double diagonal[3];
    modal_subtract(tree->boxes[1].high, tree->boxes[1].low, diagonal);
    tree->tolerance = TIE_TOLERANCE * sqrt(modal_dot(diagonal, diagonal));
done:
    modal_free(&centroids);
    modal_free(&keys);
    return status;
}

/* Squared distance between p and the segment from a along ab. */
static double segment_distance2(const double a[3], const double ab[3], const double p[3])
{
    double ap[3], d[3];
    modal_subtract(p, a, ap);
    double t = fmin(1, fmax(0, modal_dot(ap, ab) / modal_dot(ab, ab)));
    for (int k = 0; k < 3; k++) d[k] = ap[k] - t * ab[k];
    return modal_dot(d, d);
}

/* Squared distance between p and a triangle in whose plane's outer half-space p lies: that to the
 * plane where p projects into the triangle, otherwise that to the nearest edge it is beyond.
 * normal = ab x ac, height = normal . ap. */
static double triangle_distance2(const double *const corners[3], const double normal[3],
                                 double height, const double p[3])
{
    double nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double *a = corners[k], *b = corners[(k + 1) % 3];
        double ab[3], ap[3], inward[3];
        modal_subtract(b, a, ab);
        modal_subtract(p, a, ap);
        modal_cross(normal, ab, inward);
        if (modal_dot(inward, ap) < 0) nearest = fmin(nearest, segment_distance2(a, ab, p));
    }
    return nearest < INFINITY ? nearest : height * height / modal_dot(normal, normal);
}

static double tetrahedron_distance2(const double *const x[4], const double p[3])
{
    double nearest = INFINITY;
    for (int f = 0; f < 4; f++) {
        const unsigned char *local = modal_tetrahedron_faces[f];
        const double *corners[3] = {x[local[0]], x[local[1]], x[local[2]]};
        double ab[3], ac[3], ap[3], normal[3];
        modal_subtract(corners[1], corners[0], ab);
        modal_subtract(corners[2], corners[0], ac);
        modal_subtract(p, corners[0], ap);
        modal_cross(ab, ac, normal);
        double height = modal_dot(normal, ap);
        /* The nearest point of a convex body lies on a face that p is on the outer side of. */
        if (height > 0) nearest = fmin(nearest, triangle_distance2(corners, normal, height, p));
    }
    return nearest < INFINITY ? nearest : 0;
}

double modal_tetrahedron_distance(const double *const x[4], const double point[3])
{
    return sqrt(tetrahedron_distance2(x, point));
}

void modal_tetrahedron_weights(const double *const x[4], const double point[3], double weights[4])
{
    double a[3], b[3], c[3], rest[3], normals[3][3];
    modal_subtract(x[1], x[0], a);
    modal_subtract(x[2], x[0], b);
    modal_subtract(x[3], x[0], c);
    modal_subtract(point, x[0], rest);
    modal_cross(b, c, normals[0]);
    modal_cross(c, a, normals[1]);
    modal_cross(a, b, normals[2]);
    double six_volume = modal_dot(a, normals[0]), w[3] = {0, 0, 0};
    /* Cramer's rule, then once more for what it left over: a flat tetrahedron loses digits. */
    for (int step = 0; step < 2; step++) {
        double more[3];
        for (int k = 0; k < 3; k++) more[k] = modal_dot(rest, normals[k]) / six_volume;
        for (int k = 0; k < 3; k++) {
            w[k] += more[k];
            rest[k] = 0;
        }
        for (int k = 0; k < 3; k++)
            rest[k] = point[k] - x[0][k] - (w[0] * a[k] + w[1] * b[k] + w[2] * c[k]);
    }
    weights[0] = 1 - w[0] - w[1] - w[2];
    for (int k = 0; k < 3; k++) weights[k + 1] = w[k];
}

typedef struct visit {
    int64_t node;
    double distance2;
} visit;

/* The least squared distance, where lowest is NULL. Otherwise the lowest index of the tetrahedra
 * at a distance of at most `limit`, in *lowest. */
static double tree_search(const tetrahedron_tree *tree, const double p[3], double limit,
                          int32_t *lowest)
{
    visit stack[MAX_DEPTH];
    int depth = 0;
    double least = INFINITY;
    /* A box's distance is rounded, too: the margin keeps tetrahedra on the limit. */
    double prune = lowest ? limit * limit * (1 + 1e-9) : INFINITY;
    stack[depth++] = (visit){1, box_distance2(&tree->boxes[1], p)};
    while (depth > 0) {
        visit here = stack[--depth];
        if (here.distance2 > prune) continue;
        if (here.node < tree->n_leaves) {
            visit near = {2 * here.node, box_distance2(&tree->boxes[2 * here.node], p)};
            visit far = {2 * here.node + 1, box_distance2(&tree->boxes[2 * here.node + 1], p)};
            if (far.distance2 < near.distance2) {
                visit kept = near;
                near = far;
                far = kept;
            }
            assert(depth + 2 <= MAX_DEPTH);
            if (far.distance2 <= prune && far.distance2 < INFINITY) stack[depth++] = far;
            if (near.distance2 <= prune && near.distance2 < INFINITY) stack[depth++] = near;
            continue;
        }
        int64_t first = LEAF * (here.node - tree->n_leaves), end = first + LEAF;
        if (end > tree->n) end = tree->n;
        for (int64_t i = first; i < end; i++) {
            const double *x[4];
            int32_t e = tree->order[i];
            if (lowest && e >= *lowest) continue;
            corners_of(tree, e, x);
            double distance2 = tetrahedron_distance2(x, p);
            if (lowest) {
                if (sqrt(distance2) <= limit) *lowest = e;
            } else if (distance2 < least) {
                prune = least = distance2;
            }
        }
    }
    return least;
}

modal_status modal_embed_points(const modal_volume_mesh *mesh, int64_t n, const double *points,
                                int32_t *elements, int32_t *nodes, double *weights,
                                modal_embed_summary *summary, modal_error *err)
{
    modal_status status = MODAL_OK;
    tetrahedron_tree tree = {0};
    double *distances = NULL; /* [n] m, to the solid */
    modal_embed_summary found = {.farthest_point = -1};
    if (mesh->n_elements == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "no elements");
    for (int64_t i = 0; i < 3 * n; i++)
        if (!isfinite(points[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vertex %lld: coordinate %c is not finite",
                       (long long)(i / 3), "xyz"[i % 3]);
    MODAL_TRY(tree_build(mesh, &tree, err));
    MODAL_TRY(modal_alloc(&distances, n, sizeof *distances, "distances to the solid", err));
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < n; i++) {
        const double *p = points + 3 * i, *x[4];
        int32_t found_in = INT32_MAX;
        distances[i] = sqrt(tree_search(&tree, p, 0, NULL));
        tree_search(&tree, p, distances[i] + tree.tolerance, &found_in);
        if (found_in >= tree.n || !isfinite(distances[i])) {
            distances[i] = INFINITY; /* so far away that its squared distance overflows */
            continue;
        }
        corners_of(&tree, found_in, x);
        modal_tetrahedron_weights(x, p, weights + 4 * i);
        memcpy(nodes + 4 * i, tree.tetrahedra + 4 * (int64_t)found_in, 4 * sizeof *nodes);
        if (elements) elements[i] = tree.owner ? tree.owner[found_in] : found_in;
    }
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(distances[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vertex %lld: too far from the solid, (%g, %g, %g)",
                       (long long)i, points[3 * i], points[3 * i + 1], points[3 * i + 2]);
        if (!(distances[i] > tree.tolerance)) continue;
        found.n_outside++;
        if (distances[i] > found.farthest_outside) {
            found.farthest_outside = distances[i];
            found.farthest_point = i;
        }
    }
    if (summary) *summary = found;
done:
    tree_free(&tree);
    modal_free(&distances);
    return status;
}
