/* SPDX-License-Identifier: Apache-2.0 */
/* The one MPI of this process, with PETSc and SLEPc in it. */
#ifndef MODAL_RANKS_SESSION_H
#define MODAL_RANKS_SESSION_H

#include "lib/base/status.h"

/* MPI, PETSc and SLEPc start; `stop` is that of modal_ranks_program. */
modal_status ranks_session_start(void (*stop)(void *context, const modal_error *err), void *context, int *rank, int *n_ranks,
                                 modal_error *err);
void ranks_session_end(void);

/* Tells `stop` of the error and aborts all ranks. */
_Noreturn void ranks_session_abort(const modal_error *err);

/* What PETSc or MPI said of its first failure since the last call. MODAL_ERROR_MEMORY or MODAL_ERROR_SYSTEM. */
modal_status ranks_session_error(modal_error *err);

#endif
