/* SPDX-License-Identifier: Apache-2.0 */
/* The step in main memory, a lane an object: all levels from the roots to the leaves, then back, until
 * every tree has converged. Included with
 *   RS_NAME      the function
 *   RS_THREADS   1: OpenMP over groups of trees, which need nothing of each other and stay in a core's
 *                cache; where there are few trees, over the objects of a level. An object is worked on by
 *                one thread and gathers its children in order, so their number changes nothing.
 *   RS_VECTORS   1: sums and forces by vectors of 8 doubles, which the compiler cuts to the registers it has;
 *                RS_FORCE_NAME is then the function of the forces alone
 * No include guard: this is a template. */
#include <omp.h>

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
#define RS_FOR_OBJECTS(i, begin, end) \
    RS_PRAGMA(omp for schedule(dynamic, 16)) for (int32_t i = (begin); i < (end); i++)
#else
#define RS_FOR_OBJECTS(i, begin, end) for (int32_t i = (begin); i < (end); i++)
#endif

static int any_running(const modal_step_task *t, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++)
        if (t->status[i] == MODAL_STEP_RUNNING || t->status[i] == MODAL_STEP_FROZEN) return 1;
    return 0;
}

/* The way down, and the residual there; an object that bears none is finished at once. */
static inline void go_down(const modal_step_task *t, int32_t i, int first, double *scratch)
{
    const rs_work w = rs_work_of(t, i);
    rs_descend(t, &w, first, scratch);
    rs_evaluate(t, &w, scratch);
    if (t->objects[i].n_children == 0) rs_eliminate(t, &w, scratch);
}
static inline void go_up(const modal_step_task *t, int32_t i, double *scratch)
{
    const rs_work w = rs_work_of(t, i);
    if (w.object->n_children > 0) rs_eliminate(t, &w, scratch);
}

/* The first object of the level whose tree is `tree` or a later one: trees ascend within a level. */
static int32_t first_of(const modal_step_task *t, int32_t level, int32_t tree)
{
    int32_t low = t->h_levels[level], high = t->h_levels[level + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (t->objects[middle].tree < tree)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Trees [first, end), by one thread, and their states taken over. Returns the corrections made. */
static int32_t solve_trees(modal_step_task *t, int32_t first, int32_t end, double *scratch)
{
    enum { LEVELS = 64 };
    int32_t begins[LEVELS], ends[LEVELS];
    for (int32_t level = 0; level < t->n_levels; level++) {
        begins[level] = first_of(t, level, first);
        ends[level] = first_of(t, level, end);
        for (int32_t i = begins[level]; i < ends[level]; i++) {
            rs_predict(t, i, scratch);
        }
    }
    for (int32_t iteration = 0;; iteration++) {
        for (int32_t level = 0; level < t->n_levels; level++)
            for (int32_t i = begins[level]; i < ends[level]; i++) go_down(t, i, iteration == 0, scratch);
        for (int32_t level = t->n_levels; level-- > 0;)
            for (int32_t i = begins[level]; i < ends[level]; i++) go_up(t, i, scratch);
        if (any_running(t, first, end) && iteration < t->most_iterations) continue;
        for (int32_t level = 0; level < t->n_levels; level++)
            for (int32_t i = begins[level]; i < ends[level]; i++) rs_accept(t, i, scratch);
        return iteration;
    }
}

/* All trees, by all threads together, without taking over. */
static int32_t solve_levels(modal_step_task *t, double *scratch)
{
    RS_FOR_OBJECTS(i, 0, t->n_objects) { rs_predict(t, i, scratch); }
    for (int32_t iteration = 0;; iteration++) {
        for (int32_t level = 0; level < t->n_levels; level++)
            RS_FOR_OBJECTS(i, t->h_levels[level], t->h_levels[level + 1])
        {
            go_down(t, i, iteration == 0, scratch);
        }
        for (int32_t level = t->n_levels; level-- > 0;)
            RS_FOR_OBJECTS(i, t->h_levels[level], t->h_levels[level + 1])
        {
            go_up(t, i, scratch);
        }
        if (!any_running(t, 0, t->n_trees) || iteration == t->most_iterations) return iteration;
    }
}

modal_status RS_NAME(modal_step_task *t, modal_step_phase phase, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    double *scratch = NULL;
    int32_t iterations = 0;
    const int64_t size = modal_step_padded(modal_step_scratch_size(t));
    const int threads = RS_THREADS && t->n_objects >= 256 ? omp_get_max_threads() : 1;
    const int32_t group = t->n_trees / (16 * threads) + 1, n_groups = (t->n_trees + group - 1) / group;
    const int by_trees = t->n_levels <= 64 && (threads == 1 || n_groups >= 4 * threads);
    MODAL_TRY(modal_alloc(&scratch, size * threads, sizeof *scratch, "scratch of a step", err));
    if (phase == MODAL_STEP_SOLVE)
        for (int32_t i = 0; i < t->n_trees; i++)
            t->status[i] = t->active[i] ? MODAL_STEP_RUNNING : MODAL_STEP_IDLE;
#if RS_THREADS
#pragma omp parallel num_threads(threads)
#endif
    {
        double *own = scratch + size * (threads > 1 ? omp_get_thread_num() : 0);
        if (phase == MODAL_STEP_SOLVE && by_trees) {
#if RS_THREADS
#pragma omp for schedule(dynamic, 1) reduction(max : iterations)
#endif
            for (int32_t g = 0; g < n_groups; g++) {
                const int32_t end = (g + 1) * group < t->n_trees ? (g + 1) * group : t->n_trees;
                const int32_t made = solve_trees(t, g * group, end, own);
                if (made > iterations) iterations = made;
            }
        } else if (phase == MODAL_STEP_SOLVE) {
            const int32_t made = solve_levels(t, own);
            if (threads == 1 || omp_get_thread_num() == 0) iterations = made;
        } else {
            RS_FOR_OBJECTS(i, 0, t->n_objects) { rs_measure(t, i, own); }
        }
        if (phase == MODAL_STEP_SOLVE && !by_trees)
            RS_FOR_OBJECTS(i, 0, t->n_objects) { rs_accept(t, i, own); }
    }
    if (phase == MODAL_STEP_SOLVE) {
        t->iterations = iterations;
        for (int32_t i = 0; i < t->n_trees; i++) {
            if (t->status[i] == MODAL_STEP_FROZEN) t->status[i] = MODAL_STEP_RUNNING;
            t->h_status[i] = t->status[i];
        }
    }
done:
    modal_free(&scratch);
    return status;
}

#ifdef RS_FORCE_NAME
void RS_FORCE_NAME(int32_t r, const double *table, const double *q, double *scratch, double *force)
{
    reduced_force(r, table, q, scratch, force);
}
#endif
