/* SPDX-License-Identifier: Apache-2.0 */
/* Better tetrahedra: edges and faces exchanged, nodes moved, merged and added, where angles are bad. */
#ifndef MODAL_MESH_IMPROVE_H
#define MODAL_MESH_IMPROVE_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_improvement {
    int64_t n_edges;   /* exchanged: the elements around an edge */
    int64_t n_faces;   /* exchanged: two elements at a face for three */
    int64_t n_peeled;  /* flat elements taken off the surface */
    int64_t n_merged, n_moved, n_added; /* nodes */
    int64_t n_bad_before, n_bad;        /* elements with an angle between faces below the one that is wanted, or above 180 degrees less it */
    int32_t n_rounds;
    int64_t n_still;     /* nodes of the surface near which it was left alone, since it would have crossed itself */
    double distances[2]; /* m, measured: of the new surface's points to the old one at most, and of the old one's to it */
} modal_improvement;

/* Improves a mesh of linear tetrahedra, which has passed modal_volume_mesh_check, until no angle between two faces of an
 * element is below `angle` (radians, < pi / 3) or above pi - angle, or nothing helps. An operation is done only where the
 * least sine of the elements around becomes larger, so that no element becomes worse than the worst of its neighbours was.
 * What is good enough already is left alone.
 * The boundary stays within `distance` (m, >= 0) of what it was, both ways, checked at points of every new face and at the
 * corners, edges and middles of the old ones, and measured at the end at points an eighth of that apart; 0: it is cut into other
 * triangles only where it is plane, within 1e-7 of the box's diagonal. It never crosses itself where it did not before. Each part of the boundary
 * between surface groups stays within that distance of itself. Faces between volume groups or materials and nodes of groups
 * that no boundary faces make, and nodes that are held, stay.
 * Nodes and elements that are left keep their tags; new ones have larger tags than all others. Groups follow.
 * By the steps of B. M. Klingner, J. R. Shewchuk, "Aggressive Tetrahedral Mesh Improvement", 2007, edges after
 * G. T. Klincsek, 1980. One thread; the same result for the same mesh.
 * MODAL_ERROR_INPUT: other elements, or directions of fibres in elements. On an error the mesh is unchanged. */
modal_status modal_volume_mesh_improve(modal_volume_mesh *mesh, double distance, double angle, modal_improvement *told,
                                       modal_error *err);

#endif
