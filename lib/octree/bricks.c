/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/bricks.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"

void modal_bricks_free(modal_bricks *bricks)
{
    modal_free(&bricks->keys);
    modal_free(&bricks->masks);
    modal_free(&bricks->first);
    modal_free(&bricks->slots);
    *bricks = (modal_bricks){0};
}

static void put_slot(modal_bricks *b, int64_t at)
{
    uint64_t s = modal_bricks_hash(b->keys[at]);
    while (b->slots[s & (uint64_t)(b->n_slots - 1)] >= 0) s++;
    b->slots[s & (uint64_t)(b->n_slots - 1)] = (int32_t)at;
}

static void put_slots(modal_bricks *b)
{
    memset(b->slots, -1, (size_t)b->n_slots * sizeof *b->slots);
    for (int64_t i = 0; i < b->n; i++) put_slot(b, i);
}

static modal_status grow_slots(modal_bricks *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *slots = NULL;
    const int64_t n = b->n_slots ? 4 * b->n_slots : 1024;
    MODAL_TRY(modal_alloc(&slots, n, sizeof *slots, "blocks", err));
    modal_free(&b->slots);
    b->slots = slots;
    b->n_slots = n;
    put_slots(b);
done:
    return status;
}

modal_status modal_bricks_at(modal_bricks *b, uint64_t key, int64_t *at, modal_error *err)
{
    modal_status status = MODAL_OK;
    *at = modal_bricks_find(b, key);
    if (*at >= 0) return MODAL_OK;
    if (b->n == MODAL_OCTREE_MOST) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "blocks of the lattice: at most %d", MODAL_OCTREE_MOST);
    MODAL_TRY(modal_grow(&b->keys, &b->key_capacity, b->n + 1, sizeof *b->keys, "blocks", err));
    MODAL_TRY(modal_grow(&b->masks, &b->mask_capacity, b->n + 1, sizeof *b->masks, "blocks", err));
    if (b->n_slots <= 2 * (b->n + 1)) MODAL_TRY(grow_slots(b, err));
    b->keys[b->n] = key;
    b->masks[b->n] = 0;
    *at = b->n++;
    put_slot(b, *at);
done:
    return status;
}

modal_status modal_bricks_add(modal_bricks *bricks, const modal_bricks *other, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t i = 0, at; i < other->n; i++) {
        MODAL_TRY(modal_bricks_at(bricks, other->keys[i], &at, err));
        bricks->masks[at] |= other->masks[i];
    }
done:
    return status;
}

modal_status modal_bricks_widen(modal_bricks *b, int axis, modal_error *err)
{
    /* points whose coordinate along x is 0 or 2, 1, 3 in their block; their neighbours are 1 and 7 places on, and 9 back in the next
     * block. Along y and z the same, two and four times as far. */
    static const uint64_t even[3] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f};
    static const uint64_t low[3] = {0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
    modal_status status = MODAL_OK;
    const int step = 1 << axis;
    const int64_t n = b->n;
    uint64_t *before = NULL;
    MODAL_TRY(modal_alloc(&before, n, sizeof *before, "blocks", err));
    memcpy(before, b->masks, (size_t)n * sizeof *before);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t m = before[i], last = m & ~even[axis] & ~low[axis];
        b->masks[i] |= (m & even[axis]) << step | (m & ~even[axis] & low[axis]) << 7 * step;
        if (!last) continue;
        int32_t c[3];
        for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze(b->keys[i] >> k) + (k == axis);
        int64_t next;
        MODAL_TRY(modal_bricks_at(b, modal_morton(c[0], c[1], c[2]), &next, err));
        b->masks[next] |= last >> 9 * step;
    }
done:
    modal_free(&before);
    return status;
}

static modal_status count(modal_bricks *b, modal_error *err)
{
    const modal_status status = modal_alloc(&b->first, b->n + 1, sizeof *b->first, "blocks", err);
    if (status != MODAL_OK) return status;
    b->first[0] = 0;
    for (int64_t i = 0; i < b->n; i++) b->first[i + 1] = b->first[i] + __builtin_popcountll(b->masks[i]);
    return MODAL_OK;
}

modal_status modal_bricks_finish(modal_bricks *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *order = NULL;
    uint64_t *masks = NULL;
    MODAL_TRY(modal_alloc(&order, b->n, sizeof *order, "blocks", err));
    MODAL_TRY(modal_alloc(&masks, b->n, sizeof *masks, "blocks", err));
    for (int64_t i = 0; i < b->n; i++) order[i] = (int32_t)i;
    MODAL_TRY(modal_sort_by_key(b->n, b->keys, order, err));
    for (int64_t i = 0; i < b->n; i++) masks[i] = b->masks[order[i]];
    modal_free(&b->masks);
    b->masks = masks;
    b->mask_capacity = b->n;
    masks = NULL;
    if (b->n_slots) put_slots(b);
    MODAL_TRY(count(b, err));
done:
    modal_free(&order);
    modal_free(&masks);
    return status;
}

modal_status modal_bricks_of_keys(const int64_t *keys, int64_t n, modal_bricks *bricks, modal_error *err)
{
    modal_status status = MODAL_OK;
    *bricks = (modal_bricks){0};
    int64_t at = -1;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = (uint64_t)keys[i] >> 6;
        if (at < 0 || bricks->keys[at] != key) MODAL_TRY(modal_bricks_at(bricks, key, &at, err));
        bricks->masks[at] |= (uint64_t)1 << (keys[i] & 63);
    }
    MODAL_TRY(count(bricks, err));
done:
    if (status != MODAL_OK) modal_bricks_free(bricks);
    return status;
}
