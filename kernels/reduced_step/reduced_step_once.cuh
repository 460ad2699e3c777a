// SPDX-License-Identifier: Apache-2.0
// Part of reduced_step_large.cuh: E and s from one reading of the coefficients. A unit is 16 by 16 rows (i, j) of the table,
// i <= j, of 32 columns (k, l), a lane each. Of it stay, in this order: for each j the sums over i, sum_i q_i c_ijkl,
// [16, 32]; for each i those over j, [16, 32]; for each row that of its columns, [j, i].

RS_FN void once_make_units(const double *table, int32_t r, const large_view &v, int32_t slice, int32_t n_slices,
                           const large_parts &parts)
{
    enum { TILE = MODAL_STEP_TILE };
    const int32_t lane = RS_LANE % 32, warps = RS_LANES / 32, pairs = r * (r + 1) / 2;
    const int32_t count = v.units[(r + TILE - 1) / TILE];
    int32_t tile = 0;
    for (int32_t unit = slice * warps + RS_LANE / 32; unit < count; unit += n_slices * warps) {
        while (unit >= v.units[tile + 1]) tile++;
        const int32_t chunks = (int32_t)modal_step_chunks(r, tile), of = unit - v.units[tile], i0 = of / chunks * TILE;
        const int32_t at = large_pair(r, tile * TILE, tile * TILE) + of % chunks * 32 + lane;
        int32_t k, l;
        large_pair_at(r, min(at, pairs - 1), &k, &l);
        if (at >= pairs) k = -1;
        const double product = v.products[min(at, pairs - 1)];
        double *to = parts.units + (int64_t)unit * MODAL_STEP_UNIT + lane, down[TILE];
#pragma unroll
        for (int32_t i = 0; i < TILE; i++) down[i] = 0;
#pragma unroll 1
        for (int32_t jj = 0; jj < TILE; jj++) {
            const int32_t j = tile * TILE + jj, n_rows = min(j - i0 + 1, (int32_t)TILE), length = v.lengths[min(j, r - 1)];
            if (j >= r) break;
            const bool on = j <= k;
            const double *from = table + v.blocks[j] + (1 + i0) * length + (at - large_pair(r, j, j));
            double x[TILE], across = 0;
#pragma unroll
            for (int32_t i = 0; i < TILE; i++) x[i] = on && i < n_rows ? __ldg(from + i * length) : 0;
            const double own = v.q[j];
#pragma unroll
            for (int32_t i = 0; i < TILE; i++) {
                across = fma(v.q[min(i0 + i, r - 1)], x[i], across);
                down[i] = fma(own, x[i], down[i]);
                x[i] *= product;
            }
            to[32 * jj] = across;
            const double low = large_eight_sums(x), high = large_eight_sums(x + 8);
            if (lane % 4 == 0) {
                double *rows = to - lane + 2 * 32 * TILE + TILE * jj + lane / 4;
                rows[0] = low;
                rows[8] = high;
            }
        }
#pragma unroll
        for (int32_t i = 0; i < TILE; i++) to[32 * (TILE + i)] = down[i];
    }
}

// E, each number by a thread.
RS_FN void once_add_sums(const double *table, int32_t r, const large_view &v, int32_t slice, int32_t n_slices,
                         const large_parts &parts)
{
    enum { TILE = MODAL_STEP_TILE };
    const int32_t count = v.rows[r];
    int32_t m = 0;
    for (int32_t e = slice * RS_LANES + RS_LANE; e < count; e += n_slices * RS_LANES) {
        m = large_block_of(v, r, e, m);
        const int32_t c = e - v.rows[m], n = r - m;
        if (c >= n * (n + 1) / 2) {
            parts.sums[e] = 0;
            continue;
        }
        int32_t k, l;
        large_pair_at(n, c, &k, &l);
        const int32_t pair = c + large_pair(r, m, m), own = m / TILE, last = (m + k) / TILE;
        const int32_t at = pair - large_pair(r, own * TILE, own * TILE), chunks = (int32_t)modal_step_chunks(r, own);
        double sum = __ldg(table + v.blocks[m] + c);
        const double *from = parts.units + (int64_t)(v.units[own] + at / 32) * MODAL_STEP_UNIT + 32 * (m % TILE) + at % 32;
#pragma unroll 4
        for (int32_t tile = 0; tile <= own; tile++) sum += from[(int64_t)tile * chunks * MODAL_STEP_UNIT];
        from = parts.units + 32 * (TILE + m % TILE);
#pragma unroll 4
        for (int32_t tile = own; tile <= last; tile++) {
            const int32_t there = pair - large_pair(r, tile * TILE, tile * TILE);
            const int32_t unit = v.units[tile] + own * (int32_t)modal_step_chunks(r, tile) + there / 32;
            sum += from[(int64_t)unit * MODAL_STEP_UNIT + there % 32];
        }
        parts.sums[e] = sum;
    }
}

// s: a warp has eight neighbouring rows of a tile, four lanes each.
RS_FN void once_add_pairs(int32_t r, const large_view &v, int32_t slice, int32_t n_slices, const large_parts &parts)
{
    enum { TILE = MODAL_STEP_TILE, EIGHTS = TILE * TILE / 8 };
    const int32_t lane = RS_LANE % 32, warps = RS_LANES / 32, tiles = (r + TILE - 1) / TILE;
    for (int32_t task = slice * warps + RS_LANE / 32; task < tiles * (tiles + 1) / 2 * EIGHTS; task += n_slices * warps) {
        int32_t tile = 0;
        while ((tile + 1) * (tile + 2) / 2 <= task / EIGHTS) tile++;
        const int32_t above = task / EIGHTS - tile * (tile + 1) / 2, row = task % EIGHTS * 8 + lane % 8;
        const int32_t chunks = (int32_t)modal_step_chunks(r, tile), i = above * TILE + row % TILE, j = tile * TILE + row / TILE;
        const bool on = i <= j && j < r;
        const double *from = parts.units + (int64_t)(v.units[tile] + above * chunks) * MODAL_STEP_UNIT + 2 * 32 * TILE + row;
        double sum = 0;
#pragma unroll 8
        for (int32_t chunk = lane / 8; chunk < chunks; chunk += 4)
            if (on) sum += from[(int64_t)chunk * MODAL_STEP_UNIT];
        sum += __shfl_xor_sync(~0u, sum, 8);
        sum += __shfl_xor_sync(~0u, sum, 16);
        if (on && lane < 8) parts.pair_sums[large_pair(r, i, j)] = sum;
    }
}
