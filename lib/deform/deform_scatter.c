/* SPDX-License-Identifier: Apache-2.0 */
/* The way into the frames: of whole scratch arrays, and of columns of a shape whose two orders are near each other, where device
 * memory is main memory: ranges of its tiles, whose positions, displacements and speeds go straight into the frames while they are
 * in a cache. */
#include "kernels/deform/deform.h"
#include "kernels/reorder/reorder.h"
#include "kernels/speed/speed.h"
#include "lib/deform/deform_private.h"

modal_status modal_deform_keep(deform_engine *d, const deform_unit *s, const modal_deform_task *part, const float *from, float *to,
                               modal_error *err)
{
    const modal_reorder_task keep = {.n_vertices = part->n_vertices,
                                     .n_columns = part->n_columns,
                                     .width = 3,
                                     .in = from,
                                     .base = s->d_column_base,
                                     .out = to};
    return d->device.kernels->reorder(&keep, d->compute, err);
}

modal_status modal_deform_reorder(deform_engine *d, const deform_chunk *chunk, int points, modal_error *err)
{
    const deform_slot *slot = chunk->slot;
    const deform_unit *s = chunk->unit;
    const int64_t count = chunk->whole.n_columns;
    const int placed = slot->d_out[DEFORM_NORMALS] && modal_deform_places_unit(d, s, count);
    for (int k = 0; k < DEFORM_OUTPUTS; k++) {
        if (!slot->d_out[k] || k == DEFORM_SPEED || (placed && (k == DEFORM_POSITIONS || k == DEFORM_NORMALS)) ||
            (!points && (k == DEFORM_POSITIONS || k == DEFORM_DISPLACEMENT)))
            continue;
        const modal_reorder_task reorder = {.n_vertices = s->n_vertices,
                                            .n_columns = count,
                                            .width = (int32_t)modal_deform_width(k),
                                            .in = d->d_scratch[k],
                                            .source = s->d_source,
                                            .target = s->scatters ? s->d_user : s->d_target,
                                            .base = chunk->base,
                                            .out = slot->d_out[k],
                                            .nonfinite = slot->h_nonfinite};
        const modal_status status = d->device.kernels->reorder(&reorder, d->compute, err);
        if (status != MODAL_OK) return status;
    }
    return MODAL_OK;
}

/* A range: vertices [first, first + part.n_vertices) of the columns of a chunk. */
typedef struct range {
    const deform_chunk *chunk;
    int64_t first;
    modal_deform_task part; /* but for where its outputs go */
} range;

static const int32_t *targets(const range *r) { return r->chunk->unit->d_user ? r->chunk->unit->d_user + r->first : NULL; }

/* Where the range's part of an output begins, as `targets` counts. */
static float *place(const range *r, int output)
{
    return r->chunk->slot->d_out[output] + (r->chunk->unit->d_user ? 0 : r->first * modal_deform_width(output));
}

static modal_status put(deform_engine *d, const range *r, int output, const float *in, modal_error *err)
{
    const modal_reorder_task reorder = {.n_vertices = r->part.n_vertices,
                                        .n_columns = r->part.n_columns,
                                        .width = (int32_t)modal_deform_width(output),
                                        .in = in,
                                        .base = r->chunk->base,
                                        .target = targets(r),
                                        .out = place(r, output),
                                        .nonfinite = r->chunk->slot->h_nonfinite};
    return d->device.kernels->reorder(&reorder, d->compute, err);
}

/* Positions and displacements; positions are kept in the scratch array where normals need all of them. */
static modal_status scatter_points(deform_engine *d, const range *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const deform_slot *slot = r->chunk->slot;
    modal_deform_task part = r->part;
    float *kept = modal_deform_makes_normals(d, slot) ? d->d_scratch[DEFORM_POSITIONS] + 3 * r->first : NULL;
    part.positions = kept && part.n_columns == 1 ? kept : d->d_part[DEFORM_POSITIONS];
    part.displacement = slot->d_out[DEFORM_DISPLACEMENT] ? d->d_part[DEFORM_DISPLACEMENT] : NULL;
    MODAL_TRY(d->device.kernels->deform(&part, d->compute, err));
    if (slot->d_out[DEFORM_POSITIONS]) MODAL_TRY(put(d, r, DEFORM_POSITIONS, part.positions, err));
    if (part.displacement) MODAL_TRY(put(d, r, DEFORM_DISPLACEMENT, part.displacement, err));
    if (kept && part.positions != kept) MODAL_TRY(modal_deform_keep(d, r->chunk->unit, &part, part.positions, kept, err));
done:
    return status;
}

/* Speeds: of the displacement by q' and, where poses move, the positions by the poses' rates. */
static modal_status scatter_speed(deform_engine *d, const range *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deform_task part = r->part;
    part.positions = d->d_part[DEFORM_POSITIONS]; /* of no use */
    part.displacement = d->d_part[DEFORM_DISPLACEMENT];
    part.q = r->chunk->q_rates;
    MODAL_TRY(d->device.kernels->deform(&part, d->compute, err));
    part.displacement = NULL;
    part.q = r->part.q;
    part.poses = r->chunk->pose_rates;
    if (part.poses) MODAL_TRY(d->device.kernels->deform(&part, d->compute, err));
    const modal_speed_task speed = {.n_vertices = part.n_vertices,
                                    .n_columns = part.n_columns,
                                    .a = d->d_part[DEFORM_DISPLACEMENT],
                                    .b = part.poses ? part.positions : NULL,
                                    .base = r->chunk->base,
                                    .speed = place(r, DEFORM_SPEED),
                                    .target = targets(r),
                                    .nonfinite = r->chunk->slot->h_nonfinite};
    MODAL_TRY(d->device.kernels->speed(&speed, d->compute, err));
done:
    return status;
}

modal_status modal_deform_scatter(deform_engine *d, const deform_chunk *chunk, int points, modal_error *err)
{
    modal_status status = MODAL_OK;
    const deform_unit *s = chunk->unit;
    const int64_t n_tiles = modal_tile_count(s->n_vertices);
    const int outside = s->place != MATRIX_ON_DEVICE;
    for (int64_t tile = 0; tile < n_tiles; tile += s->range_tiles) {
        const int64_t end = n_tiles - tile < s->range_tiles ? n_tiles : tile + s->range_tiles;
        range r = {chunk, tile * MODAL_TILE, chunk->whole};
        MODAL_TRY(modal_deform_go_on(d, err));
        r.part.n_vertices = (end * MODAL_TILE < s->n_vertices ? end * MODAL_TILE : s->n_vertices) - r.first;
        r.part.rest_tiles = s->d_rest_tiles + tile * MODAL_TILE_FLOATS;
        if (outside) MODAL_TRY(modal_deform_range_begin(d, s, tile, end, &r.part.modal_matrix, err));
        else r.part.modal_matrix = s->d_modal_matrix + tile * MODAL_TILE_FLOATS * s->n_modes;
        if (points) MODAL_TRY(scatter_points(d, &r, err));
        if (chunk->q_rates) MODAL_TRY(scatter_speed(d, &r, err));
        if (outside) MODAL_TRY(modal_deform_range_end(d, err));
    }
done:
    return status;
}
