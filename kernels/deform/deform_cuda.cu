// SPDX-License-Identifier: Apache-2.0
// U is read once and u never written: one column moves 12 r + 24 bytes a vertex (12 more with the
// displacement), many columns 12 bytes a vertex and column. More: kernels/modal_sum/tile_product.cuh.
#include "kernels/deform/deform.h"
#include "kernels/modal_sum/tile_product.cuh"
#include "lib/base/tile.h"

extern "C" modal_status modal_deform_cuda(const modal_deform_task *task, modal_stream *stream,
                                          modal_error *err)
{
    const modal_cuda::Product product = {task->n_vertices,   (task->n_vertices + MODAL_TILE - 1) / MODAL_TILE,
                                         task->n_columns,    task->n_modes,
                                         task->modal_matrix, task->rest_tiles,
                                         task->q,            task->poses,
                                         task->positions,    task->displacement};
    if (task->displacement)
        return modal_cuda::launch_product<modal_cuda::DEFORM_WITH_DISPLACEMENT>(
            product, task->n_columns_total, stream, err);
    return modal_cuda::launch_product<modal_cuda::DEFORM>(product, task->n_columns_total, stream,
                                                          err);
}
