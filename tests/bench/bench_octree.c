/* SPDX-License-Identifier: Apache-2.0 */
/* Trilinear look-ups of values around a surface: octree_lookup beside NanoVDB's sampler, a dense lattice, and a tree that
 * each corner goes down a cell a level. Every value of every row is compared with the reference first. Bytes of a call are
 * those of points and values. One thread's rates are printed by its processor time, which other programs do not lengthen. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/surface_read.h"
#include "kernels/device.h"
#include "kernels/octree_lookup/octree_lookup.h"
#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "lib/octree/build.h"
#include "tests/bench/bench.h"
#include "tests/bench/octree_scene.h"
#include "tests/bench/opponents/octree_opponents.h"

enum { CPU_POINTS = 2000000, GPU_POINTS = 10000000, QUICK_POINTS = 20000, TORUS_WIDTH = 64, CPU_RUNS = 5, MOST_DENSE = 9, MOST_ON_CPU = 10 };

typedef enum way { RECORDS, NANOVDB, LATTICE, TEXTURE, TREE, WAYS } way;
static const char *const names[WAYS] = {"octree_lookup", "NanoVDB", "dense lattice, eight reads", "dense lattice, the texture unit",
                                        "a cell a level, eight descents"};

typedef struct octree_case {
    modal_bench *b;
    bench_side *side;
    const octree_scene *scene;
    octree_order order;
    way what;
    const void *records, *nanovdb; /* on the device, as those that follow */
    modal_octree_grid grid;
    octree_plain lattice, tree;
    octree_texture *texture;
    int64_t held[WAYS]; /* bytes */
    float *points[OCTREE_ORDERS];
    void *values;
    double ours;      /* seconds of the latest row of ours */
    void *device[12]; /* what is freed */
    int n_device;
} octree_case;

/* ---- a call ---- */

static modal_status call(void *context, int64_t k, modal_error *err)
{
    const octree_case *c = context;
    const octree_points points = {c->grid.channels, c->scene->n_points, c->points[c->order], c->values};
    (void)k;
    if (c->what == RECORDS) {
        const modal_octree_lookup_task task = {.grid = c->grid, .filter = MODAL_OCTREE_TRILINEAR, .n_points = points.n, .points = points.points,
                                               .outside = NAN, .values = points.values};
        return c->side->device.kernels->octree_lookup(&task, c->side->stream, err);
    }
#ifdef MODAL_HAVE_CUDA
    if (c->side->is_cuda) {
        if (c->what == TEXTURE) return octree_texture_cuda(c->texture, &points, c->side->stream, err);
#ifdef MODAL_HAVE_NANOVDB
        if (c->what == NANOVDB) return nanovdb_cuda(c->nanovdb, &points, c->side->stream, err);
#endif
        return octree_plain_cuda(c->what == TREE ? &c->tree : &c->lattice, &points, c->side->stream, err);
    }
#endif
#ifdef MODAL_HAVE_NANOVDB
    if (c->what == NANOVDB) nanovdb_cpu(c->nanovdb, &points);
#endif
    if (c->what != NANOVDB) octree_plain_cpu(c->what == TREE ? &c->tree : &c->lattice, &points);
    return MODAL_OK;
}

/* ---- a row ---- */

/* Floats are in [-1, 1): 12 e as kernels/octree_lookup says. The texture unit's weights have 8 bits: each of three axes is off by
 * 2^-8 of the difference of two corners. */
static const char *tolerance_of(const octree_case *c, double *tolerance)
{
    const int rgba = c->grid.channels == MODAL_OCTREE_RGBA8;
    if (c->what == TEXTURE) {
        *tolerance = rgba ? 4.0 : 3.0 / 128.0;
        return rgba ? "4 of 255, weights of 8 bits" : "3 / 128, weights of 8 bits";
    }
    *tolerance = rgba ? 1.0 : 12.0 * (double)FLT_EPSILON / 2.0;
    return rgba ? "1 of 255" : "12 float32 roundings of 1";
}

static modal_status compare(const octree_case *c, bench_row *row, modal_error *err)
{
    modal_status status = MODAL_OK;
    const uint32_t *expected = c->scene->expected[c->order];
    const int64_t n = c->scene->n_points;
    uint32_t *got = NULL;
    double tolerance;
    row->tolerance = tolerance_of(c, &tolerance);
    MODAL_TRY(modal_alloc(&got, n, sizeof *got, "check", err));
    MODAL_TRY(bench_from_device(c->side, got, c->values, 4 * n, err));
    for (int64_t i = 0; i < n; i++) {
        float numbers[2];
        memcpy(&numbers[0], &got[i], 4);
        memcpy(&numbers[1], &expected[i], 4);
        double error = fabs((double)numbers[0] - (double)numbers[1]);
        if (c->grid.channels == MODAL_OCTREE_RGBA8) {
            error = 0;
            for (int k = 0; k < 32; k += 8) error = fmax(error, fabs((double)(got[i] >> k & 255) - (double)(expected[i] >> k & 255)));
        }
        row->error = bench_worse(row->error, error / tolerance);
    }
done:
    modal_free(&got);
    return status;
}

static modal_status measure(octree_case *c, way what, modal_error *err)
{
    modal_status status = MODAL_OK;
    char name[80];
    const int64_t n = c->scene->n_points;
    const int threads = c->side->is_cuda ? 0 : c->side->device.n_threads;
    snprintf(name, sizeof name, threads ? "%s, %d thread%s" : "%s", names[what], threads, threads == 1 ? "" : "s");
    bench_row row = {.name = name, .ours = what == RECORDS, .hidden = 1, .side = c->side, .n_vertices = n, .n_columns = 1,
                     .n_objects = c->scene->octree.n_samples, .bytes = 16.0 * (double)n, .lookups = (double)n, .held_bytes = (double)c->held[what]};
    c->what = what;
    MODAL_TRY(bench_poison(c->side, c->values, 4 * n, err));
    MODAL_TRY(call(c, 0, err));
    MODAL_TRY(compare(c, &row, err));
    MODAL_TRY(bench_measure(c->b, c->side, call, c, &row.time, err));
    MODAL_TRY(bench_row_add(c->b, &row, err));
    const double seconds = threads == 1 ? row.time.processor : row.time.median;
    if (row.ours) c->ours = seconds;
    bench_print(c->b, "%-4s %s%-44s %11.2f us %9.4g M look-ups/s %7.1f B a sample", c->side->is_cuda ? "gpu" : "cpu", row.ours ? "* " : "  ", name,
                1e6 * seconds, 1e-6 * row.lookups / seconds, row.held_bytes / (double)c->scene->octree.n_samples);
    bench_print(c->b, row.ours ? "\n" : " %6.2f x ours\n", seconds / c->ours);
done:
    return status;
}

/* ---- what is looked up in ---- */

static modal_status to_device(octree_case *c, void *pointer, const void *host, int64_t bytes, modal_error *err)
{
    const modal_status status = bench_to_device(c->side, pointer, host, bytes, "octree", err);
    if (status == MODAL_OK) memcpy(&c->device[c->n_device++], pointer, sizeof(void *));
    return status;
}

static modal_status upload_records(octree_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree_tables *t = &c->scene->tables;
    const int64_t n = c->scene->n_points;
    c->grid = t->grid;
    c->held[RECORDS] = modal_octree_tables_bytes(t);
    MODAL_TRY(to_device(c, &c->grid.top, t->top, 4 * t->n_top, err));
    MODAL_TRY(to_device(c, &c->grid.masks, t->masks, (int64_t)sizeof *t->masks * t->n_masks, err));
    MODAL_TRY(to_device(c, &c->grid.records, t->records, 32 * t->n_records, err));
    for (int k = 0; k < OCTREE_ORDERS; k++) MODAL_TRY(to_device(c, &c->points[k], c->scene->points[k], 12 * n, err));
    MODAL_TRY(to_device(c, &c->values, NULL, 4 * n, err));
done:
    return status;
}

/* The tree as the chapter has it: the value itself is in the cell. */
static modal_status upload_tree(octree_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = &c->scene->octree;
    const uint32_t *values = (const uint32_t *)o->values;
    uint32_t *cells = NULL;
    MODAL_TRY(modal_alloc(&cells, 8 * o->n_nodes, sizeof *cells, "tree", err));
    for (int64_t i = 0; i < 8 * o->n_nodes; i++) cells[i] = o->cells[i] < 0 ? values[modal_octree_leaf_sample(o->cells[i])] : (uint32_t)o->cells[i];
    c->tree = (octree_plain){.bits = c->grid.bits};
    c->held[TREE] = 32 * o->n_nodes;
    MODAL_TRY(to_device(c, &c->tree.cells, cells, c->held[TREE], err));
done:
    modal_free(&cells);
    return status;
}

static modal_status upload_lattice(octree_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = &c->scene->octree;
    const int bits = c->grid.bits;
    uint32_t *lattice = NULL;
    MODAL_TRY(modal_alloc_zero(&lattice, (int64_t)1 << 3 * bits, sizeof *lattice, "lattice", err));
    for (int64_t i = 0; i < o->n_samples; i++) {
        const uint64_t key = (uint64_t)o->keys[i];
        const int64_t x = modal_morton_squeeze(key), y = modal_morton_squeeze(key >> 1), z = modal_morton_squeeze(key >> 2);
        lattice[(((z << bits) + y) << bits) + x] = ((const uint32_t *)o->values)[i];
    }
    c->lattice = (octree_plain){.bits = bits};
    c->held[LATTICE] = c->held[TEXTURE] = (int64_t)4 << 3 * bits;
    MODAL_TRY(to_device(c, &c->lattice.lattice, lattice, c->held[LATTICE], err));
#ifdef MODAL_HAVE_CUDA
    if (c->side->is_cuda) MODAL_TRY(octree_texture_new(&c->texture, bits, c->grid.channels, lattice, err));
#endif
done:
    modal_free(&lattice);
    return status;
}

#ifdef MODAL_HAVE_NANOVDB
static modal_status upload_nanovdb(octree_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    nanovdb_grid *grid = NULL;
    MODAL_TRY(nanovdb_grid_new(&grid, &c->scene->octree, err));
    const void *data = nanovdb_grid_data(grid, &c->held[NANOVDB]);
    MODAL_TRY(to_device(c, &c->nanovdb, data, c->held[NANOVDB], err));
done:
    nanovdb_grid_delete(grid);
    return status;
}
#endif

static void free_case(octree_case *c)
{
    for (int i = 0; i < c->n_device; i++) bench_free(c->side, &c->device[i]);
#ifdef MODAL_HAVE_CUDA
    c->texture = octree_texture_delete(c->texture);
#endif
}

/* ---- tables of rows ---- */

static modal_status measure_order(octree_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_side *all = c->side, one = *all; /* on the CPU all on one core, then the two best on all */
    char name[80], title[160];
    const modal_octree *o = &c->scene->octree;
    snprintf(name, sizeof name, "octree, depth %d, %s, %s", modal_octree_bits(o), modal_octree_channels_name(o->channels), octree_order_names[c->order]);
    snprintf(title, sizeof title, "%lld values around a surface: %s", (long long)o->n_samples, name);
    bench_table(c->b, name, title);
    one.device.n_threads = 1;
    if (!all->is_cuda) c->side = &one;
    for (int what = 0; what < WAYS; what++)
        if (c->held[what] > 0 && (what != TEXTURE || all->is_cuda)) MODAL_TRY(measure(c, (way)what, err));
    c->side = all;
    if (all->is_cuda || all->device.n_threads == 1) goto done;
    MODAL_TRY(measure(c, RECORDS, err));
    if (c->held[NANOVDB] > 0) MODAL_TRY(measure(c, NANOVDB, err));
done:
    c->side = all;
    return status;
}

static modal_status measure_side(modal_bench *b, bench_side *side, const octree_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    octree_case c = {.b = b, .side = side, .scene = scene};
    MODAL_TRY(modal_device_select(&side->device, err));
    MODAL_TRY(upload_records(&c, err));
    MODAL_TRY(upload_tree(&c, err));
    if (c.grid.bits <= MOST_DENSE) MODAL_TRY(upload_lattice(&c, err));
#ifdef MODAL_HAVE_NANOVDB
    MODAL_TRY(upload_nanovdb(&c, err));
#endif
    for (int order = 0; order < OCTREE_ORDERS; order++) {
        c.order = (octree_order)order;
        MODAL_TRY(measure_order(&c, err));
    }
done:
    free_case(&c);
    return status;
}

/* ---- the part ---- */

static modal_status one_depth(modal_bench *b, const modal_surface_mesh *surface, int depth, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree_request request = {.n_vertices = surface->n_vertices, .n_triangles = surface->n_triangles, .positions = surface->positions,
                                          .triangles = surface->triangles, .side = 2, .resolution = (int64_t)1 << depth,
                                          .channels = MODAL_OCTREE_FLOAT, .memory_limit = b->memory_limit};
    for (int gpu = 1; gpu >= 0; gpu--) {
        octree_scene scene = {0};
        bench_side *side = gpu ? &b->gpu : &b->cpu;
        bench_octree_surface built = {.request = &request};
        if (!side->present || (!gpu && depth > MOST_ON_CPU)) continue;
        MODAL_TRY(modal_device_select(&b->cpu.device, err));
        const double start = modal_seconds();
        status = modal_octree_build(&request, &scene.octree, &built.n_flat, err);
        built.seconds = modal_seconds() - start;
        if (status == MODAL_OK) status = octree_scene_points(&scene, surface, b->quick ? QUICK_POINTS : gpu ? GPU_POINTS : CPU_POINTS, err);
        for (int rgba = 0; rgba < 2 && status == MODAL_OK; rgba++) {
            status = modal_device_select(&b->cpu.device, err);
            if (status == MODAL_OK) status = octree_scene_values(&scene, rgba ? MODAL_OCTREE_RGBA8 : MODAL_OCTREE_FLOAT, err);
            if (status == MODAL_OK && !rgba) status = bench_octree_build(b, side, &built, &scene, err);
            if (status == MODAL_OK) status = measure_side(b, side, &scene, err);
        }
        if (status == MODAL_OK) status = bench_atlas(b, side, &scene, surface, err);
        if (status == MODAL_OK) status = bench_flow(b, side, &scene, surface, err);
        octree_scene_free(&scene);
        if (status != MODAL_OK) break;
    }
done:
    return status;
}

modal_status bench_octree(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    int64_t n_collapsed;
    const int runs = b->runs, least = b->depth ? b->depth : b->quick ? 6 : 8;
    const int most = b->depth ? b->depth : b->quick ? 6 : b->gpu.present ? 12 : MOST_ON_CPU;
#ifndef MODAL_HAVE_NANOVDB
    bench_absent(b, "NanoVDB", "built without its headers");
#endif
    if (!b->gpu.present && most > MOST_ON_CPU) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--depth: on a CPU at most %d, %d", MOST_ON_CPU, most);
    if (b->surface) MODAL_TRY(modal_surface_read(b->surface, &surface, &n_collapsed, err));
    else MODAL_TRY(octree_scene_torus(&surface, TORUS_WIDTH, err));
    if (b->runs > CPU_RUNS) b->runs = CPU_RUNS; /* calls of seconds */
    for (int depth = least; depth <= most; depth++) MODAL_TRY(one_depth(b, &surface, depth, err));
done:
    b->runs = runs;
    modal_surface_mesh_free(&surface);
    return status;
}
