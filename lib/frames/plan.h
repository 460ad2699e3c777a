/* SPDX-License-Identifier: Apache-2.0 */
/* What there is of a frame, and the stages that make arrays of it on a device (lib/frames/slots.h).
 *
 * A stage is what makes arrays of frames of other arrays, all frames of a batch at once, on the device: curvature
 * (lib/curvature/stage.h), later a picture. It names what it makes in the plan's list; `rows` lets an array have other
 * rows than points or cells (pixels). A sink is what takes arrays in main memory: a step of modal_frames_run, for whose
 * arrays the plan says MODAL_TAKEN. What no sink takes is not copied. */
#ifndef MODAL_FRAMES_PLAN_H
#define MODAL_FRAMES_PLAN_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/model/frames.h"

struct modal_device;

/* Some frames in a slot. arrays[i] is [n_frames, rows, components] of the list's array i, in the device's memory; NULL
 * where it has no place there. What the stages before have queued is there by the time that the stream comes to it. */
typedef struct modal_device_frames {
    int64_t n_frames;
    int64_t first, step; /* frame f of these is number first + f step of the source: the trajectory's, where a deformer makes them */
    int slot; /* what a stage keeps for a slot is its own until the slot comes again */
    float *arrays[MODAL_MOST_ARRAYS];
} modal_device_frames;

/* Every function but `bytes` is called by one thread at a time a device; that thread has selected the device. */
typedef struct modal_frame_stage {
    const void *self; /* borrowed as long as the slots live; the same for every device */
    /* Bytes that `open` takes on the device. NULL: none. */
    int64_t (*bytes)(const void *self, const struct modal_device *device, int64_t most_frames);
    /* What the stage needs on a device: tables, memory between its operations. *opened is NULL after an error. */
    modal_status (*open)(const void *self, const struct modal_device *device, int64_t most_frames, void **opened, modal_error *err);
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
int modal_frame_plan_bytes(const modal_frame_plan *plan, const struct modal_device *device, int64_t *host, int64_t *on_device);
/* Bytes of a device that the stages take for batches of so many frames. */
int64_t modal_frame_plan_stage_bytes(const modal_frame_plan *plan, const struct modal_device *device, int64_t most_frames);

#endif
