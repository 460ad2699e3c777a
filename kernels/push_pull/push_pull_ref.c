/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/push_pull/push_pull.h"

static int is_covered(const modal_push_pull_task *t, int64_t x, int64_t y)
{
    return (int)(t->covered[y * ((t->width + 31) / 32) + x / 32] >> x % 32 & 1);
}

/* The sums of a block by its texels; `scratch` is not needed. */
static modal_push_pull_sum sum_block(const modal_push_pull_task *t, int level, int64_t bx, int64_t by)
{
    modal_push_pull_sum s = {0};
    for (int64_t y = by << level; y < (by + 1) << level && y < t->height; y++)
        for (int64_t x = bx << level; x < (bx + 1) << level && x < t->width; x++) {
            if (!is_covered(t, x, y)) continue;
            s.n++;
            for (int c = 0; c < 4; c++) s.sum[c] += t->texels[y * t->width + x] >> 8 * c & 255;
        }
    return s;
}

/* The blocks of a level, from large to small: every smaller one that has something overwrites what a larger one has said. */
modal_status modal_push_pull_ref(const modal_push_pull_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int top = 0;
    while (t->width > 1 << top || t->height > 1 << top) top++;
    for (int level = top; level > 0; level--)
        for (int64_t by = 0; by << level < t->height; by++)
            for (int64_t bx = 0; bx << level < t->width; bx++) {
                const modal_push_pull_sum s = sum_block(t, level, bx, by);
                uint32_t mean = 0;
                for (int c = 0; c < 4 && s.n; c++) mean |= (uint32_t)((2 * s.sum[c] + s.n) / (2 * s.n)) << 8 * c;
                for (int64_t y = by << level; s.n && y < (by + 1) << level && y < t->height; y++)
                    for (int64_t x = bx << level; x < (bx + 1) << level && x < t->width; x++)
                        if (!is_covered(t, x, y)) t->texels[y * t->width + x] = mean;
            }
    return MODAL_OK;
}
