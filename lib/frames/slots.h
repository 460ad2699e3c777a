/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on a device: slots of arrays that stay there, stages (lib/frames/plan.h) that add to them, and the way of what
 * sinks take to main memory. A source owns the slots of each of its devices (lib/deform, lib/frames/reading.h):
 *
 *   the source queues what fills arrays of the slot in its stream -> modal_slots_send queues the stages in the same
 *   stream and the copies in another one -> modal_slots_receive, in the taking thread, waits and lists the arrays.
 *
 * Where device memory is main memory everything is done when a call returns, and an array has one place. */
#ifndef MODAL_FRAMES_SLOTS_H
#define MODAL_FRAMES_SLOTS_H

#include <stdint.h>

#include "kernels/registry.h"
#include "lib/frames/plan.h"
#include "lib/frames/ring.h"

/* One slot. Read only, but for the arrays that the source fills: on the device or, where they are MODAL_READ or
 * MODAL_UPLOADED, in main memory (taken). */
typedef struct modal_slot {
    int64_t n_frames;
    float *on_device[MODAL_MOST_ARRAYS], *taken[MODAL_MOST_ARRAYS]; /* [most_frames, rows, components] */
    unsigned char *chunks[MODAL_MOST_ARRAYS]; /* [most_frames, stride] in main memory */
    modal_encoded *encoded[MODAL_MOST_ARRAYS]; /* [most_frames] likewise */
    modal_event *computed, *copied;
} modal_slot;

/* The slots of a device. Zeroed, they are some that were not made. */
typedef struct modal_slots {
    modal_device device;
    modal_frame_plan plan;
    int64_t most_frames;
    int n_slots, n_opened;
    modal_slot slots[MODAL_RING_SLOTS];
    void *opened[MODAL_MOST_STAGES];
    float *scratch; /* of the encoder */
    modal_stream *copy;
} modal_slots;

/* MODAL_ERROR_MEMORY, MODAL_ERROR_SYSTEM, and what the stages say. After an error, too, modal_slots_free. */
modal_status modal_slots_make(modal_slots *slots, const modal_device *device, const modal_frame_plan *plan, int64_t most_frames,
                              int n_slots, modal_error *err);
/* Waits for the copies. The stream that modal_slots_send was given must be done. */
void modal_slots_free(modal_slots *slots);

/* In `stream` the source has queued what fills its arrays of the slot's first n_frames frames, whose numbers are first + f step:
 * queues the rest. */
modal_status modal_slots_send(modal_slots *slots, int slot, int64_t n_frames, int64_t first, int64_t step, modal_stream *stream,
                              modal_error *err);
/* Waits until all that is taken is there; the arrays of *frames are the slot's until the source fills it again. Any
 * thread. */
modal_status modal_slots_receive(const modal_slots *slots, int slot, modal_frames *frames, modal_error *err);
/* A second look: array i of a frame of a slot that was received, in main memory; where it stayed on the device it is
 * copied to `scratch` [rows, components]. */
modal_status modal_slots_look(const modal_slots *slots, int slot, int array, int64_t frame, float *scratch, const float **values,
                              modal_error *err);

#endif
