/* SPDX-License-Identifier: Apache-2.0 */
/* The deformer as callers see it: one engine a device, batches dealt to them in turn and collected in
 * the same turn, so that their order is kept whatever device is faster. Each engine has its own copy of
 * the basis; frames are independent, so nothing is exchanged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/device_list.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

void modal_deform_warm_up(const char *back_end)
{
    modal_device_label names[MODAL_DEVICE_LIST];
    modal_device device;
    int n = 0;
    int64_t bytes;
    if (!modal_device_is_list(back_end)) {
        if (modal_device_open(&device, back_end, NULL) == MODAL_OK)
            modal_device_free_bytes(&device, &bytes, NULL);
        return;
    }
    if (modal_device_list(back_end, names, &n, NULL) != MODAL_OK) return;
    for (int i = 0; i < n; i++)
        if (modal_device_open(&device, names[i], NULL) == MODAL_OK)
            modal_device_free_bytes(&device, &bytes, NULL);
}

static modal_status join_names(modal_deformer *d, modal_error *err)
{
    modal_status status =
        modal_alloc_zero(&d->names, d->n_engines, MODAL_DEVICE_NAME + 1, "names of devices", err);
    for (int i = 0; i < d->n_engines && status == MODAL_OK; i++) {
        if (i > 0) strcat(d->names, ",");
        strcat(d->names, d->engines[i]->device.name);
    }
    return status;
}

modal_status modal_deformer_new(modal_deformer **deformer, const modal_basis *basis,
                                const modal_deform_request *request, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_device_label names[MODAL_DEVICE_LIST];
    modal_deform_request each = *request;
    modal_deformer *d = NULL;
    int n = 1;
    *deformer = NULL;
    const int listed = modal_device_is_list(request->back_end);
    if (listed) MODAL_TRY(modal_device_list(request->back_end, names, &n, err));
    MODAL_TRY(modal_alloc_zero(&d, 1, sizeof *d, "deformer", err));
    d->numbering.step = 1;
    d->point_numbers = request->point_numbers;
    MODAL_TRY(modal_alloc_zero(&d->engines, n, sizeof *d->engines, "deformers", err));
    if (n > 1 && request->direct) MODAL_FAIL(err, MODAL_ERROR_USAGE, "deform: frames into the caller's arrays are of one device, %s", request->back_end);
    if (n > 1) { /* they share main memory, and the frames */
        each.memory_limit = request->memory_limit / n;
        if (request->memory_limit > 0 && each.memory_limit == 0) each.memory_limit = 1;
        if (request->n_frames > 0) each.n_frames = (request->n_frames - 1) / n + 1;
        if (request->n_made > 0) each.n_made = (request->n_made - 1) / n + 1;
    }
    for (int i = 0; i < n; i++) {
        if (listed) each.back_end = names[i];
        MODAL_TRY(modal_deform_engine_new(&d->engines[i], basis, &each, err));
        /* A speed takes columns of its own. */
        const int each_takes = 1 + (request->speed != MODAL_SPEED_NONE) + (request->speed == MODAL_SPEED_MOVING);
        d->engines[i]->n_frames_total = request->n_frames < 1 ? 1 : each_takes * request->n_frames;
        d->n_engines++;
        if (i == 0 || d->engines[i]->batch_frames < d->batch_frames)
            d->batch_frames = d->engines[i]->batch_frames;
    }
    MODAL_TRY(join_names(d, err));
    *deformer = d;
    d = NULL;
done:
    modal_deformer_delete(d);
    return status;
}

modal_deformer *modal_deformer_delete(modal_deformer *d)
{
    if (!d) return NULL;
    for (int i = 0; i < d->n_engines; i++) modal_deform_engine_delete(d->engines[i]);
    modal_free(&d->engines);
    modal_free(&d->names);
    modal_free(&d);
    return NULL;
}

const char *modal_deformer_back_end(const modal_deformer *d) { return d->names; }
const char *modal_deformer_kind(const modal_deformer *d)
{
    return d->engines[0]->device.kernels->back_end;
}
const char *modal_deformer_device(const modal_deformer *d) { return d->engines[0]->device.hardware; }
int modal_deformer_n_devices(const modal_deformer *d) { return d->n_engines; }
int64_t modal_deformer_n_points(const modal_deformer *d) { return d->engines[0]->n_points; }
int64_t modal_deformer_batch_frames(const modal_deformer *d) { return d->batch_frames; }

int64_t modal_deformer_streamed_bytes(const modal_deformer *d)
{
    int64_t most = 0;
    for (int i = 0; i < d->n_engines; i++) {
        int64_t bytes = 0;
        for (int32_t k = 0; k < d->engines[i]->n_shapes; k++)
            if (d->engines[i]->shapes[k].place != MATRIX_ON_DEVICE)
                bytes += modal_deform_matrix_floats(&d->engines[i]->shapes[k]) *
                         (int64_t)sizeof(float);
        if (bytes > most) most = bytes;
    }
    return most;
}

modal_status modal_deformer_submit(modal_deformer *d, int64_t n_frames, const double *q,
                                   const double *poses, modal_error *err)
{
    return modal_deformer_submit_moving(d, n_frames, q, poses, NULL, NULL, err);
}

modal_status modal_deformer_submit_moving(modal_deformer *d, int64_t n_frames, const double *q, const double *poses,
                                          const double *q_rates, const double *pose_rates, modal_error *err)
{
    const deform_inputs inputs = {q, poses, q_rates, pose_rates};
    if (n_frames > d->batch_frames)
        return modal_error_set(err, MODAL_ERROR_USAGE, "deform: a batch of %lld frames, most %lld",
                               (long long)n_frames, (long long)d->batch_frames);
    deform_engine *engine = d->engines[d->n_submitted % d->n_engines];
    if (engine->request.direct) return modal_error_set(err, MODAL_ERROR_USAGE, "deform: frames come into the caller's arrays");
    modal_status status = modal_deform_engine_submit(engine, n_frames, &inputs, d->numbering, err);
    if (status == MODAL_OK) {
        d->n_submitted++;
        d->numbering.first += n_frames * d->numbering.step;
    }
    return status;
}

void modal_deformer_number_frames(modal_deformer *d, int64_t first, int64_t step)
{
    d->numbering = (deform_numbering){first, step};
}

void modal_deformer_point(const modal_deformer *d, int64_t point, int32_t *object, int64_t *vertex)
{
    const int64_t *offsets = d->engines[0]->point_offsets;
    int32_t low = 0, high = d->engines[0]->n_objects;
    while (high - low > 1) { /* offsets[low] <= point < offsets[high] */
        const int32_t middle = low + (high - low) / 2;
        if (offsets[middle] <= point)
            low = middle;
        else
            high = middle;
    }
    *object = low;
    *vertex = d->point_numbers ? d->point_numbers[point] : point - offsets[low];
}

static const char *const faults[DEFORM_OUTPUTS] = {
    [DEFORM_POSITIONS] = "position does not fit float32",
    [DEFORM_NORMALS] = "normal: products of edges do not fit float32",
    [DEFORM_DISPLACEMENT] = "displacement does not fit float32",
    [DEFORM_TANGENTS] = "tangent: products of edges do not fit float32",
    [DEFORM_SPEED] = "the square of its speed does not fit float32"};

/* Names a value that is not finite among those of an output in a frame; MODAL_OK where there is none. */
static modal_status refuse_value(const modal_deformer *d, int output, int64_t frame, const float *values, modal_error *err)
{
    const int64_t width = modal_deform_width(output), n = width * modal_deformer_n_points(d);
    const int64_t place = modal_first_nonfinite(values, n);
    int32_t object;
    int64_t vertex;
    if (place == n) return MODAL_OK;
    modal_deformer_point(d, place / width, &object, &vertex);
    return modal_error_set(err, MODAL_ERROR_INPUT, "frame %lld, object %d, vertex %lld: %s, %g", (long long)frame, object, (long long)vertex,
                           faults[output], isnan(values[place]) ? NAN : (double)values[place]);
}

/* Which value of a batch is not finite: a second look, when the operation that wrote them has found one. */
static modal_status refuse_nonfinite(const modal_deformer *d, const deform_engine *engine, int index, modal_error *err)
{
    modal_status status = MODAL_OK;
    const deform_slot *slot = &engine->slots[index];
    float *scratch = NULL;
    MODAL_TRY(modal_alloc(&scratch, 4 * engine->n_points, sizeof *scratch, "a frame", err));
    for (int64_t f = 0; f < slot->n_frames; f++)
        for (int k = 0; k < DEFORM_OUTPUTS; k++) {
            const float *values = NULL;
            if (engine->array_of[k] < 0) continue;
            MODAL_TRY(modal_slots_look(&engine->out, index, engine->array_of[k], f, scratch, &values, err));
            MODAL_TRY(refuse_value(d, k, modal_deform_number(&slot->numbering, f), values, err));
        }
    MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "deform: a value that is not finite, and cannot be found");
done:
    modal_free(&scratch);
    return status;
}

modal_status modal_deformer_frames(modal_deformer *d, int64_t n_frames, const double *q, const double *poses, const double *q_rates,
                                   const double *pose_rates, const modal_deform_arrays *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const deform_inputs inputs = {q, poses, q_rates, pose_rates};
    const float *const arrays[DEFORM_OUTPUTS] = {to->positions, to->normals, to->displacement, to->tangents, to->speed};
    int odd = 0;
    if (!d->engines[0]->request.direct || !to->positions)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "deform: frames do not come into the caller's arrays");
    MODAL_TRY(modal_deform_engine_frames(d->engines[0], n_frames, &inputs, d->numbering, to, &odd, err));
    for (int64_t f = 0; f < n_frames && odd; f++)
        for (int k = 0; k < DEFORM_OUTPUTS; k++)
            if (arrays[k])
                MODAL_TRY(refuse_value(d, k, modal_deform_number(&d->numbering, f), arrays[k] + f * modal_deform_width(k) * modal_deformer_n_points(d), err));
    /* on a GPU it may be in an output that is not wanted */
done:
    return status;
}

modal_status modal_deformer_collect(modal_deformer *d, modal_deform_batch *batch, modal_error *err)
{
    const int engine = (int)(d->n_collected % d->n_engines);
    modal_status status = modal_deform_engine_collect(d->engines[engine], batch, err);
    batch->engine = engine;
    if (status != MODAL_OK) return status;
    d->n_collected++;
    if (*d->engines[engine]->slots[batch->slot - 1].h_nonfinite) {
        status = refuse_nonfinite(d, d->engines[engine], batch->slot - 1, err);
        modal_deformer_release(d, batch);
    }
    return status;
}

void modal_deformer_release(modal_deformer *d, modal_deform_batch *batch)
{
    modal_deform_engine_release(d->engines[batch->engine], batch);
}

void modal_deformer_cancel(modal_deformer *d)
{
    for (int i = 0; i < d->n_engines; i++) modal_deform_engine_cancel(d->engines[i]);
}
