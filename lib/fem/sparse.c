/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/cores.h"
#include "lib/fem/sparse.h"

#include <string.h>

static void multiply_blocks(const modal_block_pattern *pattern, const double *blocks,
                            const double *x, double *y)
{
    memset(y, 0, (size_t)(3 * pattern->n_nodes) * sizeof *y);
    for (int64_t j = 0; j < pattern->n_nodes; j++) {
        const double x0 = x[3 * j], x1 = x[3 * j + 1], x2 = x[3 * j + 2];
        int64_t at = pattern->offsets[j];
        const double *b = blocks + 9 * at;
        double sum[3] = {b[0] * x0 + b[1] * x1 + b[2] * x2, b[3] * x0 + b[4] * x1 + b[5] * x2,
                         b[6] * x0 + b[7] * x1 + b[8] * x2};
        for (at++; at < pattern->offsets[j + 1]; at++) {
            const int64_t i = pattern->rows[at];
            const double z0 = x[3 * i], z1 = x[3 * i + 1], z2 = x[3 * i + 2];
            b = blocks + 9 * at;
            y[3 * i] += b[0] * x0 + b[1] * x1 + b[2] * x2;
            y[3 * i + 1] += b[3] * x0 + b[4] * x1 + b[5] * x2;
            y[3 * i + 2] += b[6] * x0 + b[7] * x1 + b[8] * x2;
            sum[0] += b[0] * z0 + b[3] * z1 + b[6] * z2;
            sum[1] += b[1] * z0 + b[4] * z1 + b[7] * z2;
            sum[2] += b[2] * z0 + b[5] * z1 + b[8] * z2;
        }
        for (int k = 0; k < 3; k++) y[3 * j + k] += sum[k];
    }
}

static void multiply_identity_blocks(const modal_block_pattern *pattern, const double *factors,
                                     const double *x, double *y)
{
    memset(y, 0, (size_t)(3 * pattern->n_nodes) * sizeof *y);
    for (int64_t j = 0; j < pattern->n_nodes; j++) {
        const double x0 = x[3 * j], x1 = x[3 * j + 1], x2 = x[3 * j + 2];
        int64_t at = pattern->offsets[j];
        double f = factors[at];
        double sum0 = f * x0, sum1 = f * x1, sum2 = f * x2;
        for (at++; at < pattern->offsets[j + 1]; at++) {
            const int64_t i = pattern->rows[at];
            f = factors[at];
            sum0 += f * x[3 * i];
            sum1 += f * x[3 * i + 1];
            sum2 += f * x[3 * i + 2];
            y[3 * i] += f * x0;
            y[3 * i + 1] += f * x1;
            y[3 * i + 2] += f * x2;
        }
        y[3 * j] += sum0;
        y[3 * j + 1] += sum1;
        y[3 * j + 2] += sum2;
    }
}

/* The same where components are held. */
static void multiply_held_blocks(const modal_block_pattern *pattern, const double *factors,
                                 const double *x, double *y)
{
    memset(y, 0, (size_t)(3 * pattern->n_nodes) * sizeof *y);
    for (int64_t j = 0; j < pattern->n_nodes; j++)
        for (int64_t at = pattern->offsets[j]; at < pattern->offsets[j + 1]; at++) {
            const int64_t i = pattern->rows[at];
            for (int p = 0; p < 3; p++) {
                const double f = modal_block_mass(pattern, factors[at], i, j, p);
                y[3 * j + p] += f * x[3 * i + p];
                if (i != j) y[3 * i + p] += f * x[3 * j + p];
            }
        }
}

void modal_blocks_multiply(const modal_block_pattern *pattern, const double *blocks,
                           int64_t n_vectors, const double *x, double *y, int n_threads)
{
    const int64_t n = 3 * pattern->n_nodes;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n_vectors > 1)
    for (int64_t k = 0; k < n_vectors; k++)
        multiply_blocks(pattern, blocks, x + k * n, y + k * n);
}

void modal_identity_blocks_multiply(const modal_block_pattern *pattern, const double *factors,
                                    int64_t n_vectors, const double *x, double *y, int n_threads)
{
    const int64_t n = 3 * pattern->n_nodes;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n_vectors > 1)
    for (int64_t k = 0; k < n_vectors; k++)
        if (pattern->held) multiply_held_blocks(pattern, factors, x + k * n, y + k * n);
        else multiply_identity_blocks(pattern, factors, x + k * n, y + k * n);
}
