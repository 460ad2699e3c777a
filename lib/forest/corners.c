/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/corners.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_corners_add(modal_corners *c, double time, int32_t object, modal_corner_kind kind, modal_error *err)
{
    modal_status status = modal_grow(&c->all, &c->capacity, c->n + 1, sizeof *c->all, "corners of loads", err);
    if (status == MODAL_OK) c->all[c->n++] = (modal_corner){time, object, kind};
    return status;
}

static int by_time(const void *a, const void *b)
{
    const modal_corner *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

modal_status modal_corners_sort(modal_corners *c, const modal_forest *forest, modal_error *err)
{
    if (c->n > 1) qsort(c->all, (size_t)c->n, sizeof *c->all, by_time);
    c->n_trees = modal_forest_trees(forest);
    return modal_alloc_zero(&c->trees, 3 * (int64_t)c->n_trees, 1, "corners of loads", err);
}

void modal_corners_free(modal_corners *c)
{
    modal_free(&c->all);
    modal_free(&c->trees);
    memset(c, 0, sizeof *c);
}

/* How far from the end of a step a corner is taken to be there: the error of a kink is of the size of its way off
 * squared, and curves are often written with few digits. */
static double reach(modal_corner_kind kind, double time, double h)
{
    return kind == MODAL_CORNER_KINK ? 0.01 * h : 1e-12 * h + 4 * DBL_EPSILON * fabs(time);
}

double modal_corners_near(const modal_corners *c, double time, double h)
{
    for (int64_t i = 0; i < c->n; i++)
        if (c->all[i].time > time + reach(MODAL_CORNER_JUMP, time, h)) return time + 0.5 * fmin(h, c->all[i].time - time);
    return time + 0.5 * h;
}

/* Sets the trees of a corner; returns whether there are any. */
static int mark(const modal_corners *c, const modal_forest *forest, const modal_corner *corner, uint8_t *trees)
{
    if (corner->object < 0) {
        memset(trees, 1, (size_t)c->n_trees);
        return 1;
    }
    const int32_t tree = modal_forest_tree_of(forest, corner->object);
    if (tree >= 0) trees[tree] = 1;
    return tree >= 0;
}

/* Corners [first, end), of which some are at `time`, up to the next stop. */
typedef struct stop {
    int64_t first, end;
    double time, until;
} stop;

/* Accelerations of the trees that jump at a stop, for the loads after it. */
static modal_status settle(modal_corners *c, modal_forest *forest, const modal_forest_loads *loads, modal_step_rule rule,
                           const stop *at, const uint8_t *trees, modal_error *err)
{
    uint8_t *jumping = c->trees + 2 * (int64_t)c->n_trees;
    int any = 0;
    if (rule == MODAL_STEP_ENERGY) return MODAL_OK; /* it does not go on from an acceleration */
    memset(jumping, 0, (size_t)c->n_trees);
    for (int64_t i = at->first; i < at->end; i++)
        if (c->all[i].kind == MODAL_CORNER_JUMP &&
            fabs(c->all[i].time - at->time) <= reach(MODAL_CORNER_JUMP, at->time, at->until - at->time))
            any |= mark(c, forest, &c->all[i], jumping);
    for (int32_t i = 0; i < c->n_trees && any; i++) jumping[i] &= trees[i];
    return any ? modal_forest_settle(forest, loads, at->time, 0.5 * (at->time + at->until), jumping, err) : MODAL_OK;
}

modal_status modal_corners_step(modal_corners *c, modal_forest *forest, const modal_forest_loads *loads,
                                modal_step_rule rule, double time, double h, const uint8_t *trees, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double end = time + h, least = reach(MODAL_CORNER_JUMP, time, h);
    uint8_t *bent = c->trees, *straight = bent + c->n_trees;
    int32_t n_straight = 0;
    int any = 0;
    while (c->next < c->n && c->all[c->next].time < time - least) c->next++;
    int64_t last = c->next; /* corners [next, last) are at the start or inside */
    double first = end;
    for (; last < c->n && c->all[last].time < end; last++) {
        const modal_corner *corner = &c->all[last];
        const double off = reach(corner->kind, time, h);
        if (!(corner->time > time + off && corner->time < end - off)) continue;
        if (!any) memset(bent, 0, (size_t)c->n_trees);
        any |= mark(c, forest, corner, bent);
        first = fmin(first, corner->time);
    }
    MODAL_TRY(settle(c, forest, loads, rule, &(stop){c->next, last, time, first}, trees, err));
    if (!any) {
        status = modal_forest_step(forest, loads, rule, time, h, trees, err);
        goto done;
    }
    for (int32_t i = 0; i < c->n_trees; i++) {
        n_straight += straight[i] = trees[i] && !bent[i];
        bent[i] &= trees[i];
    }
    if (n_straight > 0) MODAL_TRY(modal_forest_step(forest, loads, rule, time, h, straight, err));
    double from = time;
    for (int64_t i = c->next; i < last; i++) {
        const modal_corner *corner = &c->all[i];
        const double off = reach(corner->kind, time, h);
        if (!(corner->time > fmax(time + off, from + least) && corner->time < end - off)) continue;
        /* the sides of an impulse's triangle: the trapezoidal rule has their areas, and no lag goes on from them */
        const int side = rule == MODAL_STEP_ALPHA && corner->kind == MODAL_CORNER_SHARP && corner->time - from < 1e-3 * h;
        MODAL_TRY(modal_forest_step(forest, loads, side ? MODAL_STEP_NEWMARK : rule, from, corner->time - from, bent, err));
        from = corner->time;
        double until = end; /* the next stop */
        for (int64_t j = i + 1; j < last && until == end; j++)
            if (c->all[j].time > from + least) until = c->all[j].time;
        MODAL_TRY(settle(c, forest, loads, rule, &(stop){i, last, from, until}, trees, err));
    }
    MODAL_TRY(modal_forest_step(forest, loads, rule, from, end - from, bent, err));
done:
    return status;
}
