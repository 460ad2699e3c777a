/* SPDX-License-Identifier: Apache-2.0 */
/* One mesh, several shapes: its bodies, or its volume groups. */
#ifndef MODAL_SHAPE_SPLIT_H
#define MODAL_SHAPE_SPLIT_H

#include <stdint.h>

#include "lib/model/basis.h"

/* part[e] of each element: elements that share a node are one body; numbered by their first elements. */
modal_status modal_split_bodies(const modal_volume_mesh *mesh, int32_t *part, int32_t *n_parts,
                                modal_error *err);

/* part[e]: the volume groups of the mesh that have elements, in their order; group[k] is the group of part
 * k, room for n_groups. MODAL_ERROR_INPUT: an element in no volume group or in two, by its user tag. */
modal_status modal_split_groups(const modal_volume_mesh *mesh, int32_t *part, int32_t *group,
                                int32_t *n_parts, modal_error *err);

/* The solid of each part: `volume`, `fixed_nodes` and `fixed_components` of n_parts zeroed shapes from
 * those of the whole. Nodes and elements keep their order; materials and groups that a part has
 * nothing of are left out. A node of two parts becomes one of each; *n_shared counts such nodes. On an
 * error the caller frees the shapes. O(mesh + parts). */
modal_status modal_split_shape(const modal_shape *whole, const int32_t *part, int32_t n_parts,
                               modal_shape *parts, int64_t *n_shared, modal_error *err);

#endif
