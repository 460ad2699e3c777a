/* SPDX-License-Identifier: Apache-2.0 */
/* Motions of a whole solid in the reduced coordinates of a basis: of all U q the nearest one to u in the norm of the mass matrix M,
 *
 *     q = (U^T M U)^-1 U^T M u,
 *
 * where the inverse is that of one but for rounding, and but for imported columns. */
#ifndef MODAL_FEM_PROJECTION_H
#define MODAL_FEM_PROJECTION_H

#include "lib/fem/assemble.h"
#include "lib/model/basis.h"

typedef struct modal_projection {
    int32_t r;
    int n_threads;
    int64_t n_nodes;         /* of the mesh */
    modal_fem_system system; /* M over all nodes that an element has */
    double *columns;         /* [r, 3 n_free] U */
    double *rows;            /* [r, 3 n_free] (U^T M U)^-1 U^T M */
    double *u, *image;       /* [3 n_free] scratch */
} modal_projection;

/* The shape has the solid and phi at its nodes (formats: VOLUME, VOLUME_MODES); M is by its materials and mass rule. MODAL_ERROR_INPUT:
 * no phi at the nodes, no columns, columns that depend on each other, what modal_fem_assemble refuses. After an error it is zeroed. */
modal_status modal_projection_build(const modal_shape *shape, int n_threads, modal_projection *projection, modal_error *err);
void modal_projection_free(modal_projection *projection);

/* How far U q is from u. */
typedef struct modal_projection_error {
    double left, whole;    /* |u - U q| and |u| in the norm of M, kg^1/2 m */
    double farthest, most; /* the largest |u - U q| and |u| of a node, m */
    int64_t node;          /* where it is farthest */
} modal_projection_error;

/* q [r] of u [n_nodes, 3]. The same bytes for every n_threads. Uses the scratch inside: one thread at a time. */
void modal_projection_apply(modal_projection *projection, const double *u, double *q, modal_projection_error *error);

#endif
