/* SPDX-License-Identifier: Apache-2.0 */
/* Start, service and end of the ranks. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory.h"
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
enum { END = 0, SOLVE, MODES, MESH, FACES };

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

static ranks_problem last; /* that was solved */

/* Steps that go through the whole mesh turn it on; what a rank computes with is in main memory. */
static void use_store(const modal_store *store)
{
    modal_store_set(store);
    modal_store_use(0);
}

static modal_status solve(modal_solid *solid, const modal_ranks_options *options, modal_modes_result *result,
                          modal_ranks_report *report, const modal_progress *progress, modal_error *err)
{
    memset(result, 0, sizeof *result);
    next_command(SOLVE);
    ranks_problem_free(&last);
    last = start();
    last.solid = solid;
    last.options = *options;
    last.progress = progress;
    const modal_status status = ranks_solve(&last, result, err);
    *report = last.report;
    return status;
}

static modal_status modes_at(int32_t first, int32_t n_modes, const int32_t *nodes, int64_t n_nodes, double *to, modal_error *err)
{
    next_command(MODES);
    return ranks_give_modes(&last, first, n_modes, nodes, n_nodes, to, err);
}

static int64_t mesh_bytes(modal_ranks_array array) { return last.spread.bytes[array]; }

static modal_status mesh_at(modal_ranks_array array, int64_t first, int64_t n, void *to, modal_error *err)
{
    next_command(MESH);
    return ranks_give_mesh(&last, array, first, n, to, err);
}

static modal_status find_faces(const modal_volume_mesh *mesh, modal_single_faces *single, modal_face_clash *clash, modal_error *err)
{
    const ranks_problem problem = start();
    modal_error own = {0}; /* one that ends all is told to the tool */
    next_command(FACES);
    modal_store_use(1);
    const modal_status status = ranks_find_faces(&problem, mesh, single, clash, err ? err : &own);
    modal_store_use(0);
    return status;
}

static modal_status serve(void)
{
    modal_status status = MODAL_OK;
    modal_error err = {0};
    for (int command; (command = next_command(END)) != END;) {
        if (command == MODES) {
            ranks_give_modes(&last, 0, 0, NULL, 0, NULL, &err); /* an error ends all ranks */
            continue;
        }
        if (command == MESH) {
            ranks_give_mesh(&last, MODAL_RANKS_NODES, 0, 0, NULL, &err);
            continue;
        }
        if (command == FACES) {
            const ranks_problem problem = start();
            ranks_find_faces(&problem, NULL, NULL, NULL, &err);
            continue;
        }
        ranks_problem_free(&last);
        last = start();
        status = ranks_solve(&last, NULL, &err);
    }
    return status;
}

static void end(void)
{
    if (own_rank == 0) next_command(END);
    ranks_problem_free(&last);
    ranks_session_end();
}

const modal_ranks_program *modal_ranks(void)
{
    static char versions[160];
    static modal_ranks_program program = {use_store, begin, solve, modes_at, mesh_bytes, mesh_at, ranks_plan, find_faces, serve, end, versions};
    int s[3], p[3];
    SlepcGetVersionNumber(&s[0], &s[1], &s[2], NULL);
    PetscGetVersionNumber(&p[0], &p[1], &p[2], NULL);
    snprintf(versions, sizeof versions, "SLEPc %d.%d.%d, PETSc %d.%d.%d", s[0], s[1], s[2], p[0], p[1], p[2]);
    return &program;
}
