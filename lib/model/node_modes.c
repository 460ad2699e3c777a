/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/node_modes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

int modal_shape_has_node_modes(const modal_shape *shape)
{
    return shape->solid.mesh.n_elements > 0 &&
           (shape->solid.volume_modes || shape->solid.volume_modes_float || shape->solid.inner_modes || shape->modes.n_modes == 0);
}

modal_status modal_node_modes_init(modal_node_modes *modes, const modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t inner = 0;
    *modes = (modal_node_modes){.shape = s};
    if (!s->solid.inner_modes) return MODAL_OK;
    assert(s->modes.modal_matrix && !s->modes.matrix_tiles && s->embedding.nodes);
    MODAL_TRY(modal_alloc_zero(&modes->place, s->solid.mesh.n_nodes, sizeof *modes->place, "nodes", err));
    for (int64_t v = 0; v < s->surface.n_vertices; v++) modes->place[s->embedding.nodes[v]] = (int32_t)(-1 - v);
    for (int64_t i = 0; i < s->solid.mesh.n_nodes; i++)
        if (modes->place[i] >= 0) modes->place[i] = inner++;
done:
    return status;
}

void modal_node_modes_free(modal_node_modes *modes) { modal_free(&modes->place); }

void modal_node_modes_get(const modal_node_modes *modes, int32_t k, double *phi)
{
    const modal_shape *s = modes->shape;
    const int64_t n = s->solid.mesh.n_nodes, n_inner = n - s->surface.n_vertices;
    if (s->solid.volume_modes) {
        memcpy(phi, s->solid.volume_modes + 3 * n * k, 3 * (size_t)n * sizeof *phi);
    } else if (s->solid.volume_modes_float) {
        for (int64_t i = 0; i < 3 * n; i++) phi[i] = s->solid.volume_modes_float[3 * n * k + i];
    } else {
        for (int64_t i = 0; i < n; i++) {
            const int64_t place = modes->place[i], v = -1 - place;
            const float *from = place >= 0 ? s->solid.inner_modes + 3 * (n_inner * k + place)
                                           : s->modes.modal_matrix + (v / MODAL_TILE * s->modes.n_modes + k) * 3 * MODAL_TILE +
                                                 v % MODAL_TILE;
            for (int a = 0; a < 3; a++) phi[3 * i + a] = from[a * (place >= 0 ? 1 : MODAL_TILE)];
        }
    }
}

modal_status modal_shape_keep_modes(modal_shape *s, modal_modes_kept kept, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int inner = s->embedding.kind == MODAL_SURFACE_BOUNDARY;
    const int64_t n = s->solid.mesh.n_nodes, n_kept = inner ? n - s->surface.n_vertices : n;
    uint8_t *is_vertex = NULL;
    float *floats = NULL;
    int64_t at = 0;
    int too_large = 0;
    if (!s->solid.volume_modes || kept == MODAL_KEEP_FLOAT64) goto done;
    if (kept == MODAL_KEEP_FLOAT32) {
        MODAL_TRY(modal_alloc_zero(&is_vertex, n, 1, "nodes", err));
        for (int64_t v = 0; inner && v < s->surface.n_vertices; v++) is_vertex[s->embedding.nodes[v]] = 1;
        MODAL_TRY(modal_alloc(&floats, 3 * n_kept * s->modes.n_modes, sizeof *floats, "modes at the nodes", err));
        for (int32_t k = 0; k < s->modes.n_modes; k++)
            for (int64_t i = 0; i < n; i++)
                for (int a = 0; a < 3 && !is_vertex[i]; a++) {
                    floats[at] = (float)s->solid.volume_modes[3 * (n * k + i) + a];
                    too_large |= !isfinite(floats[at++]);
                }
        if (too_large)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "modes at the nodes: a value that float32 cannot hold");
        if (inner)
            s->solid.inner_modes = floats;
        else
            s->solid.volume_modes_float = floats;
        floats = NULL;
    }
    modal_free(&s->solid.volume_modes);
done:
    modal_free(&is_vertex);
    modal_free(&floats);
    return status;
}
