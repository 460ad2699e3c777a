/* SPDX-License-Identifier: Apache-2.0 */
/* What of the surface each texel of an image shows, for the octree's file. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/octree/atlas.h"
#include "lib/octree/bricks.h"

typedef struct rows {
    const modal_octree *octree;
    const modal_atlas_request *request;
    const modal_atlas *atlas;
    modal_bricks samples;
    uint8_t *begins; /* [n_samples] */
    double scale;
} rows;

/* As octree_bake finds it, in double: the cell's first sample, or -1, and the place in it. */
static int64_t find_place(const rows *r, int64_t x, int64_t y, int32_t triangle, float place[3])
{
    const modal_surface_mesh *s = r->request->surface;
    modal_bake_triangle texels;
    modal_bake_place at = {0};
    float uv[6];
    int64_t c[3];
    for (int k = 0; k < 3; k++) {
        const double *p = s->uv + 2 * (int64_t)s->triangle_uv[3 * (int64_t)triangle + k];
        uv[2 * k] = (float)(p[0] * r->request->width), uv[2 * k + 1] = (float)(p[1] * r->request->height);
    }
    modal_bake_start(uv, sqrt(2), r->request->width, r->request->height, &texels);
    if (!modal_bake_find(&texels, x, y, (double)sqrtf(2), &at)) return -1;
    for (int k = 0; k < 3; k++) {
        const int32_t *v = s->triangles + 3 * (int64_t)triangle;
        const double p = s->positions[3 * (int64_t)v[0] + k], q = s->positions[3 * (int64_t)v[1] + k], o = s->positions[3 * (int64_t)v[2] + k];
        const double cells = (p + at.weights[0] * (q - p) + at.weights[1] * (o - p) - r->octree->origin[k]) * r->scale;
        c[k] = (int64_t)floor(cells);
        place[k] = (float)(cells - (double)c[k]);
    }
    const int64_t sample = modal_bricks_sample(&r->samples, c);
    return sample >= 0 && r->begins[sample] ? sample : -1;
}

static modal_status copy_charts(const modal_octree *o, const modal_surface_mesh *s, modal_octree_atlas *kept, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(&kept->uv, 2 * s->n_uv, sizeof *kept->uv, "charts", err));
    MODAL_TRY(modal_alloc(&kept->triangle_uv, 3 * o->n_triangles, sizeof *kept->triangle_uv, "charts", err));
    memcpy(kept->uv, s->uv, 2 * (size_t)s->n_uv * sizeof *s->uv);
    memcpy(kept->triangle_uv, s->triangle_uv, 3 * (size_t)o->n_triangles * sizeof *s->triangle_uv);
    kept->n_uv = s->n_uv;
done:
    return status;
}

static modal_status find_cells(const modal_octree *o, rows *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t width = (int64_t)1 << 3 * modal_octree_side_bits(o);
    r->scale = ldexp(1.0, modal_octree_bits(o)) / o->size;
    MODAL_TRY(modal_bricks_of_keys(o->keys, o->n_samples, &r->samples, err));
    MODAL_TRY(modal_alloc_zero(&r->begins, o->n_samples, 1, "samples", err));
    for (int64_t i = o->node_offsets[o->depth - 1] * width; i < o->n_nodes * width; i++)
        if (o->cells[i] < 0) r->begins[modal_octree_leaf_sample(o->cells[i])] = (uint8_t)modal_octree_leaf_begins(o->cells[i]);
done:
    return status;
}

modal_status modal_atlas_keep(const modal_octree *o, const modal_atlas_request *request, const modal_atlas *a, modal_octree_atlas *kept, modal_error *err)
{
    modal_status status = MODAL_OK;
    rows r = {.octree = o, .request = request, .atlas = a};
    int64_t n = 0;
    *kept = (modal_octree_atlas){.width = a->width, .height = a->height};
    MODAL_TRY(copy_charts(o, request->surface, kept, err));
    MODAL_TRY(find_cells(o, &r, err));
    MODAL_TRY(modal_alloc(&kept->texels, a->counts.covered, sizeof *kept->texels, "texels", err));
    MODAL_TRY(modal_alloc(&kept->samples, a->counts.covered, sizeof *kept->samples, "texels", err));
    MODAL_TRY(modal_alloc(&kept->triangles, a->counts.covered, sizeof *kept->triangles, "texels", err));
    MODAL_TRY(modal_alloc(&kept->places, 3 * a->counts.covered, sizeof *kept->places, "texels", err));
    for (int64_t row = 0; row < a->height; row++) /* downwards; the atlas goes upwards */
        for (int64_t x = 0; x < a->width; x++) {
            const int32_t triangle = a->triangles[(a->height - 1 - row) * a->width + x];
            if (triangle < 0) continue;
            kept->texels[n] = (int32_t)(row * a->width + x);
            kept->triangles[n++] = triangle;
        }
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = kept->texels[i] % a->width, y = a->height - 1 - kept->texels[i] / a->width;
        kept->samples[i] = (int32_t)find_place(&r, x, y, kept->triangles[i], kept->places + 3 * i);
    }
    for (int64_t i = 0; i < n; i++) {
        if (kept->samples[i] < 0) continue;
        const int64_t to = kept->n_rows++;
        kept->texels[to] = kept->texels[i], kept->samples[to] = kept->samples[i], kept->triangles[to] = kept->triangles[i];
        memmove(kept->places + 3 * to, kept->places + 3 * i, 3 * sizeof *kept->places);
    }
done:
    modal_bricks_free(&r.samples);
    modal_free(&r.begins);
    return status;
}
