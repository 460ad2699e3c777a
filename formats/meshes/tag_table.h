/* SPDX-License-Identifier: Apache-2.0 */
/* From the user's numbers to indices: a hash table over an array of tags that the caller keeps. */
#ifndef MODAL_FORMATS_TAG_TABLE_H
#define MODAL_FORMATS_TAG_TABLE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_tag_table {
    int32_t *slots;  /* [n_slots] index of a tag, -1 = free */
    int64_t n_slots; /* 0 or a power of two, at least twice `count` */
    int64_t count;
} modal_tag_table;

/* Enters tags[index]; *earlier is the index of an equal tag that is there already (nothing is
 * entered then) or -1. `tags` may have moved since the last call. A zeroed table is empty. */
modal_status modal_tag_table_add(modal_tag_table *table, const int64_t *tags, int32_t index,
                                 int32_t *earlier, modal_error *err);

/* Makes room for `count` tags at once; optional. */
modal_status modal_tag_table_reserve(modal_tag_table *table, const int64_t *tags, int64_t count,
                                     modal_error *err);

/* The index of a tag, or -1. */
int32_t modal_tag_table_find(const modal_tag_table *table, const int64_t *tags, int64_t tag);

void modal_tag_table_free(modal_tag_table *table);

#endif
