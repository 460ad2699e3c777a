/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/frames/reading.h"

#include <pthread.h>

#include "kernels/device.h"
#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "lib/frames/slots.h"

enum { SLOTS = 3 };

/* Slots go round: read -> worked on -> taken -> read. `read` is the ring of the first two, `worked` that of the last two;
 * a slot is given back to `read` by the taking thread, so that it is in one of them at a time. */
struct modal_reading {
    modal_reading_request request;
    modal_slots slots;
    modal_stream *stream;
    modal_ring read, worked;
    int64_t n_frames[SLOTS], first[SLOTS];
    int taken; /* of the taking thread */
    int working;
    pthread_t worker;
    modal_status status; /* of the worker; read when the worked ring is cancelled, or the thread joined */
    modal_error err;
    double reads, works;
};

/* ---- the source's own thread ---- */

static modal_status work_on(modal_reading *r, int slot, modal_error *err)
{
    modal_status status = modal_device_select(&r->slots.device, err);
    return status == MODAL_OK ? modal_slots_send(&r->slots, slot, r->n_frames[slot], r->first[slot], 1, r->stream, err) : status;
}

static void *work(void *argument)
{
    modal_reading *r = argument;
    int slot, to;
    modal_error ignored = {0};
    while (modal_ring_take(&r->read, &slot, &ignored) == MODAL_OK &&
           modal_ring_fill(&r->worked, &to, &ignored) == MODAL_OK) { /* the same slot: both go round in the same order */
        const double start = modal_seconds();
        r->status = work_on(r, slot, &r->err);
        r->works += modal_seconds() - start;
        modal_ring_submit(&r->worked, to, r->status == MODAL_OK);
        if (r->status == MODAL_OK) continue;
        modal_ring_cancel(&r->worked); /* the taking thread says why, and cancels the other side */
        break;
    }
    return NULL;
}

/* ---- the submitting thread ---- */

static modal_status submit(void *self, int64_t first, int64_t n, modal_error *err)
{
    modal_reading *r = self;
    const modal_frame_plan *plan = &r->slots.plan;
    int slot;
    modal_status status = modal_ring_fill(&r->read, &slot, err);
    if (status != MODAL_OK) return status;
    const double start = modal_seconds();
    r->n_frames[slot] = n, r->first[slot] = first;
    for (int64_t f = 0; f < n && status == MODAL_OK; f++) {
        float *to[MODAL_MOST_ARRAYS] = {NULL};
        for (int i = 0; i < plan->list.n; i++)
            if (plan->places[i] == MODAL_READ || plan->places[i] == MODAL_UPLOADED)
                to[i] = r->slots.slots[slot].taken[i] + f * plan->rows[i] * plan->list.all[i].components;
        status = r->request.read(r->request.reader, first + f, to, err);
    }
    r->reads += modal_seconds() - start;
    modal_ring_submit(&r->read, slot, status == MODAL_OK);
    return status;
}

/* ---- the taking thread ---- */

static modal_status collect(void *self, modal_frames *frames, modal_error *err)
{
    modal_reading *r = self;
    modal_error cancelled = {0};
    const modal_status status = modal_ring_take(&r->worked, &r->taken, &cancelled);
    if (status == MODAL_OK) return modal_slots_receive(&r->slots, r->taken, frames, err);
    modal_ring_cancel(&r->read); /* the worker ends, if it has not */
    if (r->working) pthread_join(r->worker, NULL);
    r->working = 0;
    if (r->status == MODAL_OK) return modal_error_set(err, status, "%s", cancelled.message);
    return modal_error_set(err, r->status, "%s", r->err.message);
}

static void release(void *self)
{
    modal_reading *r = self;
    modal_ring_give_back(&r->worked, r->taken);
    modal_ring_give_back(&r->read, r->taken);
}

static void cancel(void *self)
{
    modal_reading *r = self;
    modal_ring_cancel(&r->read);
    modal_ring_cancel(&r->worked);
}

/* ---- making ---- */

modal_status modal_reading_new(modal_reading **reading, const modal_reading_request *request, modal_frame_source *as,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_reading *r = NULL;
    *reading = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "source of frames", err));
    r->request = *request;
    r->slots.device = *request->device;
    MODAL_TRY(modal_device_select(request->device, err));
    MODAL_TRY(modal_device_stream_new(request->device, &r->stream, err));
    MODAL_TRY(modal_slots_make(&r->slots, request->device, request->plan, request->most_frames, SLOTS, err));
    MODAL_TRY(modal_ring_make(&r->read, SLOTS, err));
    MODAL_TRY(modal_ring_make(&r->worked, SLOTS, err));
    if (pthread_create(&r->worker, NULL, work, r) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "frames: cannot start a thread");
    r->working = 1;
    *as = (modal_frame_source){r, request->most_frames, submit, collect, release, cancel, request->doing};
    *reading = r;
    r = NULL;
done:
    modal_reading_delete(r);
    return status;
}

modal_reading *modal_reading_delete(modal_reading *r)
{
    if (!r) return NULL;
    if (r->working) {
        cancel(r);
        pthread_join(r->worker, NULL);
    }
    if (r->stream) modal_device_stream_wait(&r->slots.device, r->stream, NULL);
    modal_device_stream_delete(&r->slots.device, &r->stream); /* before the slots, which forget their device */
    modal_slots_free(&r->slots);
    modal_ring_free(&r->read);
    modal_ring_free(&r->worked);
    modal_free(&r);
    return NULL;
}

void modal_reading_seconds(const modal_reading *r, double *reads, double *works)
{
    *reads = r->reads;
    *works = r->works;
}
