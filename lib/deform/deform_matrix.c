/* SPDX-License-Identifier: Apache-2.0 */
/* Where the modal matrix U is, and how ranges of its tiles get to the device when it does not fit
 * there. A sub-range of tiles is one piece of the array, so a range is one read and one copy; with
 * two buffers the next range is read and copied while the last one is used. */
#include <string.h>

#include "kernels/device.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

static const int64_t LOAD_BYTES = INT64_C(16) << 20;

static int64_t tile_floats(const deform_unit *s) { return (int64_t)s->n_modes * 96; }

int64_t modal_deform_matrix_floats(const deform_unit *s)
{
    return s->packed ? s->records.matrix_floats : modal_tile_count(s->n_vertices) * tile_floats(s);
}

int64_t modal_deform_member_floats(const deform_unit *s)
{
    int64_t floats = 0;
    for (int64_t i = 0; i < s->n_members; i++)
        floats += modal_tile_count(s->members[i].n_vertices) * s->members[i].n_modes * 96;
    return floats;
}

/* The source puts U straight to its place, but for device memory, which it cannot write. */
int64_t modal_deform_load_buffer_bytes(const deform_engine *d)
{
    return d->device.shares_memory || !d->request.matrix.read ? 0 : 2 * LOAD_BYTES;
}

static modal_status read_member(const deform_engine *d, const deform_member *m, int64_t begin,
                                int64_t end, float *to, modal_error *err)
{
    if (end <= begin || m->n_modes == 0) return MODAL_OK;
    return d->request.matrix.read(d->request.matrix.context, m->index, begin, end, to, err);
}

/* U of a pack, made from those of its members. */
static modal_status read_pack(const deform_engine *d, const deform_unit *s, float *to,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    float *all = NULL;
    if (d->request.matrix.read)
        MODAL_TRY(modal_alloc(&all, modal_deform_member_floats(s), sizeof *all,
                              "modal matrices of a pack", err));
    float *next = all;
    for (int64_t i = 0; i < s->n_members; i++) {
        const deform_member *m = &s->members[i];
        const int64_t tiles = modal_tile_count(m->n_vertices);
        s->pack_objects[i].modal_matrix = all ? next : m->modal_matrix;
        if (!all) continue;
        MODAL_TRY(read_member(d, m, 0, tiles, next, err));
        next += tiles * m->n_modes * 96;
    }
    modal_object_pack_gather(&s->records, s->pack_objects, to, NULL);
done:
    modal_free(&all);
    return status;
}

/* Tiles [begin, end) of a shape, all of a pack. */
static modal_status read_source(const deform_engine *d, const deform_unit *s, int64_t begin,
                                int64_t end, float *to, modal_error *err)
{
    if (s->packed) return read_pack(d, s, to, err);
    if (d->request.matrix.read) return read_member(d, s->members, begin, end, to, err);
    if (end > begin && s->n_modes > 0)
        memcpy(to, s->members->modal_matrix + begin * tile_floats(s),
               (size_t)((end - begin) * tile_floats(s)) * sizeof *to);
    return MODAL_OK;
}

/* A pack is made in main memory as a whole. */
static modal_status load_pack(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *packed = NULL;
    MODAL_TRY(modal_alloc(&packed, s->records.matrix_floats, sizeof *packed, "packed modal matrices",
                          err));
    MODAL_TRY(read_pack(d, s, packed, err));
    MODAL_TRY(modal_device_copy_in(&d->device, s->d_modal_matrix, packed,
                                   s->records.matrix_floats * (int64_t)sizeof *packed, d->compute,
                                   err));
    MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
done:
    modal_free(&packed);
    return status;
}

/* Through two pinned buffers: reading and copying overlap. */
static modal_status load_through_buffers(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *h_buffers[2] = {NULL, NULL};
    modal_event *copied[2] = {NULL, NULL};
    const int64_t n_tiles = modal_tile_count(s->n_vertices), floats = tile_floats(s);
    int64_t step = floats > 0 ? LOAD_BYTES / (floats * (int64_t)sizeof(float)) : n_tiles;
    if (step < 1) step = 1;
    if (step > n_tiles) step = n_tiles;
    for (int i = 0; i < 2; i++) {
        MODAL_TRY(modal_device_alloc_host(&d->device, &h_buffers[i], step * floats, sizeof(float),
                                          "modal matrix, buffer", err));
        MODAL_TRY(modal_device_event_new(&d->device, &copied[i], err));
    }
    for (int64_t begin = 0, i = 0; begin < n_tiles; begin += step, i ^= 1) {
        const int64_t end = n_tiles - begin < step ? n_tiles : begin + step;
        MODAL_TRY(modal_device_event_wait(&d->device, copied[i], err));
        MODAL_TRY(read_source(d, s, begin, end, h_buffers[i], err));
        MODAL_TRY(modal_device_copy_in(&d->device, s->d_modal_matrix + begin * floats, h_buffers[i],
                                       (end - begin) * floats * (int64_t)sizeof(float), d->compute,
                                       err));
        MODAL_TRY(modal_device_event_record(&d->device, copied[i], d->compute, err));
    }
done:
    if (modal_device_stream_wait(&d->device, d->compute, status == MODAL_OK ? err : NULL) !=
            MODAL_OK &&
        status == MODAL_OK)
        status = MODAL_ERROR_SYSTEM;
    for (int i = 0; i < 2; i++) {
        modal_device_free_host(&d->device, &h_buffers[i]);
        modal_device_event_delete(&d->device, &copied[i]);
    }
    return status;
}

modal_status modal_deform_load_matrix(deform_engine *d, deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t floats = modal_deform_matrix_floats(s), n_tiles = modal_tile_count(s->n_vertices);
    const int from_source = d->request.matrix.read != NULL;
    switch (s->place) {
    case MATRIX_AT_SOURCE: s->outside = s->packed ? NULL : s->members->modal_matrix; break;
    case MATRIX_IN_MEMORY:
        MODAL_TRY(modal_device_alloc_host(&d->device, &s->h_modal_matrix, floats, sizeof(float),
                                          "modal matrix", err));
        s->outside = s->h_modal_matrix;
        MODAL_TRY(read_source(d, s, 0, n_tiles, s->h_modal_matrix, err));
        break;
    case MATRIX_ON_DEVICE:
        s->borrows_matrix = modal_deform_is_direct(d) && !from_source && !s->packed;
        if (s->borrows_matrix) { /* only read */
            s->d_modal_matrix = (float *)(uintptr_t)s->members->modal_matrix;
            break;
        }
        MODAL_TRY(modal_device_alloc(&d->device, &s->d_modal_matrix, floats, sizeof(float),
                                     "modal matrix", err));
        if (s->packed && !d->device.shares_memory)
            MODAL_TRY(load_pack(d, s, err));
        else if (!from_source && !s->packed)
            MODAL_TRY(modal_device_copy_in(&d->device, s->d_modal_matrix, s->members->modal_matrix,
                                           floats * (int64_t)sizeof(float), d->compute, err));
        else if (d->device.shares_memory)
            MODAL_TRY(read_source(d, s, 0, n_tiles, s->d_modal_matrix, err));
        else
            MODAL_TRY(load_through_buffers(d, s, err));
        break;
    }
done:
    return status;
}

/* ---- ranges ---- */

modal_status modal_deform_new_ranges(deform_engine *d, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (d->range_floats == 0) return MODAL_OK;
    MODAL_TRY(modal_device_stream_new(&d->device, &d->upload, err));
    for (int i = 0; i < 2; i++) {
        deform_range *range = &d->ranges[i];
        MODAL_TRY(modal_device_alloc(&d->device, &range->d_tiles, d->range_floats, sizeof(float),
                                     "range of tiles", err));
        if (d->stages_ranges)
            MODAL_TRY(modal_device_alloc_host(&d->device, &range->h_tiles, d->range_floats,
                                              sizeof(float), "range of tiles", err));
        MODAL_TRY(modal_device_event_new(&d->device, &range->filled, err));
        MODAL_TRY(modal_device_event_new(&d->device, &range->used, err));
    }
done:
    return status;
}

void modal_deform_free_ranges(deform_engine *d)
{
    if (d->upload) modal_device_stream_wait(&d->device, d->upload, NULL);
    for (int i = 0; i < 2; i++) {
        deform_range *range = &d->ranges[i];
        modal_device_free(&d->device, &range->d_tiles);
        modal_device_free_host(&d->device, &range->h_tiles);
        modal_device_event_delete(&d->device, &range->filled);
        modal_device_event_delete(&d->device, &range->used);
    }
    modal_device_stream_delete(&d->device, &d->upload);
}

modal_status modal_deform_range_begin(deform_engine *d, const deform_unit *s, int64_t begin,
                                      int64_t end, const float **d_tiles, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_device *device = &d->device;
    deform_range *range = &d->ranges[d->n_ranges % 2];
    const int64_t floats = s->packed ? modal_deform_matrix_floats(s) : (end - begin) * tile_floats(s);
    const float *from = s->outside ? s->outside + (s->packed ? 0 : begin * tile_floats(s)) : NULL;
    *d_tiles = from;
    if (device->shares_memory) {
        if (from) return MODAL_OK; /* U of the basis, used where it is */
        *d_tiles = range->d_tiles;
        return read_source(d, s, begin, end, range->d_tiles, err);
    }
    *d_tiles = range->d_tiles;
    if (!from || s->place == MATRIX_AT_SOURCE) { /* memory that is not pinned is staged, too */
        MODAL_TRY(modal_device_event_wait(device, range->filled, err));
        if (from)
            memcpy(range->h_tiles, from, (size_t)floats * sizeof(float));
        else
            MODAL_TRY(read_source(d, s, begin, end, range->h_tiles, err));
        from = range->h_tiles;
    }
    MODAL_TRY(modal_device_stream_wait_event(device, d->upload, range->used, err));
    MODAL_TRY(modal_device_copy_in(device, range->d_tiles, from,
                                   floats * (int64_t)sizeof(float), d->upload, err));
    MODAL_TRY(modal_device_event_record(device, range->filled, d->upload, err));
    MODAL_TRY(modal_device_stream_wait_event(device, d->compute, range->filled, err));
done:
    return status;
}

modal_status modal_deform_range_end(deform_engine *d, modal_error *err)
{
    deform_range *range = &d->ranges[d->n_ranges++ % 2];
    return modal_device_event_record(&d->device, range->used, d->compute, err);
}
