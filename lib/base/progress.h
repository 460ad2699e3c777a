/* SPDX-License-Identifier: Apache-2.0 */
/* How long computations tell their caller where they are, and learn that they should stop. */
#ifndef MODAL_BASE_PROGRESS_H
#define MODAL_BASE_PROGRESS_H

#include "lib/base/status.h"

/* `report` is called from one thread with a short stage name and the done fraction in [0, 1]
 * (negative: unknown); it returns nonzero when the computation should stop. */
typedef struct modal_progress {
    int (*report)(void *context, const char *stage, double fraction);
    void *context;
} modal_progress;

/* MODAL_ERROR_INTERRUPTED when the caller wants to stop; progress may be NULL. */
static inline modal_status modal_progress_report(const modal_progress *progress, const char *stage,
                                                 double fraction, modal_error *err)
{
    if (progress && progress->report && progress->report(progress->context, stage, fraction))
        return modal_error_set(err, MODAL_ERROR_INTERRUPTED, "%s: interrupted", stage);
    return MODAL_OK;
}

#endif
