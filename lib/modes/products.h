/* SPDX-License-Identifier: Apache-2.0 */
/* Products of dense float64 matrices in an order of operations that depends on their sizes alone
 * (see symmetric.h). */
#ifndef MODAL_MODES_PRODUCTS_H
#define MODAL_MODES_PRODUCTS_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/modes/rows.h"

/* Element (i, j) is values[i * row_step + j * column_step]. */
typedef struct modal_view {
    const double *values;
    int64_t row_step, column_step;
} modal_view;

static inline modal_view modal_by_columns(const double *values, int64_t stride)
{
    return (modal_view){values, 1, stride};
}
static inline modal_view modal_transposed(modal_view a) { return (modal_view){a.values, a.column_step, a.row_step}; }

/* Doubles that a product works in. */
enum { MODAL_PRODUCT_ROOM = MODAL_TILE_ROWS * MODAL_TILE_COLUMNS + MODAL_TILE_PACK };

typedef struct modal_product_sizes {
    int64_t rows, columns, depth;
} modal_product_sizes;

/* c [rows, columns] = beta c + alpha a b, c by columns that are `stride` apart; a [rows, depth], b [depth, columns].
 * c overlaps neither; with beta = 0 it may hold anything. `room`: MODAL_PRODUCT_ROOM doubles, 64-byte aligned. */
void modal_product(modal_product_sizes sizes, double alpha, modal_view a, modal_view b, double beta, double *c, int64_t stride,
                   double *room);

/* Of tall matrices, [columns, n], on n_threads. They are cut into ranges of rows that depend on n alone, and sums over
 * ranges are added in order: the bytes do not depend on the number of threads. MODAL_ERROR_MEMORY. */

/* products [n_b, n_a] (by columns n_a x n_b) = A^T B. */
modal_status modal_tall_gram(int64_t n, int64_t n_a, const double *a, int64_t n_b, const double *b, double *products,
                             int n_threads, modal_error *err);

/* out [n_out, n] = beta out + alpha A S, A [n_a, n], S [n_out, n_a]; out is not among the columns of A. */
typedef struct modal_combination {
    int64_t n_a, n_out;
    const double *a, *s;
    double alpha, beta;
    double *out;
} modal_combination;
modal_status modal_tall_combine(int64_t n, const modal_combination *combination, int n_threads, modal_error *err);

/* x^T y; eight sums are added in the end. */
double modal_dot(int64_t n, const double *x, const double *y);

#endif
