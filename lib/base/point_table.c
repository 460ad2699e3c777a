/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/point_table.h"

#include <string.h>

#include "lib/base/memory.h"

static uint64_t hash_point(const double point[3])
{
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        double value = point[i] + 0.0; /* -0 becomes 0 */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        /* The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
         * generators", 2014). */
        hash += bits + 0x9e3779b97f4a7c15u;
        hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return hash;
}

static int64_t find_slot(const modal_point_table *table, const double *points, const double *point)
{
    int64_t slot = (int64_t)(hash_point(point) & (uint64_t)(table->n_slots - 1));
    for (;; slot = (slot + 1) & (table->n_slots - 1)) {
        if (table->slots[slot] < 0) return slot;
        const double *other = points + 3 * (int64_t)table->slots[slot];
        if (other[0] == point[0] && other[1] == point[1] && other[2] == point[2]) return slot;
    }
}

static modal_status grow(modal_point_table *table, const double *points, modal_error *err)
{
    modal_point_table grown = {.n_slots = table->n_slots ? 2 * table->n_slots : 64,
                               .count = table->count};
    modal_status status =
        modal_alloc(&grown.slots, grown.n_slots, sizeof *grown.slots, "table of points", err);
    if (status != MODAL_OK) return status;
    memset(grown.slots, 0xFF, (size_t)grown.n_slots * sizeof *grown.slots);
    for (int64_t i = 0; i < table->n_slots; i++)
        if (table->slots[i] >= 0)
            grown.slots[find_slot(&grown, points, points + 3 * (int64_t)table->slots[i])] =
                table->slots[i];
    modal_free(&table->slots);
    *table = grown;
    return MODAL_OK;
}

modal_status modal_point_table_add(modal_point_table *table, const double *points, int32_t index,
                                   int32_t *earlier, modal_error *err)
{
    *earlier = -1;
    modal_status status = MODAL_OK;
    if (table->count + 1 > table->n_slots / 2) status = grow(table, points, err);
    if (status != MODAL_OK) return status;
    int64_t slot = find_slot(table, points, points + 3 * (int64_t)index);
    *earlier = table->slots[slot];
    if (*earlier >= 0) return MODAL_OK;
    table->slots[slot] = index;
    table->count++;
    return MODAL_OK;
}

void modal_point_table_free(modal_point_table *table)
{
    modal_free(&table->slots);
    memset(table, 0, sizeof *table);
}
