/* SPDX-License-Identifier: Apache-2.0 */
/* Faces of elements, to find those that elements share. */
#ifndef MODAL_MESH_FACES_H
#define MODAL_MESH_FACES_H

#include "lib/model/volume_mesh.h"

/* Corners ascending; a triangle has -1 for the fourth. */
typedef struct modal_face {
    int32_t corners[4];
    int32_t element;
} modal_face;

modal_face modal_face_of(const modal_volume_mesh *mesh, int64_t element, int face);

/* For qsort: by corners, then by element. */
int modal_faces_compare(const void *a, const void *b);

/* By corners alone: also for bsearch. */
int modal_faces_compare_corners(const void *a, const void *b);

#endif
