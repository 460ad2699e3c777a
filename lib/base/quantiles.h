/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_BASE_QUANTILES_H
#define MODAL_BASE_QUANTILES_H

#include <stdint.h>

/* The k-th smallest of n values, 0 <= k < n, which change their places: those before it are not larger, those after it not
 * smaller (C. Hoare, Algorithm 65: FIND, 1961). Values are finite. */
float modal_kth(float *values, int64_t n, int64_t k);

/* Of values [n], n >= 1, finite, in their order: least, the quantiles 2 %, 50 %, 98 % and most. Quantile q is the one at place
 * floor(q (n - 1)) of the sorted values. scratch [n] is overwritten. */
void modal_quantiles(const float *values, int64_t n, float *scratch, double quantiles[5]);

#endif
