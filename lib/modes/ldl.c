/* SPDX-License-Identifier: Apache-2.0 */
/* Supernodal LDL^T, left-looking: E. G. Ng, B. W. Peyton, "Block sparse Cholesky algorithms on advanced
 * uniprocessor computers", 1993. Subtrees of the elimination tree go to threads; above them the rows of
 * each supernode do. BLAS runs with one thread a caller, and every number is computed by one caller
 * in one order, so the result does not depend on the number of threads. */
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/supernodes.h"

enum {
    TASKS = 64,         /* a subtree holds at most this part of the work */
    ROW_TILE = MODAL_TILE_ROWS,
    COLUMN_TILE = MODAL_TILE_COLUMNS,
    PIVOT_BLOCK = 96,
    SMALL_PRODUCT = 1024, /* multiplications below which packing costs more than it saves */
    WORK = ROW_TILE * COLUMN_TILE + MODAL_TILE_PACK
};

typedef struct ldl {
    const modal_supernodes *s;
    const modal_ldl_input *input;
    double *values, *pivots;
    int64_t *owner;          /* [n] supernode of a column */
    int64_t *head, *next;    /* [n_supernodes] lists of what updates a supernode, -1 ends */
    int64_t *at;             /* [n_supernodes] first row that is still to be used for updates */
    int64_t *list;           /* [n_supernodes] */
    double *work;            /* a thread: update, scaled rows */
    int32_t *maps;           /* a thread: [n] place of a row in the supernode at hand */
    double *block;           /* [widest, PIVOT_BLOCK] */
    int64_t widest;
} ldl;

static int64_t columns_of(const modal_supernodes *s, int64_t k) { return s->first[k + 1] - s->first[k]; }
static int64_t rows_of(const modal_supernodes *s, int64_t k) { return s->rows_at[k + 1] - s->rows_at[k]; }

static double *thread_work(const ldl *l) { return l->work + omp_get_thread_num() * (int64_t)WORK; }
static int32_t *thread_map(const ldl *l) { return l->maps + omp_get_thread_num() * l->s->n; }

static void map_rows(const ldl *l, int64_t k, int32_t *map)
{
    const int64_t *rows = l->s->rows + l->s->rows_at[k], n_rows = rows_of(l->s, k);
    for (int64_t i = 0; i < n_rows; i++) map[rows[i]] = (int32_t)i;
}

/* The columns of K - sigma M, lower triangle. */
static void assemble(const ldl *l, int64_t k, const int32_t *map)
{
    const modal_ldl_input *in = l->input;
    const modal_row_mass *graph = in->rows;
    const int64_t stride = rows_of(l->s, k), first = l->s->first[k];
    double *x = l->values + l->s->values_at[k];
    memset(x, 0, (size_t)(stride * columns_of(l->s, k)) * sizeof *x);
    for (int64_t column = first / 3; column < l->s->first[k + 1] / 3; column++) {
        const int64_t node = in->order[column];
        double *to = x + (3 * column - first) * stride;
        for (int64_t e = graph->offsets[node]; e < graph->offsets[node + 1]; e++) {
            const int64_t other = graph->columns[e], row = in->place[other];
            if (row < column) continue;
            const double *block = in->system->stiffness + 9 * graph->blocks[e];
            double mass[3];
            for (int p = 0; p < 3; p++)
                mass[p] = in->shift * modal_row_mass_factor(graph, node, e, p);
            const int32_t at = map[3 * row];
            /* blocks are stored with the row of the larger node */
            const int by_row = other >= node ? 3 : 1, by_column = 4 - by_row;
            for (int q = 0; q < 3; q++)
                for (int p = row == column ? q : 0; p < 3; p++)
                    to[q * stride + at + p] = block[by_row * p + by_column * q] -
                                               (p == q ? mass[p] : 0);
        }
    }
}

/* Supernode k loses what rows [from, to) of supernode d, [a, b) of which are columns of k, have in it:
 * L_d[from .. to) D_d L_d[a .. b)^T. */
static void update(const ldl *l, int64_t k, int64_t d, int64_t a, int64_t b, int64_t from, int64_t to,
                   const int32_t *map, double *work)
{
    const modal_supernodes *s = l->s;
    const int64_t stride = rows_of(s, k), width = columns_of(s, d), d_stride = rows_of(s, d);
    const int64_t *rows = s->rows + s->rows_at[d];
    const double *ld = l->values + s->values_at[d], *pivots = l->pivots + s->first[d];
    double *x = l->values + s->values_at[k] - s->first[k] * stride;
    const modal_row_kernels *kernels = modal_rows();
    double *product = work;
    for (int64_t j0 = a; j0 < b; j0 += COLUMN_TILE) {
        const int64_t nj = b - j0 < COLUMN_TILE ? b - j0 : COLUMN_TILE;
        if (to <= j0) break;
        for (int64_t i0 = from > j0 ? from : j0; i0 < to; i0 += ROW_TILE) {
            const int64_t ni = to - i0 < ROW_TILE ? to - i0 : ROW_TILE;
            if (ni * nj * width >= SMALL_PRODUCT) {
                kernels->product(ni, nj, width, ld + i0, d_stride, ld + j0, d_stride, pivots, product,
                                 work + ROW_TILE * COLUMN_TILE);
            } else {
                for (int64_t j = 0; j < nj; j++) {
                    double *sum = product + j * ROW_TILE;
                    memset(sum, 0, (size_t)ni * sizeof *sum);
                    for (int64_t c = 0; c < width; c++) {
                        const double factor = pivots[c] * ld[c * d_stride + j0 + j];
                        const double *column = ld + c * d_stride + i0;
                        for (int64_t i = 0; i < ni; i++) sum[i] += factor * column[i];
                    }
                }
            }
            for (int64_t j = 0; j < nj; j++) {
                double *column = x + rows[j0 + j] * stride;
                for (int64_t i = j0 + j > i0 ? j0 + j - i0 : 0; i < ni; i++)
                    column[map[rows[i0 + i]]] -= product[j * ROW_TILE + i];
            }
        }
    }
}

/* The diagonal block of columns [j0, j0 + nb) of a dense lower trapezoid. */
static void factor_diagonal(double *x, int64_t stride, int64_t j0, int64_t nb, double *pivots)
{
    double column[PIVOT_BLOCK];
    for (int64_t j = j0; j < j0 + nb; j++) {
        double *xj = x + j * stride;
        const double pivot = xj[j];
        pivots[j] = pivot;
        for (int64_t i = j + 1; i < j0 + nb; i++) {
            column[i - j0] = xj[i];
            xj[i] /= pivot;
        }
        for (int64_t k = j + 1; k < j0 + nb; k++) {
            double *xk = x + k * stride;
            const double factor = column[k - j0];
            for (int64_t i = k; i < j0 + nb; i++) xk[i] -= factor * xj[i];
        }
    }
}

/* Rows [from, to) below the diagonal block: L = X L11^-T D^-1; block receives L D of the rows that
 * are columns of the supernode, too. */
static void factor_below(double *x, int64_t stride, int64_t n_columns, int64_t j0, int64_t nb,
                         int64_t from, int64_t to, const double *pivots, double *block)
{
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, (int)(to - from), (int)nb,
                1, x + j0 * stride + j0, (int)stride, x + j0 * stride + from, (int)stride);
    for (int64_t j = 0; j < nb; j++) {
        double *xj = x + (j0 + j) * stride;
        const double inverse = 1 / pivots[j0 + j];
        for (int64_t i = from; i < to && i < n_columns; i++) block[j * n_columns + i] = xj[i];
        for (int64_t i = from; i < to; i++) xj[i] *= inverse;
    }
}

static void update_trailing(double *x, int64_t stride, int64_t n_columns, int64_t j0, int64_t nb,
                            int64_t from, int64_t to, const double *block, double *work)
{
    const modal_row_kernels *kernels = modal_rows();
    for (int64_t c = j0 + nb; c < n_columns && c < to; c += COLUMN_TILE) {
        const int64_t nc = n_columns - c < COLUMN_TILE ? n_columns - c : COLUMN_TILE;
        const int64_t start = from > c ? from : c;
        kernels->product(to - start, nc, nb, x + j0 * stride + start, stride, block + c, n_columns,
                         NULL, work, work + ROW_TILE * COLUMN_TILE);
        for (int64_t j = 0; j < nc; j++) {
            double *column = x + (c + j) * stride;
            for (int64_t i = start > c + j ? start : c + j; i < to; i++)
                column[i] -= work[j * ROW_TILE + i - start];
        }
    }
}

/* A supernode after all updates; rows in tiles, which are independent between the steps. */
static void factor_supernode(const ldl *l, int64_t k, int n_threads, double *block, double *work)
{
    const int64_t n_columns = columns_of(l->s, k), stride = rows_of(l->s, k);
    double *x = l->values + l->s->values_at[k], *pivots = l->pivots + l->s->first[k];
    for (int64_t j0 = 0; j0 < n_columns; j0 += PIVOT_BLOCK) {
        const int64_t nb = n_columns - j0 < PIVOT_BLOCK ? n_columns - j0 : PIVOT_BLOCK;
        const int64_t below = j0 + nb, n_tiles = (stride - below + ROW_TILE - 1) / ROW_TILE;
        factor_diagonal(x, stride, j0, nb, pivots);
#pragma omp parallel num_threads(n_threads) if (n_threads > 1 && n_tiles > 1)
        {
            double *own = n_threads > 1 ? thread_work(l) : work;
#pragma omp for schedule(static)
            for (int64_t tile = 0; tile < n_tiles; tile++) {
                const int64_t from = below + tile * ROW_TILE;
                factor_below(x, stride, n_columns, j0, nb, from,
                             from + ROW_TILE < stride ? from + ROW_TILE : stride, pivots, block);
            }
#pragma omp for schedule(dynamic, 1)
            for (int64_t tile = 0; tile < n_tiles; tile++) {
                const int64_t from = below + tile * ROW_TILE;
                update_trailing(x, stride, n_columns, j0, nb, from,
                                from + ROW_TILE < stride ? from + ROW_TILE : stride, block,
                                own);
            }
        }
    }
}

/* First row of supernode d, from `at` on, that is no column of supernode k. */
static int64_t last_row_in(const ldl *l, int64_t k, int64_t d)
{
    const int64_t *rows = l->s->rows + l->s->rows_at[d], n_rows = rows_of(l->s, d);
    int64_t b = l->at[d];
    while (b < n_rows && rows[b] < l->s->first[k + 1]) b++;
    return b;
}

/* Puts d into the list of the next supernode that it updates, if that is <= last. */
static void move_on(ldl *l, int64_t d, int64_t last)
{
    if (l->at[d] == rows_of(l->s, d)) return;
    const int64_t k = l->owner[l->s->rows[l->s->rows_at[d] + l->at[d]]];
    if (k > last) return;
    l->next[d] = l->head[k];
    l->head[k] = d;
}

static void factor_subtree(ldl *l, const modal_subtree *tree, double *block)
{
    double *work = thread_work(l);
    int32_t *map = thread_map(l);
    for (int64_t k = tree->from; k <= tree->to; k++) {
        map_rows(l, k, map);
        assemble(l, k, map);
        for (int64_t d = l->head[k], after; d >= 0; d = after) {
            after = l->next[d];
            const int64_t a = l->at[d], b = last_row_in(l, k, d);
            update(l, k, d, a, b, a, rows_of(l->s, d), map, work);
            l->at[d] = b;
            move_on(l, d, tree->to);
        }
        factor_supernode(l, k, 1, block, work);
        l->at[k] = columns_of(l->s, k);
        move_on(l, k, tree->to);
    }
}

/* First row of d at or after `at` whose place in supernode k is at least `place`. */
static int64_t first_row_from(const ldl *l, int64_t d, int64_t at, const int32_t *map, int64_t place)
{
    const int64_t *rows = l->s->rows + l->s->rows_at[d];
    int64_t low = at, high = rows_of(l->s, d);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (map[rows[middle]] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void factor_top(ldl *l, int64_t k, int n_threads)
{
    int64_t n_list = 0;
    const int64_t n_rows = rows_of(l->s, k), n_tiles = (n_rows + ROW_TILE - 1) / ROW_TILE;
    int32_t *map = l->maps;
    map_rows(l, k, map);
    assemble(l, k, map);
    for (int64_t d = l->head[k]; d >= 0; d = l->next[d]) l->list[n_list++] = d;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads) if (n_tiles > 1)
    for (int64_t tile = 0; tile < n_tiles; tile++)
        for (int64_t e = 0; e < n_list; e++) {
            const int64_t d = l->list[e], a = l->at[d], b = last_row_in(l, k, d);
            const int64_t from = first_row_from(l, d, a, map, tile * ROW_TILE);
            const int64_t to = first_row_from(l, d, a, map, (tile + 1) * ROW_TILE);
            if (from < to) update(l, k, d, a, b, from, to, map, thread_work(l));
        }
    for (int64_t e = 0; e < n_list; e++) {
        const int64_t d = l->list[e];
        l->at[d] = last_row_in(l, k, d);
        move_on(l, d, l->s->n_supernodes);
    }
    factor_supernode(l, k, n_threads, l->block, l->work);
    l->at[k] = columns_of(l->s, k);
    move_on(l, k, l->s->n_supernodes);
}

/* Multiplications of a supernode: its own, and what it does to others. */
static double work_of(const modal_supernodes *s, int64_t k)
{
    const double rows = (double)rows_of(s, k), columns = (double)columns_of(s, k);
    return columns * (rows * rows - rows * columns + columns * columns / 3);
}

static modal_status run(ldl *l, int n_threads, const modal_progress *progress, const char *stage,
                        modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_supernodes *s = l->s;
    const int64_t n = s->n_supernodes;
    double *weight = NULL, *own = NULL, *blocks = NULL, total = 0, done = 0;
    int64_t *begin = NULL, *top = NULL, n_subtrees = 0, n_top = 0;
    modal_subtree *subtrees = NULL;
    int stop = 0;
    MODAL_TRY(modal_alloc(&weight, n, sizeof *weight, "factor", err));
    MODAL_TRY(modal_alloc(&own, n, sizeof *own, "factor", err));
    MODAL_TRY(modal_alloc(&begin, n, sizeof *begin, "factor", err));
    MODAL_TRY(modal_alloc(&top, n, sizeof *top, "factor", err));
    MODAL_TRY(modal_alloc(&subtrees, n, sizeof *subtrees, "factor", err));
    MODAL_TRY(modal_alloc(&blocks, n_threads * l->widest * PIVOT_BLOCK, sizeof *blocks, "factor", err));
    l->block = blocks;
    for (int64_t k = 0; k < n; k++) total += weight[k] = own[k] = work_of(s, k);
    modal_cut_subtrees(n, s->parent, weight, begin, fmax(total / TASKS, 1e6), &n_subtrees, subtrees,
                       &n_top, top);
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads) if (n_subtrees > 1)
    for (int64_t k = 0; k < n_subtrees; k++) {
        int stopped;
#pragma omp atomic read
        stopped = stop;
        if (stopped) continue;
        const int thread = omp_get_thread_num();
        factor_subtree(l, &subtrees[k], blocks + thread * l->widest * PIVOT_BLOCK);
        double now;
#pragma omp atomic capture
        now = done += weight[subtrees[k].to];
        if (thread == 0 && modal_progress_report(progress, stage, now / total, NULL) != MODAL_OK) {
#pragma omp atomic write
            stop = 1;
        }
    }
    if (stop) MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "%s: interrupted", stage);
    for (int64_t k = 0; k < n_subtrees; k++)
        for (int64_t d = subtrees[k].from; d <= subtrees[k].to; d++) move_on(l, d, n);
    for (int64_t k = 0; k < n_top; k++) {
        factor_top(l, top[k], n_threads);
        done += own[top[k]];
        MODAL_TRY(modal_progress_report(progress, stage, fmin(done / total, 1), err));
    }
done:
    modal_free(&weight);
    modal_free(&own);
    modal_free(&begin);
    modal_free(&top);
    modal_free(&subtrees);
    modal_free(&blocks);
    return status;
}

modal_status modal_ldl_compute(const modal_supernodes *s, const modal_ldl_input *input, int n_threads,
                               double *values, double *pivots, modal_ldl_output *output,
                               const modal_progress *progress, const char *stage, modal_error *err)
{
    modal_status status = MODAL_OK;
    ldl l = {.s = s, .input = input, .values = values, .pivots = pivots};
    for (int64_t k = 0; k < s->n_supernodes; k++)
        if (columns_of(s, k) > l.widest) l.widest = columns_of(s, k);
    MODAL_TRY(modal_alloc(&l.owner, s->n, sizeof *l.owner, "factor", err));
    MODAL_TRY(modal_alloc(&l.head, s->n_supernodes, sizeof *l.head, "factor", err));
    MODAL_TRY(modal_alloc(&l.next, s->n_supernodes, sizeof *l.next, "factor", err));
    MODAL_TRY(modal_alloc(&l.at, s->n_supernodes, sizeof *l.at, "factor", err));
    MODAL_TRY(modal_alloc(&l.list, s->n_supernodes, sizeof *l.list, "factor", err));
    MODAL_TRY(modal_alloc(&l.work, n_threads * (int64_t)WORK, sizeof *l.work, "factor", err));
    MODAL_TRY(modal_alloc(&l.maps, n_threads * s->n, sizeof *l.maps, "factor", err));
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        l.head[k] = -1;
        for (int64_t j = s->first[k]; j < s->first[k + 1]; j++) l.owner[j] = k;
    }
    MODAL_TRY(run(&l, n_threads, progress, stage, err));
    *output = (modal_ldl_output){.first_negative = -1};
    for (int64_t j = 0; j < s->n; j++) {
        if (!isfinite(pivots[j]) || pivots[j] == 0) output->broken = 1;
        if (!(pivots[j] > 0) && output->first_negative < 0) output->first_negative = j;
        output->n_negative += pivots[j] < 0;
    }
done:
    modal_free(&l.owner);
    modal_free(&l.head);
    modal_free(&l.next);
    modal_free(&l.at);
    modal_free(&l.list);
    modal_free(&l.work);
    modal_free(&l.maps);
    return status;
}
