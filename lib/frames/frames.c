/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/frames/frames.h"

#include <pthread.h>
#include <string.h>

#include "lib/base/clock.h"

typedef struct taking {
    const modal_frame_source *source;
    int n_steps;
    const modal_frame_step *steps;
    int64_t first, n_frames;
    modal_frames_times times;
    modal_status status;
    modal_error err;
} taking;

static void *take(void *argument)
{
    taking *t = argument;
    for (int64_t done = t->first; done < t->n_frames && t->status == MODAL_OK;) {
        modal_frames frames = {0};
        const double start = modal_clock(CLOCK_MONOTONIC);
        t->status = t->source->collect(t->source->self, &frames, &t->err);
        if (t->status != MODAL_OK) break;
        const double collected = modal_clock(CLOCK_MONOTONIC), processor = modal_clock(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < t->n_steps && t->status == MODAL_OK; i++)
            t->status = t->steps[i].run(t->steps[i].self, done, &frames, &t->err);
        t->times.processor += modal_clock(CLOCK_THREAD_CPUTIME_ID) - processor;
        t->times.wait += collected - start;
        t->times.work += modal_clock(CLOCK_MONOTONIC) - collected;
        done += frames.n_frames;
        t->source->release(t->source->self);
    }
    if (t->status != MODAL_OK) t->source->cancel(t->source->self);
    return NULL;
}

static modal_status submit_all(const modal_frame_source *source, int64_t first, int64_t n_frames,
                               const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t done = first, n; done < n_frames; done += n) {
        n = n_frames - done < source->most_frames ? n_frames - done : source->most_frames;
        MODAL_TRY(modal_progress_report(progress, source->doing, (double)done / (double)n_frames, err));
        MODAL_TRY(source->submit(source->self, done, n, err));
    }
done:
    if (status != MODAL_OK) source->cancel(source->self);
    return status;
}

modal_status modal_frames_run(const modal_frame_source *source, int n_steps, const modal_frame_step *steps,
                              int64_t first, int64_t n_frames, const modal_progress *progress, modal_frames_times *times,
                              modal_error *err)
{
    taking t = {.source = source, .n_steps = n_steps, .steps = steps, .first = first, .n_frames = n_frames};
    modal_error submit_err = {0};
    pthread_t thread;
    const double start = modal_clock(CLOCK_MONOTONIC);
    if (pthread_create(&thread, NULL, take, &t) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "writer: cannot start a thread");
    const modal_status status = submit_all(source, first, n_frames, progress, &submit_err);
    t.times.submit = modal_clock(CLOCK_MONOTONIC) - start;
    pthread_join(thread, NULL);
    if (times) *times = t.times;
    /* The thread that failed first knows why; the other one was only interrupted. */
    const int heard = status == MODAL_OK || (status == MODAL_ERROR_INTERRUPTED && t.status != MODAL_ERROR_INTERRUPTED);
    if (t.status != MODAL_OK && heard)
        return modal_error_set(err, t.status, "%s", t.err.message);
    return status == MODAL_OK ? MODAL_OK : modal_error_set(err, status, "%s", submit_err.message);
}
