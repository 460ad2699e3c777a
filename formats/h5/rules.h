/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on the values of arrays, shared by the checkers of all files. Each accepts NULL values and
 * then checks nothing (the missing array is a finding of its own), and reports an array once: the
 * first place that breaks the rule, and how many others do. `where` is the array's path. */
#ifndef MODAL_FORMATS_RULES_H
#define MODAL_FORMATS_RULES_H

#include <stdint.h>

#include "formats/h5/findings.h"

/* How a message names the two indices of an array [rows, width]: "frame 3, coordinate 7". */
typedef struct modal_axes {
    const char *row, *column;
} modal_axes;

/* Every value finite. */
modal_status modal_rule_finite(const modal_checker *checker, const char *where,
                               const double *values, int64_t rows, int64_t width, modal_axes axes);
modal_status modal_rule_finite_float(const modal_checker *checker, const char *where,
                                     const float *values, int64_t rows, int64_t width,
                                     modal_axes axes);

/* Every value finite and >= low, or > low when `strict`. */
modal_status modal_rule_at_least(const modal_checker *checker, const char *where,
                                 const double *values, int64_t n, double low, int strict);

/* Every value in [low, high). */
modal_status modal_rule_range(const modal_checker *checker, const char *where,
                              const int32_t *values, int64_t rows, int64_t width, int64_t low,
                              int64_t high);

/* 0 .. n - 1, each once. */
modal_status modal_rule_permutation(const modal_checker *checker, const char *where,
                                    const int32_t *values, int64_t n);

/* offsets [n_rows + 1]: starts at 0, never decreases, ends at n_values. *sound tells whether rows
 * may be walked; it is 0 for NULL. */
modal_status modal_rule_offsets(const modal_checker *checker, const char *where,
                                const int64_t *offsets, int64_t n_rows, int64_t n_values,
                                int *sound);

/* Ascending without repeats in each row of a sound CSR; offsets NULL: one row of n. */
modal_status modal_rule_ascending(const modal_checker *checker, const char *where,
                                  const int64_t *offsets, const int32_t *values, int64_t n);

/* A pose [3, 4]: finite, rotation part orthonormal to 1e-6, determinant +1. The first is one object's
 * rest pose, the second poses [n_frames, n_objects, 3, 4]. */
modal_status modal_rule_rest_pose(const modal_checker *checker, const char *where,
                                  const double pose[12], int32_t object);
modal_status modal_rule_poses(const modal_checker *checker, const char *where,
                              const double *poses, int64_t n_frames, int64_t n_objects);

/* 32 lower-case hexadecimal digits. */
modal_status modal_rule_hash(const modal_checker *checker, const char *where, const char *hash);

#endif
