/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/atlas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/registry.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"

void modal_atlas_free(modal_atlas *a)
{
    modal_free(&a->texels);
    modal_free(&a->covered);
    modal_free(&a->triangles);
    modal_free(&a->numbers);
    *a = (modal_atlas){0};
}

/* What octree_bake reads of the triangles. */
typedef struct corners {
    float *uv, *points, *levels;
} corners;

/* log2 of a texel's size in cells, by the areas of the triangle in both. */
static float level_of(const double p[9], const float uv[6])
{
    double normal[3], e[2][3];
    for (int k = 0; k < 3; k++) e[0][k] = p[3 + k] - p[k], e[1][k] = p[6 + k] - p[k];
    for (int k = 0; k < 3; k++) normal[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
    const double cells = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    const double u1 = (double)uv[2] - (double)uv[0], v1 = (double)uv[3] - (double)uv[1];
    const double u2 = (double)uv[4] - (double)uv[0], v2 = (double)uv[5] - (double)uv[1], texels = fabs(u1 * v2 - u2 * v1);
    return cells > 0 && texels > 0 ? (float)(0.5 * log2(cells / texels)) : 0;
}

static modal_status make_corners(const modal_octree_tables *t, const modal_atlas_request *r, modal_atlas *a, corners *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface_mesh *s = r->surface;
    MODAL_TRY(modal_alloc(&c->uv, 6 * s->n_triangles, sizeof *c->uv, "triangles", err));
    MODAL_TRY(modal_alloc(&c->points, 9 * s->n_triangles, sizeof *c->points, "triangles", err));
    MODAL_TRY(modal_alloc(&c->levels, s->n_triangles, sizeof *c->levels, "triangles", err));
    for (int64_t i = 0; i < s->n_triangles; i++) {
        double p[9];
        int beyond = 0;
        modal_bake_triangle texels;
        for (int k = 0; k < 3; k++) {
            const double *uv = s->uv + 2 * (int64_t)s->triangle_uv[3 * i + k], *x = s->positions + 3 * (int64_t)s->triangles[3 * i + k];
            const double u = uv[0] * r->width, v = uv[1] * r->height;
            if (!(fabs(u) < MODAL_BAKE_FAR && fabs(v) < MODAL_BAKE_FAR))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "triangle %lld: texture coordinates %g, %g: no number, or too far away", (long long)i, uv[0], uv[1]);
            beyond |= !(uv[0] >= -1e-6 && uv[0] <= 1 + 1e-6 && uv[1] >= -1e-6 && uv[1] <= 1 + 1e-6);
            c->uv[6 * i + 2 * k] = (float)u, c->uv[6 * i + 2 * k + 1] = (float)v;
            for (int j = 0; j < 3; j++) {
                p[3 * k + j] = (x[j] - t->origin[j]) * t->scale;
                c->points[9 * i + 3 * k + j] = (float)p[3 * k + j];
            }
        }
        modal_bake_start(c->uv + 6 * i, 0, r->width, r->height, &texels);
        a->n_beyond += beyond;
        a->n_flat += texels.area == 0;
        c->levels[i] = level_of(p, c->uv + 6 * i);
    }
done:
    return status;
}

/* ---- arrays of the device ---- */

void modal_atlas_work_free(modal_atlas_work *w)
{
    for (int i = 0; i < w->n_arrays; i++) modal_device_free(&w->device, &w->arrays[i]);
    if (w->device.interface) modal_device_stream_delete(&w->device, &w->stream);
    *w = (modal_atlas_work){0};
}

/* *to is any `T **`: an array of the device, a copy of `from` where that is not NULL. A device that shares main memory takes `from` itself. */
static modal_status bring(modal_atlas_work *w, void *to, const void *from, int64_t count, size_t item_bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *there = NULL;
    if (from && w->device.shares_memory) {
        memcpy(to, &from, sizeof from);
        return MODAL_OK;
    }
    MODAL_TRY(modal_device_alloc(&w->device, &there, count, item_bytes, "texels", err));
    w->arrays[w->n_arrays++] = there;
    memcpy(to, &there, sizeof there);
    if (!from) goto done;
    MODAL_TRY(modal_device_copy_in(&w->device, there, from, count * (int64_t)item_bytes, w->stream, err));
    MODAL_TRY(modal_device_stream_wait(&w->device, w->stream, err)); /* `from` may be freed */
done:
    return status;
}

static modal_status bring_grid(modal_atlas_work *w, const modal_octree_tables *t, modal_octree_grid *grid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const size_t record = t->grid.channels == MODAL_OCTREE_FLOAT3 ? 96 : 32;
    *grid = t->grid;
    MODAL_TRY(bring(w, &grid->top, t->top, t->n_top, sizeof *t->top, err));
    MODAL_TRY(bring(w, &grid->masks, t->masks, t->n_masks, sizeof *t->masks, err));
    MODAL_TRY(bring(w, &grid->records, t->records, t->n_records, record, err));
done:
    return status;
}

static modal_status bring_corners(modal_atlas_work *w, const modal_octree_pyramid *p, const modal_atlas_request *r, modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    corners c = {0};
    const int64_t n = r->surface->n_triangles;
    MODAL_TRY(make_corners(&p->finest, r, a, &c, err));
    /* copies: what make_corners made goes */
    const struct { const float **to, *from; int64_t each; } all[] = {{&w->bake.uv, c.uv, 6}, {&w->bake.points, c.points, 9}, {&w->bake.levels, c.levels, 1}};
    for (int i = 0; i < (r->by_footprint ? 3 : 2); i++) {
        float *there = NULL;
        MODAL_TRY(bring(w, &there, NULL, all[i].each * n, sizeof *there, err));
        MODAL_TRY(modal_device_copy_in(&w->device, there, all[i].from, 4 * all[i].each * n, w->stream, err));
        *all[i].to = there;
    }
    MODAL_TRY(modal_device_stream_wait(&w->device, w->stream, err));
done:
    modal_free(&c.uv);
    modal_free(&c.points);
    modal_free(&c.levels);
    return status;
}

modal_status modal_atlas_work_new(modal_atlas_work *w, const modal_device *device, const modal_octree_pyramid *p, const modal_atlas_request *r,
                                  modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = (int64_t)r->width * r->height, words = (int64_t)((r->width + 31) / 32) * r->height, n_triangles = r->surface->n_triangles;
    *w = (modal_atlas_work){.device = *device};
    modal_octree_bake_task *const b = &w->bake;
    *b = (modal_octree_bake_task){.n_mips = p->n_mips, .mips = w->mips, .n_triangles = n_triangles, .width = r->width, .height = r->height, .reach = sqrtf(2)};
    MODAL_TRY(modal_device_select(device, err));
    MODAL_TRY(modal_device_stream_new(device, &w->stream, err));
    MODAL_TRY(bring_corners(w, p, r, a, err));
    MODAL_TRY(bring_grid(w, &p->finest, &b->grid, err));
    for (int i = 0; i < p->n_mips; i++) {
        w->mips[i].octave = p->mips[i].octave;
        MODAL_TRY(bring_grid(w, &p->tables[i], &w->mips[i].grid, err));
    }
    MODAL_TRY(bring(w, &b->owner, NULL, n, sizeof *b->owner, err));
    MODAL_TRY(bring(w, &b->covered, NULL, words, sizeof *b->covered, err));
    MODAL_TRY(bring(w, &b->values, NULL, n, modal_octree_value_bytes(b->grid.channels), err));
    if (!device->shares_memory) { /* scratch of a GPU */
        MODAL_TRY(bring(w, &b->queue, NULL, n_triangles + 1, sizeof *b->queue, err));
        MODAL_TRY(bring(w, &b->shapes, NULL, MODAL_BAKE_SHAPE * n_triangles, sizeof *b->shapes, err));
    }
    MODAL_TRY(bring(w, &b->counts, NULL, 1, sizeof *b->counts, err));
    w->fill = (modal_push_pull_task){.width = r->width, .height = r->height, .texels = b->values, .covered = b->covered};
    MODAL_TRY(bring(w, &w->fill.scratch, NULL, modal_push_pull_blocks(r->width, r->height), sizeof *w->fill.scratch, err));
done:
    return status;
}

/* ---- the bake ---- */

/* Numbers by the range, in 8 bits; what nothing covers is 0. */
static void show_numbers(const modal_atlas_request *r, modal_atlas *a)
{
    const int64_t n = (int64_t)a->width * a->height;
    const double scale = 255 / (r->range[1] - r->range[0]);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint32_t texel = 255u << 24;
        for (int c = 0; c < 3; c++) {
            const double x = ((double)a->numbers[a->components * i + c % a->components] - r->range[0]) * scale;
            texel |= (uint32_t)(fmin(255, fmax(0, x)) + 0.5) << 8 * c;
        }
        a->texels[i] = a->triangles[i] < 0 ? 0 : texel;
    }
}

/* Main memory gets what the bake has made: texels or numbers, and whose they are. */
static modal_status take(modal_atlas_work *w, modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_device *d = &w->device;
    const modal_octree_bake_task *b = &w->bake;
    const int64_t n = (int64_t)a->width * a->height, words = (int64_t)((a->width + 31) / 32) * a->height;
    void *const values = a->numbers ? (void *)a->numbers : a->texels;
    uint64_t *owner = NULL;
    MODAL_TRY(modal_alloc(&owner, n, sizeof *owner, "texels", err));
    MODAL_TRY(modal_device_copy_out(d, values, b->values, n * (int64_t)modal_octree_value_bytes(b->grid.channels), w->stream, err));
    MODAL_TRY(modal_device_copy_out(d, a->covered, b->covered, 4 * words, w->stream, err));
    MODAL_TRY(modal_device_copy_out(d, owner, b->owner, 8 * n, w->stream, err));
    MODAL_TRY(modal_device_copy_out(d, &a->counts, b->counts, sizeof a->counts, w->stream, err));
    MODAL_TRY(modal_device_stream_wait(d, w->stream, err));
    for (int64_t i = 0; i < n; i++) a->triangles[i] = owner[i] == UINT64_MAX ? -1 : (int32_t)(owner[i] & UINT32_MAX);
done:
    modal_free(&owner);
    return status;
}

static modal_status fill_gaps(modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_push_pull_task fill = {.width = a->width, .height = a->height, .texels = a->texels, .covered = a->covered};
    MODAL_TRY(modal_alloc(&fill.scratch, modal_push_pull_blocks(a->width, a->height), sizeof *fill.scratch, "texels", err));
    MODAL_TRY(modal_push_pull_cpu(&fill, NULL, err));
done:
    modal_free(&fill.scratch);
    return status;
}

modal_status modal_atlas_bake(const modal_device *device, const modal_octree_pyramid *p, const modal_atlas_request *r, modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_atlas_work w = {0};
    const modal_octree_channels channels = p->finest.grid.channels;
    const int64_t n = (int64_t)r->width * r->height, words = (int64_t)((r->width + 31) / 32) * r->height;
    *a = (modal_atlas){.width = r->width, .height = r->height, .components = modal_octree_width(channels)};
    MODAL_TRY(modal_alloc(&a->texels, n, sizeof *a->texels, "texels", err));
    MODAL_TRY(modal_alloc(&a->covered, words, sizeof *a->covered, "texels", err));
    MODAL_TRY(modal_alloc(&a->triangles, n, sizeof *a->triangles, "texels", err));
    if (channels != MODAL_OCTREE_RGBA8) MODAL_TRY(modal_alloc(&a->numbers, a->components * n, sizeof *a->numbers, "texels", err));
    MODAL_TRY(modal_atlas_work_new(&w, device, p, r, a, err));
    MODAL_TRY(device->kernels->octree_bake(&w.bake, w.stream, err));
    if (r->fill && !a->numbers && !r->tangents) MODAL_TRY(device->kernels->push_pull(&w.fill, w.stream, err));
    MODAL_TRY(take(&w, a, err));
    if (!a->numbers && !r->tangents) goto done;
    if (r->tangents) MODAL_TRY(modal_atlas_to_tangents(r, a, &a->n_behind, err));
    else show_numbers(r, a);
    if (r->fill) MODAL_TRY(fill_gaps(a, err));
done:
    modal_atlas_work_free(&w);
    if (status != MODAL_OK) modal_atlas_free(a);
    return status;
}
