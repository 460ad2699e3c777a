/* SPDX-License-Identifier: Apache-2.0 */
/* The step in main memory, a lane an object: all levels from the roots to the leaves, then back, until
 * every tree has converged. Included with
 *   RS_NAME      the function
 *   RS_THREADS   1: OpenMP over groups of trees, which need nothing of each other and stay in a core's
 *                cache; where there are few trees, over the objects of a level. An object is worked on by
 *                one thread and gathers its children in order, so their number changes nothing.
 *   RS_VECTORS   1: sums and forces by vectors of 8 doubles, which the compiler cuts to the registers it has;
 *                RS_FORCE_NAME is then the function of the forces and K(q) alone
 *   RS_LEAVES    where it is defined: the functions for packs of leaves (reduced_step_leaves.h)
 * No include guard: this is a template. */
#include <omp.h>

#include "kernels/reduced_step/reduced_step_leaves.h"
#include "lib/base/memory.h"

#define RS_FN static inline
#define RS_LANE 0
#define RS_LANES 1
#define RS_WIDE 1
#define RS_SYNC() ((void)0)
#define RS_TWO_SUMS two_sums

#define RS_SUM(rows, n, table, m, out) sums(rows, n, table, m, out)

#if RS_VECTORS
#include "kernels/reduced_step/body_force.h"
#define RS_FORCE reduced_force
#define RS_LARGE reduced_large
#define RS_LARGE_MEMORY force_work_size

/* `width` vectors of columns; a constant, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void sums_block(int32_t rows, int32_t n, const double *table,
                                                             const double *m, double *out, int width)
{
    vector x[8] = {{0}};
    for (int32_t i = 0; i < rows; i++) {
        const vector *row = (const vector *)(table + (int64_t)i * n);
#pragma GCC unroll 8
        for (int c = 0; c < width; c++) x[c] += row[c] * m[i];
    }
#pragma GCC unroll 8
    for (int c = 0; c < width; c++) ((vector *)out)[c] = x[c];
}

static void sums(int32_t rows, int32_t n, const double *table, const double *m, double *out)
{
    int32_t c = 0;
    for (; c + 64 <= n; c += 64) sums_block(rows, n, table + c, m, out + c, 8);
    for (; c + 32 <= n; c += 32) sums_block(rows, n, table + c, m, out + c, 4);
    for (; c + 16 <= n; c += 16) sums_block(rows, n, table + c, m, out + c, 2);
    for (; c < n; c += 8) sums_block(rows, n, table + c, m, out + c, 1);
}
#else
#include "kernels/reduced_step/body_force_plain.h"
static void sums(int32_t rows, int32_t n, const double *table, const double *m, double *out)
{
    for (int32_t c = 0; c < n; c++) {
        out[c] = 0;
        for (int32_t i = 0; i < rows; i++) out[c] += m[i] * table[(int64_t)i * n + c];
    }
}
#endif

static inline void two_sums(int32_t rows, int32_t n, const double *table, const double *m1, const double *m2,
                            double *out1, double *out2)
{
    sums(rows, n, table, m1, out1);
    sums(rows, n, table, m2, out2);
}

#include "kernels/reduced_step/reduced_step_body.h"

#define RS_PRAGMA(x) _Pragma(#x)
#if RS_THREADS
#define RS_FOR(i, begin, end) RS_PRAGMA(omp for schedule(dynamic, 16)) for (int32_t i = (begin); i < (end); i++)
#else
#define RS_FOR(i, begin, end) for (int32_t i = (begin); i < (end); i++)
#endif

/* What is worked on at once, by one thread: an object, or a pack of leaves, whatever the number of threads. */
typedef struct unit {
    int32_t first, count; /* objects */
    int64_t memory;       /* of a pack, in that of its group of trees */
} unit;

/* A step's units, level by level, and the groups of trees: of many trees each is one thread's work, its packs in the
 * thread's memory; otherwise all trees are one group, and the threads share the units of a level. */
typedef struct division {
    unit *units;
    int32_t *levels;         /* [n_levels + 1] first unit */
    int32_t group, n_groups; /* trees in one */
    int64_t *used;           /* [n_groups] doubles of its packs */
    int64_t size;            /* the most of them */
} division;

static void divide(const modal_step_task *t, division *d)
{
    int32_t count = 0;
    d->size = 0;
    for (int32_t g = 0; g < d->n_groups; g++) d->used[g] = 0;
    for (int32_t level = 0; level < t->n_levels; level++) {
        d->levels[level] = count;
        for (int32_t i = t->h_levels[level]; i < t->h_levels[level + 1]; i += d->units[count++].count) {
            d->units[count] = (unit){.first = i, .count = 1};
#ifdef RS_LEAVES
            const modal_step_object *o = &t->objects[i];
            unit *u = &d->units[count];
            if (!modal_step_packable(o)) continue;
            while (u->count < RS_LEAVES.width && i + u->count < t->h_levels[level + 1] &&
                   modal_step_alike(t, o, o + u->count))
                u->count++;
            if (u->count == 1) continue;
            int64_t *used = &d->used[o->tree / d->group];
            u->memory = *used;
            *used += RS_LEAVES.size(o->n_modes, o->parent_modes);
            if (*used > d->size) d->size = *used;
#endif
        }
    }
    d->levels[t->n_levels] = count;
}

/* The first unit of the level whose tree is `tree` or a later one: trees ascend within a level. */
static int32_t first_of(const modal_step_task *t, const division *d, int32_t level, int32_t tree)
{
    int32_t low = d->levels[level], high = d->levels[level + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (t->objects[d->units[middle].first].tree < tree)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int any_running(const modal_step_task *t, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++)
        if (t->status[i] == MODAL_STEP_RUNNING || t->status[i] == MODAL_STEP_FROZEN) return 1;
    return 0;
}

static void begin(const modal_step_task *t, const unit *u, double *packs, double *scratch)
{
    for (int32_t i = u->first; i < u->first + u->count; i++) rs_predict(t, i, scratch);
#ifdef RS_LEAVES
    if (u->count > 1) RS_LEAVES.begin(t, u->first, u->count, packs + u->memory);
#endif
    (void)packs;
}

/* The way down, and the residual there; an object that bears none is finished at once. */
static void go_down(const modal_step_task *t, const unit *u, int first_time, double *packs, double *scratch)
{
#ifdef RS_LEAVES
    if (u->count > 1) {
        RS_LEAVES.iterate(t, u->first, u->count, first_time, packs + u->memory, scratch);
        return;
    }
#endif
    (void)packs;
    const rs_work w = rs_work_of(t, u->first);
    rs_descend(t, &w, first_time, scratch);
    rs_evaluate(t, &w, scratch);
    if (w.object->n_children == 0) rs_eliminate(t, &w, scratch);
}
static void go_up(const modal_step_task *t, const unit *u, double *scratch)
{
    if (t->objects[u->first].n_children == 0) return;
    const rs_work w = rs_work_of(t, u->first);
    rs_eliminate(t, &w, scratch);
}

/* What has converged is taken over. */
static void finish(const modal_step_task *t, const unit *u, double *packs, double *scratch)
{
#ifdef RS_LEAVES
    if (u->count > 1) RS_LEAVES.end(t, u->first, u->count, packs + u->memory);
#endif
    (void)packs;
    for (int32_t i = u->first; i < u->first + u->count; i++) rs_accept(t, i, scratch);
}

/* A group, by one thread. Returns the corrections made. */
static int32_t solve_group(const modal_step_task *t, const division *d, int32_t g, double *packs, double *scratch)
{
    enum { LEVELS = 64 };
    const int32_t first = g * d->group, end = first + d->group < t->n_trees ? first + d->group : t->n_trees;
    int32_t begins[LEVELS], ends[LEVELS];
    for (int32_t level = 0; level < t->n_levels; level++) {
        begins[level] = first_of(t, d, level, first);
        ends[level] = first_of(t, d, level, end);
        for (int32_t i = begins[level]; i < ends[level]; i++) begin(t, &d->units[i], packs, scratch);
    }
    for (int32_t iteration = 0;; iteration++) {
        for (int32_t level = 0; level < t->n_levels; level++)
            for (int32_t i = begins[level]; i < ends[level]; i++)
                go_down(t, &d->units[i], iteration == 0, packs, scratch);
        for (int32_t level = t->n_levels; level-- > 0;)
            for (int32_t i = begins[level]; i < ends[level]; i++) go_up(t, &d->units[i], scratch);
        if (any_running(t, first, end) && iteration < t->most_iterations) continue;
        for (int32_t level = 0; level < t->n_levels; level++)
            for (int32_t i = begins[level]; i < ends[level]; i++) finish(t, &d->units[i], packs, scratch);
        return iteration;
    }
}

/* The only group, by all threads together. */
static int32_t solve_levels(const modal_step_task *t, const division *d, double *packs, double *scratch)
{
    const int32_t n = d->levels[t->n_levels];
    RS_FOR(i, 0, n) begin(t, &d->units[i], packs, scratch);
    for (int32_t iteration = 0;; iteration++) {
        for (int32_t level = 0; level < t->n_levels; level++)
            RS_FOR(i, d->levels[level], d->levels[level + 1])
        {
            go_down(t, &d->units[i], iteration == 0, packs, scratch);
        }
        for (int32_t level = t->n_levels; level-- > 0;)
            RS_FOR(i, d->levels[level], d->levels[level + 1])
        {
            go_up(t, &d->units[i], scratch);
        }
        if (any_running(t, 0, t->n_trees) && iteration < t->most_iterations) continue;
        RS_FOR(i, 0, n) finish(t, &d->units[i], packs, scratch);
        return iteration;
    }
}

/* Threads over objects, where they are many, or fewer and large; a few large ones share them inside an evaluation. */
static int worth_threads(const modal_step_task *t)
{
    const double r = t->most_modes;
    return t->n_objects >= 256 || (t->n_objects >= 64 && t->n_objects * r * r * r >= 256 * 512);
}

modal_status RS_NAME(const modal_step_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    double *scratch = NULL, *packs = NULL;
    division d = {.group = t->n_trees, .n_groups = 1};
    int32_t iterations = 0;
    int64_t size = modal_step_padded(modal_step_scratch_size(t));
    if (t->most_modes > MODAL_STEP_TABLE_MODES) size += RS_LARGE_MEMORY(t->most_modes);
    const int threads = RS_THREADS && worth_threads(t) ? omp_get_max_threads() : 1;
    const int32_t group = t->n_trees / (16 * threads) + 1, n_groups = (t->n_trees + group - 1) / group;
    const int by_groups = t->n_levels <= 64 && (threads == 1 || n_groups >= 4 * threads);
    if (t->phase == MODAL_STEP_SOLVE) {
        if (by_groups) {
            d.group = group;
            d.n_groups = n_groups;
        }
        MODAL_TRY(modal_alloc(&d.units, t->n_objects, sizeof *d.units, "units of a step", err));
        MODAL_TRY(modal_alloc(&d.levels, t->n_levels + 1, sizeof *d.levels, "units of a step", err));
        MODAL_TRY(modal_alloc(&d.used, d.n_groups, sizeof *d.used, "units of a step", err));
        divide(t, &d);
        MODAL_TRY(modal_alloc(&packs, d.size * (by_groups ? threads : 1), sizeof *packs, "packs of leaves", err));
#ifdef RS_LEAVES
        if (d.size > 0 && RS_LEAVES.scratch_size(t) > size) size = RS_LEAVES.scratch_size(t);
#endif
        for (int32_t i = 0; i < t->n_trees; i++)
            t->status[i] = t->active[i] ? MODAL_STEP_RUNNING : MODAL_STEP_IDLE;
    }
    MODAL_TRY(modal_alloc(&scratch, size * threads, sizeof *scratch, "scratch of a step", err));
#if RS_THREADS
#pragma omp parallel num_threads(threads)
#endif
    {
        const int thread = threads > 1 ? omp_get_thread_num() : 0;
        double *own = scratch + size * thread;
        if (t->phase == MODAL_STEP_MEASURE) {
            RS_FOR(i, 0, t->n_objects) rs_measure(t, i, own);
        } else if (by_groups) {
#if RS_THREADS
#pragma omp for schedule(dynamic, 1) reduction(max : iterations)
#endif
            for (int32_t g = 0; g < d.n_groups; g++) {
                const int32_t made = solve_group(t, &d, g, packs + d.size * thread, own);
                if (made > iterations) iterations = made;
            }
        } else {
            const int32_t made = solve_levels(t, &d, packs, own);
            if (thread == 0) iterations = made;
        }
    }
    if (t->phase == MODAL_STEP_SOLVE) {
        t->h_status[t->n_trees + MODAL_STEP_ITERATIONS] = iterations;
        for (int32_t i = 0; i < t->n_trees; i++) {
            if (t->status[i] == MODAL_STEP_FROZEN) t->status[i] = MODAL_STEP_RUNNING;
            t->h_status[i] = t->status[i];
        }
    }
done:
    modal_free(&packs);
    modal_free(&scratch);
    modal_free(&d.units);
    modal_free(&d.levels);
    modal_free(&d.used);
    return status;
}

#ifdef RS_FORCE_NAME
void RS_FORCE_NAME(int32_t r, const double *stiffness, const double *table, const double *q, double *memory, double *force,
                   double *tangent)
{
    if (r > MODAL_STEP_TABLE_MODES) {
        reduced_large(r, table, q, memory, force, tangent);
        return;
    }
    const double *const tables = table < stiffness ? table : stiffness;
    const int32_t rows = (int32_t)modal_step_stiffness_rows(r, 1);
    const modal_step_task task = {.tables = tables, .most_modes = r, .most_rows = rows};
    const modal_step_shape shape = {.n_modes = r, .cubic = 1, .stiffness = stiffness - tables, .energy = table - tables};
    const rs_scratch s = {.m1 = memory, .m2 = memory + modal_step_scratch_rows(r, rows)};
    rs_stiffness(&task, &shape, q, &s, tangent, force);
}
#endif
