/* SPDX-License-Identifier: Apache-2.0 */
/* A block of linear tetrahedra with component-wise arrays, one lane an element, so that the loops
 * over a block's elements are vector loops. Private to the room. */
#ifndef MODAL_REDUCED_ELEMENTS_H
#define MODAL_REDUCED_ELEMENTS_H

#include "lib/base/status.h"
#include "lib/mesh/volume_mesh.h"

enum { REDUCED_LANES = 256, REDUCED_ROOT = 21 };

typedef struct reduced_elements {
    int32_t nodes[4][REDUCED_LANES];
    double gradients[4][3][REDUCED_LANES]; /* of the shape functions, 1/m */
    /* upper triangle, by rows, of sqrt(V) R with R^T R = C for the strains 11 22 33 2*23 2*13 2*12 */
    double root[REDUCED_ROOT][REDUCED_LANES];
} reduced_elements;

/* Loads the elements [first, first + REDUCED_LANES); lanes past the last element are of node 0, with
 * gradients and roots of 0. MODAL_ERROR_INPUT as modal_stvk_reduced_forces. */
modal_status reduced_elements_load(const modal_volume_mesh *mesh, int64_t first,
                                   reduced_elements *block, modal_error *err);

/* gradient [3, 3, REDUCED_LANES]: row p, column k is d u_p / d x_k of the field u [n_nodes, 3]. */
void reduced_elements_gradient(const reduced_elements *block, const double *u,
                               double gradient[restrict][REDUCED_LANES]);

/* strain [6, REDUCED_LANES], shears doubled: of sym(G), and of (A^T B + B^T A) / 2 times scale. */
void reduced_linear_strain(double g[restrict][REDUCED_LANES],
                           double strain[restrict][REDUCED_LANES]);
void reduced_product_strain(double a[restrict][REDUCED_LANES],
                            double b[restrict][REDUCED_LANES], double scale,
                            double strain[restrict][REDUCED_LANES]);

/* out [6, REDUCED_LANES] = root * strain. out may not be strain. */
void reduced_root_times(const reduced_elements *block, double strain[restrict][REDUCED_LANES],
                        double out[restrict][REDUCED_LANES]);

/* Stress times volume, [3, 3, REDUCED_LANES] symmetric: V C strain = root^T root strain. */
void reduced_stress(const reduced_elements *block, double strain[restrict][REDUCED_LANES],
                    double stress[restrict][REDUCED_LANES]);

#endif
