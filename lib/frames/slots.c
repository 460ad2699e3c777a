/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/frames/slots.h"

#include <string.h>

#include "kernels/device.h"
#include "kernels/encode/encode.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"

static int64_t floats_of(const modal_frame_plan *plan, int array)
{
    return plan->rows[array] * plan->list.all[array].components;
}

modal_status modal_frame_plan_add(modal_frame_plan *plan, const modal_array *array, int64_t rows, modal_array_place place,
                                  modal_error *err)
{
    modal_status status = modal_array_add(&plan->list, array, err);
    if (status != MODAL_OK) return status;
    plan->rows[plan->list.n - 1] = rows;
    plan->places[plan->list.n - 1] = place;
    return MODAL_OK;
}

/* Whether an array is in main memory as it is, whatever the device. */
static int is_in_memory(modal_array_place place)
{
    return place == MODAL_READ || place == MODAL_UPLOADED || place == MODAL_TAKEN;
}

/* Adds count items; 0 on overflow. */
static int add(int64_t *sum, int64_t count, int64_t item_bytes)
{
    int64_t product;
    return modal_size_multiply(count, item_bytes, &product) && modal_size_add(*sum, product, sum);
}

int modal_frame_plan_bytes(const modal_frame_plan *plan, const modal_device *device, int64_t *host, int64_t *on_device)
{
    int fits = 1;
    *host = *on_device = 0;
    for (int i = 0; i < plan->list.n; i++) {
        const modal_array_place place = plan->places[i];
        const int64_t row = (int64_t)sizeof(float) * plan->list.all[i].components;
        if (place == MODAL_OF_STEPS) continue;
        if (is_in_memory(place) || device->shares_memory) fits &= add(host, plan->rows[i], row);
        if (place != MODAL_READ && !device->shares_memory) fits &= add(on_device, plan->rows[i], row);
        if (place != MODAL_TAKEN_ENCODED) continue;
        fits &= add(host, plan->rows[i], row) && add(host, 1, 512 + (int64_t)sizeof(modal_encoded));
        fits &= add(device->shares_memory ? host : on_device, MODAL_ENCODE_SCRATCH, sizeof(float)); /* once, but counted for each slot */
    }
    return fits;
}

int64_t modal_frame_plan_stage_bytes(const modal_frame_plan *plan, const modal_device *device, int64_t most_frames)
{
    int64_t bytes = 0;
    for (int i = 0; i < plan->n_stages; i++)
        if (plan->stages[i].bytes) bytes += plan->stages[i].bytes(plan->stages[i].self, device, most_frames);
    return bytes;
}

/* ---- making and freeing ---- */

static modal_status make_array(modal_slots *s, modal_slot *slot, int i, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_array_place place = s->plan.places[i];
    const int64_t floats = s->most_frames * floats_of(&s->plan, i);
    const char *name = s->plan.list.all[i].name;
    if (place == MODAL_OF_STEPS) return MODAL_OK;
    if (s->device.shares_memory || is_in_memory(place))
        MODAL_TRY(modal_device_alloc_host(&s->device, &slot->taken[i], floats, sizeof(float), name, err));
    if (s->device.shares_memory)
        slot->on_device[i] = slot->taken[i];
    else if (place != MODAL_READ)
        MODAL_TRY(modal_device_alloc(&s->device, &slot->on_device[i], floats, sizeof(float), name, err));
    if (place != MODAL_TAKEN_ENCODED) return MODAL_OK;
    MODAL_TRY(modal_device_alloc_host(&s->device, &slot->chunks[i],
                                      s->most_frames * modal_encode_stride(floats_of(&s->plan, i)), 1, name, err));
    MODAL_TRY(modal_device_alloc_host(&s->device, &slot->encoded[i], s->most_frames, sizeof **slot->encoded, name, err));
done:
    return status;
}

modal_status modal_slots_make(modal_slots *s, const modal_device *device, const modal_frame_plan *plan, int64_t most_frames,
                              int n_slots, modal_error *err)
{
    modal_status status = MODAL_OK;
    int encodes = 0;
    *s = (modal_slots){.device = *device, .plan = *plan, .most_frames = most_frames, .n_slots = n_slots};
    MODAL_TRY(modal_device_stream_new(device, &s->copy, err));
    for (int i = 0; i < plan->list.n; i++) encodes |= plan->places[i] == MODAL_TAKEN_ENCODED;
    if (encodes)
        MODAL_TRY(modal_device_alloc(device, &s->scratch, most_frames, MODAL_ENCODE_SCRATCH * sizeof *s->scratch, "encoder", err));
    for (int k = 0; k < n_slots; k++) {
        for (int i = 0; i < plan->list.n; i++) MODAL_TRY(make_array(s, &s->slots[k], i, err));
        MODAL_TRY(modal_device_event_new(device, &s->slots[k].computed, err));
        MODAL_TRY(modal_device_event_new(device, &s->slots[k].copied, err));
    }
    for (int i = 0; i < plan->n_stages; i++) {
        const modal_frame_stage *stage = &plan->stages[i];
        MODAL_TRY(stage->open(stage->self, device, most_frames, &s->opened[i], err));
        s->n_opened++;
    }
done:
    return status;
}

void modal_slots_free(modal_slots *s)
{
    const modal_device *device = &s->device;
    if (!device->interface) return;
    if (s->copy) modal_device_stream_wait(device, s->copy, NULL);
    for (int i = 0; i < s->n_opened; i++) s->plan.stages[i].close(s->opened[i]);
    for (int k = 0; k < s->n_slots; k++) {
        modal_slot *slot = &s->slots[k];
        for (int i = 0; i < MODAL_MOST_ARRAYS; i++) {
            if (slot->on_device[i] == slot->taken[i]) slot->on_device[i] = NULL;
            modal_device_free(device, &slot->on_device[i]);
            modal_device_free_host(device, &slot->taken[i]);
            modal_device_free_host(device, &slot->chunks[i]);
            modal_device_free_host(device, &slot->encoded[i]);
        }
        modal_device_event_delete(device, &slot->computed);
        modal_device_event_delete(device, &slot->copied);
    }
    modal_device_free(device, &s->scratch);
    modal_device_stream_delete(device, &s->copy);
    *s = (modal_slots){0};
}

/* ---- a batch ---- */

/* The encoder writes into main memory itself: how many bytes it makes is not known before. It works in the stream of the
 * copies, beside the next batch. */
static modal_status take(modal_slots *s, modal_slot *slot, int i, modal_error *err)
{
    const int64_t floats = floats_of(&s->plan, i);
    if (s->plan.places[i] == MODAL_TAKEN)
        return modal_device_copy_out(&s->device, slot->taken[i], slot->on_device[i],
                                     slot->n_frames * floats * (int64_t)sizeof(float), s->copy, err);
    if (s->plan.places[i] != MODAL_TAKEN_ENCODED || floats == 0) return MODAL_OK;
    const modal_encode_task task = {.n_values = floats, .n_columns = slot->n_frames, .in = slot->on_device[i],
                                    .scale = s->plan.scale, .stride = modal_encode_stride(floats), .out = slot->chunks[i],
                                    .encoded = slot->encoded[i], .scratch = s->scratch};
    return s->device.kernels->encode(&task, s->copy, err);
}

modal_status modal_slots_send(modal_slots *s, int index, int64_t n_frames, int64_t first, int64_t step, modal_stream *stream,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_slot *slot = &s->slots[index];
    modal_device_frames frames = {.n_frames = n_frames, .first = first, .step = step, .slot = index};
    slot->n_frames = n_frames;
    memcpy(frames.arrays, slot->on_device, sizeof frames.arrays);
    for (int i = 0; i < s->plan.list.n; i++)
        if (s->plan.places[i] == MODAL_UPLOADED)
            MODAL_TRY(modal_device_copy_in(&s->device, slot->on_device[i], slot->taken[i],
                                           n_frames * floats_of(&s->plan, i) * (int64_t)sizeof(float), stream, err));
    for (int i = 0; i < s->n_opened && n_frames > 0; i++)
        MODAL_TRY(s->plan.stages[i].queue(s->opened[i], stream, &frames, err));
    MODAL_TRY(modal_device_event_record(&s->device, slot->computed, stream, err));
    MODAL_TRY(modal_device_stream_wait_event(&s->device, s->copy, slot->computed, err));
    for (int i = 0; i < s->plan.list.n; i++) MODAL_TRY(take(s, slot, i, err));
    MODAL_TRY(modal_device_event_record(&s->device, slot->copied, s->copy, err));
done:
    return status;
}

modal_status modal_slots_receive(const modal_slots *s, int index, modal_frames *frames, modal_error *err)
{
    const modal_slot *slot = &s->slots[index];
    *frames = (modal_frames){.n_frames = slot->n_frames};
    modal_status status = modal_device_event_wait(&s->device, slot->copied, err);
    for (int i = 0; i < s->plan.list.n && status == MODAL_OK; i++) {
        if (is_in_memory(s->plan.places[i])) frames->arrays[i] = slot->taken[i];
        if (s->plan.places[i] == MODAL_TAKEN_ENCODED)
            frames->encoded[i] = (modal_encoded_array){slot->chunks[i] + MODAL_ENCODE_FIRST,
                                                       modal_encode_stride(floats_of(&s->plan, i)), slot->encoded[i]};
    }
    return status;
}

modal_status modal_slots_look(const modal_slots *s, int index, int array, int64_t frame, float *scratch, const float **values,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t floats = floats_of(&s->plan, array);
    const modal_slot *slot = &s->slots[index];
    *values = slot->taken[array] ? slot->taken[array] + frame * floats : scratch;
    if (slot->taken[array]) return MODAL_OK;
    MODAL_TRY(modal_device_select(&s->device, err));
    MODAL_TRY(modal_device_copy_out(&s->device, scratch, slot->on_device[array] + frame * floats,
                                    floats * (int64_t)sizeof(float), s->copy, err));
    MODAL_TRY(modal_device_stream_wait(&s->device, s->copy, err));
done:
    return status;
}
