/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/deform_objects/deform_objects.h"
#include "lib/base/tile.h"

static void deform_lane(const modal_deform_objects_task *task, int64_t frame, int32_t tile,
                        int lane)
{
    const modal_object_pack *pack = task->pack;
    const modal_pack_lane record = modal_pack_lane_of(pack, tile, lane);
    if (record.point < 0) return;
    const float *matrix = pack->modal_matrix + pack->tiles[tile].matrix + lane;
    const float *rest = pack->rest_tiles + (int64_t)tile * MODAL_TILE_FLOATS + lane;
    const float *q = task->q + frame * pack->n_modes + record.q;
    const float *t = task->poses + (frame * pack->n_objects + record.object) * 12;
    const int64_t out = (frame * pack->n_points + record.point) * 3;
    double u[3];
    for (int j = 0; j < 3; j++) {
        u[j] = 0.0;
        for (int64_t k = 0; k < record.n_modes; k++)
            u[j] += (double)matrix[(k * 3 + j) * MODAL_TILE] * (double)q[k];
    }
    for (int i = 0; i < 3; i++) {
        double x = t[4 * i + 3], d = 0.0;
        for (int j = 0; j < 3; j++) {
            x += (double)t[4 * i + j] * ((double)rest[MODAL_TILE * j] + u[j]);
            d += (double)t[4 * i + j] * u[j];
        }
        task->positions[out + i] = (float)x;
        if (task->displacement) task->displacement[out + i] = (float)d;
    }
}

modal_status modal_deform_objects_ref(const modal_deform_objects_task *task, modal_stream *stream,
                                      modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t frame = 0; frame < task->n_frames; frame++)
        for (int32_t tile = 0; tile < task->pack->n_tiles; tile++)
            for (int lane = 0; lane < MODAL_TILE; lane++) deform_lane(task, frame, tile, lane);
    return MODAL_OK;
}
