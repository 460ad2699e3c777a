/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/source.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/rates.h"
#include "lib/frames/plan.h"

struct modal_deform_source {
    modal_deform_source_request request;
    int64_t n_points;
    int speed; /* one of the arrays is */
    int begun, first_leads; /* set with the first submission: whether it has the frame before it */
    /* of the submitting thread: what is not the trajectory's own, one frame after the other */
    double *q, *poses;            /* [most, modes], [most, objects, 3, 4]; NULL: the trajectory's */
    double *q_rates, *pose_rates; /* with speed */
    /* of the taking thread: */
    modal_deform_batch batch;
    int64_t n_frames, n_handed_on; /* of the batch; 0: there is none */
    int64_t n_batches;             /* collected so far */
};

modal_speed_kind modal_deform_speed_kind(const modal_trajectory *trajectory)
{
    return trajectory->poses ? MODAL_SPEED_MOVING : MODAL_SPEED_RESTING;
}

/* ---- the submitting thread ---- */

/* Frames of the trajectory, n from `first` on, one every step. */
static void gather(const modal_deform_source *s, int64_t first, int64_t n)
{
    const modal_trajectory *q = s->request.trajectory;
    const int64_t total = q->mode_offsets[q->n_objects], width = 12 * (int64_t)q->n_objects;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = first + i * s->request.step;
        if (s->q) memcpy(s->q + i * total, q->q + from * total, (size_t)total * sizeof *s->q);
        if (s->poses) memcpy(s->poses + i * width, q->poses + from * width, (size_t)width * sizeof *s->poses);
        modal_deform_rates(q, from, s->q_rates ? s->q_rates + i * total : NULL, s->pose_rates ? s->pose_rates + i * width : NULL);
    }
}

static modal_status submit(void *self, int64_t first, int64_t n, modal_error *err)
{
    modal_deform_source *s = self;
    const modal_trajectory *q = s->request.trajectory;
    const int leads = s->request.lead && first > 0;
    const int64_t at = s->request.start + (first - leads) * s->request.step;
    if (!s->begun) s->begun = 1, s->first_leads = leads;
    n += leads;
    const double *poses = q->poses ? q->poses + at * 12 * q->n_objects : NULL;
    modal_deformer_number_frames(s->request.deformer, at, s->request.step);
    gather(s, at, n);
    return modal_deformer_submit_moving(s->request.deformer, n, s->q ? s->q : q->q + at * q->mode_offsets[q->n_objects],
                                        s->poses ? s->poses : poses, s->q_rates, s->pose_rates, err);
}

/* ---- the taking thread ---- */

static void release(void *self)
{
    modal_deform_source *s = self;
    if (s->n_handed_on < s->n_frames) return; /* the batch has more */
    s->n_frames = s->n_handed_on = 0;
    modal_deformer_release(s->request.deformer, &s->batch);
}

static modal_status collect(void *self, modal_frames *frames, modal_error *err)
{
    modal_deform_source *s = self;
    if (s->n_frames == 0) {
        modal_status status = modal_deformer_collect(s->request.deformer, &s->batch, err);
        if (status != MODAL_OK) return status;
        s->n_frames = s->batch.n_frames;
        s->n_handed_on = s->n_batches++ == 0 ? s->first_leads : s->request.lead != 0;
    }
    const int64_t first = s->n_handed_on;
    frames->n_frames = s->request.single ? 1 : s->n_frames - first;
    const modal_frame_plan *plan = s->request.plan;
    for (int i = 0; i < plan->list.n; i++) {
        const modal_array *a = &plan->list.all[i];
        const modal_encoded_array *e = &s->batch.frames.encoded[i];
        const int64_t rows = plan->rows[i] ? plan->rows[i] : s->n_points;
        if (s->batch.frames.arrays[i]) frames->arrays[i] = s->batch.frames.arrays[i] + a->components * rows * first;
        if (e->bytes) frames->encoded[i] = (modal_encoded_array){e->bytes + e->stride * first, e->stride, e->of + first};
    }
    s->n_handed_on += frames->n_frames;
    return MODAL_OK;
}

static void cancel(void *self) { modal_deformer_cancel(((modal_deform_source *)self)->request.deformer); }

/* ---- both ---- */

modal_status modal_deform_source_new(modal_deform_source **source, const modal_deform_source_request *request,
                                     modal_frame_source *as, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_deform_source *s = NULL;
    const modal_trajectory *q = request->trajectory;
    *source = NULL;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "source of frames", err));
    s->request = *request;
    for (int i = 0; i < request->plan->list.n; i++)
        s->speed |= request->plan->list.all[i].source == MODAL_FROM_SPEED && request->plan->places[i] != MODAL_OF_STEPS;
    s->n_points = modal_deformer_n_points(request->deformer);
    const int64_t most = modal_deformer_batch_frames(request->deformer);
    const int64_t total = most * q->mode_offsets[q->n_objects], width = most * 12 * q->n_objects;
    if (request->lead && most < 2) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "deform: no room for two frames of a batch");
    if (request->step > 1) MODAL_TRY(modal_alloc(&s->q, total, sizeof *s->q, "batch", err));
    if (request->step > 1 && q->poses) MODAL_TRY(modal_alloc(&s->poses, width, sizeof *s->poses, "batch", err));
    if (s->speed) MODAL_TRY(modal_alloc(&s->q_rates, total, sizeof *s->q_rates, "batch", err));
    if (s->speed && q->poses) MODAL_TRY(modal_alloc(&s->pose_rates, width, sizeof *s->pose_rates, "batch", err));
    *as = (modal_frame_source){s, request->lead ? most - 1 : most, submit, collect, release, cancel, "deform"};
    *source = s;
    s = NULL;
done:
    modal_deform_source_delete(s);
    return status;
}

modal_deform_source *modal_deform_source_delete(modal_deform_source *s)
{
    if (!s) return NULL;
    modal_free(&s->q);
    modal_free(&s->poses);
    modal_free(&s->q_rates);
    modal_free(&s->pose_rates);
    modal_free(&s);
    return NULL;
}
