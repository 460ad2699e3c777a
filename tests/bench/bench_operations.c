/* SPDX-License-Identifier: Apache-2.0 */
/* Each of our operations alone, and whole frames in the user's order of vertices, for 1 and 16 frames of
 * the mesh of bench_frame.c; and 64 frames of 1e5 vertices on the CPU, where positions and normals
 * together are to take no longer than the product alone in OpenBLAS. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/deform_normals/deform_normals.h"
#include "kernels/normals_placed/normals_placed.h"
#include "kernels/normals_rigid/normals_rigid.h"
#include "kernels/reorder/reorder.h"
#include "kernels/world_transform/world_transform.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/matrix_layout.h"
#include "tests/bench/opponents/opponents.h"
#include "tests/bench/torus.h"

enum { LOCAL = 64 };
/* Sizes of the mesh, modes and columns; the last ones are the CPU's own, beside OpenBLAS. */
static const struct {
    int64_t width, columns;
    int modes, on_gpu;
} cases[] = {{675, 1, 15, 1}, {675, 16, 15, 1}, {675, 1, 15, 0}, {675, 16, 15, 0}, {316, 64, 32, 0}};

typedef enum operation {
    DEFORM, TRANSFORM, NORMALS, RIGID, REORDER, FRAME, ONE_PASS, SGEMM, USER_FRAME, USER_RANDOM, PLACED, PLACED_RANDOM,
    GATHERED, GATHERED_RANDOM, OPERATIONS
} operation;
static const char *const names[OPERATIONS] = {
    [DEFORM] = "deform",
    [TRANSFORM] = "world_transform",
    [NORMALS] = "normals_dynamic",
    [RIGID] = "normals_rigid",
    [REORDER] = "reorder (local permutation)",
    [FRAME] = "deform + normals_dynamic",
    [ONE_PASS] = "deform_normals, one pass",
    [SGEMM] = "OpenBLAS sgemm, the product alone",
    [USER_FRAME] = "deform + normals, both reordered",
    [USER_RANDOM] = "deform + normals, both reordered, at random",
    [PLACED] = "deform + normals_placed, scattered",
    [PLACED_RANDOM] = "deform + normals_placed, scattered at random",
    [GATHERED] = "deform + normals_placed, gathered",
    [GATHERED_RANDOM] = "deform + normals_placed, gathered at random"};

/* The arrays on one device; results in x, normals and the ordered ones. */
typedef struct arrays {
    const modal_device *device;
    modal_stream *stream;
    const float *U; /* the set in use */
    float *rest, *rest_normals, *q, *poses, *u, *x, *normals, *ordered[2];
    int64_t *offsets, *base, *ring_offsets;
    int32_t *corners, *ring; /* no ring for a back end that does not want it */
    int32_t *source[2], *target[2]; /* a local and a random order of vertices, each way */
    int64_t *place_offsets[2];      /* the rings of these places */
    int32_t *place_ring[2];
} arrays;

typedef struct operations {
    modal_bench *b;
    bench_side *side;
    int64_t n, columns, n_corners, set;
    int modes;
    arrays a;
    operation what;
} operations;

static modal_status run(const operations *o, const arrays *a, operation what, modal_error *err)
{
    const modal_kernels *k = a->device->kernels;
    const int64_t n = o->n, m = o->columns;
    const modal_deform_task deform = {n, m, o->modes, a->U, a->rest, a->q, a->poses, a->x, NULL, m};
    const modal_normals_dynamic_task normals = {n, m, a->offsets, a->corners, a->x, a->normals,
                                                a->ring_offsets, a->ring};
    modal_status status = MODAL_OK;
    if (what == SGEMM) openblas_sgemm(3 * n, o->modes, m, a->U, a->q, a->u);
    if (what == ONE_PASS) MODAL_TRY(k->deform_normals(&(modal_deform_normals_task){&deform, &normals}, a->stream, err));
    const int placed = what >= PLACED, reordered = what == USER_FRAME || what == USER_RANDOM, gathered = what >= GATHERED;
    const int random = what == USER_RANDOM || what == PLACED_RANDOM || what == GATHERED_RANDOM;
    if (what == DEFORM || what == FRAME || reordered || placed)
        MODAL_TRY(k->deform(&deform, a->stream, err));
    if (what == TRANSFORM)
        MODAL_TRY(k->world_transform(
            &(modal_world_transform_task){n, m, a->rest, a->u, a->poses, a->x, NULL}, a->stream, err));
    if (placed) {
        modal_normals_placed_task task = {.surface = normals, .target = a->target[random], .base = a->base,
                                          .positions = a->ordered[0], .normals = a->ordered[1]};
        if (gathered) {
            task.source = a->source[random];
            task.surface.ring_offsets = a->place_offsets[random];
            task.surface.ring = a->place_ring[random];
        }
        MODAL_TRY(k->normals_placed(&task, a->stream, err));
    }
    if (what == NORMALS || what == FRAME || reordered)
        MODAL_TRY(k->normals_dynamic(&normals, a->stream, err));
    if (what == RIGID)
        MODAL_TRY(k->normals_rigid(
            &(modal_normals_rigid_task){n, m, a->rest_normals, a->poses, a->normals}, a->stream, err));
    if (what == REORDER || reordered)
        MODAL_TRY(k->reorder(&(modal_reorder_task){n, m, 3, a->x, a->source[random], a->base, a->ordered[0]}, a->stream,
                             err));
    if (reordered)
        MODAL_TRY(k->reorder(&(modal_reorder_task){n, m, 3, a->normals, a->source[random], a->base, a->ordered[1]},
                             a->stream, err));
done:
    return status;
}

static modal_status call(void *context, int64_t k, modal_error *err)
{
    operations *o = context;
    o->a.U = bench_set(o->side, o->set, k);
    return run(o, &o->a, o->what, err);
}

static double bytes_of(const operations *o, operation what)
{
    const double n = (double)o->n, points = n * (double)o->columns;
    const double product = 12.0 * (o->modes + 1) * n + 12.0 * points;
    const double normals = 8.0 * (double)o->n_corners + 8.0 * n + 24.0 * points;
    const double order = 4.0 * n + 24.0 * points;
    const double placed = product + normals + 4.0 * n + 12.0 * points;
    const double bytes[OPERATIONS] = {[DEFORM] = product,
                                      [TRANSFORM] = 12.0 * n + 24.0 * points,
                                      [NORMALS] = normals,
                                      [RIGID] = 12.0 * n + 12.0 * points,
                                      [REORDER] = order,
                                      [FRAME] = product + normals,
                                      [ONE_PASS] = product + normals,
                                      [SGEMM] = product - 12.0 * n,
                                      [USER_FRAME] = product + normals + 2.0 * order,
                                      [USER_RANDOM] = product + normals + 2.0 * order,
                                      [PLACED] = placed,
                                      [PLACED_RANDOM] = placed,
                                      [GATHERED] = placed,
                                      [GATHERED_RANDOM] = placed};
    return bytes[what];
}

/* The last column of a result against the reference's, by a fixed tolerance. */
static modal_status compare(operations *o, const float *got, const float *expected, double tolerance,
                            double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *host = NULL;
    const int64_t count = 3 * o->n, at = count * (o->columns - 1);
    MODAL_TRY(modal_alloc(&host, count, sizeof *host, "check", err));
    MODAL_TRY(bench_from_device(o->side, host, got + at, 4 * count, err));
    for (int64_t i = 0; i < count; i++) {
        const double share = fabs((double)host[i] - (double)expected[at + i]) / tolerance;
        *error = bench_worse(*error, share);
    }
done:
    modal_free(&host);
    return status;
}

static modal_status measure(operations *o, operation what, arrays *ref, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t floats = 3 * o->n * o->columns;
    const int product = what == DEFORM || what >= FRAME;
    bench_row row = {.name = names[what], .ours = what != SGEMM, .side = o->side, .n_vertices = o->n,
                     .n_columns = o->columns, .n_objects = 1, .n_modes = product ? o->modes : 0,
                     .bytes = bytes_of(o, what), .tolerance = "4e-6 m, normals 2e-3"};
    o->what = what;
    /* the same positions in both, where they are an input */
    MODAL_TRY(bench_refill(o->side, o->a.x, ref->x, 4 * floats, err));
    MODAL_TRY(bench_poison(o->side, o->a.normals, 4 * floats, err));
    for (int i = 0; i < 2; i++) MODAL_TRY(bench_poison(o->side, o->a.ordered[i], 4 * floats, err));
    MODAL_TRY(call(o, 0, err));
    if (what == SGEMM) {
        const matrix_layout layout = matrix_layout_of(MATRIX_COLUMNS, o->n, o->modes, 0);
        row.tolerance = MATRIX_TOLERANCE;
        MODAL_TRY(matrix_check(o->b, o->side, &layout, o->a.U, o->a.q, o->columns, o->a.u, 3,
                               FLT_EPSILON / 2, &row.error, err));
        goto timed;
    }
    MODAL_TRY(bench_from_device(o->side, (void *)(uintptr_t)ref->U, o->a.U, 4 * o->set, err));
    MODAL_TRY(run(o, ref, what, err));
    if (what != RIGID) MODAL_TRY(compare(o, o->a.x, ref->x, 4e-6, &row.error, err));
    if (what == NORMALS || what == RIGID || (what >= FRAME && what < PLACED))
        MODAL_TRY(compare(o, o->a.normals, ref->normals, 2e-3, &row.error, err));
    if (what == REORDER || what >= USER_FRAME)
        MODAL_TRY(compare(o, o->a.ordered[0], ref->ordered[0], 4e-6, &row.error, err));
    if (what >= USER_FRAME) MODAL_TRY(compare(o, o->a.ordered[1], ref->ordered[1], 2e-3, &row.error, err));
timed:
    MODAL_TRY(bench_measure(o->b, o->side, call, o, &row.time, err));
    MODAL_TRY(bench_row_add(o->b, &row, err));
done:
    return status;
}

/* The rings of both orders of places, on the side; `from` has the orders in main memory. */
static modal_status order_rings(operations *o, bench_side *side, arrays *a, const arrays *from, const torus *t,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = o->n, n_tiles = (n + 31) / 32;
    int64_t *offsets = NULL, *rows = NULL;
    int32_t *corners = NULL, *ring = NULL;
    for (int i = 0; i < 2; i++) {
        modal_free(&offsets), modal_free(&rows), modal_free(&corners), modal_free(&ring);
        MODAL_TRY(modal_alloc(&offsets, n + 1, sizeof *offsets, "places", err));
        MODAL_TRY(modal_alloc(&rows, n_tiles + 1, sizeof *rows, "places", err));
        MODAL_TRY(modal_alloc(&corners, 2 * o->n_corners, sizeof *corners, "places", err));
        modal_normals_order_corners(n, from->source[i], t->face_offsets, t->corners, offsets, corners);
        modal_normals_ring_offsets(n, offsets, corners, rows);
        MODAL_TRY(modal_alloc(&ring, 32 * rows[n_tiles], sizeof *ring, "places", err));
        modal_normals_ring(n, offsets, corners, rows, ring);
        MODAL_TRY(bench_to_device(side, &a->place_offsets[i], rows, 8 * (n_tiles + 1), "places", err));
        MODAL_TRY(bench_to_device(side, &a->place_ring[i], ring, 128 * rows[n_tiles], "places", err));
    }
done:
    modal_free(&offsets), modal_free(&rows), modal_free(&corners), modal_free(&ring);
    return status;
}

/* All arrays of one side; `from` (in main memory) is copied, or they are made where it is NULL. */
static modal_status fill(operations *o, bench_side *side, arrays *a, const arrays *from, const torus *t,
                         modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = o->n, m = o->columns, tiles = (n + 31) / 32, out = 12 * n * m;
    const struct {
        void *to;
        const void *of;
        int64_t bytes;
    } list[] = {{&a->rest, from ? from->rest : NULL, 384 * tiles},
                {&a->rest_normals, from ? from->rest_normals : NULL, 12 * n},
                {&a->q, from ? from->q : NULL, 4 * o->modes * m},
                {&a->poses, from ? from->poses : NULL, 48 * m},
                {&a->u, from ? from->u : NULL, out},
                {&a->x, NULL, out},
                {&a->normals, NULL, out},
                {&a->ordered[0], NULL, out},
                {&a->ordered[1], NULL, out},
                {&a->base, from ? from->base : NULL, 8 * m},
                {&a->source[0], from ? from->source[0] : NULL, 4 * n},
                {&a->source[1], from ? from->source[1] : NULL, 4 * n},
                {&a->target[0], from ? from->target[0] : NULL, 4 * n},
                {&a->target[1], from ? from->target[1] : NULL, 4 * n},
                {&a->offsets, t->face_offsets, 8 * (n + 1)},
                {&a->corners, t->corners, 8 * o->n_corners},
                {&a->ring_offsets, t->ring_offsets, side->device.kernels->normals_ring ? 8 * (tiles + 1) : 0},
                {&a->ring, t->ring, side->device.kernels->normals_ring ? 128 * t->n_rows : 0}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].bytes > 0) MODAL_TRY(bench_to_device(side, list[i].to, list[i].of, list[i].bytes, "operations", err));
    a->device = &side->device;
    a->stream = side->stream;
    if (from && side->device.kernels->normals_placed) MODAL_TRY(order_rings(o, side, a, from, t, err));
    if (from) goto done;
    memset(a->rest, 0, 384 * (size_t)tiles);
    for (int64_t v = 0; v < n; v++) {
        for (int i = 0; i < 3; i++) {
            a->rest[v / 32 * 96 + 32 * i + v % 32] = t->positions[3 * v + i];
            a->rest_normals[3 * v + i] = 0.5f * bench_noise(71, (uint64_t)(3 * v + i));
        }
        const int64_t s = v / LOCAL * LOCAL + v % LOCAL * 37 % LOCAL; /* 37 is odd: a permutation */
        a->source[0][v] = (int32_t)(v / LOCAL * LOCAL + LOCAL <= n ? s : v);
        a->source[1][v] = (int32_t)v;
    }
    for (int64_t v = n - 1; v > 0; v--) {
        const int64_t other = (int64_t)(0.5 * ((double)bench_noise(74, (uint64_t)v) + 1) * (double)v);
        const int32_t swap = a->source[1][v];
        a->source[1][v] = a->source[1][other];
        a->source[1][other] = swap;
    }
    for (int i = 0; i < 2; i++)
        for (int64_t v = 0; v < n; v++) a->target[i][a->source[i][v]] = (int32_t)v;
    for (int64_t i = 0; i < o->modes * m; i++) a->q[i] = 1e-5f * bench_noise(72, (uint64_t)i);
    for (int64_t i = 0; i < 3 * n * m; i++) a->u[i] = 1e-5f * bench_noise(73, (uint64_t)i);
    memset(a->poses, 0, 48 * (size_t)m);
    for (int64_t c = 0; c < m; c++) {
        const float angle = 0.1f * (float)c;
        float *f = a->poses + 12 * c;
        f[0] = f[5] = cosf(angle);
        f[4] = sinf(angle);
        f[1] = -f[4];
        f[10] = 1.0f;
        a->base[c] = c * n;
    }
    float *U = NULL;
    MODAL_TRY(bench_to_device(side, &U, NULL, 4 * o->set, "U", err));
    a->U = U;
    MODAL_TRY(bench_from_device(o->side, U, bench_set(o->side, o->set, 0), 4 * o->set, err));
    MODAL_TRY(run(o, a, DEFORM, err));
done:
    return status;
}

static void empty(bench_side *side, arrays *a)
{
    void *list[] = {&a->rest, &a->rest_normals, &a->q, &a->poses, &a->u, &a->x, &a->normals,
                    &a->ordered[0], &a->ordered[1], &a->base, &a->source[0], &a->source[1], &a->target[0],
                    &a->target[1], &a->offsets, &a->corners,
                    &a->ring_offsets, &a->ring, &a->place_offsets[0], &a->place_offsets[1], &a->place_ring[0],
                    &a->place_ring[1]};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) bench_free(side, list[i]);
}

modal_status bench_operations(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    torus *t = NULL;
    arrays ref = {0};
    operations o = {.b = b};
    bench_side host = {.present = 1, .device = b->ref};
    bench_table(b, "operations", "Our operations one by one, and frames in the user's order");
    bench_headings(b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_side *side = cases[i].on_gpu ? &b->gpu : &b->cpu;
        if (!side->present) continue;
        t = torus_delete(t);
        MODAL_TRY(torus_new(&t, b->quick ? 60 : cases[i].width, 0, err));
        o = (operations){.b = b, .side = side, .n = t->n_vertices, .columns = cases[i].columns,
                         .n_corners = 3 * t->n_triangles, .modes = cases[i].modes,
                         .set = (t->n_vertices + 31) / 32 * 96 * cases[i].modes};
        if (o.set > side->pool_floats) continue;
        MODAL_TRY(fill(&o, &host, &ref, NULL, t, err));
        MODAL_TRY(fill(&o, side, &o.a, &ref, t, err));
        for (operation what = 0; what < OPERATIONS; what++)
            if ((what != ONE_PASS || side->device.kernels->deform_normals) &&
                (what < PLACED || side->device.kernels->normals_placed) &&
                (what != SGEMM || (o.columns == 64 && opponents_have_openblas())))
                MODAL_TRY(measure(&o, what, &ref, err));
        empty(side, &o.a);
        empty(&host, &ref);
        float *U = (float *)(uintptr_t)ref.U;
        bench_free(&host, &U);
        ref.U = NULL;
    }
done:;
    float *U = (float *)(uintptr_t)ref.U;
    bench_free(&host, &U);
    empty(&host, &ref);
    if (o.side) empty(o.side, &o.a);
    t = torus_delete(t);
    return status;
}
