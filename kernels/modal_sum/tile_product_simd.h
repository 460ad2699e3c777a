/* SPDX-License-Identifier: Apache-2.0 */
/* u = U q, or x = R (xbar + U q) + p, for a range of tiles and all columns, in one instruction set.
 * Included once for each set, with
 *   LANES    floats of a vector register
 *   COLUMNS  columns of a register block: 3 x COLUMNS accumulators, 3 vectors of U and one q
 *   TARGET   the function attribute of the set
 *   NAME(x)  x with the set's suffix
 *   STREAM(p, v)  writes a vector to aligned memory without reading it into the caches first
 * Every mode's three vectors of U are loaded once for COLUMNS columns. Every product is one
 * multiply-add, in the same order whatever the block's width, so a column's value does not depend on
 * its neighbours. No include guard: this is a template. */

#include "kernels/modal_sum/points_simd.h"

/* Columns [c, c + width) of `span` vectors of lanes of a tile, from lane `lane` on; width and span are
 * constants, width * span <= COLUMNS. */
TARGET static inline __attribute__((always_inline)) void
NAME(block)(const modal_tile_product *p, int64_t tile, int lane, int64_t c, const int width,
            const int span)
{
    const int64_t r = p->n_modes;
    const float *u_tile = p->modal_matrix + tile * r * MODAL_TILE_FLOATS + lane;
    const float *q = p->q + c * r;
    NAME(vector) sum_x[COLUMNS], sum_y[COLUMNS], sum_z[COLUMNS];
#pragma GCC unroll 8
    for (int j = 0; j < width * span; j++) {
        sum_x[j] = (NAME(vector)){0};
        sum_y[j] = (NAME(vector)){0};
        sum_z[j] = (NAME(vector)){0};
    }
    for (int64_t k = 0; k < r; k++) {
#pragma GCC unroll 4
        for (int h = 0; h < span; h++) {
            const float *u = u_tile + k * MODAL_TILE_FLOATS + h * LANES;
            if (width == 1) /* streamed from memory: 82 % of its read bandwidth without this, 98 % with */
#pragma GCC unroll 3
                for (int i = 0; i < 3; i++) __builtin_prefetch(u + MODAL_TILE * i + 2048);
            const NAME(vector) x = *(const NAME(unaligned) *)u;
            const NAME(vector) y = *(const NAME(unaligned) *)(u + MODAL_TILE);
            const NAME(vector) z = *(const NAME(unaligned) *)(u + 64);
#pragma GCC unroll 8
            for (int j = 0; j < width; j++) {
                const float factor = q[j * r + k];
                sum_x[j * span + h] = x * factor + sum_x[j * span + h];
                sum_y[j * span + h] = y * factor + sum_y[j * span + h];
                sum_z[j * span + h] = z * factor + sum_z[j * span + h];
            }
        }
    }
#pragma GCC unroll 8
    for (int s = 0; s < width * span; s++) {
        const int64_t column = c + s / span, at = lane + s % span * LANES;
        const int64_t first = tile * MODAL_TILE + at, count = p->n_vertices - first;
        const int64_t out = (column * p->n_vertices + first) * 3;
        if (!p->poses) {
            NAME(store)(p->positions + out, count, p->stream, sum_x[s], sum_y[s], sum_z[s]);
            continue;
        }
        const float *t = p->poses + 12 * column;
        const float *rest = p->rest_tiles + tile * MODAL_TILE_FLOATS + at;
        const NAME(vector) x = *(const NAME(unaligned) *)rest + sum_x[s];
        const NAME(vector) y = *(const NAME(unaligned) *)(rest + MODAL_TILE) + sum_y[s];
        const NAME(vector) z = *(const NAME(unaligned) *)(rest + 64) + sum_z[s];
        NAME(vector) row[3];
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++) {
            row[i] = x * t[4 * i] + t[4 * i + 3];
            row[i] = y * t[4 * i + 1] + row[i];
            row[i] = z * t[4 * i + 2] + row[i];
        }
        NAME(store)(p->positions + out, count, p->stream, row[0], row[1], row[2]);
        if (!p->displacement) continue;
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++) {
            row[i] = sum_x[s] * t[4 * i];
            row[i] = sum_y[s] * t[4 * i + 1] + row[i];
            row[i] = sum_z[s] * t[4 * i + 2] + row[i];
        }
        NAME(store)(p->displacement + out, count, p->stream, row[0], row[1], row[2]);
    }
}

/* Columns [c, c_end) of the tiles [begin, end): the outer loop over columns keeps a register block's q and
 * its output rows together while U stays in the cache. Few columns take several vectors of each row
 * of U at once, so that memory is read in one ascending stream. */
TARGET static void NAME(tiles)(const modal_tile_product *p, int64_t begin, int64_t end, int64_t c,
                               int64_t c_end)
{
    enum {
        ROW = MODAL_TILE / LANES,
        SPAN_1 = ROW < COLUMNS ? ROW : COLUMNS,
        SPAN_2 = ROW < COLUMNS / 2 ? ROW : COLUMNS / 2,
        SPAN_4 = COLUMNS / 4
    };
    while (c < c_end) {
        const int64_t left = c_end - c;
        const int width = left >= COLUMNS ? COLUMNS : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        const int span = width == COLUMNS ? 1 : width == 4 ? SPAN_4 : width == 2 ? SPAN_2 : SPAN_1;
        for (int64_t tile = begin; tile < end; tile++)
            for (int lane = 0; lane < MODAL_TILE && tile * MODAL_TILE + lane < p->n_vertices;
                 lane += LANES * span) {
                if (width == COLUMNS)
                    NAME(block)(p, tile, lane, c, COLUMNS, 1);
                else if (width == 4)
                    NAME(block)(p, tile, lane, c, 4, SPAN_4);
                else if (width == 2)
                    NAME(block)(p, tile, lane, c, 2, SPAN_2);
                else
                    NAME(block)(p, tile, lane, c, 1, SPAN_1);
            }
        c += width;
    }
}

#undef LANES
#undef COLUMNS
#undef TARGET
#undef NAME
#undef STREAM
