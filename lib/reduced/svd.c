/* SPDX-License-Identifier: Apache-2.0 */
/* Singular values by rotations of columns, on one thread: M. R. Hestenes, "Inversion of matrices by
 * biorthogonalization and related results", 1958. The eigenvectors of A^T A come first: they leave A V all but
 * orthogonal, and two or three sweeps do the rest, which the squares in A^T A have lost. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/products.h"
#include "lib/modes/symmetric.h"
#include "lib/reduced/space.h"

enum { MOST_SWEEPS = 40 };

/* Squares of lengths below this, beside a largest element of 1, are nothing. */
static const double nothing = 1e-290;

/* One sweep over all pairs of columns x [n, n]; returns whether one was turned. */
static int sweep(int64_t n, double *x, double *squares)
{
    const double tolerance = DBL_EPSILON * fmax(10, sqrt((double)n));
    int turned = 0;
    for (int64_t j = 0; j < n; j++) squares[j] = modal_dot(n, x + j * n, x + j * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            double *a = x + i * n, *b = x + j * n;
            if (squares[i] <= nothing || squares[j] <= nothing) continue;
            const double product = modal_dot(n, a, b);
            if (fabs(product) <= tolerance * sqrt(squares[i]) * sqrt(squares[j])) continue;
            const double angle = (squares[j] - squares[i]) / (2 * product);
            const double t = copysign(1, angle) / (fabs(angle) + sqrt(1 + angle * angle));
            const double c = 1 / sqrt(1 + t * t), s = c * t;
            for (int64_t k = 0; k < n; k++) {
                const double u = a[k], v = b[k];
                a[k] = c * u - s * v;
                b[k] = s * u + c * v;
            }
            squares[i] -= t * product;
            squares[j] += t * product;
            turned = 1;
        }
    return turned;
}

typedef struct entry {
    double value;
    int64_t column;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

modal_status reduced_svd(int64_t n, double *a, double *left, double *sigma, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *x = NULL, *squares = NULL, *room = NULL, largest = 0;
    entry *order = NULL;
    int exponent = 0, n_sweeps = 0;
    for (int64_t i = 0; i < n * n; i++) {
        if (!isfinite(a[i]))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "singular values: the matrix is not finite");
        largest = fmax(largest, fabs(a[i]));
    }
    frexp(largest, &exponent);
    if (exponent < -1000) exponent = -1000;
    const double scale = ldexp(1, -exponent);
    for (int64_t i = 0; i < n * n; i++) a[i] *= scale;
    MODAL_TRY(modal_alloc(&x, n * n, sizeof *x, "singular values", err));
    MODAL_TRY(modal_alloc(&squares, n, sizeof *squares, "singular values", err));
    MODAL_TRY(modal_alloc(&order, n, sizeof *order, "singular values", err));
    MODAL_TRY(modal_alloc(&room, MODAL_PRODUCT_ROOM, sizeof *room, "singular values", err));
    const modal_view by_columns = modal_by_columns(a, n);
    modal_product((modal_product_sizes){n, n, n}, 1, modal_transposed(by_columns), by_columns, 0, x, n, room);
    MODAL_TRY(modal_symmetric_eigen(n, x, squares, err));
    modal_product((modal_product_sizes){n, n, n}, 1, by_columns, modal_by_columns(x, n), 0, left, n, room);
    /* descending */
    for (int64_t j = 0; j < n; j++) memcpy(x + j * n, left + (n - 1 - j) * n, (size_t)n * sizeof *x);
    while (sweep(n, x, squares))
        if (++n_sweeps == MOST_SWEEPS)
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "singular values: matrix of %lld x %lld, %d sweeps", (long long)n,
                       (long long)n, MOST_SWEEPS);
    for (int64_t j = 0; j < n; j++) order[j] = (entry){squares[j] > nothing ? sqrt(squares[j]) : 0, j};
    qsort(order, (size_t)n, sizeof *order, compare);
    for (int64_t j = 0; j < n; j++) {
        const double *from = x + order[j].column * n, inverse = order[j].value > 0 ? 1 / order[j].value : 0;
        sigma[j] = ldexp(order[j].value, exponent);
        for (int64_t i = 0; i < n; i++) left[j * n + i] = inverse * from[i];
    }
done:
    modal_free(&x);
    modal_free(&squares);
    modal_free(&order);
    modal_free(&room);
    return status;
}
