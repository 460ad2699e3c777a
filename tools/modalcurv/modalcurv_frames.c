/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of modalcurv: a source that reads them (lib/frames/reading.h), curvature as its stage, and steps that compare
 * with the rest, look at the frames and write them. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/curvature/stretch.h"
#include "lib/frames/reading.h"
#include "tools/modalcurv/modalcurv.h"

enum { SLOTS = 3 }; /* batches at once: one is read, one computed, one written */

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
    return 4.0 * (double)w->in->n_vertices * (SLOTS * floats + between);
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

/* ---- which arrays there are ---- */

static modal_status add_array(modalcurv_frames *w, const modal_array *array, modal_array_place place, int *at, modal_error *err)
{
    *at = w->plan.list.n;
    return modal_frame_plan_add(&w->plan, array, w->in->n_vertices, place, err);
}

/* First those that are written, in their order; then those that are only needed. */
static modal_status make_plan(modalcurv_frames *w, const modal_curvature_options *o, modal_error *err)
{
    static const modal_array centred = {.name = "centred", .components = 3, .unit = "m"};
    static const modal_array areas = {.name = "areas", .components = 1, .unit = "m^2"};
    modal_status status = MODAL_OK;
    const modalcurv_request *r = w->r;
    const double *c = w->in->centre;
    const int shifted = c[0] != 0.0 || c[1] != 0.0 || c[2] != 0.0;
    w->stage = (modal_curvature_stage){.options = *o, .topology = &w->in->topology, .mean_edge = w->in->mean_edge, .areas = -1};
    MODAL_TRY(add_array(w, &modal_sequence_points, shifted ? MODAL_READ : MODAL_UPLOADED, &w->centred, err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) w->of_field[i] = w->stage.arrays[i] = -1;
    for (int written = 1; written >= 0; written--) {
        for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) {
            const int compares = modal_curvature_is_stretch((modal_curvature_field)i);
            if (!o->fields[i] || (r->options.fields[i] != 0) != written) continue;
            MODAL_TRY(add_array(w, &modal_curvature_arrays[i], compares ? MODAL_OF_STEPS : MODAL_TAKEN, &w->of_field[i], err));
            if (!compares) w->stage.arrays[i] = w->of_field[i];
        }
        if (written) w->arrays = w->plan.list;
    }
    if (r->reports) MODAL_TRY(add_array(w, &areas, MODAL_TAKEN, &w->stage.areas, err));
    if (shifted) MODAL_TRY(add_array(w, &centred, MODAL_UPLOADED, &w->centred, err));
    w->stage.positions = w->centred;
    w->plan.stages[w->plan.n_stages++] = modal_curvature_stage_of(&w->stage);
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
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (o.fields[i] && modal_curvature_is_stretch((modal_curvature_field)i))
            MODAL_TRY(modal_alloc(&w->stretch[i], modal_curvature_arrays[i].components * w->in->n_vertices * w->batch_frames,
                                  sizeof(float), modal_curvature_arrays[i].name, err));
    MODAL_TRY(make_plan(w, &o, err));
done:
    return status;
}

void modalcurv_frames_free(modalcurv_frames *w)
{
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) modal_free(&w->stretch[i]);
    modal_free(&w->scratch);
}

/* ---- the source, and the steps ---- */

static modal_status read_frame(void *self, int64_t frame, float *const to[MODAL_MOST_ARRAYS], modal_error *err)
{
    const modalcurv_frames *w = self;
    const modal_status status = modalcurv_read(w->in, frame, to[0], to[w->centred], err);
    if (status != MODAL_OK || modal_curvature_has_area(w->in->n_triangles, w->in->triangles, to[w->centred])) return status;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: frame %lld: no triangle has an area, so no vertex has a curvature", w->in->files[frame],
                           (long long)frame);
}

/* What compares with the rest. */
static modal_status add_stretch(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    const modalcurv_frames *w = self;
    const modalcurv_input *in = w->in;
    const modal_stretch_output out = {w->stretch[MODAL_AREA_RATIO], w->stretch[MODAL_STRETCH_MAX],
                                      w->stretch[MODAL_STRETCH_MIN], w->stretch[MODAL_STRETCH_DIRECTION]};
    (void)first;
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (w->stretch[i]) frames->arrays[w->of_field[i]] = w->stretch[i];
    const modal_stretch_rest of = {in->n_vertices, in->n_triangles, in->triangles, in->rest};
    return modal_stretch_frames(frames->n_frames, w->r->threads, &of, frames->arrays[w->centred], &out, err);
}

/* Statistics and lines count as writing: they are made where files are written. */
static modal_status write_frames(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalcurv_frames *w = self;
    const modalcurv_request *r = w->r;
    const int64_t n = w->in->n_vertices;
    for (int64_t f = 0; (r->reports || w->out->lines) && f < frames->n_frames; f++) {
        const float *frame[MODAL_CURVATURE_FIELDS] = {NULL};
        for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
            if (w->of_field[i] >= 0)
                frame[i] = frames->arrays[w->of_field[i]] + modal_curvature_arrays[i].components * n * f;
        if (w->out->lines)
            MODAL_TRY(modalcurv_write_lines(r, w->in, w->out, first + f, frames->arrays[0] + 3 * n * f, frame, err));
        if (!r->reports) continue;
        MODAL_TRY(modalcurv_report_frame(w->t, r, w->in, first + f, frame, frames->arrays[w->stage.areas] + n * f, w->scratch,
                                         err));
    }
    if (r->coloured >= 0) {
        w->colour.values = frames->arrays[w->of_field[r->coloured]];
        if (w->colour.range == 0.0) MODAL_TRY(modalcurv_range_of(r, w->colour.values, n, w->scratch, &w->colour, err));
    }
    modal_frames out = {.n_frames = frames->n_frames};
    memcpy(out.arrays, frames->arrays, (size_t)w->arrays.n * sizeof *out.arrays);
    pthread_mutex_lock(w->in->hdf5);
    status = modalcurv_add_frames(w->out, &out, err);
    pthread_mutex_unlock(w->in->hdf5);
done:
    return status;
}

modal_status modalcurv_frames_run(modalcurv_frames *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_reading *reading = NULL;
    modal_frame_source source;
    modal_frames_times times = {0};
    modal_frame_step steps[2];
    int n_steps = 0, compares = 0;
    double reads, computes;
    const modal_reading_request request = {.device = w->r->device, .plan = &w->plan, .most_frames = w->batch_frames, .reader = w,
                                           .read = read_frame, .doing = "curvature"};
    const double start = tool_seconds();
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) compares |= w->stretch[i] != NULL;
    if (compares) steps[n_steps++] = (modal_frame_step){w, add_stretch};
    steps[n_steps++] = (modal_frame_step){w, write_frames};
    tool_progress_amount(w->t, (double)w->in->n, "frames");
    MODAL_TRY(modal_reading_new(&reading, &request, &source, err));
    MODAL_TRY(modal_frames_run(&source, n_steps, steps, 0, w->in->n, &w->t->progress, &times, err));
    modal_reading_seconds(reading, &reads, &computes);
    tool_stage(w->t, "read", reads, -1);
    tool_stage(w->t, "compute", computes, -1);
    tool_stage(w->t, "write", times.work, -1);
    tool_stage(w->t, "read, compute and write", tool_seconds() - start, -1);
done:
    modal_reading_delete(reading);
    return status;
}
