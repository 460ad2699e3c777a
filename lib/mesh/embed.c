/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/embed.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/element_nearest.h"
#include "lib/mesh/order.h"
#include "lib/mesh/tetrahedron.h"

static const double TOLERANCE = 1e-14;      /* of the bounding box diagonal */
static const double LAST_DIGITS = 0x1p-50; /* of the largest coordinate: what rounding moves points by */

/* Elements in Hilbert order of their middles, cut into leaves of LEAF; above them a complete binary
 * tree of boxes without pointers: node i has the children 2 i and 2 i + 1, node 1 is the root, leaf l is
 * node n_leaves + l. Leaves past the last element have the empty box, which is infinitely far from
 * everything. */
enum { LEAF = 4, MAX_DEPTH = 40 };

typedef struct box {
    double low[3], high[3];
} box;

typedef struct element_tree {
    const modal_volume_mesh *mesh;
    int64_t n_leaves;  /* a power of two */
    box *boxes;        /* [2 n_leaves], entry 0 unused */
    int32_t *order;    /* [n_elements] */
    uint8_t *bent;     /* [n_elements] modal_element_is_bent */
    double tolerance;  /* m */
} element_tree;

static modal_element_type nodes_of(const modal_volume_mesh *mesh, int64_t e,
                                   const double *x[MODAL_ELEMENT_MOST_NODES])
{
    const int32_t *nodes = modal_mesh_nodes(mesh, e);
    const modal_element_type type = (modal_element_type)mesh->element_type[e];
    for (int a = 0; a < modal_element_kinds[type].n_nodes; a++) x[a] = mesh->nodes + 3 * (int64_t)nodes[a];
    return type;
}

static void box_add(box *b, const box *more)
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], more->low[k]);
        b->high[k] = fmax(b->high[k], more->high[k]);
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

static void tree_free(element_tree *tree)
{
    modal_free(&tree->boxes);
    modal_free(&tree->order);
    modal_free(&tree->bent);
}

static modal_status tree_build(const modal_volume_mesh *mesh, element_tree *tree, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *middles = NULL;
    uint64_t *keys = NULL;
    int64_t n_leaves = 1;
    const int64_t n = mesh->n_elements;
    tree->mesh = mesh;
    while (n_leaves * LEAF < n) n_leaves *= 2;
    tree->n_leaves = n_leaves;
    MODAL_TRY(modal_alloc(&tree->order, n, sizeof *tree->order, "tree order", err));
    MODAL_TRY(modal_alloc(&tree->boxes, 2 * n_leaves, sizeof *tree->boxes, "tree boxes", err));
    MODAL_TRY(modal_alloc(&tree->bent, n, sizeof *tree->bent, "bent elements", err));
    MODAL_TRY(modal_alloc(&middles, 3 * n, sizeof *middles, "middles", err));
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "keys", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t e = 0; e < n; e++) {
        const double *x[MODAL_ELEMENT_MOST_NODES];
        const modal_element_type type = nodes_of(mesh, e, x);
        const int n_corners = modal_element_kinds[type].n_corners;
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int a = 0; a < n_corners; a++) sum += x[a][k];
            middles[3 * e + k] = sum / n_corners;
        }
        tree->bent[e] = (uint8_t)modal_element_is_bent(type, x);
        tree->order[e] = (int32_t)e;
    }
    modal_order_hilbert_keys(n, middles, keys);
    MODAL_TRY(modal_sort_by_key(n, keys, tree->order, err));

    for (int64_t i = 0; i < 2 * n_leaves; i++)
        for (int k = 0; k < 3; k++) {
            tree->boxes[i].low[k] = INFINITY;
            tree->boxes[i].high[k] = -INFINITY;
        }
    for (int64_t i = 0; i < n; i++) {
        const double *x[MODAL_ELEMENT_MOST_NODES];
        const modal_element_type type = nodes_of(mesh, tree->order[i], x);
        box b;
        modal_element_box(type, x, b.low, b.high);
        box_add(&tree->boxes[n_leaves + i / LEAF], &b);
    }
    for (int64_t i = 2 * n_leaves - 1; i > 1; i--) box_add(&tree->boxes[i / 2], &tree->boxes[i]);
    double diagonal[3], largest = 0;
    const box *all = &tree->boxes[1];
    modal_subtract(all->high, all->low, diagonal);
    for (int k = 0; k < 3; k++) largest = fmax(largest, fmax(fabs(all->low[k]), fabs(all->high[k])));
    tree->tolerance = TOLERANCE * sqrt(modal_dot(diagonal, diagonal)) + LAST_DIGITS * largest;
done:
    modal_free(&middles);
    modal_free(&keys);
    return status;
}

/* What is sought, and what has been found so far. */
typedef struct search {
    const double *point;
    double limit; /* m; the lowest element not farther than this; negative: only the least distance */
    double least; /* m^2, of the elements that were looked at */
    int32_t element; /* INT32_MAX: none yet */
    double at[3];    /* its nearest point (lib/mesh/element_nearest.h) */
} search;

static void visit_element(const element_tree *tree, int32_t e, double prune, search *s)
{
    const double *x[MODAL_ELEMENT_MOST_NODES];
    const modal_element_type type = nodes_of(tree->mesh, e, x);
    double at[3] = {0, 0, 0};
    if (type != MODAL_ELEMENT_TET4) { /* whose distance is hardly dearer than that of its box */
        box b;
        modal_element_box(type, x, b.low, b.high);
        if (box_distance2(&b, s->point) > prune) return;
    }
    const double distance2 = modal_element_nearest(type, x, s->point, tree->bent[e], at);
    if (distance2 < s->least) s->least = distance2;
    if (sqrt(distance2) <= s->limit) {
        s->element = e;
        memcpy(s->at, at, sizeof at);
    }
}

typedef struct visit {
    int64_t node;
    double distance2;
} visit;

static void tree_search(const element_tree *tree, search *s)
{
    const int lowest = s->limit >= 0;
    const box *boxes = tree->boxes;
    visit stack[MAX_DEPTH];
    int depth = 0;
    /* A box's distance is rounded, too: the margin keeps elements on the limit. */
    double prune = lowest ? s->limit * s->limit * (1 + 1e-9) : s->least;
    stack[depth++] = (visit){1, box_distance2(&boxes[1], s->point)};
    if (!isfinite(stack[0].distance2)) return; /* nor are distances of elements */
    while (depth > 0) {
        visit here = stack[--depth];
        if (here.distance2 > prune) continue;
        if (here.node < tree->n_leaves) {
            visit near = {2 * here.node, box_distance2(&boxes[2 * here.node], s->point)};
            visit far = {2 * here.node + 1, box_distance2(&boxes[2 * here.node + 1], s->point)};
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
        if (end > tree->mesh->n_elements) end = tree->mesh->n_elements;
        for (int64_t i = first; i < end; i++) {
            if (lowest && tree->order[i] >= s->element) continue;
            visit_element(tree, tree->order[i], prune, s);
            if (!lowest) prune = s->least;
        }
    }
}

void modal_point_embedding_free(modal_point_embedding *embedding)
{
    modal_free(&embedding->offsets);
    modal_free(&embedding->nodes);
    modal_free(&embedding->weights);
    modal_free(&embedding->elements);
}

modal_status modal_embed_points(const modal_volume_mesh *mesh, int64_t n, const double *points,
                                modal_point_embedding *embedding, modal_embed_summary *summary,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    element_tree tree = {0};
    modal_point_embedding built = {0};
    double *distances = NULL; /* [n] m, to the solid; 0 for points inside */
    double *at = NULL;        /* [n, 3] the nearest point of each one's element */
    modal_embed_summary found = {.farthest_point = -1};
    *embedding = built;
    if (mesh->n_elements == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "no elements");
    for (int64_t i = 0; i < 3 * n; i++)
        if (!isfinite(points[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vertex %lld: coordinate %c is not finite",
                       (long long)(i / 3), "xyz"[i % 3]);
    MODAL_TRY(tree_build(mesh, &tree, err));
    MODAL_TRY(modal_alloc(&distances, n, sizeof *distances, "distances to the solid", err));
    MODAL_TRY(modal_alloc(&at, 3 * n, sizeof *at, "places in elements", err));
    MODAL_TRY(modal_alloc(&built.elements, n, sizeof *built.elements, "elements", err));
    MODAL_TRY(modal_alloc(&built.offsets, n + 1, sizeof *built.offsets, "embedding", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 256)
    for (int64_t i = 0; i < n; i++) {
        search s = {points + 3 * i, tree.tolerance, INFINITY, INT32_MAX, {0, 0, 0}};
        tree_search(&tree, &s);
        distances[i] = 0;
        if (s.element == INT32_MAX) {
            s.limit = -1;
            tree_search(&tree, &s);
            distances[i] = sqrt(s.least);
            s.limit = distances[i] + tree.tolerance;
            if (isfinite(distances[i])) tree_search(&tree, &s);
            if (s.element == INT32_MAX) distances[i] = INFINITY; /* squares of its distances are beyond all numbers */
        }
        built.elements[i] = s.element;
        memcpy(at + 3 * i, s.at, sizeof s.at);
    }
    built.offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(distances[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vertex %lld: too far from the solid, (%g, %g, %g)",
                       (long long)i, points[3 * i], points[3 * i + 1], points[3 * i + 2]);
        built.offsets[i + 1] = built.offsets[i] + modal_mesh_kind(mesh, built.elements[i])->n_nodes;
        if (!(distances[i] > 0)) continue;
        found.n_outside++;
        if (distances[i] > found.farthest_outside) {
            found.farthest_outside = distances[i];
            found.farthest_point = i;
        }
    }
    MODAL_TRY(modal_alloc(&built.nodes, built.offsets[n], sizeof *built.nodes, "embedding", err));
    MODAL_TRY(modal_alloc(&built.weights, built.offsets[n], sizeof *built.weights, "embedding", err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double *x[MODAL_ELEMENT_MOST_NODES];
        double weights[MODAL_ELEMENT_MOST_NODES];
        const modal_element_type type = nodes_of(mesh, built.elements[i], x);
        const int n_nodes = modal_element_kinds[type].n_nodes;
        modal_element_weights(type, x, points + 3 * i, at + 3 * i, weights);
        memcpy(built.nodes + built.offsets[i], modal_mesh_nodes(mesh, built.elements[i]), n_nodes * sizeof(int32_t));
        memcpy(built.weights + built.offsets[i], weights, n_nodes * sizeof(double));
    }
    *embedding = built;
    built = (modal_point_embedding){0};
    if (summary) *summary = found;
done:
    tree_free(&tree);
    modal_free(&distances);
    modal_free(&at);
    modal_point_embedding_free(&built);
    return status;
}
