/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on their way: a source makes them, stages add to them on the device (slots.h), steps and sinks take them in main
 * memory. The calling thread keeps the source busy, another one takes what is done through the steps to the sinks:
 * computing, copying and writing overlap. Sources: a deformer (lib/deform/source.h), an existing sequence (reading.h).
 *
 * A batch is a view of the source's own memory. It is the taking thread's until that releases it. */
#ifndef MODAL_FRAMES_FRAMES_H
#define MODAL_FRAMES_FRAMES_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/model/frames.h"

/* Makes frames 0 .. n - 1 of a sequence, in their order. */
typedef struct modal_frame_source {
    void *self;
    int64_t most_frames; /* of a submission */
    /* The calling thread: queues frames [first, first + n); may wait for memory to be free. */
    modal_status (*submit)(void *self, int64_t first, int64_t n, modal_error *err);
    /* The taking thread: waits for the next frames, at least one, those of one submission or fewer. Their arrays are
     * where the source says that they are; those of stages are NULL. */
    modal_status (*collect)(void *self, modal_frames *frames, modal_error *err);
    void (*release)(void *self); /* those that were collected last */
    void (*cancel)(void *self);  /* any thread: submit and collect end with MODAL_ERROR_INTERRUPTED */
    const char *doing;           /* what progress is called: "deform" */
} modal_frame_source;

/* Works in the taking thread, on arrays in main memory. It may set arrays of the frames, which stay until its next call; a
 * sink reads them. What can be made on the device is a modal_frame_stage of the source instead. */
typedef struct modal_frame_step {
    void *self;
    /* `first` is the number of the first of these frames. */
    modal_status (*run)(void *self, int64_t first, modal_frames *frames, modal_error *err);
} modal_frame_step;

/* What a run took, s. */
typedef struct modal_frames_times {
    double submit;    /* of the calling thread, with what it waited */
    double wait;      /* of the taking thread, for the source */
    double work;      /* of the taking thread, steps and sinks */
    double processor; /* of these its processor time: what it costs, however busy the machine is */
} modal_frames_times;

/* Takes frames [first, n_frames) from the source through the steps, in their order: sinks last.
 * Errors are those of whoever failed
 * first; the source is cancelled then. `progress` and `times` may be NULL. */
modal_status modal_frames_run(const modal_frame_source *source, int n_steps, const modal_frame_step *steps,
                              int64_t first, int64_t n_frames, const modal_progress *progress, modal_frames_times *times,
                              modal_error *err);

#endif
