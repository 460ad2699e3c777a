/* SPDX-License-Identifier: Apache-2.0 */
/* What flows along the surface need of an octree: the samples' neighbours on it, and how much of it is theirs. */
#ifndef MODAL_OCTREE_CONNECT_H
#define MODAL_OCTREE_CONNECT_H

#include "lib/base/progress.h"
#include "lib/octree/sheets.h"

/* Sets octree->neighbours and octree->areas, of the sheets of this octree. Samples side by side (26 around one) are neighbours where the
 * piece of one is near to the other, or they have the same nearest triangle: never from one sheet of a thin wall to the other. The area of
 * a sample is the integral of its trilinear weight over the surface, where the weights of corners on other sheets go to those on the same
 * one: the sum over all samples is the area of the surface, to rounding. It is integrated over what each cell cuts of a triangle, by a
 * rule that is exact for quadratic functions. OpenMP; the same bytes for any number of threads. Errors: MODAL_ERROR_MEMORY,
 * MODAL_ERROR_INTERRUPTED. */
modal_status modal_octree_connect(const modal_sheets *sheets, const modal_progress *progress, modal_octree *octree, modal_error *err);

#endif
