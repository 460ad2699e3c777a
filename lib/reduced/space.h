/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of vectors over the free degrees of freedom of a solid, with the inner product of its mass
 * matrix. Sets have shape [n_vectors, n], by columns n x n_vectors. Private to the room. */
#ifndef MODAL_REDUCED_SPACE_H
#define MODAL_REDUCED_SPACE_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/fem/assemble.h"
#include "lib/fem/rigid.h"
#include "lib/modes/modes.h"
#include "lib/modes/products.h"

typedef struct reduced_space {
    modal_fem_system system;
    int64_t n; /* 3 n_free */
    int64_t n_nodes;
    int n_threads;
} reduced_space;

/* Errors of modal_fem_assemble; after one *space is zeroed. */
modal_status reduced_space_build(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                                 const uint8_t *fixed_components, int64_t n_fixed, modal_mass_rule rule, int n_threads,
                                 reduced_space *space, modal_error *err);
void reduced_space_free(reduced_space *space);

/* vector [n] = the field u [n_nodes, 3], 0 where a component is held. Returns the first node that moves in a
 * held component by more than 1e-6 of u's largest value, *largest; by how much in *moves; -1: none. */
int64_t reduced_space_take(const reduced_space *space, const double *u, double *vector, double *largest,
                           double *moves);

/* 0 in the held components of the vectors [n_vectors, n]. */
void reduced_space_hold(const reduced_space *space, int64_t n_vectors, double *vectors);

/* products [n_b, n_a] (column-major n_a x n_b) = A^T B. */
modal_status reduced_gram(const reduced_space *space, int64_t n_a, const double *a, int64_t n_b,
                          const double *b, double *products, modal_error *err);

/* modal_tall_combine of vectors of the space. */
modal_status reduced_combine(const reduced_space *space, const modal_combination *combination, modal_error *err);

/* The vectors [n_before, n_before + n_new) are made M-orthonormal to those before, which are so
 * already, and to each other: block Gram-Schmidt, twice. r (may be NULL) gets, a column a new
 * vector, its coefficients in the result: [n_new, n_before + n_new]. A vector that depends on the others
 * to 1e-11 of its length becomes 0, with a 0 on the diagonal of r.
 * Source: G. W. Stewart, "Block Gram-Schmidt Orthogonalization", 2008. */
modal_status reduced_orthonormalise(const reduced_space *space, int64_t n_before, int64_t n_new,
                                    double *vectors, double *r, modal_error *err);

/* a [n, n], by columns, = left diag(sigma) right^T; left [n, n], sigma [n] descending; a is destroyed. Columns of left
 * with a sigma of 0 are 0. */
modal_status reduced_svd(int64_t n, double *a, double *left, double *sigma, modal_error *err);

/* Turns an M-orthonormal basis within its span into Ritz vectors, ascending, and makes a result of
 * them as of natural modes: signs, residuals, masses, participation. `vectors` [n_vectors, n] is
 * overwritten. Eigenvalues below the rounding of K are 0. `rotate` 0 keeps the vectors as they are:
 * then they need be nothing, and eigenvalues are Rayleigh quotients. */
modal_status reduced_space_result(const reduced_space *space, int64_t n_vectors, double *vectors,
                                  int rotate, modal_modes_result *result, modal_error *err);

#endif
