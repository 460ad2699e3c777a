/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: whether a change of the boundary is one that was allowed. */
#include <math.h>

#include "lib/mesh/improve_private.h"

static void normal_of(const improve_store *s, const int32_t v[3], double n[3])
{
    const double *a = improve_at(s, v[0]), *b = improve_at(s, v[1]), *c = improve_at(s, v[2]);
    double u[3], w[3];
    for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], w[k] = c[k] - a[k];
    n[0] = u[1] * w[2] - u[2] * w[1];
    n[1] = u[2] * w[0] - u[0] * w[2];
    n[2] = u[0] * w[1] - u[1] * w[0];
}

static int is_among(int32_t face, int n, const int32_t *faces)
{
    for (int i = 0; i < n; i++)
        if (faces[i] == face) return 1;
    return 0;
}

static int place_of(const int32_t v[3], int32_t vertex) { return v[0] == vertex ? 0 : v[1] == vertex ? 1 : v[2] == vertex ? 2 : -1; }

/* A crack of less than about 25 degrees between two faces, seen from outside, is no surface that anybody wants. */
static int is_fold(const improve_store *s, const int32_t a[3], const int32_t b[3], int32_t edge_start, int32_t edge_end)
{
    double m[3], n[3], product = 0, squares[2] = {0}, height = 0;
    int32_t apex = -1;
    for (int k = 0; k < 3; k++)
        if (b[k] != edge_start && b[k] != edge_end) apex = b[k];
    normal_of(s, a, m);
    normal_of(s, b, n);
    for (int k = 0; k < 3; k++) {
        product += m[k] * n[k];
        squares[0] += m[k] * m[k];
        squares[1] += n[k] * n[k];
        height += m[k] * (improve_at(s, apex)[k] - improve_at(s, edge_start)[k]);
    }
    return height > 0 && product < -0.9 * sqrt(squares[0] * squares[1]);
}

/* Each edge of the new faces must have exactly two faces afterwards, which are not folded onto each other. */
static int edges_are_sound(const improve_store *s, int n_gone, const int32_t *gone, int n_come, const improve_patch_face *come)
{
    for (int f = 0; f < n_come; f++)
        for (int e = 0; e < 3; e++) {
            const int32_t x = come[f].v[e], y = come[f].v[(e + 1) % 3];
            int n = 0;
            for (int g = 0; g < n_come; g++) {
                if (place_of(come[g].v, x) < 0 || place_of(come[g].v, y) < 0) continue;
                n++;
                if (g > f && is_fold(s, come[f].v, come[g].v, x, y)) return 0;
            }
            for (int32_t c = s->head[x]; c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
                const improve_tetrahedron *t = &s->tetrahedra[c / 4];
                const int at_y = improve_has(t, y);
                for (int k = 0; at_y >= 0 && k < 4; k++) {
                    if (k == c % 4 || k == at_y || t->mark[k] < 0 || is_among(t->mark[k], n_gone, gone)) continue;
                    const int32_t other[3] = {t->v[improve_faces[k][0]], t->v[improve_faces[k][1]], t->v[improve_faces[k][2]]};
                    n++;
                    if (is_fold(s, come[f].v, other, x, y)) return 0;
                }
            }
            if (n != 2) return 0;
        }
    return 1;
}

static void corners_of(const improve_store *s, const int32_t v[3], double corners[9])
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) corners[3 * c + k] = improve_at(s, v[c])[k];
}

/* The face of the sample's patch that is nearest to it; -1: none of that patch. */
static int nearest_of(const improve_store *s, const double *sample, int32_t patch, int n_come, const improve_patch_face *come, double *square)
{
    int best = -1;
    *square = INFINITY;
    for (int f = 0; f < n_come; f++) {
        double corners[9];
        if (come[f].patch != patch) continue;
        corners_of(s, come[f].v, corners);
        const double own = modal_triangle_square(sample, corners);
        if (own < *square) *square = own, best = f;
    }
    return best;
}

int improve_surface_may(const improve_store *s, int n_gone, const int32_t *gone, int n_come, const improve_patch_face *come)
{
    enum { GRID = 4 };
    double square;
    for (int f = 0; f < n_come; f++)
        for (int k = 0; k < 3; k++)
            if (s->fixed[come[f].v[k]] & IMPROVE_STILL) return 0;
    if (n_come == 0 || !edges_are_sound(s, n_gone, gone, n_come, come)) return 0;
    for (int g = 0; g < n_gone; g++)
        for (int32_t i = s->faces[gone[g]].first; i >= 0; i = s->next_sample[i])
            if (nearest_of(s, s->samples + 3 * (int64_t)i, s->faces[gone[g]].patch, n_come, come, &square) < 0 ||
                !(square <= s->distance))
                return 0;
    for (int f = 0; f < n_come; f++) {
        double c[9], p[3];
        corners_of(s, come[f].v, c);
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; i + j <= GRID; j++) {
                for (int k = 0; k < 3; k++) p[k] = (i * c[k] + j * c[3 + k] + (GRID - i - j) * c[6 + k]) / GRID;
                if (!modal_triangle_tree_is_within(&s->tree, p, come[f].patch, s->distance)) return 0;
            }
    }
    return 1;
}

void improve_surface_pass(improve_store *s, int n_gone, const int32_t *gone, int n_come, const improve_patch_face *come,
                          const int32_t *faces)
{
    double square;
    for (int g = 0; g < n_gone; g++) {
        for (int32_t i = s->faces[gone[g]].first, next; i >= 0; i = next) {
            const int f = nearest_of(s, s->samples + 3 * (int64_t)i, s->faces[gone[g]].patch, n_come, come, &square);
            next = s->next_sample[i];
            s->next_sample[i] = s->faces[faces[f]].first;
            s->faces[faces[f]].first = i;
        }
        improve_delete_face(s, gone[g]);
    }
}
