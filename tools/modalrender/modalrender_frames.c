/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of modalrender: the deformer's positions and normals stay on its device, where pictures are a stage (lib/render/stage.h). */
#include <string.h>
#include <sys/stat.h>

#include "kernels/device_held.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/deform/source.h"
#include "tools/modalrender/modalrender.h"

typedef struct drawing {
    const modalrender_request *r;
    modalrender_input *in;
    modalrender_outputs *out;
    modal_frame_plan plan;
    modal_render_stage stage;
    modal_render_times times;
} drawing;

static modal_status add_array(drawing *d, const modal_array *array, int64_t rows, int source, modal_array_place place, int *at, modal_error *err)
{
    modal_array named = *array;
    named.source = source;
    *at = d->plan.list.n;
    return modal_frame_plan_add(&d->plan, &named, rows, place, err);
}

/* Layers for which there is room at once: two a sample, in an eighth of the memory. */
static int64_t most_fragments(const modalrender_request *r, int64_t pixels)
{
    int64_t most = 2 * pixels * r->samples;
    if (r->memory_limit > 0 && most > r->memory_limit / 64) most = r->memory_limit / 64;
    return most < 1 << 16 ? 1 << 16 : most > INT32_MAX - 1 ? INT32_MAX - 1 : most;
}

static modal_status make_plan(drawing *d, modal_error *err)
{
    static const modal_array positions = {.name = "Points", .components = 3, .unit = "m"},
                             normals = {.name = "Normals", .components = 3, .unit = "1"};
    modal_status status = MODAL_OK;
    const modalrender_request *r = d->r;
    const int64_t pixels = (int64_t)r->width * r->height;
    const int64_t points = d->in->given ? d->in->scene.n_points : 0; /* 0: as the deformer has */
    const modal_array_place place = d->in->given ? MODAL_UPLOADED : r->picks ? MODAL_TAKEN : MODAL_ON_DEVICE;
    d->stage = (modal_render_stage){.scene = &d->in->scene, .views = d->in->views, .n_views = d->in->n_views, .first = d->in->given ? 0 : d->in->start,
                                    .step = d->in->given ? 1 : d->in->step, .width = r->width, .height = r->height, .samples = r->samples,
                                    .shadows = r->shadows, .shadow_size = r->shadow_size, .shadow_radius = r->shadow_radius, .bleeding = 0.2,
                                    .transparency = r->transparency, .shadow_alpha = r->shadow_alpha,
                                    .most_fragments = most_fragments(r, pixels), .times = &d->times, .normals = -1};
    MODAL_TRY(add_array(d, &positions, points, MODAL_FROM_POSITIONS, place, &d->stage.positions, err));
    if (!d->in->scene.wedges.creases.corners)
        MODAL_TRY(add_array(d, &normals, points, MODAL_FROM_NORMALS, MODAL_ON_DEVICE, &d->stage.normals, err));
    for (int i = 0; i < MODAL_RENDER_BUFFERS; i++) {
        /* the user's number of a triangle is one of its object */
        const int needed = r->buffers[i] || (r->picks && (i == MODAL_RENDER_TRIANGLE || i == MODAL_RENDER_OBJECT || i == MODAL_RENDER_POSITION)) ||
                           (i == MODAL_RENDER_OBJECT && r->buffers[MODAL_RENDER_TRIANGLE]);
        d->stage.arrays[i] = -1;
        if (needed) MODAL_TRY(add_array(d, &modal_render_arrays[i], pixels, MODAL_FROM_STAGES + i, MODAL_TAKEN, &d->stage.arrays[i], err));
    }
    if (d->in->given && d->stage.normals >= 0) modalrender_given_normals(d->in, &d->plan, d->stage.positions, d->stage.normals);
    d->plan.stages[d->plan.n_stages++] = modal_render_stage_of(&d->stage);
done:
    return status;
}

static modal_status write_frames(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    drawing *d = self;
    float *arrays[MODAL_RENDER_BUFFERS] = {NULL};
    d->in->points = d->r->picks ? frames->arrays[d->stage.positions] : NULL;
    for (int i = 0; i < MODAL_RENDER_BUFFERS; i++)
        if (d->stage.arrays[i] >= 0) arrays[i] = (float *)(uintptr_t)frames->arrays[d->stage.arrays[i]]; /* numbers are changed in place */
    return modalrender_write(d->r, d->in, d->out, first, frames->n_frames, arrays, err);
}

/* Main memory that the inputs hold. */
static int64_t held_bytes(const modalrender_input *in)
{
    const modal_trajectory *q = &in->trajectory;
    int64_t bytes = q->n_frames * 8 * (1 + q->mode_offsets[q->n_objects] + (q->poses ? 12 * (int64_t)q->n_objects : 0));
    bytes += modal_render_scene_bytes(&in->scene) + 80 * in->n_views;
    for (int32_t i = 0; i < in->basis.n_shapes; i++) {
        const modal_surface *s = &in->basis.shapes[i].surface;
        bytes += s->n_vertices * (24 + 4 + 8 + 1) + s->n_triangles * (12 + 4) + (s->face_offsets ? 4 * s->face_offsets[s->n_vertices] : 0);
        bytes += s->uv ? 16 * s->n_uv + 12 * s->n_triangles : 0;
    }
    return bytes;
}

static modal_status make_deformer(tool *t, const drawing *d, modal_deformer **deformer, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    modal_deform_request request = {.back_end = d->r->back_end, .normals = d->stage.normals < 0 ? MODAL_NORMALS_NONE : d->r->normals,
                                    .stored_order = 1, .n_frames = d->in->n_all,
                                    .taken_together = d->out->n_pictures > 0 ? d->r->threads : 1, /* files: a thread each */
                                    .matrix = {modal_basis_tiles_read, d->in->tiles}, .plan = &d->plan};
    if (d->r->memory_limit > 0) {
        request.memory_limit = d->r->memory_limit - held_bytes(d->in);
        if (request.memory_limit <= 0)
            MODAL_FAIL(err, MODAL_ERROR_MEMORY, "--memory-limit: basis and trajectory alone take %lld bytes, %s", (long long)held_bytes(d->in),
                       tool_value(&t->arguments, "memory-limit"));
    }
    MODAL_TRY(modal_deformer_new(deformer, &d->in->basis, &request, err));
    tool_stage(t, "prepare", tool_seconds() - start, -1);
done:
    return status;
}

/* Frames of a GPU whose passes --report waits for: after the first two, which load the kernels. The others' passes overlap. */
enum { MEASURED_FROM = 2, MEASURED_TO = 10 };

/* ms a frame of each pass. */
static void report_passes(tool *t, const modal_render_times *times)
{
    double all = 0.0;
    for (int i = 0; i < MODAL_RENDER_PASSES; i++) all += times->seconds[i];
    if (!(all > 0.0)) return;
    json_t *passes = json_object();
    for (int i = 0; i < MODAL_RENDER_PASSES; i++)
        json_object_set_new(passes, modal_render_pass_names[i], json_real(1e3 * times->seconds[i] / (double)times->n_measured));
    json_object_set_new(t->report, "pass_ms", passes);
    json_object_set_new(t->report, "pass_frames", json_integer(times->n_measured));
    json_object_set_new(t->report, "layer_tiles", json_integer(times->n_tiles));
}

/* Samples that were drawn, by what their colours and normals were looked up in. */
static void report_textures(tool *t, const modalrender_input *in, const modal_render_times *times)
{
    static const char *const names[MODAL_SHADE_SOURCES] = {
        [MODAL_SHADE_IMAGE] = "image", [MODAL_SHADE_SOLID] = "octree", [MODAL_SHADE_ATLAS] = "atlas", [MODAL_SHADE_OUTSIDE] = "outside"};
    if (in->n_solids == 0) return;
    json_t *counts = json_object();
    for (int i = 0; i < MODAL_SHADE_SOURCES; i++) json_object_set_new(counts, names[i], json_integer((json_int_t)times->sources[i]));
    json_object_set_new(t->report, "texture_samples", counts);
}

/* Where frames come from: a deformer, or those that are given. */
typedef struct frames_from {
    modal_deformer *deformer;
    modal_deform_source *deformed;
    modal_reading *reading;
    modal_frame_source source;
    const char *kind, *back_end, *device; /* kind: "ref", "cpu", "cuda" */
    int64_t batch_frames;
} frames_from;

static modal_status open_source(tool *t, drawing *d, frames_from *from, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (d->in->given) {
        MODAL_TRY(modalrender_given_source(d->in, &d->plan, d->stage.positions, held_bytes(d->in), &from->reading, &from->source, err));
        const modal_device *device = modalrender_given_device(d->in->given);
        from->kind = device->kernels->back_end, from->back_end = device->name, from->device = device->hardware;
    } else {
        MODAL_TRY(make_deformer(t, d, &from->deformer, err));
        const modal_deform_source_request request = {.deformer = from->deformer, .trajectory = &d->in->trajectory, .start = d->in->start,
                                                     .step = d->in->step, .plan = &d->plan,
                                                     .lead = d->r->buffers[MODAL_RENDER_MOTION] && modal_deformer_n_devices(from->deformer) > 1};
        MODAL_TRY(modal_deform_source_new(&from->deformed, &request, &from->source, err));
        from->kind = modal_deformer_kind(from->deformer), from->back_end = modal_deformer_back_end(from->deformer);
        from->device = modal_deformer_device(from->deformer);
    }
    from->source.doing = "draw";
    from->batch_frames = from->source.most_frames;
    if (strcmp(d->r->back_end, "auto") == 0 && !d->r->to_stdout) tool_note(t, "back end: %s, %s", from->back_end, from->device);
done:
    return status;
}

static void report(tool *t, const drawing *d, const frames_from *from)
{
    json_object_set_new(t->report, "backend", json_string(from->back_end));
    json_object_set_new(t->report, "device", json_string(from->device));
    json_object_set_new(t->report, "threads", json_integer(d->r->threads));
    json_object_set_new(t->report, "batch_frames", json_integer(from->batch_frames));
    json_object_set_new(t->report, "device_memory_bytes", json_integer(modal_device_most_bytes()));
    json_object_set_new(t->report, "frames", json_integer(d->in->n - d->in->lead));
    report_passes(t, &d->times);
    json_object_set_new(t->report, "points", json_integer(d->in->scene.n_points));
    json_object_set_new(t->report, "triangles", json_integer(d->in->scene.n_triangles));
    json_object_set_new(t->report, "bytes", json_integer(d->out->bytes));
}

modal_status modalrender_run(tool *t, const modalrender_request *r, modalrender_input *in, modalrender_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    frames_from from = {0};
    struct stat film;
    modal_frames_times times = {0};
    drawing d = {.r = r, .in = in, .out = out};
    const modal_frame_step step = {&d, write_frames};
    if (tool_value(&t->arguments, "report")) d.times.waits_from = MEASURED_FROM, d.times.waits_to = MEASURED_TO;
    MODAL_TRY(make_plan(&d, err));
    const double start = tool_seconds();
    MODAL_TRY(open_source(t, &d, &from, err));
    MODAL_TRY(modalrender_journal_begin(t, r, in, from.kind, out, err));
    const int64_t kept = out->n_kept, begin = r->buffers[MODAL_RENDER_MOTION] && kept > 0 ? kept - 1 : kept;
    out->n_skipped = kept;
    tool_progress_amount(t, (double)in->n, "frames");
    MODAL_TRY(modalrender_begin_film(r, in, out, err));
    MODAL_TRY(modal_frames_run(&from.source, 1, &step, begin, in->n, &t->progress, &times, err));
    if (out->files) MODAL_TRY(modalrender_files_finish(out->files, err));
    MODAL_TRY(modalrender_film_finish(&out->film, err));
    if (r->one_file && r->streams && fstat(out->all[0].file.lock, &film) == 0) out->bytes = film.st_size;
    tool_stage(t, "submit", times.submit, -1);
    tool_stage(t, "wait for frames", times.wait, -1);
    tool_stage(t, "write", times.work, out->bytes);
    tool_stage(t, "write, processor", times.processor + out->processor, out->bytes);
    tool_stage(t, "draw and write", tool_seconds() - start, out->bytes);
    if (out->blank && !r->picks)
        tool_warn(t, "%lld of %lld pictures show nothing but the background", (long long)out->blank, (long long)(in->n - kept));
    MODAL_TRY(modalrender_commit_outputs(t, r, in, out, from.back_end, from.device, err));
    report(t, &d, &from);
done:
    modal_reading_delete(from.reading);
    modal_deform_source_delete(from.deformed);
    modal_deformer_delete(from.deformer);
    if (status == MODAL_OK) report_textures(t, in, &d.times); /* the stages are closed */
    return status;
}
