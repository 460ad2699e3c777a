/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_placed/normals_placed.h"

#include "kernels/reorder/reorder.h"
#include "lib/base/memory.h"

modal_status modal_normals_placed_ref(const modal_normals_placed_task *task, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *normals = NULL;
    modal_normals_dynamic_task surface = task->surface;
    MODAL_TRY(modal_alloc(&normals, surface.n_vertices * surface.n_columns, 3 * sizeof *normals, "normals", err));
    surface.normals = normals;
    MODAL_TRY(modal_normals_dynamic_ref(&surface, stream, err));
    for (int i = 0; i < 2; i++) {
        const modal_reorder_task place = {.n_vertices = surface.n_vertices,
                                          .n_columns = surface.n_columns,
                                          .width = 3,
                                          .in = i ? normals : surface.positions,
                                          .base = task->base,
                                          .out = i ? task->normals : task->positions,
                                          .source = task->source,
                                          .target = task->source ? NULL : task->target,
                                          .nonfinite = task->nonfinite};
        MODAL_TRY(modal_reorder_ref(&place, stream, err));
    }
done:
    modal_free(&normals);
    return status;
}
