/* SPDX-License-Identifier: Apache-2.0 */
/* The quadrature points of a solid, those of its stiffness (lib/mesh/element_shape.h). To a material law a
 * point is all that there is of an element: a weight in m^3 and a displacement whose gradient is linear in
 * the nodes, so that elements of every type are alike here, linear tetrahedra being those of one point.
 * Points come in blocks of one type with component-wise arrays, one lane a point, so that the loops over a
 * block are vector loops. Private to the room. */
#ifndef MODAL_REDUCED_POINTS_H
#define MODAL_REDUCED_POINTS_H

#include "lib/base/status.h"
#include "lib/laws/lanes.h"
#include "lib/mesh/measure.h"
#include "lib/model/volume_mesh.h"

enum { REDUCED_LANES = MODAL_LAW_LANES };

typedef struct reduced_points {
    const modal_volume_mesh *mesh; /* borrowed */
    modal_rule_table rules;
    double (*roots)[MODAL_ELASTICITY_ROOT]; /* [n_materials] Cholesky factor R of those that are used, see below */
    int32_t *order;                /* [n_elements] elements by type, each type's ascending */
    int64_t first_element[MODAL_ELEMENT_TYPES + 1]; /* of each type in `order` */
    int64_t first_block[MODAL_ELEMENT_TYPES + 1];
    int64_t n_blocks;
} reduced_points;

typedef struct reduced_block {
    int n_nodes, n_lanes; /* of each point's element; the points that there are */
    int32_t nodes[MODAL_ELEMENT_MOST_NODES][REDUCED_LANES];
    double gradients[MODAL_ELEMENT_MOST_NODES][3][REDUCED_LANES]; /* of the shape functions, 1/m */
    /* upper triangle, by rows, of sqrt(w) R with R^T R = C for the strains 11 22 33 2*23 2*13 2*12 and
     * w the point's volume, m^3 */
    double root[MODAL_ELASTICITY_ROOT][REDUCED_LANES];
} reduced_block;

/* Checks all elements and arranges their points in blocks. Errors of modal_stvk_reduced_forces, after
 * which *points is zeroed. */
modal_status reduced_points_init(const modal_volume_mesh *mesh, reduced_points *points, modal_error *err);
void reduced_points_free(reduced_points *points);

/* Fills a block, 0 <= index < n_blocks; lanes past the last point are of node 0, with gradients and roots
 * of 0. For several threads at once. */
void reduced_points_load(const reduced_points *points, int64_t index, reduced_block *block);

/* gradient [3, 3, REDUCED_LANES]: row p, column k is d u_p / d x_k of the field u [n_nodes, 3]. */
void reduced_gradient(const reduced_block *block, const double *u,
                      double gradient[restrict][REDUCED_LANES]);

#endif
