/* SPDX-License-Identifier: Apache-2.0 */
/* A set of lattice points: blocks of 4^3, each a mask of 64 bits in Morton order, found by a table. Blocks sorted by their Morton
 * keys give the points in Morton order, and a count of bits before a point is its number. */
#ifndef MODAL_OCTREE_BRICKS_H
#define MODAL_OCTREE_BRICKS_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/octree.h"

typedef struct modal_bricks {
    int64_t n, key_capacity, mask_capacity;
    uint64_t *keys;  /* [n] Morton keys of the blocks */
    uint64_t *masks; /* [n] which points are there */
    int64_t *first;  /* [n + 1] points before a block; set by modal_bricks_finish */
    int64_t n_slots; /* a power of two, more than 2 n */
    int32_t *slots;  /* [n_slots] -1 or a block's number, from the key's hash on */
} modal_bricks;

/* Frees everything inside and zeroes the struct; a zeroed struct is an empty set. */
void modal_bricks_free(modal_bricks *bricks);

/* The number of the block, made empty if it is not there. */
modal_status modal_bricks_at(modal_bricks *bricks, uint64_t key, int64_t *at, modal_error *err);

/* Adds all points of another set. */
modal_status modal_bricks_add(modal_bricks *bricks, const modal_bricks *other, modal_error *err);

/* Adds the upper neighbour of every point along the axis. */
modal_status modal_bricks_widen(modal_bricks *bricks, int axis, modal_error *err);

/* Sorts the blocks and counts; no block is added afterwards. */
modal_status modal_bricks_finish(modal_bricks *bricks, modal_error *err);

/* The set of ascending Morton keys, finished. */
modal_status modal_bricks_of_keys(const int64_t *keys, int64_t n, modal_bricks *bricks, modal_error *err);

static inline uint64_t modal_bricks_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15u >> 20; }

static inline int64_t modal_bricks_find(const modal_bricks *b, uint64_t key)
{
    if (b->n_slots == 0) return -1;
    for (uint64_t s = modal_bricks_hash(key);; s++) {
        const int32_t at = b->slots[s & (uint64_t)(b->n_slots - 1)];
        if (at < 0 || b->keys[at] == key) return at;
    }
}

/* Number of a point of a block that is there, in a finished set; -1: it is not in the set. */
static inline int64_t modal_bricks_point(const modal_bricks *b, int64_t brick, int place)
{
    const uint64_t bit = (uint64_t)1 << place;
    return b->masks[brick] & bit ? b->first[brick] + __builtin_popcountll(b->masks[brick] & (bit - 1)) : -1;
}

/* The number of a lattice point of a finished set, or -1. */
static inline int64_t modal_bricks_sample(const modal_bricks *b, const int64_t c[3])
{
    if (c[0] < 0 || c[1] < 0 || c[2] < 0) return -1;
    const int64_t brick = modal_bricks_find(b, modal_morton(c[0] >> 2, c[1] >> 2, c[2] >> 2));
    return brick < 0 ? -1 : modal_bricks_point(b, brick, (int)modal_morton(c[0] & 3, c[1] & 3, c[2] & 3));
}

#endif
