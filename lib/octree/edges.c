/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/edges.h"

#include <math.h>

#include "lib/base/memory.h"
#include "lib/base/point_table.h"
#include "lib/base/sort.h"

modal_status modal_surface_edges(const double *positions, int64_t n_vertices, const int32_t *triangles, int64_t n_triangles, int32_t *edges, int32_t *places,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = 3 * n_triangles;
    modal_point_table table = {0};
    int32_t *own = NULL, *order = NULL;
    uint64_t *keys = NULL;
    if (!places) {
        MODAL_TRY(modal_alloc(&own, n_vertices, sizeof *own, "vertices", err));
        places = own;
    }
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "edges", err));
    MODAL_TRY(modal_alloc(&order, n, sizeof *order, "edges", err));
    for (int64_t v = 0; v < n_vertices; v++) {
        int32_t earlier = -1;
        places[v] = (int32_t)v;
        const double *p = positions + 3 * v;
        if (isnan(p[0]) || isnan(p[1]) || isnan(p[2])) continue; /* a place of its own */
        MODAL_TRY(modal_point_table_add(&table, positions, (int32_t)v, &earlier, err));
        if (earlier >= 0) places[v] = earlier;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t t = i / 3;
        const uint32_t a = (uint32_t)places[triangles[i]], b = (uint32_t)places[triangles[3 * t + (i + 1) % 3]];
        keys[i] = (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
        order[i] = (int32_t)i;
    }
    MODAL_TRY(modal_sort_by_key(n, keys, order, err));
    for (int64_t i = 0, number = 0; i < n; i++) {
        number += i && keys[i] != keys[i - 1];
        edges[order[i]] = (int32_t)number;
    }
done:
    modal_point_table_free(&table);
    modal_free(&own);
    modal_free(&keys);
    modal_free(&order);
    return status;
}
