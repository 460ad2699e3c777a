/* SPDX-License-Identifier: Apache-2.0 */
/* Block Lanczos with thick restart for the largest eigenvalues theta = 1 / (lambda - sigma) of
 * OP = P (K - sigma M)^-1 M, in the inner product of M.
 *
 * A block of eight vectors costs a solve hardly more than one does, shows copies of an eigenvalue up to
 * eight, and turns everything else into products of dense blocks. Every new block loses what the
 * recurrence says it has of the last ones and then, once, what rounding left of all of them, so that
 * the basis stays orthogonal to rounding. Sources: G. H. Golub, R. Underwood, "The block Lanczos method
 * for computing eigenvalues", 1977; R. G. Grimes, J. G. Lewis, H. D. Simon, "A shifted block Lanczos
 * algorithm for solving sparse symmetric generalized eigenproblems", 1994; K. Wu, H. Simon, "Thick-restart
 * Lanczos method for large symmetric eigenvalue problems", 2000; A. Stathopoulos, K. Wu, "A block
 * orthogonalization procedure with constant synchronization requirements", 2002. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

/* The bound of theta's error is this part of the residuals' tolerance: K amplifies what is left. */
static const double lanczos_share = 0.01;

enum { B = MODAL_ROW, GUARD = 8, MOST_PASSES = 8, SMALL = 6000, TINY = 1500 };

typedef struct lanczos {
    modal_modes_problem *problem;
    int64_t n, n_locked_blocks, n_blocks, most_blocks;
    modal_row *basis; /* [n_locked_blocks + most_blocks, n]: what is left out, then the basis */
    modal_row *v, *w, *mw, *mv;
    modal_row *h;          /* [n_locked_blocks + most_blocks, 8] */
    modal_row *scratch;    /* of sums, and of restarts */
    int64_t stride;        /* 8 (most_blocks + 1) */
    double *t;             /* [stride, stride] V^T M OP V, and beyond the last block what follows */
    double *s;             /* [m, m], m = 8 n_blocks: eigenvectors of T */
    double *theta, *bound; /* [m] ascending; and how far each is from an eigenvalue of OP */
    double scale;          /* of the first block: what is far smaller is nothing */
} lanczos;

/* Eigenvalues of a symmetric 8 x 8 matrix by Jacobi's rotations; a becomes diagonal, columns of q. */
static void jacobi(double a[B][B], double q[B][B])
{
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) q[i][j] = i == j;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, on = 0;
        for (int i = 0; i < B; i++)
            for (int j = 0; j < B; j++) *(i == j ? &on : &off) += a[i][j] * a[i][j];
        if (!(off > 1e-31 * on)) break;
        for (int i = 0; i < B; i++)
            for (int j = i + 1; j < B; j++) {
                if (a[i][j] == 0) continue;
                const double angle = (a[j][j] - a[i][i]) / (2 * a[i][j]);
                const double tangent = copysign(1, angle) / (fabs(angle) + sqrt(1 + angle * angle));
                const double c = 1 / sqrt(1 + tangent * tangent), s = c * tangent;
                for (int k = 0; k < B; k++) {
                    const double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - s * y, a[k][j] = s * x + c * y;
                }
                for (int k = 0; k < B; k++) {
                    const double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - s * y, a[j][k] = s * x + c * y;
                    const double u = q[k][i], v = q[k][j];
                    q[k][i] = c * u - s * v, q[k][j] = s * u + c * v;
                }
            }
    }
}

/* w -= (what is left out and the whole basis) times its products with w. */
static void project(lanczos *l)
{
    const int threads = l->problem->n_threads;
    const int64_t count = l->n_locked_blocks + l->n_blocks;
    modal_row_mass_multiply(l->problem->mass, l->w, l->mw, threads);
    modal_rows_gram(l->n, count, l->basis, l->mw, l->h, l->scratch, threads);
    modal_rows_subtract(l->n, count, l->basis, l->h, l->w, threads);
}

static void symmetric_gram(lanczos *l, double g[B][B])
{
    modal_row h[B];
    modal_rows_gram(l->n, 1, l->w, l->mw, h, l->scratch, l->problem->n_threads);
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) g[i][j] = (h[i][j] + h[j][i]) / 2;
}

/* Columns of w that are lost become random ones of length 1. */
static void fill_at_random(lanczos *l, const int lost[B])
{
    modal_modes_problem *problem = l->problem;
    double *w = (double *)l->w, g[B][B];
    modal_row s[B] = {{0}};
    for (int i = 0; i < B; i++)
        for (int64_t k = 0; lost[i] && k < l->n; k++) modal_modes_random(problem, 1, &w[B * k + i]);
    modal_rows_rigid_remove(&problem->rigid, l->w, l->problem->coefficients);
    modal_row_mass_multiply(problem->mass, l->w, l->mw, problem->n_threads);
    symmetric_gram(l, g);
    for (int i = 0; i < B; i++) s[i][i] = lost[i] ? 1 / sqrt(g[i][i]) : 1;
    modal_rows_scale(l->n, s, l->w, problem->n_threads);
}

/* c = a b */
static void multiply(double a[B][B], double b[B][B], double c[B][B])
{
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) {
            c[i][j] = 0;
            for (int k = 0; k < B; k++) c[i][j] += a[i][k] * b[k][j];
        }
}

/* The last correction, for a Gram matrix g = 1 + e with |e| <= 1e-5: s = g^-1/2 and b = g^1/2 b by their series,
 * the fourth powers of which are below rounding. */
static void finish_orthonormal(double g[B][B], modal_row s[B], double b[B][B])
{
    double e2[B][B], e3[B][B], root[B][B], before[B][B];
    for (int i = 0; i < B; i++) g[i][i] -= 1;
    multiply(g, g, e2);
    multiply(e2, g, e3);
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) {
            s[i][j] = (i == j) - 0.5 * g[i][j] + 0.375 * e2[i][j] - 0.3125 * e3[i][j];
            root[i][j] = (i == j) + 0.5 * g[i][j] - 0.125 * e2[i][j] + 0.0625 * e3[i][j];
        }
    memcpy(before, b, sizeof before);
    multiply(root, before, b);
}

/* Makes w M-orthonormal to the basis and in itself, mw = M w, and b such that the former w is the new one
 * times b but for what the basis has of it. Directions in which w has nothing are filled at random, with
 * rows of zero in b. */
static modal_status orthonormalise(lanczos *l, double b[B][B], modal_error *err)
{
    modal_modes_problem *problem = l->problem;
    const int threads = problem->n_threads;
    memset(b, 0, B * sizeof *b);
    for (int i = 0; i < B; i++) b[i][i] = 1;
    project(l);
    for (int pass = 0, exact = 0; pass < MOST_PASSES; pass++) {
        double g[B][B], q[B][B], inverse[B][B], before[B][B], most = 0, least = INFINITY, deviation = 0;
        modal_row s[B];
        int n_lost = 0;
        symmetric_gram(l, g);
        for (int i = 0; i < B; i++)
            for (int j = 0; j < B; j++) deviation += pow(g[i][j] - (i == j), 2);
        if (exact && deviation <= 1e-10) {
            finish_orthonormal(g, s, b);
            modal_rows_scale(l->n, s, l->w, threads);
            modal_rows_scale(l->n, s, l->mw, threads);
            return MODAL_OK;
        }
        jacobi(g, q);
        for (int i = 0; i < B; i++) most = fmax(most, g[i][i]), least = fmin(least, g[i][i]);
        if (!isfinite(most))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: a vector is not finite");
        if (pass == 0 && l->scale == 0) l->scale = most;
        /* a direction smaller than the noise of the others grows pass by pass, or turns out empty */
        const double nothing = pass == 0 ? 1e-26 * l->scale : 1e-12, noise = 4 * DBL_EPSILON * most;
        int lost[B];
        for (int i = 0; i < B; i++) {
            lost[i] = pass < MOST_PASSES / 2 && g[i][i] <= nothing;
            const double length = sqrt(fmax(g[i][i], noise));
            n_lost += lost[i];
            for (int k = 0; k < B; k++) {
                s[k][i] = lost[i] ? 0 : q[k][i] / length;
                inverse[i][k] = lost[i] ? 0 : q[k][i] * length;
            }
        }
        memcpy(before, b, sizeof before);
        multiply(inverse, before, b);
        modal_rows_scale(l->n, s, l->w, threads);
        if (n_lost > 0 || least < 1e-8 * most) {
            if (n_lost > 0) fill_at_random(l, lost);
            project(l);
            exact = 0;
            continue;
        }
        /* the first product is that of w before its projection */
        modal_row_mass_multiply(problem->mass, l->w, l->mw, threads);
        exact = 1;
    }
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                           "modes: the search space is exhausted after %" PRId64 " vectors",
                           B * l->n_blocks);
}

/* One step: a block more. */
static modal_status extend(lanczos *l, int64_t n_kept, modal_error *err)
{
    const int64_t n = l->n, last = l->n_blocks - 1, stride = l->stride;
    const int threads = l->problem->n_threads;
    double b[B][B];
    modal_row h[B];
    modal_status status = modal_modes_apply_rows(l->problem, l->mv, l->w, err);
    if (status != MODAL_OK) return status;
    /* what is known already: the last block but one, or after a restart all that were kept */
    const int64_t from = last == n_kept ? 0 : last - 1;
    for (int64_t k = from < 0 ? 0 : from; k < last; k++) {
        for (int i = 0; i < B; i++)
            for (int j = 0; j < B; j++) h[i][j] = l->t[(B * k + i) * stride + B * last + j];
        modal_rows_subtract(n, 1, l->v + k * n, h, l->w, threads);
    }
    modal_rows_gram(n, 1, l->mv, l->w, h, l->scratch, threads);
    modal_rows_subtract(n, 1, l->v + last * n, h, l->w, threads);
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++)
            l->t[(B * last + i) * stride + B * last + j] = (h[i][j] + h[j][i]) / 2;
    status = orthonormalise(l, b, err);
    if (status != MODAL_OK) return status;
    modal_row *swap = l->mv;
    l->mv = l->mw, l->mw = swap;
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++)
            l->t[(B * (last + 1) + i) * stride + B * last + j] =
                l->t[(B * last + j) * stride + B * (last + 1) + i] = b[i][j];
    memcpy(l->v + l->n_blocks * n, l->w, (size_t)n * sizeof *l->w);
    return MODAL_OK;
}

/* Eigenvalues of T and their bounds: the norm of b times the last block of the eigenvector. The block
 * of T after the last one holds b. */
static modal_status solve_projected(lanczos *l, modal_error *err)
{
    const int64_t m = B * l->n_blocks, stride = l->stride;
    for (int64_t i = 0; i < m; i++)
        memcpy(l->s + i * m, l->t + i * stride, (size_t)m * sizeof *l->s);
    const modal_status status = modal_modes_symmetric(m, l->s, l->theta, err);
    if (status != MODAL_OK) return status;
    for (int64_t k = 0; k < m; k++) {
        double square = 0;
        for (int i = 0; i < B; i++) {
            double sum = 0;
            for (int j = 0; j < B; j++)
                sum += l->t[(m + i) * stride + m - B + j] * l->s[k * m + m - B + j];
            square += sum * sum;
        }
        l->bound[k] = sqrt(square);
    }
    return MODAL_OK;
}

/* Keeps the n_kept blocks of the largest eigenvalues and the block that follows the basis. */
static void restart(lanczos *l, int64_t n_kept)
{
    const int64_t n = l->n, m = B * l->n_blocks, stride = l->stride;
    modal_row *s = l->h + (l->n_locked_blocks + l->most_blocks) * B;
    double b[B][B];
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) b[i][j] = l->t[(m + i) * stride + m - B + j];
    /* column k of s: the eigenvector of the k-th largest */
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < B * n_kept; k++)
            ((double *)s)[i * B * n_kept + k] = l->s[(m - 1 - k) * m + i];
    modal_rows_rotate(n, l->n_blocks, n_kept, l->v, s, l->scratch, l->problem->n_threads);
    memcpy(l->v + n_kept * n, l->v + l->n_blocks * n, (size_t)n * sizeof *l->v);
    memset(l->t, 0, (size_t)(stride * stride) * sizeof *l->t);
    for (int64_t k = 0; k < B * n_kept; k++) {
        l->t[k * stride + k] = l->theta[m - 1 - k];
        for (int i = 0; i < B; i++) {
            double sum = 0;
            for (int j = 0; j < B; j++) sum += b[i][j] * l->s[(m - 1 - k) * m + m - B + j];
            l->t[(B * n_kept + i) * stride + k] = l->t[k * stride + B * n_kept + i] = sum;
        }
    }
    l->n_blocks = n_kept;
}

/* vectors [n_wanted, n] = V S for the largest ones, eight at a time. */
static void take_vectors(lanczos *l, int32_t n_wanted, double *vectors)
{
    const int64_t n = l->n, m = B * l->n_blocks;
    for (int64_t first = 0; first < n_wanted; first += B) {
        const int64_t width = n_wanted - first < B ? n_wanted - first : B;
        for (int64_t i = 0; i < m; i++)
            for (int64_t k = 0; k < B; k++)
                ((double *)l->h)[i * B + k] = k < width ? -l->s[(m - 1 - first - k) * m + i] : 0;
        memset(l->w, 0, (size_t)n * sizeof *l->w);
        modal_rows_subtract(n, l->n_blocks, l->v, l->h, l->w, l->problem->n_threads);
        modal_rows_to_columns(n, width, l->w, vectors + first * n);
    }
}

/* How far the n_wanted largest are from their bounds: the worst quotient, 1 and less is converged. */
static double worst_bound(const lanczos *l, int32_t n_wanted, double tolerance, int64_t *n_converged)
{
    const int64_t m = B * l->n_blocks;
    double worst = 0;
    *n_converged = -1;
    for (int64_t k = 0; k < n_wanted; k++) {
        const double quotient = l->bound[m - 1 - k] / (tolerance * l->theta[m - 1 - k]);
        if (!(quotient <= worst)) worst = quotient;
        if (*n_converged < 0 && !(quotient <= 1)) *n_converged = k;
    }
    if (*n_converged < 0) *n_converged = n_wanted;
    return worst;
}

/* Blocks before the first look. A look at a tiny problem costs as much as many steps, so the first one is
 * where it should be the last. Chebyshev polynomials of one degree a block separate the wanted theta from
 * those that follow a block later (Y. Saad, "On the rates of convergence of the Lanczos and the
 * block-Lanczos methods", 1980), and where eigenvalues lie as densely as in a compact solid, lambda_k ~
 * k^(2/3) (H. Weyl, 1911), that bounds the degree; a little more than half of it is enough in practice. */
static int64_t first_look(int64_t n, int64_t n_wanted, double tolerance)
{
    const int64_t least = (n_wanted + GUARD + B - 1) / B;
    if (n > TINY) return least + (n > SMALL ? 0 : 4);
    const double ratio = pow(1 + (double)B / (double)n_wanted, 2.0 / 3);
    const int64_t blocks = 5 + (int64_t)(0.55 * log(2 / tolerance) / acosh(2 * ratio - 1));
    return blocks > least ? blocks : least;
}

/* Blocks until it is worth looking again: a small problem's step costs less than a look. */
static int64_t patience(int64_t n, double worst)
{
    if (n > SMALL) return worst > 1e6 ? 2 : 1;
    return worst > 1e8 ? 4 : worst > 1e5 ? 3 : worst > 1e2 ? 2 : 1;
}

static modal_status allocate(lanczos *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_problem *problem = l->problem;
    const int64_t n = l->n, m = B * l->most_blocks, all = l->n_locked_blocks + l->most_blocks;
    const int64_t rotation = (int64_t)problem->n_threads * l->most_blocks * MODAL_ROW_CHUNK;
    int64_t scratch = modal_rows_gram_scratch(n, all);
    if (scratch < rotation) scratch = rotation;
    MODAL_TRY(modal_alloc(&l->basis, (all + 1) * n, sizeof *l->basis, "Lanczos basis", err));
    l->v = l->basis + l->n_locked_blocks * n;
    MODAL_TRY(modal_alloc(&l->w, n, sizeof *l->w, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->mw, n, sizeof *l->mw, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->mv, n, sizeof *l->mv, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->h, all * B + m * l->most_blocks, sizeof *l->h, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->scratch, scratch, sizeof *l->scratch, "Lanczos", err));
    l->stride = m + B;
    MODAL_TRY(modal_alloc_zero(&l->t, l->stride * l->stride, sizeof *l->t, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->s, m * m, sizeof *l->s, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->theta, m, sizeof *l->theta, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->bound, m, sizeof *l->bound, "Lanczos", err));
    for (int64_t k = 0; k < l->n_locked_blocks; k++) {
        const int64_t left = problem->n_locked - B * k;
        modal_rows_from_columns(n, left < B ? left : B, problem->locked + B * k * n, l->basis + k * n);
    }
done:
    return status;
}

int64_t modal_modes_lanczos_blocks(int64_t n_wanted, int64_t n_left)
{
    int64_t blocks = (n_wanted + GUARD + B - 1) / B; /* kept at a restart */
    blocks += blocks / 2 + 20;
    return blocks * B < n_left ? blocks : n_left / B - 1;
}

int64_t modal_modes_lanczos_fewest(int64_t n_wanted) { return (n_wanted + GUARD + B - 1) / B + 3; }

modal_status modal_modes_lanczos(modal_modes_problem *problem, int32_t n_wanted,
                                 const modal_modes_limits *limits, double *vectors,
                                 modal_modes_guard *guard, int64_t *n_all_restarts, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n;
    const int64_t n_kept = (n_wanted + GUARD + B - 1) / B;
    lanczos l = {.problem = problem, .n = n, .n_locked_blocks = (problem->n_locked + B - 1) / B};
    l.most_blocks =
        modal_modes_lanczos_blocks(n_wanted, n - problem->rigid.n_rigid - problem->n_locked);
    if (limits->most_blocks > 0 && limits->most_blocks < l.most_blocks)
        l.most_blocks = limits->most_blocks;
    const double tolerance = lanczos_share * limits->tolerance;
    double b[B][B];
    int64_t look_at = first_look(n, n_wanted, tolerance);
    int64_t kept = -1, n_restarts = 0, n_converged = 0;
    MODAL_TRY(allocate(&l, err));
    /* a random right-hand side is smoothed by the first solve, and counts as M x of some x */
    modal_modes_random(problem, B * n, (double *)l.mw);
    MODAL_TRY(modal_modes_apply_rows(problem, l.mw, l.w, err));
    MODAL_TRY(orthonormalise(&l, b, err));
    memcpy(l.v, l.w, (size_t)n * sizeof *l.w);
    memcpy(l.mv, l.mw, (size_t)n * sizeof *l.mw);
    l.n_blocks = 1;
    for (;;) {
        MODAL_TRY(extend(&l, kept, err));
        if (l.n_blocks >= look_at || l.n_blocks == l.most_blocks) {
            MODAL_TRY(solve_projected(&l, err));
            const double worst = worst_bound(&l, n_wanted, tolerance, &n_converged);
            if (n_converged == n_wanted) break;
            look_at = l.n_blocks + patience(n, worst);
        }
        if (l.n_blocks < l.most_blocks) {
            l.n_blocks++;
            continue;
        }
        if (n_restarts == limits->max_restarts || n_kept + 2 > l.most_blocks)
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                       "modes: %" PRId64 " of %d converged after %" PRId64 " restarts (%" PRId64
                       " solves)",
                       n_converged, n_wanted, n_restarts, problem->n_solves);
        restart(&l, n_kept);
        kept = n_kept;
        look_at = n_kept + 2;
        n_restarts++;
        l.n_blocks++;
    }
    *n_all_restarts += n_restarts;
    take_vectors(&l, n_wanted, vectors);
    guard->count = 0;
    for (int64_t k = B * l.n_blocks - 1 - n_wanted; k >= 0 && guard->count < MODAL_GUARD; k--) {
        if (!(l.theta[k] > 0)) break;
        guard->eigenvalues[guard->count] = problem->shift + 1 / l.theta[k];
        guard->errors[guard->count++] = l.bound[k] / l.theta[k];
    }
done:
    modal_free(&l.basis);
    modal_free(&l.w);
    modal_free(&l.mw);
    modal_free(&l.mv);
    modal_free(&l.h);
    modal_free(&l.scratch);
    modal_free(&l.t);
    modal_free(&l.s);
    modal_free(&l.theta);
    modal_free(&l.bound);
    return status;
}
