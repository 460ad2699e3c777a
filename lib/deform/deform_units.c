/* SPDX-License-Identifier: Apache-2.0 */
/* A shape's arrays on the device: converted once, from float64 where the basis has float64. */
#include <string.h>

#include "kernels/device.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/tangents_dynamic/tangents_dynamic.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

static const char *name_of(const modal_shape *shape) { return shape->name ? shape->name : ""; }

/* An array that is written in main memory and then moved to the device; where that is the same
 * memory, it is written in place. */
typedef struct upload {
    void *host, *device;
    int64_t bytes;
} upload;

static modal_status upload_begin(const modal_device *device, upload *u, int64_t count,
                                 size_t item_bytes, const char *what, modal_error *err)
{
    memset(u, 0, sizeof *u);
    modal_status status = modal_device_alloc(device, &u->device, count, item_bytes, what, err);
    if (status != MODAL_OK) return status;
    u->bytes = count * (int64_t)item_bytes;
    u->host = u->device;
    if (device->shares_memory) return MODAL_OK;
    u->host = NULL;
    status = modal_alloc(&u->host, count, item_bytes, what, err);
    if (status != MODAL_OK) modal_device_free(device, &u->device);
    return status;
}

/* Moves the array; *pointer (any `T **`) gets it when all went well. Frees what is left. */
static modal_status upload_end(deform_engine *d, upload *u, modal_status status, void *pointer,
                               modal_error *err)
{
    if (status == MODAL_OK && u->device) {
        status = modal_device_copy_in(&d->device, u->device, u->host, u->bytes, d->compute, err);
        if (status == MODAL_OK) status = modal_device_stream_wait(&d->device, d->compute, err);
    }
    if (u->host != u->device) modal_free(&u->host);
    if (status != MODAL_OK) modal_device_free(&d->device, &u->device);
    memcpy(pointer, &u->device, sizeof u->device);
    return status;
}

/* Rest positions of a member in tiles, zeros behind the last vertex. */
static modal_status fill_rest_tiles(const deform_member *m, float *tiles, modal_error *err)
{
    memset(tiles, 0, (size_t)modal_tile_count(m->n_vertices) * 96 * sizeof *tiles);
    for (int64_t v = 0; v < m->n_vertices; v++)
        for (int i = 0; i < 3; i++)
            if (!modal_deform_round(m->source->surface.rest_positions[3 * v + i],
                                    &tiles[(v / 32 * 3 + i) * 32 + v % 32]))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "shape %s: rest position of vertex %lld: %g does not fit "
                                       "float32",
                                       name_of(m->source), (long long)v,
                                       m->source->surface.rest_positions[3 * v + i]);
    return MODAL_OK;
}

static modal_status load_rest_tiles(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *members = NULL;
    int64_t n_tiles = 0;
    upload u = {0};
    if (!s->packed) {
        MODAL_TRY(upload_begin(&d->device, &u, modal_tile_count(s->n_vertices) * 96, sizeof(float),
                               "rest positions", err));
        MODAL_TRY(fill_rest_tiles(s->members, u.host, err));
        goto done;
    }
    for (int64_t i = 0; i < s->n_members; i++) n_tiles += modal_tile_count(s->members[i].n_vertices);
    MODAL_TRY(modal_alloc(&members, n_tiles * 96, sizeof *members, "rest positions", err));
    float *next = members;
    for (int64_t i = 0; i < s->n_members; i++) {
        MODAL_TRY(fill_rest_tiles(&s->members[i], next, err));
        s->pack_objects[i].rest_tiles = next;
        next += modal_tile_count(s->members[i].n_vertices) * 96;
    }
    MODAL_TRY(upload_begin(&d->device, &u, s->records.n_tiles * (int64_t)96, sizeof(float),
                           "rest positions", err));
    modal_object_pack_gather(&s->records, s->pack_objects, NULL, u.host);
done:
    modal_free(&members);
    return upload_end(d, &u, status, &s->d_rest_tiles, err);
}

static modal_status upload_copy(deform_engine *d, const void *from, int64_t count,
                                size_t item_bytes, const char *what, void *pointer,
                                modal_error *err)
{
    upload u;
    modal_status status = upload_begin(&d->device, &u, count, item_bytes, what, err);
    if (status != MODAL_OK) return status;
    if (u.bytes > 0) memcpy(u.host, from, (size_t)u.bytes);
    return upload_end(d, &u, status, pointer, err);
}

/* The records of a pack, where its vertices go, and, for what turns with an object, whose they are. */
static modal_status load_pack_tables(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    upload target = {0}, object_of = {0};
    int moved = 0;
    s->pack = s->records;
    s->pack.tiles = NULL;
    s->pack.lanes = NULL;
    s->pack.rest_tiles = s->d_rest_tiles;
    if (d->device.shares_memory) {
        s->pack.tiles = s->records.tiles;
        s->pack.lanes = s->records.lanes;
    } else {
        MODAL_TRY(upload_copy(d, s->records.tiles, s->records.n_tiles, sizeof *s->records.tiles,
                              "tiles of a pack", &s->pack.tiles, err));
        MODAL_TRY(upload_copy(d, s->records.lanes, s->records.n_mixed * (int64_t)32,
                              sizeof *s->records.lanes, "lanes of a pack", &s->pack.lanes, err));
    }
    MODAL_TRY(upload_begin(&d->device, &target, s->n_vertices, sizeof(int32_t), "points of a pack",
                           err));
    if (modal_deform_tables_of(d).once)
        MODAL_TRY(upload_begin(&d->device, &object_of, s->n_vertices, sizeof(int32_t),
                               "objects of a pack", err));
    for (int64_t i = 0; i < s->n_members; i++) {
        const deform_member *m = &s->members[i];
        const int64_t first = d->point_offsets[s->objects[i]] - s->origin;
        for (int64_t v = 0; v < m->n_vertices; v++) {
            const int64_t at = m->first_vertex + v;
            const int64_t to = first + (d->request.stored_order ? v : m->source->surface.user_vertex[v]);
            ((int32_t *)target.host)[at] = (int32_t)to;
            moved |= to != at;
            if (object_of.host) ((int32_t *)object_of.host)[at] = (int32_t)i;
        }
    }
done:
    status = upload_end(d, &target, status, &s->d_target, err);
    if (!moved) modal_device_free(&d->device, &s->d_target);
    return upload_end(d, &object_of, status, &s->d_object_of, err);
}

/* That user_vertex is a permutation; *moved: not the identity. */
static modal_status check_order(const deform_member *m, int *moved, modal_error *err)
{
    modal_status status = MODAL_OK;
    unsigned char *seen = NULL;
    const int32_t *user = m->source->surface.user_vertex;
    MODAL_TRY(modal_alloc_zero(&seen, m->n_vertices, 1, "order of vertices", err));
    *moved = 0;
    for (int64_t v = 0; v < m->n_vertices; v++) {
        if (user[v] < 0 || user[v] >= m->n_vertices || seen[user[v]]++)
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "shape %s: user_vertex[%lld] = %d: not a permutation", name_of(m->source),
                       (long long)v, user[v]);
        *moved |= user[v] != v;
    }
done:
    modal_free(&seen);
    return status;
}

/* Whether 32 neighbours of one order have few tiles of the other: on the average at most 8 of 32. */
static int is_local(int64_t n, const int32_t *source)
{
    int64_t changes = 0;
    for (int64_t first = 0; first < n; first += MODAL_TILE) {
        int32_t tiles[MODAL_TILE];
        int n_tiles = 0;
        for (int64_t i = first; i < first + MODAL_TILE && i < n; i++) {
            const int32_t tile = source[i] / MODAL_TILE;
            int k = 0;
            while (k < n_tiles && tiles[k] != tile) k++;
            if (k == n_tiles) tiles[n_tiles++] = tile;
        }
        changes += n_tiles;
    }
    return changes <= 8 * modal_tile_count(n);
}

/* A table of a shape's vertices: where they go. */
static modal_status load_user(deform_engine *d, deform_unit *s, modal_error *err)
{
    return upload_copy(d, s->members->source->surface.user_vertex, s->n_vertices, sizeof(int32_t), "order of vertices",
                       &s->d_user, err);
}

static modal_status load_order(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int moved = 0;
    for (int64_t i = 0; i < s->n_members && !d->request.stored_order; i++)
        MODAL_TRY(check_order(&s->members[i], &moved, err));
    if (s->packed) return load_pack_tables(d, s, err);
    if (!moved) goto done; /* the user's order is the stored one */
    if (s->scatters) return load_user(d, s, err);
    const int32_t *user = s->members->source->surface.user_vertex;
    upload u;
    MODAL_TRY(upload_begin(&d->device, &u, s->n_vertices, sizeof(int32_t), "order of vertices", err));
    for (int64_t v = 0; v < s->n_vertices; v++) ((int32_t *)u.host)[user[v]] = (int32_t)v;
    s->gathers = modal_deform_places(d) && is_local(s->n_vertices, u.host);
    MODAL_TRY(upload_end(d, &u, status, &s->d_source, err));
    if (modal_deform_places(d) && !s->gathers) MODAL_TRY(load_user(d, s, err));
done:
    return status;
}

/* Corners of a shape in the user's order, for its ring; the caller frees both. */
static modal_status order_corners(const deform_unit *s, const int64_t *offsets, const int32_t *corners,
                                  int64_t **place_offsets, int32_t **place_corners, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *source = NULL;
    const int32_t *user = s->members->source->surface.user_vertex;
    MODAL_TRY(modal_alloc(&source, s->n_vertices, sizeof *source, "order of vertices", err));
    MODAL_TRY(modal_alloc(place_offsets, s->n_vertices + 1, sizeof **place_offsets, "corners", err));
    MODAL_TRY(modal_alloc(place_corners, 2 * s->n_corners, sizeof **place_corners, "corners", err));
    for (int64_t v = 0; v < s->n_vertices; v++) source[user[v]] = (int32_t)v;
    modal_normals_order_corners(s->n_vertices, source, offsets, corners, *place_offsets, *place_corners);
done:
    modal_free(&source);
    return status;
}

/* The ring, unless it is larger than the corners (few vertices with very many faces). Afterwards
 * corners are needed for tangents alone. */
static modal_status load_ring(deform_engine *d, deform_unit *s, const int64_t *offsets,
                              const int32_t *corners, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = s->n_vertices, n_tiles = modal_tile_count(n);
    upload places = {0}, rows = {0};
    int64_t *place_offsets = NULL;
    int32_t *place_corners = NULL;
    if (s->gathers) {
        MODAL_TRY(order_corners(s, offsets, corners, &place_offsets, &place_corners, err));
        offsets = place_offsets;
        corners = place_corners;
    }
    MODAL_TRY(upload_begin(&d->device, &places, n_tiles + 1, sizeof(int64_t), "ring offsets", err));
    modal_normals_ring_offsets(n, offsets, corners, places.host);
    const int64_t n_rows = ((const int64_t *)places.host)[n_tiles];
    if (n_rows == 0 || n_rows * 128 > offsets[n] * 8) goto done;
    MODAL_TRY(upload_begin(&d->device, &rows, n_rows * 32, sizeof(int32_t), "ring", err));
    modal_normals_ring(n, offsets, corners, places.host, rows.host);
done:
    modal_free(&place_offsets);
    modal_free(&place_corners);
    status = upload_end(d, &places, status, &s->d_ring_offsets, err);
    status = upload_end(d, &rows, status, &s->d_ring, err);
    if (!s->d_ring) modal_device_free(&d->device, &s->d_ring_offsets);
    if (status != MODAL_OK || s->d_ring || !s->gathers) return status;
    s->gathers = 0; /* from the corners, vertices are scattered */
    return load_user(d, s, err);
}

/* The corners of a member, and with weights these, behind those of the members before it. */
static modal_status fill_corners(const deform_member *m, int64_t *offsets, int32_t *corners,
                                 float *weights, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_shape *source = m->source;
    const int64_t n = m->n_vertices;
    int32_t *corner_faces = NULL;
    if (!source->surface.face_offsets)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "no faces of vertices, which normals need");
    if (weights && source->surface.n_triangles > 0 && (!source->surface.uv || !source->surface.triangle_uv))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "no texture coordinates, which tangents need");
    const int64_t n_corners = source->surface.face_offsets[n];
    if (weights)
        MODAL_TRY(modal_alloc(&corner_faces, n_corners, sizeof *corner_faces, "faces of corners",
                              err));
    MODAL_TRY(modal_normals_corner_faces(n, source->surface.n_triangles, source->surface.triangles,
                                         source->surface.face_offsets, source->surface.faces,
                                         corners + 2 * m->first_corner, corner_faces, err));
    if (weights)
        MODAL_TRY(modal_tangents_weights(
            &(modal_tangents_surface){n, source->surface.n_triangles, source->surface.n_uv, source->surface.triangles,
                                      source->surface.triangle_uv, source->surface.uv, source->surface.face_offsets, corner_faces},
            weights + 4 * m->first_corner, err));
    for (int64_t k = 2 * m->first_corner; k < 2 * (m->first_corner + n_corners); k++)
        corners[k] += (int32_t)m->first_vertex;
    for (int64_t v = 0; v <= n; v++)
        offsets[m->first_vertex + v] = m->first_corner + source->surface.face_offsets[v];
done:
    modal_free(&corner_faces);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "shape %s", name_of(source));
    return status;
}

/* Corners; the weights of tangents, too, and the ring for a back end that is faster with it. */
static modal_status load_tables(deform_engine *d, deform_unit *s, int ring, int weights,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    upload offsets = {0}, corners = {0}, g = {0};
    MODAL_TRY(upload_begin(&d->device, &offsets, s->n_vertices + 1, sizeof(int64_t),
                           "faces of vertices", err));
    MODAL_TRY(upload_begin(&d->device, &corners, s->n_corners, 2 * sizeof(int32_t), "corners", err));
    if (weights)
        MODAL_TRY(upload_begin(&d->device, &g, s->n_corners, 4 * sizeof(float), "weights of corners",
                               err));
    ((int64_t *)offsets.host)[0] = 0;
    for (int64_t i = 0; i < s->n_members; i++)
        MODAL_TRY(fill_corners(&s->members[i], offsets.host, corners.host, weights ? g.host : NULL,
                               err));
    if (ring) MODAL_TRY(load_ring(d, s, offsets.host, corners.host, err));
done:
    status = upload_end(d, &offsets, status, &s->d_corner_offsets, err);
    status = upload_end(d, &corners, status, &s->d_corners, err);
    return upload_end(d, &g, status, &s->d_weights, err);
}

/* Normals and tangents of the rest shape, by the operations that make the dynamic ones. */
static modal_status load_rest_surface(deform_engine *d, deform_unit *s, int normals, int tangents,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    float *d_positions = NULL;
    const modal_kernels *kernels = d->device.kernels;
    const int64_t n = s->n_vertices;
    upload u;
    MODAL_TRY(upload_begin(&d->device, &u, n * 3, sizeof(float), "rest positions", err));
    for (int64_t k = 0; k < s->n_members; k++) {
        const deform_member *m = &s->members[k];
        float *to = (float *)u.host + 3 * m->first_vertex;
        for (int64_t i = 0; i < 3 * m->n_vertices; i++) /* that they fit was checked before */
            to[i] = (float)m->source->surface.rest_positions[i];
    }
    MODAL_TRY(upload_end(d, &u, status, &d_positions, err));
    MODAL_TRY(modal_device_alloc(&d->device, &s->d_rest_normals, n * 3, sizeof(float),
                                 "rest normals", err));
    const modal_normals_dynamic_task task = {.n_vertices = n,
                                             .n_columns = 1,
                                             .corner_offsets = s->d_corner_offsets,
                                             .corners = s->d_corners,
                                             .positions = d_positions,
                                             .normals = s->d_rest_normals,
                                             .ring_offsets = s->d_ring_offsets,
                                             .ring = s->d_ring};
    MODAL_TRY(kernels->normals_dynamic(&task, d->compute, err));
    if (tangents) {
        MODAL_TRY(modal_device_alloc(&d->device, &s->d_rest_tangents, n * 4, sizeof(float),
                                     "rest tangents", err));
        const modal_tangents_dynamic_task rest = {.n_vertices = n,
                                                  .n_columns = 1,
                                                  .corner_offsets = s->d_corner_offsets,
                                                  .corners = s->d_corners,
                                                  .weights = s->d_weights,
                                                  .positions = d_positions,
                                                  .normals = s->d_rest_normals,
                                                  .tangents = s->d_rest_tangents};
        MODAL_TRY(kernels->tangents_dynamic(&rest, d->compute, err));
    }
    MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
done:
    modal_device_free(&d->device, &d_positions);
    if (!normals) modal_device_free(&d->device, &s->d_rest_normals);
    return status;
}

static modal_status load_surface(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_deform_tables tables = modal_deform_tables_of(d);
    if (tables.kept || tables.once)
        MODAL_TRY(load_tables(d, s, tables.ring, tables.weights, err));
    if (tables.once)
        MODAL_TRY(load_rest_surface(d, s, tables.rest_normals, tables.rest_tangents, err));
    if (tables.rest_tangents) modal_device_free(&d->device, &s->d_weights);
    if (tables.kept && (s->d_weights || !s->d_ring)) goto done;
    modal_device_free(&d->device, &s->d_corner_offsets);
    modal_device_free(&d->device, &s->d_corners);
done:
    return status;
}

static modal_status load_shape(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_deform_load_matrix(d, s, err));
    MODAL_TRY(load_rest_tiles(d, s, err));
    MODAL_TRY(load_order(d, s, err));
    MODAL_TRY(load_surface(d, s, err));
done:
    return status;
}

modal_status modal_deform_load_shapes(deform_engine *d, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < d->n_shapes; i++) MODAL_TRY(load_shape(d, &d->shapes[i], err));
    MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
    for (int64_t i = 0; i < d->n_members; i++) d->members[i].source = NULL;
done:
    return status;
}

void modal_deform_free_shape(deform_engine *d, deform_unit *s)
{
    modal_device_free_host(&d->device, &s->h_modal_matrix);
    if (s->borrows_matrix) s->d_modal_matrix = NULL;
    modal_device_free(&d->device, &s->d_modal_matrix);
    modal_device_free(&d->device, &s->d_column_base);
    modal_device_free(&d->device, &s->d_rest_tiles);
    modal_device_free(&d->device, &s->d_rest_normals);
    modal_device_free(&d->device, &s->d_rest_tangents);
    modal_device_free(&d->device, &s->d_corner_offsets);
    modal_device_free(&d->device, &s->d_corners);
    modal_device_free(&d->device, &s->d_ring_offsets);
    modal_device_free(&d->device, &s->d_ring);
    modal_device_free(&d->device, &s->d_weights);
    modal_device_free(&d->device, &s->d_source);
    modal_device_free(&d->device, &s->d_user);
    if (s->pack.tiles != s->records.tiles) modal_device_free(&d->device, &s->pack.tiles);
    if (s->pack.lanes != s->records.lanes) modal_device_free(&d->device, &s->pack.lanes);
    modal_device_free(&d->device, &s->d_object_of);
    modal_device_free(&d->device, &s->d_target);
    modal_object_pack_free(&s->records);
    modal_free(&s->pack_objects);
}
