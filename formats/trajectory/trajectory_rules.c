/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of trajectory.md on values, for the arrays that are there. */
#include "formats/trajectory/trajectory_rules.h"

#include <math.h>
#include <string.h>

#include "formats/h5/quality_h5.h"
#include "formats/h5/rules.h"

static modal_status time_rules(const modal_checker *c, const modal_trajectory *t)
{
    modal_status status =
        modal_rule_finite(c, "/times", t->times, t->n_frames, 1, (modal_axes){"frame", ""});
    if (status != MODAL_OK || !t->times) return status;
    for (int64_t i = 1; i < t->n_frames; i++)
        if (t->times[i] <= t->times[i - 1]) /* NaN is reported above */
            return modal_broken(c, "/times", "frame %lld: not increasing, %.17g after %.17g",
                                (long long)i, t->times[i], t->times[i - 1]);
    return MODAL_OK;
}

static modal_status offset_rules(const modal_checker *c, const modal_trajectory *t,
                                 int64_t n_coordinates)
{
    int sound = 0;
    modal_status status = modal_rule_offsets(c, "/mode_offsets", t->mode_offsets, t->n_objects,
                                             n_coordinates, &sound);
    if (status == MODAL_OK && sound && n_coordinates < 1)
        status = modal_broken(c, "/mode_offsets", "no object has coordinates");
    return status;
}

modal_status modal_trajectory_rules(const modal_checker *c, const modal_trajectory *t,
                                    int64_t n_coordinates)
{
    modal_status status = MODAL_OK;
    if (t->times && t->n_frames < 1) MODAL_TRY(modal_broken(c, "/times", "no frames"));
    if (t->mode_offsets && t->n_objects < 1)
        MODAL_TRY(modal_broken(c, "/mode_offsets", "no objects"));
    MODAL_TRY(time_rules(c, t));
    if (t->q && t->n_objects >= 1) MODAL_TRY(offset_rules(c, t, n_coordinates));
    MODAL_TRY(modal_rule_finite(c, "/q", t->q, t->n_frames, n_coordinates,
                                (modal_axes){"frame", "coordinate"}));
    MODAL_TRY(modal_rule_finite(c, "/q_velocities", t->q_velocities, t->n_frames, n_coordinates, (modal_axes){"frame", "coordinate"}));
    MODAL_TRY(modal_rule_finite(c, "/pose_velocities", t->pose_velocities, t->n_frames, 12 * (int64_t)t->n_objects, (modal_axes){"frame", "number"}));
    MODAL_TRY(modal_rule_poses(c, "/poses", t->poses, t->n_frames, t->n_objects));
    MODAL_TRY(modal_rule_finite(c, "/energy", t->energy, t->n_frames, 4, (modal_axes){"frame", "part"}));
    MODAL_TRY(modal_quality_rules(c, t->quality, t->n_frames, t->n_objects));
    MODAL_TRY(modal_rule_finite(c, "/rebase_errors", t->rebase_errors, t->n_objects, 1, (modal_axes){"object", ""}));
    for (int32_t i = 0; t->rebase_errors && i < t->n_objects; i++)
        if (t->rebase_errors[i] < 0)
            MODAL_TRY(modal_broken(c, "/rebase_errors", "object %d: negative, %g", i, t->rebase_errors[i]));
    MODAL_TRY(modal_rule_at_least(c, "/projection_errors", t->projection_errors, 4 * t->n_frames, 0, 0));
    for (int32_t i = 0; t->models && i < t->n_objects; i++)
        if (t->models[i] > 1) MODAL_TRY(modal_broken(c, "/models", "object %d: no model of number %d", i, t->models[i]));
    if (t->basis_path && !t->basis_path[0]) MODAL_TRY(modal_broken(c, "/@basis_path", "empty"));
    MODAL_TRY(modal_rule_hash(c, "/@basis_hash", t->basis_hash));
done:
    return status;
}
