/* SPDX-License-Identifier: Apache-2.0 */
/* One device: construction, and its slots on their way round the ring (lib/frames/ring.h). */
#include <omp.h>
#include <string.h>

#include "kernels/device.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

enum { STAGED_TOGETHER = 1 << 16 /* numbers of a batch that threads share out */, STAGERS = 8 /* threads, the most */ };

/* An array of a slot: pinned in main memory, and on the device, which may be the same. */
static modal_status new_pair(deform_engine *d, float **host, float **device, int64_t count,
                             const char *what, modal_error *err)
{
    modal_status status =
        modal_device_alloc_host(&d->device, host, count, sizeof **host, what, err);
    if (status != MODAL_OK) return status;
    if (!d->device.shares_memory)
        return modal_device_alloc(&d->device, device, count, sizeof **device, what, err);
    *device = *host;
    return MODAL_OK;
}

static void free_pair(deform_engine *d, float **host, float **device)
{
    if (*device == *host) *device = NULL;
    modal_device_free(&d->device, device);
    modal_device_free_host(&d->device, host);
}

static modal_status new_arrays(deform_engine *d, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *base = NULL, largest[DEFORM_OUTPUTS] = {0}, part = 0, most_columns = 0;
    const int64_t batch = d->batch_frames, n_columns = batch * d->n_columns;
    for (int32_t i = 0; i < d->n_shapes; i++) {
        const deform_unit *s = &d->shapes[i];
        for (int k = 0; k < DEFORM_OUTPUTS; k++) {
            const int64_t floats = s->chunk * s->n_vertices * modal_deform_scratch_width(d, s, k);
            if (floats > largest[k]) largest[k] = floats;
        }
        if (!modal_deform_ranges(s)) continue;
        if (s->chunk * s->range_tiles * 32 > part) part = s->chunk * s->range_tiles * 32;
        if (s->chunk > most_columns) most_columns = s->chunk;
    }
    if (n_columns > most_columns) most_columns = n_columns;
    for (int k = 0; k < DEFORM_OUTPUTS; k++)
        if (largest[k] > 0 && k != DEFORM_SPEED)
            MODAL_TRY(modal_device_alloc(&d->device, &d->d_scratch[k], largest[k], sizeof(float), "scratch", err));
    for (int k = 0; k < DEFORM_OUTPUTS; k++)
        if (part > 0 && (k == DEFORM_POSITIONS || k == DEFORM_DISPLACEMENT) &&
            (k == DEFORM_POSITIONS || modal_deform_reorders(d)))
            MODAL_TRY(modal_device_alloc(&d->device, &d->d_part[k], part, 3 * sizeof(float),
                                         "scratch of a range", err));
    for (int i = 0; i < 2 && largest[DEFORM_SPEED] > 0; i++)
        MODAL_TRY(modal_device_alloc(&d->device, &d->d_velocity[i], largest[DEFORM_SPEED] / 2, sizeof(float), "velocities", err));
    MODAL_TRY(modal_deform_new_ranges(d, err));
    MODAL_TRY(modal_slots_make(&d->out, &d->device, &d->plan, modal_deform_is_direct(d) ? 0 : batch, d->n_slots, err));
    for (int i = 0; i < d->n_slots; i++) {
        deform_slot *slot = &d->slots[i];
        MODAL_TRY(new_pair(d, &slot->h_q, &slot->d_q, batch * d->n_modes, "reduced coordinates",
                           err));
        MODAL_TRY(modal_device_alloc_host(&d->device, &slot->h_nonfinite, 1, sizeof *slot->h_nonfinite,
                                          "flag", err));
        MODAL_TRY(new_pair(d, &slot->h_poses, &slot->d_poses, batch * d->n_objects * 12, "frames",
                           err));
        if (d->request.speed != MODAL_SPEED_NONE)
            MODAL_TRY(new_pair(d, &slot->h_q_rates, &slot->d_q_rates, batch * d->n_modes, "rates of change", err));
        if (d->request.speed == MODAL_SPEED_MOVING)
            MODAL_TRY(new_pair(d, &slot->h_pose_rates, &slot->d_pose_rates, batch * d->n_objects * 12, "rates of change", err));
        for (int k = 0; k < DEFORM_OUTPUTS; k++)
            slot->d_out[k] = d->array_of[k] < 0 ? NULL : d->out.slots[i].on_device[d->array_of[k]];
    }
    MODAL_TRY(modal_device_alloc(&d->device, &d->d_base, n_columns, sizeof *d->d_base,
                                 "first points", err));
    MODAL_TRY(modal_alloc(&base, most_columns, sizeof *base, "first points", err));
    for (int32_t i = 0; i < d->n_shapes; i++) {
        const deform_unit *s = &d->shapes[i];
        for (int64_t c = 0; c < batch * s->n_columns; c++)
            base[batch * s->first_column + c] =
                c / s->n_columns * d->n_points +
                (s->packed ? s->origin : d->point_offsets[s->objects[c % s->n_columns]]);
    }
    MODAL_TRY(modal_device_copy_in(&d->device, d->d_base, base,
                                   n_columns * (int64_t)sizeof *base, d->compute, err));
    MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
    for (int32_t i = 0; i < d->n_shapes; i++) {
        deform_unit *s = &d->shapes[i];
        if (!modal_deform_ranges(s)) continue;
        for (int64_t c = 0; c < s->chunk; c++) base[c] = c * s->n_vertices;
        MODAL_TRY(modal_device_alloc(&d->device, &s->d_column_base, s->chunk, sizeof *base,
                                     "first points of columns", err));
        MODAL_TRY(modal_device_copy_in(&d->device, s->d_column_base, base,
                                       s->chunk * (int64_t)sizeof *base, d->compute, err));
        MODAL_TRY(modal_device_stream_wait(&d->device, d->compute, err));
    }
done:
    modal_free(&base);
    return status;
}

/* The caller's plan, or that of a caller who wants everything. */
static modal_status take_plan(deform_engine *d, modal_error *err)
{
    static const modal_array outputs[DEFORM_OUTPUTS] = {
        [DEFORM_POSITIONS] = {.name = "positions", .components = 3, .unit = "m", .source = DEFORM_POSITIONS},
        [DEFORM_NORMALS] = {.name = "normals", .components = 3, .unit = "1", .source = DEFORM_NORMALS},
        [DEFORM_DISPLACEMENT] = {.name = "displacement", .components = 3, .unit = "m", .source = DEFORM_DISPLACEMENT},
        [DEFORM_TANGENTS] = {.name = "tangents", .components = 4, .unit = "1", .source = DEFORM_TANGENTS},
        [DEFORM_SPEED] = {.name = "speed", .components = 1, .unit = "m/s", .source = DEFORM_SPEED}};
    modal_status status = MODAL_OK;
    if (d->request.plan) d->plan = *d->request.plan;
    for (int k = 0; k < DEFORM_OUTPUTS && !d->request.plan; k++)
        if (modal_deform_wants(d, k)) MODAL_TRY(modal_frame_plan_add(&d->plan, &outputs[k], 0, MODAL_TAKEN, err));
    d->request.plan = NULL;
    for (int k = 0; k < DEFORM_OUTPUTS; k++) {
        d->array_of[k] = -1;
        for (int i = 0; i < d->plan.list.n; i++) {
            const modal_array *a = &d->plan.list.all[i];
            if (a->source != k || d->plan.places[i] == MODAL_OF_STEPS) continue;
            if (d->array_of[k] >= 0 || !modal_deform_wants(d, k) || a->components != modal_deform_width(k) || a->of_cells)
                return modal_error_set(err, MODAL_ERROR_USAGE, "deform: not an output of this request, %s", a->name);
            d->array_of[k] = i;
        }
        if (modal_deform_wants(d, k) && d->array_of[k] < 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "deform: the plan of arrays lacks an output, %s", outputs[k].name);
    }
    for (int i = 0; i < d->plan.list.n; i++)
        if (d->plan.rows[i] == 0) d->plan.rows[i] = d->n_points;
done:
    return status;
}

modal_status modal_deform_engine_new(deform_engine **deformer, const modal_basis *basis,
                                const modal_deform_request *request, modal_error *err)
{
    modal_status status = MODAL_OK;
    deform_engine *d = NULL;
    *deformer = NULL;
    MODAL_TRY(modal_alloc_zero(&d, 1, sizeof *d, "deformer", err));
    d->request = *request;
    d->n_stagers = omp_get_max_threads() < STAGERS ? omp_get_max_threads() : STAGERS;
    MODAL_TRY(modal_device_open(&d->device, request->back_end, err));
    d->request.back_end = NULL; /* the caller's text */
    if (request->n_frames < 0 || request->n_made < 0 || request->direct < 0 || request->taken_together < 0 || request->memory_limit < 0 ||
        request->device_limit < 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "deform: %lld frames, a limit of %lld bytes, of %lld on the device",
                   (long long)request->n_frames, (long long)request->memory_limit,
                   (long long)request->device_limit);
    if (request->direct && request->plan) MODAL_FAIL(err, MODAL_ERROR_USAGE, "deform: frames into the caller's arrays have no plan");
    if (request->tangents == MODAL_TANGENTS_DYNAMIC && request->normals != MODAL_NORMALS_DYNAMIC)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "deform: dynamic tangents need dynamic normals");
    MODAL_TRY(modal_device_stream_new(&d->device, &d->compute, err));
    MODAL_TRY(modal_deform_lay_out(d, basis, err));
    MODAL_TRY(take_plan(d, err));
    MODAL_TRY(modal_deform_plan(d, err));
    MODAL_TRY(modal_ring_make(&d->ring, d->n_slots, err));
    MODAL_TRY(modal_deform_load_shapes(d, err));
    MODAL_TRY(new_arrays(d, err));
    *deformer = d;
    d = NULL;
done:
    modal_deform_engine_delete(d);
    return status;
}

deform_engine *modal_deform_engine_delete(deform_engine *d)
{
    if (!d) return NULL;
    if (d->device.interface) {
        modal_device_select(&d->device, NULL);
        /* what is still queued must not write to memory that is gone */
        if (d->compute) modal_device_stream_wait(&d->device, d->compute, NULL);
        modal_slots_free(&d->out);
        modal_deform_free_ranges(d);
        for (int32_t i = 0; i < d->n_shapes; i++) modal_deform_free_shape(d, &d->shapes[i]);
        for (int i = 0; i < d->n_slots; i++) {
            deform_slot *slot = &d->slots[i];
            free_pair(d, &slot->h_q, &slot->d_q);
            modal_device_free_host(&d->device, &slot->h_nonfinite);
            free_pair(d, &slot->h_poses, &slot->d_poses);
            free_pair(d, &slot->h_q_rates, &slot->d_q_rates);
            free_pair(d, &slot->h_pose_rates, &slot->d_pose_rates);
        }
        for (int k = 0; k < DEFORM_OUTPUTS; k++) {
            modal_device_free(&d->device, &d->d_scratch[k]);
            modal_device_free(&d->device, &d->d_part[k]);
        }
        for (int i = 0; i < 2; i++) modal_device_free(&d->device, &d->d_velocity[i]);
        modal_device_free(&d->device, &d->d_base);
        modal_device_stream_delete(&d->device, &d->compute);
    }
    modal_ring_free(&d->ring);
    modal_free(&d->mode_offsets);
    modal_free(&d->point_offsets);
    modal_free(&d->rest_poses);
    modal_free(&d->shape_objects);
    modal_free(&d->shapes);
    modal_free(&d->members);
    modal_free(&d);
    return NULL;
}

/* Rounds `count` numbers; 0 where one does not fit float32. It looks at all of them, so that compilers make vectors of it. */
static inline int round_all(const double *from, int64_t count, float *to)
{
    int fit = 1;
    for (int64_t k = 0; k < count; k++) {
        fit &= modal_deform_fits(from[k]);
        to[k] = (float)from[k];
    }
    return fit;
}

static int64_t first_too_large(const double *from, int64_t count)
{
    int64_t k = 0;
    while (k < count && modal_deform_fits(from[k])) k++;
    return k;
}

/* A batch's q and poses, or their rates of change, and where they go. Where h_poses is NULL, so are poses. */
typedef struct staged {
    const double *q, *poses;
    float *h_q, *h_poses;
} staged;

/* One frame's of a unit into the order of columns, rounded once. err NULL: a number that does not fit float32 is not told of. */
static modal_status stage_frame(const deform_engine *d, const deform_slot *slot, const deform_unit *s, int64_t f, const staged *all, modal_error *err)
{
    int64_t n_modes = 0;
    for (int64_t j = 0; j < s->n_objects; j++) n_modes += d->mode_offsets[s->objects[j] + 1] - d->mode_offsets[s->objects[j]];
    float *q_out = all->h_q + slot->n_frames * s->first_q + f * n_modes;
    float *poses_out = all->h_poses ? all->h_poses + (slot->n_frames * s->first_object + f * s->n_objects) * 12 : NULL;
    for (int64_t j = 0; j < s->n_objects; j++) {
        const int64_t object = s->objects[j];
        const double *q_in = all->q + f * d->n_modes + d->mode_offsets[object];
        const double *pose_in = all->poses ? all->poses + (f * d->n_objects + object) * 12 : d->rest_poses + object * 12;
        n_modes = d->mode_offsets[object + 1] - d->mode_offsets[object];
        if (!round_all(q_in, n_modes, q_out)) {
            const int64_t k = first_too_large(q_in, n_modes);
            return modal_error_set(err, MODAL_ERROR_INPUT, "frame %lld, object %lld: reduced coordinate %lld = %g does not fit float32",
                                   (long long)modal_deform_number(&slot->numbering, f), (long long)object, (long long)k, q_in[k]);
        }
        q_out += n_modes;
        if (!poses_out) continue;
        if (!round_all(pose_in, 12, poses_out)) {
            const int k = (int)first_too_large(pose_in, 12);
            return modal_error_set(err, MODAL_ERROR_INPUT, "frame %lld, object %lld: entry %d of its rigid frame = %g does not fit float32",
                                   (long long)modal_deform_number(&slot->numbering, f), (long long)object, k, pose_in[k]);
        }
        poses_out += 12;
    }
    return MODAL_OK;
}

/* All frames: a GPU waits for them where the caller waited for the batch before. */
static modal_status stage_inputs(const deform_engine *d, const deform_slot *slot, const staged *all, modal_error *err)
{
    int odd = 0;
    const int together = slot->n_frames * (d->n_modes + 12 * (int64_t)d->n_objects) >= STAGED_TOGETHER;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(d->n_stagers)) reduction(| : odd) if (together)
    for (int64_t f = 0; f < slot->n_frames; f++)
        for (int32_t i = 0; i < d->n_shapes; i++) odd |= stage_frame(d, slot, &d->shapes[i], f, all, NULL) != MODAL_OK;
    for (int32_t i = 0; odd && i < d->n_shapes; i++) /* which one */
        for (int64_t f = 0; f < slot->n_frames; f++) {
            const modal_status status = stage_frame(d, slot, &d->shapes[i], f, all, err);
            if (status != MODAL_OK) return status;
        }
    return MODAL_OK;
}

static modal_status fill_slot(deform_engine *d, deform_slot *slot, int64_t n_frames, const deform_inputs *in,
                              deform_numbering numbering, modal_error *err)
{
    modal_status status = MODAL_OK;
    slot->n_frames = n_frames;
    slot->numbering = numbering;
    *slot->h_nonfinite = 0;
    MODAL_TRY(modal_device_select(&d->device, err));
    MODAL_TRY(stage_inputs(d, slot, &(staged){in->q, in->poses, slot->h_q, slot->h_poses}, err));
    if (slot->h_q_rates)
        MODAL_TRY(stage_inputs(d, slot, &(staged){in->q_rates, in->pose_rates, slot->h_q_rates, slot->h_pose_rates}, err));
    MODAL_TRY(modal_deform_compute(d, slot, err));
done:
    return status;
}

modal_status modal_deform_engine_submit(deform_engine *d, int64_t n_frames, const deform_inputs *inputs,
                                        deform_numbering numbering, modal_error *err)
{
    int index;
    if ((d->request.speed != MODAL_SPEED_NONE) != (inputs->q_rates != NULL) ||
        (d->request.speed == MODAL_SPEED_MOVING) != (inputs->pose_rates != NULL))
        return modal_error_set(err, MODAL_ERROR_USAGE, "deform: rates of change are not those that the speed needs");
    if (n_frames < 0 || n_frames > d->batch_frames)
        return modal_error_set(err, MODAL_ERROR_USAGE, "deform: a batch of %lld frames, most %lld",
                               (long long)n_frames, (long long)d->batch_frames);
    modal_status status = modal_ring_fill(&d->ring, &index, err);
    if (status != MODAL_OK) return status;
    status = fill_slot(d, &d->slots[index], n_frames, inputs, numbering, err);
    modal_ring_submit(&d->ring, index, status == MODAL_OK);
    return status;
}

modal_status modal_deform_engine_frames(deform_engine *d, int64_t n_frames, const deform_inputs *inputs, deform_numbering numbering,
                                        const modal_deform_arrays *to, int *odd, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *const arrays[DEFORM_OUTPUTS] = {to->positions, to->normals, to->displacement, to->tangents, to->speed};
    deform_slot *slot = &d->slots[0];
    deform_inputs in = *inputs;
    modal_frames frames;
    if (n_frames < 1 || n_frames > d->batch_frames)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "deform: %lld frames at once, most %lld", (long long)n_frames, (long long)d->batch_frames);
    for (int k = 0; k < DEFORM_OUTPUTS; k++) {
        if (arrays[k] && !modal_deform_wants(d, k)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "deform: an output that the request does not have");
        if (modal_deform_is_direct(d)) slot->d_out[k] = arrays[k];
    }
    if (slot->h_q_rates && !to->speed) { /* on a GPU all outputs are made: of any numbers */
        in.q_rates = in.q;
        in.pose_rates = in.poses;
    }
    MODAL_TRY(fill_slot(d, slot, n_frames, &in, numbering, err));
    MODAL_TRY(modal_slots_receive(&d->out, 0, &frames, err));
    for (int k = 0; k < DEFORM_OUTPUTS && !modal_deform_is_direct(d); k++)
        if (arrays[k])
            memcpy(arrays[k], frames.arrays[d->array_of[k]], (size_t)(n_frames * modal_deform_width(k) * d->n_points) * sizeof(float));
    *odd = *slot->h_nonfinite;
done:
    return status;
}

modal_status modal_deform_engine_collect(deform_engine *d, modal_deform_batch *batch,
                                    modal_error *err)
{
    memset(batch, 0, sizeof *batch);
    int index;
    modal_status status = modal_ring_take(&d->ring, &index, err);
    if (status != MODAL_OK) return status;
    status = modal_slots_receive(&d->out, index, &batch->frames, err);
    batch->slot = index + 1; /* 0: none */
    if (status != MODAL_OK) {
        modal_deform_engine_release(d, batch);
        return status;
    }
    const float **const outputs[DEFORM_OUTPUTS] = {[DEFORM_POSITIONS] = &batch->positions,
                                                   [DEFORM_NORMALS] = &batch->normals,
                                                   [DEFORM_DISPLACEMENT] = &batch->displacement,
                                                   [DEFORM_TANGENTS] = &batch->tangents,
                                                   [DEFORM_SPEED] = &batch->speed};
    batch->n_frames = d->slots[index].n_frames;
    for (int k = 0; k < DEFORM_OUTPUTS; k++)
        if (d->array_of[k] >= 0) *outputs[k] = batch->frames.arrays[d->array_of[k]];
    return MODAL_OK;
}

void modal_deform_engine_release(deform_engine *d, modal_deform_batch *batch)
{
    if (batch->slot == 0) return;
    modal_ring_give_back(&d->ring, batch->slot - 1);
    memset(batch, 0, sizeof *batch);
}

void modal_deform_engine_cancel(deform_engine *d) { modal_ring_cancel(&d->ring); }
