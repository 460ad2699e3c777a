/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that all ranks know of. */
#include <limits.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"
#include "lib/ranks/session.h"

/* Of messages; less than a store takes (lib/base/scratch.h). */
enum { BUFFER_BYTES = 1 << 15, PASSED = 2 };

int64_t ranks_most_index(void) { return PETSC_MAX_INT; }

modal_status ranks_agree(const ranks_problem *problem, modal_status status, modal_error *err)
{
    modal_error shared = {0};
    int mine = status != MODAL_OK ? problem->rank : INT_MAX, first = INT_MAX;
    if (MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, problem->comm) != MPI_SUCCESS)
        return ranks_petsc_failed(problem, err);
    if (first == INT_MAX) return MODAL_OK;
    if (first == problem->rank) {
        shared = *err;
        shared.status = status;
        if (first > 0 && (status == MODAL_ERROR_MEMORY || status == MODAL_ERROR_SYSTEM))
            modal_error_context(&shared, "rank %d", first);
    }
    if (MPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, first, problem->comm) != MPI_SUCCESS)
        return ranks_petsc_failed(problem, err);
    shared.source_file = first == problem->rank ? err->source_file : NULL; /* another process's address */
    *err = shared;
    return shared.status;
}

modal_status ranks_stop(const ranks_problem *problem, modal_status status, modal_error *err)
{
    if (problem->n_ranks == 1) return status;
    if (problem->rank > 0) modal_error_context(err, "rank %d", problem->rank);
    ranks_session_abort(err);
}

modal_status ranks_petsc_failed(const ranks_problem *problem, modal_error *err)
{
    return ranks_stop(problem, ranks_session_error(err), err);
}

modal_status ranks_pass(const ranks_problem *problem, int from, int to, void *bytes, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *buffer = NULL, *own = bytes;
    const int sends = problem->rank == from, direct = problem->rank > 0;
    if ((!sends && problem->rank != to) || n == 0) return MODAL_OK;
    if (!direct) RANKS_OWN(modal_alloc(&buffer, BUFFER_BYTES, 1, "messages", err));
    for (int64_t at = 0; at < n; at += BUFFER_BYTES) {
        const int length = (int)(n - at < BUFFER_BYTES ? n - at : BUFFER_BYTES);
        char *piece = direct ? own + at : buffer;
        if (sends && !direct) memcpy(buffer, own + at, (size_t)length);
        if (sends) RANKS_TRY(MPI_Send(piece, length, MPI_BYTE, to, PASSED, problem->comm));
        else RANKS_TRY(MPI_Recv(piece, length, MPI_BYTE, from, PASSED, problem->comm, MPI_STATUS_IGNORE));
        if (!sends && !direct) memcpy(own + at, buffer, (size_t)length);
    }
done:
    modal_free(&buffer);
    return status;
}

modal_status ranks_share(const ranks_problem *problem, void *bytes, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *buffer = NULL, *own = bytes;
    const int direct = problem->rank > 0;
    if (!direct) RANKS_OWN(modal_alloc(&buffer, BUFFER_BYTES, 1, "messages", err));
    for (int64_t at = 0; at < n; at += BUFFER_BYTES) {
        const int length = (int)(n - at < BUFFER_BYTES ? n - at : BUFFER_BYTES);
        if (!direct) memcpy(buffer, own + at, (size_t)length);
        RANKS_TRY(MPI_Bcast(direct ? own + at : buffer, length, MPI_BYTE, 0, problem->comm));
    }
done:
    modal_free(&buffer);
    return status;
}
