/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are given (snapshots.h5, a sequence) instead of a trajectory: their surface where that of a basis stands. */
#ifndef TOOLS_COMMON_GIVEN_BASIS_H
#define TOOLS_COMMON_GIVEN_BASIS_H

#include "lib/model/basis.h"

/* One object of one shape without modes. Its points are the nodes [n_nodes, 3] that triangles have, or with `all` all of them, ascending:
 * point p is node (*node_of)[p], which the caller frees, after an error, too. All is copied;
 * nodes of triangles are in range. MODAL_ERROR_INPUT: a triangle with
 * a node twice; MODAL_ERROR_MEMORY. The caller frees the basis, which was zeroed, after an error, too. */
modal_status tool_given_basis(int64_t n_nodes, const double *nodes, int64_t n_triangles, const int32_t *triangles, int all, modal_basis *basis,
                              int32_t **node_of, modal_error *err);

#endif
