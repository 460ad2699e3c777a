/* SPDX-License-Identifier: Apache-2.0 */
/* How good the tetrahedra of a mesh are. */
#ifndef MODAL_MESH_QUALITY_H
#define MODAL_MESH_QUALITY_H

#include "lib/model/volume_mesh.h"

enum { MODAL_RATIO_BINS = 10, MODAL_ANGLE_BINS = 18 };

typedef struct modal_mesh_quality {
    int64_t n_tetrahedra;  /* of 4 or 10 nodes, whose corners count; the rest: */
    int64_t n_others;      /* are not looked at */
    double least_ratio, mean_ratio; /* 3 inradius / circumradius: 1 for a regular tetrahedron, 0 for a flat one */
    double least_angle, greatest_angle; /* degrees, between faces */
    int64_t ratios[MODAL_RATIO_BINS]; /* tetrahedra by their ratio, in tenths */
    int64_t angles[MODAL_ANGLE_BINS]; /* angles, six a tetrahedron, in tens of degrees */
    int64_t worst;                    /* tag of the element of the least ratio, -1 = none */
} modal_mesh_quality;

/* O(n). Numbers are 0 where there are no tetrahedra. */
void modal_mesh_measure_quality(const modal_volume_mesh *mesh, modal_mesh_quality *quality);

#endif
