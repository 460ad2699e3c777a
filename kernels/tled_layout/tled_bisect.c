/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_bisect.h"

#include <math.h>

enum { TASK = 100000 };   /* smaller parts are not worth a task */
enum { BUCKETS = 1024 };
static const double NEAR = 0.1;   /* of the elements, on both sides of the middle */
static const double LAYER = 0.2;  /* of an element's size */

static int before(const modal_tled_centre *a, const modal_tled_centre *b, int axis)
{
    if (a->at[axis] != b->at[axis]) return a->at[axis] < b->at[axis];
    return a->element < b->element;
}

static void swap(modal_tled_centre *a, modal_tled_centre *b)
{
    const modal_tled_centre c = *a;
    *a = *b;
    *b = c;
}

/* Hoare's selection, with the median of three: the `middle` first of [0, n) come first. */
static void divide(modal_tled_centre *c, int64_t n, int64_t middle, int axis)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t half = low + (high - low) / 2;
        if (before(&c[half], &c[low], axis)) swap(&c[half], &c[low]);
        if (before(&c[high], &c[low], axis)) swap(&c[high], &c[low]);
        if (before(&c[high], &c[half], axis)) swap(&c[high], &c[half]);
        const modal_tled_centre pivot = c[half];
        int64_t i = low, k = high;
        while (i <= k) {
            while (before(&c[i], &pivot, axis)) i++;
            while (before(&pivot, &c[k], axis)) k--;
            if (i <= k) swap(&c[i++], &c[k--]);
        }
        if (middle <= k) high = k;
        else if (middle >= i) low = i;
        else return;
    }
}

/* How many of the n lie below the widest gap between two neighbours near the `middle`-th of them, along an axis on which they
 * extend from low to high; `middle` where no gap is as wide as a layer of elements. The order is not kept. */
static int64_t layer_near(modal_tled_centre *c, int64_t n, int64_t middle, int axis, float low, float high)
{
    const int64_t reach = (int64_t)(NEAR * (double)n), first = middle - reach, last = middle + reach;
    float least[BUCKETS], most[BUCKETS];
    int64_t count[BUCKETS];
    if (first < 1 || last > n - 1) return middle;
    divide(c, n, first, axis);
    divide(c + first, n - first, last - first, axis);
    /* the window: [first - 1, last], with the largest below it and the least above it */
    float from = c[0].at[axis], to = high;
    for (int64_t i = 1; i < first; i++)
        if (c[i].at[axis] > from) from = c[i].at[axis];
    for (int64_t i = last; i < n; i++)
        if (c[i].at[axis] < to) to = c[i].at[axis];
    const double layer = LAYER * ((double)high - low) / cbrt((double)n), width = ((double)to - from) / (BUCKETS - 2);
    if (!(width < layer)) return middle;
    for (int k = 0; k < BUCKETS; k++) count[k] = 0;
    for (int64_t i = first; i < last; i++) {
        const float at = c[i].at[axis];
        const int k = width > 0 ? 1 + (int)((at - from) / width) : 1;
        const int bucket = k < BUCKETS - 1 ? k : BUCKETS - 1;
        if (count[bucket] == 0 || at < least[bucket]) least[bucket] = at;
        if (count[bucket] == 0 || at > most[bucket]) most[bucket] = at;
        count[bucket]++;
    }
    int64_t below = first, best = middle;
    double most_worth = 0;
    float end = from;
    for (int k = 0; k <= BUCKETS; k++) {
        if (k < BUCKETS && count[k] == 0) continue;
        const double gap = (double)(k < BUCKETS ? least[k] : to) - end, off = (double)(below > middle ? below - middle : middle - below);
        const double worth = gap * (1 - off / (2.0 * (double)reach + 1));
        if (gap >= layer && worth > most_worth) most_worth = worth, best = below;
        if (k < BUCKETS) below += count[k], end = most[k];
    }
    return best;
}

static int longest_axis(const modal_tled_centre *c, int64_t n, float *least, float *most)
{
    float low[3], high[3];
    int axis = 0;
    for (int k = 0; k < 3; k++) low[k] = high[k] = n > 0 ? c[0].at[k] : 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            if (c[i].at[k] < low[k]) low[k] = c[i].at[k];
            if (c[i].at[k] > high[k]) high[k] = c[i].at[k];
        }
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    *least = low[axis], *most = high[axis];
    return axis;
}

static void bisect(modal_tled_centre *c, int64_t start, int64_t n, int32_t n_parts, int64_t *ends, int layers)
{
    if (n_parts == 1) {
        ends[0] = start + n;
        return;
    }
    float low, high;
    const int axis = longest_axis(c + start, n, &low, &high);
    int32_t left = n_parts / 2;
    int64_t middle = (int64_t)((__int128)n * left / n_parts);
    if (layers && middle > 0 && middle < n) {
        middle = layer_near(c + start, n, middle, axis, low, high);
        left = (int32_t)((double)n_parts * (double)middle / (double)n + 0.5);
        left = left < 1 ? 1 : left > n_parts - 1 ? n_parts - 1 : left;
    }
    if (middle > 0 && middle < n) divide(c + start, n, middle, axis);
#pragma omp task if (n > TASK)
    bisect(c, start, middle, left, ends, layers);
    bisect(c, start + middle, n - middle, n_parts - left, ends + left, layers);
#pragma omp taskwait
}

void modal_tled_bisect(modal_tled_centre *centres, int64_t n, int32_t n_parts, int layers, int64_t *ends)
{
#pragma omp parallel if (n > TASK)
#pragma omp single
    bisect(centres, 0, n, n_parts, ends, layers);
}

void modal_tled_bisect_order(modal_tled_centre *centres, int32_t n, int32_t unit)
{
    float low, high;
    if (n <= unit) return;
    const int32_t half = (n / 2 + unit / 2) / unit * unit, middle = half < unit ? unit : half;
    divide(centres, n, middle, longest_axis(centres, n, &low, &high));
    modal_tled_bisect_order(centres, middle, unit);
    modal_tled_bisect_order(centres + middle, n - middle, unit);
}
