/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the pairs: checks, signs, and rank 0's ranges of nodes. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

/* ---- what is known of them ---- */

static modal_status allocate_result(const ranks_problem *problem, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = problem->options.n_modes;
    result->n_modes = n_modes;
    result->n_nodes = problem->solid->mesh.n_nodes;
    result->n_rigid = (int32_t)problem->whole.n_rigid;
    MODAL_TRY(modal_alloc(&result->eigenvalues, n_modes, sizeof(double), "eigenvalues", err));
    MODAL_TRY(modal_alloc(&result->residuals, n_modes, sizeof(double), "residuals", err));
    MODAL_TRY(modal_alloc_zero(&result->orthogonalities, n_modes, sizeof(double), "orthogonality", err));
    MODAL_TRY(modal_alloc(&result->modal_masses, n_modes, sizeof(double), "modal masses", err));
    MODAL_TRY(modal_alloc(&result->participation, n_modes, 3 * sizeof(double), "participation", err));
    MODAL_TRY(modal_alloc_zero(&result->rigid_eigenvalues, result->n_rigid, sizeof(double), "rigid eigenvalues", err));
done:
    return status;
}

/* The sign of lib/modes: the first component within 1e-6 of the largest magnitude is positive, in the user's order, which the rows
 * of a rank are in, too. */
static modal_status turn(const ranks_problem *problem, PetscScalar *x, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = 3 * problem->piece.n_own;
    double own = 0, top, sign;
    int64_t first = INT64_MAX, place;
    for (int64_t i = 0; i < n; i++) own = fmax(own, fabs(x[i]));
    RANKS_TRY(MPI_Allreduce(&own, &top, 1, MPI_DOUBLE, MPI_MAX, problem->comm));
    int64_t at = 0;
    while (at < n && !(fabs(x[at]) >= top * (1 - 1e-6))) at++;
    if (at < n) first = 3 * (int64_t)problem->piece.own_nodes[at / 3] + at % 3;
    RANKS_TRY(MPI_Allreduce(&first, &place, 1, MPI_INT64_T, MPI_MIN, problem->comm));
    own = at < n && first == place ? (x[at] < 0 ? -1 : 1) : 0; /* one rank has it */
    RANKS_TRY(MPI_Allreduce(&own, &sign, 1, MPI_DOUBLE, MPI_SUM, problem->comm));
    for (int64_t i = 0; i < n && sign < 0; i++) x[i] = -x[i];
done:
    return status;
}

/* What a held component has of a mode is rounding. */
static modal_status settle_mode(ranks_problem *problem, int32_t k, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscScalar *x;
    double local[3] = {0}, sums[3];
    RANKS_TRY(VecGetArray(problem->vectors[k], &x));
    for (int64_t i = 0; i < problem->piece.n_own; i++)
        for (int p = 0; p < 3; p++)
            if (problem->held[i] >> p & 1) x[3 * i + p] = 0;
    MODAL_TRY(turn(problem, x, err));
    for (int64_t i = 0; i < problem->piece.n_own; i++)
        for (int p = 0; p < 3; p++) local[p] += problem->nodal_mass[i] * x[3 * i + p];
    RANKS_TRY(VecRestoreArray(problem->vectors[k], &x));
    RANKS_TRY(MPI_Reduce(local, sums, 3, MPI_DOUBLE, MPI_SUM, 0, problem->comm));
    if (problem->rank > 0) goto done;
    memcpy(result->participation + 3 * k, sums, sizeof sums);
    result->eigenvalues[k] = problem->eigenvalues[k];
    result->residuals[k] = problem->residuals[k];
done:
    return status;
}

/* orthogonality of the modes, and phi^T K phi of the rigid ones; both on all ranks. */
static modal_status check(ranks_problem *problem, double *masses, double *worst, double *rigid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const PetscInt n = problem->options.n_modes;
    double *products = NULL;
    Vec work = NULL;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &work, NULL));
    RANKS_OWN(modal_alloc(&products, n, sizeof *products, "orthogonality", err));
    for (PetscInt k = 0; k < n; k++) {
        RANKS_TRY(MatMult(problem->mass, problem->vectors[k], work));
        RANKS_TRY(VecMDot(work, n, problem->vectors, products));
        masses[k] = products[k];
        worst[k] = 0;
        for (PetscInt j = 0; j < n; j++) {
            const double error = fabs(products[j] - (j == k));
            if (!(error <= worst[k])) worst[k] = error;
            if (isnan(error)) break;
        }
    }
    for (int64_t k = 0; k < problem->whole.n_rigid; k++) {
        RANKS_TRY(MatMult(problem->stiffness, problem->rigid[k], work));
        RANKS_TRY(VecDot(work, problem->rigid[k], &rigid[k]));
        for (int64_t i = k; i > 0 && fabs(rigid[i]) < fabs(rigid[i - 1]); i--) {
            const double swap = rigid[i];
            rigid[i] = rigid[i - 1];
            rigid[i - 1] = swap;
        }
    }
done:
    modal_free(&products);
    VecDestroy(&work);
    return status;
}

static modal_status refuse(const ranks_problem *problem, const double *worst, const double *rigid, double *most, modal_error *err)
{
    *most = 0;
    for (int32_t k = 0; k < problem->options.n_modes; k++)
        if (!(worst[k] <= *most)) *most = worst[k];
    if (!(*most <= 1e-10)) return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: M-orthonormal to %.3g only", *most);
    for (int32_t k = 0; k < problem->options.n_modes; k++)
        if (!(problem->eigenvalues[k] > 0) || (k > 0 && !(problem->eigenvalues[k] >= problem->eigenvalues[k - 1])))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: eigenvalue %d is %.9g", k, problem->eigenvalues[k]);
    for (int64_t k = 0; k < problem->whole.n_rigid; k++)
        if (!(fabs(rigid[k]) <= 1e-3 * problem->eigenvalues[0]))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                                   "modes: %lld rigid modes found, %lld expected: eigenvalue %.3g beside the first elastic one, %.3g",
                                   (long long)k, (long long)problem->whole.n_rigid, rigid[k], problem->eigenvalues[0]);
    return MODAL_OK;
}

modal_status ranks_settle(ranks_problem *problem, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *masses = NULL, *worst = NULL, *rigid = NULL, most = 0;
    const int32_t n_modes = problem->options.n_modes;
    if (problem->rank == 0) status = allocate_result(problem, result, err);
    MODAL_TRY(ranks_agree(problem, status, err));
    RANKS_OWN(modal_alloc(&masses, n_modes, sizeof *masses, "orthogonality", err));
    RANKS_OWN(modal_alloc(&worst, n_modes, sizeof *worst, "orthogonality", err));
    RANKS_OWN(modal_alloc(&rigid, problem->whole.n_rigid, sizeof *rigid, "orthogonality", err));
    for (int32_t k = 0; k < n_modes; k++) MODAL_TRY(settle_mode(problem, k, result, err));
    MODAL_TRY(check(problem, masses, worst, rigid, err));
    MODAL_TRY(refuse(problem, worst, rigid, &most, err));
    if (problem->rank > 0) goto done;
    memcpy(result->modal_masses, masses, (size_t)n_modes * sizeof *masses);
    memcpy(result->orthogonalities, worst, (size_t)n_modes * sizeof *worst);
    memcpy(result->rigid_eigenvalues, rigid, (size_t)problem->whole.n_rigid * sizeof *rigid);
    result->orthogonality = most;
    result->total_mass = problem->whole.total_mass;
    result->sturm = problem->sturm;
    result->shift = problem->shift;
    result->n_dof = 3 * problem->whole.n_rows;
    result->n_solves = problem->n_solves;
    result->n_iterations = problem->n_iterations;
done:
    modal_free(&masses);
    modal_free(&worst);
    modal_free(&rigid);
    return status;
}

/* ---- ranges of nodes ---- */

/* Which of the nodes this rank has, by bisection: places in the list, and rows. */
static int64_t find_own(const ranks_piece *piece, const int32_t *nodes, int64_t n, int32_t *places, int32_t *rows)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t low = 0, high = piece->n_own;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (piece->own_nodes[middle] < nodes[i]) low = middle + 1;
            else high = middle;
        }
        if (low == piece->n_own || piece->own_nodes[low] != nodes[i]) continue;
        places[found] = (int32_t)i;
        rows[found++] = (int32_t)low;
    }
    return found;
}

/* Rank 0's places [n_found of all], and values [n_modes, n_found, 3] of each rank, one after the other. */
typedef struct arrival {
    int *counts, *starts; /* [n_ranks] */
    int32_t *places;
    double *values;
} arrival;

static modal_status expect(const ranks_problem *problem, int n_found, int32_t n_modes, arrival *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t total = 0;
    RANKS_OWN(modal_alloc_zero(&all->counts, problem->n_ranks, sizeof *all->counts, "modes", err));
    RANKS_OWN(modal_alloc_zero(&all->starts, problem->n_ranks, sizeof *all->starts, "modes", err));
    RANKS_TRY(MPI_Gather(&n_found, 1, MPI_INT, all->counts, 1, MPI_INT, 0, problem->comm));
    if (problem->rank > 0) goto done;
    for (int r = 0; r < problem->n_ranks; r++) {
        all->starts[r] = (int)total;
        total += all->counts[r];
    }
    RANKS_OWN(modal_alloc(&all->places, total, sizeof *all->places, "modes", err));
    RANKS_OWN(modal_alloc(&all->values, 3 * n_modes * total, sizeof *all->values, "modes", err));
done:
    return status;
}

static void place_all(const ranks_problem *problem, const arrival *all, int32_t n_modes, int64_t n_nodes, double *to)
{
    memset(to, 0, (size_t)(3 * n_modes * n_nodes) * sizeof *to); /* fixed nodes are nobody's */
    for (int r = 0; r < problem->n_ranks; r++) {
        const int32_t *places = all->places + all->starts[r];
        const double *values = all->values + 3 * (int64_t)n_modes * all->starts[r];
        for (int32_t k = 0; k < n_modes; k++)
            for (int64_t j = 0; j < all->counts[r]; j++, values += 3)
                memcpy(to + 3 * (k * n_nodes + places[j]), values, 3 * sizeof *to);
    }
}

static modal_status send_values(const ranks_problem *problem, int32_t first, int32_t n_modes, const int32_t *places, const int32_t *rows,
                                int n_found, arrival *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *values = NULL;
    RANKS_OWN(modal_alloc(&values, 3 * (int64_t)n_modes * n_found, sizeof *values, "modes", err));
    for (int32_t k = 0; k < n_modes; k++) {
        const PetscScalar *x;
        RANKS_TRY(VecGetArrayRead(problem->vectors[first + k], &x));
        for (int64_t j = 0; j < n_found; j++)
            memcpy(values + 3 * ((int64_t)k * n_found + j), x + 3 * (int64_t)rows[j], 3 * sizeof *values);
        RANKS_TRY(VecRestoreArrayRead(problem->vectors[first + k], &x));
    }
    RANKS_TRY(MPI_Gatherv(places, n_found, MPI_INT32_T, all->places, all->counts, all->starts, MPI_INT32_T, 0, problem->comm));
    for (int r = 0; r < problem->n_ranks && problem->rank == 0; r++) {
        all->counts[r] *= 3 * n_modes;
        all->starts[r] *= 3 * n_modes;
    }
    RANKS_TRY(MPI_Gatherv(values, 3 * n_modes * n_found, MPI_DOUBLE, all->values, all->counts, all->starts, MPI_DOUBLE, 0, problem->comm));
    for (int r = 0; r < problem->n_ranks && problem->rank == 0; r++) {
        all->counts[r] /= 3 * n_modes;
        all->starts[r] /= 3 * n_modes;
    }
done:
    modal_free(&values);
    return status;
}

modal_status ranks_give_modes(const ranks_problem *problem, int32_t first, int32_t n_modes, const int32_t *nodes, int64_t n_nodes, double *to,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t head[3] = {first, n_modes, n_nodes};
    int32_t *list = NULL, *places = NULL, *rows = NULL;
    arrival all = {0};
    RANKS_TRY(MPI_Bcast(head, 3, MPI_INT64_T, 0, problem->comm));
    RANKS_OWN(modal_alloc(&list, head[2], sizeof *list, "modes", err));
    if (problem->rank == 0) memcpy(list, nodes, (size_t)n_nodes * sizeof *list);
    RANKS_TRY(MPI_Bcast(list, (int)head[2], MPI_INT32_T, 0, problem->comm));
    RANKS_OWN(modal_alloc(&places, head[2], sizeof *places, "modes", err));
    RANKS_OWN(modal_alloc(&rows, head[2], sizeof *rows, "modes", err));
    const int n_found = (int)find_own(&problem->piece, list, head[2], places, rows);
    MODAL_TRY(expect(problem, n_found, (int32_t)head[1], &all, err));
    MODAL_TRY(send_values(problem, (int32_t)head[0], (int32_t)head[1], places, rows, n_found, &all, err));
    if (problem->rank == 0) place_all(problem, &all, n_modes, n_nodes, to);
done:
    modal_free(&list);
    modal_free(&places);
    modal_free(&rows);
    modal_free(&all.counts);
    modal_free(&all.starts);
    modal_free(&all.places);
    modal_free(&all.values);
    return status;
}
