/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/shade/shade_math.h"

modal_status modal_shade_ref(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int32_t first, end, left, right;
    if (task->layers && !shade_is_listed(task)) return MODAL_OK;
    shade_rows(task, &first, &end);
    shade_columns(task, &left, &right);
    for (int64_t pixel = (int64_t)task->width * first + left; pixel < (int64_t)task->width * (end - 1) + right; pixel++) {
        float limited[3], full[3];
        uint32_t counts[MODAL_SHADE_SOURCES] = {0};
        shade_pixel(task, task->view, pixel, task->samples, shade_has(task), limited, full, counts);
        for (int k = 0; task->sources && k < MODAL_SHADE_SOURCES; k++) task->sources[k] += counts[k];
        for (int k = 0; task->picture && k < 3; k++) task->picture[4 * pixel + k] = shade_srgb(limited[k]);
        if (task->picture) task->picture[4 * pixel + 3] = 255;
        for (int k = 0; task->deep && k < 4; k++) task->deep[4 * pixel + k] = k < 3 ? shade_deep(limited[k]) : 65535;
        if (task->motion) shade_motion(task, task->view, task->view_before, pixel, task->samples);
    }
    return MODAL_OK;
}
