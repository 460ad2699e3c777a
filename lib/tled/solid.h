/* SPDX-License-Identifier: Apache-2.0 */
/* The solid that kernels/tled_step moves, made of a mesh: nodes and elements in an order of the tool's own, masses, laws. */
#ifndef MODAL_TLED_SOLID_H
#define MODAL_TLED_SOLID_H

#include "kernels/tled_step/tled_solid.h"
#include "lib/laws/law.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_tled_model {
    modal_tled_solid solid; /* its arrays belong to the model; loads are lib/tled/loads.h's */
    int32_t *node_from;     /* [n_nodes] the mesh's index of node i */
    int32_t *node_to;       /* [n_nodes] the other way */
    int64_t *element_from;  /* [elements] the mesh's index of element e */
    modal_law *laws;        /* [solid.n_materials] the same laws, for energies */
    double *densities;      /* [solid.n_materials] kg/m^3 */
} modal_tled_model;

/* What the scene says of elements. */
typedef struct modal_tled_request {
    const uint8_t *element_law; /* [n_elements] a modal_law_kind */
    double hourglass;           /* kappa; below 0: of each material its own, (1 - 2 nu) / 5, 0.1 at most */
    int averages;               /* 1: tetrahedra with nodal pressures */
    int macros;                 /* 1: tetrahedra with means over patches of them (macros.h); not both */
    int centre;                 /* 1: gradients of hexahedra at their centres, not their means */
} modal_tled_request;

/* Nodes along a Morton curve, elements likewise by their centroids, tetrahedra first; equal ones in the mesh's order. Of macro-elements
 * the tetrahedra follow the first one, and have the mean direction of their fibres. The
 * mesh must have passed modal_volume_mesh_check and every element have a material. Fibres and Prony terms are those of
 * the materials. Refused as MODAL_ERROR_INPUT, by the user's number: elements that are neither TET4 nor HEX8, orthotropic
 * materials, a fibre without a direction, nodal pressures of the St. Venant-Kirchhoff law, which has no volumetric part; the linear
 * law is the caller's mistake. After an error the model is zeroed. */
modal_status modal_tled_model_new(const modal_volume_mesh *mesh, const modal_tled_request *request, modal_tled_model *model,
                                  modal_error *err);
void modal_tled_model_free(modal_tled_model *model); /* loads, too */

/* Morton's key of a point in a box: 21 bits an axis. */
uint64_t modal_tled_morton(const double x[3], const double low[3], double extent);

#endif
