/* SPDX-License-Identifier: Apache-2.0 */
/* Gram matrix: the products of all columns of a block of rows, added to those of the blocks before.
 *
 *   products[j][i] += sum_k x[i][k] x[j][k],   0 <= j <= i < n_columns,  k = 0 .. n_rows - 1
 *
 * Columns are contiguous. Entries with i < j are neither read nor wanted: an implementation may write
 * anything there. Sizes: any, 0 included. Alignment: as double. Aliasing: none. Error bound: that of a sum in
 * any order, (n_rows + 1) eps sum_k |x[i][k] x[j][k]| + eps |products[j][i]|, eps = 2^-53. The same bytes in
 * every run. There is no CPU version here: where this is needed (lib/reduced) a BLAS is, too. */
#ifndef MODAL_KERNELS_GRAM_H
#define MODAL_KERNELS_GRAM_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_gram_task {
    int64_t n_rows, n_columns;
    const double *x;  /* [n_columns, n_rows] */
    double *products; /* [n_columns, n_columns] */
};

#endif
