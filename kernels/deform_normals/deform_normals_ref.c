/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/deform_normals/deform_normals.h"

modal_status modal_deform_normals_ref(const modal_deform_normals_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_deform_ref(task->deform, stream, err);
    return status == MODAL_OK ? modal_normals_dynamic_ref(task->normals, stream, err) : status;
}
