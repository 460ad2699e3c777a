/* SPDX-License-Identifier: Apache-2.0 */
/* How far a frame may be trusted. */
#include <math.h>

#include "lib/forest/simulate_private.h"

static void measure_steps(modal_scene_run *r, modal_quality *quality)
{
    const modal_simulation *s = r->s;
    int64_t steps, iterations, halvings, shortened, kept;
    double balance;
    modal_judge_frame(r->judge, quality);
    modal_forest_counts(r->forest, &steps, &iterations, &halvings);
    modal_judge_counts(r->judge, &shortened, &kept, &balance);
    quality->halvings = (double)(halvings + shortened - r->shorter);
    r->shorter = halvings + shortened;
    for (int32_t i = 0; i < s->basis->n_objects; i++)
        if (modal_forest_tree_of(r->forest, i) >= 0)
            quality->newton_residual = fmax(quality->newton_residual, s->state.measures[i].residual);
}

void modal_scene_run_quality(modal_scene_run *r)
{
    modal_quality *quality = &r->s->quality;
    *quality = modal_quality_none();
    measure_steps(r, quality);
}
