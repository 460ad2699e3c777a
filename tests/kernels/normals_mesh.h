/* SPDX-License-Identifier: Apache-2.0 */
/* A hostile mesh for the operations on neighbours, and positions for it. */
#ifndef MODAL_TESTS_NORMALS_MESH_H
#define MODAL_TESTS_NORMALS_MESH_H

#include "tests/kernels/harness.h"

typedef struct mesh {
    int64_t n, n_triangles;
    int32_t *triangles, *faces, *corners, *corner_faces, *ring;
    int64_t *offsets, *ring_offsets;
} mesh;

/* A grid of triangles over the first vertices (closed fans, boundary fans), random triangles between
 * any vertices (several fans, non-manifold edges), one that repeats a vertex, a vertex of more than a
 * hundred corners; the last tenth of the
 * vertices without faces. */
void mesh_new(mesh *m, harness *h, int64_t n);
/* The tables of a mesh whose n, triangles and n_triangles are set. */
void mesh_finish(mesh *m, harness *h);
void mesh_free(mesh *m);

/* [columns, n, 3], near a grid of step `scale`; the caller frees it. */
float *mesh_positions(const mesh *m, harness *h, int64_t columns, double scale);

/* Holds the normals of one column to those of an oracle in double precision, by the bounds of
 * normals_dynamic.h or normals_two_stage.h. */
void mesh_compare_normals(harness *h, const mesh *m, int two_stage, const float *x,
                          const float *normals);

#endif
