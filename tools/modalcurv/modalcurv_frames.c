/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of modalcurv: while a batch is computed, a thread reads the next one and another one looks at and writes the one
 * before. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "lib/base/memory.h"
#include "tools/modalcurv/modalcurv.h"

/* ---- memory ---- */

/* Bytes beside the frames: the surface, its tables, a file that is being read. About: neighbours of k rings are 3 k (k + 1)
 * where six triangles meet, and the rows of 32 vertices are as long as the longest. */
static double held_bytes(const modalcurv_frames *w)
{
    const modal_curvature_topology *s = &w->in->topology;
    const modal_curvature_options *o = &w->r->options;
    const double n = (double)s->n_vertices, m = (double)s->n_triangles, tiles = (n + 31.0) / 32.0;
    double bytes = n + 36.0 * m + 128.0 * (double)s->ring_offsets[(s->n_vertices + 31) / 32] + 8.0 * tiles;
    bytes += 24.0 * n + 12.0 * m + (double)w->in->file_bytes; /* being read */
    if (w->in->rest) bytes += 12.0 * n;
    if (w->scratch) bytes += 4.0 * n;
    const int k = o->n_rings, neighbours[2] = {o->method == MODAL_CURVATURE_FIT ? 3 * k * (k + 1) : 0, o->smooth > 0.0 ? 18 : 0};
    for (int i = 0; i < 2; i++) bytes += 4.0 * 2.0 * 3.0 * n * (double)neighbours[i]; /* grown in steps of two */
    return bytes + 64.0 * n * (double)w->r->threads; /* records of the operations */
}

/* Bytes of a frame in all batches, and between the operations. */
static double frame_bytes(const modalcurv_frames *w, const modal_curvature_options *o)
{
    double floats = 6.0 + (w->r->reports ? 1.0 : 0.0);
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (o->fields[i]) floats += modal_curvature_arrays[i].components;
    const double between = 3.0 + 1.0 + 6.0; /* normals, areas, tensors */
    return 4.0 * (double)w->in->n_vertices * (MODALCURV_BATCHES * floats + between);
}

/* How many frames at once. */
static modal_status choose_batch(modalcurv_frames *w, const modal_curvature_options *o, modal_error *err)
{
    enum { BATCH_BYTES = 32 << 20, MOST_FRAMES = 16 };
    const modalcurv_input *in = w->in;
    w->batch_frames = BATCH_BYTES / (12 * in->n_vertices);
    if (w->batch_frames > MOST_FRAMES) w->batch_frames = MOST_FRAMES;
    if (w->batch_frames > in->n) w->batch_frames = in->n;
    if (w->batch_frames < 1) w->batch_frames = 1;
    if (w->r->memory_limit == 0) return MODAL_OK;
    const double fit = ((double)w->r->memory_limit - held_bytes(w)) / frame_bytes(w, o);
    if (!(fit >= 1.0))
        return modal_error_set(err, MODAL_ERROR_MEMORY, "--memory-limit: one frame takes %.0f bytes, %" PRId64,
                               held_bytes(w) + frame_bytes(w, o), w->r->memory_limit);
    if (fit < (double)w->batch_frames) w->batch_frames = (int64_t)fit;
    return MODAL_OK;
}

static modal_status make_batch(const modalcurv_frames *w, const modal_curvature_options *o, modalcurv_batch *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t points = w->in->n_vertices * w->batch_frames;
    MODAL_TRY(modal_alloc(&b->positions, 3 * points, sizeof(float), "frames", err));
    MODAL_TRY(modal_alloc(&b->centred, 3 * points, sizeof(float), "frames", err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (o->fields[i])
            MODAL_TRY(modal_alloc(&b->fields[i], modal_curvature_arrays[i].components * points, sizeof(float),
                                  modal_curvature_arrays[i].name, err));
    if (w->r->reports) MODAL_TRY(modal_alloc(&b->areas, points, sizeof(float), "areas", err));
done:
    return status;
}

modal_status modalcurv_frames_new(modalcurv_frames *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modalcurv_request *r = w->r;
    modal_curvature_options o = r->options;
    if (o.method == MODAL_CURVATURE_FIT && r->reports) o.fields[MODAL_FIT_DEGREE] = 1;
    modalcurv_need_lines(r, o.fields);
    if (r->coloured >= 0) o.fields[r->coloured] = 1;
    if (r->reports || r->coloured >= 0)
        MODAL_TRY(modal_alloc(&w->scratch, w->in->n_vertices, sizeof(float), "quantiles", err));
    MODAL_TRY(choose_batch(w, &o, err));
    for (int i = 0; i < MODALCURV_BATCHES; i++) MODAL_TRY(make_batch(w, &o, &w->batches[i], err));
    MODAL_TRY(modal_array_add(&w->arrays, &modal_sequence_points, err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) {
        modal_array array = modal_curvature_arrays[i];
        array.source = i;
        if (r->options.fields[i]) MODAL_TRY(modal_array_add(&w->arrays, &array, err));
    }
    MODAL_TRY(modal_curvature_new(&w->curvature, &r->device, &o, &w->in->topology, w->in->mean_edge, w->batch_frames, err));
    modal_curvature_set_rest(w->curvature, w->in->triangles, w->in->rest);
done:
    return status;
}

void modalcurv_frames_free(modalcurv_frames *w)
{
    for (int i = 0; i < MODALCURV_BATCHES; i++) {
        modalcurv_batch *b = &w->batches[i];
        modal_free(&b->positions);
        modal_free(&b->centred);
        for (int k = 0; k < MODAL_CURVATURE_FIELDS; k++) modal_free(&b->fields[k]);
        modal_free(&b->areas);
    }
    modal_free(&w->scratch);
    w->curvature = modal_curvature_delete(w->curvature);
}

/* ---- the three stages ---- */

static modal_status read_batch(modalcurv_frames *w, modalcurv_batch *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t stride = 3 * w->in->n_vertices;
    const double start = tool_seconds();
    for (int64_t i = 0; i < b->n; i++)
        MODAL_TRY(modalcurv_read(w->in, b->first + i, b->positions + stride * i, b->centred + stride * i, err));
done:
    w->read_seconds += tool_seconds() - start;
    return status;
}

static modal_status compute_batch(modalcurv_frames *w, modalcurv_batch *b, modal_error *err)
{
    const double start = tool_seconds();
    const modal_status status = modal_curvature_compute(w->curvature, b->n, b->centred, b->fields, b->areas, err);
    w->compute_seconds += tool_seconds() - start;
    return status;
}

/* Statistics and lines count as writing: they are made where files are written. */
static modal_status write_batch(modalcurv_frames *w, modalcurv_batch *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modalcurv_request *r = w->r;
    const int64_t n = w->in->n_vertices;
    const double start = tool_seconds();
    for (int64_t i = 0; (r->reports || w->out->lines) && i < b->n; i++) {
        float *frame[MODAL_CURVATURE_FIELDS] = {NULL};
        for (int k = 0; k < MODAL_CURVATURE_FIELDS; k++)
            if (b->fields[k]) frame[k] = b->fields[k] + modal_curvature_arrays[k].components * n * i;
        if (w->out->lines) MODAL_TRY(modalcurv_write_lines(r, w->in, w->out, b->first + i, b->positions + 3 * n * i, frame, err));
        if (!r->reports) continue;
        MODAL_TRY(modalcurv_report_frame(w->t, r, w->in, b->first + i, frame, b->areas + n * i, w->scratch, err));
    }
    if (r->coloured >= 0 && w->colour.range == 0.0)
        MODAL_TRY(modalcurv_range_of(r, b->fields[r->coloured], n, w->scratch, &w->colour, err));
    modal_frames frames = {.n_frames = b->n, .arrays = {b->positions}};
    for (int i = 1; i < w->arrays.n; i++) frames.arrays[i] = b->fields[w->arrays.all[i].source];
    if (r->coloured >= 0) w->colour.values = b->fields[r->coloured];
    pthread_mutex_lock(w->in->hdf5);
    status = modalcurv_add_frames(w->out, &frames, err);
    pthread_mutex_unlock(w->in->hdf5);
done:
    w->write_seconds += tool_seconds() - start;
    return status;
}

/* ---- at once ---- */

typedef struct stage {
    modal_status (*work)(modalcurv_frames *w, modalcurv_batch *b, modal_error *err);
    modalcurv_frames *w;
    modalcurv_batch *b;
    pthread_t thread;
    int running;
    modal_status status;
    modal_error err;
} stage;

static void *run_stage(void *argument)
{
    stage *s = argument;
    s->status = s->work(s->w, s->b, &s->err);
    return NULL;
}

static modal_status start_stage(stage *s, modalcurv_batch *b, modal_error *err)
{
    s->b = b;
    s->running = pthread_create(&s->thread, NULL, run_stage, s) == 0;
    return s->running ? MODAL_OK : modal_error_set(err, MODAL_ERROR_SYSTEM, "frames: cannot start a thread");
}

/* What fails in an earlier frame is told first: writing before computing before reading. */
static modal_status join_stage(stage *s, modal_status before, modal_error *err)
{
    if (!s->running) return before;
    pthread_join(s->thread, NULL);
    s->running = 0;
    if (before != MODAL_OK || s->status == MODAL_OK) return before;
    *err = s->err;
    return s->status;
}

modal_status modalcurv_frames_run(modalcurv_frames *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t size = w->batch_frames, n_batches = (w->in->n + size - 1) / size;
    stage reading = {.work = read_batch, .w = w}, writing = {.work = write_batch, .w = w};
    modal_error fault = {0};
    const double start = tool_seconds();
    tool_progress_amount(w->t, (double)w->in->n, "frames");
    for (int64_t k = 0; k < n_batches + 2; k++) { /* k is read, k - 1 computed, k - 2 written */
        modalcurv_batch *next = &w->batches[k % 3], *now = &w->batches[(k + 2) % 3], *last = &w->batches[(k + 1) % 3];
        if (k < n_batches) {
            next->first = size * k;
            next->n = w->in->n - next->first < size ? w->in->n - next->first : size;
            MODAL_TRY(start_stage(&reading, next, err));
        }
        if (k >= 2) MODAL_TRY(start_stage(&writing, last, err));
        modal_status computed = MODAL_OK;
        if (k >= 1 && k <= n_batches) {
            computed = modal_progress_report(&w->t->progress, "curvature", (double)now->first / (double)w->in->n, &fault);
            if (computed == MODAL_OK) computed = compute_batch(w, now, &fault);
        }
        status = join_stage(&writing, MODAL_OK, err);
        if (status == MODAL_OK && computed != MODAL_OK) status = computed, *err = fault;
        status = join_stage(&reading, status, err);
        if (status != MODAL_OK) goto done;
    }
    tool_stage(w->t, "read", w->read_seconds, -1);
    tool_stage(w->t, "compute", w->compute_seconds, -1);
    tool_stage(w->t, "write", w->write_seconds, -1);
    tool_stage(w->t, "read, compute and write", tool_seconds() - start, -1);
done:
    status = join_stage(&writing, status, err);
    status = join_stage(&reading, status, err);
    return status;
}
