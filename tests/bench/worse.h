/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_BENCH_WORSE_H
#define TESTS_BENCH_WORSE_H

#include <math.h>

/* The larger of two errors. NaN is the largest, and stays whatever comes after it. */
static inline double bench_worse(double worst, double error) { return isnan(worst) || error <= worst ? worst : error; }

#endif
