/* SPDX-License-Identifier: Apache-2.0 */
/* A table of probes needs no other vertices: the basis is cut down to those that are followed and the triangles at them,
 * which their normals and tangents need. What is left is an ordinary basis, so that the same deformer gives the same values. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/sequence_csv.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

/* A shape that is being cut. */
typedef struct cut {
    int64_t n_vertices, n_triangles; /* that are left */
    int32_t *vertex;   /* [n_vertices of the shape] its place among those left, -1: goes */
    int32_t *triangle; /* [n_triangles of the shape] the same */
    int32_t *stored;   /* [n_vertices of the shape] the stored index of a user index */
} cut;

static void free_cut(cut *c)
{
    modal_free(&c->vertex);
    modal_free(&c->triangle);
    modal_free(&c->stored);
}

/* Which object a point of a frame belongs to; *point becomes its vertex there. */
static int32_t find_object(const modal_basis *b, int64_t *point)
{
    int32_t i = 0;
    while (*point >= b->shapes[b->objects[i].shape].surface.n_vertices) *point -= b->shapes[b->objects[i++].shape].surface.n_vertices;
    return i;
}

/* A shape keeps what is followed; and a triangle, or a vertex, since none is without. */
static modal_status choose(const modaldeform_input *in, int32_t shape, int stored_order, cut *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = &in->basis;
    const modal_shape *s = &b->shapes[shape];
    uint8_t *followed = NULL;
    MODAL_TRY(modal_alloc_zero(&followed, s->surface.n_vertices, 1, "probes", err));
    MODAL_TRY(modal_alloc_zero(&c->vertex, s->surface.n_vertices, sizeof *c->vertex, "probes", err));
    MODAL_TRY(modal_alloc(&c->triangle, s->surface.n_triangles, sizeof *c->triangle, "probes", err));
    MODAL_TRY(modal_alloc(&c->stored, s->surface.n_vertices, sizeof *c->stored, "probes", err));
    for (int64_t v = 0; v < s->surface.n_vertices; v++) c->stored[s->surface.user_vertex[v]] = (int32_t)v;
    for (int64_t p = 0; p < in->n_probes; p++) {
        int64_t vertex = in->probes[p].point;
        if (b->objects[find_object(b, &vertex)].shape == shape) followed[stored_order ? vertex : c->stored[vertex]] = 1;
    }
    /* c->vertex is 1 where the vertex stays, until they are counted */
    for (int64_t v = 0; v < s->surface.n_vertices; v++) c->vertex[v] = followed[v];
    for (int64_t t = 0; t < s->surface.n_triangles; t++) {
        const int32_t *corners = s->surface.triangles + 3 * t;
        const int stays = t == 0 || followed[corners[0]] || followed[corners[1]] || followed[corners[2]];
        for (int k = 0; k < 3 && stays; k++) c->vertex[corners[k]] = 1;
        c->triangle[t] = stays ? (int32_t)c->n_triangles++ : -1;
    }
    if (s->surface.n_triangles == 0) c->vertex[0] = 1;
    /* of a volume, the first cell */
    for (int64_t k = 0; in->cells.n_cells > 0 && shape == b->objects[0].shape && k < in->cells.offsets[1]; k++)
        c->vertex[c->stored[in->cells.connectivity[k]]] = 1;
    for (int64_t v = 0; v < s->surface.n_vertices; v++) c->vertex[v] = c->vertex[v] ? (int32_t)c->n_vertices++ : -1;
done:
    modal_free(&followed);
    return status;
}

/* The vertices and triangles that are left, in the order that they had. */
static modal_status cut_surface(modal_surface *s, const cut *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface n = {.n_vertices = c->n_vertices, .n_triangles = c->n_triangles}; /* becomes *s */
    int64_t count = 0;
    MODAL_TRY(modal_alloc(&n.rest_positions, 3 * c->n_vertices, sizeof(double), "probes", err));
    MODAL_TRY(modal_alloc(&n.user_vertex, c->n_vertices, sizeof(int32_t), "probes", err));
    MODAL_TRY(modal_alloc(&n.triangles, 3 * c->n_triangles, sizeof(int32_t), "probes", err));
    MODAL_TRY(modal_alloc(&n.user_triangle, c->n_triangles, sizeof(int32_t), "probes", err));
    for (int64_t v = 0; v < s->n_vertices; v++)
        if (c->vertex[v] >= 0) memcpy(n.rest_positions + 3 * c->vertex[v], s->rest_positions + 3 * v, 3 * sizeof(double));
    for (int64_t user = 0; user < s->n_vertices; user++)
        if (c->vertex[c->stored[user]] >= 0) n.user_vertex[c->vertex[c->stored[user]]] = (int32_t)count++;
    for (int64_t t = 0; t < s->n_triangles; t++) {
        if (c->triangle[t] < 0) continue;
        for (int k = 0; k < 3; k++) n.triangles[3 * c->triangle[t] + k] = c->vertex[s->triangles[3 * t + k]];
        n.user_triangle[c->triangle[t]] = c->triangle[t]; /* nobody is told of triangles */
    }
    if (s->triangle_uv) {
        MODAL_TRY(modal_alloc(&n.triangle_uv, 3 * c->n_triangles, sizeof(int32_t), "probes", err));
        for (int64_t t = 0; t < s->n_triangles; t++)
            if (c->triangle[t] >= 0) memcpy(n.triangle_uv + 3 * c->triangle[t], s->triangle_uv + 3 * t, 3 * sizeof(int32_t));
    }
    if (s->face_offsets) {
        MODAL_TRY(modal_alloc_zero(&n.face_offsets, c->n_vertices + 1, sizeof(int64_t), "probes", err));
        MODAL_TRY(modal_alloc(&n.faces, 3 * c->n_triangles, sizeof(int32_t), "probes", err));
        count = 0;
        for (int64_t v = 0; v < s->n_vertices; v++) {
            if (c->vertex[v] < 0) continue;
            for (int64_t k = s->face_offsets[v]; k < s->face_offsets[v + 1]; k++)
                if (c->triangle[s->faces[k]] >= 0) n.faces[count++] = c->triangle[s->faces[k]];
            n.face_offsets[c->vertex[v] + 1] = count;
        }
    }
    n.n_uv = s->n_uv;
    n.uv = s->uv;
    s->uv = NULL;
    modal_surface_free(s);
    *s = n;
    n = (modal_surface){0};
done:
    modal_surface_free(&n);
    return status;
}

/* The rows of the modal matrix that are left; those of the file come a tile at a time. */
static modal_status cut_matrix(modaldeform_input *in, int32_t shape, const cut *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape *s = &in->basis.shapes[shape];
    const int64_t rows = 3 * (int64_t)s->modes.n_modes, floats = rows * MODAL_TILE;
    float *matrix = NULL, *buffer = NULL;
    int64_t in_buffer = -1;
    MODAL_TRY(modal_alloc_zero(&matrix, modal_tile_count(c->n_vertices) * floats, sizeof *matrix, "probes", err));
    MODAL_TRY(modal_alloc(&buffer, floats, sizeof *buffer, "probes", err));
    for (int64_t v = 0; v < s->surface.n_vertices; v++) {
        const int64_t tile = v / MODAL_TILE, to = c->vertex[v];
        if (to < 0) continue;
        if (!s->modes.modal_matrix && tile != in_buffer) MODAL_TRY(modal_basis_tiles_read(in->tiles, shape, tile, tile + 1, buffer, err));
        in_buffer = tile;
        const float *from = s->modes.modal_matrix ? s->modes.modal_matrix + tile * floats : buffer;
        for (int64_t k = 0; k < rows; k++)
            matrix[to / MODAL_TILE * floats + k * MODAL_TILE + to % MODAL_TILE] = from[k * MODAL_TILE + v % MODAL_TILE];
    }
    modal_free(&s->modes.modal_matrix);
    s->modes.modal_matrix = matrix;
    matrix = NULL;
done:
    modal_free(&matrix);
    modal_free(&buffer);
    return status;
}

/* Of a volume's cells the first one is left: a volume has at least one. */
static void cut_cells(modaldeform_input *in, const modal_surface *first, const cut *c)
{
    modal_solid_cells *cells = &in->cells;
    for (int64_t k = 0; k < cells->offsets[1]; k++)
        cells->connectivity[k] = first->user_vertex[c->vertex[c->stored[cells->connectivity[k]]]];
    cells->n_cells = 1;
}

/* A rest position that does not fit float32 is said by the deformer, which counts vertices from the first one. */
static int all_fit(const modal_basis *b)
{
    for (int32_t i = 0; i < b->n_shapes; i++)
        for (int64_t k = 0; k < 3 * b->shapes[i].surface.n_vertices; k++)
            if (!(fabs(b->shapes[i].surface.rest_positions[k]) <= FLT_MAX)) return 0;
    return 1;
}

/* Where the points are now, and what they are called. */
static modal_status renumber(modaldeform_input *in, const cut *cuts, int stored_order, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = &in->basis;
    int64_t *first = NULL, base = 0; /* first point of each object */
    MODAL_TRY(modal_alloc(&first, b->n_objects, sizeof *first, "probes", err));
    for (int32_t i = 0; i < b->n_objects; base += cuts[b->objects[i++].shape].n_vertices) first[i] = base;
    MODAL_TRY(modal_alloc(&in->point_numbers, base, sizeof *in->point_numbers, "probes", err));
    for (int64_t p = 0; p < in->n_probes; p++) {
        int64_t vertex = in->probes[p].point;
        const int32_t i = find_object(b, &vertex);
        const cut *c = &cuts[b->objects[i].shape];
        in->probes[p].point = first[i];
        if (stored_order) in->probes[p].point += c->vertex[vertex];
        else /* as many users' vertices come before it as stay */
            for (int64_t user = 0; user < vertex; user++) in->probes[p].point += c->vertex[c->stored[user]] >= 0;
    }
    for (int32_t i = 0; i < b->n_objects; i++) {
        const modal_shape *s = &b->shapes[b->objects[i].shape];
        const cut *c = &cuts[b->objects[i].shape];
        int64_t *to = in->point_numbers + first[i];
        for (int64_t v = 0; v < s->surface.n_vertices; v++)
            if (c->vertex[stored_order ? v : c->stored[v]] >= 0) *to++ = v;
    }
done:
    modal_free(&first);
    return status;
}

modal_status modaldeform_crop(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis *b = &in->basis;
    const int stored_order = r->deform.stored_order;
    cut *cuts = NULL;
    /* curvature at a probe takes the vertices around it */
    if (r->show_arrays || r->curved || r->n_formats != 1 || r->formats[0] != &modal_sequence_csv || !all_fit(b)) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&cuts, b->n_shapes, sizeof *cuts, "probes", err));
    for (int32_t i = 0; i < b->n_shapes; i++) MODAL_TRY(choose(in, i, stored_order, &cuts[i], err));
    MODAL_TRY(renumber(in, cuts, stored_order, err));
    for (int32_t i = 0; i < b->n_shapes; i++) {
        MODAL_TRY(cut_matrix(in, i, &cuts[i], err));
        MODAL_TRY(cut_surface(&b->shapes[i].surface, &cuts[i], err));
    }
    if (in->cells.n_cells > 0) cut_cells(in, &b->shapes[b->objects[0].shape].surface, &cuts[b->objects[0].shape]);
    modal_free(&in->triangles);
    MODAL_TRY(modal_deform_topology(b, stored_order, &in->n_points, &in->n_triangles, &in->triangles, err));
done:
    for (int32_t i = 0; cuts && i < b->n_shapes; i++) free_cut(&cuts[i]);
    modal_free(&cuts);
    return status;
}
