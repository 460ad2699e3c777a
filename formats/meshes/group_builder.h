/* SPDX-License-Identifier: Apache-2.0 */
/* Named groups while a file is read: members come in any order and with repeats. */
#ifndef MODAL_FORMATS_GROUP_BUILDER_H
#define MODAL_FORMATS_GROUP_BUILDER_H

#include <stdint.h>

#include "formats/meshes/tag_table.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_group_draft {
    modal_group group;
    int64_t node_capacity, element_capacity, face_capacity;
    int has_others; /* 1: not only triangles and quadrilaterals */
} modal_group_draft;

/* Zeroed: empty. */
typedef struct modal_group_builder {
    modal_group_draft *drafts; /* [n] */
    int64_t n, capacity;
    int64_t *keys; /* [n] dimension and tag in one number */
    int64_t key_capacity;
    modal_tag_table table;
} modal_group_builder;

/* The index of the group of this dimension and tag; it is made, without a name, when it is not
 * there. */
modal_status modal_group_builder_find(modal_group_builder *builder, int dimension, int32_t tag,
                                      int32_t *group, modal_error *err);

/* Appends a group of volume elements that has a name and no tag. */
modal_status modal_group_builder_name(modal_group_builder *builder, const char *name,
                                      int64_t length, int32_t *group, modal_error *err);

modal_status modal_group_builder_add_element(modal_group_builder *builder, int32_t group,
                                             int32_t element, modal_error *err);
modal_status modal_group_builder_add_nodes(modal_group_builder *builder, int32_t group,
                                           const int32_t *nodes, int64_t n_nodes, modal_error *err);
/* The nodes of a line or a face, which a group of dimension 2 keeps where all of it are triangles and quadrilaterals of 3 and 4 nodes. */
modal_status modal_group_builder_add_cell(modal_group_builder *builder, int32_t group,
                                          const int32_t *nodes, int64_t n_nodes, modal_error *err);

/* Moves the groups into mesh->groups: by ascending dimension and tag (those without a tag in the
 * order of their making), members ascending without repeats, the nodes of volume groups from
 * mesh->element_nodes, and the number as the name of those that have none. The mesh must have its
 * nodes and elements. Two groups of one dimension and name are MODAL_ERROR_INPUT. */
modal_status modal_group_builder_finish(modal_group_builder *builder, const char *file,
                                        modal_volume_mesh *mesh, modal_error *err);

void modal_group_builder_free(modal_group_builder *builder);

#endif
