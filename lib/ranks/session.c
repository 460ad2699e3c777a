/* SPDX-License-Identifier: Apache-2.0 */
/* The one MPI, and what it says of its failures. */
#include "lib/ranks/session.h"

#include <petscconf.h>
#ifdef PETSC_USE_COMPLEX
#error "PETSc with complex scalars: the matrices here are real (libpetsc-real-dev)"
#endif

#include <slepceps.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    int rank;
    void (*stop)(void *context, const modal_error *err);
    void *context;
    modal_status failure; /* of PETSc, not asked for yet */
    char message[MODAL_ERROR_TEXT];
} session;

/* Keeps what PETSc says first, where it found the error; it calls again from every function that it leaves. */
static PetscErrorCode keep_error(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                 PetscErrorType type, const char *message, void *context)
{
    (void)comm, (void)line, (void)file, (void)context;
    if (type != PETSC_ERROR_INITIAL || session.failure != MODAL_OK) return code;
    session.failure = code == PETSC_ERR_MEM ? MODAL_ERROR_MEMORY : MODAL_ERROR_SYSTEM;
    snprintf(session.message, sizeof session.message, "%s: %s, %d", function ? function : "PETSc",
             message && *message ? message : code == PETSC_ERR_MEM ? "out of memory" : "failed", (int)code);
    return code;
}

modal_status ranks_session_error(modal_error *err)
{
    const modal_status status = session.failure != MODAL_OK ? session.failure : MODAL_ERROR_SYSTEM;
    modal_error_set(err, status, "SLEPc: %s", session.failure != MODAL_OK ? session.message : "a call of MPI failed");
    session.failure = MODAL_OK;
    return status;
}

void ranks_session_abort(const modal_error *err)
{
    /* Ranks that fail together speak one after the other: the first one ends them all. */
    usleep((useconds_t)session.rank * 200000);
    if (session.stop) session.stop(session.context, err);
    MPI_Abort(MPI_COMM_WORLD, 4);
    _exit(4);
}

modal_status ranks_session_start(void (*stop)(void *context, const modal_error *err), void *context, int *rank, int *n_ranks,
                                 modal_error *err)
{
    session.stop = stop;
    session.context = context;
    /* Signals are the tool's, and a file of options in the user's folder is no input of the run. */
    if (PetscOptionsSetValue(NULL, "-no_signal_handler", "true") || PetscOptionsSetValue(NULL, "-skip_petscrc", "true") ||
        SlepcInitialize(NULL, NULL, NULL, NULL))
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "SLEPc: MPI, PETSc or SLEPc does not start");
    PetscPushErrorHandler(keep_error, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &session.rank);
    MPI_Comm_size(PETSC_COMM_WORLD, n_ranks);
    *rank = session.rank;
    return MODAL_OK;
}

void ranks_session_end(void)
{
    PetscPopErrorHandler();
    SlepcFinalize();
}
