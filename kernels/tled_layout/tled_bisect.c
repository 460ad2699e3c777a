/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_bisect.h"

enum { TASK = 100000 }; /* smaller parts are not worth a task */

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

static void bisect(modal_tled_centre *c, int64_t start, int64_t n, int32_t n_parts, int64_t *ends)
{
    if (n_parts == 1) {
        ends[0] = start + n;
        return;
    }
    float low[3], high[3];
    int axis = 0;
    for (int k = 0; k < 3; k++) low[k] = high[k] = n > 0 ? c[start].at[k] : 0;
    for (int64_t i = start; i < start + n; i++)
        for (int k = 0; k < 3; k++) {
            if (c[i].at[k] < low[k]) low[k] = c[i].at[k];
            if (c[i].at[k] > high[k]) high[k] = c[i].at[k];
        }
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    const int32_t left = n_parts / 2;
    const int64_t middle = (int64_t)((__int128)n * left / n_parts);
    if (middle > 0 && middle < n) divide(c + start, n, middle, axis);
#pragma omp task if (n > TASK)
    bisect(c, start, middle, left, ends);
    bisect(c, start + middle, n - middle, n_parts - left, ends + left);
#pragma omp taskwait
}

void modal_tled_bisect(modal_tled_centre *centres, int64_t n, int32_t n_parts, int64_t *ends)
{
#pragma omp parallel if (n > TASK)
#pragma omp single
    bisect(centres, 0, n, n_parts, ends);
}
