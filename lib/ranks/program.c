/* SPDX-License-Identifier: Apache-2.0 */
/* Start, service and end of the ranks. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ranks/private.h"
#include "lib/ranks/session.h"
#include "lib/ranks/solve.h"

static int own_rank, all_ranks;

/* One thread a rank: ranks are the threads here, and BLAS adds in another order with each number of them. */
static void set_blas(void)
{
    void (*set_threads)(int) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set_threads, &symbol, sizeof symbol);
    if (set_threads) set_threads(1);
}

static modal_status begin(int64_t launched, void (*stop)(void *context, const modal_error *err), void *context, int *rank,
                          int *n_ranks, modal_error *err)
{
    set_blas();
    const modal_status status = ranks_session_start(stop, context, &own_rank, &all_ranks, err);
    *rank = own_rank;
    *n_ranks = all_ranks;
    if (status == MODAL_OK && launched > 1 && all_ranks == 1)
        return modal_error_set(err, MODAL_ERROR_SYSTEM,
                               "--eigensolver slepc: %" PRId64 " processes were launched, and each is alone in its MPI; was the "
                               "mpirun of another MPI used?", launched);
    return status;
}

/* What rank 0 asks the others for. Waiting they sleep: reading a mesh may take minutes. */
enum { END = 0, SOLVE = 1 };

static int next_command(int command)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibcast(&command, 1, MPI_INT, 0, PETSC_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) usleep(1000);
    return command;
}

static ranks_problem start(void)
{
    return (ranks_problem){.comm = PETSC_COMM_WORLD, .rank = own_rank, .n_ranks = all_ranks};
}

static modal_status solve(const modal_solid *solid, const modal_ranks_options *options, modal_modes_result *result,
                          modal_ranks_report *report, const modal_progress *progress, modal_error *err)
{
    ranks_problem problem = start();
    memset(result, 0, sizeof *result);
    problem.solid = solid;
    problem.options = *options;
    problem.progress = progress;
    next_command(SOLVE);
    const modal_status status = ranks_solve(&problem, result, err);
    *report = problem.report;
    return status;
}

static modal_status serve(void)
{
    modal_status status = MODAL_OK;
    while (next_command(END) == SOLVE) {
        ranks_problem problem = start();
        modal_error err = {0};
        status = ranks_solve(&problem, NULL, &err);
    }
    return status;
}

static void end(void)
{
    if (own_rank == 0) next_command(END);
    ranks_session_end();
}

const modal_ranks_program *modal_ranks(void)
{
    static char versions[160];
    static modal_ranks_program program = {begin, solve, ranks_plan, serve, end, versions};
    int s[3], p[3];
    SlepcGetVersionNumber(&s[0], &s[1], &s[2], NULL);
    PetscGetVersionNumber(&p[0], &p[1], &p[2], NULL);
    snprintf(versions, sizeof versions, "SLEPc %d.%d.%d, PETSc %d.%d.%d", s[0], s[1], s[2], p[0], p[1], p[2]);
    return &program;
}
