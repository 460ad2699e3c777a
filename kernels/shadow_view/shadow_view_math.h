/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_KERNELS_SHADOW_VIEW_MATH_H
#define MODAL_KERNELS_SHADOW_VIEW_MATH_H

#include "kernels/raster/raster_math.h"
#include "kernels/shadow_view/shadow_view.h"

typedef struct shadow_box {
    float low[3], high[3]; /* low > high: nothing is in it */
} shadow_box;

RASTER_INLINE shadow_box shadow_box_empty(void)
{
    shadow_box b;
    for (int k = 0; k < 3; k++) b.low[k] = FLT_MAX, b.high[k] = -FLT_MAX;
    return b;
}

RASTER_INLINE void shadow_box_join(shadow_box *b, const float low[3], const float high[3])
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = low[k] < b->low[k] ? low[k] : b->low[k];
        b->high[k] = high[k] > b->high[k] ? high[k] : b->high[k];
    }
}

RASTER_INLINE void shadow_box_add(shadow_box *b, const modal_shadow_view_task *task, const float *p)
{
    float at[3]; /* + 0: a minus before a zero would depend on the order */
    at[0] = ((task->right[0] * p[0] + task->right[1] * p[1]) + task->right[2] * p[2]) + 0.0f;
    at[1] = ((task->up[0] * p[0] + task->up[1] * p[1]) + task->up[2] * p[2]) + 0.0f;
    at[2] = ((task->along[0] * p[0] + task->along[1] * p[1]) + task->along[2] * p[2]) + 0.0f;
    if ((fabsf(at[0]) + fabsf(at[1])) + fabsf(at[2]) <= FLT_MAX) shadow_box_join(b, at, at);
}

RASTER_INLINE modal_raster_view shadow_view_of(const modal_shadow_view_task *task, const shadow_box *box)
{
    float middle[3], extent[3];
    modal_raster_view v;
    for (int k = 0; k < 3; k++) {
        const int empty = !(box->high[k] > box->low[k]);
        middle[k] = box->low[0] > box->high[0] ? 0.0f : box->low[k] * 0.5f + box->high[k] * 0.5f;
        extent[k] = empty ? 1.0f : box->high[k] - box->low[k];
    }
    const float side = extent[0] > extent[1] ? extent[0] : extent[1];
    const float scale = (float)(task->size - 2 * task->margin) / side, depth = 0.5f / extent[2];
    for (int k = 0; k < 3; k++) {
        v.origin[k] = (task->right[k] * middle[0] + task->up[k] * middle[1]) + task->along[k] * middle[2];
        v.x[k] = task->right[k] * scale;
        v.y[k] = -task->up[k] * scale;
        v.w[k] = 0.0f;
        v.depth[k] = -task->along[k] * depth;
    }
    v.x[3] = v.y[3] = (float)task->size * 0.5f;
    v.w[3] = 1.0f;
    v.depth[3] = 0.75f;
    v.near_w = 0.5f;
    return v;
}

#endif
