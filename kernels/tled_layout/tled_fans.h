/* SPDX-License-Identifier: Apache-2.0 */
/* Tetrahedra in fans: a fan of n is the edge (a, b) and a path c_0 .. c_n around it, its tetrahedra are (a, b, c_k, c_(k+1)).
 * A thread that goes along a fan reads n + 3 nodes instead of 4 n, adds up the forces on a and b in registers, and has
 * two of the four edge vectors and one of the three cross products of a tetrahedron from the one before. */
#ifndef MODAL_KERNELS_TLED_FANS_H
#define MODAL_KERNELS_TLED_FANS_H

#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_TLED_FAN = 6 }; /* tetrahedra of a fan at most; six is a whole turn about most edges */

typedef struct modal_tled_fan {
    int32_t n;
    int32_t corners[MODAL_TLED_FAN + 3]; /* a, b, c_0 .. c_n */
    int32_t elements[MODAL_TLED_FAN];
} modal_tled_fan;

typedef struct modal_tled_fans modal_tled_fans; /* work space */

/* For at most `most` tetrahedra at once; NULL after an error. The delete function accepts NULL and returns it. */
modal_status modal_tled_fans_new(modal_tled_fans **fans, int32_t most, modal_error *err);
modal_tled_fans *modal_tled_fans_delete(modal_tled_fans *fans);

/* Divides tetrahedra 0 .. n - 1, whose corners [n, 4] number the nodes at `positions` [*, 3], into fans of at most `longest`
 * (1 to MODAL_TLED_FAN): first the longest fans there are, about long edges before short ones, then shorter ones. Every
 * tetrahedron keeps its orientation. The result, longest fans first, is in `out` [n]; returns their number. Depends on
 * nothing but its arguments. */
int32_t modal_tled_fans_make(modal_tled_fans *fans, int32_t n, const int32_t (*corners)[4], const double (*positions)[3],
                             int longest, modal_tled_fan *out);

#endif
