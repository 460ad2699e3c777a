/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/source.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/finite.h"
#include "lib/base/memory.h"

struct modal_deform_source {
    modal_deform_source_request request;
    int64_t n_points;
    int speed, columns;
    /* of the submitting thread, where frames are not those of the trajectory one after the other */
    double *q, *poses; /* [columns * most, modes], [columns * most, objects, 3, 4] */
    /* of the taking thread: */
    modal_deform_batch batch;
    int64_t n_frames, n_handed_on; /* of the batch; 0: there is none */
    int64_t n_taken;               /* of all frames before this batch */
    float *speeds; /* [n_points] of the frame that was handed on last */
};

/* With speed, the velocity R U q' (+ R' (xbar + U q) + p' where objects move rigidly) of frame i of n
 * comes from the deformer, too: as the displacement of frame n + i, whose reduced coordinates are q', and
 * as the position of frame 2 n + i, whose pose is [R' p']. The derivatives are differences of
 * the trajectory's float64 numbers, so no digits are lost as they would be between positions. */
int modal_deform_columns(const modal_trajectory *trajectory, int speed) { return !speed ? 1 : trajectory->poses ? 3 : 2; }

/* ---- the submitting thread ---- */

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

/* What the deformer gets for n frames from the trajectory's `first` on: [columns n, ...]. */
static void gather(const modal_deform_source *s, int64_t first, int64_t n)
{
    const modal_trajectory *q = s->request.trajectory;
    const int64_t total = q->mode_offsets[q->n_objects], width = 12 * (int64_t)q->n_objects;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = first + i * s->request.step;
        memcpy(s->q + i * total, q->q + from * total, (size_t)total * sizeof *s->q);
        if (q->poses)
            memcpy(s->poses + i * width, q->poses + from * width, (size_t)width * sizeof *s->poses);
        if (s->columns > 1) {
            difference(q, q->q, total, from, s->q + (n + i) * total);
            if (q->poses)
                memcpy(s->poses + (n + i) * width, q->poses + from * width,
                       (size_t)width * sizeof *s->poses);
        }
        if (s->columns > 2) {
            memcpy(s->q + (2 * n + i) * total, q->q + from * total, (size_t)total * sizeof *s->q);
            difference(q, q->poses, width, from, s->poses + (2 * n + i) * width);
        }
    }
}

static modal_status submit(void *self, int64_t first, int64_t n, modal_error *err)
{
    modal_deform_source *s = self;
    const modal_trajectory *q = s->request.trajectory;
    const int64_t at = s->request.start + first * s->request.step;
    const double *poses = q->poses ? q->poses + at * 12 * q->n_objects : NULL;
    modal_deformer_number_frames(s->request.deformer, at, s->request.step, n);
    if (s->q) gather(s, at, n);
    return modal_deformer_submit(s->request.deformer, s->columns * n, s->q ? s->q : q->q + at * q->mode_offsets[q->n_objects],
                                 s->poses ? s->poses : poses, err);
}

/* ---- the taking thread ---- */

/* The speeds of frame `frame` of the batch. */
static modal_status find_speeds(modal_deform_source *s, int64_t frame, modal_error *err)
{
    const int64_t n = s->n_points;
    const float *a = s->batch.displacement + 3 * n * (s->n_frames + frame);
    const float *b = s->columns == 3 ? s->batch.positions + 3 * n * (2 * s->n_frames + frame) : NULL;
    for (int64_t i = 0; i < n; i++) {
        float v[3];
        for (int k = 0; k < 3; k++) v[k] = a[3 * i + k] + (b ? b[3 * i + k] : 0.0f);
        s->speeds[i] = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    const int64_t place = modal_first_nonfinite(s->speeds, n);
    int32_t object;
    int64_t vertex;
    if (place == n) return MODAL_OK;
    modal_deformer_point(s->request.deformer, place, &object, &vertex);
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "frame %" PRId64 ", object %d, vertex %" PRId64
                           ": the square of its speed does not fit float32, %g",
                           s->request.start + (s->n_taken + frame) * s->request.step, object, vertex,
                           (double)s->speeds[place]);
}

static void release(void *self)
{
    modal_deform_source *s = self;
    if (s->n_handed_on < s->n_frames) return; /* the batch has more */
    s->n_taken += s->n_frames;
    s->n_frames = s->n_handed_on = 0;
    modal_deformer_release(s->request.deformer, &s->batch);
}

static modal_status collect(void *self, modal_frames *frames, modal_error *err)
{
    modal_deform_source *s = self;
    if (s->n_frames == 0) {
        modal_status status = modal_deformer_collect(s->request.deformer, &s->batch, err);
        if (status != MODAL_OK) return status;
        s->n_frames = s->batch.n_frames / s->columns;
    }
    const int64_t first = s->n_handed_on;
    if (s->speed) {
        modal_status status = find_speeds(s, first, err);
        if (status != MODAL_OK) return status;
    }
    frames->n_frames = s->request.single ? 1 : s->n_frames;
    const float *const outputs[] = {[MODAL_FROM_POSITIONS] = s->batch.positions,
                                    [MODAL_FROM_NORMALS] = s->batch.normals,
                                    [MODAL_FROM_DISPLACEMENT] = s->batch.displacement,
                                    [MODAL_FROM_TANGENTS] = s->batch.tangents};
    for (int i = 0; i < s->request.arrays->n; i++) {
        const modal_array *a = &s->request.arrays->all[i];
        if (a->source == MODAL_FROM_SPEED) frames->arrays[i] = s->speeds;
        if (a->source < MODAL_FROM_SPEED)
            frames->arrays[i] = outputs[a->source] + a->components * s->n_points * first;
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
    for (int i = 0; i < request->arrays->n; i++) s->speed |= request->arrays->all[i].source == MODAL_FROM_SPEED;
    s->request.single |= s->speed;
    s->columns = modal_deform_columns(q, s->speed);
    s->n_points = modal_deformer_n_points(request->deformer);
    const int64_t most = modal_deformer_batch_frames(request->deformer) / s->columns;
    if (most < 1)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "speed takes %d frames at a time, there is room for %" PRId64, s->columns,
                   modal_deformer_batch_frames(request->deformer));
    if (s->speed && !isfinite(q->times[q->n_frames - 1] - q->times[0]))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "times: speed needs their differences, %g to %g s", q->times[0],
                   q->times[q->n_frames - 1]);
    if (s->speed) MODAL_TRY(modal_alloc(&s->speeds, s->n_points, sizeof *s->speeds, "speed", err));
    if (request->step > 1 || s->columns > 1) {
        MODAL_TRY(modal_alloc(&s->q, s->columns * most * q->mode_offsets[q->n_objects], sizeof *s->q, "batch", err));
        if (q->poses) MODAL_TRY(modal_alloc(&s->poses, s->columns * most * 12 * q->n_objects, sizeof *s->poses, "batch", err));
    }
    *as = (modal_frame_source){s, most, submit, collect, release, cancel};
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
    modal_free(&s->speeds);
    modal_free(&s);
    return NULL;
}
