// SPDX-License-Identifier: Apache-2.0
// Part of reduced_step_large.cuh: E and s in one pass, for which each coefficient is read up to three times. Every number of E is
// one thread's sum of k + 1 terms, neighbours reading neighbours; of s it is a warp's, of a row.

// E from the slice's share of its numbers.
RS_FN void large_add_sums(const double *table, int32_t r, const large_view &v, int32_t slice, int32_t n_slices, double *sums)
{
    const int32_t count = v.rows[r];
    int32_t m = 0;
    for (int32_t e = slice * RS_LANES + RS_LANE; e < count; e += n_slices * RS_LANES) {
        m = large_block_of(v, r, e, m);
        const int32_t c = e - v.rows[m], n = r - m, row = v.lengths[m];
        if (c >= n * (n + 1) / 2) {
            sums[e] = 0;
            continue;
        }
        int32_t k, l, table_at;
        large_pair_at(n, c, &k, &l);
        const int32_t pair = large_pair(r, m + k, m + l);
        const double *own = table + v.blocks[m] + c;
        double sum = __ldg(own) + 2 * v.q[m] * __ldg(own + (m + 1) * row);
        own += row;
#pragma unroll 8
        for (int32_t i = 0; i < m; i++) sum = fma(v.q[i], __ldg(own + i * row), sum);
        table_at = pair - large_pair(r, m + 1, m + 1); // in block j, row m: of the pair from (j, j) on
#pragma unroll 8
        for (int32_t j = m + 1; j <= m + k; j++) {
            sum = fma(v.q[j], __ldg(table + v.blocks[j] + (1 + m) * v.lengths[j] + table_at), sum);
            table_at -= r - j;
        }
        sums[e] = sum;
    }
}

// s from the slice's share of the rows.
RS_FN void large_add_pairs(const double *table, int32_t r, const large_view &v, int32_t slice, int32_t n_slices, double *pair_sums)
{
    const int32_t warps = RS_LANES / 32, lane = RS_LANE % 32;
    for (int32_t at = slice * warps + RS_LANE / 32; at < r * (r + 1) / 2; at += n_slices * warps) {
        int32_t j = (int32_t)(0.5f * (sqrtf(8.0f * at + 1) - 1));
        while (j * (j + 1) / 2 > at) j--;
        while ((j + 1) * (j + 2) / 2 <= at) j++;
        const int32_t i = at - j * (j + 1) / 2, n = v.lengths[j];
        const double *row = table + v.blocks[j] + (1 + i) * n, *products = v.products + large_pair(r, j, j);
        double sum = 0;
        const int32_t whole = (r - j) * (r - j + 1) / 2;
#pragma unroll 4
        for (int32_t c = lane; c < whole; c += 32) sum = fma(__ldg(row + c), products[c], sum);
        sum = rs_warp_sum(sum);
        if (lane == 0) pair_sums[large_pair(r, i, j)] = sum;
    }
}
