/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of a whole solid on a page, which knows columns and coordinates only: a basis of the surface's own motion. */
#ifndef TOOLS_MODALVIEW_SNAPSHOTS_H
#define TOOLS_MODALVIEW_SNAPSHOTS_H

#include "lib/model/basis.h"
#include "lib/model/trajectory.h"
#include "tools/common/tool.h"

enum { MODALVIEW_COLUMNS = 60 }; /* the most */

/* Makes of the file's surface and displacements a basis of one object and its trajectory, by proper orthogonal decomposition: as few
 * columns as bring every vertex in every frame to within 1e-3 of the largest displacement; *error is what is reached.
 * MODAL_ERROR_INPUT: what snapshots.md refuses, no /solid or times, nothing moves, and where MODALVIEW_COLUMNS do not reach it. Frees
 * are the caller's, also after an error. */
modal_status modalview_read_snapshots(tool *t, const char *path, modal_basis *basis, modal_trajectory *trajectory, double *error,
                                      modal_error *err);

#endif
