/* SPDX-License-Identifier: Apache-2.0 */
/* --frames A:B:STEP, as Python slices, or one index. */
#ifndef TOOLS_COMMON_SLICE_H
#define TOOLS_COMMON_SLICE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct tool_slice {
    const char *text;
    int64_t part[3];
    int given[3], single;
} tool_slice;

/* text is borrowed; NULL: all frames. */
modal_status tool_slice_parse(const char *text, tool_slice *slice, modal_error *err);

/* The frames start + i step, i < count, of n that a slice selects. MODAL_ERROR_USAGE where there is none, or a single
 * index is not there; `what` has frames, "the trajectory". */
modal_status tool_slice_select(const tool_slice *slice, int64_t n, const char *what, int64_t *start, int64_t *step,
                               int64_t *count, modal_error *err);

#endif
