/* SPDX-License-Identifier: Apache-2.0 */
/* A basis instead of a trajectory: its modes swing, one after the other, as a trajectory that is made here. */
#ifndef TOOLS_MODE_SWING_H
#define TOOLS_MODE_SWING_H

#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/matrix_source.h"
#include "lib/model/trajectory.h"

enum { TOOL_SWING_FRAMES = 32 }; /* of one swing, which takes a second */

/* The modes of "0,2,5-8", each once, in that order; all for NULL. The caller frees *list. MODAL_ERROR_USAGE "--modes: ...". */
modal_status tool_swing_list(const char *text, const modal_basis *basis, int32_t **list, int32_t *n, modal_error *err);

typedef struct tool_swing {
    const char *path; /* of the basis, for messages */
    modal_matrix_source source;
    double amplitude;    /* largest displacement of a mode, of the diagonal of the shape's box */
    const int32_t *list; /* [n] modes */
    int32_t n;
    int64_t n_frames;
} tool_swing;

/* Makes a trajectory: mode list[i] swings in frames from i TOOL_SWING_FRAMES on, in every object that has it. The caller frees it, after an error,
 * too. MODAL_ERROR_INPUT for a mode that moves nothing; errors of the source. */
modal_status tool_swing_make(const tool_swing *swing, const modal_basis *basis, modal_trajectory *trajectory, modal_error *err);

#endif
