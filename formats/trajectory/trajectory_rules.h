/* SPDX-License-Identifier: Apache-2.0 */
/* A private header of the format. */
#ifndef MODAL_FORMATS_TRAJECTORY_RULES_H
#define MODAL_FORMATS_TRAJECTORY_RULES_H

#include "formats/h5/findings.h"
#include "lib/model/trajectory.h"

/* n_coordinates is the second dimension of q. */
modal_status modal_trajectory_rules(const modal_checker *checker,
                                    const modal_trajectory *trajectory, int64_t n_coordinates);

#endif
