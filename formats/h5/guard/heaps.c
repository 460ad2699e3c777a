/* SPDX-License-Identifier: Apache-2.0 */
/* Collections of the global heap, local heaps and trees of version 1: HDF5 1.10 follows damage in them in circles or out of
 * bounds. Files with metadata older than 1.8 (h5py's default) are full of them. */
#include <stdlib.h>
#include <string.h>

#include "formats/h5/guard/guard_private.h"

/* ---- the global heap (III.E): "GCOL", version 1, 3 zeros, size (u64); then objects: index (u16, 0: the free rest),
 * references (u16), 4 zeros, size (u64), data padded to 8 bytes ---- */

enum { HEAD = 16, MOST_BYTES = 1 << 26 };

static uint32_t turn(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

/* The checksum of HDF5's metadata: Bob Jenkins, lookup3.c (2006), hashlittle with initial value 0. */
static uint32_t checksum(const unsigned char *key, uint64_t length)
{
    static const int mixing[6] = {4, 6, 8, 16, 19, 4}, last[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t s[3]; /* a, b, c */
    s[0] = s[1] = s[2] = 0xdeadbeef + (uint32_t)length;
    for (; length > 12; length -= 12, key += 12) {
        for (int i = 0; i < 3; i++) s[i] += (uint32_t)guard_little(key + 4 * i, 4);
        for (int i = 0; i < 6; i++) {
            uint32_t *x = &s[i % 3], *y = &s[(i + 2) % 3], *z = &s[(i + 1) % 3];
            *x -= *y;
            *x ^= turn(*y, mixing[i]);
            *y += *z;
        }
    }
    if (length == 0) return s[2];
    for (uint64_t i = 0; i < length; i++) s[i / 4] += (uint32_t)key[i] << 8 * (i % 4);
    for (int i = 0; i < 7; i++) {
        uint32_t *x = &s[(i + 2) % 3], *y = &s[(i + 1) % 3];
        *x ^= *y;
        *x -= turn(*y, last[i]);
    }
    return s[2];
}

/* Whether the collection is a chain of objects. found[2]: where the data of the last object of this index begins (HDF5 takes
 * the last one), and its bytes; 0: there is none. */
static int is_chain(const unsigned char *collection, uint64_t size, uint64_t wanted, uint64_t found[2])
{
    found[0] = 0;
    for (uint64_t at = HEAD; size - at >= HEAD;) {
        const uint64_t index = guard_little(collection + at, 2), bytes = guard_little(collection + at + 8, 8), room = size - at;
        if (index == 0) return bytes == room;
        if (guard_little(collection + at + 4, 4) != 0 || bytes > room - HEAD || (bytes + 7) / 8 * 8 > room - HEAD) return 0;
        if (index == wanted) {
            found[0] = at + HEAD;
            found[1] = bytes;
        }
        at += HEAD + (bytes + 7) / 8 * 8;
    }
    return 1;
}

/* All of the collection at `start` of the file, of `size` bytes, which the caller frees; NULL: it is damaged. */
static unsigned char *take_collection(const guard *g, uint64_t start, uint64_t size, uint64_t wanted, uint64_t found[2])
{
    if (size < HEAD || size > MOST_BYTES || start > g->end || size > g->end - start) return NULL;
    unsigned char *all = malloc(size);
    if (all && guard_read(g, start, size, all) == 0 && is_chain(all, size, wanted, found)) return all;
    free(all);
    return NULL;
}

static int is_collection(const unsigned char *head) { return memcmp(head, "GCOL\1\0\0", 8) == 0; }

int guard_has_object(const guard *g, uint64_t at, uint64_t index, int mapping, uint64_t *bytes)
{
    unsigned char head[HEAD], *all = NULL;
    uint64_t found[2] = {0, 0};
    if (at > g->end - g->base || guard_read(g, g->base + at, HEAD, head) != 0 || !is_collection(head) || index == 0) return 0;
    all = take_collection(g, g->base + at, guard_little(head + 8, 8), index, found);
    int sound = all && found[0] > 0;
    *bytes = found[1];
    if (sound && mapping) {
        const unsigned char *data = all + found[0];
        sound = *bytes >= 13 && data[0] == 0 && checksum(data, *bytes - 4) == guard_little(data + *bytes - 4, 4);
    }
    free(all);
    return sound;
}

/* ---- a local heap (III.D): "HEAP", version, 3 zeros; bytes of the data, first free block in them (1: none), address ---- */

/* A free block begins with the place of the next and its size. HDF5 follows the blocks for as long as there are any, and
 * names to their NUL. */
static int is_local_heap(const guard *g, const unsigned char *head)
{
    const uint64_t bytes = guard_little(head + 8, 8), data = guard_little(head + 24, 8);
    unsigned char next[8], last = 1;
    uint64_t block = guard_little(head + 16, 8), steps = 0;
    if (data > g->end - g->base || bytes > g->end - g->base - data) return 0;
    for (; block != 1; block = guard_little(next, 8))
        if (bytes < 16 || block > bytes - 16 || ++steps > bytes / 16 ||
            guard_read(g, g->base + data + block, sizeof next, next) != 0)
            return 0;
    return bytes == 0 || (guard_read(g, g->base + data + bytes - 1, 1, &last) == 0 && last == 0);
}

/* ---- a tree (III.A): "TREE", kind (0 groups, 1 chunks), level, children (u16), two siblings; key, child, key, ... key ---- */

/* HDF5 goes from a child to its children without looking whether that is a step down. */
static int is_tree(const guard *g, uint64_t size, const unsigned char *node)
{
    enum { TREE = 24, CHILD = 8, CHILDREN = 64 }; /* of a node of a tree of chunks: 2 HDF5_BTREE_CHUNK_IK_DEF */
    const unsigned kind = node[4], level = node[5], n = (unsigned)guard_little(node + 6, 2);
    uint64_t key = 8;
    if (level == 0) return 1;
    if (kind > 1 || size < TREE + CHILD) return 0;
    /* HDF5 asks for whole nodes, and the rank of the dataset is in the size of a key. */
    if (kind == 1) {
        if (size < TREE + CHILD * CHILDREN) return 0;
        key = (size - TREE - CHILD * CHILDREN) / (CHILDREN + 1);
        if (key < 24 || TREE + CHILD * CHILDREN + key * (CHILDREN + 1) != size) return 0;
    }
    if (n > (size - TREE - key) / (key + CHILD)) return 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t child = guard_little(node + TREE + key + i * (key + CHILD), CHILD);
        unsigned char head[6];
        if (child > g->end - g->base || guard_read(g, g->base + child, sizeof head, head) != 0 ||
            memcmp(head, "TREE", 4) != 0 || head[4] != kind || head[5] != level - 1)
            return 0;
    }
    return 1;
}

const char *guard_check_other(const guard *g, uint64_t start, uint64_t size, const unsigned char *bytes)
{
    uint64_t found[2];
    if (size >= HEAD && is_collection(bytes)) { /* HDF5 asks for a large one in two parts: all of it is checked before the first */
        unsigned char *all = take_collection(g, start, guard_little(bytes + 8, 8), 0, found);
        const int sound = all != NULL;
        free(all);
        return sound ? NULL : "damaged heap";
    }
    if (size >= 32 && memcmp(bytes, "HEAP", 4) == 0) return is_local_heap(g, bytes) ? NULL : "damaged local heap";
    if (size >= 8 && memcmp(bytes, "TREE", 4) == 0) return is_tree(g, size, bytes) ? NULL : "damaged tree";
    return NULL;
}
