/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/normals_stage.h"

#include <string.h>

#include "kernels/device.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"

enum { OFFSETS, CORNERS, RING_OFFSETS, RING, TABLES };

typedef struct opened_stage {
    const modal_normals_stage *stage;
    modal_device device;
    void *host[TABLES]; /* in main memory; NULL: not needed */
    int64_t bytes[TABLES];
    void *tables[TABLES]; /* on the device: these where it shares memory */
} opened_stage;

static int64_t bytes(const void *self, const modal_device *device, int64_t most_frames)
{
    const modal_surface *s = ((const modal_normals_stage *)self)->surface;
    (void)most_frames;
    return device->shares_memory ? 0 : 8 * (s->n_vertices + 1) + (device->kernels->normals_ring ? 60 : 24) * s->n_triangles;
}

static void close_stage(void *opened)
{
    opened_stage *o = opened;
    if (!o) return;
    for (int i = 0; i < TABLES; i++) {
        if (!o->device.shares_memory) modal_device_free(&o->device, &o->tables[i]);
        modal_free(&o->host[i]);
    }
    modal_free(&o);
}

static modal_status make_tables(opened_stage *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface *s = o->stage->surface;
    const int64_t n = s->n_vertices, n_corners = s->face_offsets[n], n_tiles = (n + 31) / 32;
    o->bytes[OFFSETS] = 8 * (n + 1);
    o->bytes[CORNERS] = 8 * n_corners;
    MODAL_TRY(modal_alloc(&o->host[OFFSETS], n + 1, sizeof(int64_t), "faces of vertices", err));
    MODAL_TRY(modal_alloc(&o->host[CORNERS], 2 * n_corners, sizeof(int32_t), "faces of vertices", err));
    memcpy(o->host[OFFSETS], s->face_offsets, (size_t)(n + 1) * sizeof(int64_t));
    MODAL_TRY(modal_normals_corners(n, s->n_triangles, s->triangles, s->face_offsets, s->faces, o->host[CORNERS], err));
    if (!o->device.kernels->normals_ring) goto done;
    o->bytes[RING_OFFSETS] = 8 * (n_tiles + 1);
    MODAL_TRY(modal_alloc(&o->host[RING_OFFSETS], n_tiles + 1, sizeof(int64_t), "faces of vertices", err));
    modal_normals_ring_offsets(n, o->host[OFFSETS], o->host[CORNERS], o->host[RING_OFFSETS]);
    const int64_t rows = ((const int64_t *)o->host[RING_OFFSETS])[n_tiles];
    o->bytes[RING] = 32 * 4 * rows;
    MODAL_TRY(modal_alloc(&o->host[RING], 32 * rows, sizeof(int32_t), "faces of vertices", err));
    modal_normals_ring(n, o->host[OFFSETS], o->host[CORNERS], o->host[RING_OFFSETS], o->host[RING]);
done:
    return status;
}

static modal_status open_stage(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err)
{
    modal_status status = MODAL_OK;
    opened_stage *o = NULL;
    modal_stream *stream = NULL;
    (void)most_frames;
    *opened = NULL;
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "normals", err));
    o->stage = self;
    o->device = *device;
    MODAL_TRY(make_tables(o, err));
    if (device->shares_memory) memcpy(o->tables, o->host, sizeof o->tables);
    else MODAL_TRY(modal_device_stream_new(device, &stream, err));
    for (int i = 0; i < TABLES && !device->shares_memory; i++) {
        if (!o->host[i]) continue;
        MODAL_TRY(modal_device_alloc(device, &o->tables[i], o->bytes[i], 1, "faces of vertices", err));
        MODAL_TRY(modal_device_copy_in(device, o->tables[i], o->host[i], o->bytes[i], stream, err));
    }
    if (stream) MODAL_TRY(modal_device_stream_wait(device, stream, err));
    *opened = o;
    o = NULL;
done:
    if (stream) modal_device_stream_delete(device, &stream);
    close_stage(o);
    return status;
}

static modal_status queue(void *opened, modal_stream *stream, const modal_device_frames *frames, modal_error *err)
{
    const opened_stage *o = opened;
    const modal_normals_dynamic_task task = {.n_vertices = o->stage->surface->n_vertices,
                                             .n_columns = frames->n_frames,
                                             .corner_offsets = o->tables[OFFSETS],
                                             .corners = o->tables[CORNERS],
                                             .positions = frames->arrays[o->stage->positions],
                                             .normals = frames->arrays[o->stage->normals],
                                             .ring_offsets = o->tables[RING_OFFSETS],
                                             .ring = o->tables[RING]};
    return o->device.kernels->normals_dynamic(&task, stream, err);
}

modal_frame_stage modal_normals_stage_of(const modal_normals_stage *stage)
{
    return (modal_frame_stage){stage, bytes, open_stage, queue, close_stage};
}
