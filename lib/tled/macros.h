/* SPDX-License-Identifier: Apache-2.0 */
/* Macro-elements of a solid (kernels/tled_step/tled_solid.h): which tetrahedra share one mean. */
#ifndef MODAL_TLED_MACROS_H
#define MODAL_TLED_MACROS_H

#include <stdint.h>

#include "lib/base/status.h"

/* Macros are fans of at most six tetrahedra about an edge (kernels/tled_layout/tled_fans.h), after those of fewer than five have joined a
 * neighbour of the same kind: the one with most faces in common, of those the smallest. So few have fewer, where kinds meet.
 *
 * corners [n, 4] are nodes at nodes [n_nodes, 3], kinds [n] whole numbers. order [n] becomes the tetrahedra macro after macro, in the order of
 * their earliest ones; *offsets [*n_macros + 1], the caller's to free, where each begins. Depends on nothing but its arguments. Errors:
 * MODAL_ERROR_MEMORY; *offsets is NULL then. */
modal_status modal_tled_macros_make(int64_t n, const int32_t (*corners)[4], const int32_t *kinds, int64_t n_nodes, const double (*nodes)[3],
                                    int32_t *order, int64_t *n_macros, int64_t **offsets, modal_error *err);

#endif
