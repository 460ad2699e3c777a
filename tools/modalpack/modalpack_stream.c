/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: modes that lie on the ranks come in ranges of nodes, while the basis is written, and so does the mesh. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/shape/shape_surface.h"
#include "tools/modalpack/modalpack.h"

enum { MOST_VALUES = 1 << 20 }; /* of one range */

struct modalpack_stream {
    const modal_ranks_program *ranks;
    const modal_shape *shape;
    modal_modes_source source;
    int64_t n_nodes;
    int32_t *nodes; /* [n_nodes] whose phi is written, ascending */
    double *values; /* of one range, [room] */
    int64_t room;
};

static modal_status get(modalpack_stream *s, int32_t first, int32_t n_modes, const int32_t *nodes, int64_t n_nodes, modal_error *err)
{
    const int64_t need = 3 * (int64_t)n_modes * n_nodes;
    if (need > s->room) {
        modal_free(&s->values);
        s->room = 0;
        const modal_status status = modal_alloc(&s->values, need, sizeof *s->values, "modes", err);
        if (status != MODAL_OK) return status;
        s->room = need;
    }
    return s->ranks->modes_at(first, n_modes, nodes, n_nodes, s->values, err);
}

/* As many tiles at a time as one range has room for, one at least. */
static modal_status make_tiles(void *context, int64_t first, int64_t count, float *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalpack_stream *s = context;
    const modal_shape *shape = s->shape;
    const int64_t n = shape->surface.n_vertices, *offsets = shape->embedding.offsets, n_modes = shape->modes.n_modes;
    for (int64_t done_tiles = 0, step; done_tiles < count; done_tiles += step) {
        const int64_t begin = (first + done_tiles) * MODAL_TILE, base = offsets ? offsets[begin] : begin;
        int64_t n_nodes = 0;
        for (step = 0; done_tiles + step < count; step++) {
            const int64_t end = begin + (step + 1) * MODAL_TILE < n ? begin + (step + 1) * MODAL_TILE : n;
            const int64_t more = (offsets ? offsets[end] : end) - base;
            if (step > 0 && 3 * n_modes * more > MOST_VALUES) break;
            n_nodes = more;
        }
        MODAL_TRY(get(s, 0, (int32_t)n_modes, shape->embedding.nodes + base, n_nodes, err));
        MODAL_TRY(modal_shape_tiles(shape, s->values, n_nodes, 1, first + done_tiles, step, to + done_tiles * n_modes * 3 * MODAL_TILE, err));
    }
done:
    return status;
}

static modal_status make_nodes(void *context, int64_t first, int64_t count, void *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalpack_stream *s = context;
    const int64_t most = MOST_VALUES / 3;
    for (int64_t k = 0; k < count; k++)
        for (int64_t at = 0; at < s->n_nodes; at += most) {
            const int64_t n = s->n_nodes - at < most ? s->n_nodes - at : most, place = 3 * (k * s->n_nodes + at);
            int too_large = 0;
            MODAL_TRY(get(s, (int32_t)(first + k), 1, s->nodes + at, n, err));
            if (s->source.at_nodes == MODAL_SOURCE_DOUBLE) {
                memcpy((double *)to + place, s->values, 3 * (size_t)n * sizeof(double));
                continue;
            }
            for (int64_t i = 0; i < 3 * n; i++) {
                ((float *)to)[place + i] = (float)s->values[i];
                too_large |= !isfinite(((float *)to)[place + i]);
            }
            if (too_large) MODAL_FAIL(err, MODAL_ERROR_INPUT, "modes at the nodes: a value that float32 cannot hold");
        }
done:
    return status;
}

/* ---- the mesh ---- */

static const struct stream_array {
    size_t offset, row; /* in modal_shape; bytes */
} arrays[MODAL_RANKS_ARRAYS] = {
    [MODAL_RANKS_NODES] = {offsetof(modal_shape, solid.mesh.nodes), 3 * sizeof(double)},
    [MODAL_RANKS_NODE_TAGS] = {offsetof(modal_shape, solid.mesh.node_tags), sizeof(int64_t)},
    [MODAL_RANKS_ELEMENT_TYPE] = {offsetof(modal_shape, solid.mesh.element_type), 1},
    [MODAL_RANKS_ELEMENT_NODES] = {offsetof(modal_shape, solid.mesh.element_nodes), sizeof(int32_t)},
    [MODAL_RANKS_ELEMENT_TAGS] = {offsetof(modal_shape, solid.mesh.element_tags), sizeof(int64_t)},
    [MODAL_RANKS_ELEMENT_MATERIAL] = {offsetof(modal_shape, solid.mesh.element_material), sizeof(int32_t)},
    [MODAL_RANKS_ELEMENT_FIBRES] = {offsetof(modal_shape, solid.mesh.element_fibres), 3 * sizeof(double)},
};

static int find_array(size_t offset)
{
    for (int k = 0; k < MODAL_RANKS_ARRAYS; k++)
        if (arrays[k].offset == offset) return k;
    return -1;
}

static int64_t mesh_bytes(void *context, size_t offset)
{
    const modalpack_stream *s = context;
    const int k = find_array(offset);
    return k < 0 ? 0 : s->ranks->mesh_bytes((modal_ranks_array)k);
}

/* Rules of the file that a whole mesh in memory would be held to when it is written. */
static modal_status check_rows(const modal_volume_mesh *mesh, int array, int64_t first, int64_t count, const void *rows, modal_error *err)
{
    const int32_t high = array == MODAL_RANKS_ELEMENT_NODES ? (int32_t)mesh->n_nodes : mesh->n_materials;
    const int has_index = array == MODAL_RANKS_ELEMENT_NODES || array == MODAL_RANKS_ELEMENT_MATERIAL;
    for (int64_t i = 0; array == MODAL_RANKS_NODES && i < 3 * count; i++)
        if (!isfinite(((const double *)rows)[i]))
            return modal_error_set(err, MODAL_ERROR_INPUT, "mesh: node index %lld: a coordinate is not finite", (long long)(first + i / 3));
    for (int64_t i = 0; has_index && i < count; i++) {
        const int32_t index = ((const int32_t *)rows)[i];
        if (index < 0 || index >= high)
            return modal_error_set(err, MODAL_ERROR_INPUT, "mesh: value %lld: outside [0, %d), %d", (long long)(first + i), high, index);
    }
    for (int64_t i = 0; array == MODAL_RANKS_ELEMENT_TYPE && i < count; i++)
        if (((const uint8_t *)rows)[i] >= MODAL_ELEMENT_TYPES)
            return modal_error_set(err, MODAL_ERROR_INPUT, "mesh: element index %lld: no type of number %d", (long long)(first + i),
                                   ((const uint8_t *)rows)[i]);
    return MODAL_OK;
}

static modal_status make_rows(void *context, size_t offset, int64_t first, int64_t count, void *to, modal_error *err)
{
    modalpack_stream *s = context;
    const int k = find_array(offset);
    const int64_t row = (int64_t)arrays[k].row;
    const modal_status status = s->ranks->mesh_at((modal_ranks_array)k, first * row, count * row, to, err);
    return status != MODAL_OK ? status : check_rows(&s->shape->solid.mesh, k, first, count, to, err);
}

modal_status modalpack_stream_new(const modalpack_request *r, modal_shape *shape, modalpack_stream **stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalpack_stream *s = NULL;
    uint8_t *left_out = NULL;
    const int boundary = shape->embedding.kind == MODAL_SURFACE_BOUNDARY, inner = boundary && r->volume_modes == MODAL_KEEP_FLOAT32;
    const int64_t n = r->volume_modes == MODAL_KEEP_NONE ? 0 : shape->solid.mesh.n_nodes;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "modes", err));
    *stream = s;
    s->ranks = r->ranks;
    s->shape = shape;
    s->source = (modal_modes_source){.tiles = make_tiles, .nodes = make_nodes, .at_nodes = MODAL_SOURCE_DOUBLE, .context = s};
    if (!shape->solid.mesh.nodes) { /* the ranks have it */
        s->source.mesh_bytes = mesh_bytes;
        s->source.mesh_rows = make_rows;
    }
    if (r->volume_modes == MODAL_KEEP_NONE) s->source.at_nodes = MODAL_SOURCE_NONE;
    if (r->volume_modes == MODAL_KEEP_FLOAT32) s->source.at_nodes = inner ? MODAL_SOURCE_INNER : MODAL_SOURCE_FLOAT;
    MODAL_TRY(modal_alloc_zero(&left_out, shape->solid.mesh.n_nodes, 1, "nodes", err));
    for (int64_t v = 0; inner && v < shape->surface.n_vertices; v++) left_out[shape->embedding.nodes[v]] = 1;
    MODAL_TRY(modal_alloc(&s->nodes, n, sizeof *s->nodes, "nodes", err));
    for (int64_t i = 0; i < n; i++)
        if (!left_out[i]) s->nodes[s->n_nodes++] = (int32_t)i;
    shape->source = &s->source;
done:
    modal_free(&left_out);
    return status;
}

modalpack_stream *modalpack_stream_delete(modalpack_stream *s)
{
    if (!s) return NULL;
    modal_free(&s->nodes);
    modal_free(&s->values);
    modal_free(&s);
    return NULL;
}
