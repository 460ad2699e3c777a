/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, sums one after the other: the shortest way through reduced_step_body.h. */
#define RS_NAME modal_reduced_step_ref
#define RS_THREADS 0
#define RS_VECTORS 0
#include "kernels/reduced_step/reduced_step_host.h"

int64_t modal_step_work_size(int64_t n_modes, int64_t parent_modes, int by_grid)
{
    const int64_t size = modal_step_work_size_small(n_modes, parent_modes);
    if (!by_grid || n_modes <= MODAL_STEP_GRID_MODES) return size;
    return size + modal_step_large_sums(n_modes) + modal_step_large_rows(n_modes) + modal_step_pairs(n_modes) +
           2 * modal_step_slot_size(n_modes) +
           MODAL_STEP_UNIT * modal_step_units(n_modes, (n_modes + MODAL_STEP_TILE - 1) / MODAL_STEP_TILE);
}

int64_t modal_step_share_size(int64_t parent_modes) { return rs_equations_size(parent_modes); }

int64_t modal_step_scratch_size(const modal_step_task *t)
{
    const int64_t r = modal_step_padded(t->most_modes), moments = 2 * modal_step_moments(t->most_modes);
    const int64_t matrices = 2 * modal_step_pairs(t->most_modes) + t->most_modes * r;
    return 2 * modal_step_scratch_rows(t->most_modes, t->most_rows) + (matrices > moments ? matrices : moments) + 48 +
           17 * r + 24;
}

int64_t modal_step_device_scratch_size(const modal_step_task *t)
{
    return 2 * modal_step_device_rows(t->most_modes, t->most_rows) + modal_step_device_matrices(t->most_modes) + 48 +
           17 * modal_step_padded(t->most_modes) + 24;
}
