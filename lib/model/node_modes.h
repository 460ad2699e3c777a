/* SPDX-License-Identifier: Apache-2.0 */
/* phi at the nodes of a shape's solid, in whichever of its three forms the shape keeps it. */
#ifndef MODAL_MODEL_NODE_MODES_H
#define MODAL_MODEL_NODE_MODES_H

#include "lib/model/basis.h"

/* Whether the shape has a solid with phi at its nodes. Shapes without modes have. */
int modal_shape_has_node_modes(const modal_shape *shape);

typedef struct modal_node_modes {
    const modal_shape *shape;
    int32_t *inner; /* [nodes that no vertex is] the node of each row of inner_modes; NULL: not needed */
} modal_node_modes;

/* Makes ready to read phi of a shape that has it. inner_modes need the modal matrix and embedding_nodes. Borrows
 * the shape; the caller frees with modal_node_modes_free, also after an error. */
modal_status modal_node_modes_init(modal_node_modes *modes, const modal_shape *shape, modal_error *err);
void modal_node_modes_free(modal_node_modes *modes);

/* phi [n_nodes, 3] of mode k. From several threads at once. */
void modal_node_modes_get(const modal_node_modes *modes, int32_t k, double *phi);

/* u [n_nodes, 3] += factor phi of mode k, likewise. */
void modal_node_modes_add(const modal_node_modes *modes, int32_t k, double factor, double *u);

typedef enum modal_modes_kept {
    MODAL_KEEP_NONE = 0,
    MODAL_KEEP_FLOAT32, /* boundary: inner_modes; embedded: volume_modes_float */
    MODAL_KEEP_FLOAT64  /* volume_modes as they are */
} modal_modes_kept;

/* From volume_modes to what is to be kept of them, after the modal matrix was made (modal_shape_modal_matrix). A shape
 * without volume_modes stays as it is. MODAL_ERROR_INPUT: a value that float32 cannot hold; then the shape is
 * unchanged. */
modal_status modal_shape_keep_modes(modal_shape *shape, modal_modes_kept kept, modal_error *err);

#endif
