/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/octree_bake/octree_bake.h"

/* The owner of a texel out of all triangles, and how many have its centre strictly inside. */
static uint64_t owner_of(const modal_octree_bake_task *t, int64_t x, int64_t y, int64_t *n_inside)
{
    uint64_t best = UINT64_MAX;
    *n_inside = 0;
    for (int64_t i = 0; i < t->n_triangles; i++) {
        modal_bake_triangle triangle;
        modal_bake_place place;
        uint32_t bits;
        modal_bake_start(t->uv + 6 * i, (double)t->reach, t->width, t->height, &triangle);
        if (triangle.area == 0 || !modal_bake_find(&triangle, x, y, (double)t->reach, &place)) continue;
        memcpy(&bits, &place.square, sizeof bits);
        *n_inside += bits == 0;
        const uint64_t offer = (uint64_t)bits << 32 | (uint64_t)i;
        if (offer < best) best = offer;
    }
    return best;
}

static modal_status put_value(const modal_octree_bake_task *t, int64_t x, int64_t y, modal_error *err)
{
    const int64_t at = y * t->width + x, i = (int64_t)(t->owner[at] & UINT32_MAX);
    const size_t bytes = modal_octree_value_bytes(t->grid.channels);
    modal_bake_triangle triangle;
    modal_bake_place place = {0};
    float point[3];
    uint8_t found;
    modal_bake_start(t->uv + 6 * i, (double)t->reach, t->width, t->height, &triangle);
    modal_bake_find(&triangle, x, y, (double)t->reach, &place);
    for (int k = 0; k < 3; k++) {
        const double a = (double)t->points[9 * i + k], b = (double)t->points[9 * i + 3 + k], c = (double)t->points[9 * i + 6 + k];
        point[k] = (float)(a + place.weights[0] * (b - a) + place.weights[1] * (c - a));
    }
    const modal_octree_lookup_task one = {.grid = t->grid, .filter = MODAL_OCTREE_TRILINEAR, .n_mips = t->n_mips, .mips = t->mips, .n_points = 1,
                                          .levels = t->levels ? t->levels + i : NULL, .points = point, .outside = t->outside,
                                          .outside_rgba8 = t->outside_rgba8, .values = (char *)t->values + bytes * (size_t)at, .found = &found};
    const modal_status status = modal_octree_lookup_ref(&one, NULL, err);
    t->counts->outside += !found;
    return status;
}

modal_status modal_octree_bake_ref(const modal_octree_bake_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const int width = modal_octree_width(t->grid.channels), words = (t->width + 31) / 32;
    *t->counts = (modal_octree_bake_counts){0};
    memset(t->covered, 0, (size_t)t->height * (size_t)words * sizeof *t->covered);
    for (int64_t y = 0; y < t->height; y++)
        for (int64_t x = 0; x < t->width && status == MODAL_OK; x++) {
            int64_t n_inside;
            const int64_t at = y * t->width + x;
            t->owner[at] = owner_of(t, x, y, &n_inside);
            t->counts->overlapping += n_inside > 1 ? n_inside - 1 : 0;
            if (t->owner[at] != UINT64_MAX) {
                t->covered[y * words + x / 32] |= (uint32_t)1 << x % 32;
                t->counts->covered++;
                status = put_value(t, x, y, err);
            } else if (t->grid.channels == MODAL_OCTREE_RGBA8) {
                ((uint32_t *)t->values)[at] = t->outside_rgba8;
            } else {
                for (int c = 0; c < width; c++) ((float *)t->values)[width * at + c] = t->outside;
            }
        }
    return status;
}
