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

modal_status modal_tag_table_reserve(modal_tag_table *table, const int64_t *tags, int64_t count,
                                     modal_error *err)
{
    modal_tag_table grown = {.n_slots = 64, .count = table->count};
    while (grown.n_slots / 2 < count) grown.n_slots *= 2;
    if (grown.n_slots <= table->n_slots) return MODAL_OK;
    modal_status status =
        modal_alloc(&grown.slots, grown.n_slots, sizeof *grown.slots, "table of tags", err);
    if (status != MODAL_OK) return status;
    memset(grown.slots, 0xFF, (size_t)grown.n_slots * sizeof *grown.slots);
    for (int64_t i = 0; i < table->n_slots; i++)
        if (table->slots[i] >= 0)
            grown.slots[find_slot(&grown, tags, tags[table->slots[i]])] = table->slots[i];
    modal_free(&table->slots);
    *table = grown;
    return MODAL_OK;
}

modal_status modal_tag_table_add(modal_tag_table *table, const int64_t *tags, int32_t index,
                                 int32_t *earlier, modal_error *err)
{
    *earlier = -1;
    modal_status status = MODAL_OK;
    if (table->count + 1 > table->n_slots / 2)
        status = modal_tag_table_reserve(table, tags, 2 * table->count + 1, err);
    if (status != MODAL_OK) return status;
    int64_t slot = find_slot(table, tags, tags[index]);
    *earlier = table->slots[slot];
    if (*earlier >= 0) return MODAL_OK;
    table->slots[slot] = index;
    table->count++;
    return MODAL_OK;
}

int32_t modal_tag_table_find(const modal_tag_table *table, const int64_t *tags, int64_t tag)
{
    return table->n_slots == 0 ? -1 : table->slots[find_slot(table, tags, tag)];
}

void modal_tag_table_free(modal_tag_table *table)
{
    modal_free(&table->slots);
    memset(table, 0, sizeof *table);
}
