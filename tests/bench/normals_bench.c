/* SPDX-License-Identifier: Apache-2.0 */
/* Times normals and tangents in all their ways on one back end, and whole frames with them: the
 * reason to prefer one way over another. The mesh is a grid of 675 x 675 vertices (the size of the
 * 2020 paper's dragon), its vertices in the order that the tools store them in. The fastest of
 * several runs, wall clock around enough calls in a row. GB/s counts every input read once and every
 * output written once. Whole frames take another copy of the modal matrix every time. The last rows are
 * frames in the user's order without and with the check that every float is finite (kernels/reorder),
 * run in turn: the fastest of each, and the median of their ratios in pairs.
 *
 *   normals_bench [--backend cpu|cuda[:N]] [--quick] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/deform_normals/deform_normals.h"
#include "kernels/device.h"
#include "kernels/normals_rigid/normals_rigid.h"
#include "kernels/normals_two_stage/normals_two_stage.h"
#include "kernels/registry.h"
#include "kernels/reorder/reorder.h"
#include "kernels/tangents_dynamic/tangents_dynamic.h"
#include "kernels/tangents_rigid/tangents_rigid.h"
#include "lib/mesh/order.h"
#include "tests/bench/bench_device.h"

enum { RUNS = 9, PAIRS = 25, SETS = 4, MODES = 15 };

typedef struct bench {
    modal_device device;
    modal_stream *stream;
    int64_t n, n_triangles, n_columns, n_corners, n_ring;
    const float *modal_matrix;
    modal_deform_task deform;
    modal_normals_dynamic_task corners, ring;
    modal_normals_two_stage_task two_stage;
    modal_normals_rigid_task rigid;
    modal_tangents_rigid_task tangents_rigid;
    modal_tangents_dynamic_task tangents;
    modal_reorder_task reorder; /* of positions, then of normals */
    float *ordered[2];
    int32_t *nonfinite; /* in pinned main memory */
} bench;

/* A copy on the device; frees the one given. NULL: uninitialised. */
static void *upload(bench *b, void *host, int64_t bytes)
{
    void *memory = device_array(&b->device, b->stream, host, bytes);
    free(host);
    return memory;
}

static float *upload_noise(bench *b, int64_t count)
{
    float *noise = host_array(count, sizeof *noise);
    uint32_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        noise[i] = (float)(state >> 8) * 0x1p-30f;
    }
    return upload(b, noise, count * 4);
}

static void mesh_tables(bench *b, int64_t width)
{
    modal_error err = {0};
    const int64_t n = b->n, m = b->n_triangles, n_tiles = (n + 31) / 32;
    double *places = host_array(3 * n, sizeof *places), *uv = host_array(2 * n, sizeof *uv);
    int32_t *plain = host_array(3 * m, 4), *user_vertex = host_array(n, 4), *stored = host_array(n, 4);
    int32_t *user_triangle = host_array(m, 4), *triangles = host_array(3 * m, 4), *faces = host_array(3 * m, 4);
    int32_t *corners = host_array(6 * m, 4), *corner_faces = host_array(3 * m, 4);
    int64_t *offsets = host_array(n + 2, 8), *ring_offsets = host_array(n_tiles + 1, 8), count = 0;
    float *rest = host_array(n_tiles * 96, 4), *weights = host_array(12 * m, 4);
    for (int64_t v = 0; v < n; v++) {
        places[3 * v] = (double)(v % width), places[3 * v + 1] = (double)(v / width);
        if (v % width == width - 1 || v / width == width - 1) continue;
        const int64_t cell[6] = {v, v + 1, v + width, v + 1 + width, v + width, v + 1};
        for (int i = 0; i < 6; i++) plain[count++] = (int32_t)cell[i];
    }
    need(modal_order_vertices(n, places, m, plain, user_vertex, &err), &err);
    need(modal_order_triangles(n, user_vertex, m, plain, user_triangle, &err), &err);
    for (int64_t v = 0; v < n; v++) {
        stored[user_vertex[v]] = (int32_t)v;
        for (int i = 0; i < 3; i++)
            rest[v / 32 * 96 + 32 * i + v % 32] = (float)places[3 * (int64_t)user_vertex[v] + i];
        for (int i = 0; i < 2; i++) uv[2 * v + i] = 0.01 * places[3 * (int64_t)user_vertex[v] + i];
    }
    for (int64_t k = 0; k < 3 * m; k++) {
        triangles[k] = stored[plain[3 * (int64_t)user_triangle[k / 3] + k % 3]];
        offsets[triangles[k] + 2]++;
    }
    for (int64_t v = 0; v < n; v++) offsets[v + 2] += offsets[v + 1];
    for (int64_t k = 0; k < 3 * m; k++) faces[offsets[triangles[k] + 1]++] = (int32_t)(k / 3);
    need(modal_normals_corner_faces(n, m, triangles, offsets, faces, corners, corner_faces, &err),
         &err);
    need(modal_tangents_weights(&(modal_tangents_surface){n, m, n, triangles, triangles, uv, offsets, corner_faces}, weights, &err),
         &err);
    modal_normals_ring_offsets(n, offsets, corners, ring_offsets);
    b->n_ring = 32 * ring_offsets[n_tiles];
    int32_t *ring = host_array(b->n_ring, 4);
    modal_normals_ring(n, offsets, corners, ring_offsets, ring);
    b->deform.rest_tiles = upload(b, rest, n_tiles * 384);
    b->two_stage.triangles = upload(b, triangles, 12 * m);
    b->two_stage.faces = upload(b, faces, 12 * m);
    b->corners.corners = b->tangents.corners = upload(b, corners, 24 * m);
    b->corners.corner_offsets = b->tangents.corner_offsets = b->two_stage.face_offsets =
        upload(b, offsets, 8 * (n + 1));
    b->tangents.weights = upload(b, weights, 48 * m);
    b->ring = b->corners;
    b->ring.ring = upload(b, ring, 4 * b->n_ring);
    b->ring.ring_offsets = upload(b, ring_offsets, 8 * (n_tiles + 1));
    b->reorder.source = upload(b, stored, 4 * n);
    void *all[] = {places, uv, plain, user_vertex, user_triangle, corner_faces};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

enum { DEFORM = 1, CORNERS = 2, RING = 4, TWO_STAGE = 8, RIGID = 16, T_RIGID = 32, TANGENTS = 64,
       REORDER = 128, CHECKED = 256, ONE_PASS = 512 };

static void call(bench *b, int what, int64_t k)
{
    modal_error err = {0};
    const modal_kernels *kernels = b->device.kernels;
    b->deform.modal_matrix = b->modal_matrix + k % SETS * ((b->n + 31) / 32 * 96 * MODES);
    if (what & DEFORM) need(kernels->deform(&b->deform, b->stream, &err), &err);
    if (what & CORNERS) need(kernels->normals_dynamic(&b->corners, b->stream, &err), &err);
    if (what & RING) need(kernels->normals_dynamic(&b->ring, b->stream, &err), &err);
    if (what & TWO_STAGE) need(kernels->normals_two_stage(&b->two_stage, b->stream, &err), &err);
    if (what & RIGID) need(kernels->normals_rigid(&b->rigid, b->stream, &err), &err);
    if (what & T_RIGID) need(kernels->tangents_rigid(&b->tangents_rigid, b->stream, &err), &err);
    if (what & TANGENTS) need(kernels->tangents_dynamic(&b->tangents, b->stream, &err), &err);
    if (what & ONE_PASS) need(kernels->deform_normals(&(modal_deform_normals_task){&b->deform, &b->corners}, b->stream, &err), &err);
    for (int i = 0; what & REORDER && i < 2; i++) {
        modal_reorder_task task = b->reorder;
        task.in = i ? b->corners.normals : b->corners.positions;
        task.out = b->ordered[i];
        task.nonfinite = what & CHECKED ? b->nonfinite : NULL;
        need(kernels->reorder(&task, b->stream, &err), &err);
    }
}

/* Of one call, out of enough in a row. */
static double time_once(bench *b, int what)
{
    modal_error err = {0};
    const int repeats = b->device.shares_memory ? 1 : 200;
    struct timespec start, stop;
    need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int k = 0; k < repeats; k++) call(b, what, k);
    need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    clock_gettime(CLOCK_MONOTONIC, &stop);
    return ((double)(stop.tv_sec - start.tv_sec) + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec)) / repeats;
}

static double seconds_of(bench *b, int what)
{
    double best = INFINITY;
    for (int run = 0; run < RUNS; run++) best = fmin(best, time_once(b, what));
    return best;
}

/* An operation without and with the check, in turn. */
static void compare(bench *b, const char *name, int what)
{
    double best[2] = {INFINITY, INFINITY}, ratios[PAIRS];
    for (int pair = -1; pair < PAIRS; pair++) {
        double seconds[2];
        for (int k = 0; k < 2; k++) {
            const int checked = (k + pair) & 1;
            seconds[checked] = time_once(b, checked ? what | CHECKED : what);
        }
        if (pair < 0) continue;
        for (int k = 0; k < 2; k++) best[k] = fmin(best[k], seconds[k]);
        ratios[pair] = seconds[1] / seconds[0];
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    printf("%-32s %9lld %5lld %11.2f checked %11.2f, in pairs %.4f\n", name, (long long)b->n,
           (long long)b->n_columns, 1e6 * best[0], 1e6 * best[1], ratios[PAIRS / 2]);
    fflush(stdout);
}

static void measure(bench *b, int64_t width, int64_t columns)
{
    modal_error err = {0};
    const int64_t n = width * width, m = 2 * (width - 1) * (width - 1);
    b->n = n, b->n_triangles = m, b->n_columns = columns;
    mesh_tables(b, width);
    float *positions = upload(b, NULL, columns * n * 12), *normals = upload(b, NULL, columns * n * 12);
    float *tangents = upload(b, NULL, columns * n * 16), *faces = upload(b, NULL, columns * m * 12);
    float *poses = upload_noise(b, columns * 12), *rest = upload_noise(b, n * 4);
    b->modal_matrix = upload_noise(b, SETS * ((n + 31) / 32 * 96 * MODES));
    b->deform.q = upload_noise(b, columns * MODES);
    b->deform.n_modes = MODES;
    b->deform.poses = b->rigid.poses = b->tangents_rigid.poses = poses;
    b->rigid.rest_normals = b->tangents_rigid.rest_tangents = rest;
    b->deform.n_vertices = b->corners.n_vertices = b->ring.n_vertices = b->two_stage.n_vertices = n;
    b->rigid.n_vertices = b->tangents_rigid.n_vertices = b->tangents.n_vertices = n;
    b->deform.n_columns = b->corners.n_columns = b->ring.n_columns = columns;
    b->two_stage.n_columns = b->rigid.n_columns = b->tangents.n_columns = columns;
    b->tangents_rigid.n_columns = columns;
    b->two_stage.n_triangles = m;
    b->deform.positions = positions;
    b->corners.positions = b->ring.positions = b->two_stage.positions = positions;
    b->tangents.positions = positions;
    b->corners.normals = b->ring.normals = b->two_stage.normals = b->rigid.normals = normals;
    b->tangents.normals = normals;
    b->two_stage.face_normals = faces;
    b->tangents.tangents = b->tangents_rigid.tangents = tangents;
    const double v = (double)n, t = (double)m, points = v * (double)columns;
    const double ring = 4.0 * (double)b->n_ring + v / 4.0, deform = 12.0 * v * (MODES + 1) + 12.0 * points;
    const struct {
        const char *name;
        int what;
        double bytes;
    } rows[] = {
        {"deform", DEFORM, deform},
        {"normals, one stage, corners", CORNERS, 24.0 * t + 8.0 * v + 24.0 * points},
        {"normals, one stage, ring", RING, ring + 24.0 * points},
        {"normals, two stages", TWO_STAGE,
         24.0 * t + 8.0 * v + 24.0 * points + 24.0 * t * (double)columns},
        {"normals, rigid", RIGID, 12.0 * v + 12.0 * points},
        {"tangents, rigid", T_RIGID, 16.0 * v + 16.0 * points},
        {"tangents, dynamic", TANGENTS, 72.0 * t + 8.0 * v + 40.0 * points},
        {"frame: deform, corners", DEFORM | CORNERS, deform + 24.0 * t + 8.0 * v + 24.0 * points},
        {"frame: deform, ring", DEFORM | RING, deform + ring + 24.0 * points},
        {"frame: deform, two stages", DEFORM | TWO_STAGE,
         deform + 24.0 * t + 8.0 * v + 24.0 * points + 24.0 * t * (double)columns},
        {"frame: deform, ring, tangents", DEFORM | RING | TANGENTS,
         deform + ring + 72.0 * t + 8.0 * v + 64.0 * points}};
    call(b, DEFORM | RIGID | TANGENTS, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double seconds = seconds_of(b, rows[i].what);
        printf("%-32s %9lld %5lld %11.2f %9.1f\n", rows[i].name, (long long)n, (long long)columns,
               1e6 * seconds, 1e-9 * rows[i].bytes / seconds);
        fflush(stdout);
    }
    int64_t *base = host_array(columns, sizeof *base);
    for (int64_t c = 0; c < columns; c++) base[c] = c * n;
    b->reorder.base = upload(b, base, columns * 8);
    b->reorder.n_vertices = n, b->reorder.n_columns = columns, b->reorder.width = 3;
    for (int i = 0; i < 2; i++) b->ordered[i] = upload(b, NULL, columns * n * 12);
    need(modal_device_alloc_host(&b->device, &b->nonfinite, 1, sizeof *b->nonfinite, "flag", &err), &err);
    *b->nonfinite = 0;
    const int normals_way = b->device.kernels->normals_ring ? RING : CORNERS;
    const int32_t *source = b->reorder.source;
    call(b, DEFORM | normals_way, 0);
    compare(b, "reorder twice", REORDER);
    compare(b, "frame, reordered", DEFORM | normals_way | REORDER);
    if (b->device.kernels->deform_normals) compare(b, "frame in one pass, reordered", ONE_PASS | REORDER);
    b->reorder.source = NULL;
    compare(b, "copy twice", REORDER);
    compare(b, "deform, copied twice", DEFORM | REORDER);
    b->reorder.source = source;
    if (*b->nonfinite) need(modal_error_set(&err, MODAL_ERROR_SYSTEM, "values are not finite"), &err);
    modal_device_free_host(&b->device, &b->nonfinite);
    const void *all[] = {b->ordered[0], b->ordered[1], b->reorder.base, b->reorder.source, positions, normals, tangents, faces, poses, rest,
                         b->modal_matrix, b->deform.q, b->deform.rest_tiles, b->two_stage.triangles,
                         b->two_stage.faces, b->corners.corners, b->corners.corner_offsets,
                         b->tangents.weights, b->ring.ring, b->ring.ring_offsets};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *memory = (void *)(uintptr_t)all[i];
        modal_device_free(&b->device, &memory);
    }
}

int main(int argc, char **argv)
{
    bench b = {0};
    const int quick = bench_device_open(argc, argv, &b.device, &b.stream);
    printf("%s: %s\n%-32s %9s %5s %11s %9s\n", b.device.name, b.device.hardware, "operation",
           "vertices", "cols", "us", "GB/s");
    measure(&b, quick ? 100 : 675, 1);
    measure(&b, quick ? 100 : 675, 16);
    modal_device_stream_delete(&b.device, &b.stream);
    return 0;
}
