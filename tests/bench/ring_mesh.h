/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes for curvature, with the tables that its operations and their opponents read. */
#ifndef MODAL_TESTS_RING_MESH_H
#define MODAL_TESTS_RING_MESH_H

#include <stdint.h>

#include "lib/base/status.h"

typedef enum ring_shape {
    RING_TORUS,     /* width^2 vertices, closed, regular */
    RING_SADDLE,    /* z = x^2 - y^2 over [-1, 1]^2, width^2 vertices, regular */
    RING_IRREGULAR, /* the saddle, vertices aside by up to `aside` of a step, diagonals at random */
    RING_FAN        /* the saddle, with a vertex of valence RING_FAN_VALENCE in the middle of a square without others */
} ring_shape;

enum { RING_FAN_SIDE = 50, RING_FAN_VALENCE = 4 * RING_FAN_SIDE };

typedef struct ring_mesh {
    int64_t n_vertices, n_triangles, n_rows;
    double *positions;     /* [n_vertices, 3]; those of float32 */
    int32_t *triangles;    /* [n_triangles, 3] */
    int64_t *offsets;      /* [n_vertices + 1] of faces and corners */
    int32_t *faces;        /* [3 n_triangles] */
    int32_t *corners;      /* [3 n_triangles, 2], kernels/normals_dynamic */
    int64_t *ring_offsets; /* [ceil(n_vertices / 32) + 1] */
    int32_t *ring;         /* [n_rows, 32] */
    float scale;           /* about 1 / length of an edge */
} ring_mesh;

/* shuffled: vertices and triangles at random instead of in the order in which the tools store vertices. */
modal_status ring_mesh_new(ring_mesh **mesh, ring_shape shape, int64_t width, double aside, int shuffled, modal_error *err);
ring_mesh *ring_mesh_delete(ring_mesh *mesh);

#endif
