/* SPDX-License-Identifier: Apache-2.0 */
/* Supernodal LDL^T, left-looking: E. G. Ng, B. W. Peyton, "Block sparse Cholesky algorithms on advanced
 * uniprocessor computers", 1993. Subtrees of the elimination tree go to threads; above them the rows of
 * each supernode do. Every number is computed by one thread in one order, so the result does not depend on
 * the number of threads. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/modes/supernodes.h"

enum {
    TASKS = 64,         /* a subtree holds at most this part of the work */
    ROW_TILE = MODAL_TILE_ROWS,
    COLUMN_TILE = MODAL_TILE_COLUMNS,
    PIVOT_BLOCK = MODAL_PIVOT_BLOCK,
    NARROW = 64, /* columns of a supernode that is factored at once */
    SMALL_PRODUCT = 1024, /* multiplications below which packing costs more than it saves */
    WORK = ROW_TILE * COLUMN_TILE + MODAL_TILE_PACK
};

typedef struct ldl {
    const modal_supernodes *s;
    const modal_ldl_input *input;
    void *values; /* double or float, as the input says; so are work and block */
    double *pivots;
    int64_t *owner;          /* [n] supernode of a column */
    int64_t *head, *next;    /* [n_supernodes] lists of what updates a supernode, -1 ends */
    int64_t *at;             /* [n_supernodes] first row that is still to be used for updates */
    int64_t *list;           /* [n_supernodes] */
    void *work;              /* a thread: update, scaled rows */
    int32_t *maps;           /* a thread: [n] place of a row in the supernode at hand */
    void *block;             /* [widest, PIVOT_BLOCK] */
    int64_t widest;
    size_t value_bytes;
    int n_threads;
    double *lowest; /* the least pivot that was raised, 0: none was */
    const struct ldl_steps *steps;
} ldl;

/* Of supernode d rows [from, to), of which [a, b) are columns of supernode k, which loses what they have in it. */
typedef struct ldl_update {
    int64_t k, d, a, b, from, to;
} ldl_update;

/* Columns [j0, j0 + nb) of a supernode of n_columns, which are `stride` apart, and its rows [from, to). */
typedef struct ldl_part {
    int64_t stride, n_columns, j0, nb, from, to;
} ldl_part;

typedef struct ldl_steps {
    void (*assemble)(const ldl *l, int64_t k, const int32_t *map);
    void (*update)(const ldl *l, const ldl_update *u,
                   const int32_t *map, void *work);
    void (*factor)(const ldl *l, int64_t k, int n_threads, void *block, void *work);
} ldl_steps;

static int64_t columns_of(const modal_supernodes *s, int64_t k) { return s->first[k + 1] - s->first[k]; }
static int64_t rows_of(const modal_supernodes *s, int64_t k) { return s->rows_at[k + 1] - s->rows_at[k]; }

/* With one thread there is no region of its own: its number is that of a caller among others. */
static int thread_of(const ldl *l) { return l->n_threads == 1 ? 0 : omp_get_thread_num(); }
static void *thread_work(const ldl *l) { return (char *)l->work + (size_t)thread_of(l) * WORK * l->value_bytes; }
static int32_t *thread_map(const ldl *l) { return l->maps + thread_of(l) * l->s->n; }

static void map_rows(const ldl *l, int64_t k, int32_t *map)
{
    const int64_t *rows = l->s->rows + l->s->rows_at[k], n_rows = rows_of(l->s, k);
    for (int64_t i = 0; i < n_rows; i++) map[rows[i]] = (int32_t)i;
}

static int64_t tile_end(int64_t from, int64_t n_rows) { return from + ROW_TILE < n_rows ? from + ROW_TILE : n_rows; }

/* Rare, and the same for any order of threads. */
static void note_raised(const ldl *l, double pivot)
{
    if (!(pivot < 0)) return;
#pragma omp critical(modal_ldl_raised)
    if (pivot < *l->lowest) *l->lowest = pivot;
}

#define VALUE double
#define STEP(x) x##_float64
#include "lib/modes/ldl_values.h"

#define VALUE float
#define STEP(x) x##_float32
#include "lib/modes/ldl_values.h"

static const ldl_steps *const steps_of[2] = {&steps_float64, &steps_float32};

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

static void factor_subtree(ldl *l, const modal_subtree *tree, void *block)
{
    void *work = thread_work(l);
    int32_t *map = thread_map(l);
    for (int64_t k = tree->from; k <= tree->to; k++) {
        map_rows(l, k, map);
        l->steps->assemble(l, k, map);
        for (int64_t d = l->head[k], after; d >= 0; d = after) {
            after = l->next[d];
            const int64_t a = l->at[d], b = last_row_in(l, k, d);
            l->steps->update(l, &(ldl_update){k, d, a, b, a, rows_of(l->s, d)}, map, work);
            l->at[d] = b;
            move_on(l, d, tree->to);
        }
        l->steps->factor(l, k, 1, block, work);
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

/* What all in the list do to a tile of the rows of supernode k. */
static void update_tile(const ldl *l, int64_t k, int64_t n_list, int64_t tile, const int32_t *map)
{
    for (int64_t e = 0; e < n_list; e++) {
        const int64_t d = l->list[e], a = l->at[d], b = last_row_in(l, k, d);
        const int64_t from = first_row_from(l, d, a, map, tile * ROW_TILE);
        const int64_t to = first_row_from(l, d, a, map, (tile + 1) * ROW_TILE);
        if (from < to) l->steps->update(l, &(ldl_update){k, d, a, b, from, to}, map, thread_work(l));
    }
}

/* Parallel regions are left out, not switched off, where one thread works: each takes a microsecond. */
static void factor_top(ldl *l, int64_t k, int n_threads)
{
    int64_t n_list = 0;
    const int64_t n_rows = rows_of(l->s, k), n_tiles = (n_rows + ROW_TILE - 1) / ROW_TILE;
    int32_t *map = l->maps;
    map_rows(l, k, map);
    l->steps->assemble(l, k, map);
    for (int64_t d = l->head[k]; d >= 0; d = l->next[d]) l->list[n_list++] = d;
    if (n_threads == 1 || n_tiles == 1) {
        for (int64_t tile = 0; tile < n_tiles; tile++) update_tile(l, k, n_list, tile, map);
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
        for (int64_t tile = 0; tile < n_tiles; tile++) update_tile(l, k, n_list, tile, map);
    }
    for (int64_t e = 0; e < n_list; e++) {
        const int64_t d = l->list[e];
        l->at[d] = last_row_in(l, k, d);
        move_on(l, d, l->s->n_supernodes);
    }
    l->steps->factor(l, k, n_threads, l->block, l->work);
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
    double *weight = NULL, *own = NULL, total = 0, done = 0;
    char *blocks = NULL;
    const int64_t block_bytes = l->widest * PIVOT_BLOCK * (int64_t)l->value_bytes;
    int64_t *begin = NULL, *top = NULL;
    modal_subtree *subtrees = NULL;
    int stop = 0;
    MODAL_TRY(modal_alloc(&weight, n, sizeof *weight, "factor", err));
    MODAL_TRY(modal_alloc(&own, n, sizeof *own, "factor", err));
    MODAL_TRY(modal_alloc(&begin, n, sizeof *begin, "factor", err));
    MODAL_TRY(modal_alloc(&top, n, sizeof *top, "factor", err));
    MODAL_TRY(modal_alloc(&subtrees, n, sizeof *subtrees, "factor", err));
    MODAL_TRY(modal_alloc(&blocks, n_threads, (size_t)block_bytes, "factor", err));
    l->block = blocks;
    for (int64_t k = 0; k < n; k++) total += weight[k] = own[k] = work_of(s, k);
    modal_cut cut = {.subtrees = subtrees, .top = top};
    modal_cut_subtrees(n, s->parent, weight, begin, fmax(total / TASKS, 1e6), &cut);
    const int64_t n_subtrees = cut.n_subtrees, n_top = cut.n_top;
    if (n_threads == 1) {
        for (int64_t k = 0; k < n_subtrees; k++) {
            factor_subtree(l, &subtrees[k], blocks);
            done += weight[subtrees[k].to];
            MODAL_TRY(modal_progress_report(progress, stage, done / total, err));
        }
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads)) if (n_subtrees > 1)
        for (int64_t k = 0; k < n_subtrees; k++) {
            int stopped;
#pragma omp atomic read
            stopped = stop;
            if (stopped) continue;
            const int thread = omp_get_thread_num();
            factor_subtree(l, &subtrees[k], blocks + thread * block_bytes);
            double now;
#pragma omp atomic capture
            now = done += weight[subtrees[k].to];
            if (thread == 0 && modal_progress_report(progress, stage, now / total, NULL) != MODAL_OK) {
#pragma omp atomic write
                stop = 1;
            }
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
                               void *values, double *pivots, modal_ldl_output *output,
                               const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    double lowest = 0;
    ldl l = {.s = s, .input = input, .values = values, .pivots = pivots, .n_threads = n_threads, .lowest = &lowest};
    l.value_bytes = modal_value_bytes(input->precision);
    l.steps = steps_of[input->precision];
    for (int64_t k = 0; k < s->n_supernodes; k++)
        if (columns_of(s, k) > l.widest) l.widest = columns_of(s, k);
    MODAL_TRY(modal_alloc(&l.owner, s->n, sizeof *l.owner, "factor", err));
    MODAL_TRY(modal_alloc(&l.head, s->n_supernodes, sizeof *l.head, "factor", err));
    MODAL_TRY(modal_alloc(&l.next, s->n_supernodes, sizeof *l.next, "factor", err));
    MODAL_TRY(modal_alloc(&l.at, s->n_supernodes, sizeof *l.at, "factor", err));
    MODAL_TRY(modal_alloc(&l.list, s->n_supernodes, sizeof *l.list, "factor", err));
    MODAL_TRY(modal_alloc(&l.work, n_threads * (int64_t)WORK, l.value_bytes, "factor", err));
    MODAL_TRY(modal_alloc(&l.maps, n_threads * s->n, sizeof *l.maps, "factor", err));
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        l.head[k] = -1;
        for (int64_t j = s->first[k]; j < s->first[k + 1]; j++) l.owner[j] = k;
    }
    MODAL_TRY(run(&l, n_threads, progress, input->stage, err));
    *output = (modal_ldl_output){.first_negative = -1, .lowest_raised = lowest};
    for (int64_t j = 0; j < s->n; j++) {
        if (!isfinite(pivots[j]) || pivots[j] == 0) output->broken = 1;
        if (!(pivots[j] > 0) && output->first_negative < 0) output->first_negative = j;
        output->n_negative += pivots[j] < 0;
        output->n_raised += pivots[j] == input->least;
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
