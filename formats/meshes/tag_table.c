/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/tag_table.h"

#include <string.h>

#include "lib/base/memory.h"

/* Where a tag or a free slot is. The remainder by n_slots - 1 keeps consecutive tags, the usual
 * ones, next to each other without collisions, and spreads tags whose stride is a power of two. */
static int64_t find_slot(const modal_tag_table *table, const int64_t *tags, int64_t tag)
{
    int64_t slot = (int64_t)((uint64_t)tag % (uint64_t)(table->n_slots - 1));
    while (table->slots[slot] >= 0 && tags[table->slots[slot]] != tag)
        slot = (slot + 1) & (table->n_slots - 1);
    return slot;
}

/* More slots, or the first ones. */
static modal_status make_slots(modal_tag_table *table, const int64_t *tags, int64_t count, modal_error *err)
{
    modal_tag_table grown = {.n_slots = 64, .count = table->count, .reserved = table->reserved};
    while (grown.n_slots / 2 < count) grown.n_slots *= 2;
    modal_status status =
        modal_alloc(&grown.slots, grown.n_slots, sizeof *grown.slots, "table of tags", err);
    if (status != MODAL_OK) return status;
    memset(grown.slots, 0xFF, (size_t)grown.n_slots * sizeof *grown.slots);
    const int64_t n = table->slots ? table->n_slots : table->count;
    for (int64_t i = 0; i < n; i++) {
        const int64_t index = table->slots ? table->slots[i] : i;
        if (index >= 0) grown.slots[find_slot(&grown, tags, tags[index])] = (int32_t)index;
    }
    modal_free(&table->slots);
    *table = grown;
    return MODAL_OK;
}

void modal_tag_table_expect(modal_tag_table *table, int64_t count) { table->reserved = count; }

modal_status modal_tag_table_add(modal_tag_table *table, const int64_t *tags, int32_t index,
                                 int32_t *earlier, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t tag = tags[index];
    *earlier = modal_tag_table_find(table, tags, tag);
    if (*earlier >= 0) return MODAL_OK;
    if (!table->slots && index == table->count && (index == 0 || (uint64_t)tags[index - 1] + 1 == (uint64_t)tag)) {
        table->count++;
        return MODAL_OK;
    }
    int64_t room = table->count + 1;
    if (!table->slots && room < table->reserved) room = table->reserved;
    else if (table->slots) room = 2 * table->count + 1;
    if (table->count + 1 > table->n_slots / 2) status = make_slots(table, tags, room, err);
    if (status != MODAL_OK) return status;
    table->slots[find_slot(table, tags, tag)] = index;
    table->count++;
    return MODAL_OK;
}

int32_t modal_tag_table_find(const modal_tag_table *table, const int64_t *tags, int64_t tag)
{
    if (table->slots) return table->slots[find_slot(table, tags, tag)];
    const uint64_t place = table->count > 0 ? (uint64_t)tag - (uint64_t)tags[0] : 0;
    return place < (uint64_t)table->count ? (int32_t)place : -1;
}

void modal_tag_table_free(modal_tag_table *table)
{
    modal_free(&table->slots);
    memset(table, 0, sizeof *table);
}
