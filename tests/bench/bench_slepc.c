/* SPDX-License-Identifier: Apache-2.0 */
/* bench_slepc NX,NY,NZ [N_MODES [ROUNDS]]: natural modes of the clamped bar of bench_modes, by lib/modes and by
 * SLEPc's Krylov-Schur with shift-invert (sigma = 0, tolerance 1e-9) on MUMPS' L D L^T, in turn, both on
 * the same K and M with the same number of threads (MUMPS' are those of BLAS). MODAL_THREADS sets it. Seconds
 * are without the assembly, and without filling PETSc's matrices. */
#include <math.h>
#include <omp.h>
#include <slepceps.h>

#include "lib/base/clock.h"
#include "lib/fem/assemble.h"
#include "lib/modes/factor.h"
#include "lib/modes/modes.h"
#include "tests/bench/bar_bench.h"

/* The rival's BLAS. */
extern void openblas_set_num_threads(int n_threads);

/* PETSc keeps the upper triangle by block rows: our lower one by block columns, transposed. */
static PetscErrorCode fill(const modal_fem_system *system, int is_mass, Mat *matrix)
{
    const modal_block_pattern *p = &system->pattern;
    const PetscInt n = (PetscInt)p->n_nodes;
    PetscInt *counts = calloc((size_t)n, sizeof *counts);
    for (PetscInt j = 0; j < n; j++) counts[j] = (PetscInt)(p->offsets[j + 1] - p->offsets[j]);
    PetscCall(MatCreateSeqSBAIJ(PETSC_COMM_SELF, 3, 3 * n, 3 * n, 0, counts, matrix));
    for (PetscInt j = 0; j < n; j++)
        for (int64_t k = p->offsets[j]; k < p->offsets[j + 1]; k++) {
            const PetscInt i = p->rows[k];
            PetscScalar block[9] = {0};
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    block[3 * a + b] = is_mass ? (a == b) * system->mass[k] : system->stiffness[9 * k + 3 * b + a];
            PetscCall(MatSetValuesBlocked(*matrix, 1, &j, 1, &i, block, INSERT_VALUES));
        }
    free(counts);
    PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
    return 0;
}

static PetscErrorCode rival(const modal_fem_system *system, int n_modes, int n_threads, double *eigenvalues,
                            double *seconds)
{
    Mat k, m;
    EPS eps;
    ST st;
    KSP ksp;
    PC pc;
    PetscInt n_converged = 0, n_iterations = 0;
    PetscCall(fill(system, 0, &k));
    PetscCall(fill(system, 1, &m));
    openblas_set_num_threads(n_threads);
    const double start = modal_seconds();
    PetscCall(EPSCreate(PETSC_COMM_SELF, &eps));
    PetscCall(EPSSetOperators(eps, k, m));
    PetscCall(EPSSetProblemType(eps, EPS_GHEP));
    PetscCall(EPSSetType(eps, EPSKRYLOVSCHUR));
    PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
    PetscCall(EPSSetTarget(eps, 0));
    PetscCall(EPSSetTolerances(eps, 1e-9, 300));
    PetscCall(EPSSetDimensions(eps, n_modes, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(EPSGetST(eps, &st));
    PetscCall(STSetType(st, STSINVERT));
    PetscCall(STGetKSP(st, &ksp));
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCCHOLESKY));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    PetscCall(EPSSetFromOptions(eps));
    PetscCall(EPSSetUp(eps));
    const double factored = modal_seconds();
    PetscCall(EPSSolve(eps));
    *seconds = modal_seconds() - start;
    PetscCall(EPSGetConverged(eps, &n_converged));
    PetscCall(EPSGetIterationNumber(eps, &n_iterations));
    solid_require(n_converged >= n_modes, "SLEPc: not all modes converged");
    for (PetscInt i = 0; i < n_modes; i++) PetscCall(EPSGetEigenpair(eps, i, &eigenvalues[i], NULL, NULL, NULL));
    printf("SLEPc  %7.2f s: order, analyse, factor %.2f, %d restarts %.2f\n", *seconds, factored - start,
           (int)n_iterations, *seconds - (factored - start));
    PetscCall(EPSDestroy(&eps));
    PetscCall(MatDestroy(&k));
    PetscCall(MatDestroy(&m));
    return 0;
}

int main(int argc, char **argv)
{
    bar_bench bar;
    if (!bar_bench_open(&bar, argc, argv, "bench_slepc NX,NY,NZ [N_MODES [ROUNDS]]")) return 2;
    const int n_modes = bar.n_modes, n_threads = bar.n_threads;
    modal_error err = {0};
    double *eigenvalues = malloc((size_t)n_modes * sizeof *eigenvalues);
    PetscCall(SlepcInitialize(NULL, NULL, NULL, NULL));
    for (int round = 0; round < bar.rounds; round++) {
        modal_modes_result result;
        modal_fem_system system;
        const modal_modes_options options = {
            .n_modes = n_modes, .n_threads = n_threads, .proof = MODAL_PROOF_NEVER};
        const double begin = cpu_seconds();
        if (modal_modes_solve(&bar.mesh, bar.fixed, bar.n_fixed, &options, &result, NULL, &err) != MODAL_OK ||
            modal_fem_assemble(&bar.mesh, bar.fixed, NULL, bar.n_fixed, MODAL_MASS_CONSISTENT, n_threads, &system, &err)) {
            fprintf(stderr, "bench_slepc: %s\n", err.message);
            return 5;
        }
        const double cpu = cpu_seconds() - begin; /* with the assembly, twice */
        const double ours = result.seconds_order + result.seconds_analyse + result.seconds_factor +
                            result.seconds_solve + result.seconds_refine;
        printf("modal  %7.2f s: order, analyse, factor %.2f, %lld solves and the rest %.2f\n", ours,
               ours - result.seconds_solve - result.seconds_refine, (long long)result.n_solves,
               result.seconds_solve + result.seconds_refine);
        const double middle = cpu_seconds();
        double theirs = 0, worst = 0;
        PetscCall(rival(&system, n_modes, n_threads, eigenvalues, &theirs));
        const double rival_cpu = cpu_seconds() - middle; /* with the filling */
        for (int k = 0; k < n_modes; k++) worst = fmax(worst, fabs(eigenvalues[k] / result.eigenvalues[k] - 1));
        bar_bench_compare(ours, theirs, cpu, rival_cpu, worst);
        modal_fem_system_free(&system);
        modal_modes_result_free(&result);
    }
    bar_bench_close(&bar);
    free(eigenvalues);
    return SlepcFinalize();
}
