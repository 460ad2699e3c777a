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
    uint8_t *is_vertex = NULL;
    int32_t inner = 0;
    *modes = (modal_node_modes){.shape = s};
    if (!s->solid.inner_modes) return MODAL_OK;
    assert(s->modes.modal_matrix && !s->modes.matrix_tiles && s->embedding.nodes);
    MODAL_TRY(modal_alloc_zero(&is_vertex, s->solid.mesh.n_nodes, 1, "nodes", err));
    MODAL_TRY(modal_alloc(&modes->inner, s->solid.mesh.n_nodes - s->surface.n_vertices, sizeof *modes->inner, "nodes", err));
    for (int64_t v = 0; v < s->surface.n_vertices; v++) is_vertex[s->embedding.nodes[v]] = 1;
    for (int64_t i = 0; i < s->solid.mesh.n_nodes; i++)
        if (!is_vertex[i]) modes->inner[inner++] = (int32_t)i;
done:
    modal_free(&is_vertex);
    return status;
}

void modal_node_modes_free(modal_node_modes *modes) { modal_free(&modes->inner); }

/* phi of mode k, of vertices and of the other nodes, into u or added to it. */
static inline void put_apart(const modal_node_modes *modes, int32_t k, double factor, int adds, double *u)
{
    const modal_shape *s = modes->shape;
    const int64_t n_vertices = s->surface.n_vertices, n_inner = s->solid.mesh.n_nodes - n_vertices;
    for (int64_t v = 0; v < n_vertices; v++) {
        const float *from = s->modes.modal_matrix + (v / MODAL_TILE * s->modes.n_modes + k) * 3 * MODAL_TILE + v % MODAL_TILE;
        double *to = u + 3 * (int64_t)s->embedding.nodes[v];
        for (int a = 0; a < 3; a++) to[a] = adds ? to[a] + factor * from[a * MODAL_TILE] : from[a * MODAL_TILE];
    }
    for (int64_t i = 0; i < n_inner; i++) {
        const float *from = s->solid.inner_modes + 3 * (n_inner * k + i);
        double *to = u + 3 * (int64_t)modes->inner[i];
        for (int a = 0; a < 3; a++) to[a] = adds ? to[a] + factor * from[a] : from[a];
    }
}

void modal_node_modes_get(const modal_node_modes *modes, int32_t k, double *phi)
{
    const modal_shape *s = modes->shape;
    const int64_t n = s->solid.mesh.n_nodes;
    if (s->solid.volume_modes)
        memcpy(phi, s->solid.volume_modes + 3 * n * k, 3 * (size_t)n * sizeof *phi);
    else if (s->solid.volume_modes_float)
        for (int64_t i = 0; i < 3 * n; i++) phi[i] = s->solid.volume_modes_float[3 * n * k + i];
    else
        put_apart(modes, k, 1, 0, phi);
}

void modal_node_modes_add(const modal_node_modes *modes, int32_t k, double factor, double *u)
{
    const modal_shape *s = modes->shape;
    const int64_t n = s->solid.mesh.n_nodes;
    if (s->solid.volume_modes)
        for (int64_t i = 0; i < 3 * n; i++) u[i] += factor * s->solid.volume_modes[3 * n * k + i];
    else if (s->solid.volume_modes_float)
        for (int64_t i = 0; i < 3 * n; i++) u[i] += factor * s->solid.volume_modes_float[3 * n * k + i];
    else
        put_apart(modes, k, factor, 1, u);
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
