/* SPDX-License-Identifier: Apache-2.0 */
/* Building the tree: the builder on the CPU (tree and nearest triangles), and the operation octree_build (tree, and the records of look-ups) on the
 * GPU or, where the lattice is small, of the reference. What the operation makes is compared with the builder's and its tables, byte by byte. */
#include <math.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/octree_build/octree_build.h"
#include "lib/base/memory.h"
#include "lib/octree/build.h"
#include "lib/octree/nearest.h"
#include "tests/bench/bench.h"
#include "tests/bench/octree_scene.h"

enum { ARRAYS = 13, PART = 1 << 26 }; /* PART: bytes compared at once */

/* ---- the builder ---- */

typedef struct build_case {
    const modal_octree_request *request;
    modal_octree octree; /* of the latest call */
} build_case;

static modal_status call_builder(void *context, int64_t k, modal_error *err)
{
    build_case *c = context;
    int64_t n_flat;
    (void)k;
    modal_octree_free(&c->octree);
    return modal_octree_build(c->request, &c->octree, &n_flat, err);
}

static modal_status add_row(modal_bench *b, bench_row *row, const modal_octree *o, const char *what, modal_error *err)
{
    modal_status status = MODAL_OK;
    row->hidden = 1;
    row->n_columns = 1;
    row->n_objects = o->n_samples;
    MODAL_TRY(bench_row_add(b, row, err));
    bench_print(b, "%-4s %s%-44s %11.2f ms %9.4g M samples/s %7.1f B a sample of %s\n", row->side->is_cuda ? "gpu" : "cpu", row->ours ? "* " : "  ",
                row->name, 1e3 * row->time.median, 1e-6 * (double)o->n_samples / row->time.median, row->held_bytes / (double)o->n_samples, what);
done:
    return status;
}

static modal_status measure_builder(modal_bench *b, const modal_octree_request *request, const octree_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    build_case c = {.request = request};
    const modal_octree *o = &scene->octree;
    bench_row row = {.ours = 1, .n_vertices = request->n_vertices, .held_bytes = 32.0 * (double)o->n_nodes + 4.0 * (double)o->n_samples,
                     .tolerance = "keys, cells and nearest triangles the same for any threads"};
    for (int threads = 1; threads <= b->n_threads; threads += b->n_threads > 1 ? b->n_threads - 1 : 1) {
        bench_side side = b->cpu;
        char words[80];
        side.device.n_threads = threads;
        row.side = &side;
        snprintf(words, sizeof words, "modal_octree_build, %d thread%s", threads, threads == 1 ? "" : "s");
        row.name = words;
        MODAL_TRY(bench_measure(b, &side, call_builder, &c, &row.time, err));
        const int same = c.octree.n_samples == o->n_samples && c.octree.n_nodes == o->n_nodes &&
                         memcmp(c.octree.keys, o->keys, 8 * (size_t)o->n_samples) == 0 &&
                         memcmp(c.octree.cells, o->cells, 32 * (size_t)o->n_nodes) == 0 &&
                         memcmp(c.octree.triangles, o->triangles, 4 * (size_t)o->n_samples) == 0;
        row.error = same ? 0.0 : INFINITY;
        MODAL_TRY(add_row(b, &row, o, "tree and values in a file", err));
    }
done:
    modal_octree_free(&c.octree);
    return status;
}

/* On a machine with a GPU: the one call that has made the scene's tree. */
static modal_status note_builder(modal_bench *b, const bench_octree_surface *surface, const octree_scene *scene, modal_error *err)
{
    const modal_octree *o = &scene->octree;
    char words[80];
    snprintf(words, sizeof words, "modal_octree_build, %d threads, once", b->cpu.device.n_threads);
    bench_row row = {.name = words, .side = &b->cpu, .n_vertices = surface->request->n_vertices, .error = -1,
                     .held_bytes = 32.0 * (double)o->n_nodes + 4.0 * (double)o->n_samples,
                     .time = {surface->seconds, surface->seconds, surface->seconds, 1, 1, 0}};
    return add_row(b, &row, o, "tree and values in a file", err);
}

/* ---- the operation ---- */

typedef struct operation_case {
    bench_side *side;
    modal_octree_build_task task;
    void *device[ARRAYS];
    int n_device;
} operation_case;

static modal_status call_operation(void *context, int64_t k, modal_error *err)
{
    const operation_case *c = context;
    (void)k;
    return c->side->device.kernels->octree_build(&c->task, c->side->stream, err);
}

static modal_status put(operation_case *c, void *pointer, const void *host, int64_t bytes, modal_error *err)
{
    const modal_status status = bench_to_device(c->side, pointer, host, bytes, "octree_build", err);
    if (status == MODAL_OK) memcpy(&c->device[c->n_device++], pointer, sizeof(void *));
    return status;
}

/* Room for what the scene has; samples have more masks than cells. */
static modal_status make_task(operation_case *c, const modal_octree_request *request, const octree_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = &scene->octree;
    const modal_octree_tables *tables = &scene->tables;
    const int bits = modal_octree_bits(o);
    const modal_octree_frame frame = {request->positions, {o->origin[0], o->origin[1], o->origin[2]}, ldexp(1.0, bits) / o->size};
    double *corners = NULL;
    modal_octree_build_task *t = &c->task;
    *t = (modal_octree_build_task){.bits = bits, .side_bits = modal_octree_side_bits(o), .n_levels = tables->grid.n_levels,
                                   .n_triangles = request->n_triangles, .margin = modal_octree_margin(o), .most_masks = 3 * tables->n_masks + 64,
                                   .most_cells = tables->n_records, .most_samples = o->n_samples, .most_nodes = o->n_nodes, .width = 1};
    MODAL_TRY(modal_alloc(&corners, 9 * t->n_triangles, sizeof *corners, "corners", err));
    for (int64_t i = 0; i < t->n_triangles; i++) modal_octree_corners(&frame, request->triangles + 3 * i, corners + 9 * i);
    MODAL_TRY(put(c, &t->corners, corners, 72 * t->n_triangles, err));
    MODAL_TRY(put(c, &t->values, o->values, 4 * o->n_samples, err));
    MODAL_TRY(put(c, &t->counts, NULL, (int64_t)sizeof *t->counts, err));
    MODAL_TRY(put(c, &t->top, NULL, 4 * tables->n_top, err));
    MODAL_TRY(put(c, &t->masks, NULL, (int64_t)sizeof *t->masks * t->most_masks, err));
    MODAL_TRY(put(c, &t->cell_keys, NULL, 8 * t->most_cells, err));
    MODAL_TRY(put(c, &t->keys, NULL, 8 * t->most_samples, err));
    MODAL_TRY(put(c, &t->begins, NULL, (t->most_samples + 3) / 4 * 4, err));
    MODAL_TRY(put(c, &t->node_offsets, NULL, 8 * (o->depth + 1), err));
    MODAL_TRY(put(c, &t->cells, NULL, (4 * t->most_nodes) << 3 * t->side_bits, err));
    MODAL_TRY(put(c, &t->records, NULL, 32 * t->most_cells, err));
    MODAL_TRY(put(c, &t->scratch, NULL, (modal_octree_build_scratch(t) + 3) / 4 * 4, err));
done:
    modal_free(&corners);
    return status;
}

/* *same becomes 0 where device memory has other bytes. */
static modal_status compare(operation_case *c, const void *got, const void *expected, int64_t bytes, int *same, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *part = NULL;
    MODAL_TRY(modal_alloc(&part, PART, 1, "check", err));
    for (int64_t at = 0; at < bytes; at += PART) {
        const int64_t n = bytes - at < PART ? bytes - at : PART;
        MODAL_TRY(bench_from_device(c->side, part, (const char *)got + at, n, err));
        if (memcmp(part, (const char *)expected + at, (size_t)n) != 0) *same = 0;
    }
done:
    modal_free(&part);
    return status;
}

static modal_status compare_all(operation_case *c, const octree_scene *scene, int64_t n_flat, int *same, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = &scene->octree;
    const modal_octree_tables *tables = &scene->tables;
    const modal_octree_build_task *t = &c->task;
    modal_octree_build_counts n;
    int64_t *cells = NULL;
    MODAL_TRY(bench_from_device(c->side, &n, t->counts, sizeof n, err));
    *same = n.flat == n_flat && n.cells == tables->n_records && n.samples == o->n_samples && n.nodes == o->n_nodes && n.masks == tables->n_masks &&
            n.sample_masks <= t->most_masks;
    MODAL_TRY(modal_octree_list_cells(o, &cells, err));
    MODAL_TRY(compare(c, t->cell_keys, cells, 8 * tables->n_records, same, err));
    MODAL_TRY(compare(c, t->keys, o->keys, 8 * o->n_samples, same, err));
    MODAL_TRY(compare(c, t->node_offsets, o->node_offsets, 8 * (o->depth + 1), same, err));
    MODAL_TRY(compare(c, t->cells, o->cells, (4 * o->n_nodes) << 3 * t->side_bits, same, err));
    MODAL_TRY(compare(c, t->top, tables->top, 4 * tables->n_top, same, err));
    MODAL_TRY(compare(c, t->masks, tables->masks, (int64_t)sizeof *t->masks * tables->n_masks, same, err));
    MODAL_TRY(compare(c, t->records, tables->records, 32 * tables->n_records, same, err));
done:
    modal_free(&cells);
    return status;
}

static modal_status measure_operation(modal_bench *b, bench_side *side, const bench_octree_surface *surface, const octree_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    operation_case c = {.side = side};
    const modal_octree *o = &scene->octree;
    int same = 0;
    bench_row row = {.name = side->is_cuda ? "octree_build" : "octree_build, reference, 1 thread", .ours = side->is_cuda, .side = side,
                     .n_vertices = surface->request->n_vertices, .tolerance = "tree, masks and records the same bytes as the builder's"};
    MODAL_TRY(modal_device_select(&side->device, err));
    MODAL_TRY(make_task(&c, surface->request, scene, err));
    MODAL_TRY(bench_measure(b, side, call_operation, &c, &row.time, err));
    MODAL_TRY(compare_all(&c, scene, surface->n_flat, &same, err));
    row.error = same ? 0.0 : INFINITY;
    row.held_bytes = 32.0 * (double)o->n_nodes + (double)modal_octree_tables_bytes(&scene->tables);
    MODAL_TRY(add_row(b, &row, o, "tree and look-ups' tables", err));
done:
    for (int i = 0; i < c.n_device; i++) bench_free(side, &c.device[i]);
    return status;
}

/* ---- both ---- */

modal_status bench_octree_build(modal_bench *b, bench_side *side, const bench_octree_surface *surface, const octree_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[80];
    const int bits = modal_octree_bits(&scene->octree);
    bench_side reference = b->cpu;
    reference.device = b->ref;
    snprintf(name, sizeof name, "octree, building, depth %d", bits);
    bench_table(b, name, name);
    if (side->is_cuda) {
        MODAL_TRY(note_builder(b, surface, scene, err));
        MODAL_TRY(measure_operation(b, side, surface, scene, err));
    } else {
        MODAL_TRY(measure_builder(b, surface->request, scene, err));
        if (bits <= MODAL_BUILD_REFERENCE_BITS) MODAL_TRY(measure_operation(b, &reference, surface, scene, err));
    }
done:
    return status;
}
