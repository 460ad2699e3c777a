/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/h5_unsealed.h"

#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_bytes.h"
#include "formats/h5/h5_heap.h"

/* HDF5 asks for a large collection in two parts: all of it is looked at before it gets the first. */
static const char *collection_damage(const modal_h5_unsealed *f, uint64_t start, uint64_t size, const void *bytes,
                                     uint64_t whole)
{
    static const char damaged[] = "damaged heap";
    if (whole <= size) return modal_h5_damaged_heap(bytes, whole) ? damaged : NULL;
    if (start > f->end || whole > f->end - start) return damaged;
    void *all = malloc(whole);
    const int sound = all && f->read(f->file, start, whole, all) == 0 && !modal_h5_damaged_heap(all, whole);
    free(all);
    return sound ? NULL : damaged;
}

/* "HEAP", version, 3 zeros; bytes of the data, first free block in them (1: none), address. A free block begins with the
 * place of the next and its size. HDF5 follows the blocks for as long as there are any, and names to their NUL. */
static const char *local_heap_damage(const modal_h5_unsealed *f, const unsigned char *head)
{
    static const char damaged[] = "damaged local heap";
    const uint64_t bytes = modal_h5_little(head + 8, 8), data = modal_h5_little(head + 24, 8);
    unsigned char next[8], last = 1;
    uint64_t free_block = modal_h5_little(head + 16, 8), steps = 0;
    if (data > f->end - f->base || bytes > f->end - f->base - data) return damaged;
    for (; free_block != 1; free_block = modal_h5_little(next, 8))
        if (bytes < 16 || free_block > bytes - 16 || ++steps > bytes / 16 ||
            f->read(f->file, f->base + data + free_block, sizeof next, next) != 0)
            return damaged;
    if (bytes > 0 && (f->read(f->file, f->base + data + bytes - 1, 1, &last) != 0 || last != 0)) return damaged;
    return NULL;
}

/* "TREE", kind (0 groups, 1 chunks), level, children (u16), two siblings; key, child, key, ... key. HDF5 goes from a child
 * to its children without looking whether that is a step down. */
static const char *tree_damage(const modal_h5_unsealed *f, uint64_t size, const unsigned char *node)
{
    enum { HEAD = 24, CHILD = 8 };
    static const char damaged[] = "damaged tree";
    const unsigned kind = node[4], level = node[5], n = (unsigned)modal_h5_little(node + 6, 2);
    const uint64_t children = 2 * (uint64_t)f->chunk_rank;
    uint64_t key = 8;
    if (level == 0) return NULL;
    if (kind > 1 || size < HEAD + CHILD) return damaged;
    /* HDF5 asks for whole nodes, and the rank of the dataset is in the size of a key. */
    if (kind == 1) {
        if (size < HEAD + CHILD * children) return damaged;
        key = (size - HEAD - CHILD * children) / (children + 1);
        if (key < 24 || HEAD + CHILD * children + key * (children + 1) != size) return damaged;
    }
    if (n > (size - HEAD - key) / (key + CHILD)) return damaged;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t child = modal_h5_little(node + HEAD + key + i * (key + CHILD), CHILD);
        unsigned char head[6];
        if (child > f->end - f->base || f->end - f->base - child < sizeof head ||
            f->read(f->file, f->base + child, sizeof head, head) != 0 || memcmp(head, "TREE", 4) != 0 || head[4] != kind ||
            head[5] != level - 1)
            return damaged;
    }
    return NULL;
}

const char *modal_h5_unsealed_damage(const modal_h5_unsealed *f, uint64_t start, uint64_t size, const void *bytes)
{
    const uint64_t collection = modal_h5_heap_bytes(bytes, size);
    if (collection > 0) return collection_damage(f, start, size, bytes, collection);
    if (size >= 32 && memcmp(bytes, "HEAP", 4) == 0) return local_heap_damage(f, bytes);
    if (size >= 8 && memcmp(bytes, "TREE", 4) == 0) return tree_damage(f, size, bytes);
    return NULL;
}
