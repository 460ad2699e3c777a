/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of storage and work: consecutive stored vertices of a shape. */
#ifndef MODAL_BASE_TILE_H
#define MODAL_BASE_TILE_H

#include <stdint.h>

enum {
    MODAL_TILE = 32,
    MODAL_TILE_FLOATS = 3 * MODAL_TILE /* x[32] y[32] z[32], as modal matrices and rest positions are kept */
};

/* Number of tiles that hold n vertices. */
static inline int64_t modal_tile_count(int64_t n_vertices)
{
    return (n_vertices + MODAL_TILE - 1) / MODAL_TILE;
}

#endif
