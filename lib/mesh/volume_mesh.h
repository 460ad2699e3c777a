/* SPDX-License-Identifier: Apache-2.0 */
/* The solid as the user handed it over: nodes, tetrahedra, named groups, materials. Plain data. */
#ifndef MODAL_MESH_VOLUME_MESH_H
#define MODAL_MESH_VOLUME_MESH_H

#include <stdint.h>

#include "lib/base/status.h"

/* Isotropic linear elastic material, SI units. */
typedef struct modal_material {
    char *name;
    double young;   /* E, Pa */
    double poisson; /* nu */
    double density; /* rho, kg/m^3 */
} modal_material;

/* A named set. Volume groups (dimension 3) list elements and their nodes; surface, line and point
 * groups list their nodes only. Ascending, without repeats. */
typedef struct modal_group {
    char *name;
    int32_t dimension; /* 0 .. 3 */
    int32_t tag;       /* the file's number for it, or -1 */
    int64_t n_nodes;
    int32_t *nodes; /* [n_nodes] indices of nodes */
    int64_t n_elements;
    int32_t *elements; /* [n_elements] indices of tetrahedra */
} modal_group;

typedef struct modal_volume_mesh {
    int64_t n_nodes;
    double *nodes;      /* [n_nodes, 3] m */
    int64_t *node_tags; /* [n_nodes] the user's number of each node */
    int64_t n_elements;
    int32_t *tetrahedra;   /* [n_elements, 4] indices of nodes */
    int64_t *element_tags; /* [n_elements] the user's number of each element */
    int32_t n_groups;
    modal_group *groups; /* [n_groups] */
    int32_t n_materials;
    modal_material *materials; /* [n_materials] */
    int32_t *element_material; /* [n_elements] index of a material, -1 = none yet */
} modal_volume_mesh;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_volume_mesh_free(modal_volume_mesh *mesh);

/* A finer surface to be carried by the solid, as read from a file. Plain data. */
typedef struct modal_surface_mesh {
    int64_t n_vertices;
    double *positions; /* [n_vertices, 3] m */
    int64_t n_triangles;
    int32_t *triangles; /* [n_triangles, 3] indices of vertices */
    int64_t n_uv;
    double *uv;           /* [n_uv, 2], or NULL */
    int32_t *triangle_uv; /* [n_triangles, 3] indices of uv, or NULL */
} modal_surface_mesh;

void modal_surface_mesh_free(modal_surface_mesh *surface);

#endif
