/* SPDX-License-Identifier: Apache-2.0 */
/* Whether numbers are numbers: no output may hold NaN or infinity. */
#ifndef MODAL_BASE_FINITE_H
#define MODAL_BASE_FINITE_H

#include <stdint.h>

/* The first of n floats that is NaN or infinite; n where all are finite. One pass of three integer
 * operations a float, in vectors: as fast as a cache delivers them. */
int64_t modal_first_nonfinite(const float *values, int64_t n);

#endif
