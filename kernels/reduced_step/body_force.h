/* SPDX-License-Identifier: Apache-2.0 */
/* Forces by reduced_force.h with vectors of 8 doubles, which the compiler cuts to the registers it has.
 * No include guard: part of reduced_step_host.h, which is a template. */

typedef double vector __attribute__((vector_size(64), aligned(64), may_alias));
typedef double loose_vector __attribute__((vector_size(64), aligned(8), may_alias));

/* The sums of eight vectors: three rounds of adding neighbours, each of which halves what is left. */
static inline __attribute__((always_inline)) void sums_of(const vector *x, vector *sums)
{
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
    vector pair[4], four[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        pair[i] = SHUFFLE(x[2 * i], x[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
                  SHUFFLE(x[2 * i], x[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        four[i] = SHUFFLE(pair[2 * i], pair[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
                  SHUFFLE(pair[2 * i], pair[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    *sums = SHUFFLE(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
#undef SHUFFLE
}

/* `rows` rows of n columns, a constant number: sums[i] = row i . products; gradient += scale sum_i x_i row i. */
static inline __attribute__((always_inline)) void force_rows(int rows, int64_t n, const double *table,
                                                             const double *products, double *gradient,
                                                             const double *x, double scale, double *sums)
{
    vector sum[8] = {{0}};
    for (int64_t c = 0; c < n; c += 8) {
        const vector product = *(const loose_vector *)(products + c);
        vector all = {0};
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            const vector row = *(const vector *)(table + i * n + c);
            all += row * x[i];
            sum[i] += row * product;
        }
        *(loose_vector *)(gradient + c) += all * scale;
    }
    sums_of(sum, (vector *)sums);
}

static void reduced_force(int32_t r, const double *table, const double *q, double *scratch, double *force)
{
    const int64_t pairs = modal_step_pairs(r);
    double *products = scratch, *both = scratch + pairs + 8; /* both: g, then s + g */
    double sums[8] __attribute__((aligned(64)));
    int64_t at = 0;
    for (int32_t k = 0; k < r; k++)
        for (int32_t l = k; l < r; l++, at++) products[at] = q[k] * q[l];
    for (; at < pairs + 8; at++) products[at] = 0;
    for (at = 0; at < pairs; at++) both[at] = table[at];
    for (; at < pairs + 8; at++) both[at] = 0;
    table += pairs;
    for (int32_t j = 0; j < r; j++) {
        const int64_t n = modal_step_energy_row(r, j), first = modal_step_pair(r, j, j);
        const double one = 1;
        force_rows(1, n, table, products + first, both + first, &one, q[j], sums);
        force[j] = sums[0];
        table += n;
        for (int32_t i = 0; i <= j; i += 8) {
            const int rows = j + 1 - i < 8 ? j + 1 - i : 8;
            switch (rows) {
#define FORCE_ROWS(m) \
    case m: force_rows(m, n, table, products + first, both + first, q + i, q[j], sums); break;
                FORCE_ROWS(1) FORCE_ROWS(2) FORCE_ROWS(3) FORCE_ROWS(4) FORCE_ROWS(5) FORCE_ROWS(6)
                FORCE_ROWS(7) FORCE_ROWS(8)
#undef FORCE_ROWS
            }
            for (int m = 0; m < rows; m++) both[modal_step_pair(r, i + m, j)] += sums[m];
            table += rows * n;
        }
    }
    at = 0;
    for (int32_t k = 0; k < r; k++) {
        const double *row = both + at - k;
        double sum = row[k] * q[k];
        for (int32_t l = k; l < r; l++) sum += row[l] * q[l];
        for (int32_t l = k + 1; l < r; l++) force[l] += row[l] * q[k];
        force[k] += sum;
        at += r - k;
    }
}
