/* SPDX-License-Identifier: Apache-2.0 */
/* The patches that a GPU steps a solid by: groups of neighbouring elements whose nodes fit into the fast memory of one block
 * of threads. A patch adds its elements' forces up by node there, and writes one partial sum for each of its nodes; a
 * node's force is the sum of its partial sums. Every sum has one order, given by these tables, so results do not
 * depend on the number of threads, blocks or devices.
 *
 * Words: a *place* is a node in a patch; a *lane* is the work of one thread, a fan of tetrahedra (tled_fans.h) or a
 * hexahedron; a *slot* is where a lane leaves its force on one of its corners. A macro-element is in one patch, its fans are lanes.
 *
 * The places of a patch stand in falling order of the number of forces on them (`n_forces`). The j-th forces of all
 * places that have as many lie one after the other from bases[j] on: the slot of place i is bases[j] + i. So threads i,
 * i + 1, ... read neighbouring slots, and there are exactly as many slots as corners. Which lane's force is a place's
 * j-th is chosen so that the 32 lanes of a warp write to different banks of shared memory. */
#ifndef MODAL_KERNELS_TLED_PATCHES_H
#define MODAL_KERNELS_TLED_PATCHES_H

#include "kernels/tled_step/tled_solid.h"
#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MODAL_TLED_PLACE_BITS = 11, /* of a corner: place, then 5 bits (of the first: tetrahedra of the fan), then slot */
    MODAL_TLED_MOST_PLACES = 1 << MODAL_TLED_PLACE_BITS,
    MODAL_TLED_MOST_SLOTS = 1 << 16,
    MODAL_TLED_NO_LANE = (1 << 16) - 1
};

/* How to divide. */
typedef struct modal_tled_patch_plan {
    int32_t tetrahedra, hexahedra; /* of a patch, about; >= 1 */
    int32_t places;                /* of a patch at most, 8 to MODAL_TLED_MOST_PLACES */
    int32_t fan;                   /* longest fan, 1 to MODAL_TLED_FAN */
    int32_t layers;                /* 1: cut between layers of elements where there are some, so sizes differ */
} modal_tled_patch_plan;

typedef struct modal_tled_patch {
    int64_t first_place;
    int64_t first_corner;  /* corner k of lane l: corners[first_corner + k n_lanes + l]; of hexahedra by lane, as 16 bits each, the
                            * eight places of all lanes, then their eight slots: four words at once, aligned to four */
    int64_t first_element; /* element k of lane l: elements[first_element + k n_lanes + l], -1 where its fan is shorter */
    int32_t n_places, n_lanes, n_slots;
    int32_t first_base, n_bases;
    int32_t hexahedra; /* 1: lanes are hexahedra of 8 corners; 0: fans */
    int32_t material;  /* of all its elements, or -1 */
    int32_t n_corners; /* words of `corners` */
    int32_t shares;    /* 1: a macro-element has several lanes */
} modal_tled_patch;

typedef struct modal_tled_place {
    int32_t node;      /* in the patches' order */
    int32_t first_sum; /* the node's partial sums are n_sums from here on, by patch */
    int32_t own_sum;   /* this patch's */
    uint32_t counts;   /* n_sums in the low 16 bits, n_forces in the next 15; the highest bit: this patch is the node's first */
} modal_tled_place;

typedef struct modal_tled_patches {
    int64_t n_nodes, n_places, n_corners, n_elements; /* n_elements: length of `elements` */
    int32_t n_patches, n_bases;
    int32_t *nodes; /* [n_nodes] the solid's number of each node of the patches' order, which goes by first patch */
    modal_tled_patch *patches;
    modal_tled_place *places;
    uint32_t *corners;
    int32_t *elements; /* the solid's numbers */
    uint32_t *rings;   /* [n_elements] of macro-elements, at first_element + lane: the first lane of the lane's macro, and << 16 the one
                        * after it in that macro, MODAL_TLED_NO_LANE where it is the last; NULL: there are none */
    uint16_t *bases;
    int32_t most_places, most_lanes, most_slots, most_bases, most_corners; /* of one patch */
    int64_t n_fans;
} modal_tled_patches;

/* Divides a solid by bisection of its elements' centres. The same tables for any number of threads. Errors:
 * MODAL_ERROR_MEMORY; MODAL_ERROR_INPUT where a node is in no element or a table would need more than 2^31 entries.
 * After an error `patches` is empty. The free function accepts an empty struct. */
modal_status modal_tled_patches_make(modal_tled_patches *patches, const modal_tled_solid *solid,
                                     const modal_tled_patch_plan *plan, modal_error *err);
void modal_tled_patches_free(modal_tled_patches *patches);

#ifdef __cplusplus
}
#endif
#endif
