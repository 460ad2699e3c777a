/* SPDX-License-Identifier: Apache-2.0 */
/* Which points are exactly the same: a hash table over an array of points that the caller keeps. */
#ifndef MODAL_BASE_POINT_TABLE_H
#define MODAL_BASE_POINT_TABLE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_point_table {
    int32_t *slots;  /* [n_slots] index of a point, -1 = free */
    int64_t n_slots; /* 0 or a power of two, at least twice `count` */
    int64_t count;
} modal_point_table;

/* Enters points[index] of points [.., 3]; *earlier is the index of an equal point that is there
 * already (nothing is entered then) or -1. 0 and -0 are equal; no coordinate may be NaN. `points` may
 * have moved since the last call. A zeroed table is empty. */
modal_status modal_point_table_add(modal_point_table *table, const double *points, int32_t index,
                                   int32_t *earlier, modal_error *err);

void modal_point_table_free(modal_point_table *table);

#endif
