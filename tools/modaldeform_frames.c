/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: this thread submits batches of frames, another one collects and writes them. */
#include <string.h>

#include "lib/base/memory.h"
#include "tools/modaldeform.h"

typedef struct writing {
    modal_deformer *deformer;
    pthread_mutex_t *hdf5;
    outputs *out;
    int64_t first_frame, n_frames, n_points;
    double wait_seconds, write_seconds;
    modal_status status;
    modal_error err;
} writing;

static void *write_batches(void *argument)
{
    writing *w = argument;
    for (int64_t done = w->first_frame; done < w->n_frames && w->status == MODAL_OK;) {
        modal_deform_batch batch;
        double start = tool_seconds();
        w->status = modal_deformer_collect(w->deformer, &batch, &w->err);
        if (w->status != MODAL_OK) break;
        double collected = tool_seconds();
        const modal_sequence_frames frames = {
            .n_frames = batch.n_frames,
            .arrays = {[SEQUENCE_POINTS] = batch.positions, [SEQUENCE_NORMALS] = batch.normals,
                       [SEQUENCE_DISPLACEMENT] = batch.displacement,
                       [SEQUENCE_TANGENTS] = batch.tangents}};
        pthread_mutex_lock(w->hdf5);
        w->status = modaldeform_add_frames(w->out, &frames, &w->err);
        pthread_mutex_unlock(w->hdf5);
        if (w->status == MODAL_OK)
            w->status = modaldeform_journal_add(w->out, w->n_points, &frames, &w->err);
        w->wait_seconds += collected - start;
        w->write_seconds += tool_seconds() - collected;
        done += batch.n_frames;
        modal_deformer_release(w->deformer, &batch);
    }
    if (w->status != MODAL_OK) modal_deformer_cancel(w->deformer);
    return NULL;
}

static modal_status submit_batches(tool *t, const input *in, int64_t first_frame,
                                   modal_deformer *deformer, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *q = &in->trajectory;
    const int64_t total = q->mode_offsets[q->n_objects], most = modal_deformer_batch_frames(deformer);
    const int64_t frame = 12 * (int64_t)q->n_objects;
    double *some_q = NULL, *some_frames = NULL;
    modal_deformer_number_frames(deformer, in->start + first_frame * in->step, in->step);
    if (in->step > 1) {
        MODAL_TRY(modal_alloc(&some_q, most * total, sizeof *some_q, "batch", err));
        MODAL_TRY(modal_alloc(&some_frames, q->frames ? most * frame : 0, sizeof *some_frames, "batch",
                              err));
    }
    tool_progress_amount(t, (double)in->n, "frames");
    for (int64_t done = first_frame; done < in->n;) {
        const int64_t n = in->n - done < most ? in->n - done : most;
        const int64_t first = in->start + done * in->step;
        const double *these_q = q->q + first * total;
        const double *these_frames = q->frames ? q->frames + first * frame : NULL;
        MODAL_TRY(modal_progress_report(&t->progress, "deform", (double)done / (double)in->n, err));
        if (in->step > 1) {
            for (int64_t i = 0; i < n; i++) {
                const int64_t from = first + i * in->step;
                memcpy(some_q + i * total, q->q + from * total, (size_t)total * sizeof *some_q);
                if (q->frames)
                    memcpy(some_frames + i * frame, q->frames + from * frame,
                           (size_t)frame * sizeof *some_frames);
            }
            these_q = some_q;
            these_frames = q->frames ? some_frames : NULL;
        }
        MODAL_TRY(modal_deformer_submit(deformer, n, these_q, these_frames, err));
        done += n;
    }
done:
    modal_free(&some_q);
    modal_free(&some_frames);
    return status;
}

modal_status modaldeform_write_frames(tool *t, input *in, modal_deformer *deformer,
                                      outputs *out, int64_t frame_bytes, modal_error *err)
{
    const int64_t first_frame = out->n_kept, bytes = frame_bytes * (in->n - first_frame);
    writing w = {.deformer = deformer, .hdf5 = &in->hdf5, .out = out,
                 .first_frame = first_frame, .n_frames = in->n, .n_points = in->n_points};
    modal_error submit_err = {0};
    pthread_t thread;
    double start = tool_seconds();
    if (pthread_create(&thread, NULL, write_batches, &w) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "writer: cannot start a thread");
    modal_status status = submit_batches(t, in, first_frame, deformer, &submit_err);
    double submitted = tool_seconds() - start;
    if (status != MODAL_OK) modal_deformer_cancel(deformer);
    pthread_join(thread, NULL);
    tool_stage(t, "submit", submitted, -1);
    tool_stage(t, "wait for frames", w.wait_seconds, -1);
    tool_stage(t, "write", w.write_seconds, bytes);
    tool_stage(t, "deform and write", tool_seconds() - start, bytes);
    /* The thread that failed first knows why; the other one was only interrupted. */
    if (w.status != MODAL_OK && (status == MODAL_OK || status == MODAL_ERROR_INTERRUPTED))
        return modal_error_set(err, w.status, "%s", w.err.message);
    if (status != MODAL_OK) return modal_error_set(err, status, "%s", submit_err.message);
    return MODAL_OK;
}
