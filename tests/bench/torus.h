/* SPDX-License-Identifier: Apache-2.0 */
/* A closed mesh of width^2 vertices and 2 width^2 triangles: a grid whose edges meet, bent to a torus.
 * With width 675 as large as the dragon of the 2020 paper's table 2 (455,625 vertices, 911,250
 * triangles). */
#ifndef MODAL_TESTS_TORUS_H
#define MODAL_TESTS_TORUS_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"

typedef struct torus {
    int64_t n_vertices, n_triangles;
    float *positions;      /* [n_vertices, 3] m */
    int32_t *triangles;    /* [n_triangles, 3] */
    int64_t *face_offsets; /* [n_vertices + 1] */
    int32_t *face_starts;  /* the same in 32 bits */
    int32_t *faces;        /* [3 n_triangles], ascending for each vertex */
    int32_t *corners;      /* [3 n_triangles, 2] of kernels/normals_dynamic */
    int64_t *ring_offsets; /* [ceil(n_vertices / 32) + 1] */
    int32_t *ring;         /* [n_rows, 32] */
    int64_t n_rows;
} torus;

/* shuffled: vertices and triangles in a random order instead of along the grid. */
modal_status torus_new(torus **t, int64_t width, int shuffled, modal_error *err);
torus *torus_delete(torus *t);

/* A basis of one such shape with r random modes, small against the torus, and one object. */
modal_status torus_basis(modal_basis *basis, const torus *t, int32_t n_modes, modal_error *err);

#endif
