/* SPDX-License-Identifier: Apache-2.0 */
/* Normals of many columns take a vertex and its neighbours with a column a lane, from a store of turned
 * positions that stays in the second-level cache (kernels/normals_dynamic). Here the positions of a unit
 * of vertices are not read and turned when the store misses them, but computed: U is broadcast, q lies
 * in the lanes, so the product needs no turning at all. What is computed twice, at the borders of runs
 * of vertices, costs less than writing positions to memory and reading them again.
 *
 * Processor time of one core and what was tried: kernels/VERSIONS.md. */
#include "kernels/deform_normals/deform_normals.h"

#include "kernels/deform_normals/with_product.h"
#include "lib/base/memory.h"

modal_status modal_deform_normals_cpu(const modal_deform_normals_task *task, modal_stream *stream, modal_error *err)
{
    const modal_deform_task *deform = task->deform;
    const modal_normals_dynamic_task *normals = task->normals;
    modal_status status = MODAL_OK;
    float *q = NULL, *poses = NULL;
    const int64_t lanes = modal_normals_columns_of_group(), r = deform->n_modes;
    const int64_t n_groups = (deform->n_columns + lanes - 1) / lanes;
#if defined(__x86_64__)
    const int fused = 2 * deform->n_columns > lanes && modal_normals_order_is_local(normals);
#else
    const int fused = 0; /* there the compiler chooses which multiply-adds are fused */
#endif
    if (!fused) {
        status = modal_deform_cpu(deform, stream, err);
        return status == MODAL_OK ? modal_normals_dynamic_cpu(normals, stream, err) : status;
    }
    MODAL_TRY(modal_alloc(&q, n_groups * lanes * r, sizeof *q, "turned coordinates", err));
    MODAL_TRY(modal_alloc(&poses, n_groups * lanes * 12, sizeof *poses, "turned frames", err));
    for (int64_t c = 0; c < n_groups * lanes; c++) {
        const int64_t from = c < deform->n_columns ? c : deform->n_columns - 1;
        const int64_t group = c / lanes, lane = c % lanes;
        for (int64_t k = 0; k < r; k++)
            q[(group * r + k) * lanes + lane] = deform->q[from * r + k];
        for (int64_t i = 0; i < 12; i++)
            poses[(group * 12 + i) * lanes + lane] = deform->poses[from * 12 + i];
    }
    MODAL_TRY(modal_normals_with_product(deform, normals, q, poses, err));
done:
    modal_free(&q);
    modal_free(&poses);
    return status;
}
