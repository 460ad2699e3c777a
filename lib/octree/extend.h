/* SPDX-License-Identifier: Apache-2.0 */
/* Colours for samples that no layer covers: push-pull on the tree. */
#ifndef MODAL_OCTREE_EXTEND_H
#define MODAL_OCTREE_EXTEND_H

#include "lib/base/status.h"
#include "lib/model/octree.h"

/* Of rgba8: makes all samples clear, so that layers that follow show what they cover. */
void modal_octree_clear(modal_octree *octree);

/* A sample that is clear (alpha 0) gets the mean of what is painted in the smallest cube of 2, 4, 8, ... samples around it, aligned as nodes of a tree of n = 2
 * are, that has something: in linear light, weighted by alpha. Then all samples are opaque. *n counts those that were clear. The
 * same bytes everywhere. MODAL_ERROR_INPUT where nothing is painted; MODAL_ERROR_MEMORY. */
modal_status modal_octree_extend(modal_octree *octree, int64_t *n, modal_error *err);

#endif
