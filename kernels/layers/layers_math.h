/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_KERNELS_LAYERS_MATH_H
#define MODAL_KERNELS_LAYERS_MATH_H

#include "kernels/layers/layers.h"
#include "kernels/raster/alpha_math.h"

/* The same triangles as kernels/raster draws. */
RASTER_INLINE modal_raster_task layers_drawing(const modal_layers_task *task)
{
    modal_raster_task r;
    memset(&r, 0, sizeof r);
    r.mesh = task->mesh;
    r.view = task->view;
    r.width = task->width, r.height = task->height, r.samples = task->samples;
    r.cull = task->cull, r.only = task->only;
    r.scratch = task->scratch;
    return r;
}

/* Cuts a triangle's box off at the rows and columns that are wanted; 0: nothing is left. */
RASTER_INLINE int layers_cut(const modal_layers_task *task, raster_setup *box)
{
    box->top = raster_max(box->top, task->first_row), box->bottom = raster_min(box->bottom, task->end_row - 1);
    if (task->end_column > 0)
        box->left = raster_max(box->left, task->first_column), box->right = raster_min(box->right, task->end_column - 1);
    return box->top <= box->bottom && box->left <= box->right;
}

/* The fragment's place in the order of its sample, or MODAL_RASTER_EMPTY: it is none. (x, y) of the sample, 1/256 pixel; corners: of the triangle,
 * where the order is that of triangles; solids: as of paint_alpha. */
RASTER_INLINE uint64_t layers_key(const modal_layers_task *task, uint32_t t, float depth, int64_t sample, const raster_clip corners[3], int32_t x,
                                  int32_t y, int solids)
{
    const uint64_t key = raster_key(depth, t);
    if (key >= task->keys[sample]) return MODAL_RASTER_EMPTY;
    if (!task->submitted) return key;
    if (paint_alpha(&task->mesh, &task->paint, t, corners, (float)x / 256.0f, (float)y / 256.0f, solids) > task->most_alpha) return MODAL_RASTER_EMPTY;
    return (uint64_t)~t << 32 | t;
}

/* Ascending; all differ (D. L. Shell, "A High-Speed Sorting Procedure", 1959; gaps of M. Ciura, 2001). */
RASTER_INLINE void layers_sort(uint64_t *a, int32_t n)
{
    const int32_t gaps[8] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (int g = n > 4 ? 0 : 7; g < 8; g++)
        for (int32_t i = gaps[g]; i < n; i++) {
            const uint64_t key = a[i];
            int32_t k = i;
            for (; k >= gaps[g] && a[k - gaps[g]] > key; k -= gaps[g]) a[k] = a[k - gaps[g]];
            a[k] = key;
        }
}

#endif
