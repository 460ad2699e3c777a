/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/octree_bake/octree_bake.h"

static modal_status put_value(const modal_octree_bake_task *t, int64_t x, int64_t y, modal_error *err)
{
    const int64_t at = y * t->width + x, i = (int64_t)(t->owner[at] & UINT32_MAX);
    const size_t bytes = modal_octree_value_bytes(t->grid.channels);
    float point[3] = {0};
    uint8_t found;
    modal_bake_point(t, i, x, y, point);
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
            t->owner[at] = modal_bake_owner(t, x, y, &n_inside);
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
