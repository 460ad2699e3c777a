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

// The same, packed and near, of any number of modes.
RS_FN int rs_sweep_packed(const rs_work *w, double *packed, double *column, int32_t r, int32_t wide)
{
    const int32_t rows = RS_LANES / 32, row = RS_LANE / 32, lane = RS_LANE % 32;
#pragma unroll 4
    for (int32_t i = row; i < r; i += rows)
        for (int32_t l = i + lane; l < r; l += 32) packed[i * r - i * (i - 1) / 2 + l - i] = w->own.matrix[i * wide + l];
    RS_SYNC();
    for (int32_t k = 0; k < r; k++) {
        const int32_t at = k * r - k * (k - 1) / 2 - k; // (k l) is at + l
        const double pivot = packed[at + k];
        if (!(pivot > 0 && pivot <= 1e300)) return 0; // all lanes alike
        const double inverse = 1 / pivot;
        RS_EACH(i, r) { column[i] = i < k ? packed[i * r - i * (i - 1) / 2 + k - i] : packed[at + i]; }
        RS_SYNC();
        for (int32_t i = row; i < r; i += rows) {
            double *to = packed + i * r - i * (i - 1) / 2 - i;
            const double factor = column[i] * inverse;
#pragma unroll 4
            for (int32_t l = i + lane; l < r; l += 32)
                if (i != k && l != k) to[l] = fma(-factor, column[l], to[l]);
        }
        RS_EACH(i, r)
        {
            packed[i < k ? i * r - i * (i - 1) / 2 + k - i : at + i] = i == k ? -inverse : column[i] * inverse;
        }
        RS_SYNC();
    }
    for (int32_t i = row; i < r; i += rows)
        for (int32_t l = lane; l < r; l += 32) {
            const int32_t low = min(i, l), high = max(i, l);
            w->inverse[i * wide + l] = -packed[low * r - low * (low - 1) / 2 + high - low];
        }
    return 1;
}

// A^-1 and A^-1 B; 0 where A is not positive definite.
RS_FN int rs_invert_large(const rs_work *w, const rs_scratch *s, int32_t r, int32_t wide)
{
    int sound;
    RS_SYNC();
    if (RS_LANES == 128 && r <= 40)
        sound = rs_sweep<5, 3>(w, s->product, r, wide);
    else if (RS_LANES == 512 && r <= 64)
        sound = rs_sweep<2, 4>(w, s->product, r, wide);
    else if (RS_LANES == 512 && r <= 112)
        sound = rs_sweep<4, 7>(w, s->product, r, wide);
    else
        sound = rs_sweep_packed(w, s->tangent, s->product, r, wide);
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
