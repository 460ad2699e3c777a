/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: this thread submits batches of frames, another one collects and writes them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "lib/base/finite.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

typedef struct writing {
    const modaldeform_request *r;
    modal_deformer *deformer;
    pthread_mutex_t *hdf5;
    modaldeform_outputs *out;
    int64_t first_frame, n_frames, n_points, n_cells;
    int64_t start, step; /* frame i is the trajectory's start + i step */
    int columns;
    float *speed; /* [n_points], or NULL */
    modaldeform_stress *stress; /* or NULL */
    const modal_trajectory *trajectory;
    double wait_seconds, write_seconds;
    double processor_seconds; /* of the writing thread: what writing costs, however busy the machine is */
    modal_status status;
    modal_error err;
} writing;

/* With speed, the velocity R U q' (+ R' (xbar + U q) + p' where objects move rigidly) of frame i of n
 * comes from the deformer, too: as the displacement of frame n + i, whose reduced coordinates are q', and
 * as the position of frame 2 n + i, whose pose is [R' p']. The derivatives are differences of
 * the trajectory's float64 numbers, so no digits are lost as they would be between positions. */
int modaldeform_columns(const modaldeform_request *r, const modaldeform_input *in)
{
    return !r->speed ? 1 : in->trajectory.poses ? 3 : 2;
}

static modal_status find_speed(writing *w, const modal_deform_batch *batch, int64_t n_frames, int64_t frame,
                               int64_t number)
{
    const int64_t n = w->n_points;
    const float *a = batch->displacement + 3 * n * (n_frames + frame);
    const float *b = w->columns == 3 ? batch->positions + 3 * n * (2 * n_frames + frame) : NULL;
    for (int64_t i = 0; i < n; i++) {
        float v[3];
        for (int k = 0; k < 3; k++) v[k] = a[3 * i + k] + (b ? b[3 * i + k] : 0.0f);
        w->speed[i] = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    const int64_t place = modal_first_nonfinite(w->speed, n);
    int32_t object;
    int64_t vertex;
    if (place == n) return MODAL_OK;
    modal_deformer_point(w->deformer, place, &object, &vertex);
    return modal_error_set(&w->err, MODAL_ERROR_INPUT,
                           "frame %" PRId64 ", object %d, vertex %" PRId64
                           ": the square of its speed does not fit float32, %g",
                           number, object, vertex, (double)w->speed[place]);
}

/* Frames [first, first + n) of a batch of n_frames. */
static modal_status write_frames(writing *w, const modal_deform_batch *batch, int64_t first, int64_t n)
{
    modal_status status = MODAL_OK;
    modal_frames frames = {.n_frames = n};
    modaldeform_frame_arrays(&w->r->arrays, batch, w->speed, w->stress, w->n_points, first, &frames);
    pthread_mutex_lock(w->hdf5);
    status = modaldeform_add_frames(w->out, &frames, &w->err);
    pthread_mutex_unlock(w->hdf5);
    if (status == MODAL_OK) status = modaldeform_journal_add(w->out, &w->r->arrays, w->n_points, w->n_cells, &frames, &w->err);
    return status;
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *write_batches(void *argument)
{
    writing *w = argument;
    for (int64_t done = w->first_frame; done < w->n_frames && w->status == MODAL_OK;) {
        modal_deform_batch batch;
        double start = tool_seconds();
        w->status = modal_deformer_collect(w->deformer, &batch, &w->err);
        if (w->status != MODAL_OK) break;
        double collected = tool_seconds(), processor = thread_seconds();
        const int64_t n_frames = batch.n_frames / w->columns;
        const int single = w->speed || w->stress; /* of one frame at a time */
        if (!single) w->status = write_frames(w, &batch, 0, n_frames);
        for (int64_t f = 0; single && f < n_frames && w->status == MODAL_OK; f++) {
            const int64_t number = w->start + (done + f) * w->step;
            if (w->speed) w->status = find_speed(w, &batch, n_frames, f, number);
            if (w->stress && w->status == MODAL_OK)
                w->status = modaldeform_stress_frame(w->stress, w->trajectory, number, w->r->threads, &w->err);
            if (w->status == MODAL_OK) w->status = write_frames(w, &batch, f, 1);
        }
        w->processor_seconds += thread_seconds() - processor;
        w->wait_seconds += collected - start;
        w->write_seconds += tool_seconds() - collected;
        done += n_frames;
        modal_deformer_release(w->deformer, &batch);
    }
    if (w->status != MODAL_OK) modal_deformer_cancel(w->deformer);
    return NULL;
}

/* The trajectory's frames before and after one, itself at the ends: differences over both are central,
 * and one-sided at the ends. */
static void neighbours(const modal_trajectory *q, int64_t frame, int64_t *before, int64_t *after)
{
    *before = frame > 0 ? frame - 1 : frame;
    *after = frame + 1 < q->n_frames ? frame + 1 : frame;
}

static void difference(const modal_trajectory *q, const double *values, int64_t width, int64_t frame,
                       double *to)
{
    int64_t before, after;
    neighbours(q, frame, &before, &after);
    const double span = q->times[after] - q->times[before];
    for (int64_t i = 0; i < width; i++)
        to[i] = (values[after * width + i] - values[before * width + i]) / span;
}

/* What the deformer gets for n frames from `first` on, one every `step`: [columns n, ...]. */
static void gather(const modal_trajectory *q, int64_t first, int64_t step, int64_t n, int columns,
                   double *to_q, double *to_poses)
{
    const int64_t total = q->mode_offsets[q->n_objects], width = 12 * (int64_t)q->n_objects;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = first + i * step;
        memcpy(to_q + i * total, q->q + from * total, (size_t)total * sizeof *to_q);
        if (q->poses)
            memcpy(to_poses + i * width, q->poses + from * width, (size_t)width * sizeof *to_poses);
        if (columns > 1) {
            difference(q, q->q, total, from, to_q + (n + i) * total);
            if (q->poses)
                memcpy(to_poses + (n + i) * width, q->poses + from * width,
                       (size_t)width * sizeof *to_poses);
        }
        if (columns > 2) {
            memcpy(to_q + (2 * n + i) * total, q->q + from * total, (size_t)total * sizeof *to_q);
            difference(q, q->poses, width, from, to_poses + (2 * n + i) * width);
        }
    }
}

static modal_status submit_batches(tool *t, const modaldeform_input *in, int64_t first_frame, int columns,
                                   modal_deformer *deformer, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *q = &in->trajectory;
    const int64_t total = q->mode_offsets[q->n_objects], frame = 12 * (int64_t)q->n_objects;
    const int64_t most = modal_deformer_batch_frames(deformer) / columns;
    const int gathers = in->step > 1 || columns > 1;
    double *some_q = NULL, *some_poses = NULL;
    if (gathers) {
        MODAL_TRY(modal_alloc(&some_q, columns * most * total, sizeof *some_q, "batch", err));
        MODAL_TRY(modal_alloc(&some_poses, q->poses ? columns * most * frame : 0, sizeof *some_poses,
                              "batch", err));
    }
    tool_progress_amount(t, (double)in->n, "frames");
    for (int64_t done = first_frame; done < in->n;) {
        const int64_t n = in->n - done < most ? in->n - done : most;
        const int64_t first = in->start + done * in->step;
        MODAL_TRY(modal_progress_report(&t->progress, "deform", (double)done / (double)in->n, err));
        modal_deformer_number_frames(deformer, first, in->step, n);
        if (gathers) gather(q, first, in->step, n, columns, some_q, some_poses);
        MODAL_TRY(modal_deformer_submit(deformer, columns * n, gathers ? some_q : q->q + first * total,
                                        !q->poses ? NULL
                                        : gathers  ? some_poses
                                                   : q->poses + first * frame,
                                        err));
        done += n;
    }
done:
    modal_free(&some_q);
    modal_free(&some_poses);
    return status;
}

modal_status modaldeform_write_frames(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_deformer *deformer,
                                      modaldeform_outputs *out, int64_t frame_bytes, modal_error *err)
{
    const int64_t first_frame = out->n_kept, bytes = frame_bytes * (in->n - first_frame);
    writing w = {.r = r, .deformer = deformer, .hdf5 = &in->hdf5, .out = out,
                 .first_frame = first_frame, .n_frames = in->n, .n_points = in->n_points,
                 .n_cells = r->volume ? in->cells.n_cells : in->n_triangles,
                 .start = in->start, .step = in->step,
                 .columns = modaldeform_columns(r, in), .stress = in->stress, .trajectory = &in->trajectory};
    const int64_t most = modal_deformer_batch_frames(deformer) / w.columns;
    modal_error submit_err = {0};
    modal_status status = MODAL_OK;
    pthread_t thread;
    double start = tool_seconds();
    if (most < 1)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY,
                   "--memory-limit: speed takes %d frames at a time, there is room for %" PRId64, w.columns,
                   modal_deformer_batch_frames(deformer));
    const modal_trajectory *q = &in->trajectory;
    if (r->speed && !isfinite(q->times[q->n_frames - 1] - q->times[0]))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "times: speed needs their differences, %g to %g s", q->times[0],
                   q->times[q->n_frames - 1]);
    if (r->speed) MODAL_TRY(modal_alloc(&w.speed, in->n_points, sizeof *w.speed, "speed", err));
    if (pthread_create(&thread, NULL, write_batches, &w) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "writer: cannot start a thread");
    status = submit_batches(t, in, first_frame, w.columns, deformer, &submit_err);
    double submitted = tool_seconds() - start;
    if (status != MODAL_OK) modal_deformer_cancel(deformer);
    pthread_join(thread, NULL);
    modaldeform_stress_tell(t, in->stress);
    tool_stage(t, "submit", submitted, -1);
    tool_stage(t, "wait for frames", w.wait_seconds, -1);
    tool_stage(t, "write", w.write_seconds, bytes);
    tool_stage(t, "write, processor", w.processor_seconds, bytes);
    tool_stage(t, "deform and write", tool_seconds() - start, bytes);
    /* The thread that failed first knows why; the other one was only interrupted. */
    if (w.status != MODAL_OK && (status == MODAL_OK || status == MODAL_ERROR_INTERRUPTED))
        MODAL_FAIL(err, w.status, "%s", w.err.message);
    if (status != MODAL_OK) modal_error_set(err, status, "%s", submit_err.message);
done:
    modal_free(&w.speed);
    return status;
}
