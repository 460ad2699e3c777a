/* SPDX-License-Identifier: Apache-2.0 */
/* Block Lanczos with thick restart for the largest eigenvalues theta = 1 / (lambda - sigma) of
 * OP = P (K - sigma M)^-1 M, in the inner product of M.
 *
 * A block of eight vectors costs a solve hardly more than one does, shows copies of an eigenvalue up to
 * eight, and turns everything else into products of dense blocks. A tiny problem takes blocks of four: a
 * basis of as many steps is half as large then, and its projected eigenproblem an eighth of the work. Every new block loses what the
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
#include "lib/modes/symmetric.h"

/* The bound of theta's error is this part of the residuals' tolerance: K amplifies what is left. */
static const double lanczos_share = 0.01;

/* AT_ONCE: projected problems up to this size are solved with all vectors at every look. */
enum { B = MODAL_ROW, GUARD = 8, MOST_PASSES = 8, SMALL = 6000, TINY = 1500, AT_ONCE = 128 };

/* Vector k of the basis is column k % 8 of pack k / 8; so is that of w, mw and mv, whose other columns are 0. */
typedef struct lanczos {
    modal_modes_problem *problem;
    int width; /* of a block, 4 or 8 */
    int first; /* column of w at which its block begins: where it will be in its pack */
    int64_t n, n_locked_packs, n_blocks, most_packs, most_blocks;
    modal_row *basis; /* [n_locked_packs + most_packs + 1, n]: what is left out, then the basis */
    modal_row *v, *w, *mw, *mv;
    modal_row *h;          /* [n_locked_packs + most_packs, 8] */
    modal_row *scratch;    /* of sums, and of restarts */
    int64_t stride;        /* width (most_blocks + 1) */
    double *t;             /* [stride, stride] V^T M OP V, and beyond the last block what follows; rows of what is to
                              come hold nothing yet */
    double *s;             /* [m, m], m = width n_blocks: eigenvectors of T */
    double *last;          /* [m, 8] what they have in its last rows */
    double *theta, *bound; /* [m] ascending; and how far each is from an eigenvalue of OP */
    double scale;          /* of the first block: what is far smaller is nothing */
} lanczos;

/* Packs of so many vectors. */
static int64_t packs(int64_t n_vectors) { return (n_vectors + B - 1) / B; }

/* Column of its pack at which block k begins. */
static int place_of(const lanczos *l, int64_t k) { return (int)(k * l->width % B); }

/* Eigenvalues of a symmetric size x size matrix by Jacobi's rotations; a becomes diagonal, columns of q. */
static void jacobi(int size, double a[B][B], double q[B][B])
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) q[i][j] = i == j;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, on = 0;
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) *(i == j ? &on : &off) += a[i][j] * a[i][j];
        if (!(off > 1e-31 * on)) break;
        for (int i = 0; i < size; i++)
            for (int j = i + 1; j < size; j++) {
                if (a[i][j] == 0) continue;
                const double angle = (a[j][j] - a[i][i]) / (2 * a[i][j]);
                const double tangent = copysign(1, angle) / (fabs(angle) + sqrt(1 + angle * angle));
                const double c = 1 / sqrt(1 + tangent * tangent), s = c * tangent;
                for (int k = 0; k < size; k++) {
                    const double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - s * y, a[k][j] = s * x + c * y;
                }
                for (int k = 0; k < size; k++) {
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
    const int64_t count = l->n_locked_packs + packs(l->width * l->n_blocks);
    modal_row_mass_multiply(l->problem->mass, l->w, l->mw, threads);
    modal_rows_gram(l->n, count, l->basis, l->mw, l->h, l->scratch, threads);
    modal_rows_subtract(l->n, count, l->basis, l->h, l->w, threads);
}

static void symmetric_gram(lanczos *l, double g[B][B])
{
    modal_row h[B];
    const int o = l->first;
    modal_rows_gram(l->n, 1, l->w, l->mw, h, l->scratch, l->problem->n_threads);
    for (int i = 0; i < l->width; i++)
        for (int j = 0; j < l->width; j++) g[i][j] = (h[o + i][o + j] + h[o + j][o + i]) / 2;
}

/* w = w s, or what else is told. */
static void scale(const lanczos *l, double s[B][B], modal_row *w)
{
    modal_row h[B] = {{0}};
    for (int i = 0; i < l->width; i++)
        for (int j = 0; j < l->width; j++) h[l->first + i][l->first + j] = s[i][j];
    modal_rows_scale(l->n, h, w, l->problem->n_threads);
}

/* Columns of w that are lost become random ones of length 1. */
static void fill_at_random(lanczos *l, const int lost[B])
{
    modal_modes_problem *problem = l->problem;
    double *w = (double *)l->w + l->first, g[B][B], s[B][B] = {{0}};
    for (int i = 0; i < l->width; i++)
        for (int64_t k = 0; lost[i] && k < l->n; k++) modal_modes_random(problem, 1, &w[B * k + i]);
    modal_rows_rigid_remove(&problem->rigid, l->w, l->problem->coefficients);
    modal_row_mass_multiply(problem->mass, l->w, l->mw, problem->n_threads);
    symmetric_gram(l, g);
    for (int i = 0; i < l->width; i++) s[i][i] = lost[i] ? 1 / sqrt(g[i][i]) : 1;
    scale(l, s, l->w);
}

/* c = a b */
static void multiply(int size, double a[B][B], double b[B][B], double c[B][B])
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            c[i][j] = 0;
            for (int k = 0; k < size; k++) c[i][j] += a[i][k] * b[k][j];
        }
}

/* The last correction, for a Gram matrix g = 1 + e with |e| <= 1e-5: s = g^-1/2 and b = g^1/2 b by their series,
 * the fourth powers of which are below rounding. */
static void finish_orthonormal(int size, double g[B][B], double s[B][B], double b[B][B])
{
    double e2[B][B], e3[B][B], root[B][B], before[B][B];
    for (int i = 0; i < size; i++) g[i][i] -= 1;
    multiply(size, g, g, e2);
    multiply(size, e2, g, e3);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            s[i][j] = (i == j) - 0.5 * g[i][j] + 0.375 * e2[i][j] - 0.3125 * e3[i][j];
            root[i][j] = (i == j) + 0.5 * g[i][j] - 0.125 * e2[i][j] + 0.0625 * e3[i][j];
        }
    memcpy(before, b, sizeof before);
    multiply(size, root, before, b);
}

/* Makes w M-orthonormal to the basis and in itself, mw = M w, and b such that the former w is the new one
 * times b but for what the basis has of it. Directions in which w has nothing are filled at random, with
 * rows of zero in b. */
static modal_status orthonormalise(lanczos *l, double b[B][B], modal_error *err)
{
    modal_modes_problem *problem = l->problem;
    const int threads = problem->n_threads, size = l->width;
    memset(b, 0, B * sizeof *b);
    for (int i = 0; i < size; i++) b[i][i] = 1;
    project(l);
    for (int pass = 0, exact = 0; pass < MOST_PASSES; pass++) {
        double g[B][B], q[B][B], s[B][B], inverse[B][B], before[B][B], most = 0, least = INFINITY, deviation = 0;
        int n_lost = 0;
        symmetric_gram(l, g);
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) deviation += (g[i][j] - (i == j)) * (g[i][j] - (i == j));
        if (exact && deviation <= 1e-10) {
            finish_orthonormal(size, g, s, b);
            scale(l, s, l->w);
            scale(l, s, l->mw);
            return MODAL_OK;
        }
        jacobi(size, g, q);
        for (int i = 0; i < size; i++) most = fmax(most, g[i][i]), least = fmin(least, g[i][i]);
        if (!isfinite(most))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: a vector is not finite");
        if (pass == 0 && l->scale == 0) l->scale = most;
        /* a direction smaller than the noise of the others grows pass by pass, or turns out empty */
        const double nothing = pass == 0 ? 1e-26 * l->scale : 1e-12, noise = 4 * DBL_EPSILON * most;
        int lost[B];
        for (int i = 0; i < size; i++) {
            lost[i] = pass < MOST_PASSES / 2 && g[i][i] <= nothing;
            const double length = sqrt(fmax(g[i][i], noise));
            n_lost += lost[i];
            for (int k = 0; k < size; k++) {
                s[k][i] = lost[i] ? 0 : q[k][i] / length;
                inverse[i][k] = lost[i] ? 0 : q[k][i] * length;
            }
        }
        memcpy(before, b, sizeof before);
        multiply(size, inverse, before, b);
        scale(l, s, l->w);
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
                           size * l->n_blocks);
}

/* w becomes block k of the basis. */
static void put_block(const lanczos *l, int64_t k)
{
    memset(l->t + k * l->width * l->stride, 0, (size_t)(l->width * l->stride) * sizeof *l->t);
    modal_row *pack = l->v + k * l->width / B * l->n;
    if (l->first == 0) memcpy(pack, l->w, (size_t)l->n * sizeof *pack);
    else for (int64_t i = 0; i < l->n; i++) pack[i] += l->w[i];
}

/* w -= (block k of the basis) h */
static void subtract_block(const lanczos *l, int64_t k, double h[B][B])
{
    modal_row all[B] = {{0}};
    for (int i = 0; i < l->width; i++)
        for (int j = 0; j < l->width; j++) all[place_of(l, k) + i][l->first + j] = h[i][j];
    modal_rows_subtract(l->n, 1, l->v + k * l->width / B * l->n, all, l->w, l->problem->n_threads);
}

/* Moves the block in w from the columns that the last block has in its pack to those that it will have. */
static void move_columns(lanczos *l)
{
    if (l->width == B) return;
    for (int64_t i = 0; i < l->n; i++)
        l->w[i] = __builtin_shufflevector(l->w[i], l->w[i], 4, 5, 6, 7, 0, 1, 2, 3);
    l->first = B - l->width - l->first;
}

/* One step: a block more. */
static modal_status extend(lanczos *l, int64_t n_kept, modal_error *err)
{
    const int64_t last = l->n_blocks - 1, stride = l->stride;
    const int size = l->width, place = place_of(l, last);
    double b[B][B], h[B][B];
    modal_row products[B];
    modal_status status = modal_modes_apply_rows(l->problem, l->mv, l->w, err);
    if (status != MODAL_OK) return status;
    move_columns(l);
    /* what is known already: the last block but one, or after a restart all that were kept */
    const int64_t from = last == n_kept ? 0 : last - 1;
    for (int64_t k = from < 0 ? 0 : from; k < last; k++) {
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) h[i][j] = l->t[(size * k + i) * stride + size * last + j];
        subtract_block(l, k, h);
    }
    modal_rows_gram(l->n, 1, l->mv, l->w, products, l->scratch, l->problem->n_threads);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) h[i][j] = products[place + i][l->first + j];
    subtract_block(l, last, h);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            l->t[(size * last + i) * stride + size * last + j] = (h[i][j] + h[j][i]) / 2;
    status = orthonormalise(l, b, err);
    if (status != MODAL_OK) return status;
    modal_row *swap = l->mv;
    l->mv = l->mw, l->mw = swap;
    put_block(l, l->n_blocks);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            l->t[(size * (last + 1) + i) * stride + size * last + j] =
                l->t[(size * last + j) * stride + size * (last + 1) + i] = b[i][j];
    return MODAL_OK;
}

static void copy_projected(const lanczos *l)
{
    const int64_t m = l->width * l->n_blocks;
    for (int64_t i = 0; i < m; i++)
        memcpy(l->s + i * m, l->t + i * l->stride, (size_t)m * sizeof *l->s);
}

/* All of the eigenvectors of T, where solve_projected has left them out: when a run ends or starts again. */
static modal_status find_vectors(lanczos *l, modal_error *err)
{
    const int64_t m = l->width * l->n_blocks;
    if (m <= AT_ONCE) return MODAL_OK;
    copy_projected(l);
    return modal_symmetric_eigen(m, l->s, l->theta, err);
}

/* Eigenvalues of T and their bounds: the norm of b times the last block of the eigenvector. The block
 * of T after the last one holds b. */
static modal_status solve_projected(lanczos *l, modal_error *err)
{
    const int64_t size = l->width, m = size * l->n_blocks, stride = l->stride;
    copy_projected(l);
    const modal_status status = m <= AT_ONCE ? modal_symmetric_eigen(m, l->s, l->theta, err)
                                             : modal_symmetric_eigen_last(m, l->s, l->theta, l->last, err);
    if (status != MODAL_OK) return status;
    for (int64_t k = 0; k < m && m <= AT_ONCE; k++)
        memcpy(l->last + k * B + B - size, l->s + k * m + m - size, (size_t)size * sizeof *l->last);
    for (int64_t k = 0; k < m; k++) {
        double square = 0;
        for (int64_t i = 0; i < size; i++) {
            double sum = 0;
            for (int64_t j = 0; j < size; j++)
                sum += l->t[(m + i) * stride + m - size + j] * l->last[k * B + B - size + j];
            square += sum * sum;
        }
        l->bound[k] = sqrt(square);
    }
    return MODAL_OK;
}

/* Keeps the n_kept packs of the largest eigenvalues and the block that follows the basis, which is full: all
 * packs are. */
static void restart(lanczos *l, int64_t n_kept)
{
    const int64_t n = l->n, size = l->width, m = size * l->n_blocks, stride = l->stride;
    modal_row *s = l->h + (l->n_locked_packs + l->most_packs) * B;
    double b[B][B];
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++) b[i][j] = l->t[(m + i) * stride + m - size + j];
    /* column k of s: the eigenvector of the k-th largest */
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < B * n_kept; k++)
            ((double *)s)[i * B * n_kept + k] = l->s[(m - 1 - k) * m + i];
    modal_rows_rotate(n, m / B, n_kept, l->v, s, l->scratch, l->problem->n_threads);
    memcpy(l->v + n_kept * n, l->v + m / B * n, (size_t)n * sizeof *l->v);
    memset(l->t, 0, (size_t)(stride * stride) * sizeof *l->t);
    for (int64_t k = 0; k < B * n_kept; k++) {
        l->t[k * stride + k] = l->theta[m - 1 - k];
        for (int64_t i = 0; i < size; i++) {
            double sum = 0;
            for (int64_t j = 0; j < size; j++) sum += b[i][j] * l->s[(m - 1 - k) * m + m - size + j];
            l->t[(B * n_kept + i) * stride + k] = l->t[k * stride + B * n_kept + i] = sum;
        }
    }
    l->n_blocks = B * n_kept / size;
}

/* vectors [n_wanted, n] = V S for the largest ones, eight at a time. */
static void take_vectors(lanczos *l, int32_t n_wanted, double *vectors)
{
    const int64_t n = l->n, m = l->width * l->n_blocks, n_packs = packs(m);
    for (int64_t first = 0; first < n_wanted; first += B) {
        const int64_t width = n_wanted - first < B ? n_wanted - first : B;
        for (int64_t i = 0; i < B * n_packs; i++)
            for (int64_t k = 0; k < B; k++)
                ((double *)l->h)[i * B + k] = k < width && i < m ? -l->s[(m - 1 - first - k) * m + i] : 0;
        memset(l->w, 0, (size_t)n * sizeof *l->w);
        modal_rows_subtract(n, n_packs, l->v, l->h, l->w, l->problem->n_threads);
        modal_rows_to_columns(n, width, l->w, vectors + first * n);
    }
}

/* How far the n_wanted largest are from their bounds: the worst quotient, 1 and less is converged. */
static double worst_bound(const lanczos *l, int32_t n_wanted, double tolerance, int64_t *n_converged)
{
    const int64_t m = l->width * l->n_blocks;
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
static int64_t first_look(int width, int64_t n, int64_t n_wanted, double tolerance)
{
    const int64_t least = (n_wanted + GUARD + width - 1) / width;
    if (n > TINY) return least + (n > SMALL ? 0 : 4);
    const double ratio = pow(1 + (double)width / (double)n_wanted, 2.0 / 3);
    const int64_t blocks = (width == B ? 5 : 7) + (int64_t)(0.55 * log(2 / tolerance) / acosh(2 * ratio - 1));
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
    const int64_t n = l->n, m = B * l->most_packs, all = l->n_locked_packs + l->most_packs;
    const int64_t rotation = (int64_t)problem->n_threads * l->most_packs * MODAL_ROW_CHUNK;
    int64_t scratch = modal_rows_gram_scratch(n, all);
    if (scratch < rotation) scratch = rotation;
    MODAL_TRY(modal_alloc(&l->basis, (all + 1) * n, sizeof *l->basis, "Lanczos basis", err));
    l->v = l->basis + l->n_locked_packs * n;
    MODAL_TRY(modal_alloc(&l->w, n, sizeof *l->w, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->mw, n, sizeof *l->mw, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->mv, n, sizeof *l->mv, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->h, all * B + m * l->most_packs, sizeof *l->h, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->scratch, scratch, sizeof *l->scratch, "Lanczos", err));
    l->stride = m + l->width;
    MODAL_TRY(modal_alloc(&l->t, l->stride * l->stride, sizeof *l->t, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->s, m * m, sizeof *l->s, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->last, m, B * sizeof *l->last, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->theta, m, sizeof *l->theta, "Lanczos", err));
    MODAL_TRY(modal_alloc(&l->bound, m, sizeof *l->bound, "Lanczos", err));
    for (int64_t k = 0; k < l->n_locked_packs; k++) {
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
    lanczos l = {.problem = problem, .n = n, .width = limits->counted && n <= TINY ? B / 2 : B};
    l.n_locked_packs = packs(problem->n_locked);
    l.most_packs = modal_modes_lanczos_blocks(n_wanted, n - problem->rigid.n_rigid - problem->n_locked);
    if (limits->most_blocks > 0 && limits->most_blocks < l.most_packs) l.most_packs = limits->most_blocks;
    l.most_blocks = l.most_packs * B / l.width;
    const double tolerance = lanczos_share * limits->tolerance;
    double b[B][B];
    int64_t look_at = first_look(l.width, n, n_wanted, tolerance);
    int64_t kept = -1, n_restarts = 0, n_converged = 0;
    MODAL_TRY(allocate(&l, err));
    /* a random right-hand side is smoothed by the first solve, and counts as M x of some x */
    modal_modes_random(problem, B * n, (double *)l.mw);
    for (int64_t i = 0; i < n; i++)
        for (int k = l.width; k < B; k++) l.mw[i][k] = 0;
    MODAL_TRY(modal_modes_apply_rows(problem, l.mw, l.w, err));
    MODAL_TRY(orthonormalise(&l, b, err));
    put_block(&l, 0);
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
        if (n_restarts == limits->max_restarts || n_kept + 2 > l.most_packs)
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                       "modes: %" PRId64 " of %d converged after %" PRId64 " restarts (%" PRId64
                       " solves)",
                       n_converged, n_wanted, n_restarts, problem->n_solves);
        MODAL_TRY(find_vectors(&l, err));
        restart(&l, n_kept);
        kept = l.n_blocks;
        look_at = kept + 2 * B / l.width;
        n_restarts++;
        l.n_blocks++;
    }
    *n_all_restarts += n_restarts;
    MODAL_TRY(find_vectors(&l, err));
    take_vectors(&l, n_wanted + limits->n_more, vectors); /* a look is never before there are GUARD more */
    guard->count = 0;
    for (int64_t k = l.width * l.n_blocks - 1 - n_wanted; k >= 0 && guard->count < MODAL_GUARD; k--) {
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
    modal_free(&l.last);
    modal_free(&l.theta);
    modal_free(&l.bound);
    return status;
}
