/* SPDX-License-Identifier: Apache-2.0 */
/* From the user's numbers to indices: a hash table over an array of tags that the caller keeps. While tags are consecutive, as they
 * usually are, there is no table: the index of a tag is its distance from the first one. */
#ifndef MODAL_FORMATS_TAG_TABLE_H
#define MODAL_FORMATS_TAG_TABLE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_tag_table {
    int32_t *slots;  /* [n_slots] index of a tag, -1 = free; NULL: tags[i] is tags[0] + i, for all that are entered */
    int64_t n_slots; /* 0 or a power of two, at least twice `count` */
    int64_t count;
    int64_t reserved; /* tags that the slots will have room for from the beginning */
} modal_tag_table;

/* Enters tags[index]; *earlier is the index of an equal tag that is there already (nothing is
 * entered then) or -1. `tags` may have moved since the last call. A zeroed table is empty. */
modal_status modal_tag_table_add(modal_tag_table *table, const int64_t *tags, int32_t index,
                                 int32_t *earlier, modal_error *err);

/* Says how many tags will come; optional. */
void modal_tag_table_expect(modal_tag_table *table, int64_t count);

/* The index of a tag, or -1. */
int32_t modal_tag_table_find(const modal_tag_table *table, const int64_t *tags, int64_t tag);

void modal_tag_table_free(modal_tag_table *table);

#endif
