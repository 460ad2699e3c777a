/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a trajectory, from reduced coordinates on: a torus that deforms by 15 modes, and a ground; a variance shadow map of 2048 x 2048
 * with 9 taps, 1920 x 1080 of 4 samples, Phong; ids, normals and depths. Beside OpenGL through EGL, which draws one frame's positions and
 * normals again and again: it is spared the deformation. Its picture is compared with ours. On a CPU every time is processor time of all threads. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/json/look.h"
#include "kernels/device.h"
#include "kernels/shadow_view/shadow_view.h"
#include "lib/base/memory.h"
#include "lib/deform/source.h"
#include "lib/render/camera.h"
#include "lib/render/stage.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/gl_pictures.h"
#include "tests/bench/torus.h"

enum { MODES = 15, RADIUS = 4, GPU_FRAMES = 60, CPU_FRAMES = 3, RUNS = 5, POSITIONS = 0, OF_NORMALS = 1 };

typedef struct picture_bench {
    modal_bench *b;
    bench_side *side;
    int width, height, shadow_size;
    modal_basis basis;
    modal_trajectory trajectory;
    modal_look look;
    modal_render_scene scene;
    modal_raster_view view;
    modal_frame_plan plan;
    modal_render_stage stage;
    modal_render_times times;
    modal_deformer *deformer;
    modal_deform_source *source;
    modal_frame_source frames;
    const gl_context *gl;
    gl_pictures *drawn;
    uint8_t *picture, *theirs;     /* [height, width, 4] of frame 0 */
    int n_pictures, differ;        /* how often frame 0 came to main memory; not 0: not always with the same bytes */
    float *points, *normals;       /* [n_points + 4, 3] likewise */
    float *colours;                /* [height, width, 3] in linear light */
} picture_bench;

/* ---- the scene ---- */

static const char LOOK[] =
    "{\"look\": 1, \"materials\": {\"warm\": {\"diffuse\": [0.6, 0.5, 0.35], \"specular\": [0.5, 0.5, 0.5], \"shininess\": 40}, "
    "\"floor\": {\"diffuse\": [0.5, 0.55, 0.5]}}, \"default\": \"warm\", \"ambient\": [0.25, 0.25, 0.25], "
    "\"lights\": [{\"direction\": [-0.5, -0.3, -1.2]}], \"ground\": {\"material\": \"floor\"}, \"background\": [0.6, 0.7, 0.8], "
    "\"cameras\": [{\"eye\": [1.6, -2.3, 1.9], \"target\": [0, 0, -0.1], \"fov\": 0.8}]}";

static modal_status make_trajectory(picture_bench *p, int64_t n_frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory *q = &p->trajectory;
    q->n_objects = 1, q->n_frames = n_frames;
    MODAL_TRY(modal_alloc(&q->mode_offsets, 2, sizeof *q->mode_offsets, "coordinates", err));
    modal_basis_mode_offsets(&p->basis, q->mode_offsets);
    MODAL_TRY(modal_alloc(&q->times, n_frames, sizeof *q->times, "times", err));
    MODAL_TRY(modal_alloc(&q->q, n_frames * MODES, sizeof *q->q, "coordinates", err));
    for (int64_t f = 0; f < n_frames; f++) q->times[f] = (double)f / 60.0;
    for (int64_t i = 0; i < n_frames * MODES; i++) q->q[i] = (double)bench_noise(91, (uint64_t)i);
    strcpy(q->basis_hash, p->basis.hash);
done:
    return status;
}

static modal_status make_scene(picture_bench *p, int width, modal_error *err)
{
    modal_status status = MODAL_OK;
    torus *t = NULL;
    modal_render_bounds bounds = {0};
    const double *eye, *target;
    MODAL_TRY(torus_new(&t, width, 0, err));
    MODAL_TRY(torus_basis(&p->basis, t, MODES, err));
    MODAL_TRY(modal_alloc_zero(&p->basis.shapes[0].surface.boundary, t->n_vertices, 1, "torus", err)); /* it is closed */
    MODAL_TRY(make_trajectory(p, p->side->is_cuda ? GPU_FRAMES : CPU_FRAMES, err));
    MODAL_TRY(modal_look_parse(LOOK, sizeof LOOK - 1, "bench", 0, &p->look, err));
    eye = p->look.cameras[0].eye, target = p->look.cameras[0].target;
    const double direction[3] = {target[0] - eye[0], target[1] - eye[1], target[2] - eye[2]};
    MODAL_TRY(modal_render_bounds_new(&bounds, direction, p->look.cameras[0].up, &p->basis, &(modal_matrix_source){0}, &p->trajectory, err));
    const modal_render_ground ground = {.up = {0, 0, 1}, .height = -0.6, .size = 8.0, .tile = 1.0};
    const modal_render_scene_request request = {.basis = &p->basis, .look = &p->look, .ground = &ground, .shadow_alpha = 0.5, .creases = {.degrees = -1.0}};
    MODAL_TRY(modal_render_scene_new(&p->scene, &request, err));
    p->view = modal_render_view(&p->look.cameras[0], 0.0, &bounds, p->width, p->height);
    MODAL_TRY(modal_alloc(&p->points, 3 * (p->scene.n_points + 4), sizeof *p->points, "points", err));
    MODAL_TRY(modal_alloc(&p->normals, 3 * (p->scene.n_points + 4), sizeof *p->normals, "normals", err));
    MODAL_TRY(modal_alloc(&p->picture, 4 * (int64_t)p->width * p->height, 1, "picture", err));
    MODAL_TRY(modal_alloc(&p->colours, 3 * (int64_t)p->width * p->height, sizeof *p->colours, "picture", err));
    MODAL_TRY(modal_alloc(&p->theirs, 4 * (int64_t)p->width * p->height, 1, "picture", err));
done:
    modal_render_bounds_free(&bounds);
    torus_delete(t);
    return status;
}

/* ---- our frames ---- */

static modal_status add_array(picture_bench *p, const modal_array *array, int64_t rows, int source, modal_array_place place, modal_error *err)
{
    modal_array named = *array;
    named.source = source;
    return modal_frame_plan_add(&p->plan, &named, rows, place, err);
}

static void close_source(picture_bench *p)
{
    p->source = modal_deform_source_delete(p->source);
    p->deformer = modal_deformer_delete(p->deformer);
    p->plan = (modal_frame_plan){0};
}

/* taken: the picture comes to main memory; all: positions, normals and colours in linear light, too. */
static modal_status open_source(picture_bench *p, int taken, int all, modal_error *err)
{
    static const modal_array points = {.name = "Points", .components = 3, .unit = "m"}, normals = {.name = "Normals", .components = 3, .unit = "1"};
    static const int buffers[] = {MODAL_RENDER_PICTURE, MODAL_RENDER_TRIANGLE, MODAL_RENDER_DEPTH, MODAL_RENDER_NORMAL, MODAL_RENDER_COLOUR};
    modal_status status = MODAL_OK;
    const int64_t pixels = (int64_t)p->width * p->height;
    close_source(p);
    p->times = (modal_render_times){0};
    p->stage = (modal_render_stage){.scene = &p->scene, .views = &p->view, .n_views = 1, .step = 1, .width = p->width, .height = p->height, .samples = 4,
                                    .shadows = MODAL_SHADOW_VSM, .shadow_size = p->shadow_size, .shadow_radius = RADIUS, .bleeding = 0.2,
                                    .most_fragments = 1, .times = &p->times, .positions = POSITIONS, .normals = OF_NORMALS};
    MODAL_TRY(add_array(p, &points, 0, MODAL_FROM_POSITIONS, all ? MODAL_TAKEN : MODAL_ON_DEVICE, err));
    MODAL_TRY(add_array(p, &normals, 0, MODAL_FROM_NORMALS, all ? MODAL_TAKEN : MODAL_ON_DEVICE, err));
    for (int i = 0; i < MODAL_RENDER_BUFFERS; i++) p->stage.arrays[i] = -1;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers - !all; i++) {
        p->stage.arrays[buffers[i]] = p->plan.list.n;
        MODAL_TRY(add_array(p, &modal_render_arrays[buffers[i]], pixels, MODAL_FROM_STAGES + buffers[i],
                            (taken && buffers[i] == MODAL_RENDER_PICTURE) || buffers[i] == MODAL_RENDER_COLOUR ? MODAL_TAKEN : MODAL_ON_DEVICE, err));
    }
    p->plan.stages[p->plan.n_stages++] = modal_render_stage_of(&p->stage);
    const modal_deform_request request = {.back_end = p->side->device.name, .normals = MODAL_NORMALS_DYNAMIC, .stored_order = 1,
                                          .n_frames = p->trajectory.n_frames, .plan = &p->plan};
    MODAL_TRY(modal_deformer_new(&p->deformer, &p->basis, &request, err));
    const modal_deform_source_request from = {.deformer = p->deformer, .trajectory = &p->trajectory, .step = 1, .plan = &p->plan};
    MODAL_TRY(modal_deform_source_new(&p->source, &from, &p->frames, err));
done:
    return status;
}

/* Frame 0 is kept, and compared with the one before. */
static modal_status take(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    picture_bench *p = self;
    const float *picture = frames->arrays[p->stage.arrays[MODAL_RENDER_PICTURE]];
    const size_t bytes = 4 * (size_t)p->width * (size_t)p->height;
    (void)err;
    if (first > 0 || p->plan.places[p->stage.arrays[MODAL_RENDER_PICTURE]] != MODAL_TAKEN) return MODAL_OK;
    p->differ |= p->n_pictures++ > 0 && memcmp(p->picture, picture, bytes) != 0;
    memcpy(p->picture, picture, bytes);
    if (p->plan.places[POSITIONS] != MODAL_TAKEN) return MODAL_OK;
    memcpy(p->points, frames->arrays[POSITIONS], 12 * (size_t)p->scene.n_points);
    memcpy(p->normals, frames->arrays[OF_NORMALS], 12 * (size_t)p->scene.n_points);
    memcpy(p->colours, frames->arrays[p->stage.arrays[MODAL_RENDER_COLOUR]], 3 * bytes);
    return MODAL_OK;
}

static modal_status draw_all(void *context, modal_error *err)
{
    picture_bench *p = context;
    const modal_frame_step step = {p, take};
    modal_status status = modal_frames_run(&p->frames, 1, &step, 0, p->trajectory.n_frames, NULL, NULL, err);
    if (status != MODAL_OK) return status;
    /* a source is good for one run */
    const modal_deform_source_request from = {.deformer = p->deformer, .trajectory = &p->trajectory, .step = 1, .plan = &p->plan};
    p->source = modal_deform_source_delete(p->source);
    return modal_deform_source_new(&p->source, &from, &p->frames, err);
}

static modal_status draw_theirs(void *context, modal_error *err)
{
    const picture_bench *p = context;
    gl_pictures_draw(p->drawn);
    p->gl->Finish();
    return gl_check(p->gl, "drawing", err);
}

/* ---- times ---- */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a frame, where a call makes n. */
static modal_status measure(const picture_bench *p, modal_status (*call)(void *, modal_error *), void *context, int64_t n, bench_time *time, modal_error *err)
{
    modal_status status = MODAL_OK;
    double wall[RUNS], processor[RUNS];
    const int runs = p->b->quick ? 3 : RUNS;
    bench_settle(p->b);
    MODAL_TRY(call(context, err)); /* for warmth */
    for (int i = 0; i < runs; i++) {
        const double start = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        MODAL_TRY(call(context, err));
        wall[i] = (seconds_of(CLOCK_MONOTONIC) - start) / (double)n, processor[i] = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used) / (double)n;
    }
    qsort(wall, (size_t)runs, sizeof *wall, ascending), qsort(processor, (size_t)runs, sizeof *processor, ascending);
    *time = (bench_time){wall[runs / 2], wall[0], wall[runs - 1], runs, (int)n, processor[runs / 2]};
done:
    return status;
}

static modal_status add_row(picture_bench *p, const char *name, int ours, const bench_time *time, double error, double relative, modal_error *err)
{
    const double seconds = p->side->is_cuda ? time->median : time->processor;
    const bench_row row = {.name = name, .ours = ours, .hidden = 1, .side = p->side, .n_vertices = p->scene.n_points, .n_columns = 1, .n_objects = 1,
                           .n_modes = MODES, .time = *time, .error = error, .relative = relative,
                           .tolerance = ours            ? "each run has the same bytes"
                                        : error < 0.0 ? "not held: triangles smaller than pixels"
                                        : p->b->quick ? "mean difference 0.3 / 255, 0.1 % of pixels over 8 / 255" /* large pixels, texels, triangles */
                                                      : "mean difference 0.1 / 255, 0.02 % of pixels over 8 / 255"};
    const modal_status status = bench_row_add(p->b, &row, err);
    if (status != MODAL_OK) return status;
    if (ours) p->b->ours = seconds;
    bench_print(p->b, "%-4s %s%-44s %9.3f ms a frame", p->side->is_cuda ? "gpu" : "cpu", ours ? "* " : "  ", name, 1e3 * seconds);
    bench_print(p->b, ours ? "\n" : " %6.2f x ours\n", seconds / p->b->ours);
    return MODAL_OK;
}

static modal_status measure_ours(picture_bench *p, int taken, int threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_time time;
    char name[80];
    omp_set_num_threads(threads);
    MODAL_TRY(open_source(p, taken, 0, err));
    MODAL_TRY(measure(p, draw_all, p, p->trajectory.n_frames, &time, err));
    snprintf(name, sizeof name, p->side->is_cuda ? "q to pictures, %s" : "q to pictures, %s, %d thread%s", taken ? "in main memory" : "on the device", threads,
             threads == 1 ? "" : "s");
    MODAL_TRY(add_row(p, name, 1, &time, p->n_pictures > 1 && !p->differ ? 0.0 : INFINITY, 0.0, err));
    if (!p->side->is_cuda) {
        bench_print(p->b, "       of these");
        for (int i = 0; i < MODAL_RENDER_PASSES; i++)
            if (p->times.seconds[i] > 0.0)
                bench_print(p->b, " %s %.1f", modal_render_pass_names[i], 1e3 * p->times.seconds[i] / (double)p->times.n_frames);
        bench_print(p->b, " ms of wall clock; a frame takes %.1f\n", 1e3 * time.median);
    }
done:
    omp_set_num_threads(p->b->n_threads);
    return status;
}

/* ---- the opponent ---- */

/* The view of the light and the weights that our stage has. */
static modal_status set_light(const picture_bench *p, gl_picture_scene *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    double direction[3], any[3] = {0, 0, 1}, right[3], up[3], ahead[3], sum = 0.0, weights[2 * RADIUS + 1];
    float *scratch = NULL;
    for (int k = 0; k < 3; k++) direction[k] = -(double)p->scene.lights[0].direction[k];
    if (fabs(direction[2]) >= 0.9) any[2] = 0.0, any[1] = 1.0;
    modal_render_axes(direction, any, right, up, ahead);
    MODAL_TRY(modal_alloc(&scratch, MODAL_SHADOW_VIEW_SCRATCH, sizeof *scratch, "light", err));
    modal_shadow_view_task task = {.n_points = p->scene.n_points, .points = p->points, .size = p->shadow_size, .margin = 2 * (RADIUS + 1),
                                   .view = &s->light, .scratch = scratch};
    for (int k = 0; k < 3; k++) task.right[k] = (float)right[k], task.up[k] = (float)up[k], task.along[k] = (float)ahead[k];
    MODAL_TRY(p->b->ref.kernels->shadow_view(&task, NULL, err));
    for (int i = -RADIUS; i <= RADIUS; i++) sum += weights[i + RADIUS] = exp(-2.0 * i * i / (double)(RADIUS * RADIUS));
    for (int i = 0; i <= 2 * RADIUS; i++) s->weights[i] = (float)(weights[i] / sum);
    s->shadow_size = p->shadow_size, s->shadow_radius = RADIUS, s->shadow_border = RADIUS + 1, s->bleeding = 0.2f;
    memcpy(s->direction, p->scene.lights[0].direction, sizeof s->direction);
    memcpy(s->colour, p->scene.lights[0].colour, sizeof s->colour);
done:
    modal_free(&scratch);
    return status;
}

static modal_status make_theirs(picture_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    gl_picture_scene s = {.n_points = p->scene.n_points + 4, .n_triangles = p->scene.n_triangles, .n_ground = 2, .points = p->points,
                          .normals = p->normals, .triangles = p->scene.triangles, .camera = p->view, .width = p->width, .height = p->height, .samples = 4};
    const int32_t of[2] = {p->scene.triangle_materials[0], p->scene.triangle_materials[p->scene.n_triangles - 1]};
    memcpy(p->points + 3 * p->scene.n_points, p->scene.ground, sizeof p->scene.ground);
    memcpy(p->normals + 3 * p->scene.n_points, p->scene.ground_normals, sizeof p->scene.ground_normals);
    MODAL_TRY(set_light(p, &s, err));
    memcpy(s.background, p->scene.background, sizeof s.background);
    for (int i = 0; i < 2; i++) {
        const float *m = p->scene.materials + MODAL_SHADE_MATERIAL * of[i];
        for (int k = 0; k < 3; k++)
            s.materials[i].ambient[k] = p->scene.ambient[k] * m[k], s.materials[i].diffuse[k] = m[4 + k], s.materials[i].specular[k] = m[8 + k];
        s.materials[i].shininess = m[11];
    }
    MODAL_TRY(gl_pictures_new(&p->drawn, p->gl, &s, err));
done:
    return status;
}

/* Of colours in linear light, 8 bits: mean difference, and share of pixels that differ by more than 8, each over what is allowed: the worse. */
static double compare(const picture_bench *p, double *mean)
{
    const int64_t pixels = (int64_t)p->width * p->height;
    int64_t sum = 0, over = 0, ours = 0, theirs = 0;
    for (int64_t i = 0; i < pixels; i++) {
        int most = 0;
        for (int k = 0; k < 3; k++) {
            const int mine = (int)(fminf(fmaxf(p->colours[3 * i + k], 0.0f), 1.0f) * 255.0f + 0.5f), d = abs(mine - p->theirs[4 * i + k]);
            sum += d, ours += mine, theirs += p->theirs[4 * i + k];
            most = d > most ? d : most;
        }
        over += most > 8;
    }
    *mean = (double)sum / (3.0 * (double)pixels);
    const double share = (double)over / (double)pixels;
    bench_print(p->b, "       the pictures differ by %.3f / 255 in the mean (%.1f here, %.1f there), %.4f %% of pixels by more than 8 / 255\n", *mean,
                (double)ours / (3.0 * (double)pixels), (double)theirs / (3.0 * (double)pixels), 100.0 * share);
    return fmax(*mean / (p->b->quick ? 0.3 : 0.1), share / (p->b->quick ? 1e-3 : 2e-4));
}

static modal_status measure_theirs(picture_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_time time;
    double mean;
    MODAL_TRY(open_source(p, 1, 1, err));
    MODAL_TRY(draw_all(p, err));
    MODAL_TRY(make_theirs(p, err));
    MODAL_TRY(draw_theirs(p, err));
    MODAL_TRY(gl_pictures_read(p->drawn, p->theirs, err));
    const double error = compare(p, &mean);
    MODAL_TRY(measure(p, draw_theirs, p, 1, &time, err));
    /* of triangles smaller than pixels OpenGL takes normals outside of them, in the pixel's middle: said, not held */
    const int small = p->scene.n_triangles > (int64_t)2 * p->width * p->height;
    MODAL_TRY(add_row(p, p->gl->renderer, 0, &time, small ? -1.0 : error, mean / 255.0, err));
done:
    return status;
}

/* ---- the part ---- */

static modal_status one_size(modal_bench *b, bench_side *side, const gl_context *gl, int width, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[80], title[120];
    picture_bench p = {.b = b, .side = side, .gl = gl, .width = b->quick ? 320 : 1920, .height = b->quick ? 180 : 1080, .shadow_size = b->quick ? 256 : 2048};
    snprintf(name, sizeof name, "render, %d triangles", 2 * width * width + 2);
    snprintf(title, sizeof title, "Pictures of %d triangles, %d x %d, 4 samples, shadow map %d x %d", 2 * width * width + 2, p.width, p.height, p.shadow_size,
             p.shadow_size);
    bench_table(b, name, title);
    MODAL_TRY(modal_device_select(&side->device, err));
    MODAL_TRY(make_scene(&p, width, err));
    MODAL_TRY(measure_ours(&p, 1, side->is_cuda ? b->n_threads : 1, err));
    if (side->is_cuda) MODAL_TRY(measure_ours(&p, 0, b->n_threads, err));
    if (gl) MODAL_TRY(measure_theirs(&p, err));
    if (!side->is_cuda && b->n_threads > 1) MODAL_TRY(measure_ours(&p, 1, b->n_threads, err));
    if (!side->is_cuda) MODAL_TRY(bench_png(b, p.picture, p.width, p.height, err));
done:
    close_source(&p);
    gl_pictures_delete(p.drawn);
    modal_render_scene_free(&p.scene);
    modal_look_free(&p.look);
    modal_trajectory_free(&p.trajectory);
    modal_basis_free(&p.basis);
    modal_free(&p.points), modal_free(&p.normals), modal_free(&p.picture), modal_free(&p.theirs), modal_free(&p.colours);
    return status;
}

modal_status bench_render(modal_bench *b, modal_error *err)
{
    static const int widths[] = {500, 675, 2000};
    modal_status status = MODAL_OK;
    gl_context *gl = bench_gl(b, "pictures by OpenGL");
    for (int side = 1; side >= 0; side--) {
        bench_side *at = side ? &b->gpu : &b->cpu;
        /* it draws beside the GPU, or where there is none beside the CPU, whose work it does then */
        const gl_context *drawing = at->is_cuda == b->gpu.present ? gl : NULL;
        if (!at->present || (!at->is_cuda && !b->cpu_rows)) continue;
        const int n = b->quick || !at->is_cuda ? 1 : 3;
        for (int i = 0; i < n; i++) MODAL_TRY(one_size(b, at, drawing, b->quick ? 60 : widths[i], err));
    }
done:
    gl = gl_context_delete(gl);
    return status;
}
