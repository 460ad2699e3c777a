/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a motion leave beside its steps. A frame is first copied within the device, in the order of the steps; then a stream of
 * its own brings it into pinned memory, and a thread of its own puts it into the mesh's order and gives it to a sink, while the
 * steps go on. Two frames are under way at most: a sink that is slower than the steps holds them up. Where device memory is main
 * memory, the copy is all that the steps wait for. Same frames, same bytes as one after the other. */
#ifndef MODAL_TLED_FRAMES_H
#define MODAL_TLED_FRAMES_H

#include "lib/tled/motion.h"

enum { MODAL_TLED_SLOTS = 2 };

typedef struct modal_tled_frame {
    double time;            /* s */
    const double *u;        /* [n_nodes, 3] m, the mesh's order */
    const double *velocity; /* likewise, m/s, half a step before; NULL: not asked for */
    int slot;               /* as modal_tled_frames_slot gave it */
} modal_tled_frame;

/* Called in the frames' thread, frame after frame. After an error no other frame comes. */
typedef modal_status (*modal_tled_sink)(void *context, const modal_tled_frame *frame, modal_error *err);

typedef struct modal_tled_frames modal_tled_frames;

/* The motion is borrowed. velocities: 1 where they are wanted. */
modal_status modal_tled_frames_new(modal_tled_motion *motion, int velocities, modal_tled_sink sink, void *context,
                                   modal_tled_frames **frames, modal_error *err);

/* Waits until a slot is free, whose number, below MODAL_TLED_SLOTS, the next frame has: what the caller keeps beside a frame is not
 * read any more. An error of an earlier frame: its own, or MODAL_ERROR_NOT_CONVERGED where a displacement was not finite. */
modal_status modal_tled_frames_slot(modal_tled_frames *frames, int *slot, modal_error *err);

/* The state at hand is the next frame; after modal_tled_frames_slot. */
modal_status modal_tled_frames_take(modal_tled_frames *frames, modal_error *err);

/* Waits until the sink has had all frames; as modal_tled_frames_slot. */
modal_status modal_tled_frames_wait(modal_tled_frames *frames, modal_error *err);

/* After modal_tled_frames_wait: s that the thread has spent on frames, the sink's included, and that the caller has waited. */
void modal_tled_frames_seconds(const modal_tled_frames *frames, double *beside, double *waited);

/* Waits for what the sink has in hand; frames that it has not begun with are left out. NULL is fine; gives NULL. */
modal_tled_frames *modal_tled_frames_delete(modal_tled_frames *frames);

#endif
