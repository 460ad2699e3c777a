/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/macros.h"

#include "kernels/tled_layout/tled_fans.h"
#include "kernels/tled_step/tled_solid.h"
#include "lib/base/memory.h"

enum { ENOUGH = 5 }; /* tetrahedra of a macro that joins no other one */

/* Groups of tetrahedra: each is a list, and empty once it has joined another one. */
typedef struct groups {
    int64_t n;
    const int32_t (*corners)[4];
    const int32_t *kinds;
    int32_t *of;                 /* [n] the group of a tetrahedron */
    int32_t *first, *last, *size; /* [n] of a group */
    int32_t *next;               /* [n] tetrahedron after this one in its group, or -1 */
    int64_t *offsets;            /* [n_nodes + 1] in `at` */
    int32_t *at;                 /* [4 n] tetrahedra at a node */
} groups;

static void free_groups(groups *g)
{
    modal_free(&g->of), modal_free(&g->first), modal_free(&g->last), modal_free(&g->size);
    modal_free(&g->next), modal_free(&g->offsets), modal_free(&g->at);
}

static modal_status new_groups(groups *g, int64_t n_nodes, modal_error *err)
{
    static const char what[] = "mean patches";
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(&g->of, g->n, sizeof *g->of, what, err));
    MODAL_TRY(modal_alloc(&g->first, g->n, sizeof *g->first, what, err));
    MODAL_TRY(modal_alloc(&g->last, g->n, sizeof *g->last, what, err));
    MODAL_TRY(modal_alloc_zero(&g->size, g->n, sizeof *g->size, what, err));
    MODAL_TRY(modal_alloc(&g->next, g->n, sizeof *g->next, what, err));
    MODAL_TRY(modal_alloc_zero(&g->offsets, n_nodes + 1, sizeof *g->offsets, what, err));
    MODAL_TRY(modal_alloc(&g->at, 4 * g->n, sizeof *g->at, what, err));
    for (int64_t k = 0; k < 4 * g->n; k++) g->offsets[g->corners[k / 4][k % 4] + 1]++;
    for (int64_t i = 0; i < n_nodes; i++) g->offsets[i + 1] += g->offsets[i];
    for (int64_t k = 0; k < 4 * g->n; k++) g->at[g->offsets[g->corners[k / 4][k % 4]]++] = (int32_t)(k / 4);
    for (int64_t i = n_nodes; i > 0; i--) g->offsets[i] = g->offsets[i - 1]; /* filling had moved each to its end */
    g->offsets[0] = 0;
done:
    return status;
}

/* Fans of the tetrahedra of one kind after the other. */
static modal_status make_fans(groups *g, const double (*nodes)[3], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_fans *work = NULL;
    modal_tled_fan *fans = NULL;
    int32_t *own = NULL, (*corners)[4] = NULL, n_groups = 0;
    MODAL_TRY(modal_tled_fans_new(&work, (int32_t)g->n, err));
    MODAL_TRY(modal_alloc(&fans, g->n, sizeof *fans, "mean patches", err));
    MODAL_TRY(modal_alloc(&own, g->n, sizeof *own, "mean patches", err));
    MODAL_TRY(modal_alloc(&corners, g->n, sizeof *corners, "mean patches", err));
    for (int32_t kind = 0, left = (int32_t)g->n; left > 0; kind++) {
        int32_t n = 0;
        for (int64_t e = 0; e < g->n; e++)
            if (g->kinds[e] == kind) {
                for (int a = 0; a < 4; a++) corners[n][a] = g->corners[e][a];
                own[n++] = (int32_t)e;
            }
        left -= n;
        if (n == 0) continue;
        const int32_t n_fans = modal_tled_fans_make(work, n, (const int32_t(*)[4])corners, nodes, MODAL_TLED_FAN, fans);
        for (int32_t f = 0; f < n_fans; f++, n_groups++)
            for (int k = 0; k < fans[f].n; k++) {
                const int32_t e = own[fans[f].elements[k]];
                g->of[e] = n_groups;
                g->next[e] = -1;
                if (k == 0) g->first[n_groups] = e;
                else g->next[g->last[n_groups]] = e;
                g->last[n_groups] = e;
                g->size[n_groups]++;
            }
    }
done:
    modal_tled_fans_delete(work);
    modal_free(&fans), modal_free(&own), modal_free(&corners);
    return status;
}

/* The tetrahedron across the face opposite of corner a, or -1. */
static int32_t across(const groups *g, int32_t e, int a)
{
    const int32_t *c = g->corners[e], x = c[(a + 1) % 4], y = c[(a + 2) % 4], z = c[(a + 3) % 4];
    for (int64_t k = g->offsets[x]; k < g->offsets[x + 1]; k++) {
        const int32_t *d = g->corners[g->at[k]];
        int found = 0;
        for (int b = 0; b < 4; b++) found += d[b] == y || d[b] == z;
        if (found == 2 && g->at[k] != e) return g->at[k];
    }
    return -1;
}

/* The group that group i joins, or -1. */
static int32_t neighbour_of(const groups *g, int32_t i)
{
    int32_t found[4 * MODAL_TLED_MACRO], faces[4 * MODAL_TLED_MACRO], best = -1;
    int n = 0;
    for (int32_t e = g->first[i]; e >= 0; e = g->next[e])
        for (int a = 0; a < 4; a++) {
            const int32_t other = across(g, e, a);
            int k = 0;
            if (other < 0 || g->of[other] == i || g->kinds[other] != g->kinds[e]) continue;
            while (k < n && found[k] != g->of[other]) k++;
            if (k == n) found[n] = g->of[other], faces[n++] = 0;
            faces[k]++;
        }
    for (int k = 0; k < n; k++) {
        if (g->size[found[k]] + g->size[i] > MODAL_TLED_MACRO) continue;
        const int32_t mine = g->size[found[k]], least = best < 0 ? INT32_MAX : g->size[found[best]];
        if (best < 0 || faces[k] > faces[best] || (faces[k] == faces[best] && (mine < least || (mine == least && found[k] < found[best])))) best = k;
    }
    return best < 0 ? -1 : found[best];
}

static void join(groups *g, int32_t from, int32_t to)
{
    for (int32_t e = g->first[from]; e >= 0; e = g->next[e]) g->of[e] = to;
    g->next[g->last[to]] = g->first[from];
    g->last[to] = g->last[from];
    g->size[to] += g->size[from];
    g->size[from] = 0;
}

modal_status modal_tled_macros_make(int64_t n, const int32_t (*corners)[4], const int32_t *kinds, int64_t n_nodes, const double (*nodes)[3],
                                    int32_t *order, int64_t *n_macros, int64_t **offsets, modal_error *err)
{
    modal_status status = MODAL_OK;
    groups g = {.n = n, .corners = corners, .kinds = kinds};
    int64_t *result = NULL, m = 0, place = 0;
    *offsets = NULL, *n_macros = 0;
    if (n > INT32_MAX / 6) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld tetrahedra are too many for mean patches", (long long)n);
    MODAL_TRY(new_groups(&g, n_nodes, err));
    MODAL_TRY(make_fans(&g, nodes, err));
    for (int size = 1; size < ENOUGH; size++)
        for (int32_t i = 0; i < n; i++) {
            if (g.size[i] != size) continue;
            const int32_t to = neighbour_of(&g, i);
            if (to >= 0) join(&g, i, to);
        }
    MODAL_TRY(modal_alloc(&result, n + 1, sizeof *result, "mean patches", err));
    result[0] = 0;
    for (int64_t e = 0; e < n; e++) { /* a macro is written where its first tetrahedron comes; then it is empty */
        const int32_t i = g.of[e];
        if (g.size[i] == 0) continue;
        for (int32_t k = g.first[i]; k >= 0; k = g.next[k]) order[place++] = k;
        result[++m] = place;
        g.size[i] = 0;
    }
    *n_macros = m, *offsets = result;
    result = NULL;
done:
    modal_free(&result);
    free_groups(&g);
    return status;
}
