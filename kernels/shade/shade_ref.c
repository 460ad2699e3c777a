/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/shade/shade_math.h"

modal_status modal_shade_ref(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t pixel = 0; pixel < (int64_t)task->width * task->height; pixel++) {
        float limited[3], full[3];
        shade_pixel(task, task->view, pixel, task->samples, limited, full);
        for (int k = 0; task->picture && k < 3; k++) task->picture[4 * pixel + k] = shade_srgb(limited[k]);
        if (task->picture) task->picture[4 * pixel + 3] = 255;
    }
    return MODAL_OK;
}
