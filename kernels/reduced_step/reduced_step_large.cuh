// SPDX-License-Identifier: Apache-2.0
// Forces, stiffness and energy of objects of more than MODAL_STEP_GRID_MODES modes, by the whole grid, from the unique
// coefficients of their energy (reduced_force.h). With
//
//     E_m,kl = b_mkl + sum_{i<=m} q_i c_imkl + sum_{m<=j<=k} q_j c_mjkl     (c_mmkl twice), m <= k <= l
//     g_kl = a_kl + sum_{m<=k} q_m (E_m,kl + b_mkl) / 2                     (of every pair i < j of the last sum twice the half)
//     s_ij = sum_kl c_ijkl q_k q_l
//
// E(q) = sum_kl g_kl q_k q_l, f_m = sum_kl E_m,kl q_k q_l + (g q)_m, and K_pm, p <= m, is s_pm + g_pm + (E_p q)_m, where
// E_p and g stand for the symmetric matrices with their diagonals doubled, and K's diagonal is doubled, too. Two passes of
// the grid with a barrier after each: E, of which every number is one thread's sum of k + 1 terms, neighbours reading
// neighbours, and s, a row a warp; then g, K and what f takes of E. Of what a pass reads nothing is written meanwhile.
//
// Where forces alone are wanted, each coefficient is read once, not twice: with h_kl = a_kl + s_kl + sum_j q_j (b_jkl +
// sum_{i<=j} q_i c_ijkl), f_m = sum_kl b_mkl q_k q_l + (h q)_m (reduced_force.h). A warp takes a piece of the columns of block j, of
// which it holds the sums, down all its rows, of which it writes the piece's share; then h stands where g does.
//
// Every sum has an order of its own, whatever the number of blocks. Included where RS_LANE is a thread of a block.

// Where an object's parts are. The slots come first (rs_large_slot): to find them takes no sum over sizes.
struct large_parts {
    double *slot;             // K [pairs], g [pairs], [padded r] E's part of f
    double *pair_sums, *sums; // s [pairs], E or the sums of columns [modal_step_large_sums]
    double *row_sums;         // [modal_step_large_rows] of every row of the table that of each piece
};
RS_FN large_parts large_parts_of(const modal_step_task &t, const modal_step_object *o, int slot)
{
    double *slots = t.work + o->work + modal_step_work_size_small(o->n_modes, o->parent_modes);
    const int64_t size = modal_step_slot_size(o->n_modes);
    large_parts p;
    p.slot = slots + slot * size;
    p.pair_sums = slots + 2 * size;
    p.sums = p.pair_sums + modal_step_pairs(o->n_modes);
    p.row_sums = p.sums + modal_step_large_sums(o->n_modes);
    return p;
}

// A block's view of a shape, in its shared memory: q, the products q_k q_l, where E's rows and the table's blocks begin, the
// lengths of rows, and where a block's pieces and their row sums begin.
struct large_view {
    double *q, *products;
    int32_t *rows, *blocks, *lengths, *pieces, *row_sums; // [r + 1] each
};

RS_FN int32_t large_row(int32_t r, int32_t m) { return (int32_t)modal_step_energy_row(r, m); }
RS_FN int32_t large_pair(int32_t r, int32_t k, int32_t l) { return k * r - k * (k - 1) / 2 + l - k; }

RS_FN large_view large_look(const modal_step_task &t, const modal_step_object *o, large_state state, double *memory)
{
    const int32_t r = o->n_modes, pairs = (int32_t)modal_step_pairs(r);
    large_view v;
    v.q = memory;
    v.products = v.q + modal_step_padded(r);
    v.rows = (int32_t *)(v.products + pairs);
    v.blocks = v.rows + r + 1;
    v.lengths = v.blocks + r + 1;
    v.pieces = v.lengths + r + 1;
    v.row_sums = v.pieces + r + 1;
    const double *start = t.q + o->coordinates, *end = t.next_q + o->coordinates;
    RS_EACH(k, r)
    {
        v.q[k] = state == LARGE_END ? end[k] : state == LARGE_START ? start[k] : 0.5 * (start[k] + end[k]);
        v.rows[1 + k] = v.lengths[k] = large_row(r, k);
        v.blocks[1 + k] = (k + 2) * v.lengths[k];
        v.pieces[1 + k] = (int32_t)modal_step_pieces(r, k);
        v.row_sums[1 + k] = (k + 2) * v.pieces[1 + k];
    }
    RS_SYNC();
    int32_t *const running[] = {v.rows, v.blocks, v.pieces, v.row_sums};
    if (RS_LANE < 128) { // running sums, a warp each
        int32_t *sums = running[RS_LANE / 32], before = 0;
        const int32_t lane = RS_LANE % 32;
        for (int32_t base = 1; base <= r; base += 32) {
            const int32_t at = base + lane;
            int32_t x = at <= r ? sums[at] : 0;
            for (int32_t d = 1; d < 32; d *= 2) {
                const int32_t a = __shfl_up_sync(~0u, x, d);
                if (lane >= d) x += a;
            }
            x += before;
            if (at <= r) sums[at] = x;
            before = __shfl_sync(~0u, x, 31);
        }
        if (lane == 0) sums[0] = 0;
    }
    for (int32_t k = RS_LANE / 32; k < r; k += RS_LANES / 32)
        for (int32_t l = k + RS_LANE % 32; l < r; l += 32) v.products[large_pair(r, k, l)] = v.q[k] * v.q[l];
    for (int32_t e = r * (r + 1) / 2 + RS_LANE; e < pairs; e += RS_LANES) v.products[e] = 0;
    RS_SYNC();
    return v;
}

// The c-th pair (k, l), k <= l < n, of a triangle.
RS_FN void large_pair_at(int32_t n, int32_t c, int32_t *k, int32_t *l)
{
    const float side = 2 * n + 1;
    int32_t row = (int32_t)(0.5f * (side - sqrtf(fmaxf(side * side - 8 * c, 0))));
    row = min(max(row, 0), n - 1);
    while (row > 0 && row * n - row * (row - 1) / 2 > c) row--;
    while ((row + 1) * n - (row + 1) * row / 2 <= c) row++;
    *k = row;
    *l = row + c - (row * n - row * (row - 1) / 2);
}

// E from the slice's share of its numbers.
RS_FN void large_add_sums(const double *table, int32_t r, const large_view &v, int32_t slice, int32_t n_slices, double *sums)
{
    const int32_t count = v.rows[r];
    int32_t m = 0;
    for (int32_t e = slice * RS_LANES + RS_LANE; e < count; e += n_slices * RS_LANES) {
        if (e >= v.rows[m + 1]) {
            int32_t high = r;
            while (high - m > 1) {
                const int32_t middle = (m + high) / 2;
                if (v.rows[middle] <= e)
                    m = middle;
                else
                    high = middle;
            }
        }
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

RS_FN double large_warp_sum(double x)
{
    for (int32_t d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
    return x;
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
        sum = large_warp_sum(sum);
        if (lane == 0) pair_sums[large_pair(r, i, j)] = sum;
    }
}

// Of eight numbers a lane, the sums over all lanes: lane 4 n has the n-th.
RS_FN double large_eight_sums(double *x)
{
#pragma unroll
    for (int32_t d = 16, n = 4; n > 0; d /= 2, n /= 2) {
        const bool upper = RS_LANE & d;
#pragma unroll
        for (int32_t h = 0; h < n; h++) {
            const double kept = upper ? x[h + n] : x[h], sent = upper ? x[h] : x[h + n];
            x[h] = kept + __shfl_xor_sync(~0u, sent, d);
        }
    }
    x[0] += __shfl_xor_sync(~0u, x[0], 2);
    return x[0] + __shfl_xor_sync(~0u, x[0], 1);
}

// The sums of columns and of pieces of rows, the slice's share of the pieces: those of many rows first, every other round from
// the last warp on.
RS_FN void large_add_pieces(const double *table, int32_t r, const large_view &v, int32_t slice, int32_t n_slices, const large_parts &p)
{
    const int32_t lane = RS_LANE % 32, n_warps = n_slices * (RS_LANES / 32), own = RS_LANE / 32 * n_slices + slice;
    const int32_t count = v.pieces[r];
    for (int32_t round = 0; round * n_warps < count; round++) {
        const int32_t at = count - 1 - (round * n_warps + (round % 2 ? n_warps - 1 - own : own));
        if (at < 0) continue;
        int32_t j = 0, high = r;
        while (high - j > 1) {
            const int32_t middle = (j + high) / 2;
            if (v.pieces[middle] <= at)
                j = middle;
            else
                high = middle;
        }
        const int32_t piece = at - v.pieces[j], n_pieces = v.pieces[j + 1] - v.pieces[j], n_rows = j + 2, n = v.lengths[j];
        const int32_t c = MODAL_STEP_PIECE * piece + 2 * lane, whole = (r - j) * (r - j + 1) / 2;
        const double *from = table + v.blocks[j] + (c < n ? c : 0), *products = v.products + large_pair(r, j, j);
        const double along = c < whole ? products[c] : 0, next = c + 1 < whole ? products[c + 1] : 0;
        double *rows = p.row_sums + v.row_sums[j] + piece, first = 0, second = 0;
        for (int32_t base = 0; base < n_rows; base += 8) {
            double2 row[8];
            double sums[8];
#pragma unroll
            for (int32_t i = 0; i < 8; i++) row[i] = __ldg((const double2 *)(from + min(base + i, n_rows - 1) * n));
#pragma unroll
            for (int32_t i = 0; i < 8; i++) {
                const double x = base + i >= n_rows ? 0 : base + i == 0 ? 1 : v.q[base + i - 1];
                first = fma(x, row[i].x, first);
                second = fma(x, row[i].y, second);
                sums[i] = fma(row[i].x, along, row[i].y * next);
            }
            const double sum = large_eight_sums(sums);
            if (lane % 4 == 0 && base + lane / 4 < n_rows) rows[(base + lane / 4) * n_pieces] = sum;
        }
        if (c < n) {
            p.sums[v.rows[j] + c] = v.q[j] * first;
            p.sums[v.rows[j] + c + 1] = v.q[j] * second;
        }
    }
}

// h, and the forces of the b alone, eight threads a pair and a mode.
RS_FN void large_add_up_force(const double *a, int32_t r, const large_view &v, const large_parts &p, int32_t slice, int32_t n_slices)
{
    const int32_t lane = RS_LANE % 8, pairs = r * (r + 1) / 2, count = pairs + r;
    double *h = p.slot + modal_step_pairs(r), *part = h + modal_step_pairs(r);
    for (int32_t base = slice * (RS_LANES / 8); base < count; base += n_slices * (RS_LANES / 8)) {
        const int32_t at = base + RS_LANE / 8; // all lanes of a warp go together
        int32_t k = -1, l = at - pairs;
        if (at < pairs) large_pair_at(r, at, &k, &l);
        double sum = 0;
        if (at < count) {
#pragma unroll 4
            for (int32_t m = lane; m <= k; m += 8) sum += p.sums[v.rows[m] + at - large_pair(r, m, m)];
            const int32_t n_pieces = v.pieces[l + 1] - v.pieces[l];
            const double *row = p.row_sums + v.row_sums[l] + (k + 1) * n_pieces;
#pragma unroll 4
            for (int32_t piece = lane; piece < n_pieces; piece += 8) sum += row[piece];
        }
        for (int32_t d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (lane > 0 || at >= count) continue;
        if (at < pairs)
            h[at] = __ldg(a + at) + sum;
        else
            part[l] = sum;
    }
}

// g, and K where it is wanted, eight threads a pair; E's part of f, a warp a mode.
RS_FN void large_add_up(const double *a, int32_t r, const large_view &v, const large_parts &p, int32_t slice, int32_t n_slices,
                        bool whole)
{
    const int32_t pairs = (int32_t)modal_step_pairs(r), lane = RS_LANE % 8, count = r * (r + 1) / 2;
    const double *table = a + pairs;
    double *stiffness = p.slot, *g = p.slot + pairs, *part = g + pairs;
    for (int32_t base = slice * (RS_LANES / 8); base < count; base += n_slices * (RS_LANES / 8)) {
        const int32_t at = base + RS_LANE / 8, on = at < count; // all lanes of a warp go together
        int32_t k, l;
        large_pair_at(r, on ? at : 0, &k, &l);
        double sum = 0, mixed = 0;
#pragma unroll 4
        for (int32_t m = lane; m <= k; m += 8) {
            const int32_t c = at - large_pair(r, m, m);
            if (on) sum = fma(v.q[m], p.sums[v.rows[m] + c] + __ldg(table + v.blocks[m] + c), sum);
        }
        if (whole) {
            const double *own = p.sums + v.rows[k] - large_pair(r, k, k);
#pragma unroll 4
            for (int32_t m = k + lane; m < r; m += 8) {
                const double q = m == l ? 2 * v.q[m] : v.q[m];
                if (on) mixed = fma(q, own[m < l ? large_pair(r, m, l) : large_pair(r, l, m)], mixed);
            }
        }
        for (int32_t d = 4; d > 0; d /= 2) {
            sum += __shfl_xor_sync(~0u, sum, d);
            mixed += __shfl_xor_sync(~0u, mixed, d);
        }
        if (!on || lane > 0) continue;
        sum = __ldg(a + at) + 0.5 * sum;
        g[at] = sum;
        if (whole) stiffness[at] = (k == l ? 2 : 1) * (mixed + p.pair_sums[at] + sum);
    }
    for (int32_t m = slice * (RS_LANES / 32) + RS_LANE / 32; m < r; m += n_slices * (RS_LANES / 32)) {
        const double *sums = p.sums + v.rows[m], *products = v.products + large_pair(r, m, m);
        const int32_t n = (r - m) * (r - m + 1) / 2;
        double sum = 0;
#pragma unroll 4
        for (int32_t c = RS_LANE % 32; c < n; c += 32) sum = fma(sums[c], products[c], sum);
        sum = large_warp_sum(sum);
        if (RS_LANE % 32 == 0) part[m] = sum;
    }
}

// An object's share of the grid, in blocks: all of it where there is one object, but not less than 256 numbers of E each.
RS_FN int32_t large_slices(const modal_step_task &t, int32_t r)
{
    const int32_t most = (int32_t)gridDim.x / t.n_objects, n = r * (r + 1) * (r + 2) / 6 / 256;
    return max(1, min(n, most));
}

// Whether the object is evaluated, and with K.
RS_FN bool large_wanted(const modal_step_task &t, const modal_step_object *o, large_state state, bool *whole)
{
    const int32_t status = t.status[o->tree];
    const bool average = t.rule == MODAL_STEP_ENERGY, running = status == MODAL_STEP_RUNNING || status == MODAL_STEP_FROZEN;
    const double beta = t.rule == MODAL_STEP_STATIC ? 0 : o->tangent;
    *whole = false;
    if (o->n_modes <= RS_GRID_MODES || !__ldg(&t.shapes[o->shape].cubic)) return false;
    if (t.phase == MODAL_STEP_MEASURE) return t.active[o->tree];
    if (state == LARGE_START) return running && average;
    *whole = status == MODAL_STEP_RUNNING || (beta != 0 && (state == LARGE_MIDDLE || !average));
    return running && (state == LARGE_END || average);
}
// After a step: the middle, for what the tangent damping took.
RS_FN bool large_accepted(const modal_step_task &t, const modal_step_object *o, bool *whole)
{
    *whole = true;
    return o->n_modes > RS_GRID_MODES && __ldg(&t.shapes[o->shape].cubic) && o->tangent != 0 &&
           t.status[o->tree] == MODAL_STEP_CONVERGED;
}

// One evaluation. Ends with a barrier of the grid; before it, what is read must have been written behind one.
__device__ static __noinline__ void large_evaluate(const modal_step_task &t, large_state state, bool accepted, int slot,
                                                   double *memory)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int32_t most = large_slices(t, t.most_modes);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t item = blockIdx.x; item < (int64_t)most * t.n_objects; item += gridDim.x) {
            const int32_t slice = (int32_t)(item / t.n_objects);
            RS_OBJECT(o, &t, item % t.n_objects);
            const int32_t r = o->n_modes, n_slices = large_slices(t, r);
            bool whole;
            if (slice >= n_slices) continue;
            if (!(accepted ? large_accepted(t, o, &whole) : large_wanted(t, o, state, &whole))) continue;
            const double *a = t.tables + __ldg(&t.shapes[o->shape].energy), *table = a + modal_step_pairs(r);
            const large_view v = large_look(t, o, state, memory);
            const large_parts parts = large_parts_of(t, o, slot);
            const bool force = !whole && t.phase == MODAL_STEP_SOLVE; // a measure takes the energy from g
            if (force && pass == 0) {
                large_add_pieces(table, r, v, slice, n_slices, parts);
            } else if (force) {
                large_add_up_force(a, r, v, parts, slice, n_slices);
            } else if (pass == 0) {
                large_add_sums(table, r, v, slice, n_slices, parts.sums);
                if (whole) large_add_pairs(table, r, v, slice, n_slices, parts.pair_sums);
            } else {
                large_add_up(a, r, v, parts, slice, n_slices, whole);
            }
            RS_SYNC();
        }
        grid.sync();
    }
}
