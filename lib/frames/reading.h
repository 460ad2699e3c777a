/* SPDX-License-Identifier: Apache-2.0 */
/* A source of frames that someone reads: those of an existing sequence. Three threads work at once: the one that submits
 * reads, one of the source's own brings what was read to the device and queues (on a CPU does) the work of the stages, and
 * the taking thread has what is done. */
#ifndef MODAL_FRAMES_READING_H
#define MODAL_FRAMES_READING_H

#include "lib/frames/frames.h"
#include "lib/frames/plan.h"

typedef struct modal_reading_request {
    const struct modal_device *device; /* copied */
    const modal_frame_plan *plan; /* rows and places of all arrays; those that are read: MODAL_READ or MODAL_UPLOADED */
    int64_t most_frames;          /* of a batch, >= 1 */
    void *reader;
    /* Reads frame `frame` of the sequence to to[i], [rows, components], of every array i that is read. In the submitting
     * thread. Borrowed. */
    modal_status (*read)(void *reader, int64_t frame, float *const to[MODAL_MOST_ARRAYS], modal_error *err);
    const char *doing; /* what progress is called */
} modal_reading_request;

typedef struct modal_reading modal_reading;

/* *as is for modal_frames_run, and good until the source is deleted. Errors as modal_slots_make. */
modal_status modal_reading_new(modal_reading **reading, const modal_reading_request *request, modal_frame_source *as,
                               modal_error *err);
modal_reading *modal_reading_delete(modal_reading *reading); /* NULL is fine; returns NULL */

/* Seconds of reading and of the source's own thread so far. After modal_frames_run. */
void modal_reading_seconds(const modal_reading *reading, double *reads, double *works);

#endif
