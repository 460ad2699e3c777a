/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/products.h"

#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"

/* Multiplications below which packing costs more than it saves. */
enum { SMALL = 4096, TILE_ROWS = MODAL_TILE_ROWS, TILE_COLUMNS = MODAL_TILE_COLUMNS, TILE_DEPTH = MODAL_TILE_DEPTH };

static void put(double alpha, double sum, double beta, double *c)
{
    *c = beta == 0 ? alpha * sum : beta * *c + alpha * sum;
}

void modal_product(modal_product_sizes sizes, double alpha, modal_view a, modal_view b, double beta, double *c, int64_t stride,
                   double *room)
{
    const int64_t rows = sizes.rows, columns = sizes.columns, depth = sizes.depth;
    const modal_row_kernels *kernels = modal_rows();
    double *tile = room, *pack_a = tile + TILE_ROWS * TILE_COLUMNS, *pack_b = pack_a + TILE_ROWS * TILE_DEPTH;
    if (rows * columns * depth < SMALL) {
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) {
                double sum = 0;
                for (int64_t k = 0; k < depth; k++)
                    sum += a.values[i * a.row_step + k * a.column_step] * b.values[k * b.row_step + j * b.column_step];
                put(alpha, sum, beta, &c[j * stride + i]);
            }
        return;
    }
    for (int64_t j0 = 0; j0 < columns; j0 += TILE_COLUMNS)
        for (int64_t i0 = 0; i0 < rows; i0 += TILE_ROWS) {
            const int64_t nj = columns - j0 < TILE_COLUMNS ? columns - j0 : TILE_COLUMNS;
            const int64_t ni = rows - i0 < TILE_ROWS ? rows - i0 : TILE_ROWS;
            for (int64_t k0 = 0; k0 < depth; k0 += TILE_DEPTH) {
                const int64_t nk = depth - k0 < TILE_DEPTH ? depth - k0 : TILE_DEPTH;
                kernels->pack_rows(ni, nk, a.values + i0 * a.row_step + k0 * a.column_step, a.row_step, a.column_step,
                                   pack_a);
                kernels->pack_columns(nj, nk, b.values + k0 * b.row_step + j0 * b.column_step, b.column_step,
                                      b.row_step, NULL, pack_b);
                kernels->multiply(ni, nj, nk, pack_a, pack_b, tile, k0 > 0);
            }
            for (int64_t j = 0; j < nj; j++)
                for (int64_t i = 0; i < ni; i++)
                    put(alpha, tile[j * TILE_ROWS + i], beta, &c[(j0 + j) * stride + i0 + i]);
        }
}

double modal_dot(int64_t n, const double *x, const double *y)
{
    modal_row s = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) s += *(const modal_eight *)(x + i) * *(const modal_eight *)(y + i);
    double sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

enum { LEAST_RANGE = 2048, MOST_RANGES = 64 };

static int64_t range_of_rows(int64_t n)
{
    const int64_t range = (n + MOST_RANGES - 1) / MOST_RANGES;
    return range < LEAST_RANGE ? LEAST_RANGE : range;
}

modal_status modal_tall_gram(int64_t n, int64_t n_a, const double *a, int64_t n_b, const double *b, double *products,
                             int n_threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t range = range_of_rows(n), n_ranges = (n + range - 1) / range, size = n_a * n_b;
    double *parts = NULL, *room = NULL;
    if (size == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&parts, n_ranges * size, sizeof *parts, "products", err));
    MODAL_TRY(modal_alloc(&room, n_threads, MODAL_PRODUCT_ROOM * sizeof *room, "products", err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads)) if (n_ranges > 1)
    for (int64_t k = 0; k < n_ranges; k++) {
        const int64_t first = k * range, rows = n - first < range ? n - first : range;
        modal_product((modal_product_sizes){n_a, n_b, rows}, 1, modal_transposed(modal_by_columns(a + first, n)),
                      modal_by_columns(b + first, n), 0, parts + k * size, n_a,
                      room + omp_get_thread_num() * (int64_t)MODAL_PRODUCT_ROOM);
    }
    memcpy(products, parts, (size_t)size * sizeof *products);
    for (int64_t k = 1; k < n_ranges; k++)
        for (int64_t i = 0; i < size; i++) products[i] += parts[k * size + i];
done:
    modal_free(&parts);
    modal_free(&room);
    return status;
}

modal_status modal_tall_combine(int64_t n, const modal_combination *c, int n_threads, modal_error *err)
{
    const int64_t range = range_of_rows(n);
    double *room = NULL;
    if (c->n_a == 0 || c->n_out == 0) return MODAL_OK;
    const modal_status status = modal_alloc(&room, n_threads, MODAL_PRODUCT_ROOM * sizeof *room, "products", err);
    if (status != MODAL_OK) return status;
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads)) if (n > range)
    for (int64_t first = 0; first < n; first += range) {
        const int64_t rows = n - first < range ? n - first : range;
        modal_product((modal_product_sizes){rows, c->n_out, c->n_a}, c->alpha, modal_by_columns(c->a + first, n),
                      modal_by_columns(c->s, c->n_a), c->beta,
                      c->out + first, n, room + omp_get_thread_num() * (int64_t)MODAL_PRODUCT_ROOM);
    }
    modal_free(&room);
    return MODAL_OK;
}
