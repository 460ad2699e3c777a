/* SPDX-License-Identifier: Apache-2.0 */
/* A private header of the format. */
#ifndef MODAL_FORMATS_TRAJECTORY_RULES_H
#define MODAL_FORMATS_TRAJECTORY_RULES_H

#include "formats/h5/findings.h"
#include "lib/model/trajectory.h"

#define MODAL_MODELS_EXTENSION "modal_models" /* formats/modal_models.md */
#define MODAL_CARRIED_BASIS_EXTENSION "modal_carried_basis" /* formats/modal_carried_basis.md */
#define MODAL_VELOCITIES_EXTENSION "modal_velocities" /* formats/modal_velocities.md */

/* n_coordinates is the second dimension of q. */
modal_status modal_trajectory_rules(const modal_checker *checker,
                                    const modal_trajectory *trajectory, int64_t n_coordinates);

/* What version 1 has beside these; has_moving: /frame_objects is there. */
modal_status modal_trajectory_rules_of_1(const modal_checker *checker, const modal_trajectory *trajectory, int has_moving);

#endif
