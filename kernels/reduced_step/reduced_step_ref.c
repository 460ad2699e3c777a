/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, sums one after the other: the shortest way through reduced_step_body.h. */
#define RS_NAME modal_reduced_step_ref
#define RS_THREADS 0
#define RS_VECTORS 0
#include "kernels/reduced_step/reduced_step_host.h"

int64_t modal_step_work_size(int64_t n_modes, int64_t parent_modes)
{
    return rs_equations_size(n_modes) + 8 * n_modes + n_modes * modal_step_padded(n_modes) +
           6 * modal_step_padded(n_modes) + 8 + 32 + 12 * modal_step_padded(parent_modes) + 16;
}

int64_t modal_step_share_size(int64_t parent_modes) { return rs_equations_size(parent_modes); }

int64_t modal_step_scratch_size(const modal_step_task *t)
{
    const int64_t r = modal_step_padded(t->most_modes), moments = 2 * modal_step_moments(t->most_modes);
    const int64_t matrices = 2 * modal_step_pairs(t->most_modes) + t->most_modes * r;
    return 2 * modal_step_scratch_rows(t->most_modes, t->most_rows) + (matrices > moments ? matrices : moments) + 48 +
           17 * r + 24;
}
