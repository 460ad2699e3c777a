/* SPDX-License-Identifier: Apache-2.0 */
/* What modalrender writes: a folder of pictures a kind, which get their names together with the manifest; or standard output. */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "formats/sequences/manifest.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "tools/common/ffmpeg.h"
#include "tools/common/files.h"
#include "tools/common/folder_files.h"
#include "tools/common/pipes.h"
#include "tools/modalrender/modalrender.h"

static modal_status add_output(const modalrender_request *r, modalrender_outputs *out, int buffer, const char *name, const char *kind,
                               const char *extension, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalrender_output *o = &out->all[out->n++];
    const int64_t length = (int64_t)strlen(r->folder) + (int64_t)strlen(name) + 2;
    if (r->one_file) extension = NULL;
    o->name = name, o->kind = kind, o->extension = extension, o->buffer = buffer;
    MODAL_TRY(modal_alloc(&o->path, length, 1, "name", err));
    snprintf(o->path, (size_t)length, r->one_file ? "%s" : "%s/%s", r->folder, name);
    MODAL_TRY(tool_files_write(o->path, extension ? TOOL_FILES_FOLDER : TOOL_FILES_ONE, NULL, &o->file, err));
done:
    return status;
}

modal_status modalrender_begin_outputs(const modalrender_request *r, modalrender_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (r->format == MODALRENDER_PNG) MODAL_TRY(add_output(r, out, r->deep ? MODAL_RENDER_DEEP : MODAL_RENDER_PICTURE, "png", "png", "png", err));
    if (r->format == MODALRENDER_EXR) MODAL_TRY(add_output(r, out, MODAL_RENDER_COLOUR, "exr", "exr", "exr", err));
    for (int i = MODAL_RENDER_COLOUR; r->format != MODALRENDER_EXR && i < MODAL_RENDER_BUFFERS; i++)
        if (r->buffers[i]) MODAL_TRY(add_output(r, out, i, modal_render_arrays[i].name, "npy", "npy", err));
    out->n_pictures = out->n;
    if (r->one_file) {
        if (r->streams) MODAL_TRY(add_output(r, out, -1, modalrender_format_names[r->format], "film", NULL, err));
        if (r->streams && r->format != MODALRENDER_Y4M) MODAL_TRY(tool_find_ffmpeg(&out->film.program, err));
        MODAL_TRY(tool_output_begin(&out->all[0].file, out->all[0].path, r->force, err));
        if (!r->streams) MODAL_TRY(modalrender_files_new(&out->files, r, out, err));
        goto done;
    }
    if (out->n == 0) return MODAL_OK;
    out->folder = r->folder;
    MODAL_TRY(add_output(r, out, -1, "manifest.json", "manifest", NULL, err));
    MODAL_TRY(tool_folder_begin(r->folder, &out->folder_made, err));
    MODAL_TRY(tool_outputs_recover(out->all[out->n - 1].path, err));
    for (int i = 0; i < out->n; i++) {
        modalrender_output *o = &out->all[i];
        MODAL_TRY(o->extension ? tool_numbered_begin(&o->file, o->path, o->extension, r->force, err)
                               : tool_output_begin(&o->file, o->path, r->force, err));
    }
    MODAL_TRY(modalrender_journal_open(r, out, err));
    MODAL_TRY(modalrender_files_new(&out->files, r, out, err));
done:
    return status;
}

/* ---- frames ---- */

/* Triangles of the scene become the user's of their object. */
static void number_triangles(const modalrender_input *in, int64_t pixels, int32_t *triangle, const int32_t *object)
{
    for (int64_t i = 0; i < pixels; i++) {
        if (object[i] < 0) {
            triangle[i] = -1;
            continue;
        }
        const modal_surface *s = &in->basis.shapes[in->basis.objects[object[i]].shape].surface;
        triangle[i] = s->user_triangle[triangle[i] - in->scene.object_triangles[object[i]]];
    }
}

/* Each pixel is as the next one: first of the middle row, where there mostly is something. */
static int shows_nothing(const uint8_t *picture, int64_t pixel, int64_t width, int64_t height)
{
    const uint8_t *middle = picture + pixel * (height / 2) * width;
    return memcmp(middle, middle + pixel, (size_t)(pixel * (width - 1))) == 0 &&
           memcmp(picture, picture + pixel, (size_t)(pixel * (width * height - 1))) == 0;
}

/* R' G' B' as BT.709 says, 8 bits, Y from 16 to 235: planes of a whole frame. */
static void to_planes(const uint8_t *picture, int64_t pixels, int threads, uint8_t *planes)
{
#pragma omp parallel for simd schedule(static) num_threads(modal_free_threads(threads)) if (pixels > 100000)
    for (int64_t i = 0; i < pixels; i++) {
        const int32_t red = picture[4 * i], green = picture[4 * i + 1], blue = picture[4 * i + 2];
        planes[i] = (uint8_t)((11966 * red + 40254 * green + 4064 * blue + (16 << 16) + 32768) >> 16);
        planes[pixels + i] = (uint8_t)((-6596 * red - 22189 * green + 28784 * blue + (128 << 16) + 32768) >> 16);
        planes[2 * pixels + i] = (uint8_t)((28784 * red - 26145 * green - 2639 * blue + (128 << 16) + 32768) >> 16);
    }
}

#define SLOW_RATE 25.0

/* Frames a second as a fraction. */
static void rate_of(const modalrender_request *r, const modalrender_input *in, int64_t rate[2])
{
    const double *times = in->trajectory.times, span = in->n > 1 ? times[in->start + (in->n - 1) * in->step] - times[in->start] : 0.0;
    double fps = r->rate > 0.0 ? r->rate : span > 0.0 ? (double)(in->n - 1) / span : SLOW_RATE;
    if (r->rate == 0.0 && !(fps >= 1.0 && fps <= 120.0)) fps = SLOW_RATE; /* thousands of frames a second are no film: it is shown slowly */
    rate[1] = fabs(fps - round(fps)) < 1e-9 * fps ? 1 : 1000;
    rate[0] = (int64_t)llround(fps * (double)rate[1]);
}

modal_status modalrender_begin_film(const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, modal_error *err)
{
    int64_t rate[2];
    if (!r->one_file || !r->streams) return MODAL_OK;
    rate_of(r, in, rate);
    return modalrender_film_start(&out->film, r, rate, &out->all[0].file, err);
}

static modal_status put_stream(const modalrender_request *r, modalrender_outputs *out, const void *bytes, int64_t length, modal_error *err)
{
    out->bytes += length;
    return r->to_stdout ? tool_write_stdout(bytes, (size_t)length, err) : modalrender_film_write(&out->film, bytes, length, err);
}

static modal_status write_stream(const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, int64_t frame,
                                 const uint8_t *picture, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t pixels = (int64_t)r->width * r->height;
    char head[128] = "";
    int64_t rate[2];
    if (!out->stream) MODAL_TRY(modal_alloc(&out->stream, 3 * pixels, 1, "frame", err));
    uint8_t *const bytes = out->stream;
    if (r->format == MODALRENDER_RGB || r->format == MODALRENDER_GIF) {
        for (int64_t i = 0; i < pixels; i++) memcpy(bytes + 3 * i, picture + 4 * i, 3);
    } else {
        rate_of(r, in, rate);
        if (frame == 0)
            snprintf(head, sizeof head, "YUV4MPEG2 W%d H%d F%lld:%lld Ip A1:1 C444\nFRAME\n", r->width, r->height, (long long)rate[0],
                     (long long)rate[1]);
        else
            snprintf(head, sizeof head, "FRAME\n");
        to_planes(picture, pixels, r->threads, bytes);
    }
    MODAL_TRY(put_stream(r, out, head, (int64_t)strlen(head), err));
    MODAL_TRY(put_stream(r, out, bytes, 3 * pixels, err));
done:
    return status;
}

modal_status modalrender_write(const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, int64_t first, int64_t n,
                               float *const arrays[MODAL_RENDER_BUFFERS], modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t pixels = (int64_t)r->width * r->height;
    for (int64_t f = 0; r->buffers[MODAL_RENDER_TRIANGLE] && f < n; f++)
        number_triangles(in, pixels, (int32_t *)arrays[MODAL_RENDER_TRIANGLE] + f * pixels, (const int32_t *)arrays[MODAL_RENDER_OBJECT] + f * pixels);
    if (r->picks) return modalrender_write_pick(r, in, arrays, err);
    const int bytes = r->deep ? 8 : 4;
    const uint8_t *pictures = (const uint8_t *)arrays[r->deep ? MODAL_RENDER_DEEP : MODAL_RENDER_PICTURE];
    const int64_t skip = first < out->n_skipped ? (n < out->n_skipped - first ? n : out->n_skipped - first) : 0;
    for (int64_t f = skip; f < n; f++) out->blank += shows_nothing(pictures + f * pixels * bytes, bytes, r->width, r->height);
    for (int64_t f = 0; r->streams && f < n; f++)
        MODAL_TRY(write_stream(r, in, out, first + f, (const uint8_t *)(arrays[MODAL_RENDER_PICTURE] + f * pixels), err));
    if (out->n_pictures > 0 && skip < n) MODAL_TRY(modalrender_files_write(out->files, in->number + first, skip, n, arrays, err));
done:
    return status;
}

/* ---- the end ---- */

static modal_status write_manifest(const tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out,
                                   const char *back_end, const char *device, modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_folder_output outputs[MODAL_RENDER_BUFFERS];
    const char *fields[MODAL_RENDER_BUFFERS];
    modal_manifest_file *files = NULL;
    char *names = NULL;
    int64_t bytes = 0;
    const int n = out->n - 1;
    for (int i = 0; i < n; i++) {
        outputs[i] = (tool_folder_output){out->all[i].name, out->all[i].kind, out->all[i].extension, out->all[i].file.temporary, in->number + in->lead};
        fields[i] = out->all[i].buffer == MODAL_RENDER_DEEP ? "picture" : modal_render_arrays[out->all[i].buffer].name;
    }
    modal_manifest m = {.tool = t->program->name, .version = tool_version(), .arguments = t->command_line, .trajectory = tool_pipe_shown(r->input),
                        .trajectory_hash = in->trajectory_hash, .basis = in->basis_path ? tool_pipe_shown(in->basis_path) : NULL, .basis_hash = in->basis.hash,
                        .back_end = back_end, .device = device, .frame_start = in->start + in->lead * in->step,
                        .frame_step = in->step, .n_frames = in->n - in->lead,
                        .first_time = in->trajectory.times[in->start + in->lead * in->step],
                        .last_time = in->trajectory.times[in->start + (in->n - 1) * in->step], .n_points = in->scene.n_points,
                        .n_triangles = in->scene.n_triangles - (in->scene.has_ground ? 2 : 0), .order = "stored", .normals = r->normals_name,
                        .n_fields = n, .fields = fields};
    if (in->given) m.input = tool_pipe_shown(r->input), m.input_hash = in->trajectory_hash;
    MODAL_TRY(tool_folder_files(outputs, n, in->n - in->lead, &files, &names, &m.n_files, &bytes, err));
    m.files = files;
    MODAL_TRY(modal_manifest_write(out->all[n].file.temporary, &m, err));
done:
    modal_free(&names);
    modal_free(&files);
    return status;
}

modal_status modalrender_commit_outputs(const tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out,
                                        const char *back_end, const char *device, modal_error *err)
{
    modal_status status = MODAL_OK;
    tool_output *all[MODAL_RENDER_BUFFERS + 1];
    if (out->n == 0) return MODAL_OK;
    if (r->one_file) return tool_output_complete(&out->all[0].file, err);
    modalrender_output *last = &out->all[out->n - 1];
    if (!last->file.temporary) MODAL_TRY(tool_output_begin(&last->file, last->path, r->force, err));
    MODAL_TRY(write_manifest(t, r, in, out, back_end, device, err));
    for (int i = 0; i < out->n; i++) all[i] = &out->all[i].file;
    status = tool_outputs_commit(all, out->n, out->journal.file >= 0 ? out->journal.path : NULL, err);
    out->complete = !all[0]->temporary; /* in place, even if their folder could not be synced */
    if (out->complete) tool_folder_keep(out->folder);
done:
    return status;
}

void modalrender_end_outputs(tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out, modal_error *err)
{
    out->files = modalrender_files_delete(out->files);
    modalrender_film_end(&out->film);
    for (int i = 0; i < out->n; i++) tool_output_name_error(&out->all[i].file, err);
    modalrender_journal_end(t, r, in, out);
    for (int i = 0; i < out->n; i++) {
        tool_output_discard(&out->all[i].file);
        modal_free(&out->all[i].path);
    }
    modal_free(&out->stream);
    if (!out->complete && out->folder) tool_folder_discard(out->folder, out->folder_made);
}
