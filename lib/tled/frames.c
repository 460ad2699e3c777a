/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/frames.h"

#include <omp.h>
#include <pthread.h>

#include "kernels/device.h"
#include "lib/base/clock.h"
#include "lib/base/memory.h"

enum { ARRAYS = 2, HELPERS = 4 }; /* u, d; threads that put a frame in order beside steps on a device */

typedef struct place {
    void *there[ARRAYS]; /* on the device; NULL where it shares memory */
    void *here[ARRAYS];  /* pinned */
    modal_event *copied, *arrived;
    double time, before;
} place;

struct modal_tled_frames {
    modal_tled_motion *motion;
    const modal_device *device;
    modal_tled_sink sink;
    void *context;
    int n_arrays, n_threads;
    modal_stream *stream;
    place slots[MODAL_TLED_SLOTS];
    double *values[ARRAYS]; /* the thread's: u, velocity */
    double beside, waited;  /* s */
    pthread_t thread;
    int running;
    /* under the mutex */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t taken, given; /* frames */
    int ends;
    modal_status status;
    modal_error err;
};

/* A frame of a slot, to the sink. */
static modal_status give(modal_tled_frames *f, int64_t number, modal_error *err)
{
    modal_status status = MODAL_OK;
    const place *s = &f->slots[number % MODAL_TLED_SLOTS];
    MODAL_TRY(modal_device_event_wait(f->device, s->arrived, err));
    for (int k = 0; k < f->n_arrays; k++) {
        const modal_tled_spread spread = {s->here[k], s->time, k == 0 ? 1 : s->before, f->n_threads};
        MODAL_TRY(modal_tled_motion_spread(f->motion, &spread, f->values[k], err));
    }
    const modal_tled_frame frame = {s->time, f->values[0], f->values[1], (int)(number % MODAL_TLED_SLOTS)};
    MODAL_TRY(f->sink(f->context, &frame, err));
done:
    return status;
}

static void *work(void *argument)
{
    modal_tled_frames *f = argument;
    modal_error err = {0};
    modal_status status = f->device->shares_memory ? MODAL_OK : modal_device_select(f->device, &err);
    omp_set_num_threads(f->n_threads); /* of the sink, too */
    pthread_mutex_lock(&f->mutex);
    while (status == MODAL_OK) {
        while (f->given == f->taken && !f->ends) pthread_cond_wait(&f->changed, &f->mutex);
        if (f->ends) break;
        const int64_t number = f->given;
        pthread_mutex_unlock(&f->mutex);
        const double start = modal_seconds();
        status = give(f, number, &err);
        f->beside += modal_seconds() - start;
        pthread_mutex_lock(&f->mutex);
        f->given++;
        pthread_cond_broadcast(&f->changed);
    }
    if (status != MODAL_OK) f->status = status, f->err = err;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->mutex);
    return NULL;
}

static modal_status new_slot(modal_tled_frames *f, place *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t bytes = modal_tled_motion_array_bytes(f->motion);
    MODAL_TRY(modal_device_event_new(f->device, &s->copied, err));
    MODAL_TRY(modal_device_event_new(f->device, &s->arrived, err));
    for (int k = 0; k < f->n_arrays; k++) {
        MODAL_TRY(modal_device_alloc_host(f->device, &s->here[k], bytes, 1, "a frame", err));
        if (!f->device->shares_memory) MODAL_TRY(modal_device_alloc(f->device, &s->there[k], bytes, 1, "a frame", err));
    }
done:
    return status;
}

modal_status modal_tled_frames_new(modal_tled_motion *motion, int velocities, modal_tled_sink sink, void *context,
                                   modal_tled_frames **frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_frames *f = NULL;
    *frames = NULL;
    MODAL_TRY(modal_alloc_zero(&f, 1, sizeof *f, "frames", err));
    f->motion = motion, f->device = modal_tled_motion_device(motion), f->sink = sink, f->context = context;
    f->n_arrays = velocities ? 2 : 1;
    const int free_threads = omp_get_max_threads(); /* steps on a device leave the processor alone */
    f->n_threads = f->device->shares_memory ? 1 : free_threads < HELPERS ? free_threads : HELPERS;
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->changed, NULL);
    MODAL_TRY(modal_device_stream_new(f->device, &f->stream, err));
    for (int k = 0; k < MODAL_TLED_SLOTS; k++) MODAL_TRY(new_slot(f, &f->slots[k], err));
    for (int k = 0; k < f->n_arrays; k++)
        MODAL_TRY(modal_alloc(&f->values[k], modal_tled_motion_nodes(motion), 3 * sizeof(double), "a frame", err));
    f->running = pthread_create(&f->thread, NULL, work, f) == 0;
    if (!f->running) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "frames: no thread for them");
    *frames = f;
    f = NULL;
done:
    modal_tled_frames_delete(f);
    return status;
}

/* Until at most `most` frames are under way. */
static modal_status wait_for(modal_tled_frames *f, int64_t most, modal_error *err)
{
    const double start = modal_seconds();
    pthread_mutex_lock(&f->mutex);
    while (f->taken - f->given > most && f->status == MODAL_OK) pthread_cond_wait(&f->changed, &f->mutex);
    const modal_status status = f->status;
    if (status != MODAL_OK && err) *err = f->err;
    pthread_mutex_unlock(&f->mutex);
    f->waited += modal_seconds() - start;
    return status;
}

modal_status modal_tled_frames_slot(modal_tled_frames *f, int *slot, modal_error *err)
{
    *slot = (int)(f->taken % MODAL_TLED_SLOTS); /* this thread alone changes it */
    return wait_for(f, MODAL_TLED_SLOTS - 1, err);
}

modal_status modal_tled_frames_wait(modal_tled_frames *f, modal_error *err) { return wait_for(f, 0, err); }

modal_status modal_tled_frames_take(modal_tled_frames *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    place *s = &f->slots[f->taken % MODAL_TLED_SLOTS];
    const int64_t bytes = modal_tled_motion_array_bytes(f->motion);
    modal_stream *steps = modal_tled_motion_stream(f->motion);
    s->time = modal_tled_motion_time(f->motion, modal_tled_motion_steps(f->motion));
    s->before = modal_tled_motion_before(f->motion);
    for (int k = 0; k < f->n_arrays; k++)
        MODAL_TRY(modal_device_copy(f->device, s->there[k] ? s->there[k] : s->here[k], modal_tled_motion_array(f->motion, k), bytes, steps, err));
    MODAL_TRY(modal_device_event_record(f->device, s->copied, steps, err));
    MODAL_TRY(modal_device_stream_wait_event(f->device, f->stream, s->copied, err));
    for (int k = 0; k < f->n_arrays && s->there[k]; k++)
        MODAL_TRY(modal_device_copy_out(f->device, s->here[k], s->there[k], bytes, f->stream, err));
    MODAL_TRY(modal_device_event_record(f->device, s->arrived, f->stream, err));
    pthread_mutex_lock(&f->mutex);
    f->taken++;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->mutex);
done:
    return status;
}

void modal_tled_frames_seconds(const modal_tled_frames *f, double *beside, double *waited) { *beside = f->beside, *waited = f->waited; }

modal_tled_frames *modal_tled_frames_delete(modal_tled_frames *f)
{
    modal_error ignored = {0};
    if (!f) return NULL;
    if (f->running) {
        pthread_mutex_lock(&f->mutex);
        f->ends = 1;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->mutex);
        pthread_join(f->thread, NULL);
    }
    modal_device_stream_wait(f->device, f->stream, &ignored); /* no copy writes into what is given back */
    for (int k = 0; k < MODAL_TLED_SLOTS; k++) {
        for (int a = 0; a < ARRAYS; a++) {
            modal_device_free(f->device, &f->slots[k].there[a]);
            modal_device_free_host(f->device, &f->slots[k].here[a]);
        }
        modal_device_event_delete(f->device, &f->slots[k].copied);
        modal_device_event_delete(f->device, &f->slots[k].arrived);
    }
    modal_device_stream_delete(f->device, &f->stream);
    for (int k = 0; k < ARRAYS; k++) modal_free(&f->values[k]);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->mutex);
    modal_free(&f);
    return NULL;
}
