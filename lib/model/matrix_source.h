/* SPDX-License-Identifier: Apache-2.0 */
/* Where tiles of modal matrices come from that a basis in memory does not hold. */
#ifndef MODAL_MODEL_MATRIX_SOURCE_H
#define MODAL_MODEL_MATRIX_SOURCE_H

#include <stdint.h>

#include "lib/base/status.h"

/* Reads tiles [begin, end) of a shape's modal matrix, [end - begin, n_modes, 3, MODAL_TILE], into
 * `to`. Called by the thread that makes the deformer and by the one that submits. */
typedef struct modal_matrix_source {
    modal_status (*read)(void *context, int32_t shape, int64_t begin, int64_t end, float *to,
                         modal_error *err);
    void *context; /* borrowed until the deformer is deleted */
} modal_matrix_source;

#endif
