/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools that take TRAJ do alike: read it, from a file or a pipe, and find its basis. */
#ifndef TOOLS_COMMON_TRAJECTORY_INPUT_H
#define TOOLS_COMMON_TRAJECTORY_INPUT_H

#include "lib/base/status.h"
#include "lib/model/trajectory.h"

/* "-" is standard input (hdf5_stdin.h). `hash`, of the file's bytes, may be NULL. */
modal_status tool_read_trajectory(const char *path, modal_trajectory *trajectory, char hash[MODAL_HASH_TEXT], modal_error *err);

/* The path of its basis: `given` (the value of --basis, or NULL), else that of a file in memory where the trajectory carries its basis, whose
 * bytes it then loses, else as the trajectory has it. The caller owns it. MODAL_ERROR_INPUT when the last one is not there. */
modal_status tool_find_basis(const char *given, const char *trajectory_path, modal_trajectory *trajectory, char **path, modal_error *err);

#endif
