/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: between a mesh as read and one that changes. */
#ifndef MODAL_MESH_IMPROVE_GROUPS_H
#define MODAL_MESH_IMPROVE_GROUPS_H

#include "lib/mesh/improve_private.h"

/* Sets of numbers, each stored once. A zeroed one is empty. */
typedef struct improve_sets {
    int32_t n;
    int64_t *first; /* [n + 1] */
    int32_t *items;
    int32_t *slots; /* [n_slots] a hash table */
    int64_t n_slots, capacity_first, capacity_items;
} improve_sets;

void improve_sets_free(improve_sets *sets);

/* Fills a zeroed store with the mesh: region of elements (sets: -2 - material, then volume groups), boundary faces with their patch (sets of
 * surface groups that have all three nodes), walls, what is fixed. still [n_nodes]: 1 where the surface must not change. */
modal_status improve_load(const modal_volume_mesh *mesh, const uint8_t *still, improve_store *s, improve_sets *regions, improve_sets *patches,
                          modal_error *err);

/* A new mesh of the store: nodes, elements, their materials' indices, groups and conditions; all else is empty. `from` is what was loaded. The
 * caller frees the mesh, after an error, too. */
modal_status improve_unload(const improve_store *s, const improve_sets *regions, const improve_sets *patches, const modal_volume_mesh *from,
                            modal_volume_mesh *mesh, modal_error *err);

#endif
