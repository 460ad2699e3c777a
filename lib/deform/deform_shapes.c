/* SPDX-License-Identifier: Apache-2.0 */
/* A shape's arrays on the device: converted once, from float64 where the basis has float64. */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

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

static modal_status load_rest_tiles(deform_engine *d, deform_shape *s, modal_error *err)
{
    const modal_shape *source = s->source;
    upload u;
    modal_status status = upload_begin(&d->device, &u, modal_tile_count(s->n_vertices) * 96,
                                       sizeof(float), "rest positions", err);
    if (status != MODAL_OK) return status;
    memset(u.host, 0, (size_t)u.bytes);
    float *tiles = u.host;
    for (int64_t v = 0; v < s->n_vertices && status == MODAL_OK; v++)
        for (int i = 0; i < 3; i++)
            if (!modal_deform_round(source->rest_positions[3 * v + i],
                                    &tiles[(v / 32 * 3 + i) * 32 + v % 32]))
                status = modal_error_set(err, MODAL_ERROR_INPUT,
                                         "shape %s: rest position of vertex %lld: %g does not fit "
                                         "float32",
                                         source->name ? source->name : "", (long long)v,
                                         source->rest_positions[3 * v + i]);
    return upload_end(d, &u, status, &s->d_rest_tiles, err);
}

static modal_status load_source(deform_engine *d, deform_shape *s, modal_error *err)
{
    const int32_t *user = s->source->user_vertex;
    int64_t moved = 0;
    for (int64_t v = 0; v < s->n_vertices; v++) moved += user[v] != v;
    if (moved == 0) return MODAL_OK; /* the user's order is the stored one */
    upload u;
    modal_status status =
        upload_begin(&d->device, &u, s->n_vertices, sizeof(int32_t), "order of vertices", err);
    if (status != MODAL_OK) return status;
    int32_t *source = u.host;
    for (int64_t i = 0; i < s->n_vertices; i++) source[i] = -1;
    for (int64_t v = 0; v < s->n_vertices && status == MODAL_OK; v++) {
        if (user[v] < 0 || user[v] >= s->n_vertices || source[user[v]] >= 0)
            status = modal_error_set(err, MODAL_ERROR_INPUT,
                                     "shape %s: user_vertex[%lld] = %d: not a permutation",
                                     s->source->name ? s->source->name : "", (long long)v,
                                     user[v]);
        else
            source[user[v]] = (int32_t)v;
    }
    return upload_end(d, &u, status, &s->d_source, err);
}

static modal_status load_corners(deform_engine *d, deform_shape *s, modal_error *err)
{
    const modal_shape *source = s->source;
    if (!source->face_offsets)
        return modal_error_set(err, MODAL_ERROR_INPUT, "shape %s: no faces of vertices, which "
                                                       "normals need",
                               source->name ? source->name : "");
    const int64_t n = s->n_vertices, n_corners = source->face_offsets[n];
    upload u;
    modal_status status = modal_device_alloc(&d->device, &s->d_corner_offsets, n + 1,
                                             sizeof(int64_t), "faces of vertices", err);
    if (status != MODAL_OK) return status;
    status = modal_device_copy_in(&d->device, s->d_corner_offsets, source->face_offsets,
                                  (n + 1) * (int64_t)sizeof(int64_t), d->compute, err);
    if (status != MODAL_OK) return status;
    status = upload_begin(&d->device, &u, n_corners, 2 * sizeof(int32_t), "corners", err);
    if (status != MODAL_OK) return status;
    status = modal_normals_corners(n, source->n_triangles, source->triangles,
                                   source->face_offsets, source->faces, u.host, err);
    if (status != MODAL_OK) modal_error_context(err, "shape %s", source->name ? source->name : "");
    return upload_end(d, &u, status, &s->d_corners, err);
}

/* Normals of the rest shape, by the operation that makes the dynamic ones. */
static modal_status load_rest_normals(deform_engine *d, deform_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *d_positions = NULL;
    upload u;
    MODAL_TRY(load_corners(d, s, err));
    MODAL_TRY(upload_begin(&d->device, &u, s->n_vertices * 3, sizeof(float), "rest positions",
                           err));
    for (int64_t i = 0; i < 3 * s->n_vertices; i++) /* that they fit was checked before */
        ((float *)u.host)[i] = (float)s->source->rest_positions[i];
    MODAL_TRY(upload_end(d, &u, status, &d_positions, err));
    MODAL_TRY(modal_device_alloc(&d->device, &s->d_rest_normals, s->n_vertices * 3, sizeof(float),
                                 "rest normals", err));
    const modal_normals_dynamic_task task = {.n_vertices = s->n_vertices,
                                             .n_columns = 1,
                                             .corner_offsets = s->d_corner_offsets,
                                             .corners = s->d_corners,
                                             .positions = d_positions,
                                             .normals = s->d_rest_normals};
    MODAL_TRY(d->device.kernels->normals_dynamic(&task, d->compute, err));
    MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
done:
    modal_device_free(&d->device, &d_positions);
    modal_device_free(&d->device, &s->d_corner_offsets);
    modal_device_free(&d->device, &s->d_corners);
    return status;
}

static modal_status load_shape(deform_engine *d, deform_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_deform_load_matrix(d, s, err));
    MODAL_TRY(load_rest_tiles(d, s, err));
    if (!d->request.stored_order) MODAL_TRY(load_source(d, s, err));
    if (d->request.normals == MODAL_NORMALS_RIGID) MODAL_TRY(load_rest_normals(d, s, err));
    if (d->request.normals == MODAL_NORMALS_DYNAMIC) MODAL_TRY(load_corners(d, s, err));
done:
    return status;
}

modal_status modal_deform_load_shapes(deform_engine *d, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < d->n_shapes; i++) MODAL_TRY(load_shape(d, &d->shapes[i], err));
    MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
    for (int32_t i = 0; i < d->n_shapes; i++) d->shapes[i].source = NULL;
done:
    return status;
}

void modal_deform_free_shape(deform_engine *d, deform_shape *s)
{
    modal_device_free_host(&d->device, &s->h_modal_matrix);
    modal_device_free(&d->device, &s->d_modal_matrix);
    modal_device_free(&d->device, &s->d_column_base);
    modal_device_free(&d->device, &s->d_rest_tiles);
    modal_device_free(&d->device, &s->d_rest_normals);
    modal_device_free(&d->device, &s->d_corner_offsets);
    modal_device_free(&d->device, &s->d_corners);
    modal_device_free(&d->device, &s->d_source);
}
