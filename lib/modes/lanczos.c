/* SPDX-License-Identifier: Apache-2.0 */
/* Shift-invert Lanczos by ARPACK-NG's reverse communication (mode 3). */
#include <arpack/arpack.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

/* ARPACK keeps its state between calls in static variables. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

static modal_status iterate(modal_modes_problem *problem, a_int n_wanted, double tolerance,
                            a_int n_basis, double *start, double *basis, a_int parameters[11],
                            a_int pointers[14], double *work, double *work_basis, a_int n_work,
                            a_int *info, modal_error *err)
{
    const modal_block_pattern *pattern = &problem->system.pattern;
    const double *mass = problem->system.mass;
    const a_int n = (a_int)problem->n;
    a_int ido = 0;
    *info = 1; /* `start` is given */
    for (;;) {
        dsaupd_c(&ido, "G", n, "LM", n_wanted, tolerance, start, n_basis, basis, n, parameters,
                 pointers, work, work_basis, n_work, info);
        double *x = work + pointers[0] - 1, *y = work + pointers[1] - 1;
        modal_status status = MODAL_OK;
        if (ido == -1) {
            modal_identity_blocks_multiply(pattern, mass, 1, x, y, 1);
            status = modal_modes_apply(problem, 1, y, y, err);
        } else if (ido == 1) {
            /* here ARPACK hands over M x as well */
            status = modal_modes_apply(problem, 1, work + pointers[2] - 1, y, err);
        } else if (ido == 2) {
            modal_identity_blocks_multiply(pattern, mass, 1, x, y, 1);
        } else {
            return MODAL_OK;
        }
        if (status != MODAL_OK) return status;
    }
}

modal_status modal_modes_lanczos(modal_modes_problem *problem, int32_t n_wanted, double tolerance,
                                 int32_t max_iterations, double *vectors, int64_t *n_iterations,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n;
    const int64_t n_left = n - problem->rigid.n_rigid - problem->n_locked;
    int64_t n_basis = n_wanted < 24 ? n_wanted + 24 : 2 * (int64_t)n_wanted;
    if (n_basis > n_left) n_basis = n_left;
    const int64_t n_work = n_basis * (n_basis + 8);
    double *start = NULL, *basis = NULL, *work = NULL, *work_basis = NULL, *theta = NULL;
    a_int *select = NULL, parameters[11] = {0}, pointers[14] = {0}, info = 0;
    MODAL_TRY(modal_alloc(&start, n, sizeof *start, "Lanczos", err));
    MODAL_TRY(modal_alloc(&basis, n * n_basis, sizeof *basis, "Lanczos basis", err));
    MODAL_TRY(modal_alloc_zero(&work, 3 * n, sizeof *work, "Lanczos", err));
    MODAL_TRY(modal_alloc_zero(&work_basis, n_work, sizeof *work_basis, "Lanczos", err));
    MODAL_TRY(modal_alloc(&theta, n_basis, sizeof *theta, "Lanczos", err));
    MODAL_TRY(modal_alloc_zero(&select, n_basis, sizeof *select, "Lanczos", err));
    modal_modes_random(problem, n, start);
    parameters[0] = 1;
    parameters[2] = max_iterations;
    parameters[3] = 1;
    parameters[6] = 3;
    pthread_mutex_lock(&arpack_lock);
    status = iterate(problem, n_wanted, tolerance, (a_int)n_basis, start, basis, parameters, pointers,
                     work, work_basis, (a_int)n_work, &info, err);
    /* ARPACK counts one more when it gives up */
    const int n_restarts = parameters[2] < max_iterations ? (int)parameters[2] : max_iterations;
    *n_iterations += n_restarts;
    a_int info_vectors = 0;
    if (status == MODAL_OK && info == 0)
        dseupd_c(1, "A", select, theta, vectors, (a_int)n, problem->shift, "G", (a_int)n, "LM",
                 n_wanted, tolerance, start, (a_int)n_basis, basis, (a_int)n, parameters, pointers,
                 work, work_basis, (a_int)n_work, &info_vectors);
    pthread_mutex_unlock(&arpack_lock);
    if (status != MODAL_OK) goto done;
    if (info == 1)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modes: %d of %d converged after %d restarts (%" PRId64 " solves)",
                   (int)parameters[4], n_wanted, n_restarts, problem->n_solves);
    if (info != 0 || info_vectors != 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modes: ARPACK stopped, info %d and %d, after %d restarts, %d of %d converged",
                   (int)info, (int)info_vectors, n_restarts, (int)parameters[4], n_wanted);
done:
    modal_free(&start);
    modal_free(&basis);
    modal_free(&work);
    modal_free(&work_basis);
    modal_free(&theta);
    modal_free(&select);
    return status;
}
