/* SPDX-License-Identifier: Apache-2.0 */
/* Householder's reflections make the matrix tridiagonal, four columns before what follows them is updated; implicit
 * QL sweeps make that diagonal, from the end that is smaller in magnitude; their rotations are collected and turn the
 * columns of the reflections' product, sixteen rows at a time. Sources: J. H. Wilkinson, "The Algebraic
 * Eigenvalue Problem", 1965; A. Dubrulle, R. S. Martin, J. H. Wilkinson, "The implicit QL algorithm", 1968; J. J.
 * Dongarra, D. C. Sorensen, S. J. Hammarling, "Block reduction of matrices to condensed forms for eigenvalue
 * computations", 1989; B. Lang, "Using level 3 BLAS in rotation-based algorithms", 1998. */
#include "lib/modes/symmetric.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/products.h"
#include "lib/modes/symmetric_kernels.h"

enum { PANEL = 4, MOST_SWEEPS = 60, SOME_ROTATIONS = 16384, STRIP = MODAL_STRIP };

/* Beside a largest element of about 1: a square below this is that of nothing, and has lost digits to underflow. */
static const double nothing = 1e-280;

/* Sweeps that are not applied yet. */
typedef struct sweep {
    int64_t first, count, at;
    int direction;
} sweep;

typedef struct work {
    int64_t n;
    double *a;
    double *d, *e, *tau; /* [n]; e[k] couples k and k + 1 */
    double *v, *w;       /* [PANEL, n] */
    double *strips;      /* [n_strips, n, STRIP] rows of what becomes the vectors */
    int64_t n_strips;
    double *rotations;   /* [capacity, 2] */
    sweep *sweeps;       /* [capacity] */
    int64_t n_sweeps, n_rotations, capacity;
} work;

/* y += f x */
static void add(int64_t n, double f, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] += f * x[i];
}

/* x [n] becomes v with v[0] = 1 and (1 - tau v v^T) x = beta e_0. */
static void reflector(int64_t n, double *x, double *tau, double *beta)
{
    const double first = x[0], rest = modal_dot(n - 1, x + 1, x + 1);
    *tau = 0;
    *beta = first * first > nothing ? first : 0;
    if (first * first + rest > nothing && rest > 0) {
        *beta = -copysign(sqrt(first * first + rest), first);
        *tau = (*beta - first) / *beta;
        const double scale = 1 / (first - *beta);
        for (int64_t i = 1; i < n; i++) x[i] *= scale;
    }
    x[0] = 1;
}

/* d and e, and below the diagonal of column k of a the reflection of rows k + 1 and later. */
static void make_tridiagonal(const work *s)
{
    const modal_symmetric_kernels *kernels = modal_symmetric();
    const int64_t n = s->n;
    for (int64_t p = 0; p < n; p += PANEL) {
        const int64_t end = p + PANEL < n ? p + PANEL : n;
        memset(s->v, 0, (size_t)(PANEL * n) * sizeof *s->v);
        memset(s->w, 0, (size_t)(PANEL * n) * sizeof *s->w);
        for (int64_t c = p; c < end; c++) {
            double *column = s->a + c * n, *v = s->v + (c - p) * n, *w = s->w + (c - p) * n;
            for (int64_t q = 0; q < c - p; q++) {
                add(n - c, -s->w[q * n + c], s->v + q * n + c, column + c);
                add(n - c, -s->v[q * n + c], s->w + q * n + c, column + c);
            }
            s->d[c] = column[c];
            if (c + 1 == n) break;
            const int64_t at = c + 1, m = n - at;
            reflector(m, column + at, &s->tau[c], &s->e[c]);
            memcpy(v + at, column + at, (size_t)m * sizeof *v);
            if (s->tau[c] == 0) continue;
            kernels->symmetric(m, s->a + at * n + at, n, v + at, w + at);
            for (int64_t q = 0; q < c - p; q++) {
                const double by_w = modal_dot(m, s->w + q * n + at, v + at), by_v = modal_dot(m, s->v + q * n + at, v + at);
                add(m, -by_w, s->v + q * n + at, w + at);
                add(m, -by_v, s->w + q * n + at, w + at);
            }
            for (int64_t i = at; i < n; i++) w[i] *= s->tau[c];
            add(m, -0.5 * s->tau[c] * modal_dot(m, w + at, v + at), v + at, w + at);
        }
        if (end < n) kernels->update(n - end, s->a + end * n + end, n, s->v + end, s->w + end, n);
    }
}

/* The product of all reflections, in place of their vectors, by panels from the last to the first. */
static void make_product(const work *s)
{
    const modal_symmetric_kernels *kernels = modal_symmetric();
    const int64_t n = s->n;
    for (int64_t p = (n - 1) / PANEL * PANEL; p >= 0; p -= PANEL) {
        const int64_t end = p + PANEL < n - 1 ? p + PANEL : n - 1;
        double t[PANEL][PANEL] = {{0}};
        memset(s->v, 0, (size_t)(PANEL * n) * sizeof *s->v);
        for (int64_t c = p; c < end; c++) {
            const int64_t j = c - p;
            memcpy(s->v + j * n + c + 1, s->a + c * n + c + 1, (size_t)(n - c - 1) * sizeof *s->v);
            t[j][j] = s->tau[c];
            for (int64_t i = 0; i < j; i++) {
                double sum = 0;
                for (int64_t l = i; l < j; l++)
                    sum += t[i][l] * modal_dot(n - c - 1, s->v + l * n + c + 1, s->v + j * n + c + 1);
                t[i][j] = -s->tau[c] * sum;
            }
        }
        for (int64_t c = p + 1; c <= p + PANEL && c < n; c++) {
            memset(s->a + c * n, 0, (size_t)n * sizeof *s->a);
            s->a[c * n + c] = 1;
        }
        if (end > p)
            kernels->reflect(n - p - 1, s->v + p + 1, n, t[0], n - p - 1, s->a + (p + 1) * n + p + 1, n);
    }
    memset(s->a, 0, (size_t)n * sizeof *s->a);
    s->a[0] = 1;
}

/* The last eight rows of the product, into the first lanes of the strip. */
static void make_last_rows(const work *s)
{
    const int64_t n = s->n;
    memset(s->strips, 0, (size_t)(n * STRIP) * sizeof *s->strips);
    for (int64_t i = 0; i < MODAL_ROW && i < n; i++) s->strips[(n - 1 - i) * STRIP + MODAL_ROW - 1 - i] = 1;
    for (int64_t k = 0; k + 1 < n; k++) {
        const double *v = s->a + k * n;
        modal_row sum = {0};
        if (s->tau[k] == 0) continue;
        for (int64_t i = k + 1; i < n; i++) sum += v[i] * *(const modal_eight *)(s->strips + i * STRIP);
        sum *= s->tau[k];
        for (int64_t i = k + 1; i < n; i++) *(modal_eight *)(s->strips + i * STRIP) -= v[i] * sum;
    }
}

static void apply(work *s)
{
    const modal_symmetric_kernels *kernels = modal_symmetric();
    for (int64_t strip = 0; strip < s->n_strips; strip++)
        for (int64_t k = 0; k < s->n_sweeps; k++)
            kernels->rotate(s->sweeps[k].count, s->rotations + 2 * s->sweeps[k].at, s->sweeps[k].first,
                            s->sweeps[k].direction, s->strips + strip * s->n * STRIP);
    s->n_sweeps = s->n_rotations = 0;
}

/* A block [first, last] of the tridiagonal matrix, seen from one of its ends. */
typedef struct view {
    double *d, *e;
    int64_t first, last;
    int direction; /* 1, or -1: places count from last to first */
} view;

static int64_t place(const view *b, int64_t i) { return b->direction > 0 ? i : b->first + b->last - i; }
static double *diagonal(const view *b, int64_t i) { return b->d + place(b, i); }
static double *beside(const view *b, int64_t i) { return b->e + place(b, i) - (b->direction < 0); }

/* e is what rounding may leave of it. */
static int is_small(double e, double d0, double d1)
{
    return fabs(e) <= DBL_EPSILON * sqrt(fabs(d0)) * sqrt(fabs(d1)) + sqrt(nothing);
}

/* One implicit QL sweep over places [l, m]. */
static void sweep_once(work *s, const view *b, int64_t l, int64_t m)
{
    if (s->n_rotations + (m - l) > s->capacity || s->n_sweeps == s->capacity) apply(s);
    sweep *now = &s->sweeps[s->n_sweeps++];
    *now = (sweep){place(b, m), 0, s->n_rotations, -b->direction};
    double *to = s->rotations + 2 * now->at;
    const double e0 = *beside(b, l), half = (*diagonal(b, l + 1) - *diagonal(b, l)) / (2 * e0);
    double g = *diagonal(b, m) - *diagonal(b, l) + e0 / (half + copysign(sqrt(half * half + 1), half));
    double cosine = 1, sine = 1, shift = 0;
    int64_t i = m - 1;
    for (; i >= l; i--) {
        const double across = sine * *beside(b, i), along = cosine * *beside(b, i);
        const double square = across * across + g * g, length = square > nothing ? sqrt(square) : 0;
        if (i + 1 < m) *beside(b, i + 1) = length;
        if (length == 0) {
            *diagonal(b, i + 1) -= shift;
            break;
        }
        sine = across / length;
        cosine = g / length;
        g = *diagonal(b, i + 1) - shift;
        const double turned = (*diagonal(b, i) - g) * sine + 2 * cosine * along;
        shift = sine * turned;
        *diagonal(b, i + 1) = g + shift;
        g = cosine * turned - along;
        *to++ = cosine;
        *to++ = -sine;
        now->count++;
    }
    s->n_rotations += now->count;
    if (i >= l) return; /* the block has come apart */
    *diagonal(b, l) -= shift;
    *beside(b, l) = g;
}

static int make_diagonal(work *s)
{
    int64_t left = MOST_SWEEPS * s->n;
    for (int64_t first = 0, last; first < s->n; first = last + 1) {
        for (last = first; last + 1 < s->n && !is_small(s->e[last], s->d[last], s->d[last + 1]); last++) continue;
        const view b = {s->d, s->e, first, last, fabs(s->d[last]) < fabs(s->d[first]) ? -1 : 1};
        for (int64_t l = first; l < last; l++)
            for (;;) {
                int64_t m = l;
                while (m < last && !is_small(*beside(&b, m), *diagonal(&b, m), *diagonal(&b, m + 1))) m++;
                if (m == l) break;
                if (--left < 0) return 0;
                sweep_once(s, &b, l, m);
            }
    }
    apply(s);
    return 1;
}

/* Rows of a, by columns, to strips. */
static void fill_strips(const work *s)
{
    const int64_t n = s->n;
    for (int64_t strip = 0; strip < s->n_strips; strip++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < STRIP; i++) {
                const int64_t row = strip * STRIP + i;
                s->strips[(strip * n + j) * STRIP + i] = row < n ? s->a[j * n + row] : 0;
            }
}

typedef struct entry {
    double value;
    int64_t column;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

/* Multiplies the lower triangle by a power of two that makes its largest element about 1; 0: it is not finite. */
static int normalise(int64_t n, double *a, int *exponent)
{
    double largest = 0;
    *exponent = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            if (!isfinite(a[j * n + i])) return 0;
            largest = fmax(largest, fabs(a[j * n + i]));
        }
    if (largest == 0) return 1;
    frexp(largest, exponent);
    if (*exponent < -1000) *exponent = -1000;
    const double scale = ldexp(1, -*exponent);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) a[j * n + i] *= scale;
    return 1;
}

static modal_status solve(int64_t n, double *a, double *eigenvalues, double *last, modal_error *err)
{
    modal_status status = MODAL_OK;
    work s = {.n = n, .a = a};
    entry *order = NULL;
    int exponent = 0;
    if (n == 0) return MODAL_OK;
    if (!normalise(n, a, &exponent))
        return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "dense eigenproblem: the matrix is not finite");
    s.n_strips = last ? 1 : (n + STRIP - 1) / STRIP;
    s.capacity = n * n < SOME_ROTATIONS ? n * n : n > SOME_ROTATIONS ? n : SOME_ROTATIONS;
    MODAL_TRY(modal_alloc(&s.d, n, sizeof *s.d, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc_zero(&s.e, n, sizeof *s.e, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc_zero(&s.tau, n, sizeof *s.tau, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&s.v, PANEL * n, sizeof *s.v, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&s.w, PANEL * n, sizeof *s.w, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&s.strips, s.n_strips * n, STRIP * sizeof *s.strips, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&s.rotations, s.capacity, 2 * sizeof *s.rotations, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&s.sweeps, s.capacity, sizeof *s.sweeps, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&order, n, sizeof *order, "dense eigenproblem", err));
    make_tridiagonal(&s);
    if (last) {
        make_last_rows(&s);
    } else {
        make_product(&s);
        fill_strips(&s);
    }
    if (!make_diagonal(&s))
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "dense eigenproblem: %lld unknowns, not diagonal after %lld sweeps",
                   (long long)n, (long long)(MOST_SWEEPS * n));
    for (int64_t k = 0; k < n; k++) order[k] = (entry){s.d[k], k};
    qsort(order, (size_t)n, sizeof *order, compare);
    for (int64_t k = 0; k < n; k++) {
        const double *from = s.strips + order[k].column * STRIP;
        eigenvalues[k] = ldexp(order[k].value, exponent);
        for (int64_t i = 0; i < MODAL_ROW && last; i++) last[k * MODAL_ROW + i] = from[i];
        for (int64_t i = 0; i < n && !last; i++) a[k * n + i] = from[i / STRIP * n * STRIP + i % STRIP];
    }
done:
    modal_free(&s.d);
    modal_free(&s.e);
    modal_free(&s.tau);
    modal_free(&s.v);
    modal_free(&s.w);
    modal_free(&s.strips);
    modal_free(&s.rotations);
    modal_free(&s.sweeps);
    modal_free(&order);
    return status;
}

modal_status modal_symmetric_eigen(int64_t n, double *a, double *eigenvalues, modal_error *err)
{
    return solve(n, a, eigenvalues, NULL, err);
}

modal_status modal_symmetric_eigen_last(int64_t n, double *a, double *eigenvalues, double *last, modal_error *err)
{
    return solve(n, a, eigenvalues, last, err);
}
