/* SPDX-License-Identifier: Apache-2.0 */
/* An order of a patch's places in which lanes that read at once meet different banks of shared memory. A place is 16 bytes, so the eight
 * lanes of an eighth of a warp's read, lanes 8 i to 8 i + 7 at one corner, are read at once where their places differ by 8. */
#ifndef MODAL_KERNELS_TLED_BANKS_H
#define MODAL_KERNELS_TLED_BANKS_H

#include "kernels/tled_layout/tled_fans.h"

enum { MODAL_TLED_AT_ONCE = 8 };

typedef struct modal_tled_banks modal_tled_banks; /* work space */

/* For at most `lanes` lanes and `places` places; NULL after an error. The delete function accepts NULL and returns it. */
modal_status modal_tled_banks_new(modal_tled_banks **banks, int32_t lanes, int32_t places, modal_error *err);
modal_tled_banks *modal_tled_banks_delete(modal_tled_banks *banks);

/* order[i]: the place of node i of n_places, whose lanes' corners are numbers of nodes. Nodes of one class stand together, classes
 * in rising order: class_of [n_places], 0 to n_classes - 1. n_corners: of a lane, or 0: its n + 3. */
void modal_tled_banks_spread(modal_tled_banks *banks, const modal_tled_fan *lanes, int32_t n_lanes, int n_corners, int32_t n_places,
                             const int32_t *class_of, int32_t n_classes, int32_t *order);

#endif
