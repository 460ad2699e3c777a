/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/node_modes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

int modal_shape_has_node_modes(const modal_shape *shape)
{
    return shape->volume.n_elements > 0 &&
           (shape->volume_modes || shape->volume_modes_float || shape->inner_modes || shape->n_modes == 0);
}

modal_status modal_node_modes_init(modal_node_modes *modes, const modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t inner = 0;
    *modes = (modal_node_modes){.shape = s};
    if (!s->inner_modes) return MODAL_OK;
    assert(s->modal_matrix && !s->matrix_tiles && s->embedding_nodes);
    MODAL_TRY(modal_alloc_zero(&modes->place, s->volume.n_nodes, sizeof *modes->place, "nodes", err));
    for (int64_t v = 0; v < s->n_vertices; v++) modes->place[s->embedding_nodes[v]] = (int32_t)(-1 - v);
    for (int64_t i = 0; i < s->volume.n_nodes; i++)
        if (modes->place[i] >= 0) modes->place[i] = inner++;
done:
    return status;
}

void modal_node_modes_free(modal_node_modes *modes) { modal_free(&modes->place); }

void modal_node_modes_get(const modal_node_modes *modes, int32_t k, double *phi)
{
    const modal_shape *s = modes->shape;
    const int64_t n = s->volume.n_nodes, n_inner = n - s->n_vertices;
    if (s->volume_modes) {
        memcpy(phi, s->volume_modes + 3 * n * k, 3 * (size_t)n * sizeof *phi);
    } else if (s->volume_modes_float) {
        for (int64_t i = 0; i < 3 * n; i++) phi[i] = s->volume_modes_float[3 * n * k + i];
    } else {
        for (int64_t i = 0; i < n; i++) {
            const int64_t place = modes->place[i], v = -1 - place;
            const float *from = place >= 0 ? s->inner_modes + 3 * (n_inner * k + place)
                                           : s->modal_matrix + (v / MODAL_TILE * s->n_modes + k) * 3 * MODAL_TILE +
                                                 v % MODAL_TILE;
            for (int a = 0; a < 3; a++) phi[3 * i + a] = from[a * (place >= 0 ? 1 : MODAL_TILE)];
        }
    }
}

modal_status modal_shape_keep_modes(modal_shape *s, modal_modes_kept kept, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int inner = s->surface_kind == MODAL_SURFACE_BOUNDARY;
    const int64_t n = s->volume.n_nodes, n_kept = inner ? n - s->n_vertices : n;
    uint8_t *is_vertex = NULL;
    float *floats = NULL;
    int64_t at = 0;
    int too_large = 0;
    if (!s->volume_modes || kept == MODAL_KEEP_FLOAT64) goto done;
    if (kept == MODAL_KEEP_FLOAT32) {
        MODAL_TRY(modal_alloc_zero(&is_vertex, n, 1, "nodes", err));
        for (int64_t v = 0; inner && v < s->n_vertices; v++) is_vertex[s->embedding_nodes[v]] = 1;
        MODAL_TRY(modal_alloc(&floats, 3 * n_kept * s->n_modes, sizeof *floats, "modes at the nodes", err));
        for (int32_t k = 0; k < s->n_modes; k++)
            for (int64_t i = 0; i < n; i++)
                for (int a = 0; a < 3 && !is_vertex[i]; a++) {
                    floats[at] = (float)s->volume_modes[3 * (n * k + i) + a];
                    too_large |= !isfinite(floats[at++]);
                }
        if (too_large)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "modes at the nodes: a value that float32 cannot hold");
        if (inner)
            s->inner_modes = floats;
        else
            s->volume_modes_float = floats;
        floats = NULL;
    }
    modal_free(&s->volume_modes);
done:
    modal_free(&is_vertex);
    modal_free(&floats);
    return status;
}
