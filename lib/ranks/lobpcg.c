/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ranks/lobpcg.h"

#include <float.h>
#include <math.h>
#include <petscblaslapack.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/product.h"
#include "lib/ranks/ritz.h"

enum { MOST_ITERATIONS = 200, STRIP = 48, PATIENCE = 20, NEAR = 64 };

/* The least eigenvalue of the Gram matrix of the unit vectors of [X, P, W] is 4e-4 and more where all is well, 1e-6 where materials are a thousand
 * apart; then the small problem loses too many digits. */
static const double crowded = 1e-4;

typedef struct lobpcg {
    ranks_problem *problem;
    ranks_cycle *grid;
    const ranks_lobpcg *how;
    int64_t n_nodes, n, n_all; /* own nodes, rows, rows with ghosts */
    int64_t stride;
    double *s; /* [n_all, stride]: X [block], P [n_p], W [n_w] side by side */
    ranks_product *product;
    double *strips[2]; /* [3 STRIP, stride] */
    int64_t n_beside;
    const double **beside; /* [n_beside] their arrays */
    const double *diagonal; /* of K */
    ranks_ritz ritz;
    double *excess; /* [block] residuals beside what is wanted */
    double *sums;   /* [3, block] */
    int *active;    /* [n_w] columns of X */
    int is_crowded; /* W has become nearly dependent of X and P */
} lobpcg;

/* ---- begin and end ---- */

/* Vectors of PETSc whose arrays are read until the end. */
static modal_status open_beside(lobpcg *l, Vec diagonal, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t n_rigid = problem->whole.n_rigid, n = n_rigid + l->how->n_beside;
    RANKS_TRY(MatGetDiagonal(problem->stiffness, diagonal));
    RANKS_TRY(VecGetArrayRead(diagonal, &l->diagonal));
    RANKS_OWN(modal_alloc(&l->beside, n, sizeof *l->beside, "modes", err));
    for (; l->n_beside < n; l->n_beside++)
        RANKS_TRY(VecGetArrayRead(l->n_beside < n_rigid ? problem->rigid[l->n_beside] : problem->vectors[l->n_beside - n_rigid],
                                  &l->beside[l->n_beside]));
done:
    return status;
}

static void close_all(lobpcg *l, Vec diagonal)
{
    ranks_problem *problem = l->problem;
    const int64_t n_rigid = problem->whole.n_rigid;
    for (int64_t k = 0; k < l->n_beside; k++)
        VecRestoreArrayRead(k < n_rigid ? problem->rigid[k] : problem->vectors[k - n_rigid], &l->beside[k]);
    if (l->diagonal) VecRestoreArrayRead(diagonal, &l->diagonal);
    ranks_product_delete(l->product);
    ranks_ritz_free(&l->ritz);
    modal_free(&l->s);
    modal_free(&l->strips[0]);
    modal_free(&l->strips[1]);
    modal_free(&l->beside);
    modal_free(&l->excess);
    modal_free(&l->sums);
    modal_free(&l->active);
}

static int64_t round_up(int64_t n) { return (n + RANKS_LANES - 1) / RANKS_LANES * RANKS_LANES; }

static modal_status open_all(lobpcg *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t m = l->how->block;
    l->n_nodes = problem->piece.n_own;
    l->n = 3 * l->n_nodes;
    l->stride = round_up(2 * m + round_up(m)); /* a block that begins anywhere is read in whole lanes */
    MODAL_TRY(ranks_product_new(problem, l->stride, &l->product, err));
    l->n_all = l->n + ranks_product_ghosts(l->product);
    RANKS_OWN(modal_alloc_zero(&l->s, l->n_all * l->stride, sizeof *l->s, "LOBPCG", err));
    for (int k = 0; k < 2; k++) RANKS_OWN(modal_alloc_zero(&l->strips[k], 3 * STRIP * l->stride, sizeof(double), "LOBPCG", err));
    RANKS_OWN(modal_alloc(&l->excess, m, sizeof *l->excess, "LOBPCG", err));
    RANKS_OWN(modal_alloc(&l->sums, 3 * m, sizeof *l->sums, "LOBPCG", err));
    RANKS_OWN(modal_alloc(&l->active, m, sizeof *l->active, "LOBPCG", err));
    RANKS_OWN(ranks_ritz_new(m, &l->ritz, err));
done:
    return status;
}

static modal_status start(lobpcg *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t m = l->how->block, n_start = problem->n_found - l->how->n_beside;
    for (int64_t k = 0; k < m; k++) {
        const PetscScalar *from = NULL;
        if (k < n_start) RANKS_TRY(VecGetArrayRead(problem->vectors[l->how->n_beside + k], &from));
        for (int64_t i = 0; i < l->n; i++) {
            const int held = problem->held[i / 3] >> (i % 3) & 1;
            l->s[i * l->stride + k] = held ? 0 : from ? from[i] : ranks_draw(3 * (int64_t)problem->piece.own_nodes[i / 3] + i % 3, k);
        }
        if (from) RANKS_TRY(VecRestoreArrayRead(problem->vectors[l->how->n_beside + k], &from));
    }
done:
    return status;
}

static modal_status take(lobpcg *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t first = l->how->n_beside;
    ranks_pairs_cut(problem, first);
    MODAL_TRY(ranks_pairs_grow(problem, first + l->how->wanted, err));
    for (int64_t k = 0; k < l->how->wanted; k++) {
        PetscScalar *to;
        RANKS_TRY(VecGetArrayWrite(problem->vectors[first + k], &to));
        for (int64_t i = 0; i < l->n; i++) to[i] = l->s[i * l->stride + k];
        RANKS_TRY(VecRestoreArrayWrite(problem->vectors[first + k], &to));
        problem->eigenvalues[first + k] = l->ritz.values[k];
    }
done:
    return status;
}

/* ---- strips ---- */

static int64_t strip_at(const lobpcg *l, int64_t node) { return l->n_nodes - node < STRIP ? l->n_nodes - node : STRIP; }

/* Some columns of a strip: values [rows, stride]. */
typedef struct columns {
    const double *values;
    int64_t n, stride;
} columns;

/* c [a.n, b.n], by columns that are stride_c apart, += a^T b of strips of `rows` rows. */
static void add_products(int64_t rows, columns a, columns b, double *c, int64_t stride_c)
{
    const PetscBLASInt m = (PetscBLASInt)a.n, n = (PetscBLASInt)b.n, k = (PetscBLASInt)rows, lda = (PetscBLASInt)a.stride,
                       ldb = (PetscBLASInt)b.stride, ldc = (PetscBLASInt)stride_c;
    const double one = 1;
    if (m > 0 && n > 0) BLASgemm_("N", "T", &m, &n, &k, &one, a.values, &lda, b.values, &ldb, &one, c, &ldc);
}

/* What is kept out leaves columns [first, first + count): x -= B B^T M x. */
static modal_status remove_beside(lobpcg *l, int64_t first, int64_t count, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const int64_t b = l->n_beside, width = round_up(count);
    double *products = NULL, *rows = NULL;
    if (b == 0 || count == 0) return MODAL_OK;
    RANKS_OWN(modal_alloc_zero(&products, b * count, sizeof *products, "LOBPCG", err));
    RANKS_OWN(modal_alloc(&rows, 3 * STRIP * b, sizeof *rows, "LOBPCG", err));
    RANKS_TRY(ranks_product_exchange(l->product, l->s));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t node = 0; node < l->n_nodes; node += STRIP) {
            const int64_t n = 3 * strip_at(l, node);
            for (int64_t i = 0; i < n; i++)
                for (int64_t k = 0; k < b; k++) rows[i * b + k] = l->beside[k][3 * node + i];
            double *x = l->s + 3 * node * l->stride + first;
            if (pass == 0) {
                ranks_product_strip(l->product, 1, node, n / 3, l->s + first, width, l->strips[0]);
                add_products(n, (columns){rows, b, b}, (columns){l->strips[0], count, width}, products, b);
                continue;
            }
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < count; j++) {
                    double sum = 0;
                    for (int64_t k = 0; k < b; k++) sum += rows[i * b + k] * products[j * b + k];
                    x[i * l->stride + j] -= sum;
                }
        }
        if (pass == 0) RANKS_TRY(MPI_Allreduce(MPI_IN_PLACE, products, (int)(b * count), MPI_DOUBLE, MPI_SUM, problem->comm));
    }
done:
    modal_free(&products);
    modal_free(&rows);
    return status;
}

/* What X and P have leaves columns [first, first + count), which come after them: x -= S S^T M x. A cycle of a small residual is nearly
 * in their span, and of what is left the small problem would know little. */
static modal_status remove_pairs(lobpcg *l, int64_t first, int64_t count, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const int64_t width = round_up(count);
    const PetscBLASInt n_from = (PetscBLASInt)first, n_to = (PetscBLASInt)count, stride = (PetscBLASInt)l->stride;
    const double one = 1, minus = -1;
    double *products = NULL;
    if (count == 0) return MODAL_OK;
    RANKS_OWN(modal_alloc_zero(&products, first * count, sizeof *products, "LOBPCG", err));
    RANKS_TRY(ranks_product_exchange(l->product, l->s));
    for (int64_t node = 0; node < l->n_nodes; node += STRIP) {
        const int64_t n = 3 * strip_at(l, node);
        ranks_product_strip(l->product, 1, node, n / 3, l->s + first, width, l->strips[0]);
        add_products(n, (columns){l->s + 3 * node * l->stride, first, l->stride}, (columns){l->strips[0], count, width}, products, first);
    }
    RANKS_TRY(MPI_Allreduce(MPI_IN_PLACE, products, (int)(first * count), MPI_DOUBLE, MPI_SUM, problem->comm));
    for (int64_t row = 0; row < l->n; row += 3 * STRIP) {
        const PetscBLASInt n = (PetscBLASInt)(l->n - row < 3 * STRIP ? l->n - row : 3 * STRIP);
        double *x = l->s + row * l->stride;
        BLASgemm_("T", "N", &n_to, &n, &n_from, &minus, products, &n_from, x, &stride, &one, x + first, &stride);
    }
done:
    modal_free(&products);
    return status;
}

/* S^T K S and S^T M S: the upper triangles of their blocks. */
static modal_status project(lobpcg *l, int64_t n_p, int64_t n_w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    ranks_ritz *r = &l->ritz;
    const int64_t m = l->how->block, all = m + n_p + n_w, width = round_up(all), ends[3] = {m, m + n_p, all};
    RANKS_TRY(ranks_product_exchange(l->product, l->s));
    memset(r->stiffness, 0, (size_t)(all * all) * sizeof *r->stiffness);
    memset(r->mass, 0, (size_t)(all * all) * sizeof *r->mass);
    for (int64_t node = 0; node < l->n_nodes; node += STRIP) {
        const int64_t n = 3 * strip_at(l, node);
        const double *x = l->s + 3 * node * l->stride;
        for (int is_mass = 0; is_mass < 2; is_mass++) {
            double *to = is_mass ? r->mass : r->stiffness;
            ranks_product_strip(l->product, is_mass, node, n / 3, l->s, width, l->strips[is_mass]);
            for (int block = 0, begin = 0; block < 3; begin = (int)ends[block++])
                add_products(n, (columns){x, ends[block], l->stride}, (columns){l->strips[is_mass] + begin, ends[block] - begin, width},
                             to + begin * all, all);
        }
    }
    RANKS_TRY(MPI_Allreduce(MPI_IN_PLACE, r->stiffness, (int)(all * all), MPI_DOUBLE, MPI_SUM, problem->comm));
    RANKS_TRY(MPI_Allreduce(MPI_IN_PLACE, r->mass, (int)(all * all), MPI_DOUBLE, MPI_SUM, problem->comm));
done:
    return status;
}

/* X and P of the next step, ghosts included, by the coefficients of the small problem. */
static void update(lobpcg *l, int64_t n_p, int64_t n_w)
{
    const int64_t m = l->how->block, n_to = m + l->ritz.n_directions;
    const PetscBLASInt from = (PetscBLASInt)(m + n_p + n_w), to = (PetscBLASInt)n_to, stride = (PetscBLASInt)l->stride;
    const double one = 1, zero = 0;
    for (int64_t row = 0; row < l->n_all; row += 3 * STRIP) {
        const PetscBLASInt n = (PetscBLASInt)(l->n_all - row < 3 * STRIP ? l->n_all - row : 3 * STRIP);
        double *x = l->s + row * l->stride;
        BLASgemm_("T", "N", &to, &n, &from, &one, l->ritz.coefficients, &from, x, &stride, &zero, l->strips[0], &to);
        for (PetscBLASInt i = 0; i < n; i++) memcpy(x + i * l->stride, l->strips[0] + i * n_to, (size_t)n_to * sizeof *x);
    }
}

/* R = K X - M X Lambda into columns `first` and after, and how far from what is wanted each pair is. */
static modal_status find_residuals(lobpcg *l, int64_t first, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const int64_t m = l->how->block, width = round_up(m);
    const double *lambda = l->ritz.values;
    double *r2 = l->sums, *f2 = r2 + m, *n2 = f2 + m;
    memset(l->sums, 0, 3 * (size_t)m * sizeof *l->sums);
    for (int64_t node = 0; node < l->n_nodes; node += STRIP) {
        const int64_t n = 3 * strip_at(l, node);
        for (int k = 0; k < 2; k++) ranks_product_strip(l->product, k, node, n / 3, l->s, width, l->strips[k]);
        for (int64_t i = 0; i < n; i++) {
            const double *x = l->s + (3 * node + i) * l->stride, *kx = l->strips[0] + i * width, *mx = l->strips[1] + i * width;
            double *to = l->s + (3 * node + i) * l->stride + first;
            for (int64_t j = 0; j < m; j++) {
                const double force = lambda[j] * mx[j], residual = kx[j] - force, noise = l->diagonal[3 * node + i] * x[j];
                r2[j] += residual * residual;
                f2[j] += force * force;
                n2[j] += noise * noise;
                to[j] = residual;
            }
        }
    }
    RANKS_TRY(MPI_Allreduce(MPI_IN_PLACE, l->sums, (int)(3 * m), MPI_DOUBLE, MPI_SUM, problem->comm));
    for (int64_t j = 0; j < m; j++) /* as pairs.c judges them */
        l->excess[j] = sqrt(r2[j] / f2[j]) / fmax(l->how->tolerance, 4 * DBL_EPSILON * sqrt(n2[j] / f2[j]));
done:
    return status;
}

/* ---- the iteration ---- */

/* The wanted pair that is farthest off. */
static double find_worst(const lobpcg *l)
{
    double worst = 0;
    for (int64_t j = 0; j < l->how->wanted; j++)
        if (!(l->excess[j] <= worst)) worst = l->excess[j];
    return worst;
}

/* W: residuals of the active pairs after a cycle. */
static modal_status precondition(lobpcg *l, int64_t first, int64_t *n_w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    *n_w = 0;
    for (int64_t j = 0; j < l->how->block; j++)
        if (!(l->excess[j] <= 1)) l->active[(*n_w)++] = (int)j;
    RANKS_TRY(ranks_cycle_apply(l->grid, *n_w, l->active, l->s + first, l->stride));
    MODAL_TRY(remove_beside(l, first, *n_w, err));
    /* costs a tenth of the time */
    if (l->is_crowded) MODAL_TRY(remove_pairs(l, first, *n_w, err));
done:
    return status;
}

static modal_status iterate(lobpcg *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t m = l->how->block;
    double best = INFINITY;
    int64_t n_w = 0;
    for (int k = 0, since = 0; k < MOST_ITERATIONS; k++, since++) {
        const int64_t n_p = l->ritz.n_directions;
        MODAL_TRY(find_residuals(l, m + n_p, err));
        const double worst = find_worst(l);
        if (worst <= 1) goto done;
        if (worst < 0.5 * best) best = worst, since = 0;
        if (worst <= NEAR && since >= PATIENCE) goto done; /* what rounding has left is improved and judged with the pairs */
        MODAL_TRY(precondition(l, m + n_p, &n_w, err));
        MODAL_TRY(project(l, n_p, n_w, err));
        MODAL_TRY(ranks_ritz_solve(problem, &l->ritz, n_p, n_w, l->active, err));
        update(l, n_p, n_w);
        l->is_crowded |= n_p > 0 && !(l->ritz.least > crowded);
        problem->n_iterations++;
    }
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
               "modes: LOBPCG: a residual is %.3g times what is wanted after %d iterations; a factor may do (--route direct)", find_worst(l),
               MOST_ITERATIONS);
done:
    return status;
}

modal_status ranks_lobpcg_solve(ranks_problem *problem, ranks_cycle *grid, const ranks_lobpcg *how, modal_error *err)
{
    modal_status status = MODAL_OK;
    lobpcg l = {.problem = problem, .grid = grid, .how = how};
    Vec diagonal = NULL;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &diagonal, NULL));
    MODAL_TRY(open_all(&l, err));
    MODAL_TRY(open_beside(&l, diagonal, err));
    MODAL_TRY(start(&l, err));
    for (int pass = 0; pass < 2; pass++) MODAL_TRY(remove_beside(&l, 0, how->block, err));
    MODAL_TRY(project(&l, 0, 0, err));
    MODAL_TRY(ranks_ritz_solve(problem, &l.ritz, 0, 0, NULL, err));
    update(&l, 0, 0);
    MODAL_TRY(iterate(&l, err));
    MODAL_TRY(take(&l, err));
done:
    close_all(&l, diagonal);
    VecDestroy(&diagonal);
    return status;
}
