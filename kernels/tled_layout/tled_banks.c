/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_banks.h"

#include <string.h>

#include "lib/base/memory.h"

enum { WAYS = 8, COLUMNS = MODAL_TLED_FAN + 3 };

struct modal_tled_banks {
    int32_t lanes, places;
    uint8_t *count;     /* [reads, WAYS] nodes of a read by way: their place modulo WAYS */
    int32_t *first;     /* [places + 1] in `reads` */
    int32_t *reads;     /* of each node */
    int32_t *start;     /* [classes + 1] places of a class */
    int32_t *left;      /* [classes, WAYS] places of a class that nobody has yet; then the next of them */
    int32_t *members;   /* [places] nodes by class */
    int8_t *way;        /* [places] of a node, or -1 */
};

modal_status modal_tled_banks_new(modal_tled_banks **banks, int32_t lanes, int32_t places, modal_error *err)
{
    static const char what[] = "order of a patch's nodes";
    modal_status status = MODAL_OK;
    modal_tled_banks *b = NULL;
    const int64_t n_reads = ((int64_t)lanes / MODAL_TLED_AT_ONCE + 1) * COLUMNS;
    *banks = NULL;
    MODAL_TRY(modal_alloc_zero(&b, 1, sizeof *b, what, err));
    b->lanes = lanes, b->places = places;
    MODAL_TRY(modal_alloc(&b->count, n_reads * WAYS, sizeof *b->count, what, err));
    MODAL_TRY(modal_alloc(&b->first, places + 2, sizeof *b->first, what, err));
    MODAL_TRY(modal_alloc(&b->reads, (int64_t)lanes * COLUMNS, sizeof *b->reads, what, err));
    MODAL_TRY(modal_alloc(&b->start, places + 2, sizeof *b->start, what, err));
    MODAL_TRY(modal_alloc(&b->left, ((int64_t)places + 1) * WAYS, sizeof *b->left, what, err));
    MODAL_TRY(modal_alloc(&b->members, places, sizeof *b->members, what, err));
    MODAL_TRY(modal_alloc(&b->way, places, sizeof *b->way, what, err));
    *banks = b;
    b = NULL;
done:
    modal_tled_banks_delete(b);
    return status;
}

modal_tled_banks *modal_tled_banks_delete(modal_tled_banks *b)
{
    if (!b) return NULL;
    modal_free(&b->count), modal_free(&b->first), modal_free(&b->reads), modal_free(&b->start);
    modal_free(&b->left), modal_free(&b->members), modal_free(&b->way);
    modal_free(&b);
    return NULL;
}

static int corners_of(const modal_tled_fan *lane, int n_corners) { return n_corners > 0 ? n_corners : lane->n + 3; }

/* The reads that each node is part of. */
static void find_reads(modal_tled_banks *b, const modal_tled_fan *lanes, int32_t n_lanes, int n_corners, int32_t n_places)
{
    memset(b->first, 0, (size_t)(n_places + 2) * sizeof *b->first);
    for (int32_t l = 0; l < n_lanes; l++)
        for (int k = 0; k < corners_of(&lanes[l], n_corners); k++) b->first[lanes[l].corners[k] + 2]++;
    for (int32_t i = 0; i < n_places; i++) b->first[i + 2] += b->first[i + 1];
    for (int32_t l = 0; l < n_lanes; l++)
        for (int k = 0; k < corners_of(&lanes[l], n_corners); k++)
            b->reads[b->first[lanes[l].corners[k] + 1]++] = l / MODAL_TLED_AT_ONCE * COLUMNS + k;
}

static int meets(const modal_tled_banks *b, int32_t node, int way)
{
    int sum = 0;
    for (int32_t j = b->first[node]; j < b->first[node + 1]; j++) sum += b->count[b->reads[j] * WAYS + way];
    return sum;
}

static void put(modal_tled_banks *b, int32_t node, int way, int change)
{
    for (int32_t j = b->first[node]; j < b->first[node + 1]; j++) {
        uint8_t *count = &b->count[b->reads[j] * WAYS + way];
        *count = (uint8_t)(*count + change);
    }
    b->way[node] = (int8_t)(change > 0 ? way : -1);
}

/* Nodes change their ways in pairs of a class where that brings more lanes past one another. Each is asked once: asking all again gains 1 %. */
static void improve(modal_tled_banks *b, int32_t n_places, const int32_t *class_of)
{
    for (int32_t i = 0; i < n_places; i++) {
        const int own = b->way[i];
        const int32_t class = class_of[i];
        put(b, i, own, -1);
        const int here = meets(b, i, own);
        int32_t best = -1;
        int most = 0;
        for (int w = 0; w < WAYS && here > 0; w++) {
            const int gain = here - meets(b, i, w);
            if (w == own || gain <= 0) continue;
            for (int32_t m = b->start[class]; m < b->start[class + 1]; m++) {
                const int32_t j = b->members[m];
                if (b->way[j] != w) continue;
                put(b, j, w, -1);
                const int both = here + meets(b, j, w) - meets(b, i, w) - meets(b, j, own);
                put(b, j, w, 1);
                if (both > most) most = both, best = j;
            }
        }
        if (best >= 0) {
            const int w = b->way[best];
            put(b, best, w, -1);
            put(b, best, own, 1);
            put(b, i, w, 1);
        } else {
            put(b, i, own, 1);
        }
    }
}

void modal_tled_banks_spread(modal_tled_banks *b, const modal_tled_fan *lanes, int32_t n_lanes, int n_corners, int32_t n_places,
                             const int32_t *class_of, int32_t n_classes, int32_t *order)
{
    find_reads(b, lanes, n_lanes, n_corners, n_places);
    memset(b->count, 0, (size_t)((n_lanes / MODAL_TLED_AT_ONCE + 1) * COLUMNS * WAYS));
    memset(b->start, 0, (size_t)(n_classes + 1) * sizeof *b->start);
    memset(b->left, 0, (size_t)(n_classes * WAYS) * sizeof *b->left);
    for (int32_t i = 0; i < n_places; i++) b->start[class_of[i] + 1]++, b->way[i] = -1;
    for (int32_t c = 0; c < n_classes; c++) b->start[c + 1] += b->start[c];
    for (int32_t c = 0; c < n_classes; c++)
        for (int32_t p = b->start[c]; p < b->start[c + 1]; p++) b->left[c * WAYS + p % WAYS]++;
    for (int32_t l = 0; l < n_lanes; l++)
        for (int k = 0; k < corners_of(&lanes[l], n_corners); k++) {
            const int32_t node = lanes[l].corners[k], *left = b->left + class_of[node] * WAYS;
            int best = -1, fewest = 0;
            if (b->way[node] >= 0) continue;
            for (int w = 0; w < WAYS; w++) {
                const int n = left[w] > 0 ? meets(b, node, w) : 0;
                if (left[w] > 0 && (best < 0 || n < fewest || (n == fewest && left[w] > left[best]))) best = w, fewest = n;
            }
            put(b, node, best, 1);
            b->left[class_of[node] * WAYS + best]--;
        }
    memcpy(b->left, b->start, (size_t)n_classes * sizeof *b->left); /* the next member of a class */
    for (int32_t i = 0; i < n_places; i++) b->members[b->left[class_of[i]]++] = i;
    improve(b, n_places, class_of);
    for (int32_t c = 0; c < n_classes; c++)
        for (int w = 0; w < WAYS; w++) b->left[c * WAYS + w] = b->start[c] + (w - b->start[c] % WAYS + WAYS) % WAYS;
    for (int32_t i = 0; i < n_places; i++) {
        int32_t *next = &b->left[class_of[i] * WAYS + b->way[i]];
        order[i] = *next;
        *next += WAYS;
    }
}
