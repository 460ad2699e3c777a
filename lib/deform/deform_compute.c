/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of one batch. One code path for all back ends: where device memory is main memory
 * the copies have the same source and target and do nothing. */
#include "kernels/deform_normals/deform_normals.h"
#include "kernels/deform_objects/deform_objects.h"
#include "kernels/device.h"
#include "kernels/normals_placed/normals_placed.h"
#include "kernels/normals_rigid/normals_rigid.h"
#include "kernels/speed/speed.h"
#include "kernels/tangents_dynamic/tangents_dynamic.h"
#include "kernels/tangents_rigid/tangents_rigid.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

int modal_deform_wants(const deform_engine *d, int output)
{
    switch (output) {
    case DEFORM_NORMALS: return d->request.normals != MODAL_NORMALS_NONE;
    case DEFORM_DISPLACEMENT: return d->request.displacement != 0;
    case DEFORM_SPEED: return d->request.speed != MODAL_SPEED_NONE;
    case DEFORM_TANGENTS: return d->request.tangents != MODAL_TANGENTS_NONE;
    default: return 1;
    }
}

/* All objects of a pack in the frames of the `whole` task. */
static modal_status deform_pack(deform_engine *d, const deform_unit *s,
                                const modal_deform_task *whole, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_object_pack pack = s->pack;
    const modal_deform_objects_task task = {.pack = &pack,
                                            .n_frames = whole->n_columns,
                                            .q = whole->q,
                                            .poses = whole->poses,
                                            .positions = whole->positions,
                                            .displacement = whole->displacement};
    const float *matrix = s->d_modal_matrix;
    if (s->place != MATRIX_ON_DEVICE)
        MODAL_TRY(modal_deform_range_begin(d, s, 0, s->range_tiles, &matrix, err));
    pack.modal_matrix = (float *)(uintptr_t)matrix; /* which is only read */
    MODAL_TRY(d->device.kernels->deform_objects(&task, d->compute, err));
    if (s->place != MATRIX_ON_DEVICE) MODAL_TRY(modal_deform_range_end(d, err));
done:
    return status;
}

/* Positions (and displacements) to the scratch arrays: at once, or range of tiles after range, each
 * computed into arrays of its own and copied to its place in every column. */
static modal_status deform_columns(deform_engine *d, const deform_unit *s,
                                   const modal_deform_task *whole, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_kernels *kernels = d->device.kernels;
    const int64_t n_tiles = modal_tile_count(s->n_vertices);
    if (s->packed) return deform_pack(d, s, whole, err);
    if (s->place == MATRIX_ON_DEVICE) return kernels->deform(whole, d->compute, err);
    for (int64_t tile = 0; tile < n_tiles; tile += s->range_tiles) {
        const int64_t end = n_tiles - tile < s->range_tiles ? n_tiles : tile + s->range_tiles;
        const int64_t first = tile * 32;
        modal_deform_task part = *whole;
        MODAL_TRY(modal_deform_go_on(d, err));
        part.n_vertices = (end * 32 < s->n_vertices ? end * 32 : s->n_vertices) - first;
        part.rest_tiles = s->d_rest_tiles + tile * 96;
        part.positions = d->d_part[DEFORM_POSITIONS];
        part.displacement = whole->displacement ? d->d_part[DEFORM_DISPLACEMENT] : NULL;
        MODAL_TRY(modal_deform_range_begin(d, s, tile, end, &part.modal_matrix, err));
        MODAL_TRY(kernels->deform(&part, d->compute, err));
        MODAL_TRY(modal_deform_range_end(d, err));
        MODAL_TRY(modal_deform_keep(d, s, &part, part.positions, whole->positions + first * 3, err));
        if (whole->displacement) MODAL_TRY(modal_deform_keep(d, s, &part, part.displacement, whole->displacement + first * 3, err));
    }
done:
    return status;
}

/* Whether positions and dynamic normals are made in one pass, into scratch arrays. */
static int fuses_normals(const deform_engine *d, const deform_chunk *chunk)
{
    const deform_unit *s = chunk->unit;
    return modal_deform_makes_normals(d, chunk->slot) && !modal_deform_places_unit(d, s, chunk->whole.n_columns) &&
           d->device.kernels->deform_normals && !chunk->slot->d_out[DEFORM_DISPLACEMENT] && !s->packed && s->place == MATRIX_ON_DEVICE;
}

/* Positions and displacements of columns, and dynamic normals: where a back end can, in one pass, or into the frames. */
static modal_status compute_positions(deform_engine *d, const deform_chunk *chunk, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_kernels *kernels = d->device.kernels;
    const deform_slot *slot = chunk->slot;
    const deform_unit *s = chunk->unit;
    const modal_deform_task *deform = &chunk->whole;
    const modal_normals_dynamic_task normals = {.n_vertices = s->n_vertices,
                                                .n_columns = deform->n_columns,
                                                .corner_offsets = s->d_corner_offsets,
                                                .corners = s->d_corners,
                                                .positions = deform->positions,
                                                .normals = d->d_scratch[DEFORM_NORMALS],
                                                .ring_offsets = s->d_ring_offsets,
                                                .ring = s->d_ring};
    const int dynamic = modal_deform_makes_normals(d, slot);
    if (fuses_normals(d, chunk)) return kernels->deform_normals(&(modal_deform_normals_task){deform, &normals}, d->compute, err);
    if (!s->scatters) MODAL_TRY(deform_columns(d, s, deform, err));
    if (dynamic && modal_deform_places_unit(d, s, deform->n_columns)) {
        const modal_normals_placed_task task = {.surface = normals,
                                                .target = s->packed ? s->d_target : s->d_user,
                                                .source = s->gathers ? s->d_source : NULL,
                                                .base = chunk->base,
                                                .positions = slot->d_out[DEFORM_POSITIONS],
                                                .normals = slot->d_out[DEFORM_NORMALS],
                                                .nonfinite = slot->h_nonfinite};
        return kernels->normals_placed(&task, d->compute, err);
    }
    if (dynamic) MODAL_TRY(kernels->normals_dynamic(&normals, d->compute, err));
done:
    return status;
}

/* Rigid normals, and tangents, of columns whose positions (and normals) are in the scratch arrays. */
static modal_status compute_surface(deform_engine *d, const deform_slot *slot, const deform_unit *s, int64_t count,
                                    const float *poses, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_kernels *kernels = d->device.kernels;
    if (d->request.normals == MODAL_NORMALS_RIGID && slot->d_out[DEFORM_NORMALS]) {
        const modal_normals_rigid_task normals = {.n_vertices = s->n_vertices,
                                                  .n_columns = count,
                                                  .rest_normals = s->d_rest_normals,
                                                  .poses = poses,
                                                  .objects = s->d_object_of,
                                                  .n_objects = s->n_objects,
                                                  .normals = d->d_scratch[DEFORM_NORMALS]};
        MODAL_TRY(kernels->normals_rigid(&normals, d->compute, err));
    }
    if (d->request.tangents == MODAL_TANGENTS_DYNAMIC && slot->d_out[DEFORM_TANGENTS]) {
        const modal_tangents_dynamic_task tangents = {.n_vertices = s->n_vertices,
                                                      .n_columns = count,
                                                      .corner_offsets = s->d_corner_offsets,
                                                      .corners = s->d_corners,
                                                      .weights = s->d_weights,
                                                      .positions = d->d_scratch[DEFORM_POSITIONS],
                                                      .normals = d->d_scratch[DEFORM_NORMALS],
                                                      .tangents = d->d_scratch[DEFORM_TANGENTS]};
        MODAL_TRY(kernels->tangents_dynamic(&tangents, d->compute, err));
    } else if (d->request.tangents == MODAL_TANGENTS_RIGID && slot->d_out[DEFORM_TANGENTS]) {
        const modal_tangents_rigid_task tangents = {.n_vertices = s->n_vertices,
                                                    .n_columns = count,
                                                    .rest_tangents = s->d_rest_tangents,
                                                    .poses = poses,
                                                    .objects = s->d_object_of,
                                                    .n_objects = s->n_objects,
                                                    .tangents = d->d_scratch[DEFORM_TANGENTS]};
        MODAL_TRY(kernels->tangents_rigid(&tangents, d->compute, err));
    }
done:
    return status;
}

/* Of a shape in all frames of the request, whatever part of them this engine, batch or run does: back
 * ends choose by it how to sum, so that no limit and no number of devices changes a byte. */
static int64_t all_columns(const deform_engine *d, const deform_unit *s)
{
    int64_t columns;
    return modal_size_multiply(d->n_frames_total, s->n_objects, &columns) ? columns : INT64_MAX;
}

/* Speeds of the columns of a unit that does not scatter: of the displacement by q' and, where poses move, the positions by the poses' rates. */
static modal_status compute_speed(deform_engine *d, const deform_chunk *chunk, modal_error *err)
{
    modal_status status = MODAL_OK;
    const deform_unit *s = chunk->unit;
    modal_deform_task part = chunk->whole;
    part.positions = d->d_velocity[1]; /* of no use */
    part.displacement = d->d_velocity[0];
    part.q = chunk->q_rates;
    MODAL_TRY(deform_columns(d, s, &part, err));
    part.displacement = NULL;
    part.q = chunk->whole.q;
    part.poses = chunk->pose_rates;
    if (part.poses) MODAL_TRY(deform_columns(d, s, &part, err));
    const modal_speed_task speed = {.n_vertices = s->n_vertices,
                                    .n_columns = part.n_columns,
                                    .a = d->d_velocity[0],
                                    .b = part.poses ? d->d_velocity[1] : NULL,
                                    .source = s->d_source,
                                    .target = s->d_target,
                                    .base = chunk->base,
                                    .speed = chunk->slot->d_out[DEFORM_SPEED],
                                    .nonfinite = chunk->slot->h_nonfinite};
    MODAL_TRY(d->device.kernels->speed(&speed, d->compute, err));
done:
    return status;
}

/* Columns [first, first + count) of a unit. */
static modal_status compute_chunk(deform_engine *d, const deform_slot *slot, const deform_unit *s, int64_t first, int64_t count,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t pose = (slot->n_frames * s->first_object + first * (s->packed ? s->n_objects : 1)) * 12;
    const int64_t q = slot->n_frames * s->first_q + first * s->n_modes;
    const deform_chunk chunk = {
        .slot = slot,
        .unit = s,
        .whole = {.n_vertices = s->n_vertices,
                  .n_columns = count,
                  .n_modes = s->n_modes,
                  .modal_matrix = s->d_modal_matrix,
                  .rest_tiles = s->d_rest_tiles,
                  .q = slot->d_q + q,
                  .poses = slot->d_poses + pose,
                  .positions = d->d_scratch[DEFORM_POSITIONS],
                  .displacement = slot->d_out[DEFORM_DISPLACEMENT] ? d->d_scratch[DEFORM_DISPLACEMENT] : NULL,
                  .n_columns_total = all_columns(d, s)},
        .q_rates = slot->d_out[DEFORM_SPEED] ? slot->d_q_rates + q : NULL,
        .pose_rates = slot->d_out[DEFORM_SPEED] && slot->d_pose_rates ? slot->d_pose_rates + pose : NULL,
        .base = d->d_base + d->batch_frames * s->first_column + first};
    const int in_ranges = s->scatters && !fuses_normals(d, &chunk);
    MODAL_TRY(modal_deform_go_on(d, err));
    if (s->scatters) MODAL_TRY(modal_deform_scatter(d, &chunk, in_ranges, err));
    MODAL_TRY(compute_positions(d, &chunk, err));
    MODAL_TRY(compute_surface(d, slot, s, count, chunk.whole.poses, err));
    MODAL_TRY(modal_deform_reorder(d, &chunk, !in_ranges, err));
    if (chunk.q_rates && !s->scatters) MODAL_TRY(compute_speed(d, &chunk, err));
done:
    return status;
}

modal_status modal_deform_compute(deform_engine *d, deform_slot *slot, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_device *device = &d->device;
    const int64_t n = slot->n_frames;
    MODAL_TRY(modal_device_copy_in(device, slot->d_q, slot->h_q,
                                   n * d->n_modes * (int64_t)sizeof(float), d->compute, err));
    MODAL_TRY(modal_device_copy_in(device, slot->d_poses, slot->h_poses,
                                   n * d->n_objects * 12 * (int64_t)sizeof(float), d->compute,
                                   err));
    if (slot->d_q_rates)
        MODAL_TRY(modal_device_copy_in(device, slot->d_q_rates, slot->h_q_rates, n * d->n_modes * (int64_t)sizeof(float),
                                       d->compute, err));
    if (slot->d_pose_rates)
        MODAL_TRY(modal_device_copy_in(device, slot->d_pose_rates, slot->h_pose_rates,
                                       n * d->n_objects * 12 * (int64_t)sizeof(float), d->compute, err));
    for (int32_t i = 0; i < d->n_shapes; i++) {
        const deform_unit *s = &d->shapes[i];
        const int64_t columns = n * s->n_columns;
        for (int64_t first = 0; first < columns; first += s->chunk)
            MODAL_TRY(compute_chunk(d, slot, s, first,
                                    columns - first < s->chunk ? columns - first : s->chunk, err));
    }
    MODAL_TRY(modal_slots_send(&d->out, (int)(slot - d->slots), n, slot->numbering.first, slot->numbering.step, d->compute, err));
done:
    return status;
}
