/* SPDX-License-Identifier: Apache-2.0 */
/* Motions beside the natural modes, for what the modes leave out of loads.
 *
 * Two kinds of vectors are nearly free once the modes are there: the next Ritz vectors of the same Lanczos run, not
 * converged, which are the next resonances, and one block of eight static answers K^-1 M p to smooth fields p (one solve with the factor),
 * which are what slow loads ask for, also by stiff motions. Rayleigh-Ritz in what both have outside of the modes makes them M-orthonormal,
 * with K diagonal: oscillators of their own, as modes are. Source of the use of static answers: R. R. Craig, M. C. C. Bampton, "Coupling of
 * substructures for dynamic analyses", 1968. */
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/sparse.h"
#include "lib/modes/problem.h"
#include "lib/modes/products.h"
#include "lib/modes/symmetric.h"

static const double DEPENDS = 1e-8; /* of the candidates' Gram matrix: a smaller eigenvalue is a combination of nothing */

/* Of the powers of x, y, z (in the box, -1 to 1 along its longest side) that each of the eight fields is, in which direction. Where nothing is
 * free: translations, turns and stretches; else strains, which a free body answers. */
static void field_at(int is_free, const double x[3], double u[MODAL_ROW][3])
{
    memset(u, 0, MODAL_ROW * sizeof *u);
    for (int axis = 0; axis < 3; axis++) {
        const int b = (axis + 1) % 3, c = (axis + 2) % 3;
        u[axis][axis] = is_free ? x[axis] : 1;
        u[3 + axis][c] = x[b];
        u[3 + axis][b] = is_free ? x[c] : -x[c];
    }
    for (int axis = 0; axis < 3; axis++) {
        u[6][axis] = is_free ? x[axis] * x[axis] : x[axis];
        u[7][axis] = is_free ? x[(axis + 1) % 3] * x[axis] : x[(axis + 1) % 3];
    }
}

/* answers [8, n] = P (K - sigma M)^-1 M p. */
static modal_status static_answers(modal_modes_problem *problem, double *answers, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_fem_system *system = &problem->system;
    const int64_t n = problem->n;
    modal_row *fields = NULL, *pushed = NULL;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, half = 0;
    for (int64_t i = 0; i < 3 * problem->mesh->n_nodes; i++) {
        low[i % 3] = fmin(low[i % 3], problem->mesh->nodes[i]);
        high[i % 3] = fmax(high[i % 3], problem->mesh->nodes[i]);
    }
    for (int axis = 0; axis < 3; axis++) half = fmax(half, 0.5 * (high[axis] - low[axis]));
    MODAL_TRY(modal_alloc(&fields, n, sizeof *fields, "motions beside modes", err));
    MODAL_TRY(modal_alloc(&pushed, n, sizeof *pushed, "motions beside modes", err));
    for (int64_t i = 0; i < system->n_free; i++) {
        double x[3], u[MODAL_ROW][3];
        for (int axis = 0; axis < 3; axis++)
            x[axis] = (problem->mesh->nodes[3 * (int64_t)system->free_nodes[i] + axis] - 0.5 * (low[axis] + high[axis])) / half;
        field_at(problem->rigid.n_rigid > 0, x, u);
        for (int axis = 0; axis < 3; axis++) {
            const int held = system->pattern.held && system->pattern.held[i] >> axis & 1;
            for (int k = 0; k < MODAL_ROW; k++) fields[3 * i + axis][k] = held ? 0 : u[k][axis];
        }
    }
    modal_rows_rigid_remove(&problem->rigid, fields, problem->coefficients);
    modal_row_mass_multiply(problem->mass, fields, pushed, problem->n_threads);
    MODAL_TRY(modal_modes_apply_rows(problem, pushed, fields, err));
    modal_rows_to_columns(n, MODAL_ROW, fields, answers);
done:
    modal_free(&fields);
    modal_free(&pushed);
    return status;
}

/* Takes the modes, which are M-orthonormal, out of the vectors [count, n]: once, which is right to rounding of what they were, and no more is
 * asked of a measure. before [count] gets their squares; scratch [count, n]. */
static modal_status take_out(const modal_modes_problem *problem, int32_t n_modes, const double *modes, int64_t count, double *vectors,
                             double *scratch, double *before, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n;
    double *products = NULL;
    MODAL_TRY(modal_alloc(&products, n_modes * count, sizeof *products, "motions beside modes", err));
    modal_identity_blocks_multiply(&problem->system.pattern, problem->system.mass, count, vectors, scratch, problem->n_threads);
    for (int64_t k = 0; k < count; k++) before[k] = modal_dot(n, vectors + k * n, scratch + k * n);
    MODAL_TRY(modal_tall_gram(n, n_modes, modes, count, scratch, products, problem->n_threads, err));
    MODAL_TRY(modal_tall_combine(n, &(modal_combination){n_modes, count, modes, products, -1, 1, vectors}, problem->n_threads, err));
done:
    modal_free(&products);
    return status;
}

/* Into independent [*n_independent, n] what the vectors [count, n] have between them, M-orthonormal. scratch [count, n]. */
static modal_status keep_independent(const modal_modes_problem *problem, const double *before, int64_t count, const double *vectors,
                                     double *scratch, double *independent, int64_t *n_independent, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n;
    double gram[MODAL_MOST_BESIDE * MODAL_MOST_BESIDE], values[MODAL_MOST_BESIDE], scale[MODAL_MOST_BESIDE];
    int64_t first = 0;
    modal_identity_blocks_multiply(&problem->system.pattern, problem->system.mass, count, vectors, scratch, problem->n_threads);
    MODAL_TRY(modal_tall_gram(n, count, vectors, count, scratch, gram, problem->n_threads, err));
    for (int64_t i = 0; i < count; i++) { /* what is but rounding of the vector that it was has no say */
        const double square = gram[i * count + i];
        scale[i] = square > DEPENDS * before[i] ? 1 / sqrt(square) : 0;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) gram[i * count + j] *= scale[i] * scale[j];
    MODAL_TRY(modal_symmetric_eigen(count, gram, values, err));
    while (first < count && !(values[first] > DEPENDS)) first++;
    for (int64_t k = first; k < count; k++)
        for (int64_t i = 0; i < count; i++) gram[k * count + i] *= scale[i] / sqrt(values[k]);
    *n_independent = count - first;
    if (first < count)
        MODAL_TRY(modal_tall_combine(n, &(modal_combination){count, count - first, vectors, gram + first * count, 1, 0, independent},
                                     problem->n_threads, err));
done:
    return status;
}

modal_status modal_modes_find_beside(modal_modes_problem *problem, const modal_modes_pairs *pairs, int32_t n_more, const double *more,
                                     modal_modes_beside *beside, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n, count = n_more + MODAL_ROW;
    double *candidates = NULL, *scratch = NULL, before[MODAL_MOST_BESIDE];
    MODAL_TRY(modal_alloc(&candidates, count * n, sizeof *candidates, "motions beside modes", err));
    MODAL_TRY(modal_alloc(&scratch, count * n, sizeof *scratch, "motions beside modes", err));
    MODAL_TRY(modal_alloc(&beside->vectors, count * n, sizeof(double), "motions beside modes", err));
    memcpy(candidates, more, (size_t)(n_more * n) * sizeof *more);
    MODAL_TRY(static_answers(problem, candidates + n_more * n, err));
    MODAL_TRY(take_out(problem, (int32_t)pairs->count, pairs->vectors, count, candidates, scratch, before, err));
    int64_t n_independent = 0;
    MODAL_TRY(keep_independent(problem, before, count, candidates, scratch, beside->vectors, &n_independent, err));
    beside->count = (int32_t)n_independent;
    if (n_independent > 0)
        MODAL_TRY(modal_modes_rayleigh_ritz(problem, n_independent, beside->vectors, candidates, scratch, beside->eigenvalues, err));
done:
    modal_free(&candidates);
    modal_free(&scratch);
    return status;
}

void modal_modes_beside_free(modal_modes_beside *beside)
{
    modal_free(&beside->vectors);
    beside->count = 0;
}
