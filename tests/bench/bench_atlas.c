/* SPDX-License-Identifier: Apache-2.0 */
/* An octree texture of rgba8 as an image by charts (octree_bake), and the gaps of an image filled (push_pull, beside a copy of the image). Owners of
 * some texels are compared with all triangles, every covered texel with the reference's look-up at the owner's point, every
 * filled texel with the reference. */
#include <math.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/push_pull/push_pull.h"
#include "lib/base/memory.h"
#include "lib/octree/atlas.h"
#include "lib/octree/charts.h"
#include "tests/bench/bench.h"
#include "tests/bench/octree_scene.h"

enum { BAKE_SIDE = 2048, FILL_SIDE = 4096, QUICK_SIDE = 256, OWNERS = 997, DISC = 178 /* texels between the discs of the image to fill */ };

typedef struct atlas_case {
    bench_side *side;
    modal_atlas_work work;
    modal_push_pull_task fill; /* on the side */
} atlas_case;

static modal_status call_bake(void *context, int64_t k, modal_error *err)
{
    const atlas_case *c = context;
    (void)k;
    return c->side->device.kernels->octree_bake(&c->work.bake, c->side->stream, err);
}

static modal_status call_fill(void *context, int64_t k, modal_error *err)
{
    const atlas_case *c = context;
    (void)k;
    return c->side->device.kernels->push_pull(&c->fill, c->side->stream, err);
}

/* ---- is it right? ---- */

typedef struct baked {
    const modal_octree_bake_task *task; /* of the CPU: arrays in main memory */
    uint64_t *owner;
    uint32_t *values;
} baked;

/* Levels by which the worst number of a texel is off the reference's look-up. */
static double texel_error(const baked *b, int64_t at)
{
    const modal_octree_bake_task *t = b->task;
    const int64_t i = (int64_t)(b->owner[at] & UINT32_MAX);
    float point[3];
    uint32_t value = 0;
    double error = 0;
    if (!modal_bake_point(t, i, at % t->width, at / t->width, point)) return NAN;
    const modal_octree_lookup_task one = {.grid = t->grid, .filter = MODAL_OCTREE_TRILINEAR, .n_points = 1, .points = point, .values = &value};
    if (modal_octree_lookup_ref(&one, NULL, NULL) != MODAL_OK) return NAN;
    for (int c = 0; c < 32; c += 8) error = fmax(error, fabs((double)(value >> c & 255) - (double)(b->values[at] >> c & 255)));
    return error;
}

static modal_status compare_bake(const atlas_case *c, const modal_octree_bake_task *on_cpu, bench_row *row, double *covered, modal_error *err)
{
    modal_status status = MODAL_OK;
    baked b = {.task = on_cpu};
    const int64_t n = (int64_t)on_cpu->width * on_cpu->height;
    int64_t wrong = 0, n_covered = 0;
    double worst = 0;
    MODAL_TRY(modal_alloc(&b.owner, n, sizeof *b.owner, "check", err));
    MODAL_TRY(modal_alloc(&b.values, n, sizeof *b.values, "check", err));
    MODAL_TRY(bench_from_device(c->side, b.owner, c->work.bake.owner, 8 * n, err));
    MODAL_TRY(bench_from_device(c->side, b.values, c->work.bake.values, 4 * n, err));
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong)
    for (int64_t i = 0; i < OWNERS; i++) {
        int64_t n_inside;
        const int64_t at = (int64_t)(((double)i + 0.5) / OWNERS * (double)n);
        wrong += modal_bake_owner(on_cpu, at % on_cpu->width, at / on_cpu->width, &n_inside) != b.owner[at];
    }
#pragma omp parallel for schedule(static) reduction(+ : n_covered, wrong) reduction(max : worst)
    for (int64_t at = 0; at < n; at++) {
        if (b.owner[at] == UINT64_MAX) continue;
        const double error = texel_error(&b, at);
        wrong += isnan(error);
        worst = error > worst ? error : worst;
        n_covered++;
    }
    row->error = wrong ? INFINITY : worst;
    row->tolerance = "owners the same; 1 of 255";
    *covered = (double)n_covered;
done:
    modal_free(&b.owner);
    modal_free(&b.values);
    return status;
}

/* ---- rows ---- */

static modal_status measure_bake(modal_bench *b, atlas_case *c, const octree_scene *scene, const modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int side = b->quick ? QUICK_SIDE : BAKE_SIDE;
    const modal_octree_pyramid pyramid = {.finest = scene->tables};
    const modal_atlas_request request = {.surface = surface, .width = side, .height = side};
    modal_atlas counts = {0};
    modal_atlas_work host = {0};
    double covered = 0;
    char name[80];
    snprintf(name, sizeof name, c->side->is_cuda ? "octree_bake, %d^2" : "octree_bake, %d^2, %d threads", side, c->side->device.n_threads);
    bench_row row = {.name = name, .ours = 1, .hidden = 1, .side = c->side, .n_vertices = surface->n_vertices, .n_columns = 1,
                     .n_objects = scene->octree.n_samples};
    MODAL_TRY(modal_atlas_work_new(&host, &b->cpu.device, &pyramid, &request, &counts, err));
    MODAL_TRY(modal_atlas_work_new(&c->work, &c->side->device, &pyramid, &request, &counts, err));
    MODAL_TRY(call_bake(c, 0, err));
    MODAL_TRY(compare_bake(c, &host.bake, &row, &covered, err));
    row.lookups = covered;
    MODAL_TRY(bench_measure(b, c->side, call_bake, c, &row.time, err));
    MODAL_TRY(bench_row_add(b, &row, err));
    const double n = (double)side * side;
    bench_print(b, "%-4s * %-44s %11.2f us %9.4g M texels/s, of covered ones (%.0f %%) %.4g\n", c->side->is_cuda ? "gpu" : "cpu", name,
                1e6 * row.time.median, 1e-6 * n / row.time.median, 100 * covered / n, 1e-6 * covered / row.time.median);
done:
    modal_atlas_work_free(&host);
    modal_atlas_work_free(&c->work);
    return status;
}

/* Discs in rows, the uppermost part empty: 72 % of the texels are covered. */
static modal_status make_image(int side, uint32_t **texels, uint32_t **covered, double *share, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = (int64_t)side * side, words = side / 32;
    int64_t n_covered = 0;
    MODAL_TRY(modal_alloc(texels, n, sizeof **texels, "texels", err));
    MODAL_TRY(modal_alloc_zero(covered, words * side, sizeof **covered, "texels", err));
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = i % side, y = i / side;
        const double dx = (double)(x % DISC) - 0.5 * DISC, dy = (double)(y % DISC) - 0.5 * DISC;
        (*texels)[i] = (uint32_t)(bench_noise(96, (uint64_t)i) * 2147483647.0f + 2147483647.0f);
        if (!(sqrt(dx * dx + dy * dy) <= 0.49 * DISC) || y >= 0.955 * side) continue;
        (*covered)[y * words + x / 32] |= (uint32_t)1 << x % 32;
        n_covered++;
    }
    *share = (double)n_covered / (double)n;
done:
    return status;
}

static modal_status measure_fill(modal_bench *b, atlas_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int side = b->quick ? QUICK_SIDE : FILL_SIDE;
    const int64_t n = (int64_t)side * side;
    uint32_t *texels = NULL, *covered = NULL, *got = NULL;
    modal_push_pull_sum *scratch = NULL;
    double share;
    char name[80];
    snprintf(name, sizeof name, c->side->is_cuda ? "push_pull, %d^2" : "push_pull, %d^2, %d threads", side, c->side->device.n_threads);
    bench_row row = {.name = name, .ours = 1, .hidden = 1, .side = c->side, .n_columns = 1, .bytes = 8.0 * (double)n, .tolerance = "the same bytes"};
    MODAL_TRY(make_image(side, &texels, &covered, &share, err));
    MODAL_TRY(modal_alloc(&got, n, sizeof *got, "check", err));
    MODAL_TRY(modal_alloc(&scratch, modal_push_pull_blocks(side, side), sizeof *scratch, "check", err));
    c->fill = (modal_push_pull_task){.width = side, .height = side};
    MODAL_TRY(bench_to_device(c->side, &c->fill.texels, texels, 4 * n, "texels", err));
    MODAL_TRY(bench_to_device(c->side, &c->fill.covered, covered, n / 8, "texels", err));
    MODAL_TRY(bench_to_device(c->side, &c->fill.scratch, NULL, modal_push_pull_blocks(side, side) * (int64_t)sizeof *scratch, "texels", err));
    MODAL_TRY(call_fill(c, 0, err));
    MODAL_TRY(bench_from_device(c->side, got, c->fill.texels, 4 * n, err));
    const modal_push_pull_task reference = {.width = side, .height = side, .texels = texels, .covered = covered, .scratch = scratch};
    MODAL_TRY(modal_push_pull_ref(&reference, NULL, err));
    row.error = memcmp(got, texels, 4 * (size_t)n) == 0 ? 0.0 : INFINITY;
    MODAL_TRY(bench_measure(b, c->side, call_fill, c, &row.time, err));
    MODAL_TRY(bench_row_add(b, &row, err));
    bench_print(b, "%-4s * %-44s %11.2f us, %.2f times a copy of the image (%.2f us); %.1f %% covered\n", c->side->is_cuda ? "gpu" : "cpu", name,
                1e6 * row.time.median, row.time.median / bench_copy_seconds(c->side, row.bytes), 1e6 * bench_copy_seconds(c->side, row.bytes), 100 * share);
done:
    bench_free(c->side, &c->fill.texels);
    bench_free(c->side, &c->fill.covered);
    bench_free(c->side, &c->fill.scratch);
    modal_free(&texels);
    modal_free(&covered);
    modal_free(&got);
    modal_free(&scratch);
    return status;
}

modal_status bench_atlas(modal_bench *b, bench_side *side, const struct octree_scene *scene, const modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    atlas_case c = {.side = side};
    modal_charts charts = {0};
    modal_surface_mesh with = *surface; /* borrowed, with texture coordinates */
    char name[80];
    snprintf(name, sizeof name, "octree, baking, depth %d", modal_octree_bits(&scene->octree));
    bench_table(b, name, name);
    MODAL_TRY(modal_device_select(&b->cpu.device, err));
    MODAL_TRY(modal_charts_make(surface, 3.0 / (b->quick ? QUICK_SIDE : BAKE_SIDE), &charts, err));
    with.uv = charts.uv, with.n_uv = charts.n_uv, with.triangle_uv = charts.triangle_uv;
    MODAL_TRY(measure_bake(b, &c, scene, &with, err));
    MODAL_TRY(measure_fill(b, &c, err));
done:
    modal_charts_free(&charts);
    return status;
}
