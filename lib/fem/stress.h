/* SPDX-License-Identifier: Apache-2.0 */
/* Strain and stress of a solid whose nodes moved, by a law of lib/laws, in float64.
 *
 * They are known at the points where the stiffness is integrated (lib/mesh/element_shape.h), those at which the model feels them.
 * Stress is Cauchy's; strain is the law's: linear, or Green's.
 *   The Jacobian det F goes the same ways as strain.
 *   Cells: means of the points' values, weighted by their volumes at rest; of von Mises' stress, too, which so is not
 *   that of the mean stress (in bending across one element that is 0).
 *   HEX8 and WEDGE6: of the mesh's stiffness rule (lib/fem/enhanced.h) with the linear law; with the others of the shape functions.
 *   Nodes: in each element the points' values are continued to its nodes by the polynomials below, and what all elements
 *   at a node say is averaged, each counting once, whatever its material. Von Mises' stress is that of the averaged stress.
 *
 * | type     | points    | polynomial, through the points or nearest to them by least squares |
 * | -------- | --------- | ------------------------------------------------------------------- |
 * | TET4     | 1         | constant                                                            |
 * | TET10    | 4         | linear                                                              |
 * | HEX8     | 2 x 2 x 2 | trilinear                                                           |
 * | HEX20    | 3 x 3 x 3 | trilinear, least squares: the gradients of quadratic elements are best where it runs best |
 * | WEDGE6   | 3 x 2     | linear in r, s, times linear in t                                    |
 * | PYRAMID5 | 2 x 2     | bilinear in a = r / (1 - t), b = s / (1 - t); the apex has a = b = 0   |
 * Source of the last two columns' idea: E. Hinton, J. S. Campbell, "Local and global smoothing of discontinuous finite element
 * functions using a least squares method", International Journal for Numerical Methods in Engineering 8, 1974. */
#ifndef MODAL_FEM_STRESS_H
#define MODAL_FEM_STRESS_H

#include "lib/laws/law.h"
#include "lib/mesh/measure.h"

typedef struct modal_stress modal_stress;

/* The mesh is borrowed. MODAL_ERROR_INPUT: an element without material, flat, or with a Jacobian that is not positive (a
 * linear tetrahedron may be inside out); a material that modal_material_check refuses. MODAL_ERROR_MEMORY. */
modal_status modal_stress_new(modal_stress **stress, const modal_volume_mesh *mesh, modal_error *err);
modal_stress *modal_stress_delete(modal_stress *stress); /* returns NULL; NULL is fine */

/* element_law [n_elements], borrowed, or NULL: the modal_law_kind of each element instead of the one that the functions below are
 * given. With it materials' fibres count, too. */
void modal_stress_set_laws(modal_stress *stress, const uint8_t *element_law);

/* patches [n_elements], borrowed until the next call: of TET4 the patch whose mean of F their strain and stress are those of, each weighted by
 * its volume, 0 to n_elements - 1; -1: the element's own. MODAL_ERROR_MEMORY. */
modal_status modal_stress_set_patches(modal_stress *stress, const int32_t *patches, modal_error *err);

/* At a point. Tensors are xx yy zz xy yz xz, shear strains not doubled: the order of VTK's symmetric tensors. */
typedef struct modal_stress_point {
    double place[3]; /* m, at rest */
    double volume;   /* m^3, at rest */
    double strain[6], stress[6], von_mises; /* stress in Pa */
    double jacobian; /* det F; 1 by the linear law. Where it is not positive the stress means nothing */
} modal_stress_point;

/* The points of an element at displacements u [n_nodes, 3], m; returns their number. */
int modal_stress_element(const modal_stress *stress, modal_law_kind law, int64_t element, const double *u,
                         modal_stress_point points[MODAL_RULE_MOST_POINTS]);

/* What is wanted of all elements and nodes; what is NULL is not. */
typedef struct modal_stress_arrays {
    double *cell_strain, *cell_stress, *cell_von_mises; /* [n_elements, 6], [n_elements, 6], [n_elements] */
    double *node_strain, *node_stress, *node_von_mises; /* [n_nodes, 6], [n_nodes, 6], [n_nodes] */
    double *cell_jacobian, *node_jacobian;              /* [n_elements], [n_nodes] det F, as the others */
    double *cell_pressure, *node_pressure;              /* [n_elements], [n_nodes] minus a third of the trace of the stress there, Pa */
} modal_stress_arrays;

/* Values at u [n_nodes, 3]. turn: NULL, or [3, 4], the object's pose, by whose rotation tensors are turned into the
 * world's axes. *inverted: the first element in which det F is not positive at a point, or -1. The same bytes for every n_threads.
 * MODAL_ERROR_MEMORY. */
modal_status modal_stress_compute(const modal_stress *stress, modal_law_kind law, const double *u, const double *turn,
                                  int n_threads, const modal_stress_arrays *arrays, int64_t *inverted, modal_error *err);

#endif
