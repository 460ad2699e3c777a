/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/atlas.h"

#include <math.h>

#include "kernels/push_pull/push_pull.h"
#include "lib/base/memory.h"

void modal_atlas_free(modal_atlas *a)
{
    modal_free(&a->texels);
    modal_free(&a->covered);
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

modal_status modal_atlas_bake(const modal_octree_pyramid *p, const modal_atlas_request *r, modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    corners c = {0};
    const int64_t n = (int64_t)r->width * r->height, words = (int64_t)((r->width + 31) / 32) * r->height;
    uint64_t *owner = NULL;
    int32_t *queue = NULL;
    modal_push_pull_sum *scratch = NULL;
    *a = (modal_atlas){.width = r->width, .height = r->height};
    MODAL_TRY(make_corners(&p->finest, r, a, &c, err));
    MODAL_TRY(modal_alloc(&a->texels, n, sizeof *a->texels, "texels", err));
    MODAL_TRY(modal_alloc(&a->covered, words, sizeof *a->covered, "texels", err));
    MODAL_TRY(modal_alloc(&owner, n, sizeof *owner, "texels", err));
    MODAL_TRY(modal_alloc(&queue, r->surface->n_triangles + 1, sizeof *queue, "triangles", err));
    const modal_octree_bake_task bake = {
        .grid = p->finest.grid, .n_mips = p->n_mips, .mips = p->mips, .n_triangles = r->surface->n_triangles, .uv = c.uv, .points = c.points,
        .levels = r->by_footprint ? c.levels : NULL, .width = r->width, .height = r->height, .reach = sqrtf(2), .owner = owner,
        .covered = a->covered, .values = a->texels, .queue = queue, .counts = &a->counts};
    MODAL_TRY(modal_octree_bake_cpu(&bake, NULL, err));
    if (!r->fill) goto done;
    MODAL_TRY(modal_alloc(&scratch, modal_push_pull_blocks(r->width, r->height), sizeof *scratch, "texels", err));
    const modal_push_pull_task fill = {.width = r->width, .height = r->height, .texels = a->texels, .covered = a->covered, .scratch = scratch};
    MODAL_TRY(modal_push_pull_cpu(&fill, NULL, err));
done:
    modal_free(&c.uv);
    modal_free(&c.points);
    modal_free(&c.levels);
    modal_free(&owner);
    modal_free(&queue);
    modal_free(&scratch);
    if (status != MODAL_OK) modal_atlas_free(a);
    return status;
}
