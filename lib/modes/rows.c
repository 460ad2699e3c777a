/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/rows.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"

#define TARGET
#define LANES 2
#define STRIPS 2
#define COLUMNS 4
#define NAME(x) x##_base
#include "lib/modes/rows_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define STRIPS 3
#define COLUMNS 4
#define NAME(x) x##_avx2
#include "lib/modes/rows_simd.h"

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define LANES 8
#define STRIPS 3
#define COLUMNS 8
#define NAME(x) x##_avx512
#include "lib/modes/rows_simd.h"
#endif

/* Where all is one chunk no parallel region is made: one of a single thread takes a microsecond, too. */
enum { SUM_CHUNK = 2048, NODE_CHUNK = 1024 };

const modal_row_kernels *modal_rows(void)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: return &kernels_avx512;
    case MODAL_SIMD_AVX2: return &kernels_avx2;
    default: break;
    }
#endif
    return &kernels_base;
}

modal_status modal_row_mass_build(const modal_fem_system *system, modal_row_mass *mass,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_block_pattern *pattern = &system->pattern;
    const int64_t n = pattern->n_nodes, n_all = 2 * modal_block_count(pattern) - n;
    *mass = (modal_row_mass){.n_nodes = n};
    MODAL_TRY(modal_alloc_zero(&mass->offsets, n + 2, sizeof *mass->offsets, "mass", err));
    MODAL_TRY(modal_alloc(&mass->columns, n_all, sizeof *mass->columns, "mass", err));
    MODAL_TRY(modal_alloc(&mass->blocks, n_all, sizeof *mass->blocks, "mass", err));
    MODAL_TRY(modal_alloc(&mass->factors, n_all, sizeof *mass->factors, "mass", err));
    /* counting sort: row i starts at offsets[i + 1] while it is filled */
    int64_t *next = mass->offsets + 1;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = pattern->offsets[j]; k < pattern->offsets[j + 1]; k++) {
            if (pattern->rows[k] + 1 < n) next[pattern->rows[k] + 1]++;
            if (pattern->rows[k] != j && j + 1 < n) next[j + 1]++;
        }
    for (int64_t i = 1; i < n; i++) next[i] += next[i - 1];
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = pattern->offsets[j]; k < pattern->offsets[j + 1]; k++) {
            const int32_t i = pattern->rows[k];
            mass->columns[next[i]] = (int32_t)j;
            mass->blocks[next[i]] = k;
            mass->factors[next[i]++] = system->mass[k];
            if (i == j) continue;
            mass->columns[next[j]] = i;
            mass->blocks[next[j]] = k;
            mass->factors[next[j]++] = system->mass[k];
        }
    if (pattern->held) {
        MODAL_TRY(modal_alloc(&mass->held, n, 1, "held components", err));
        memcpy(mass->held, pattern->held, (size_t)n);
    }
done:
    if (status != MODAL_OK) modal_row_mass_free(mass);
    return status;
}

void modal_row_mass_free(modal_row_mass *mass)
{
    modal_free(&mass->offsets);
    modal_free(&mass->columns);
    modal_free(&mass->blocks);
    modal_free(&mass->factors);
    modal_free(&mass->held);
    memset(mass, 0, sizeof *mass);
}

/* Where components are held, each component has its own matrix. */
static void multiply_held(const modal_row_mass *mass, const modal_row *x, modal_row *y, int n_threads)
{
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (mass->n_nodes > NODE_CHUNK)
    for (int64_t i = 0; i < mass->n_nodes; i++)
        for (int p = 0; p < 3; p++) {
            modal_row sum = {0};
            for (int64_t e = mass->offsets[i]; e < mass->offsets[i + 1]; e++)
                sum += modal_row_mass_factor(mass, i, e, p) * x[3 * (int64_t)mass->columns[e] + p];
            y[3 * i + p] = sum;
        }
}

void modal_row_mass_multiply(const modal_row_mass *mass, const modal_row *x, modal_row *y,
                             int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n = mass->n_nodes;
    if (mass->held) {
        multiply_held(mass, x, y, n_threads);
        return;
    }
    if (n <= NODE_CHUNK) {
        kernels->mass(0, n, mass->offsets, mass->columns, mass->factors, x, y);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n > NODE_CHUNK)
    for (int64_t first = 0; first < n; first += NODE_CHUNK)
        kernels->mass(first, first + NODE_CHUNK < n ? first + NODE_CHUNK : n, mass->offsets,
                      mass->columns, mass->factors, x, y);
}

void modal_row_matrix_multiply(const modal_row_matrix *a, const modal_row *x, modal_row *y, int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n = a->rows->n_nodes;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n > NODE_CHUNK)
    for (int64_t first = 0; first < n; first += NODE_CHUNK)
        kernels->shifted(first, first + NODE_CHUNK < n ? first + NODE_CHUNK : n, a, x, y);
}

void modal_rows_dot(int64_t n, const modal_row *x, const modal_row *y, const double *weights, modal_row *sum,
                    modal_row *scratch, int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n_chunks = (n + SUM_CHUNK - 1) / SUM_CHUNK;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n_chunks > 1)
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) {
        const int64_t first = chunk * SUM_CHUNK, count = n - first < SUM_CHUNK ? n - first : SUM_CHUNK;
        kernels->dot(count, x + first, y + first, weights ? weights + first : NULL, scratch + chunk);
    }
    *sum = (modal_row){0};
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) *sum += scratch[chunk];
}

void modal_rows_combine(int64_t n, const modal_row *a, const modal_row *x, const modal_row *b, modal_row *y,
                        int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n_chunks = (n + SUM_CHUNK - 1) / SUM_CHUNK;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n_chunks > 1)
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) {
        const int64_t first = chunk * SUM_CHUNK, count = n - first < SUM_CHUNK ? n - first : SUM_CHUNK;
        kernels->combine(count, a, x + first, b, y + first);
    }
}

int64_t modal_rows_gram_scratch(int64_t n, int64_t n_blocks)
{
    return (n + SUM_CHUNK - 1) / SUM_CHUNK * n_blocks * MODAL_ROW;
}

void modal_rows_gram(int64_t n, int64_t n_blocks, const modal_row *v, const modal_row *w,
                     modal_row *h, modal_row *scratch, int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n_chunks = (n + SUM_CHUNK - 1) / SUM_CHUNK, size = n_blocks * MODAL_ROW;
    memset(h, 0, (size_t)size * sizeof *h);
    if (n_chunks == 1) {
        for (int64_t b = 0; b < n_blocks; b++) kernels->gram(n, v + b * n, w, h + b * MODAL_ROW);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads)) if (n_chunks > 1)
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) {
        const int64_t first = chunk * SUM_CHUNK, count = n - first < SUM_CHUNK ? n - first : SUM_CHUNK;
        modal_row *part = scratch + chunk * size;
        memset(part, 0, (size_t)size * sizeof *part);
        for (int64_t b = 0; b < n_blocks; b++)
            kernels->gram(count, v + b * n + first, w + first, part + b * MODAL_ROW);
    }
    for (int64_t chunk = 0; chunk < n_chunks; chunk++)
        for (int64_t k = 0; k < size; k++) h[k] += scratch[chunk * size + k];
}

void modal_rows_subtract(int64_t n, int64_t n_blocks, const modal_row *v, const modal_row *h,
                         modal_row *w, int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n_chunks = (n + SUM_CHUNK - 1) / SUM_CHUNK;
    if (n_chunks == 1) {
        for (int64_t b = 0; b < n_blocks; b++) kernels->subtract(n, v + b * n, h + b * MODAL_ROW, w);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) {
        const int64_t first = chunk * SUM_CHUNK, count = n - first < SUM_CHUNK ? n - first : SUM_CHUNK;
        for (int64_t b = 0; b < n_blocks; b++)
            kernels->subtract(count, v + b * n + first, h + b * MODAL_ROW, w + first);
    }
}

void modal_rows_scale(int64_t n, const modal_row *h, modal_row *w, int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
    const int64_t n_chunks = (n + SUM_CHUNK - 1) / SUM_CHUNK;
    if (n_chunks == 1) {
        kernels->scale(n, h, w);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) {
        const int64_t first = chunk * SUM_CHUNK, count = n - first < SUM_CHUNK ? n - first : SUM_CHUNK;
        kernels->scale(count, h, w + first);
    }
}

void modal_rows_rotate(int64_t n, int64_t n_before, int64_t n_after, modal_row *v,
                       const modal_row *s, modal_row *scratch, int n_threads)
{
    const modal_row_kernels *kernels = modal_rows();
#pragma omp parallel num_threads(modal_free_threads(n_threads)) if (n > MODAL_ROW_CHUNK)
    {
        modal_row *out = scratch + omp_get_thread_num() * n_after * MODAL_ROW_CHUNK;
#pragma omp for schedule(static)
        for (int64_t first = 0; first < n; first += MODAL_ROW_CHUNK) {
            const int64_t count = n - first < MODAL_ROW_CHUNK ? n - first : MODAL_ROW_CHUNK;
            memset(out, 0, (size_t)(n_after * MODAL_ROW_CHUNK) * sizeof *out);
            for (int64_t a = 0; a < n_after; a++)
                for (int64_t b = 0; b < n_before; b++) {
                    modal_row h[MODAL_ROW];
                    for (int k = 0; k < MODAL_ROW; k++)
                        h[k] = -s[(b * MODAL_ROW + k) * n_after + a];
                    kernels->subtract(count, v + b * n + first, h, out + a * MODAL_ROW_CHUNK);
                }
            for (int64_t a = 0; a < n_after; a++)
                memcpy(v + a * n + first, out + a * MODAL_ROW_CHUNK, (size_t)count * sizeof *out);
        }
    }
}

void modal_rows_rigid_remove(const modal_rigid_space *rigid, modal_row *x, modal_row *coefficients)
{
    modal_rows()->motions(rigid, rigid->motions, rigid->mass_motions, x, coefficients);
}

void modal_rows_rigid_relieve(const modal_rigid_space *rigid, modal_row *load, modal_row *coefficients)
{
    modal_rows()->motions(rigid, rigid->mass_motions, rigid->motions, load, coefficients);
}

void modal_rows_from_columns(int64_t n, int64_t n_vectors, const double *columns, modal_row *rows)
{
    double *to = (double *)rows;
    memset(rows, 0, (size_t)n * sizeof *rows);
    for (int64_t v = 0; v < n_vectors; v++)
        for (int64_t i = 0; i < n; i++) to[MODAL_ROW * i + v] = columns[v * n + i];
}

void modal_rows_to_columns(int64_t n, int64_t n_vectors, const modal_row *rows, double *columns)
{
    const double *from = (const double *)rows;
    for (int64_t v = 0; v < n_vectors; v++)
        for (int64_t i = 0; i < n; i++) columns[v * n + i] = from[MODAL_ROW * i + v];
}
