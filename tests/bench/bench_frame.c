/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic normals (table 2 of the 2020 paper) and whole frames (product, transform, normals) of a
 * closed mesh of the size of the paper's dragon. */
#include <math.h>
#include <string.h>

#include "kernels/deform/deform.h"
#include "kernels/device.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/world_transform/world_transform.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_interop.h"
#include "tests/bench/matrix_layout.h"
#include "tests/bench/opponents/opponents.h"
#include "tests/bench/torus.h"

enum { MODES = 15 };
static const float POSITION_TOLERANCE = 4e-6f, NORMAL_TOLERANCE = 2e-5f, FRAME_NORMAL_TOLERANCE = 2e-3f;

typedef enum frame_way { OURS, PAPER, LIBRARY } frame_way;

typedef struct frame {
    modal_bench *b;
    bench_side *side;
    const torus *torus;
    matrix_layout layout;
    frame_way way;
    int one_stage;
    int64_t n;
    float *q, *transform, *matrix4, *rest_tiles, *rest4; /* on the side, like the rest */
    float *u, *x, *normals;    /* [n, 3] or [padded, 4] */
    float *face_normals;
    int64_t *offsets, *ring_offsets;
    int32_t *corners, *ring, *of_group; /* no ring for a back end that does not want it */
    int32_t *triangles, *face_starts, *faces;
    paper_mesh mesh;
    void *pinned;
} frame;

/* ---- what is timed ---- */

static modal_status call_normals(void *context, int64_t k, modal_error *err)
{
    const frame *f = context;
    (void)k;
#ifdef MODAL_HAVE_CUDA
    if (f->way == PAPER && f->one_stage)
        return paper_normals_one_stage(&f->mesh, f->x, f->normals, f->side->stream, err);
    if (f->way == PAPER)
        return paper_normals_two_stages(&f->mesh, f->x, f->face_normals, f->normals, f->side->stream,
                                        err);
#endif
    return f->side->device.kernels->normals_dynamic(
        &(modal_normals_dynamic_task){f->n, 1, f->offsets, f->corners, f->x, f->normals, f->ring_offsets,
                                      f->ring},
        f->side->stream, err);
}

static modal_status call_product(void *context, int64_t k, modal_error *err)
{
    const frame *f = context;
    const float *U = bench_set(f->side, f->layout.floats, k);
    modal_status status = MODAL_OK;
    modal_stream *stream = f->side->stream;
    const modal_kernels *kernels = f->side->device.kernels;
    switch (f->way) {
    case OURS:
        return kernels->deform(&(modal_deform_task){f->n, 1, MODES, U, f->rest_tiles, f->q, f->transform,
                                                    f->x, NULL},
                               stream, err);
#ifdef MODAL_HAVE_CUDA
    case PAPER:
        MODAL_TRY(paper_single(&f->layout.paper, f->n, U, f->q, f->u, stream, err));
        return paper_transform((f->n + 3) / 4 * 4, f->of_group, f->matrix4, f->rest4, f->u, f->x, stream,
                               err);
#endif
    default:
        /* no OpenBLAS: its threads and OpenMP's would fight for the processors, 4 ms a frame */
        MODAL_TRY(cublas_sgemv(CUBLAS_COLUMNS, 3 * f->n, MODES, U, f->q, f->u, stream, err));
        return kernels->world_transform(
            &(modal_world_transform_task){f->n, 1, f->rest_tiles, f->u, f->transform, f->x, NULL}, stream,
            err);
    }
done:
    return status;
}

static modal_status call_frame(void *context, int64_t k, modal_error *err)
{
    const modal_status status = call_product(context, k, err);
    return status == MODAL_OK ? call_normals(context, k, err) : status;
}

static modal_status call_transfer(void *context, int64_t k, modal_error *err)
{
    const frame *f = context;
    (void)k;
    return modal_device_copy_in(&f->side->device, f->normals, f->pinned, 12 * f->n, f->side->stream, err);
}

#ifdef MODAL_HAVE_CUDA
/* After a row of whole frames. */
static modal_status into_opengl(frame *f, modal_error *err)
{
    const double n = (double)f->n;
    const interop_frame whole = {f->side, call_frame, f, &f->x, &f->normals, f->n, MODES,
                                 12.0 * n * (MODES + 2) + 4.0 * MODES + 48.0 + 32.0 * n + 24.0 * (double)f->torus->n_triangles};
    return bench_interop(f->b, &whole, err);
}
#endif

/* ---- what is right ---- */

static modal_status compare(frame *f, const float *got, int step, const float *expected,
                            float tolerance, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *host = NULL, *bound = NULL;
    MODAL_TRY(modal_alloc(&host, step * f->n, sizeof *host, "check", err));
    MODAL_TRY(modal_alloc(&bound, 3 * f->n, sizeof *bound, "check", err));
    for (int64_t i = 0; i < 3 * f->n; i++) bound[i] = tolerance;
    MODAL_TRY(bench_from_device(f->side, host, got, 4 * step * f->n, err));
    *error = bench_error(3 * f->n, host, step, expected, bound);
done:
    modal_free(&host);
    modal_free(&bound);
    return status;
}

/* The normals that the reference back end makes of the positions in f->x. */
static modal_status check_normals(frame *f, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int step = f->way == PAPER ? 4 : 3;
    float *x = NULL, *normals = NULL;
    MODAL_TRY(modal_alloc(&x, step * f->n, sizeof *x, "check", err));
    MODAL_TRY(modal_alloc(&normals, 3 * f->n, sizeof *normals, "check", err));
    MODAL_TRY(bench_from_device(f->side, x, f->x, 4 * step * f->n, err));
    for (int64_t v = 0; v < f->n && step == 4; v++)
        for (int i = 0; i < 3; i++) x[3 * v + i] = x[4 * v + i];
    MODAL_TRY(f->b->ref.kernels->normals_dynamic(
        &(modal_normals_dynamic_task){f->n, 1, f->torus->face_offsets, f->torus->corners, x, normals},
        NULL, err));
    MODAL_TRY(compare(f, f->normals, step, normals, NORMAL_TOLERANCE, error, err));
done:
    modal_free(&x);
    modal_free(&normals);
    return status;
}

/* Positions (and normals) of the whole frame with the first set of U. */
static modal_status check_frame(frame *f, int with_normals, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int step = f->way == PAPER ? 4 : 3;
    const int64_t n = f->n, tiles = (n + 31) / 32;
    float *U = NULL, *rest = NULL, *x = NULL, *normals = NULL, q[MODES], transform[12];
    double of_normals = 0.0;
    MODAL_TRY(matrix_tiles(f->side, &f->layout, bench_set(f->side, f->layout.floats, 0), &U, err));
    MODAL_TRY(modal_alloc(&rest, 96 * tiles, sizeof *rest, "check", err));
    MODAL_TRY(modal_alloc(&x, 3 * n, sizeof *x, "check", err));
    MODAL_TRY(modal_alloc(&normals, 3 * n, sizeof *normals, "check", err));
    MODAL_TRY(bench_from_device(f->side, rest, f->rest_tiles, 384 * tiles, err));
    MODAL_TRY(bench_from_device(f->side, q, f->q, sizeof q, err));
    MODAL_TRY(bench_from_device(f->side, transform, f->transform, sizeof transform, err));
    MODAL_TRY(f->b->ref.kernels->deform(
        &(modal_deform_task){n, 1, MODES, U, rest, q, transform, x, NULL}, NULL, err));
    MODAL_TRY(compare(f, f->x, step, x, POSITION_TOLERANCE, error, err));
    if (!with_normals) goto done;
    MODAL_TRY(f->b->ref.kernels->normals_dynamic(
        &(modal_normals_dynamic_task){n, 1, f->torus->face_offsets, f->torus->corners, x, normals}, NULL,
        err));
    MODAL_TRY(compare(f, f->normals, step, normals, FRAME_NORMAL_TOLERANCE, &of_normals, err));
    *error = bench_worse(*error, of_normals);
done:
    modal_free(&U);
    modal_free(&rest);
    modal_free(&x);
    modal_free(&normals);
    return status;
}

/* ---- rows ---- */

static modal_status measure(frame *f, const char *name, frame_way way, int product, int normals,
                            modal_error *err)
{
    static const matrix_kind kinds[] = {MATRIX_TILES, MATRIX_PAPER, MATRIX_COLUMNS};
    modal_status status = MODAL_OK;
    const double n = (double)f->n;
    bench_row row = {.name = name, .ours = way == OURS, .side = f->side, .n_vertices = f->n,
                     .n_columns = 1, .n_objects = 1, .n_modes = product ? MODES : 0};
    bench_call *call = !product ? call_normals : normals ? call_frame : call_product;
    f->way = way;
    f->layout = matrix_layout_of(kinds[way], f->n, MODES, 4);
    if (product) {
        row.bytes += 12.0 * n * (MODES + 2) + 4.0 * MODES + 48.0;
        MODAL_TRY(bench_poison(f->side, f->x, 16 * f->n, err));
    }
    if (normals) /* positions, normals, triangles, the faces of each vertex and their offsets */
        row.bytes += 24.0 * n + 24.0 * (double)f->torus->n_triangles + 8.0 * n;
    row.tolerance = product ? "4e-6 m, normals 2e-3" : "2e-5";
    MODAL_TRY(bench_poison(f->side, f->normals, 16 * f->n, err));
    MODAL_TRY(call(f, 0, err));
    MODAL_TRY(product ? check_frame(f, normals, &row.error, err) : check_normals(f, &row.error, err));
    MODAL_TRY(bench_measure(f->b, f->side, call, f, &row.time, err));
    MODAL_TRY(bench_row_add(f->b, &row, err));
done:
    return status;
}

static void frame_free(frame *f)
{
    float **floats[] = {&f->q, &f->transform, &f->matrix4, &f->rest_tiles, &f->rest4, &f->u, &f->x,
                        &f->normals, &f->face_normals};
    int32_t **tables[] = {&f->corners, &f->ring, &f->of_group, &f->triangles, &f->face_starts, &f->faces};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) bench_free(f->side, floats[i]);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) bench_free(f->side, tables[i]);
    bench_free(f->side, &f->offsets);
    bench_free(f->side, &f->ring_offsets);
    if (f->pinned) modal_device_free_host(&f->side->device, &f->pinned);
}

static modal_status frame_prepare(frame *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const torus *t = f->torus;
    bench_side *side = f->side;
    const int64_t n = f->n = t->n_vertices, m = t->n_triangles, padded = (n + 3) / 4 * 4;
    const int64_t tiles = (n + 31) / 32;
    /* a turn by 0.3 and 0.5 rad, no translation */
    const double a = 0.3, c = 0.5;
    const float transform[16] = {
        (float)(cos(a) * cos(c)), (float)-sin(a), (float)(cos(a) * sin(c)), 0,
        (float)(sin(a) * cos(c)), (float)cos(a), (float)(sin(a) * sin(c)), 0,
        (float)-sin(c), 0, (float)cos(c), 0, 0, 0, 0, 1};
    float q[MODES], *rest = NULL;
    int32_t *of_group = NULL;
    for (int k = 0; k < MODES; k++) q[k] = 1e-5f * bench_noise(51, (uint64_t)k);
    MODAL_TRY(modal_alloc_zero(&rest, 96 * tiles + 4 * padded, sizeof *rest, "rest", err));
    MODAL_TRY(modal_alloc_zero(&of_group, padded / 4, sizeof *of_group, "groups", err));
    float *rest4 = rest + 96 * tiles;
    for (int64_t v = 0; v < n; v++) {
        for (int i = 0; i < 3; i++)
            rest[v / 32 * 96 + 32 * i + v % 32] = rest4[4 * v + i] = t->positions[3 * v + i];
        rest4[4 * v + 3] = 1.0f;
    }
    MODAL_TRY(bench_to_device(side, &f->q, q, sizeof q, "q", err));
    MODAL_TRY(bench_to_device(side, &f->transform, transform, 48, "T", err));
    MODAL_TRY(bench_to_device(side, &f->matrix4, transform, 64, "T", err));
    MODAL_TRY(bench_to_device(side, &f->rest_tiles, rest, 384 * tiles, "rest", err));
    MODAL_TRY(bench_to_device(side, &f->rest4, rest4, 16 * padded, "rest", err));
    MODAL_TRY(bench_to_device(side, &f->of_group, of_group, padded, "groups", err));
    MODAL_TRY(bench_to_device(side, &f->u, NULL, 16 * padded, "u", err));
    MODAL_TRY(bench_to_device(side, &f->x, NULL, 16 * padded, "x", err));
    MODAL_TRY(bench_to_device(side, &f->normals, NULL, 16 * padded, "normals", err));
    MODAL_TRY(bench_to_device(side, &f->face_normals, NULL, 16 * m, "face normals", err));
    MODAL_TRY(bench_to_device(side, &f->offsets, t->face_offsets, 8 * (n + 1), "faces", err));
    MODAL_TRY(bench_to_device(side, &f->corners, t->corners, 24 * m, "corners", err));
    if (side->device.kernels->normals_ring) {
        MODAL_TRY(bench_to_device(side, &f->ring_offsets, t->ring_offsets, 8 * (tiles + 1), "ring", err));
        MODAL_TRY(bench_to_device(side, &f->ring, t->ring, 128 * t->n_rows, "ring", err));
    }
    MODAL_TRY(bench_to_device(side, &f->triangles, t->triangles, 12 * m, "triangles", err));
    MODAL_TRY(bench_to_device(side, &f->face_starts, t->face_starts, 4 * (n + 1), "faces", err));
    MODAL_TRY(bench_to_device(side, &f->faces, t->faces, 12 * m, "faces", err));
    f->mesh = (paper_mesh){n, m, f->triangles, f->face_starts, f->faces};
done:
    modal_free(&rest);
    modal_free(&of_group);
    return status;
}

static modal_status gpu_frame(frame *f, int shuffled, modal_error *err)
{
    modal_status status = MODAL_OK;
    /* whole frames first: they leave positions for the normals */
    MODAL_TRY(measure(f, "deform", OURS, 1, 0, err));
    MODAL_TRY(measure(f, "paper 4.1 + 4.4", PAPER, 1, 0, err));
    if (opponents_have_cublas())
        MODAL_TRY(measure(f, "cublasSgemv + world_transform", LIBRARY, 1, 0, err));
    bench_print(f->b, "whole frame:\n");
    MODAL_TRY(measure(f, "deform + normals_dynamic", OURS, 1, 1, err));
#ifdef MODAL_HAVE_CUDA
    const char *const table = f->b->table;
    if (!shuffled) MODAL_TRY(into_opengl(f, err));
    f->b->table = table;
#endif
    f->one_stage = 0;
    MODAL_TRY(measure(f, "paper 4.1 + 4.4 + 4.2 in two stages", PAPER, 1, 1, err));
    if (opponents_have_cublas())
        MODAL_TRY(measure(f, "cublasSgemv + ours", LIBRARY, 1, 1, err));
    f->b->table = shuffled ? "table 2, random order" : "table 2";
    bench_print(f->b, "normals alone (table 2):\n");
    MODAL_TRY(measure(f, "normals_dynamic", OURS, 0, 1, err));
    f->way = PAPER; /* its positions are four floats a vertex */
    f->layout = matrix_layout_of(MATRIX_PAPER, f->n, MODES, 4);
    MODAL_TRY(call_product(f, 0, err));
    f->one_stage = 1;
    MODAL_TRY(measure(f, "paper 4.2, one stage", PAPER, 0, 1, err));
    f->one_stage = 0;
    MODAL_TRY(measure(f, "paper 4.2, two stages", PAPER, 0, 1, err));
    MODAL_TRY(modal_device_alloc_host(&f->side->device, &f->pinned, 12 * f->n, 1, "normals", err));
    memset(f->pinned, 0, 12 * (size_t)f->n);
    bench_row row = {.name = "the CPU's normals to the GPU (pinned)", .side = f->side, .error = -1.0,
                     .n_vertices = f->n, .n_columns = 1, .n_objects = 1, .bytes = 12.0 * (double)f->n};
    MODAL_TRY(bench_measure(f->b, f->side, call_transfer, f, &row.time, err));
    MODAL_TRY(bench_row_add(f->b, &row, err));
done:
    return status;
}

static modal_status cpu_frame(frame *f, int shuffled, modal_error *err)
{
    modal_status status = MODAL_OK;
    f->b->table = shuffled ? "frame, random order" : "frame";
    f->b->ours = 0.0;
    bench_print(f->b, "CPU:\n");
    MODAL_TRY(measure(f, "deform", OURS, 1, 0, err));
    MODAL_TRY(measure(f, "deform + normals_dynamic", OURS, 1, 1, err));
    f->b->table = shuffled ? "table 2, random order" : "table 2";
    MODAL_TRY(measure(f, "normals_dynamic", OURS, 0, 1, err));
done:
    return status;
}

modal_status bench_frame(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    torus *t = NULL;
    frame f = {0};
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        MODAL_TRY(torus_new(&t, b->quick ? 60 : 675, shuffled, err));
        bench_table(b, shuffled ? "frame, random order" : "frame",
                    shuffled ? "The same with vertices and triangles in random order"
                             : "One frame of a closed mesh of the size of the paper's dragon (paper, ms: Uq "
                               "1.0; normals one stage 10.5, two 6.1; CPU 7.1 + 4.7 transfer)");
        bench_headings(b);
        for (int side = 1; side >= 0; side--) {
            f = (frame){.b = b, .side = side ? &b->gpu : &b->cpu, .torus = t};
            if (!f.side->present) continue;
            MODAL_TRY(frame_prepare(&f, err));
            MODAL_TRY(side ? gpu_frame(&f, shuffled, err) : cpu_frame(&f, shuffled, err));
            frame_free(&f);
        }
        t = torus_delete(t);
    }
    f.side = NULL;
    MODAL_TRY(bench_operations(b, err));
done:
    if (f.side) frame_free(&f);
    t = torus_delete(t);
    return status;
}
