/* SPDX-License-Identifier: Apache-2.0 */
/* Whole simulations of plants, a row each: the step of reduced coordinates, U q, the transform, normals, the shadow map and the picture, one frame at a
 * time as an interactive program takes them; then frames of all together. Beside the frames a second of B. Wang's thesis (2015, table 4.6) and of B. Wang
 * and J. Barbic (2020, table 4, figures 1 and 13). The plants are files (--plants FOLDER, made by tests/bench/grow_plants.py).
 *
 * A frame is one step, or those in halves that take its place. "transform" is what the same objects take as rigid ones, "U q" the rest of what positions
 * take: one operation does both. On a CPU a second row has the same passes while as many threads step q. */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/json/look.h"
#include "formats/json/scene.h"
#include "kernels/device.h"
#include "kernels/device_held.h"
#include "lib/base/memory.h"
#include "lib/deform/source.h"
#include "lib/forest/simulate.h"
#include "lib/render/camera.h"
#include "lib/render/stage.h"
#include "tests/bench/bench.h"
#ifdef MODAL_HAVE_CUDA
#include "tests/bench/bench_cuda.h"
#endif

enum { RADIUS = 4, MOST_RUNS = 15, IN_FLIGHT = 2 };
enum { STEP, PRODUCT, TRANSFORM, NORMALS, SHADOW, PICTURE, PARTS };
static const char *const part_names[PARTS] = {"step", "U q", "transform", "normals", "shadow", "picture"};

typedef struct species {
    const char *name, *folder, *source;
    double cpu_fps, gpu_fps; /* of the source */
} species;
#define THESIS "thesis, table 4.6"
#define PAPER "paper, table 4"
static const species all[] = {
    {"Pansy", "pansy", THESIS, 290, 75},
    {"Conifer", "thesis-conifer", THESIS, 60, 55},
    {"Weed willow", "weed-willow", THESIS, 3, 16},
    {"Peach tree", "thesis-peach", THESIS, 5, 10},
    {"Broad-leaved tree", "thesis-broad-leaved", THESIS, 10, 25},
    {"Fir", "fir", THESIS, 10, 28},
    {"Western red cedar", "red-cedar", THESIS, 17, 32},
    {"Incense cedar", "incense-cedar", THESIS, 7, 20},
    {"Quercus Garryana", "quercus", THESIS, 1, 3},
    {"Blue spruce", "blue-spruce", THESIS, 1, 2},
    {"Three firs", "three-firs", THESIS, 3, 15},
    {"Eastern hemlock", "thesis-hemlock", THESIS, 3, 11},
    {"Conifer (single)", "conifer", PAPER, 35, 60},
    {"Peach tree", "peach", PAPER, 4, 20},
    {"Broad-leaved tree", "broad-leaved", PAPER, 6, 29},
    {"Eastern hemlock", "hemlock", PAPER, 4, 15},
    {"Treesketch", "treesketch", PAPER, 11, 70},
    {"Forest", "forest", "paper, figure 1", 12, 50},
    {"Dragon's size, r = 15", "dragon", "paper, figure 13", 16, 52},
};

typedef struct plant_bench {
    modal_bench *b;
    bench_side *side;
    const species *of;
    modal_basis basis;
    modal_scene scene;
    modal_trajectory last; /* of one frame, the last that was stepped to */
    modal_look look;
    modal_render_scene drawn;
    modal_raster_view view;
    int width, height, shadow_size;
    modal_frame_plan plan;
    modal_render_stage stage;
    modal_render_times times;
    modal_deformer *deformer;
    double marked;             /* when the deformer's work was done, s */
    int in_flight, beside;     /* frames that are not collected; not 0: while q is stepped by other threads */
    int64_t n_frames, n_done, held; /* of a run of all together; bytes of the device at most meanwhile */
    double began;              /* of its second frame, s */
    int64_t launches[2];       /* of a step, of a frame; -1: not counted */
    double steps_a_frame;      /* of all together: a step that is not exact enough is taken again in halves */
    double ms[PARTS];
} plant_bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t launched(void)
{
#ifdef MODAL_HAVE_CUDA
    return bench_cuda_launched();
#else
    return 0;
#endif
}

/* ---- steps ---- */

typedef modal_status frame_taker(void *context, const modal_simulation *run, modal_error *err);

/* n_frames frames of the scene, one step each. */
static modal_status simulate(plant_bench *p, const modal_device *device, int64_t n_frames, frame_taker *taker, void *context, modal_simulation *run,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    double *poses = NULL;
    MODAL_TRY(modal_alloc(&poses, 12 * (int64_t)p->basis.n_objects, sizeof *poses, "poses", err));
    *run = (modal_simulation){.scene = &p->scene, .basis = &p->basis, .device = device, .n_threads = p->b->n_threads, .n_frames = n_frames,
                              .poses = poses, .frame_done = taker, .context = context, .allow_inversion = 1};
    MODAL_TRY(modal_scene_state_alloc(&run->state, &p->basis, err));
    MODAL_TRY(modal_scene_simulate(run, err));
done:
    if (status != MODAL_OK && status != MODAL_ERROR_INTERRUPTED) modal_error_context(err, "%s", p->of->folder);
    modal_scene_state_free(&run->state);
    modal_free(&poses);
    run->poses = NULL;
    return status;
}

static modal_status keep_last(void *context, const modal_simulation *run, modal_error *err)
{
    plant_bench *p = context;
    (void)err;
    memcpy(p->last.q, run->state.q, (size_t)p->last.mode_offsets[p->last.n_objects] * sizeof(double));
    memcpy(p->last.poses, run->poses, 12 * (size_t)p->last.n_objects * sizeof(double));
    return MODAL_OK;
}

/* The frame that pictures are of, and what a step takes. */
static modal_status measure_steps(plant_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation run;
    const int64_t n = p->b->quick ? 4 : p->side->is_cuda ? 61 : 13;
    int64_t before[2];
    MODAL_TRY(simulate(p, &p->side->device, n, keep_last, p, &run, err));
    p->ms[STEP] = 1e3 * run.seconds_stepping / (double)run.steps;
    if (!p->side->is_cuda) return MODAL_OK;
    before[0] = launched(); /* of many frames less two, so that preparations cancel */
    MODAL_TRY(simulate(p, &p->side->device, 2, NULL, NULL, &run, err));
    before[1] = launched();
    const int64_t steps = run.steps;
    MODAL_TRY(simulate(p, &p->side->device, 12, NULL, NULL, &run, err));
    p->launches[0] = (launched() - before[1] - (before[1] - before[0])) / (run.steps - steps);
done:
    return status;
}

/* ---- the picture's scene ---- */

static const char LOOK[] =
    "{\"look\": 1, \"materials\": {\"plain\": {\"diffuse\": [0.3, 0.5, 0.25], \"specular\": [0.2, 0.2, 0.2], \"shininess\": 20}, "
    "\"floor\": {\"diffuse\": [0.5, 0.45, 0.4]}}, \"default\": \"plain\", \"ambient\": [0.3, 0.32, 0.36], "
    "\"lights\": [{\"direction\": [-1, 0.6, -2]}], \"ground\": {\"material\": \"floor\"}, \"background\": [0.75, 0.85, 0.95], "
    "\"cameras\": [{\"direction\": [-0.55, 0.8, -0.3]}]}";

static modal_status make_last(plant_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory *t = &p->last;
    t->n_objects = p->basis.n_objects, t->n_frames = 1;
    MODAL_TRY(modal_alloc(&t->mode_offsets, (int64_t)t->n_objects + 1, sizeof *t->mode_offsets, "coordinates", err));
    modal_basis_mode_offsets(&p->basis, t->mode_offsets);
    MODAL_TRY(modal_alloc_zero(&t->times, 1, sizeof *t->times, "times", err));
    MODAL_TRY(modal_alloc_zero(&t->q, t->mode_offsets[t->n_objects], sizeof *t->q, "coordinates", err));
    MODAL_TRY(modal_alloc_zero(&t->poses, 12 * (int64_t)t->n_objects, sizeof *t->poses, "poses", err));
done:
    return status;
}

static modal_status make_picture(plant_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_render_bounds bounds = {0};
    MODAL_TRY(modal_look_parse(LOOK, sizeof LOOK - 1, "bench", 0, &p->look, err));
    const modal_look_camera *camera = p->look.cameras;
    MODAL_TRY(modal_render_bounds_new(&bounds, camera->direction, camera->up, &p->basis, &(modal_matrix_source){0}, &p->last, err));
    const double size = modal_render_bounds_size(&bounds);
    const int stands = strcmp(p->of->folder, "dragon") != 0; /* plants do, on z = 0 */
    const modal_render_ground ground = {.up = {0, 0, 1}, .height = stands ? 0.0 : -0.5, .size = 4.0 * size, .tile = 1.0};
    const modal_render_scene_request request = {.basis = &p->basis, .look = &p->look, .ground = &ground, .shadow_alpha = 0.5, .creases = {.degrees = -1.0}};
    MODAL_TRY(modal_render_scene_new(&p->drawn, &request, err));
    p->view = modal_render_view(camera, 0.0, &bounds, p->width, p->height);
done:
    modal_render_bounds_free(&bounds);
    return status;
}

/* ---- frames, one at a time ---- */

static modal_status open_mark(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err)
{
    (void)device, (void)most_frames, (void)err;
    memcpy(opened, &self, sizeof self); /* the bench itself, which is not const */
    return MODAL_OK;
}

/* Stands between the deformer and the picture: what is queued so far is waited for. */
static modal_status queue_mark(void *opened, modal_stream *stream, const modal_device_frames *frames, modal_error *err)
{
    plant_bench *p = opened;
    (void)frames;
    const modal_status status = modal_device_stream_wait(&p->side->device, stream, err);
    p->marked = now();
    return status;
}

static void close_mark(void *opened) { (void)opened; }

typedef enum way {
    MOVED,    /* positions */
    MEASURED, /* normals and pictures, too; each pass is waited for */
    DRAWN,    /* the same, not waited for */
    PLACED,   /* positions, which come to main memory */
    CHECKED   /* as DRAWN, positions, picture and ids come to main memory */
} way;

static modal_status open_frames(plant_bench *p, const modal_basis *basis, way how, const char *back_end, modal_error *err)
{
    static const int buffers[] = {MODAL_RENDER_PICTURE, MODAL_RENDER_OBJECT, MODAL_RENDER_TRIANGLE, MODAL_RENDER_DEPTH, MODAL_RENDER_NORMAL};
    modal_status status = MODAL_OK;
    modal_array points = {.name = "Points", .components = 3, .unit = "m", .source = MODAL_FROM_POSITIONS};
    modal_array normals = {.name = "Normals", .components = 3, .unit = "1", .source = MODAL_FROM_NORMALS};
    p->deformer = modal_deformer_delete(p->deformer);
    p->plan = (modal_frame_plan){0};
    p->times = (modal_render_times){.waits_to = INT64_MAX};
    p->stage = (modal_render_stage){.scene = &p->drawn, .views = &p->view, .n_views = 1, .step = 1, .width = p->width, .height = p->height, .samples = 4,
                                    .shadows = MODAL_SHADOW_VSM, .shadow_size = p->shadow_size, .shadow_radius = RADIUS, .bleeding = 0.2,
                                    .most_fragments = 1, .times = how == MEASURED ? &p->times : NULL, .positions = 0, .normals = 1};
    MODAL_TRY(modal_frame_plan_add(&p->plan, &points, 0, how >= PLACED ? MODAL_TAKEN : MODAL_ON_DEVICE, err));
    if (how == MOVED || how == MEASURED) p->plan.stages[p->plan.n_stages++] = (modal_frame_stage){p, NULL, open_mark, queue_mark, close_mark};
    for (int i = 0; i < MODAL_RENDER_BUFFERS; i++) p->stage.arrays[i] = -1;
    const int draws = how != MOVED && how != PLACED;
    if (draws) {
        MODAL_TRY(modal_frame_plan_add(&p->plan, &normals, 0, MODAL_ON_DEVICE, err));
        for (int i = 0; i < (int)(sizeof buffers / sizeof *buffers); i++) {
            modal_array named = modal_render_arrays[buffers[i]];
            named.source = MODAL_FROM_STAGES + buffers[i];
            p->stage.arrays[buffers[i]] = p->plan.list.n;
            MODAL_TRY(modal_frame_plan_add(&p->plan, &named, (int64_t)p->width * p->height, how == CHECKED && i < 2 ? MODAL_TAKEN : MODAL_ON_DEVICE, err));
        }
        p->plan.stages[p->plan.n_stages++] = modal_render_stage_of(&p->stage);
    }
    const modal_deform_request request = {.back_end = back_end, .normals = draws ? MODAL_NORMALS_DYNAMIC : MODAL_NORMALS_NONE, .stored_order = 1,
                                          .n_frames = 1, .n_made = 1, .plan = &p->plan};
    MODAL_TRY(modal_deformer_new(&p->deformer, basis, &request, err));
    p->in_flight = 0;
done:
    return status;
}

static modal_status collect(plant_bench *p, modal_error *err)
{
    modal_deform_batch batch;
    const modal_status status = modal_deformer_collect(p->deformer, &batch, err);
    if (status == MODAL_OK) modal_deformer_release(p->deformer, &batch);
    p->in_flight--;
    return status;
}

static modal_status one_frame(plant_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_deformer_submit(p->deformer, 1, p->last.q, p->last.poses, err));
    p->in_flight++;
    MODAL_TRY(collect(p, err));
done:
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return values[n / 2];
}

static int runs_of(const plant_bench *p, way how) { return p->b->quick ? 3 : p->side->is_cuda || how == MOVED ? MOST_RUNS : 5; }

/* ms from a frame's begin to the end of the deformer's work, and of the passes of pictures. */
static modal_status time_frames(plant_bench *p, way how, double *moved, double passes[2], modal_error *err)
{
    modal_status status = MODAL_OK;
    double to_mark[MOST_RUNS], shadow[MOST_RUNS], picture[MOST_RUNS];
    const int runs = runs_of(p, how);
    for (int i = -1; i < runs; i++) { /* the first for warmth */
        double *s = p->times.seconds;
        memset(s, 0, sizeof p->times.seconds);
        const double start = now();
        MODAL_TRY(one_frame(p, err));
        if (i < 0) continue;
        to_mark[i] = 1e3 * (p->marked - start), shadow[i] = 1e3 * s[MODAL_PASS_SHADOWS];
        picture[i] = 1e3 * (s[MODAL_PASS_VISIBILITY] + s[MODAL_PASS_LAYERS] + s[MODAL_PASS_SHADING]);
    }
    *moved = median(to_mark, runs);
    passes[0] = median(shadow, runs), passes[1] = median(picture, runs);
done:
    return status;
}

static modal_status measure_passes(plant_bench *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis still = p->basis; /* of shapes without modes: others may look at those of the basis meanwhile */
    double rigid = 0.0, moved = 0.0, with_normals = 0.0, none[2];
    const char *name = p->side->device.name;
    still.shapes = NULL;
    MODAL_TRY(modal_alloc(&still.shapes, still.n_shapes, sizeof *still.shapes, "shapes", err));
    memcpy(still.shapes, p->basis.shapes, (size_t)still.n_shapes * sizeof *still.shapes);
    for (int32_t i = 0; i < still.n_shapes; i++) still.shapes[i].modes.n_modes = 0;
    MODAL_TRY(open_frames(p, &still, MOVED, name, err));
    MODAL_TRY(time_frames(p, MOVED, &rigid, none, err));
    MODAL_TRY(open_frames(p, &p->basis, MOVED, name, err));
    MODAL_TRY(time_frames(p, MOVED, &moved, none, err));
    MODAL_TRY(open_frames(p, &p->basis, MEASURED, name, err));
    MODAL_TRY(time_frames(p, MEASURED, &with_normals, p->ms + SHADOW, err));
    if (p->side->is_cuda) {
        const int64_t before = launched();
        MODAL_TRY(one_frame(p, err));
        p->launches[1] = launched() - before;
    }
    p->ms[TRANSFORM] = rigid, p->ms[PRODUCT] = fmax(moved - rigid, 0.0), p->ms[NORMALS] = fmax(with_normals - moved, 0.0);
done:
    modal_free(&still.shapes); /* what they point to is the basis's */
    return status;
}

/* ---- all together ---- */

static modal_status draw_frame(void *context, const modal_simulation *run, modal_error *err)
{
    modal_status status = MODAL_OK;
    plant_bench *p = context;
    if (p->n_done == 1) p->began = now();
    if (p->in_flight == IN_FLIGHT) MODAL_TRY(collect(p, err));
    MODAL_TRY(modal_deformer_submit(p->deformer, 1, run->state.q, run->poses, err));
    p->in_flight++, p->n_done++;
    while (p->n_done == p->n_frames && p->in_flight > 0) MODAL_TRY(collect(p, err));
    const int64_t held = modal_device_held_bytes();
    if (held > p->held) p->held = held;
done:
    return status;
}

static modal_status measure_together(plant_bench *p, bench_time *frame, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int runs = p->b->quick || !p->side->is_cuda ? 1 : 3;
    double seconds[3];
    modal_simulation run;
    p->deformer = modal_deformer_delete(p->deformer); /* of what was measured before */
    const int64_t before = modal_device_held_bytes();
    p->n_frames = p->b->quick ? 4 : p->side->is_cuda ? 201 : 9, p->held = 0;
    if (p->side->is_cuda && p->ms[STEP] > 2.0) p->n_frames = 41; /* some tenths of a second, too */
    MODAL_TRY(open_frames(p, &p->basis, DRAWN, p->side->device.name, err));
    for (int i = 0; i < runs; i++) {
        p->n_done = 0;
        MODAL_TRY(simulate(p, &p->side->device, p->n_frames, draw_frame, p, &run, err));
        seconds[i] = (now() - p->began) / (double)(p->n_frames - 1);
        p->steps_a_frame = (double)run.steps / (double)(p->n_frames - 1);
    }
    *frame = (bench_time){.median = median(seconds, runs), .runs = runs, .calls = (int)(p->n_frames - 1)};
    frame->least = seconds[0], frame->most = seconds[runs - 1];
    p->held -= before;
done:
    return status;
}

/* ---- what is right ---- */

/* Positions beside those of the reference, over 1e-5 of the largest coordinate; two pictures of the same bytes that show an object. INFINITY where not. */
static modal_status check(plant_bench *p, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t points = 3 * p->drawn.n_points, pixels = (int64_t)p->width * p->height;
    float *expected = NULL, *picture = NULL;
    double most = 0.0, worst = 0.0;
    MODAL_TRY(modal_alloc(&expected, points, sizeof *expected, "check", err));
    MODAL_TRY(modal_alloc(&picture, pixels, sizeof *picture, "check", err));
    for (int turn = 0; turn < 3; turn++) {
        modal_deform_batch batch;
        int64_t shown = 0;
        MODAL_TRY(open_frames(p, &p->basis, turn == 0 ? PLACED : CHECKED, turn == 0 ? "ref" : p->side->device.name, err));
        MODAL_TRY(modal_deformer_submit(p->deformer, 1, p->last.q, p->last.poses, err));
        MODAL_TRY(modal_deformer_collect(p->deformer, &batch, err));
        const float *got = batch.frames.arrays[0];
        for (int64_t i = 0; i < points; i++) {
            if (turn == 0) most = fmax(most, fabs((double)(expected[i] = got[i])));
            else worst = bench_worse(worst, fabs((double)got[i] - (double)expected[i]));
        }
        if (turn > 0) {
            const float *pixel = batch.frames.arrays[p->stage.arrays[MODAL_RENDER_PICTURE]];
            const int32_t *object = (const int32_t *)batch.frames.arrays[p->stage.arrays[MODAL_RENDER_OBJECT]];
            for (int64_t i = 0; i < pixels; i++) shown += object[i] >= 0;
            if (shown < pixels / 1000 || (turn == 2 && memcmp(picture, pixel, 4 * (size_t)pixels) != 0)) worst = INFINITY;
            memcpy(picture, pixel, 4 * (size_t)pixels);
        }
        modal_deformer_release(p->deformer, &batch);
    }
    *error = worst / (1e-5 * most);
done:
    modal_free(&expected), modal_free(&picture);
    return status;
}

/* ---- rows ---- */

static void print_headings(modal_bench *b)
{
    bench_print(b, "%-4s %-40s %7s %8s %6s", "", "", "objects", "vertices", "modes");
    for (int i = 0; i < PARTS; i++) bench_print(b, " %9s", part_names[i]);
    bench_print(b, " %9s %6s %7s %7s %8s  %s\n", "frames/s", "steps", "source:", "MB", "launches", "shares, %");
}

static modal_status add_row(plant_bench *p, const bench_time *frame, double error, modal_error *err)
{
    char name[80];
    double sum = 0.0;
    snprintf(name, sizeof name, "%s%s", p->of->name, p->beside ? ", while q is stepped" : "");
    const bench_row row = {.name = name, .ours = 1, .hidden = 1, .side = p->side, .n_vertices = p->drawn.n_points, .n_columns = 1,
                           .n_objects = p->basis.n_objects, .n_modes = (double)p->last.mode_offsets[p->basis.n_objects], .time = *frame, .error = error,
                           .tolerance = "positions 1e-5 of the largest; each run draws the same bytes"};
    const modal_status status = bench_row_add(p->b, &row, err);
    if (status != MODAL_OK) return status;
    json_t *last = json_array_get(p->b->results, json_array_size(p->b->results) - 1), *ms = json_object(), *shares = json_object();
    for (int i = 0; i < PARTS; i++) sum += p->ms[i];
    bench_print(p->b, "%-4s %-40s %7d %8lld %6lld", p->side->is_cuda ? "gpu" : "cpu", name, p->basis.n_objects, (long long)p->drawn.n_points,
                (long long)p->last.mode_offsets[p->basis.n_objects]);
    for (int i = 0; i < PARTS; i++) {
        json_object_set_new(ms, part_names[i], json_real(p->ms[i]));
        json_object_set_new(shares, part_names[i], json_real(p->ms[i] / sum));
        bench_print(p->b, " %9.3f", p->ms[i]);
    }
    bench_print(p->b, " %9.1f %6.2f %3.0f/%-3.0f", 1.0 / frame->median, p->steps_a_frame, p->of->cpu_fps, p->of->gpu_fps);
    if (p->side->is_cuda) bench_print(p->b, " %7.1f %4lld+%-3lld", 1e-6 * (double)p->held, (long long)p->launches[0], (long long)p->launches[1]);
    bench_print(p->b, "%s ", p->side->is_cuda ? "" : "                 ");
    for (int i = 0; i < PARTS; i++) bench_print(p->b, " %.0f", 100.0 * p->ms[i] / sum);
    bench_print(p->b, "\n");
    json_object_set_new(last, "plant", json_pack("{s:s, s:s, s:f, s:f, s:b, s:o, s:o, s:f, s:f}", "folder", p->of->folder, "source", p->of->source,
                                                 "source_cpu_fps", p->of->cpu_fps, "source_gpu_fps", p->of->gpu_fps, "while_q_is_stepped", p->beside,
                                                 "ms", ms, "shares", shares, "frames_per_s", 1.0 / frame->median, "steps_a_frame", p->steps_a_frame));
    if (p->side->is_cuda)
        json_object_set_new(last, "device", json_pack("{s:I, s:I, s:I}", "bytes", (json_int_t)p->held, "launches_of_a_step",
                                                      (json_int_t)p->launches[0], "launches_of_a_frame", (json_int_t)p->launches[1]));
    return MODAL_OK;
}

/* ---- while the same cores step q ---- */

typedef struct stepper {
    plant_bench *p;
    int stop; /* atomic */
    modal_status status;
    modal_error err;
} stepper;

static modal_status go_on(void *context, const modal_simulation *run, modal_error *err)
{
    stepper *s = context;
    (void)run;
    return __atomic_load_n(&s->stop, __ATOMIC_RELAXED) ? modal_error_set(err, MODAL_ERROR_INTERRUPTED, "stopped") : MODAL_OK;
}

static void *step_on(void *argument)
{
    stepper *s = argument;
    modal_simulation run;
    omp_set_num_threads(s->p->b->n_threads);
    while (s->status == MODAL_OK) s->status = simulate(s->p, &s->p->side->device, 1000, go_on, s, &run, &s->err);
    if (s->status == MODAL_ERROR_INTERRUPTED) s->status = MODAL_OK;
    return NULL;
}

static modal_status measure_beside(plant_bench *p, const bench_time *frame, double error, modal_error *err)
{
    modal_status status = MODAL_OK;
    pthread_t thread;
    stepper s = {.p = p};
    if (pthread_create(&thread, NULL, step_on, &s) != 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "a thread: cannot be made, %s", strerror(errno));
    status = measure_passes(p, err);
    __atomic_store_n(&s.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    if (status != MODAL_OK) return status;
    if (s.status != MODAL_OK) return modal_error_set(err, s.status, "%s", s.err.message);
    p->beside = 1;
    return add_row(p, frame, error, err);
}

/* ---- the part ---- */

static modal_status one_plant(modal_bench *b, bench_side *side, const species *of, const char *path, modal_error *err)
{
    static const char *const changes[] = {"/fps=120", "/step=0.00834"}; /* a step a frame */
    modal_status status = MODAL_OK;
    plant_bench p = {.b = b, .side = side, .of = of, .width = b->quick ? 320 : 1920, .height = b->quick ? 180 : 1080, .shadow_size = b->quick ? 256 : 2048,
                     .launches = {-1, -1}};
    char name[4096];
    bench_time frame;
    double error = INFINITY;
    snprintf(name, sizeof name, "%s/plant.h5", path);
    MODAL_TRY(modal_basis_read(name, MODAL_BASIS_ALL, &p.basis, err));
    snprintf(name, sizeof name, "%s/scene.json", path);
    MODAL_TRY(modal_scene_read_changed(name, 2, changes, &p.scene, err));
    MODAL_TRY(modal_device_select(&side->device, err));
    MODAL_TRY(make_last(&p, err));
    MODAL_TRY(measure_steps(&p, err));
    MODAL_TRY(make_picture(&p, err));
    MODAL_TRY(check(&p, &error, err));
    MODAL_TRY(measure_passes(&p, err));
    MODAL_TRY(measure_together(&p, &frame, err));
    MODAL_TRY(add_row(&p, &frame, error, err));
    if (!side->is_cuda) MODAL_TRY(measure_beside(&p, &frame, error, err));
done:
    modal_deformer_delete(p.deformer);
    modal_render_scene_free(&p.drawn);
    modal_look_free(&p.look);
    modal_trajectory_free(&p.last);
    modal_scene_free(&p.scene);
    modal_basis_free(&p.basis);
    return status;
}

modal_status bench_plants(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[2048], name[4096], what[128];
    if (!b->plants) {
        bench_absent(b, "plants", "no --plants FOLDER");
    } else {
        bench_table(b, "plants", "Plants, ms of a frame by its parts; frames/s of all together; source: frames/s of its CPU and its GPU");
        print_headings(b);
    }
    for (size_t i = 0; b->plants && i < sizeof all / sizeof *all; i++) {
        if (snprintf(path, sizeof path, "%s/%s", b->plants, all[i].folder) >= (int)sizeof path)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--plants: too long, %s", b->plants);
        snprintf(name, sizeof name, "%s/plant.h5", path);
        snprintf(what, sizeof what, "%s (%s)", all[i].name, all[i].source);
        if (access(name, R_OK) != 0) {
            bench_absent(b, what, "not in --plants; tests/bench/grow_plants.py makes it");
            continue;
        }
        if (b->gpu.present) MODAL_TRY(one_plant(b, &b->gpu, &all[i], path, err));
        if (b->cpu_rows) MODAL_TRY(one_plant(b, &b->cpu, &all[i], path, err));
    }
    MODAL_TRY(bench_launches(b, err));
done:
    return status;
}
