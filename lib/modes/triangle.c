/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/triangle.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"

enum {
    PANEL_COLUMNS = MODAL_PANEL_COLUMNS,
    TASKS = 48,          /* a subtree holds at most this part of the factor */
    PARALLEL_VALUES = 1 << 14, /* of a panel: fewer are not worth waking threads for */
    SMALL_VALUES = 1 << 18,    /* of a factor: likewise, some 0.2 ms a solve; where a core is taken, teams wait for longer */
    GATHER_PARTS = 8
};

struct modal_triangle {
    const modal_supernodes *supernodes;
    int n_threads;
    int64_t n_panels, n_subtrees, n_top;
    modal_panel *panels;
    modal_subtree *subtrees;
    int64_t *outside_at; /* [n_subtrees] */
    int64_t *top;       /* [n_top] panels above the subtrees, ascending */
    modal_row *outside; /* what the subtrees take from rows above them */
    modal_row *parts;   /* [GATHER_PARTS, PANEL_COLUMNS] */
    int32_t *maps;      /* [n_threads, n] place of a row outside the subtree at hand */
    const char *values; /* of value_bytes each */
    size_t value_bytes;
    const modal_value_kernels *kernels; /* for them */
};

/* Cuts supernodes into panels, numbered in their order, which is a postorder of the elimination tree. */
static void cut_panels(modal_triangle *t)
{
    const modal_supernodes *s = t->supernodes;
    int64_t at = 0, values_at = 0;
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        const int64_t n_columns = s->first[k + 1] - s->first[k];
        const int64_t n_rows = s->rows_at[k + 1] - s->rows_at[k];
        for (int64_t first = 0; first < n_columns; first += PANEL_COLUMNS) {
            const int64_t width =
                n_columns - first < PANEL_COLUMNS ? n_columns - first : PANEL_COLUMNS;
            t->panels[at++] = (modal_panel){s->first[k] + first, s->rows_at[k] + first, values_at,
                                            (int32_t)width, (int32_t)(n_rows - first)};
            values_at += modal_panel_diagonal_size(width) + width * (n_rows - first - width);
        }
    }
}

static modal_status cut_subtrees(modal_triangle *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *panel_of = NULL, *parent = NULL, *begin = NULL, n_outside = 0;
    double *weight = NULL, total = 0;
    MODAL_TRY(modal_alloc(&panel_of, t->supernodes->n, sizeof *panel_of, "subtrees", err));
    MODAL_TRY(modal_alloc(&parent, t->n_panels, sizeof *parent, "subtrees", err));
    MODAL_TRY(modal_alloc(&begin, t->n_panels, sizeof *begin, "subtrees", err));
    MODAL_TRY(modal_alloc(&weight, t->n_panels, sizeof *weight, "subtrees", err));
    for (int64_t p = 0; p < t->n_panels; p++)
        for (int64_t j = 0; j < t->panels[p].n_columns; j++) panel_of[t->panels[p].first + j] = p;
    for (int64_t p = 0; p < t->n_panels; p++) {
        const modal_panel *panel = &t->panels[p];
        total += weight[p] = (double)panel->n_columns * panel->n_rows;
        parent[p] = panel->n_rows == panel->n_columns
                        ? -1
                        : panel_of[t->supernodes->rows[panel->rows_at + panel->n_columns]];
    }
    if (total < SMALL_VALUES) t->n_threads = 1;
    modal_cut cut = {.subtrees = t->subtrees, .top = t->top};
    modal_cut_subtrees(t->n_panels, parent, weight, begin, fmax(total / TASKS, PARALLEL_VALUES), &cut);
    t->n_subtrees = cut.n_subtrees;
    t->n_top = cut.n_top;
    for (int64_t k = 0; k < t->n_subtrees; k++) {
        const modal_panel *root = &t->panels[t->subtrees[k].to];
        t->outside_at[k] = n_outside;
        n_outside += root->n_rows - root->n_columns;
    }
    MODAL_TRY(modal_alloc(&t->outside, n_outside, sizeof *t->outside, "solve", err));
done:
    modal_free(&panel_of);
    modal_free(&parent);
    modal_free(&begin);
    modal_free(&weight);
    return status;
}

modal_status modal_triangle_new(const modal_supernodes *supernodes, int n_threads,
                                modal_triangle **result, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_triangle *t = NULL;
    MODAL_TRY(modal_alloc_zero(&t, 1, sizeof *t, "solve", err));
    t->supernodes = supernodes;
    t->n_threads = n_threads;
    for (int64_t k = 0; k < supernodes->n_supernodes; k++)
        t->n_panels +=
            (supernodes->first[k + 1] - supernodes->first[k] + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
    MODAL_TRY(modal_alloc(&t->panels, t->n_panels, sizeof *t->panels, "solve", err));
    MODAL_TRY(modal_alloc(&t->subtrees, t->n_panels, sizeof *t->subtrees, "solve", err));
    MODAL_TRY(modal_alloc(&t->outside_at, t->n_panels, sizeof *t->outside_at, "solve", err));
    MODAL_TRY(modal_alloc(&t->top, t->n_panels, sizeof *t->top, "solve", err));
    MODAL_TRY(modal_alloc(&t->parts, GATHER_PARTS * PANEL_COLUMNS, sizeof *t->parts, "solve", err));
    MODAL_TRY(modal_alloc(&t->maps, n_threads * supernodes->n, sizeof *t->maps, "solve", err));
    cut_panels(t);
    MODAL_TRY(cut_subtrees(t, err));
    *result = t;
    t = NULL;
done:
    modal_triangle_delete(t);
    return status;
}

modal_triangle *modal_triangle_delete(modal_triangle *t)
{
    if (!t) return NULL;
    modal_free(&t->panels);
    modal_free(&t->subtrees);
    modal_free(&t->outside_at);
    modal_free(&t->top);
    modal_free(&t->outside);
    modal_free(&t->parts);
    modal_free(&t->maps);
    modal_free(&t);
    return NULL;
}

/* Tiles of eight rows of a column-major matrix, each by columns; `from` at the panel's first value. */
static void pack_panel(const modal_panel *panel, int64_t stride, const double *from,
                       const double *roots, double *to)
{
    const int64_t n_columns = panel->n_columns, n_rows = panel->n_rows;
    for (int64_t first = 0; first < n_rows;) {
        const int64_t limit = first < n_columns ? n_columns : n_rows;
        const int64_t height = limit - first < MODAL_ROW ? limit - first : MODAL_ROW;
        const int64_t width = first < n_columns ? first + height : n_columns;
        for (int64_t k = 0; k < width; k++)
            for (int64_t i = first; i < first + height; i++) {
                const double value = from[k * stride + i];
                *to++ = i == k ? 1 / roots[k] : i < k ? 0 : value * roots[k];
            }
        first += height;
    }
}

static void widen(modal_precision precision, int64_t count, const void *from, double *to)
{
    if (precision == MODAL_FLOAT64) {
        memcpy(to, from, (size_t)count * sizeof *to);
    } else {
        for (int64_t i = 0; i < count; i++) to[i] = (double)((const float *)from)[i];
    }
}

static void narrow(modal_precision precision, int64_t count, const double *from, void *to)
{
    if (precision == MODAL_FLOAT64) {
        memcpy(to, from, (size_t)count * sizeof *from);
    } else {
        for (int64_t i = 0; i < count; i++) ((float *)to)[i] = (float)from[i];
    }
}

modal_status modal_triangle_pack(modal_triangle *t, modal_precision precision, void *values,
                                 const double *pivots, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_supernodes *s = t->supernodes;
    const size_t bytes = modal_value_bytes(precision);
    int64_t largest = 0, panel = 0;
    double *copy = NULL, *packed = NULL, roots[PANEL_COLUMNS];
    char *at = values;
    for (int64_t p = 0; p < t->n_panels; p++) {
        const int64_t size = (int64_t)t->panels[p].n_columns * t->panels[p].n_rows;
        if (size > largest) largest = size;
    }
    MODAL_TRY(modal_alloc(&copy, largest, sizeof *copy, "factor", err));
    MODAL_TRY(modal_alloc(&packed, largest, sizeof *packed, "factor", err));
    /* a packed panel is no longer than its rectangle, so it ends before the next one's values begin */
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        const int64_t stride = s->rows_at[k + 1] - s->rows_at[k];
        for (; panel < t->n_panels && t->panels[panel].first < s->first[k + 1]; panel++) {
            const modal_panel *p = &t->panels[panel];
            const int64_t offset = p->first - s->first[k];
            const int64_t from = s->values_at[k] + offset * stride + offset;
            for (int64_t j = 0; j < p->n_columns; j++) {
                roots[j] = sqrt(fabs(pivots[p->first + j]));
                widen(precision, p->n_rows, at + (size_t)(from + j * stride) * bytes, copy + j * p->n_rows);
            }
            pack_panel(p, p->n_rows, copy, roots, packed);
            narrow(precision,
                   modal_panel_diagonal_size(p->n_columns) + p->n_columns * (int64_t)(p->n_rows - p->n_columns),
                   packed, at + (size_t)p->values_at * bytes);
        }
    }
    t->values = values;
    t->value_bytes = bytes;
    t->kernels = modal_rows()->values[precision];
done:
    modal_free(&copy);
    modal_free(&packed);
    return status;
}

static const void *values_of(const modal_triangle *t, const modal_panel *panel)
{
    return t->values + (size_t)panel->values_at * t->value_bytes;
}

static modal_panel_task whole_panel(const modal_triangle *t, const modal_panel *panel, modal_row *y)
{
    return (modal_panel_task){.panel = panel,
                              .values = t->values + (size_t)(panel->values_at +
                                                                 modal_panel_diagonal_size(panel->n_columns)) *
                                                        t->value_bytes,
                              .rows = t->supernodes->rows + panel->rows_at,
                              .to = (panel->n_rows - panel->n_columns + MODAL_ROW - 1) / MODAL_ROW,
                              .y = y,
                              .end = INT64_MAX};
}

static void forward_subtree(modal_triangle *t, int64_t k, int32_t *map, modal_row *y)
{
    const modal_subtree *tree = &t->subtrees[k];
    const modal_value_kernels *kernels = t->kernels;
    const modal_panel *root = &t->panels[tree->to];
    const int64_t *rows = t->supernodes->rows + root->rows_at + root->n_columns;
    const int64_t n_outside = root->n_rows - root->n_columns;
    modal_row *outside = t->outside + t->outside_at[k];
    for (int64_t i = 0; i < n_outside; i++) map[rows[i]] = (int32_t)i;
    memset(outside, 0, (size_t)n_outside * sizeof *outside);
    for (int64_t p = tree->from; p <= tree->to; p++) {
        const modal_panel *panel = &t->panels[p];
        kernels->solve_diagonal(panel, values_of(t, panel), y + panel->first);
        modal_panel_task task = whole_panel(t, panel, y);
        task.end = root->first + root->n_columns;
        task.map = map;
        task.outside = outside;
        kernels->update_below(&task);
    }
}

static void forward_top(modal_triangle *t, const modal_panel *panel, modal_row *y)
{
    const modal_value_kernels *kernels = t->kernels;
    const modal_panel_task whole = whole_panel(t, panel, y);
    const int64_t size = (int64_t)panel->n_columns * (panel->n_rows - panel->n_columns);
    kernels->solve_diagonal(panel, values_of(t, panel), y + panel->first);
    const int64_t n_parts = 4 * (int64_t)t->n_threads;
    if (size < PARALLEL_VALUES) {
        kernels->update_below(&whole);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(t->n_threads))
    for (int64_t part = 0; part < n_parts; part++) {
        modal_panel_task task = whole;
        task.from = whole.to * part / n_parts;
        task.to = whole.to * (part + 1) / n_parts;
        kernels->update_below(&task);
    }
}

/* The rows below are cut into a fixed number of parts whose sums are added in order. */
static void backward_top(modal_triangle *t, const modal_panel *panel, modal_row *y)
{
    const modal_value_kernels *kernels = t->kernels;
    const modal_panel_task whole = whole_panel(t, panel, y);
    const int64_t size = (int64_t)panel->n_columns * (panel->n_rows - panel->n_columns);
    modal_row *x = y + panel->first;
    if (size >= PARALLEL_VALUES) {
        memset(t->parts, 0, GATHER_PARTS * PANEL_COLUMNS * sizeof *t->parts);
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(t->n_threads))
        for (int64_t part = 0; part < GATHER_PARTS; part++) {
            modal_panel_task task = whole;
            task.from = whole.to * part / GATHER_PARTS;
            task.to = whole.to * (part + 1) / GATHER_PARTS;
            task.outside = t->parts + part * PANEL_COLUMNS;
            kernels->gather_below(&task);
        }
        for (int64_t part = 0; part < GATHER_PARTS; part++)
            for (int64_t k = 0; k < panel->n_columns; k++)
                x[k] += t->parts[part * PANEL_COLUMNS + k];
    } else {
        modal_panel_task task = whole;
        task.outside = x;
        kernels->gather_below(&task);
    }
    kernels->solve_diagonal_transposed(panel, values_of(t, panel), x);
}

static void backward_subtree(const modal_triangle *t, int64_t k, modal_row *y)
{
    const modal_value_kernels *kernels = t->kernels;
    for (int64_t p = t->subtrees[k].to; p >= t->subtrees[k].from; p--) {
        const modal_panel *panel = &t->panels[p];
        modal_panel_task task = whole_panel(t, panel, y);
        task.outside = y + panel->first;
        kernels->gather_below(&task);
        kernels->solve_diagonal_transposed(panel, values_of(t, panel), y + panel->first);
    }
}

void modal_triangle_forward(modal_triangle *t, modal_row *y)
{
    /* a parallel region takes a microsecond even with one thread */
    const int parallel = t->n_subtrees > 1 && t->n_threads > 1;
    if (!parallel) {
        for (int64_t k = 0; k < t->n_subtrees; k++) forward_subtree(t, k, t->maps, y);
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(t->n_threads))
        for (int64_t k = 0; k < t->n_subtrees; k++)
            forward_subtree(t, k, t->maps + omp_get_thread_num() * t->supernodes->n, y);
    }
    for (int64_t k = 0; k < t->n_subtrees; k++) {
        const modal_panel *root = &t->panels[t->subtrees[k].to];
        const int64_t *rows = t->supernodes->rows + root->rows_at + root->n_columns;
        const modal_row *outside = t->outside + t->outside_at[k];
        for (int64_t i = 0; i < root->n_rows - root->n_columns; i++) y[rows[i]] += outside[i];
    }
    for (int64_t k = 0; k < t->n_top; k++) forward_top(t, &t->panels[t->top[k]], y);
}

void modal_triangle_backward(modal_triangle *t, modal_row *y)
{
    const int parallel = t->n_subtrees > 1 && t->n_threads > 1;
    for (int64_t k = t->n_top - 1; k >= 0; k--) backward_top(t, &t->panels[t->top[k]], y);
    if (!parallel) {
        for (int64_t k = 0; k < t->n_subtrees; k++) backward_subtree(t, k, y);
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(t->n_threads))
        for (int64_t k = 0; k < t->n_subtrees; k++) backward_subtree(t, k, y);
    }
}

void modal_triangle_solve(modal_triangle *t, modal_row *y)
{
    modal_triangle_forward(t, y);
    modal_triangle_backward(t, y);
}
