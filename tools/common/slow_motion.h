/* SPDX-License-Identifier: Apache-2.0 */
/* --slow-motion F|auto: seconds that are shown for a second of motion. */
#ifndef TOOLS_COMMON_SLOW_MOTION_H
#define TOOLS_COMMON_SLOW_MOTION_H

#include "lib/model/trajectory.h"
#include "tools/common/options.h"

#define TOOL_OPTION_SLOW_MOTION(which)                                                                     \
    {"slow-motion", 0, "F|auto", NULL,                                                                     \
     which " F seconds for a second; auto: the motion swings at most twice a second.", 0}

/* *factor: 1 without the option, 0 for auto. MODAL_ERROR_USAGE unless it is from 1e-3 to 1e9. */
modal_status tool_slow_motion(const tool_arguments *arguments, double *factor, modal_error *err);

/* The factor of auto for frames start + i step, i < n: the least of 1, 2, 5, 10, 20 ... by which the motion swings at
 * most twice a second, at its frequency sqrt(sum |q'|^2 / sum |q - mean|^2) / (2 pi) over all coordinates. */
double tool_slow_motion_auto(const modal_trajectory *trajectory, int64_t start, int64_t step, int64_t n);

/* 1 for a motion that is seen at its own rate: that swings 0.1 to 4 times a second. A faster one: the factor of auto; a slower one: the
 * largest of 1/2, 1/5, 1/10 ... by which it swings at least every five seconds, not below 1e-3. */
double tool_slow_motion_seen(const modal_trajectory *trajectory, int64_t start, int64_t step, int64_t n);

#endif
