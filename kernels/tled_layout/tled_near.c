/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_near.h"

#include <stdlib.h>

#include "lib/base/memory.h"

/* The patches near patch i into `list`, where that is not NULL, in the order in which they are met. last [n_patches]: the last patch that each one was
 * met from. How many. */
static int32_t meet(const modal_tled_patches *p, int32_t i, const int32_t *patch_of, int32_t *last, int32_t *list)
{
    int32_t n = 0;
    for (int64_t k = p->patches[i].first_place; k < p->patches[i].first_place + p->patches[i].n_places; k++) {
        const modal_tled_place *place = &p->places[k];
        const int32_t n_sums = (int32_t)(place->counts & 0xffff);
        for (int32_t j = 0; j < n_sums; j++) {
            const int32_t other = patch_of[place->first_sum + j];
            if (last[other] == i) continue;
            last[other] = i;
            if (list) list[n] = other;
            n++;
        }
    }
    return n;
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

modal_status modal_tled_near_make(modal_tled_near *near, const modal_tled_patches *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_near r = {0};
    int32_t *patch_of = NULL, *last = NULL; /* of partial sums; of patches */
    *near = r;
    MODAL_TRY(modal_alloc(&patch_of, p->n_places, sizeof *patch_of, "neighbours of patches", err));
    MODAL_TRY(modal_alloc(&last, p->n_patches, sizeof *last, "neighbours of patches", err));
    for (int32_t i = 0; i < p->n_patches; i++) {
        last[i] = -1;
        for (int32_t k = 0; k < p->patches[i].n_places; k++) patch_of[p->places[p->patches[i].first_place + k].own_sum] = i;
    }
    for (int32_t i = 0; i < p->n_patches; i++) {
        const int32_t n = meet(p, i, patch_of, last, NULL);
        if (n > r.most) r.most = n;
    }
    MODAL_TRY(modal_alloc(&r.lists, (int64_t)p->n_patches * r.most, sizeof *r.lists, "neighbours of patches", err));
    for (int32_t i = 0; i < p->n_patches; i++) last[i] = -1;
    for (int32_t i = 0; i < p->n_patches; i++) {
        int32_t *list = r.lists + (int64_t)i * r.most, n = meet(p, i, patch_of, last, list);
        qsort(list, (size_t)n, sizeof *list, by_number);
        while (n < r.most) list[n++] = -1;
    }
    *near = r;
    r = (modal_tled_near){0};
done:
    modal_free(&patch_of), modal_free(&last);
    modal_tled_near_free(&r);
    return status;
}

void modal_tled_near_free(modal_tled_near *near)
{
    modal_free(&near->lists);
    *near = (modal_tled_near){0};
}
