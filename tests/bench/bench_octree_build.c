/* SPDX-License-Identifier: Apache-2.0 */
/* Building the tree, and the nearest triangles of its samples. */
#include <math.h>
#include <string.h>

#include "kernels/device.h"
#include "lib/base/memory.h"
#include "lib/octree/build.h"
#include "tests/bench/bench.h"
#include "tests/bench/octree_scene.h"

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

modal_status bench_octree_build(modal_bench *b, bench_side *side, const bench_octree_surface *surface, const octree_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[80];
    const int bits = modal_octree_bits(&scene->octree);
    snprintf(name, sizeof name, "octree, building, depth %d", bits);
    bench_table(b, name, name);
    if (side->is_cuda) {
        MODAL_TRY(note_builder(b, surface, scene, err));
    } else {
        MODAL_TRY(measure_builder(b, surface->request, scene, err));
    }
done:
    return status;
}
