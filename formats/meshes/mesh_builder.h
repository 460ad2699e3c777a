/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of volume meshes fill while a file is read. */
#ifndef MODAL_FORMATS_MESH_BUILDER_H
#define MODAL_FORMATS_MESH_BUILDER_H

#include "formats/meshes/group_builder.h"
#include "formats/meshes/tag_table.h"
#include "formats/meshes/text_reader.h"
#include "lib/model/volume_mesh.h"

/* Zeroed but for mesh (empty) and text, which are the caller's. */
typedef struct modal_mesh_builder {
    modal_volume_mesh *mesh;
    modal_text *text; /* for messages */
    int64_t node_capacity, node_tag_capacity;
    int64_t type_capacity, offset_capacity, element_node_capacity, element_tag_capacity;
    modal_tag_table node_table, element_table;
    modal_group_builder groups;
} modal_mesh_builder;

/* Appends a node; its number may appear once. */
modal_status modal_mesh_builder_node(modal_mesh_builder *builder, int64_t tag,
                                     const double position[3]);

/* The index of a node; refuses a number that no node has. */
modal_status modal_mesh_builder_find_node(const modal_mesh_builder *builder, int64_t tag,
                                          int32_t *node);

/* Appends an element of nodes (indices, in the order of lib/model/element.h); its number may appear
 * once, and so may each of its nodes. */
modal_status modal_mesh_builder_element(modal_mesh_builder *builder, modal_element_type type,
                                        int64_t tag, const int32_t *nodes);

/* Refuses a node that stands twice in nodes [n]. */
modal_status modal_mesh_builder_check_repeats(const modal_mesh_builder *builder,
                                              const int32_t *nodes, int n);

/* Enters nodes, and the element that was appended last where dimension is 3, into the group of that
 * dimension and number. */
modal_status modal_mesh_builder_join(modal_mesh_builder *builder, int dimension, int32_t tag,
                                     const int32_t *nodes, int64_t n_nodes);

/* After the last element: there must be one. Elements without a material get -1, arrays that are
 * missing become empty ones, the groups move into the mesh. */
modal_status modal_mesh_builder_finish(modal_mesh_builder *builder);

void modal_mesh_builder_free(modal_mesh_builder *builder);

#endif
