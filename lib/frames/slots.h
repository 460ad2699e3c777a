/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on a device: slots of arrays that stay there, stages that add to them, and the way of what sinks take to main
 * memory. A source owns the slots of each of its devices (lib/deform, lib/frames/reading.h):
 *
 *   the source queues what fills arrays of the slot in its stream -> modal_slots_send queues the stages in the same
 *   stream and the copies in another one -> modal_slots_receive, in the taking thread, waits and lists the arrays.
 *
 * Where device memory is main memory everything is done when a call returns, and an array has one place.
 *
 * A stage is what makes arrays of frames of other arrays, all frames of a batch at once, on the device: curvature
 * (lib/curvature/stage.h), later a picture. It names what it makes in the plan's list; `rows` lets an array have other
 * rows than points or cells (pixels). A sink is what takes arrays in main memory: a step of modal_frames_run, for whose
 * arrays the plan says MODAL_TAKEN. What no sink takes is not copied. */
#ifndef MODAL_FRAMES_SLOTS_H
#define MODAL_FRAMES_SLOTS_H

#include <stdint.h>

#include "kernels/device.h"
#include "lib/frames/ring.h"
#include "lib/model/frames.h"

/* Some frames in a slot. arrays[i] is [n_frames, rows, components] of the list's array i, in the device's memory; NULL
 * where it has no place there. What the stages before have queued is there by the time that the stream comes to it. */
typedef struct modal_device_frames {
    int64_t n_frames;
    int slot; /* what a stage keeps for a slot is its own until the slot comes again */
    float *arrays[MODAL_MOST_ARRAYS];
} modal_device_frames;

/* Every function but `bytes` is called by one thread at a time a device; that thread has selected the device. */
typedef struct modal_frame_stage {
    const void *self; /* borrowed as long as the slots live; the same for every device */
    /* Bytes that `open` takes on the device. NULL: none. */
    int64_t (*bytes)(const void *self, const modal_device *device, int64_t most_frames);
    /* What the stage needs on a device: tables, memory between its operations. *opened is NULL after an error. */
    modal_status (*open)(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err);
    /* Queues the work on 1 to most_frames frames. */
    modal_status (*queue)(void *opened, modal_stream *stream, const modal_device_frames *frames, modal_error *err);
    void (*close)(void *opened); /* NULL is fine */
} modal_frame_stage;

/* Where an array of the list is. */
typedef enum modal_array_place {
    MODAL_OF_STEPS,     /* in main memory, where a step of modal_frames_run makes it */
    MODAL_READ,         /* in main memory, where the source fills it and sinks find it */
    MODAL_UPLOADED,     /* the same, and modal_slots_send brings it to the device before the stages */
    MODAL_ON_DEVICE,    /* there, and it stays there */
    MODAL_TAKEN,        /* there, and sinks take it */
    MODAL_TAKEN_ENCODED /* there, and sinks take it in fewer bits (kernels/encode) */
} modal_array_place;

enum { MODAL_MOST_STAGES = 4 };

/* What there is of a frame, and what happens to it. */
typedef struct modal_frame_plan {
    modal_array_list list;
    int64_t rows[MODAL_MOST_ARRAYS]; /* of a frame */
    modal_array_place places[MODAL_MOST_ARRAYS];
    double scale; /* of what is encoded: a power of ten, 1/m */
    int n_stages;
    modal_frame_stage stages[MODAL_MOST_STAGES]; /* in the order in which they work */
} modal_frame_plan;

/* Appends the array: rows 0 stands for n_points. Errors as modal_array_add. */
modal_status modal_frame_plan_add(modal_frame_plan *plan, const modal_array *array, int64_t rows, modal_array_place place,
                                  modal_error *err);
/* Bytes of a frame in one slot, of main and of device memory (0 where that is main memory); 0 where they do not fit 63
 * bits. Stages' own are not counted. */
int modal_frame_plan_bytes(const modal_frame_plan *plan, const modal_device *device, int64_t *host, int64_t *on_device);
/* Bytes of a device that the stages take for batches of so many frames. */
int64_t modal_frame_plan_stage_bytes(const modal_frame_plan *plan, const modal_device *device, int64_t most_frames);

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

/* In `stream` the source has queued what fills its arrays of the slot's first n_frames frames: queues the rest. */
modal_status modal_slots_send(modal_slots *slots, int slot, int64_t n_frames, modal_stream *stream, modal_error *err);
/* Waits until all that is taken is there; the arrays of *frames are the slot's until the source fills it again. Any
 * thread. */
modal_status modal_slots_receive(const modal_slots *slots, int slot, modal_frames *frames, modal_error *err);
/* A second look: array i of a frame of a slot that was received, in main memory; where it stayed on the device it is
 * copied to `scratch` [rows, components]. */
modal_status modal_slots_look(const modal_slots *slots, int slot, int array, int64_t frame, float *scratch, const float **values,
                              modal_error *err);

#endif
