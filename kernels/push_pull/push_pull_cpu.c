/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of 64 x 64 texels has its levels on the stack. Where something in it is covered it needs nothing from outside, so one pass
 * sums and fills; tiles without anything are filled from the levels above them afterwards. */
#include "kernels/push_pull/push_pull.h"

#include <string.h>

enum { TILE = MODAL_PUSH_PULL_TILE, LEVELS = 6 };

typedef struct small_sum {
    uint32_t n, sum[4];
} small_sum;

typedef struct tile {
    small_sum levels[32 * 32 + 16 * 16 + 8 * 8 + 4 * 4 + 2 * 2 + 1]; /* of 2, 4, ... 64 texels a side */
} tile;

static uint32_t mean_of(const small_sum *s)
{
    uint32_t mean = 0;
    for (int c = 0; c < 4; c++) mean |= ((2 * s->sum[c] + s->n) / (2 * s->n)) << 8 * c;
    return mean;
}

/* The covered texels x0 to x0 + 63 of a row as bits; x0 is a multiple of 64. */
static uint64_t row_bits(const modal_push_pull_task *t, int32_t x0, int32_t y)
{
    const int64_t words = (t->width + 31) / 32, at = x0 / 32;
    const uint32_t *row = t->covered + y * words;
    return row[at] | (at + 1 < words ? (uint64_t)row[at + 1] << 32 : 0);
}

static void push(const modal_push_pull_task *t, int32_t x0, int32_t y0, tile *s)
{
    memset(s, 0, sizeof *s);
    for (int32_t y = y0; y < y0 + TILE && y < t->height; y++)
        for (uint64_t bits = row_bits(t, x0, y); bits; bits &= bits - 1) {
            const int x = __builtin_ctzll(bits);
            const uint32_t texel = t->texels[(int64_t)y * t->width + x0 + x];
            small_sum *to = &s->levels[(y - y0) / 2 * 32 + x / 2];
            to->n++;
            for (int c = 0; c < 4; c++) to->sum[c] += texel >> 8 * c & 255;
        }
    small_sum *from = s->levels;
    for (int side = 16; side > 0; side /= 2) {
        small_sum *to = from + 4 * side * side;
        for (int i = 0; i < 4 * side * side; i++) {
            small_sum *up = &to[i / (2 * side) / 2 * side + i % (2 * side) / 2];
            up->n += from[i].n;
            for (int c = 0; c < 4; c++) up->sum[c] += from[i].sum[c];
        }
        from = to;
    }
}

/* The tile has something covered. */
static void pull(const modal_push_pull_task *t, int32_t x0, int32_t y0, const tile *s)
{
    for (int32_t y = y0; y < y0 + TILE && y < t->height; y++) {
        const int32_t n = t->width - x0 < TILE ? t->width - x0 : TILE;
        const uint64_t all = n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
        for (uint64_t gaps = ~row_bits(t, x0, y) & all; gaps; gaps &= gaps - 1) {
            const int x = __builtin_ctzll(gaps);
            const small_sum *level = s->levels, *at = NULL;
            for (int l = 1; l <= LEVELS; l++) {
                const int side = TILE >> l;
                at = &level[((y - y0) >> l) * side + (x >> l)];
                if (at->n) break;
                level += side * side;
            }
            t->texels[(int64_t)y * t->width + x0 + x] = mean_of(at);
        }
    }
}

static void fill_tile(const modal_push_pull_task *t, int32_t x0, int32_t y0, const modal_push_pull_sum *s)
{
    uint32_t mean = 0;
    for (int c = 0; c < 4; c++) mean |= (uint32_t)((2 * s->sum[c] + s->n) / (2 * s->n)) << 8 * c;
    for (int32_t y = y0; y < y0 + TILE && y < t->height; y++)
        for (int32_t x = x0; x < x0 + TILE && x < t->width; x++) t->texels[(int64_t)y * t->width + x] = mean;
}

modal_status modal_push_pull_cpu(const modal_push_pull_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t w = (t->width + TILE - 1) / TILE, h = (t->height + TILE - 1) / TILE;
    if (w * h == 0) return MODAL_OK;
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < w * h; i++) {
        tile s;
        const int32_t x0 = (int32_t)(i % w) * TILE, y0 = (int32_t)(i / w) * TILE;
        push(t, x0, y0, &s);
        const small_sum *all = &s.levels[sizeof s.levels / sizeof *s.levels - 1];
        t->scratch[i].n = all->n;
        for (int c = 0; c < 4; c++) t->scratch[i].sum[c] = all->sum[c];
        if (all->n) pull(t, x0, y0, &s);
    }
    modal_push_pull_sum *from = t->scratch;
    for (int64_t fw = w, fh = h; fw * fh > 1;) {
        const int64_t tw = (fw + 1) / 2, th = (fh + 1) / 2;
        modal_push_pull_sum *to = from + fw * fh;
        memset(to, 0, (size_t)(tw * th) * sizeof *to);
        for (int64_t i = 0; i < fw * fh; i++) {
            modal_push_pull_sum *up = &to[i / fw / 2 * tw + i % fw / 2];
            up->n += from[i].n;
            for (int c = 0; c < 4; c++) up->sum[c] += from[i].sum[c];
        }
        from = to, fw = tw, fh = th;
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < w * h; i++) {
        if (t->scratch[i].n) continue;
        const modal_push_pull_sum *level = t->scratch;
        int64_t x = i % w, y = i / w, fw = w, fh = h;
        while (level[y * fw + x].n == 0 && fw * fh > 1) {
            level += fw * fh;
            x /= 2, y /= 2, fw = (fw + 1) / 2, fh = (fh + 1) / 2;
        }
        if (level[y * fw + x].n) fill_tile(t, (int32_t)(i % w) * TILE, (int32_t)(i / w) * TILE, &level[y * fw + x]);
    }
    return MODAL_OK;
}
