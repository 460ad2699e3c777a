/* SPDX-License-Identifier: Apache-2.0 */
/* The loop is modal_sum's with the transform behind it, see kernels/modal_sum/modal_sum_cpu.c. */
#include "kernels/deform/deform.h"
#include "kernels/modal_sum/tile_product.h"

modal_status modal_deform_cpu(const modal_deform_task *task, modal_stream *stream,
                              modal_error *err)
{
    (void)stream, (void)err;
    const modal_tile_product product = {.n_vertices = task->n_vertices,
                                        .n_columns = task->n_columns,
                                        .n_modes = task->n_modes,
                                        .modal_matrix = task->modal_matrix,
                                        .rest_tiles = task->rest_tiles,
                                        .q = task->q,
                                        .poses = task->poses,
                                        .positions = task->positions,
                                        .displacement = task->displacement};
    modal_tile_product_cpu(&product);
    return MODAL_OK;
}
