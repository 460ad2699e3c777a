/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/order.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/tables.h"

enum { HILBERT_BITS = 21, TILE = 32, LINE_BYTES = 128, POSITION_BYTES = 12 };
enum { FRONTIER = 256, TAKEN = -1 };

static uint64_t hilbert_key(uint32_t x[3])
{
    const uint32_t top = 1u << (HILBERT_BITS - 1);
    /* From the coarsest cell to the finest: undo the rotation and reflection that the curve makes
     * inside each octant. */
    for (uint32_t bit = top; bit > 1; bit >>= 1) {
        uint32_t below = bit - 1;
        for (int k = 0; k < 3; k++) {
            if (x[k] & bit) {
                x[0] ^= below;
            } else {
                uint32_t exchange = (x[0] ^ x[k]) & below;
                x[0] ^= exchange;
                x[k] ^= exchange;
            }
        }
    }
    /* Gray code of the octants to their number along the curve. */
    uint32_t flip = 0;
    x[1] ^= x[0];
    x[2] ^= x[1];
    for (uint32_t bit = top; bit > 1; bit >>= 1)
        if (x[2] & bit) flip ^= bit - 1;
    uint64_t key = 0;
    for (uint32_t bit = top; bit; bit >>= 1)
        for (int k = 0; k < 3; k++) key = key << 1 | (((x[k] ^ flip) & bit) != 0);
    return key;
}

void modal_order_hilbert_keys(int64_t n, const double *positions, uint64_t *keys)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, edge = 0;
    for (int k = 0; k < 3; k++) {
        double high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            low[k] = fmin(low[k], positions[3 * i + k]);
            high = fmax(high, positions[3 * i + k]);
        }
        edge = fmax(edge, high - low[k]);
    }
    const double last = (1u << HILBERT_BITS) - 1;
    for (int64_t i = 0; i < n; i++) {
        uint32_t cell[3];
        for (int k = 0; k < 3; k++) {
            double place = last * ((positions[3 * i + k] - low[k]) / edge);
            /* Not a number (a box of one point) takes the first cell: the cast would be undefined. */
            cell[k] = place > 0 ? (uint32_t)fmin(place, last) : 0;
        }
        keys[i] = hilbert_key(cell);
    }
}

static modal_status hilbert_order(int64_t n, const double *positions, int32_t *order,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "vertex keys", err));
    modal_order_hilbert_keys(n, positions, keys);
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    MODAL_TRY(modal_sort_by_key(n, keys, order, err));
done:
    modal_free(&keys);
    return status;
}

/* The vertices that touch the patch that is growing, in the order in which they came to do so. */
typedef struct frontier {
    int32_t vertices[FRONTIER];
    int32_t count;
} frontier;

typedef struct patch_state {
    const int64_t *ring_offsets;
    const int32_t *ring;
    int32_t *n_taken;    /* [n] neighbours that are in a patch already */
    int32_t *last_patch; /* [n] the patch whose frontier the vertex was in last, from 1; TAKEN */
} patch_state;

/* The vertex that leaves the fewest loose ends: most neighbours taken, then fewest neighbours, then
 * earliest to come. -1 where all are taken. */
static int32_t choose(const patch_state *s, const frontier *front)
{
    int32_t best = -1;
    int64_t best_valence = 0;
    for (int32_t i = 0; i < front->count; i++) {
        int32_t v = front->vertices[i];
        if (s->last_patch[v] == TAKEN) continue;
        int64_t valence = s->ring_offsets[v + 1] - s->ring_offsets[v];
        if (best < 0 || s->n_taken[v] > s->n_taken[best] ||
            (s->n_taken[v] == s->n_taken[best] && valence < best_valence)) {
            best = v;
            best_valence = valence;
        }
    }
    return best;
}

static void take(const patch_state *s, int32_t v, int32_t patch, frontier *front)
{
    s->last_patch[v] = TAKEN;
    for (int64_t i = s->ring_offsets[v]; i < s->ring_offsets[v + 1]; i++) {
        int32_t w = s->ring[i];
        s->n_taken[w]++;
        if (s->last_patch[w] == TAKEN || s->last_patch[w] == patch) continue;
        /* A vertex with more neighbours than that is rare; who finds no place comes later. */
        if (front->count == FRONTIER) continue;
        s->last_patch[w] = patch;
        front->vertices[front->count++] = w;
    }
}

/* Cuts the surface into patches of one tile each; a patch starts beside the one before it, or where
 * that is surrounded at the first vertex that is left. */
static modal_status grow_patches(int64_t n, const modal_surface_tables *tables, int32_t *order,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    patch_state s = {.ring_offsets = tables->ring_offsets, .ring = tables->ring};
    frontier front = {.count = 0};
    int32_t patch = 0, left = 0;
    MODAL_TRY(modal_alloc_zero(&s.n_taken, n, sizeof *s.n_taken, "neighbours taken", err));
    MODAL_TRY(modal_alloc_zero(&s.last_patch, n, sizeof *s.last_patch, "patches", err));
    for (int64_t count = 0; count < n; count++) {
        int32_t v = choose(&s, &front);
        if (count % TILE == 0) {
            front.count = 0;
            patch++;
        }
        if (v < 0) {
            while (s.last_patch[left] == TAKEN) left++;
            v = left;
        }
        take(&s, v, patch, &front);
        order[count] = v;
    }
done:
    modal_free(&s.n_taken);
    modal_free(&s.last_patch);
    return status;
}

/* stored_vertex [n]: the inverse permutation. */
static modal_status invert(int64_t n, const int32_t *user_vertex, int32_t **stored_vertex,
                           modal_error *err)
{
    modal_status status = modal_alloc(stored_vertex, n, sizeof **stored_vertex, "stored vertices",
                                      err);
    for (int64_t v = 0; status == MODAL_OK && v < n; v++)
        (*stored_vertex)[user_vertex[v]] = (int32_t)v;
    return status;
}

modal_status modal_order_vertices(int64_t n, const double *positions, int64_t n_triangles,
                                  const int32_t *triangles, int32_t *user_vertex, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_tables tables = {0};
    int32_t *along_curve = NULL, *place = NULL, *placed_triangles = NULL;
    MODAL_TRY(modal_alloc(&along_curve, n, sizeof *along_curve, "curve order", err));
    MODAL_TRY(hilbert_order(n, positions, along_curve, err));
    MODAL_TRY(invert(n, along_curve, &place, err));
    /* The patches grow among vertices that are numbered along the curve: memory that is near, and a
     * result that does not depend on the user's order except where points coincide. */
    MODAL_TRY(modal_alloc(&placed_triangles, 3 * n_triangles, sizeof *placed_triangles, "triangles",
                          err));
    for (int64_t i = 0; i < 3 * n_triangles; i++) placed_triangles[i] = place[triangles[i]];
    MODAL_TRY(modal_surface_tables_build(n, n_triangles, placed_triangles, &tables, err));
    MODAL_TRY(grow_patches(n, &tables, user_vertex, err));
    for (int64_t v = 0; v < n; v++) user_vertex[v] = along_curve[user_vertex[v]];
done:
    modal_surface_tables_free(&tables);
    modal_free(&along_curve);
    modal_free(&place);
    modal_free(&placed_triangles);
    return status;
}

modal_status modal_order_triangles(int64_t n, const int32_t *user_vertex, int64_t n_triangles,
                                   const int32_t *triangles, int32_t *user_triangle,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *stored_vertex = NULL;
    uint64_t *keys = NULL;
    MODAL_TRY(invert(n, user_vertex, &stored_vertex, err));
    MODAL_TRY(modal_alloc(&keys, n_triangles, sizeof *keys, "triangle keys", err));
    for (int64_t t = 0; t < n_triangles; t++) {
        int32_t smallest = INT32_MAX;
        for (int k = 0; k < 3; k++) {
            int32_t v = stored_vertex[triangles[3 * t + k]];
            if (v < smallest) smallest = v;
        }
        keys[t] = (uint64_t)smallest;
        user_triangle[t] = (int32_t)t;
    }
    MODAL_TRY(modal_sort_by_key(n_triangles, keys, user_triangle, err));
done:
    modal_free(&stored_vertex);
    modal_free(&keys);
    return status;
}

modal_status modal_order_apply(const modal_surface_mesh *surface, const int32_t *user_vertex,
                               const int32_t *user_triangle, double *positions, int32_t *triangles,
                               int32_t *triangle_uv, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *stored_vertex = NULL;
    MODAL_TRY(invert(surface->n_vertices, user_vertex, &stored_vertex, err));
    for (int64_t v = 0; v < surface->n_vertices; v++)
        memcpy(positions + 3 * v, surface->positions + 3 * (int64_t)user_vertex[v],
               3 * sizeof(double));
    for (int64_t t = 0; t < surface->n_triangles; t++) {
        int64_t user = user_triangle[t];
        for (int k = 0; k < 3; k++)
            triangles[3 * t + k] = stored_vertex[surface->triangles[3 * user + k]];
        if (triangle_uv && surface->triangle_uv)
            memcpy(triangle_uv + 3 * t, surface->triangle_uv + 3 * user, 3 * sizeof(int32_t));
    }
done:
    modal_free(&stored_vertex);
    return status;
}

modal_status modal_order_gather_lines(int64_t n, const int64_t *ring_offsets, const int32_t *ring,
                                      double *lines, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *last_tile = NULL; /* [lines] the tile that touched a line last, counted from 1 */
    int64_t n_lines = (n * POSITION_BYTES + LINE_BYTES - 1) / LINE_BYTES, touched = 0;
    MODAL_TRY(modal_alloc_zero(&last_tile, n_lines, sizeof *last_tile, "cache lines", err));
    for (int64_t v = 0; v < n; v++) {
        int32_t tile = (int32_t)(v / TILE + 1);
        for (int64_t i = ring_offsets[v] - 1; i < ring_offsets[v + 1]; i++) {
            int64_t read = i < ring_offsets[v] ? v : ring[i];
            int64_t first = read * POSITION_BYTES / LINE_BYTES;
            int64_t last = (read * POSITION_BYTES + POSITION_BYTES - 1) / LINE_BYTES;
            for (int64_t line = first; line <= last; line++) {
                touched += last_tile[line] != tile;
                last_tile[line] = tile;
            }
        }
    }
    *lines = n > 0 ? (double)touched / (double)((n + TILE - 1) / TILE) : 0;
done:
    modal_free(&last_tile);
    return status;
}
