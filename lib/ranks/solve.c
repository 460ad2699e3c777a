/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ranks/solve.h"

#include <malloc.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/memory.h"

/* What each rank has used, on all ranks. */
static modal_status measure(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_ranks_report *report = &problem->report;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double resident = (double)modal_most_resident();
    const double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    RANKS_TRY(MPI_Allreduce(&resident, &report->most_resident_bytes, 1, MPI_DOUBLE, MPI_MAX, problem->comm));
    RANKS_TRY(MPI_Allreduce(&resident, &report->resident_bytes, 1, MPI_DOUBLE, MPI_SUM, problem->comm));
    RANKS_TRY(MPI_Allreduce(&seconds, &report->processor_seconds, 1, MPI_DOUBLE, MPI_SUM, problem->comm));
    RANKS_TRY(MPI_Allreduce(&problem->piece.n_own, &report->least_nodes, 1, MPI_INT64_T, MPI_MIN, problem->comm));
    RANKS_TRY(MPI_Allreduce(&problem->piece.n_own, &report->most_nodes, 1, MPI_INT64_T, MPI_MAX, problem->comm));
    report->n_ranks = problem->n_ranks;
done:
    return status;
}

void ranks_problem_free(ranks_problem *problem)
{
    ranks_pairs_free(problem);
    ranks_piece_free(&problem->piece);
    ranks_spread_free(&problem->spread);
    modal_free(&problem->nodal_mass);
    modal_free(&problem->held);
    modal_free(&problem->parts);
    modal_free(&problem->part_size);
    modal_free(&problem->n_motions);
    if (problem->rigid) VecDestroyVecs((PetscInt)problem->whole.n_rigid, &problem->rigid);
    problem->rigid = NULL;
    MatDestroy(&problem->stiffness);
    MatDestroy(&problem->mass);
}

/* What the modes do not need any more. */
static void free_matrices(ranks_problem *problem)
{
    MatDestroy(&problem->stiffness);
    MatDestroy(&problem->mass);
    modal_volume_mesh_free(&problem->piece.mesh);
    malloc_trim(0);
}

/* Rank 0 tells how far it is; whether it goes on is for all ranks. */
static modal_status progress(const ranks_problem *problem, const char *stage, modal_error *err)
{
    return ranks_agree(problem, modal_progress_report(problem->progress, stage, -1, err), err);
}

/* Without a limit: a rank's share of what rank 0's machine has. */
static modal_status find_limit(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    MPI_Comm machine = MPI_COMM_NULL;
    int n_here = 1;
    if (problem->options.memory_limit > 0 || !(problem->options.available > 0)) return MODAL_OK;
    RANKS_TRY(MPI_Comm_split_type(problem->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    RANKS_TRY(MPI_Comm_size(machine, &n_here));
    RANKS_TRY(MPI_Comm_free(&machine));
    RANKS_TRY(MPI_Bcast(&n_here, 1, MPI_INT, 0, problem->comm));
    problem->options.memory_limit = problem->options.available / n_here;
done:
    return status;
}

modal_status ranks_solve(ranks_problem *problem, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    int too_large = 0;
    RANKS_TRY(MPI_Bcast(&problem->options, (int)sizeof problem->options, MPI_BYTE, 0, problem->comm));
    if (problem->options.tolerance == 0) problem->options.tolerance = 1e-9;
    MODAL_TRY(find_limit(problem, err));
    MODAL_TRY(progress(problem, "divide", err));
    malloc_trim(0); /* what reading left */
    modal_store_use(1); /* lists of the whole solid are rank 0's */
    status = ranks_divide(problem, err);
    modal_store_use(0);
    if (status != MODAL_OK) goto done;
    modal_store_let_go();
    MODAL_TRY(ranks_spread_mesh(problem, err));
    MODAL_TRY(progress(problem, "assemble", err));
    MODAL_TRY(ranks_assemble(problem, problem->report.route == MODAL_ROUTE_DIRECT, err));
    MODAL_TRY(ranks_make_rigid(problem, err));
    MODAL_TRY(progress(problem, "solve", err));
    if (problem->report.route == MODAL_ROUTE_DIRECT) MODAL_TRY(ranks_direct(problem, &too_large, err));
    if (too_large && problem->report.only_direct)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "modes: %.0f MiB needed by a rank for its share of the factor, the limit is %.0f MiB; more ranks",
                   ceil(problem->report.most_factor_bytes / 1048576), problem->report.memory_limit / 1048576);
    if (too_large) { /* than it was estimated */
        problem->report.route = MODAL_ROUTE_MULTIGRID;
        MODAL_TRY(ranks_assemble(problem, 0, err));
    }
    if (problem->report.route == MODAL_ROUTE_MULTIGRID) MODAL_TRY(ranks_multigrid(problem, err));
    MODAL_TRY(ranks_settle(problem, result, err));
    ranks_pairs_cut(problem, problem->options.n_modes);
    free_matrices(problem);
    MODAL_TRY(measure(problem, err));
done:
    if (status != MODAL_OK) ranks_problem_free(problem);
    return status;
}

modal_status ranks_plan(const modal_solid *solid, const modal_ranks_options *options, double most_resident, int n, const int32_t *n_ranks,
                        modal_ranks_estimate *estimates, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_fem_system numbers = {0};
    ranks_size size;
    double mass, volume;
    MODAL_TRY(modal_fem_number(&solid->mesh, solid->fixed_nodes, solid->fixed_components, solid->n_fixed_nodes, &numbers, err));
    MODAL_TRY(ranks_check_solid(solid, &mass, &volume, err));
    malloc_trim(0); /* as before a run */
    modal_store_use(1);
    MODAL_TRY(ranks_measure_size(solid, &numbers, volume, &size, err));
    size.most_resident = most_resident;
    for (int i = 0; i < n; i++) ranks_estimate(&size, options->n_modes, n_ranks[i], &estimates[i]);
done:
    modal_store_use(0);
    modal_fem_system_free(&numbers);
    return status;
}
