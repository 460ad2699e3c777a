/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic normals with creases beside those without, in turn: the median of their ratios in pairs. The mesh is a grid of 675 x 675 vertices, in
 * the order that the tools store them in, folded along every k-th line, so that a vertex in k has two wedges; "all" has each triangle by itself.
 *
 *   crease_bench [--backend cpu|cuda[:N]] [--quick] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/device.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/normals_wedge/normals_wedge.h"
#include "kernels/registry.h"
#include "lib/mesh/order.h"
#include "lib/model/creases.h"
#include "tests/bench/bench_device.h"

enum { PAIRS = 25 };

typedef struct bench {
    modal_device device;
    modal_stream *stream;
    int64_t n, n_triangles;
    int32_t *triangles; /* in stored order */
    double *places;
} bench;

static void make_grid(bench *b, int64_t width, int64_t fold)
{
    modal_error err = {0};
    const int64_t n = width * width, m = 2 * (width - 1) * (width - 1);
    int32_t *plain = host_array(3 * m, 4), *user_vertex = host_array(n, 4), *stored = host_array(n, 4), *user_triangle = host_array(m, 4);
    double *places = host_array(3 * n, 8);
    int64_t count = 0;
    b->n = n, b->n_triangles = m;
    b->triangles = host_array(3 * m, 4);
    b->places = host_array(3 * n, 8);
    for (int64_t v = 0; v < n; v++) {
        const int64_t column = v % width, phase = fold > 0 ? column % (2 * fold) : 0;
        places[3 * v] = (double)column, places[3 * v + 1] = (double)(v / width);
        places[3 * v + 2] = fold > 0 ? (double)(phase < fold ? phase : 2 * fold - phase) : 0;
        if (column == width - 1 || v / width == width - 1) continue;
        const int64_t cell[6] = {v, v + 1, v + width, v + 1 + width, v + width, v + 1};
        for (int i = 0; i < 6; i++) plain[count++] = (int32_t)cell[i];
    }
    need(modal_order_vertices(n, places, m, plain, user_vertex, &err), &err);
    need(modal_order_triangles(n, user_vertex, m, plain, user_triangle, &err), &err);
    for (int64_t v = 0; v < n; v++) {
        stored[user_vertex[v]] = (int32_t)v;
        memcpy(b->places + 3 * v, places + 3 * (int64_t)user_vertex[v], 24);
    }
    for (int64_t k = 0; k < 3 * m; k++) b->triangles[k] = stored[plain[3 * (int64_t)user_triangle[k / 3] + k % 3]];
    free(plain), free(user_vertex), free(stored), free(user_triangle), free(places);
}

/* The tables of a surface's wedges on the device, of which `all` is to be freed there. */
static modal_normals_wedge_task tables(bench *b, const modal_creases *c, void *all[5])
{
    modal_error err = {0};
    const int64_t n = c->n_wedges, n_tiles = (n + 31) / 32, n_corners = c->face_offsets[n];
    int32_t *corners = host_array(2 * n_corners, 4), *ring;
    int64_t *ring_offsets = host_array(n_tiles + 1, 8);
    need(modal_normals_corners(n, c->n_triangles, c->corners, c->face_offsets, c->faces, corners, &err), &err);
    modal_normals_ring_offsets(n, c->face_offsets, corners, ring_offsets);
    ring = host_array(32 * ring_offsets[n_tiles], 4);
    modal_normals_ring(n, c->face_offsets, corners, ring_offsets, ring);
    modal_normals_wedge_vertices(c->n_vertices, c->source, 2 * n_corners, corners);
    modal_normals_wedge_vertices(c->n_vertices, c->source, 32 * ring_offsets[n_tiles], ring);
    all[0] = device_array(&b->device, b->stream, c->source, 4 * (n - c->n_vertices));
    all[1] = device_array(&b->device, b->stream, c->face_offsets, 8 * (n + 1));
    all[2] = device_array(&b->device, b->stream, corners, 8 * n_corners);
    all[3] = device_array(&b->device, b->stream, ring_offsets, 8 * (n_tiles + 1));
    all[4] = device_array(&b->device, b->stream, ring, 128 * ring_offsets[n_tiles]);
    free(corners), free(ring), free(ring_offsets);
    return (modal_normals_wedge_task){.n_vertices = c->n_vertices, .n_wedges = n, .source = all[0], .corner_offsets = all[1],
                                      .corners = all[2], .ring_offsets = all[3], .ring = all[4]};
}

static double time_once(bench *b, const modal_normals_wedge_task *wedge, const modal_normals_dynamic_task *plain)
{
    modal_error err = {0};
    const int repeats = b->device.shares_memory ? 1 : 200;
    struct timespec start, stop;
    need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int k = 0; k < repeats; k++)
        need(wedge ? b->device.kernels->normals_wedge(wedge, b->stream, &err) : b->device.kernels->normals_dynamic(plain, b->stream, &err), &err);
    need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    clock_gettime(CLOCK_MONOTONIC, &stop);
    return ((double)(stop.tv_sec - start.tv_sec) + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec)) / repeats;
}

static void measure(bench *b, int64_t width, int64_t columns, int64_t fold)
{
    modal_error err = {0};
    modal_creases none, some;
    void *all[2][5];
    make_grid(b, width, fold > 0 ? fold : 0);
    need(modal_creases_make(&none, b->n, b->n_triangles, b->triangles, b->places, 180, &err), &err);
    if (fold < 0) /* each triangle by itself: no two are in a plane */
        for (int64_t v = 0; v < b->n; v++) b->places[3 * v + 2] = (double)(v * 2654435761u % 1000) / 100;
    need(modal_creases_make(&some, b->n, b->n_triangles, b->triangles, b->places, fold < 0 ? 0 : 40, &err), &err);
    float *x = host_array(3 * columns * b->n, 4);
    for (int64_t i = 0; i < 3 * columns * b->n; i++) x[i] = (float)b->places[i % (3 * b->n)];
    float *positions = device_array(&b->device, b->stream, x, 12 * columns * b->n);
    float *normals = device_array(&b->device, b->stream, NULL, 12 * columns * some.n_wedges);
    modal_normals_wedge_task without = tables(b, &none, all[0]), with = tables(b, &some, all[1]);
    without.n_columns = with.n_columns = columns;
    with.positions = positions, with.normals = normals;
    const modal_normals_dynamic_task plain = {b->n, columns, without.corner_offsets, without.corners, positions, normals,
                                              without.ring_offsets, without.ring};
    double best[2] = {INFINITY, INFINITY}, ratios[PAIRS];
    for (int pair = -1; pair < PAIRS; pair++) {
        double seconds[2];
        for (int k = 0; k < 2; k++) {
            const int creased = (k + pair) & 1;
            seconds[creased] = time_once(b, creased ? &with : NULL, &plain);
        }
        if (pair < 0) continue;
        for (int k = 0; k < 2; k++) best[k] = fmin(best[k], seconds[k]);
        ratios[pair] = seconds[1] / seconds[0];
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    printf("%8lld %4lld %10lld %8.3f %10.2f %10.2f %8.3f\n", (long long)b->n, (long long)columns, (long long)some.n_wedges,
           (double)some.n_wedges / (double)b->n, 1e6 * best[0], 1e6 * best[1], ratios[PAIRS / 2]);
    fflush(stdout);
    void *more[2] = {positions, normals};
    for (int i = 0; i < 2; i++) {
        modal_device_free(&b->device, &more[i]);
        for (int k = 0; k < 5; k++) modal_device_free(&b->device, &all[i][k]);
    }
    modal_creases_free(&none);
    modal_creases_free(&some);
    free(x), free(b->triangles), free(b->places);
}

int main(int argc, char **argv)
{
    static const int64_t folds[] = {100, 16, 4, 1, -1};
    bench b = {0};
    const int quick = bench_device_open(argc, argv, &b.device, &b.stream);
    printf("%s: %s\n%8s %4s %10s %8s %10s %10s %8s\n", b.device.name, b.device.hardware, "vertices", "cols", "wedges", "share", "us without",
           "us with", "ratio");
    for (int64_t columns = 1; columns <= (quick ? 1 : 16); columns *= 16)
        for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) measure(&b, quick ? 60 : 675, columns, folds[i]);
    modal_device_stream_delete(&b.device, &b.stream);
    return 0;
}
