/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that all ranks know of. */
#include <limits.h>
#include <string.h>

#include "lib/ranks/private.h"
#include "lib/ranks/session.h"

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
