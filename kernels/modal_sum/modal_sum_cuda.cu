// SPDX-License-Identifier: Apache-2.0
// Why it is fast: kernels/modal_sum/tile_product.cuh.
#include "kernels/modal_sum/modal_sum.h"
#include "kernels/modal_sum/tile_product.cuh"
#include "lib/base/tile.h"

extern "C" modal_status modal_sum_cuda(const modal_sum_task *task, modal_stream *stream,
                                       modal_error *err)
{
    const modal_cuda::Product product = {task->n_vertices,
                                         (task->n_vertices + MODAL_TILE - 1) / MODAL_TILE,
                                         task->n_columns,
                                         task->n_modes,
                                         task->modal_matrix,
                                         nullptr,
                                         task->q,
                                         nullptr,
                                         task->u,
                                         nullptr};
    return modal_cuda::launch_product<modal_cuda::SUM>(product, task->n_columns_total, stream,
                                                       err);
}
