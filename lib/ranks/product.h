/* SPDX-License-Identifier: Apache-2.0 */
/* K and M times many vectors at a time, some rows at a time, so that no vector of the products is kept as a whole. Vectors lie side
 * by side: x [own rows and ghosts, stride]. The matrices are PETSc's, in whole rows, and are read where they are. */
#ifndef MODAL_RANKS_PRODUCT_H
#define MODAL_RANKS_PRODUCT_H

#include "lib/ranks/private.h"

enum { RANKS_LANES = 8 }; /* columns go in this many at a time */

typedef struct ranks_product ranks_product;

/* All ranks: of problem's K and M, which are borrowed; for vectors of this stride, a multiple of RANKS_LANES. An error on one rank
 * ends all. *product may be there after an error. */
modal_status ranks_product_new(const ranks_problem *problem, int64_t stride, ranks_product **product, modal_error *err);
ranks_product *ranks_product_delete(ranks_product *product); /* NULL is fine; gives NULL */

/* Rows of other ranks that x has after its own. */
int64_t ranks_product_ghosts(const ranks_product *product);
/* All ranks: fills them. */
PetscErrorCode ranks_product_exchange(const ranks_product *product, double *x);
/* y [3 count, n_columns] = K x (or M x) for the own nodes [first, first + count) and the first columns of x, a multiple of RANKS_LANES. */
void ranks_product_strip(const ranks_product *product, int is_mass, int64_t first, int64_t count, const double *x, int64_t n_columns, double *y);

#endif
