/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of bases at the nodes of their solid, and products of them with its mass matrix. */
#ifndef MODAL_FEM_COLUMNS_H
#define MODAL_FEM_COLUMNS_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/fem/assemble.h"
#include "lib/model/basis.h"

/* MODAL_ERROR_INPUT with the first difference, unless both have the same nodes (places to 1e-9 of the size), elements and
 * types. */
modal_status modal_fem_compare_solids(const modal_volume_mesh *a, const modal_volume_mesh *b, modal_error *err);

/* M over all nodes that an element has, nothing fixed, by the shape's mass rule. The caller frees *system. */
modal_status modal_fem_assemble_mass(const modal_shape *shape, int n_threads, modal_fem_system *system, modal_error *err);

/* *columns [n_modes, 3 n_free] = phi at the nodes of the system; the shape must have it. The caller frees. */
modal_status modal_fem_take_columns(const modal_shape *shape, const modal_fem_system *system, double **columns,
                                    modal_error *err);

/* products [n_a, n_b] = a b^T for a [n_a, n], b [n_b, n]; the same bytes for every n_threads. */
void modal_fem_products(int64_t n, int64_t n_a, const double *a, int64_t n_b, const double *b, double *products,
                        int n_threads);

/* c [n, columns] becomes g^-1 c, for symmetric g [n, n], which is destroyed. 0: g is not positive definite, and c is unchanged. */
int modal_fem_solve_products(int64_t n, double *g, int64_t columns, double *c);

#endif
