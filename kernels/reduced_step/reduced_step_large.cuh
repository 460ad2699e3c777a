// SPDX-License-Identifier: Apache-2.0
// Forces, stiffness and energy of objects of more than MODAL_STEP_GRID_MODES modes, by the whole grid, from the unique
// coefficients of their energy (reduced_force.h). With
//
//     E_m,kl = b_mkl + sum_{i<=m} q_i c_imkl + sum_{m<=j<=k} q_j c_mjkl     (c_mmkl twice), m <= k <= l
//     g_kl = a_kl + sum_{m<=k} q_m (E_m,kl + b_mkl) / 2                     (of every pair i < j of the last sum twice the half)
//     s_ij = sum_kl c_ijkl q_k q_l
//
// E(q) = sum_kl g_kl q_k q_l, f_m = sum_kl E_m,kl q_k q_l + (g q)_m, and K_pm, p <= m, is s_pm + g_pm + (E_p q)_m, where
// E_p and g stand for the symmetric matrices with their diagonals doubled, and K's diagonal is doubled, too. Three passes of
// the grid with a barrier after each: the shares of E and s that tiles of the coefficients have, each read once
// (reduced_step_once.cuh); E and s; then g, K and what f takes of E. Of what a pass reads nothing is written meanwhile.
// RS_TWO_PASSES (1 for the object that reduced_step_single.cu is for): E and s at once (reduced_step_twice.cuh).
//
// Where forces alone are wanted, or the energy, two passes do: with h_kl = a_kl + s_kl + sum_j q_j (b_jkl +
// sum_{i<=j} q_i c_ijkl), f_m = sum_kl b_mkl q_k q_l + (h q)_m (reduced_force.h). A warp takes a piece of the columns of block j, of
// which it holds the sums, down all its rows, of which it writes the piece's share; then h stands where g does.
//
// Every sum has an order of its own, whatever the number of blocks. Included where RS_LANE is a thread of a block.

// Where an object's parts are. The slots come first (rs_large_slot): to find them takes no sum over sizes.
struct large_parts {
    double *slot;             // K [pairs], g [pairs], [padded r] E's part of f
    double *pair_sums, *sums; // s [pairs], E or the sums of columns [modal_step_large_sums]
    double *row_sums;         // [modal_step_large_rows] of every row of the table that of each piece
    double *units;            // [modal_step_units, MODAL_STEP_UNIT]
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
    p.units = p.row_sums + modal_step_large_rows(o->n_modes);
    return p;
}

// A block's view of a shape, in its shared memory: q, the products q_k q_l, where E's rows and the table's blocks begin, the
// lengths of rows, and where a block's pieces and their row sums begin.
struct large_view {
    double *q, *products;
    int32_t *rows, *blocks, *lengths, *pieces, *row_sums; // [r + 1] each
    int32_t *units;                                       // [tiles + 1]
};

RS_FN int32_t large_row(int32_t r, int32_t m) { return (int32_t)modal_step_energy_row(r, m); }
RS_FN int32_t large_pair(int32_t r, int32_t k, int32_t l) { return k * r - k * (k - 1) / 2 + l - k; }

// anew: or it is there.
RS_FN large_view large_look(const modal_step_task &t, const modal_step_object *o, large_state state, double *memory, bool anew)
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
    v.units = v.row_sums + r + 1;
    if (!anew) return v;
    RS_EACH(tile, RS_TWO_PASSES ? 0 : (r + MODAL_STEP_TILE - 1) / MODAL_STEP_TILE + 1) { v.units[tile] = (int32_t)modal_step_units(r, tile); }
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

// Brings a line into the last-level cache.
RS_FN void large_fetch(const double *line)
{
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#else
    (void)*(const volatile double *)line; // tests/emulate: it must be within the table
#endif
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
        const double *block = table + v.blocks[j], *from = block + (c < n ? c : 0), *products = v.products + large_pair(r, j, j);
        const double along = c < whole ? products[c] : 0, next = c + 1 < whole ? products[c + 1] : 0;
        double *rows = p.row_sums + v.row_sums[j] + piece, first = 0, second = 0;
        for (int32_t base = 0; base < n_rows; base += 8) {
            double2 row[8];
            double sums[8];
#pragma unroll
            for (int32_t i = 0; i < 8; i++) row[i] = __ldg((const double2 *)(from + min(base + i, n_rows - 1) * n));
            if (!RS_TWO_PASSES && base + 8 + lane / 4 < n_rows && MODAL_STEP_PIECE * piece + 16 * (lane % 4) < n) // the next rows' lines
                large_fetch(block + (base + 8 + lane / 4) * n + MODAL_STEP_PIECE * piece + 16 * (lane % 4));
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

// Whether a thread a pair adds up, not eight: its neighbours then read neighbours. The order of the sums is the same.
RS_FN bool large_threads_few(int32_t r, int32_t n_slices) { return !RS_TWO_PASSES && n_slices * RS_LANES <= r * (r + 1); }

// Of the eight sums that make one: those of `lanes` lanes, 8 / lanes each.
template <int lanes> RS_FN double large_one_sum(const double *x)
{
    if (lanes == 1) return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    double sum = x[0];
    for (int32_t d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    return sum;
}

// h, and the forces of the b alone, `lanes` (1 or 8) threads a pair and a mode.
template <int lanes>
RS_FN void large_add_up_force(const double *a, int32_t r, const large_view &v, const large_parts &p, int32_t slice, int32_t n_slices)
{
    enum { OWN = 8 / lanes };
    const int32_t lane = RS_LANE % lanes, side = RS_LANES / lanes, pairs = r * (r + 1) / 2, count = pairs + r;
    double *h = p.slot + modal_step_pairs(r), *part = h + modal_step_pairs(r);
    for (int32_t base = slice * side; base < count; base += n_slices * side) {
        const int32_t at = base + RS_LANE / lanes; // all lanes of a warp go together
        int32_t k = -1, l = at - pairs;
        if (at < pairs) large_pair_at(r, at, &k, &l);
        double x[8] = {0};
        if (at < count) {
#pragma unroll(lanes == 1 ? 1 : 4)
            for (int32_t m = lane; m <= k; m += 8)
#pragma unroll
                for (int32_t i = 0; i < OWN; i++) {
                    const int32_t near = min(m + i, k);
                    const double value = p.sums[v.rows[near] + at - large_pair(r, near, near)];
                    x[i] += m + i <= k ? value : 0;
                }
            const int32_t n_pieces = v.pieces[l + 1] - v.pieces[l];
            const double *row = p.row_sums + v.row_sums[l] + (k + 1) * n_pieces;
#pragma unroll(lanes == 1 ? 1 : 4)
            for (int32_t piece = lane; piece < n_pieces; piece += 8)
#pragma unroll
                for (int32_t i = 0; i < OWN; i++) {
                    const double value = row[min(piece + i, n_pieces - 1)];
                    x[i] += piece + i < n_pieces ? value : 0;
                }
        }
        const double sum = large_one_sum<lanes>(x);
        if (lane > 0 || at >= count) continue;
        if (at < pairs)
            h[at] = __ldg(a + at) + sum;
        else
            part[l] = sum;
    }
}

// g and K, `lanes` threads a pair.
template <int lanes>
RS_FN void large_add_up_pairs(const double *a, int32_t r, const large_view &v, const large_parts &p, int32_t slice, int32_t n_slices)
{
    enum { OWN = 8 / lanes };
    const int32_t lane = RS_LANE % lanes, side = RS_LANES / lanes, count = r * (r + 1) / 2;
    const double *table = a + modal_step_pairs(r);
    double *stiffness = p.slot, *g = p.slot + modal_step_pairs(r);
    for (int32_t base = slice * side; base < count; base += n_slices * side) {
        const int32_t given = base + RS_LANE / lanes, at = min(given, count - 1); // all lanes of a warp go together
        int32_t k, l;
        large_pair_at(r, at, &k, &l);
        double x[8] = {0}, y[8] = {0};
#pragma unroll(lanes == 1 ? 1 : 4)
        for (int32_t m = lane; m <= k; m += 8)
#pragma unroll
            for (int32_t i = 0; i < OWN; i++) {
                const int32_t near = min(m + i, k), c = at - large_pair(r, near, near);
                const double value = p.sums[v.rows[near] + c] + __ldg(table + v.blocks[near] + c);
                x[i] = fma(m + i <= k ? v.q[near] : 0, value, x[i]);
            }
        const double *own = p.sums + v.rows[k] - large_pair(r, k, k);
#pragma unroll(lanes == 1 ? 1 : 4)
        for (int32_t m = k + lane; m < r; m += 8)
#pragma unroll
            for (int32_t i = 0; i < OWN; i++) {
                const int32_t near = min(m + i, r - 1);
                const double q = near == l ? 2 * v.q[near] : v.q[near];
                y[i] = fma(m + i < r ? q : 0, own[near < l ? large_pair(r, near, l) : large_pair(r, l, near)], y[i]);
            }
        const double sum = __ldg(a + at) + 0.5 * large_one_sum<lanes>(x), mixed = large_one_sum<lanes>(y);
        if (given >= count || lane > 0) continue;
        g[at] = sum;
        stiffness[at] = (k == l ? 2 : 1) * (mixed + p.pair_sums[at] + sum);
    }
}

// What f takes of E, a warp a mode.
RS_FN void large_add_up_modes(int32_t r, const large_view &v, const large_parts &p, int32_t slice, int32_t n_slices)
{
    double *part = p.slot + 2 * modal_step_pairs(r);
    for (int32_t m = slice * (RS_LANES / 32) + RS_LANE / 32; m < r; m += n_slices * (RS_LANES / 32)) {
        const double *sums = p.sums + v.rows[m], *products = v.products + large_pair(r, m, m);
        const int32_t n = (r - m) * (r - m + 1) / 2;
        double sum = 0;
#pragma unroll 4
        for (int32_t c = RS_LANE % 32; c < n; c += 32) sum = fma(sums[c], products[c], sum);
        sum = rs_warp_sum(sum);
        if (RS_LANE % 32 == 0) part[m] = sum;
    }
}

// The block that number e of E is in, from m on.
RS_FN int32_t large_block_of(const large_view &v, int32_t r, int32_t e, int32_t m)
{
    if (e < v.rows[m + 1]) return m;
    int32_t high = r;
    while (high - m > 1) {
        const int32_t middle = (m + high) / 2;
        if (v.rows[middle] <= e)
            m = middle;
        else
            high = middle;
    }
    return m;
}

#if RS_TWO_PASSES
#include "kernels/reduced_step/reduced_step_twice.cuh"
#else
#include "kernels/reduced_step/reduced_step_once.cuh"
#endif

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

// A pass over a slice of an object. With K: tiles, E and s, sums, or E and s, sums; the forces alone: pieces, sums.
RS_FN void large_pass(const modal_step_task &t, const modal_step_object *o, bool whole, int pass, const large_view &v,
                      const large_parts &parts, int32_t slice, int32_t n_slices)
{
    const int32_t r = o->n_modes;
    const double *a = t.tables + __ldg(&t.shapes[o->shape].energy), *table = a + modal_step_pairs(r);
    const bool few = large_threads_few(r, n_slices);
    if (!whole && pass == 0) {
        large_add_pieces(table, r, v, slice, n_slices, parts);
    } else if (!whole) {
        if (few)
            large_add_up_force<1>(a, r, v, parts, slice, n_slices);
        else
            large_add_up_force<8>(a, r, v, parts, slice, n_slices);
    } else if (pass == 0) {
#if RS_TWO_PASSES
        large_add_sums(table, r, v, slice, n_slices, parts.sums);
        large_add_pairs(table, r, v, slice, n_slices, parts.pair_sums);
#else
        once_make_units(table, r, v, slice, n_slices, parts);
    } else if (pass == 1) {
        once_add_sums(table, r, v, slice, n_slices, parts);
        once_add_pairs(r, v, slice, n_slices, parts);
#endif
    } else {
        if (few)
            large_add_up_pairs<1>(a, r, v, parts, slice, n_slices);
        else
            large_add_up_pairs<8>(a, r, v, parts, slice, n_slices);
        large_add_up_modes(r, v, parts, slice, n_slices);
    }
}

// One evaluation; before it, what is read must have been written behind a barrier of the grid. Ends with one, but where an object
// is one block's: that is the block which then works on it (object_a_block), and nobody waits for others.
__device__ static __noinline__ void large_evaluate(const modal_step_task &t, large_state state, bool accepted, int slot,
                                                   double *memory)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int32_t most = large_slices(t, t.most_modes);
    const int64_t items = (int64_t)most * t.n_objects;
    const bool alone = !RS_TWO_PASSES && most == 1;
    bool any = alone; // whether K is wanted of one
    for (int32_t i = RS_LANE; i < t.n_objects && !alone && !RS_TWO_PASSES; i += RS_LANES) {
        RS_OBJECT(o, &t, i);
        bool whole, wanted = accepted ? large_accepted(t, o, &whole) : large_wanted(t, o, state, &whole);
        any |= wanted && whole;
    }
    const int passes = !RS_TWO_PASSES && __syncthreads_or(any) ? 3 : 2;
    for (int64_t base = alone ? blockIdx.x : 0; base < (alone ? items : 1); base += gridDim.x)
        for (int pass = 0; pass < passes; pass++) {
            for (int64_t item = alone ? base : blockIdx.x; item < (alone ? base + 1 : items); item += gridDim.x) {
                const int32_t slice = (int32_t)(item / t.n_objects);
                RS_OBJECT(o, &t, item % t.n_objects);
                const int32_t n_slices = large_slices(t, o->n_modes);
                bool whole;
                if (slice >= n_slices) continue;
                if (!(accepted ? large_accepted(t, o, &whole) : large_wanted(t, o, state, &whole))) continue;
                if (!whole && pass == 2) continue;
                // that of the last pass, where it was the same object
                const bool anew = RS_TWO_PASSES || pass == 0 || (!alone && items > gridDim.x);
                const large_view v = large_look(t, o, state, memory, anew);
                large_pass(t, o, whole, pass, v, large_parts_of(t, o, slot), slice, n_slices);
                RS_SYNC();
            }
            if (!alone) grid.sync();
        }
}
