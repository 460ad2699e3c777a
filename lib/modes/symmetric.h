/* SPDX-License-Identifier: Apache-2.0 */
/* Dense symmetric eigenproblems in float64, on one thread. The order of operations does not depend on the processor, as
 * that of a BLAS with kernels for each does, and nothing is fused: the bits are the same with every instruction set. */
#ifndef MODAL_MODES_SYMMETRIC_H
#define MODAL_MODES_SYMMETRIC_H

#include <stdint.h>

#include "lib/base/status.h"

/* a x = lambda x for symmetric a [n, n], of which the lower triangle (element (i, j), i >= j, at a[j n + i]) is read:
 * eigenvalues [n] ascending; a becomes the vectors [n, n], one after the other, orthonormal. n = 0 is fine.
 * MODAL_ERROR_NOT_CONVERGED also where a is not finite; MODAL_ERROR_MEMORY. */
modal_status modal_symmetric_eigen(int64_t n, double *a, double *eigenvalues, modal_error *err);

/* The same eigenvalues, and of each vector the last MODAL_ROW components, or all n if that is less: last [n, MODAL_ROW],
 * its first n % MODAL_ROW places 0 where n is less. a is destroyed. For m >> 8 this takes a quarter of the time. */
modal_status modal_symmetric_eigen_last(int64_t n, double *a, double *eigenvalues, double *last, modal_error *err);

#endif
