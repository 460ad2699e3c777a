/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of a surface that cross each other, or lie on each other in one plane: a tree of boxes over the triangles in the order of a
 * space-filling curve, each triangle against those behind it. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/predicates.h"
#include "lib/mesh/surface_check.h"

enum { LEAF = 4 };

typedef struct box {
    float low[3], high[3]; /* rounded outwards */
} box;

typedef struct tree {
    const modal_surface_mesh *surface;
    int64_t n, n_leaves; /* leaves: a power of two */
    int32_t *order;      /* [n] triangles along the curve */
    box *boxes;          /* [n] of the triangles in that order */
    box *nodes;          /* [2 n_leaves] children of i are 2 i and 2 i + 1, the root is 1 */
} tree;

/* ---- crossing ---- */

enum { APART, CROSSING, OVERLAPPING, FAULTS };

/* Whether all corners of `other` lie on the far side of an edge of x, which turns as `turn` says, or on its line. */
static int is_separated(const double *const x[3], int turn, const double *const other[3], int drop)
{
    for (int k = 0; k < 3; k++) {
        int n_far = 0;
        for (int i = 0; i < 3; i++) n_far += modal_turn_exact(x[k], x[(k + 1) % 3], other[i], drop) * turn <= 0;
        if (n_far == 3) return 1;
    }
    return 0;
}

/* Whether two triangles of one plane have more than lines in common: convex figures have not where an edge of one has
 * them on two sides. Triangles without area have nothing in common with anything. */
static int overlap_in_plane(const double *const x[3], const double *const y[3])
{
    for (int drop = 0; drop < 3; drop++) {
        const int turn_x = modal_turn_exact(x[0], x[1], x[2], drop), turn_y = modal_turn_exact(y[0], y[1], y[2], drop);
        if (turn_x != 0 && turn_y != 0) return !is_separated(x, turn_x, y, drop) && !is_separated(y, turn_y, x, drop);
    }
    return 0;
}

/* Two triangles, which vertices they share, and on which side of the one's plane the other's vertices are. */
typedef struct pair {
    const double *x[2][3];
    int is_shared[2][3];
    int side[2][3]; /* of vertex k of triangle i, to the plane of the other; 0 for shared ones */
} pair;

/* Whether a plane through an edge of one of two triangles that share a vertex or none, at right angles to it, clearly has it on one side and the
 * other triangle, but for a vertex that both share, on the other. Triangles in one plane, whose exact signs take longest, mostly are so. */
static int lie_apart(const pair *p)
{
    for (int i = 0; i < 2; i++) {
        double edges[3][3], normal[3], length[3];
        for (int k = 0; k < 3; k++) {
            length[k] = 0;
            for (int c = 0; c < 3; c++) {
                edges[k][c] = p->x[i][(k + 1) % 3][c] - p->x[i][k][c];
                length[k] += edges[k][c] * edges[k][c];
            }
        }
        for (int c = 0; c < 3; c++)
            normal[c] = edges[0][(c + 1) % 3] * edges[1][(c + 2) % 3] - edges[0][(c + 2) % 3] * edges[1][(c + 1) % 3];
        for (int k = 0; k < 3; k++) {
            double axis[3], squares = 0, tip = 0; /* to the outside */
            for (int c = 0; c < 3; c++) {
                axis[c] = edges[k][(c + 1) % 3] * normal[(c + 2) % 3] - edges[k][(c + 2) % 3] * normal[(c + 1) % 3];
                squares += axis[c] * axis[c];
                tip -= axis[c] * edges[(k + 2) % 3][c];
            }
            /* far above the rounding of products of such vectors; what is not a number is not clear */
            int is_apart = tip < 0 && tip * tip > 1e-16 * squares * length[(k + 2) % 3];
            for (int v = 0; v < 3 && is_apart; v++) {
                double off = 0, far = 0;
                if (p->is_shared[!i][v]) {
                    is_apart = p->x[!i][v] == p->x[i][k] || p->x[!i][v] == p->x[i][(k + 1) % 3];
                    continue;
                }
                for (int c = 0; c < 3; c++) {
                    const double d = p->x[!i][v][c] - p->x[i][k][c];
                    off += axis[c] * d;
                    far += d * d;
                }
                is_apart = off > 0 && off * off > 1e-16 * squares * fmax(far, length[k]);
            }
            if (is_apart) return 1;
        }
    }
    return 0;
}

/* Finds the sides of triangle i's vertices. Returns 0 where all that are not shared are on one side: then the triangles
 * have at most what they share. */
static int find_sides(pair *p, int i)
{
    const double *const *other = p->x[!i];
    int n_below = 0, n_above = 0, n_in = 0, is_sure = 1;
    for (int k = 0; k < 3; k++) {
        p->side[i][k] = p->is_shared[i][k] ? 0 : modal_orientation(other[0], other[1], other[2], p->x[i][k]);
        is_sure &= p->is_shared[i][k] || p->side[i][k] != 0;
    }
    if (!is_sure && lie_apart(p)) return 0;
    for (int k = 0; k < 3; k++) {
        if (!p->is_shared[i][k] && p->side[i][k] == 0)
            p->side[i][k] = modal_orientation_exact(other[0], other[1], other[2], p->x[i][k]);
        n_below += p->side[i][k] < 0;
        n_above += p->side[i][k] > 0;
        n_in += !p->is_shared[i][k] && p->side[i][k] == 0;
    }
    return n_in > 0 || (n_below > 0 && n_above > 0);
}

/* Whether an edge of triangle i goes from one side of the other to the other side through its inside, one of its edges
 * or its vertices. An edge that ends in a vertex of the other never does. */
static int pierces(const pair *p, int i)
{
    const double *const *other = p->x[!i];
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3;
        if (p->side[i][k] * p->side[i][next] >= 0) continue;
        int n_left = 0, n_right = 0;
        for (int e = 0; e < 3; e++) {
            const int turn = modal_orientation_exact(p->x[i][k], p->x[i][next], other[e], other[(e + 1) % 3]);
            n_left += turn > 0;
            n_right += turn < 0;
        }
        if (n_left == 0 || n_right == 0) return 1;
    }
    return 0;
}

/* Whether two triangles that share an edge clearly turn away from each other there, by more than a right angle: then they
 * have nothing but the edge in common. Of flat surfaces that is nearly every pair, and spares them the exact signs. */
static int turn_away(const pair *p)
{
    const double *ends[2], *tips[2] = {NULL, NULL};
    double e[3], arm[2][3], normal[2][3], product = 0, size[3] = {0};
    int n = 0;
    for (int k = 0; k < 3; k++) {
        if (p->is_shared[0][k] && n < 2) ends[n++] = p->x[0][k];
        for (int i = 0; i < 2; i++)
            if (!p->is_shared[i][k]) tips[i] = p->x[i][k];
    }
    if (n != 2 || !tips[0] || !tips[1]) return 0;
    for (int k = 0; k < 3; k++) {
        e[k] = ends[1][k] - ends[0][k];
        size[2] += e[k] * e[k];
        for (int i = 0; i < 2; i++) {
            arm[i][k] = tips[i][k] - ends[0][k];
            size[i] += arm[i][k] * arm[i][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        for (int i = 0; i < 2; i++) normal[i][k] = e[l] * arm[i][m] - e[m] * arm[i][l];
        product += normal[0][k] * normal[1][k];
    }
    /* far above the rounding of the products, each of which is at most |e|^2 |arm| |arm| */
    return product < -1e-13 * size[2] * sqrt(size[0] * size[1]);
}

/* Whether a plane through the one vertex that two triangles share has them clearly on two sides: that between the sums of
 * their edges' directions. */
static int lean_away(const pair *p)
{
    double arms[2][2][3], across[3] = {0};
    for (int i = 0; i < 2; i++) {
        const int at = p->is_shared[i][0] ? 0 : p->is_shared[i][1] ? 1 : 2;
        for (int n = 0; n < 2; n++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                arms[i][n][k] = p->x[i][(at + 1 + n) % 3][k] - p->x[i][at][k];
                square += arms[i][n][k] * arms[i][n][k];
            }
            for (int k = 0; k < 3; k++) {
                arms[i][n][k] /= sqrt(square);
                across[k] += i ? arms[i][n][k] : -arms[i][n][k];
            }
        }
    }
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 2; n++) {
            double side = 0;
            for (int k = 0; k < 3; k++) side += across[k] * arms[i][n][k];
            if (!((i ? side : -side) > 1e-13)) return 0; /* NaN, of two vertices at one place, is not clear */
        }
    return 1;
}

static int relation(const modal_surface_mesh *surface, int32_t s, int32_t t)
{
    pair p;
    const int32_t *v[2] = {surface->triangles + 3 * (int64_t)s, surface->triangles + 3 * (int64_t)t};
    int n_shared = 0, n_off = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            p.is_shared[i][k] = v[i][k] == v[!i][0] || v[i][k] == v[!i][1] || v[i][k] == v[!i][2];
            n_shared += p.is_shared[i][k];
            p.x[i][k] = surface->positions + 3 * (int64_t)v[i][k];
        }
    if (n_shared == 6) return APART; /* a duplicate, which counts as that */
    if ((n_shared == 4 && turn_away(&p)) || (n_shared == 2 && lean_away(&p))) return APART;
    if (!find_sides(&p, 1)) return APART;
    for (int k = 0; k < 3; k++) n_off += p.side[1][k] != 0;
    if (n_off > 0 && !find_sides(&p, 0)) return APART;
    if (n_off == 0) return overlap_in_plane(p.x[0], p.x[1]) ? OVERLAPPING : APART;
    return pierces(&p, 0) || pierces(&p, 1) ? CROSSING : APART;
}

/* ---- the tree ---- */

static box empty_box(void)
{
    return (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void enclose(box *whole, const box *part)
{
    for (int k = 0; k < 3; k++) {
        if (part->low[k] < whole->low[k]) whole->low[k] = part->low[k];
        if (part->high[k] > whole->high[k]) whole->high[k] = part->high[k];
    }
}

static int overlap(const box *a, const box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return 0;
    return 1;
}

static box triangle_box(const modal_surface_mesh *surface, int32_t t)
{
    const double *x[3];
    box b;
    for (int i = 0; i < 3; i++) x[i] = surface->positions + 3 * (int64_t)surface->triangles[3 * (int64_t)t + i];
    for (int k = 0; k < 3; k++) {
        double low = x[0][k], high = x[0][k];
        for (int i = 1; i < 3; i++) {
            if (x[i][k] < low) low = x[i][k];
            if (x[i][k] > high) high = x[i][k];
        }
        b.low[k] = (float)low;
        b.high[k] = (float)high;
        if (b.low[k] > low) b.low[k] = nextafterf(b.low[k], -INFINITY);
        if (b.high[k] < high) b.high[k] = nextafterf(b.high[k], INFINITY);
    }
    return b;
}

/* 21 bits, two zeros after each. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

/* Along Morton's curve, by the centres of the triangles' boxes. */
static modal_status sort_triangles(tree *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    box all = empty_box();
    MODAL_TRY(modal_alloc(&keys, t->n, sizeof *keys, "tree", err));
    MODAL_TRY(modal_alloc(&t->order, t->n, sizeof *t->order, "tree", err));
    for (int64_t i = 0; i < t->n; i++) {
        box b = triangle_box(t->surface, (int32_t)i);
        enclose(&all, &b);
    }
    for (int64_t i = 0; i < t->n; i++) {
        box b = triangle_box(t->surface, (int32_t)i);
        keys[i] = 0;
        for (int k = 0; k < 3; k++) {
            double extent = (double)all.high[k] - all.low[k];
            double place = (((double)b.low[k] + b.high[k]) / 2 - all.low[k]) / extent;
            keys[i] |= spread(extent > 0 && extent < INFINITY ? (uint64_t)(fmin(fmax(place, 0), 1) * 2097151) : 0) << k;
        }
        t->order[i] = (int32_t)i;
    }
    MODAL_TRY(modal_sort_by_key(t->n, keys, t->order, err));
done:
    modal_free(&keys);
    return status;
}

static modal_status build(tree *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(sort_triangles(t, err));
    for (t->n_leaves = 1; t->n_leaves * LEAF < t->n;) t->n_leaves *= 2;
    MODAL_TRY(modal_alloc(&t->boxes, t->n, sizeof *t->boxes, "tree", err));
    MODAL_TRY(modal_alloc(&t->nodes, 2 * t->n_leaves, sizeof *t->nodes, "tree", err));
    for (int64_t i = 0; i < 2 * t->n_leaves; i++) t->nodes[i] = empty_box();
    for (int64_t i = 0; i < t->n; i++) {
        t->boxes[i] = triangle_box(t->surface, t->order[i]);
        enclose(&t->nodes[t->n_leaves + i / LEAF], &t->boxes[i]);
    }
    for (int64_t i = t->n_leaves - 1; i > 0; i--) {
        enclose(&t->nodes[i], &t->nodes[2 * i]);
        enclose(&t->nodes[i], &t->nodes[2 * i + 1]);
    }
done:
    return status;
}

/* What a search counts, and partner[i]: for the first of a pair the one of least index. */
typedef struct found {
    int64_t count;
    int32_t *partner;
} found;

/* Of one leaf's triangles against those of another, or of the same. */
static void relate_leaves(const tree *t, int64_t leaf, int64_t other, found faults[FAULTS])
{
    int64_t end = LEAF * (leaf + 1) < t->n ? LEAF * (leaf + 1) : t->n;
    int64_t other_end = LEAF * (other + 1) < t->n ? LEAF * (other + 1) : t->n;
    for (int64_t i = LEAF * leaf; i < end; i++) {
        if (!overlap(&t->nodes[t->n_leaves + other], &t->boxes[i])) continue;
        for (int64_t j = other > leaf ? LEAF * other : i + 1; j < other_end; j++) {
            if (!overlap(&t->boxes[i], &t->boxes[j])) continue;
            const int fault = relation(t->surface, t->order[i], t->order[j]);
            if (fault == APART) continue;
            faults[fault].count++;
            if (t->order[j] < faults[fault].partner[i]) faults[fault].partner[i] = t->order[j];
        }
    }
}

/* The leaf's triangles against all behind them. */
static void query(const tree *t, int64_t leaf, found faults[FAULTS])
{
    int64_t stack[128];
    int n = 0;
    stack[n++] = 1;
    while (n > 0) {
        int64_t node = stack[--n], last = node;
        if (!overlap(&t->nodes[node], &t->nodes[t->n_leaves + leaf])) continue;
        while (last < t->n_leaves) last = 2 * last + 1;
        if (last - t->n_leaves < leaf) continue; /* all in front of it */
        if (node < t->n_leaves) {
            stack[n++] = 2 * node + 1;
            stack[n++] = 2 * node;
            continue;
        }
        relate_leaves(t, leaf, node - t->n_leaves, faults);
    }
}

/* The pair of least indices. */
static void find_first(const tree *t, const int32_t *partner, int32_t first[2])
{
    for (int64_t i = 0; i < t->n; i++) {
        if (partner[i] == INT32_MAX) continue;
        int32_t a = t->order[i] < partner[i] ? t->order[i] : partner[i],
                b = t->order[i] < partner[i] ? partner[i] : t->order[i];
        if (first[0] < 0 || a < first[0] || (a == first[0] && b < first[1])) first[0] = a, first[1] = b;
    }
}

modal_status modal_surface_intersections(const modal_surface_mesh *surface, modal_surface_pairs *crossing,
                                         modal_surface_pairs *overlapping, modal_error *err)
{
    return modal_surface_intersections_where(surface, crossing, overlapping, NULL, err);
}

modal_status modal_surface_intersections_where(const modal_surface_mesh *surface, modal_surface_pairs *crossing,
                                               modal_surface_pairs *overlapping, uint8_t *in_pair, modal_error *err)
{
    modal_status status = MODAL_OK;
    tree t = {.surface = surface, .n = surface->n_triangles};
    int32_t *partners = NULL;
    int64_t n_crossing = 0, n_overlapping = 0;
    *crossing = *overlapping = (modal_surface_pairs){0, {-1, -1}};
    if (t.n == 0) return MODAL_OK;
    MODAL_TRY(build(&t, err));
    MODAL_TRY(modal_alloc(&partners, 2 * t.n, sizeof *partners, "crossings", err));
    for (int64_t i = 0; i < 2 * t.n; i++) partners[i] = INT32_MAX;
    /* Fewer triangles take some milliseconds, which threads that wait for a busy processor do not save. */
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 64) reduction(+ : n_crossing, n_overlapping) if (t.n > 20000)
    for (int64_t leaf = 0; leaf < (t.n + LEAF - 1) / LEAF; leaf++) {
        found faults[FAULTS] = {[CROSSING] = {0, partners}, [OVERLAPPING] = {0, partners + t.n}};
        query(&t, leaf, faults);
        n_crossing += faults[CROSSING].count;
        n_overlapping += faults[OVERLAPPING].count;
    }
    crossing->count = n_crossing;
    overlapping->count = n_overlapping;
    find_first(&t, partners, crossing->first);
    find_first(&t, partners + t.n, overlapping->first);
    for (int64_t i = 0; in_pair && i < t.n; i++) in_pair[i] = 0;
    for (int64_t i = 0; in_pair && i < 2 * t.n; i++)
        if (partners[i] != INT32_MAX) in_pair[t.order[i % t.n]] = in_pair[partners[i]] = 1;
done:
    modal_free(&t.order);
    modal_free(&t.boxes);
    modal_free(&t.nodes);
    modal_free(&partners);
    return status;
}
