// SPDX-License-Identifier: Apache-2.0
// Part of reduced_step_body.h, on a GPU, for lanes that fill warps: A^-1 of many modes. The matrix is swept by each of its
// pivots in turn, which are those of L D L^T (J. H. Goodnight, A Tutorial on the SWEEP Operator, 1979): with pivot d and its
// column c, a_ij becomes a_ij - c_i c_j / d, its row and column c / d, itself -1 / d. What is left is -A^-1.

// A lane has rows RS_LANE / 16 + a RS_LANES / 16 and columns RS_LANE % 16 + 16 b of the whole matrix, in registers; the
// next pivot's column goes round through shared memory, [2, 16 columns].
template <int rows, int columns>
RS_FN int rs_sweep(const rs_work *w, double *round, int32_t r, int32_t wide)
{
    const int32_t y = RS_LANE / 16, x = RS_LANE % 16, apart = RS_LANES / 16, most = 16 * columns;
    double value[rows][columns];
#pragma unroll
    for (int a = 0; a < rows; a++)
#pragma unroll
        for (int b = 0; b < columns; b++) {
            const int32_t i = y + a * apart, l = x + 16 * b, low = min(i, l), high = max(i, l);
            value[a][b] = high < r ? w->own.matrix[low * wide + high] : 0;
        }
    RS_SYNC();
#pragma unroll
    for (int a = 0; a < rows; a++)
        if (x == 0 && y + a * apart < most) round[y + a * apart] = value[a][0];
    RS_SYNC();
#pragma unroll
    for (int part = 0; part < columns; part++)
#pragma unroll 1
        for (int32_t at = 0; at < 16; at++) {
            const int32_t k = 16 * part + at;
            if (k >= r) break;
            const double *column = round + k % 2 * most, pivot = column[k];
            if (!(pivot > 0 && pivot <= 1e300)) return 0; // all lanes alike
            const double inverse = 1 / pivot;
            double *next = round + (k + 1) % 2 * most, across[columns];
#pragma unroll
            for (int b = 0; b < columns; b++) across[b] = column[x + 16 * b] * inverse;
#pragma unroll
            for (int a = 0; a < rows; a++) {
                const int32_t i = y + a * apart;
                const double down = i < most ? column[i] : 0;
#pragma unroll
                for (int b = 0; b < columns; b++) value[a][b] = i == k ? across[b] : fma(-down, across[b], value[a][b]);
                if (x == at) value[a][part] = i == k ? -inverse : down * inverse;
                const double own = at < 15 ? value[a][part] : value[a][part + 1 < columns ? part + 1 : part];
                if (x == (at + 1) % 16 && i < most) next[i] = own;
            }
            RS_SYNC();
        }
#pragma unroll
    for (int a = 0; a < rows; a++)
#pragma unroll
        for (int b = 0; b < columns; b++) {
            const int32_t i = y + a * apart, l = x + 16 * b;
            if (i < r && l < r) w->inverse[i * wide + l] = -value[a][b];
        }
    return 1;
}

// The same, packed and near, of any number of modes, by RS_PIVOTS pivots at once: with their matrix D, the rows C of the others
// in their columns, A becomes A - C D^-1 C^T, C becomes C D^-1, and D itself -D^-1. The matrix is read and written once for each D,
// and a lane keeps its columns of C in registers meanwhile.
enum { RS_PIVOTS = 6, RS_PIVOT_COLUMNS = 7 };

RS_FN int32_t rs_packed_at(int32_t r, int32_t i, int32_t l) // of (i l) and (l i)
{
    const int32_t low = min(i, l), high = max(i, l);
    return low * r - low * (low - 1) / 2 + high - low;
}

// -D^-1 of the pivots from k on, by every warp: its lane of element(p, q) holds that element. 0 where one is not positive.
RS_FN int32_t rs_pivot_lane(int32_t p, int32_t q) // p <= q < RS_PIVOTS
{
    return p * RS_PIVOTS - p * (p - 1) / 2 + q - p;
}
RS_FN int rs_sweep_pivots(const double *packed, int32_t r, int32_t k, int32_t n, double *element)
{
    const int32_t lane = min(RS_LANE % 32, RS_PIVOTS * (RS_PIVOTS + 1) / 2 - 1);
    int32_t p = 0;
    while (rs_pivot_lane(p + 1, p + 1) <= lane) p++;
    const int32_t q = p + lane - rs_pivot_lane(p, p);
    double x = q < n ? packed[rs_packed_at(r, k + p, k + q)] : p == q;
#pragma unroll
    for (int32_t d = 0; d < RS_PIVOTS; d++) { // those behind n are sweeps of the unit matrix
        const double pivot = __shfl_sync(~0u, x, rs_pivot_lane(d, d));
        const double down = __shfl_sync(~0u, x, rs_pivot_lane(min(p, d), max(p, d)));
        const double across = __shfl_sync(~0u, x, rs_pivot_lane(min(q, d), max(q, d)));
        if (!(pivot > 0 && pivot <= 1e300)) return 0; // all lanes alike
        const double inverse = 1 / pivot;
        x = p == d && q == d ? -inverse : p == d || q == d ? x * inverse : fma(-down * inverse, across, x);
    }
    *element = x;
    return 1;
}

// down, across: [RS_PIVOTS, wide] C^T and D^-1 C^T.
RS_FN int rs_sweep_packed(const rs_work *w, double *packed, double *down, double *across, int32_t r, int32_t wide)
{
    const int32_t rows = RS_LANES / 32, row = RS_LANE / 32, lane = RS_LANE % 32;
#pragma unroll 4
    for (int32_t i = row; i < r; i += rows)
        for (int32_t l = i + lane; l < r; l += 32) packed[i * r - i * (i - 1) / 2 + l - i] = w->own.matrix[i * wide + l];
    RS_SYNC();
    for (int32_t k = 0; k < r; k += RS_PIVOTS) {
        const int32_t n = min(RS_PIVOTS, r - k);
        double inner;
        if (!rs_sweep_pivots(packed, r, k, n, &inner)) return 0;
        for (int32_t base = 0; base < r; base += RS_LANES) { // all lanes of a warp go together
            const int32_t i = min(base + RS_LANE, r - 1);
            const bool on = base + RS_LANE < r;
            double c[RS_PIVOTS];
#pragma unroll
            for (int32_t p = 0; p < RS_PIVOTS; p++) {
                c[p] = p < n ? packed[rs_packed_at(r, i, k + p)] : 0;
                if (on) down[p * wide + i] = c[p];
            }
#pragma unroll
            for (int32_t p = 0; p < RS_PIVOTS; p++) {
                double sum = 0;
#pragma unroll
                for (int32_t q = 0; q < RS_PIVOTS; q++)
                    sum = fma(-__shfl_sync(~0u, inner, rs_pivot_lane(min(p, q), max(p, q))), c[q], sum);
                if (on) across[p * wide + i] = sum;
            }
        }
        RS_SYNC();
        for (int32_t from = 0; from < r; from += 32 * RS_PIVOT_COLUMNS) {
            double own[RS_PIVOTS][RS_PIVOT_COLUMNS];
#pragma unroll
            for (int32_t b = 0; b < RS_PIVOT_COLUMNS; b++) {
                const int32_t l = min(from + 32 * b + lane, r - 1);
#pragma unroll
                for (int32_t p = 0; p < RS_PIVOTS; p++) own[p][b] = down[p * wide + l];
            }
            for (int32_t i = row; i < r; i += rows) {
                if (i >= k && i < k + n) continue;
                double *to = packed + i * r - i * (i - 1) / 2 - i, factor[RS_PIVOTS];
#pragma unroll
                for (int32_t p = 0; p < RS_PIVOTS; p++) factor[p] = across[p * wide + i];
#pragma unroll
                for (int32_t b = 0; b < RS_PIVOT_COLUMNS; b++) {
                    const int32_t l = from + 32 * b + lane;
                    if (l < i || l >= r || (l >= k && l < k + n)) continue;
                    double value = to[l];
#pragma unroll
                    for (int32_t p = 0; p < RS_PIVOTS; p++) value = fma(-factor[p], own[p][b], value);
                    to[l] = value;
                }
            }
        }
        RS_EACH_OF(p, n, i, r)
        {
            if (i < k || i >= k + n) packed[rs_packed_at(r, i, k + p)] = across[p * wide + i];
        }
        for (int32_t q = 0; q < n && row == 0; q++)
            for (int32_t p = 0; p <= q; p++)
                if (lane == rs_pivot_lane(p, q)) packed[rs_packed_at(r, k + p, k + q)] = inner;
        RS_SYNC();
    }
    for (int32_t i = row; i < r; i += rows)
        for (int32_t l = lane; l < r; l += 32) w->inverse[i * wide + l] = -packed[rs_packed_at(r, i, l)];
    return 1;
}

// A^-1 and A^-1 B; 0 where A is not positive definite.
RS_FN int rs_invert_large(const rs_work *w, const rs_scratch *s, int32_t r, int32_t wide)
{
    int sound;
    RS_SYNC();
    if (RS_LANES == 128 && r <= 40)
        sound = rs_sweep<5, 3>(w, s->product, r, wide);
    else if (RS_MOST_SWEPT == INT32_MAX && RS_LANES == 256 && r <= 48)
        sound = rs_sweep<3, 3>(w, s->product, r, wide);
    else if (RS_LANES == 512 && r <= 64)
        sound = rs_sweep<2, 4>(w, s->product, r, wide);
    else if (RS_LANES == 512 && r <= 112)
        sound = rs_sweep<4, 7>(w, s->product, r, wide);
    else if (RS_MOST_SWEPT <= 112)
        sound = 0; // not reached
    else
        sound = rs_sweep_packed(w, s->tangent, s->product, s->m1, r, wide);
    if (!sound) return 0;
    RS_SYNC();
    const int32_t moving = RS_GET(w->object->motion) != MODAL_STEP_FIXED;
    RS_EACH_OF(k, r, c, 8)
    {
        double sum = 0;
        RS_MODES(l, on, moving ? r : 0) sum += RS_IF(on, w->own.coupling[8 * l + c]) * w->inverse[k * wide + l];
        w->solved[8 * k + c] = sum;
    }
    RS_SYNC();
    return 1;
}
