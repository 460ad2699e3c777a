/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_fit/neighbour_rings.h"

#include "lib/base/memory.h"
#include "lib/base/tile.h"

/* Lists the neighbours of v in list[MODAL_NEIGHBOURS_MAX + 1], which begins with v; `seen` holds for every vertex the
 * last one that has reached it, plus 1. Returns their number, v included. */
static int64_t reach(int64_t v, const int64_t *ring_offsets, const int32_t *ring, int n_rings, int64_t *seen,
                     int32_t *list)
{
    int64_t count = 1, begin = 0;
    list[0] = (int32_t)v;
    seen[v] = v + 1;
    for (int k = 0; k < n_rings; k++) {
        const int64_t end = count;
        for (int64_t i = begin; i < end; i++) {
            const int64_t from = list[i], tile = from / MODAL_TILE;
            for (int64_t row = ring_offsets[tile]; row < ring_offsets[tile + 1]; row++) {
                const int32_t entry = ring[row * MODAL_TILE + from % MODAL_TILE], to = entry < 0 ? ~entry : entry;
                if (seen[to] == v + 1) continue;
                if (count > MODAL_NEIGHBOURS_MAX) return count;
                seen[to] = v + 1;
                list[count++] = to;
            }
        }
        begin = end;
    }
    return count;
}

modal_status modal_neighbour_rings(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring, int n_rings,
                                   int64_t **offsets, int32_t **neighbours, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_tiles = modal_tile_count(n_vertices);
    int64_t *seen = NULL, capacity = 0;
    int32_t *lists = NULL;
    int64_t counts[MODAL_TILE];
    *offsets = NULL, *neighbours = NULL;
    MODAL_TRY(modal_alloc_zero(&seen, n_vertices, sizeof *seen, "vertices reached", err));
    MODAL_TRY(modal_alloc(&lists, (int64_t)MODAL_TILE * (MODAL_NEIGHBOURS_MAX + 1), sizeof *lists, "neighbours", err));
    MODAL_TRY(modal_alloc(offsets, n_tiles + 1, sizeof **offsets, "rows of neighbours", err));
    (*offsets)[0] = 0;
    for (int64_t tile = 0; tile < n_tiles; tile++) {
        int64_t rows = 0;
        for (int k = 0; k < MODAL_TILE; k++) {
            const int64_t v = tile * MODAL_TILE + k;
            counts[k] = v < n_vertices ? reach(v, ring_offsets, ring, n_rings, seen,
                                               lists + k * (int64_t)(MODAL_NEIGHBOURS_MAX + 1))
                                       : 1;
            if (counts[k] - 1 > rows) rows = counts[k] - 1;
        }
        (*offsets)[tile + 1] = (*offsets)[tile] + rows;
        MODAL_TRY(modal_grow(neighbours, &capacity, (*offsets)[tile + 1] * MODAL_TILE, sizeof **neighbours,
                             "neighbours", err));
        for (int64_t row = 0; row < rows; row++)
            for (int k = 0; k < MODAL_TILE; k++) {
                const int64_t v = tile * MODAL_TILE + k, self = v < n_vertices ? v : n_vertices - 1;
                (*neighbours)[((*offsets)[tile] + row) * MODAL_TILE + k] =
                    row + 1 < counts[k] ? lists[k * (int64_t)(MODAL_NEIGHBOURS_MAX + 1) + row + 1] : ~(int32_t)self;
            }
    }
done:
    modal_free(&seen);
    modal_free(&lists);
    return status;
}
