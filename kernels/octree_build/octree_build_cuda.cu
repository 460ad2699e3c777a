// SPDX-License-Identifier: Apache-2.0
// Nothing is sorted. Masks of 4^3 points are made from the top down: every pass goes through the triangles (of the samples: through the
// masks of cells) and sets bits one level further down, and a prefix sum over the bits gives the next level its places, in Morton order by
// themselves. Sizes stay on the device: grids are fixed, and loops read how far they go.
#include "kernels/cuda_check.cuh"
#include "kernels/octree_build/octree_build.h"
#include "kernels/octree_build/octree_overlap.h"

namespace {

typedef unsigned long long word;

constexpr int THREADS = 256, BLOCKS = MODAL_BUILD_BLOCKS, WARPS = THREADS / 32;
constexpr int64_t ITEMS = 1 << 17; // warps that go through the triangles: small meshes get several a triangle

// A set of lattice points: top, levels of masks, their places.
struct point_set {
    int top_bits, n_levels, bits;
    uint32_t *top;
    modal_octree_mask *masks;
    uint64_t *keys;  // [most] Morton keys of masks, each in its level
    int64_t *begin;  // [n_levels + 1] masks before a level
    int64_t *points; // how many there are
    int64_t most;
};

__device__ __forceinline__ int place_in_block(unsigned x, unsigned y, unsigned z, int shift)
{
    const unsigned a = x >> shift & 3, b = y >> shift & 3, c = z >> shift & 3;
    return (int)((a & 1) | (b & 1) << 1 | (c & 1) << 2 | (a & 2) << 2 | (b & 2) << 3 | (c & 2) << 4);
}

__device__ __forceinline__ void set_bits(word *to, word bits)
{
    if ((*(volatile word *)to & bits) != bits) atomicOr(to, bits);
}

// Where the bit of a point is at a level; -1: among the top's flags. NULL where there is no room.
__device__ word *bits_at(const point_set &s, word *flags, int level, unsigned x, unsigned y, unsigned z, int *place)
{
    const int down = 2 * s.n_levels;
    if (level < 0) {
        const uint64_t key = modal_morton(x >> down, y >> down, z >> down);
        *place = (int)(key & 63);
        return flags + (key >> 6);
    }
    int64_t at = s.top[((((uint64_t)(z >> down) << s.top_bits) + (y >> down)) << s.top_bits) + (x >> down)];
    for (int k = 0; k < level && at < s.most; k++) {
        const modal_octree_mask m = s.masks[at];
        const word bit = (word)1 << place_in_block(x, y, z, 2 * (s.n_levels - 1 - k));
        if (!(m.there & bit)) return nullptr;
        at = (int64_t)m.first + __popcll(m.there & (bit - 1));
    }
    if (at >= s.most) return nullptr;
    *place = place_in_block(x, y, z, 2 * (s.n_levels - 1 - level));
    return (word *)&s.masks[at].there;
}

// The number of a point, -1 where it is not in the set.
__device__ int64_t number_of_point(const point_set &s, unsigned x, unsigned y, unsigned z)
{
    if ((x | y | z) >> s.bits) return -1;
    int place;
    word *const bits = bits_at(s, nullptr, s.n_levels - 1, x, y, z, &place);
    if (!bits || !(*bits >> place & 1)) return -1;
    const modal_octree_mask *m = (const modal_octree_mask *)bits; // `there` comes first
    return (int64_t)m->first + __popcll(m->there & (((word)1 << place) - 1));
}

// ---- marks ----

__global__ void __launch_bounds__(THREADS) mark_triangles(const modal_octree_build_task t, point_set s, word *flags, int level, int64_t parts)
{
    const int lane = threadIdx.x % 32;
    const int64_t items = t.n_triangles * parts;
    for (int64_t item = blockIdx.x * (int64_t)WARPS + threadIdx.x / 32; item < items; item += (int64_t)gridDim.x * WARPS) {
        modal_overlap o;
        double p[9];
        int64_t u, last_u;
        for (int k = 0; k < 9; k++) p[k] = __ldg(t.corners + 9 * (item / parts) + k);
        if (!modal_overlap_start(p, -t.margin, 1 + t.margin, &o)) {
            if (level < 0 && item % parts == 0 && lane == 0) atomicAdd((word *)&t.counts->flat, (word)1);
            continue;
        }
        modal_overlap_columns(&o, &u, &last_u);
        for (u += item % parts; u <= last_u; u += parts) {
            int64_t v, last_v;
            modal_overlap_rows(&o, u, &v, &last_v);
            for (v += lane; v <= last_v; v += 32) {
                int64_t first, last;
                modal_overlap_run(&o, u, v, &first, &last);
                for (int64_t w = first; w <= last; w++) {
                    const int64_t x = o.axis == 0 ? w : o.axis == 1 ? v : u, y = o.axis == 1 ? w : o.axis == 2 ? v : u,
                                  z = o.axis == 2 ? w : o.axis == 0 ? v : u;
                    if (x < 0 || y < 0 || z < 0 || (x | y | z) >> s.bits) continue;
                    int place;
                    word *const to = bits_at(s, flags, level, (unsigned)x, (unsigned)y, (unsigned)z, &place);
                    if (to) set_bits(to, (word)1 << place);
                }
            }
        }
    }
}

// Points of a mask widened by one along an axis (lib/octree/bricks.c): those in the block, and those in the next one.
__device__ __forceinline__ void widen_mask(word m, int axis, word *here, word *next)
{
    const word even = axis == 0 ? 0x5555555555555555 : axis == 1 ? 0x3333333333333333 : 0x0f0f0f0f0f0f0f0f;
    const word low = axis == 0 ? 0x00ff00ff00ff00ff : axis == 1 ? 0x0000ffff0000ffff : 0x00000000ffffffff;
    const int step = 1 << axis;
    *here = m | (m & even) << step | (m & ~even & low) << 7 * step;
    *next = (m & ~even & ~low) >> 9 * step;
}

__global__ void __launch_bounds__(THREADS) mark_samples(point_set cells, point_set s, word *flags, int level)
{
    const int64_t first = cells.begin[cells.n_levels - 1], end = cells.begin[cells.n_levels];
    for (int64_t i = first + blockIdx.x * (int64_t)THREADS + threadIdx.x; i < end && i < cells.most; i += (int64_t)gridDim.x * THREADS) {
        const uint64_t key = cells.keys[i];
        word m[8] = {cells.masks[i].there};
#pragma unroll
        for (int axis = 0; axis < 3; axis++)
#pragma unroll
            for (int k = 0; k < 1 << axis; k++) widen_mask(m[k], axis, &m[k], &m[k | 1 << axis]);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const unsigned x = 4 * (unsigned)(modal_morton_squeeze(key) + (k & 1)), y = 4 * (unsigned)(modal_morton_squeeze(key >> 1) + (k >> 1 & 1)),
                           z = 4 * (unsigned)(modal_morton_squeeze(key >> 2) + (k >> 2));
            if (!m[k] || (x | y | z) >> s.bits) continue;
            int place;
            word *const to = bits_at(s, flags, level, x, y, z, &place);
            if (to) set_bits(to, level == s.n_levels - 1 ? m[k] : (word)1 << place);
        }
    }
}

// ---- prefix sums: a stretch a block ----

__device__ __forceinline__ int64_t stretch_of(int64_t n) { return (n + (int64_t)BLOCKS * THREADS - 1) / ((int64_t)BLOCKS * THREADS) * THREADS; }

// Exclusive sum over the block; *all gets the whole.
__device__ __forceinline__ int scan_block(int x, int *all)
{
    __shared__ int warps[WARPS];
    const int lane = threadIdx.x % 32;
    int sum = x;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    __syncthreads();
    if (lane == 31) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    int before = 0, total = 0;
    for (int w = 0; w < WARPS; w++) {
        before += w < (int)(threadIdx.x / 32) ? warps[w] : 0;
        total += warps[w];
    }
    *all = total;
    return before + sum - x;
}

template <class F> __global__ void __launch_bounds__(THREADS) sum_stretches(const F f, int64_t *sums)
{
    const int64_t n = f.n(), stretch = stretch_of(n), first = blockIdx.x * stretch, end = first + stretch < n ? first + stretch : n;
    int64_t sum = 0;
    for (int64_t base = first; base < end; base += THREADS) {
        int all;
        scan_block(base + threadIdx.x < end ? f.count(base + threadIdx.x) : 0, &all);
        sum += all;
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// sums become those before; a thread a block.
template <class F> __global__ void __launch_bounds__(BLOCKS) sum_all_blocks(const F f, int64_t *sums)
{
    __shared__ int64_t all[BLOCKS];
    const int64_t own = sums[threadIdx.x];
    all[threadIdx.x] = own;
    for (int step = 1; step < BLOCKS; step *= 2) {
        __syncthreads();
        const int64_t other = (int)threadIdx.x >= step ? all[threadIdx.x - step] : 0;
        __syncthreads();
        all[threadIdx.x] += other;
    }
    sums[threadIdx.x] = all[threadIdx.x] - own;
    if (threadIdx.x == BLOCKS - 1) f.total(all[threadIdx.x]);
}

template <class F> __global__ void __launch_bounds__(THREADS) put_stretches(const F f, const int64_t *sums)
{
    const int64_t n = f.n(), stretch = stretch_of(n), first = blockIdx.x * stretch, end = first + stretch < n ? first + stretch : n;
    int64_t before = sums[blockIdx.x];
    for (int64_t base = first; base < end; base += THREADS) {
        const int64_t i = base + threadIdx.x;
        int all;
        const int own = scan_block(i < end ? f.count(i) : 0, &all);
        if (i < end) f.put(i, before + own);
        before += all;
    }
}

template <class F> modal_status prefix_sum(const F &f, int64_t *sums, cudaStream_t stream, const char *what, modal_error *err)
{
    sum_stretches<<<BLOCKS, THREADS, 0, stream>>>(f, sums);
    sum_all_blocks<<<1, BLOCKS, 0, stream>>>(f, sums);
    put_stretches<<<BLOCKS, THREADS, 0, stream>>>(f, sums);
    return modal_cuda_launched(what, err);
}

// The top's flags become numbers of masks.
struct number_top {
    point_set s;
    const word *flags;
    __device__ int64_t n() const { return (((int64_t)1 << 3 * s.top_bits) + 63) / 64; }
    __device__ int count(int64_t i) const { return __popcll(flags[i]); }
    __device__ void total(int64_t all) const { s.begin[0] = 0, s.begin[1] = all; }
    __device__ void put(int64_t i, int64_t at) const
    {
        for (word m = flags[i]; m; m &= m - 1, at++) {
            const uint64_t key = (uint64_t)(64 * i + __ffsll((long long)m) - 1);
            if (at >= s.most) return;
            const int64_t x = modal_morton_squeeze(key), y = modal_morton_squeeze(key >> 1), z = modal_morton_squeeze(key >> 2);
            s.keys[at] = key;
            s.top[(((z << s.top_bits) + y) << s.top_bits) + x] = (uint32_t)at;
        }
    }
};

// Bits of a level's masks become the masks of the next, or points.
struct number_level {
    point_set s, cells; // cells: of the samples only
    int level;
    int64_t *keys; // of points
    uint8_t *begins;
    int64_t most; // points
    __device__ bool last() const { return level == s.n_levels - 1; }
    __device__ int64_t n() const
    {
        const int64_t end = s.begin[level + 1] < s.most ? s.begin[level + 1] : s.most;
        return end > s.begin[level] ? end - s.begin[level] : 0;
    }
    __device__ int count(int64_t i) const { return __popcll(s.masks[s.begin[level] + i].there); }
    __device__ void total(int64_t all) const
    {
        if (last()) *s.points = all;
        else s.begin[level + 2] = s.begin[level + 1] + all;
    }
    __device__ void put(int64_t i, int64_t before) const
    {
        const int64_t own = s.begin[level] + i;
        const uint64_t key = s.keys[own];
        const word there = s.masks[own].there;
        int64_t at = last() ? before : s.begin[level + 1] + before;
        s.masks[own].first = (uint32_t)at;
        word begin = 0;
        if (last() && begins) { // where cells begin in this block
            int place;
            const word *bits = bits_at(cells, nullptr, cells.n_levels - 1, 4 * (unsigned)modal_morton_squeeze(key),
                                       4 * (unsigned)modal_morton_squeeze(key >> 1), 4 * (unsigned)modal_morton_squeeze(key >> 2), &place);
            if (bits) begin = *bits;
        }
        for (word m = there; m; m &= m - 1, at++) {
            const int place = __ffsll((long long)m) - 1;
            if (at >= (last() ? most : s.most)) return;
            if (last()) {
                keys[at] = (int64_t)(key << 6 | (unsigned)place);
                if (begins) begins[at] = begin >> place & 1;
            } else s.keys[at] = key << 6 | (unsigned)place;
        }
    }
};

modal_status fill_set(const modal_octree_build_task *t, const point_set &s, const point_set *cells, word *flags, int64_t *sums, cudaStream_t stream,
                      modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t parts = 1;
    while (parts < (int64_t)1 << t->bits && parts * t->n_triangles < ITEMS) parts *= 2;
    const int64_t blocks = (t->n_triangles * parts + WARPS - 1) / WARPS;
    for (int level = -1; level < s.n_levels && status == MODAL_OK; level++) {
        if (cells) mark_samples<<<BLOCKS, THREADS, 0, stream>>>(*cells, s, flags, level);
        else if (blocks > 0) mark_triangles<<<(unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX), THREADS, 0, stream>>>(*t, s, flags, level, parts);
        status = modal_cuda_launched("octree_build: marks", err);
        if (status != MODAL_OK) return status;
        if (level < 0) status = prefix_sum(number_top{s, flags}, sums, stream, "octree_build: top", err);
        else
            status = prefix_sum(number_level{s, cells ? *cells : s, level, cells ? t->keys : t->cell_keys, cells ? t->begins : nullptr,
                                       cells ? t->most_samples : t->most_cells},
                          sums, stream, "octree_build: levels", err);
    }
    return status;
}

// ---- the tree ----

__device__ __forceinline__ int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

// Nodes that begin with a sample, by the highest level in which they do. counts [bits / side_bits], zeroed.
__global__ void __launch_bounds__(THREADS) count_nodes(const modal_octree_build_task t, int64_t *counts)
{
    __shared__ int own[MODAL_OCTREE_BITS + 1];
    const int digit = 3 * t.side_bits, depth = t.bits / t.side_bits;
    const int64_t n = smaller_of(t.counts->samples, t.most_samples);
    if (threadIdx.x <= MODAL_OCTREE_BITS) own[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < n; i += (int64_t)gridDim.x * THREADS) {
        const int level = i == 0 ? 0 : depth - (63 - __clzll(t.keys[i] ^ t.keys[i - 1])) / digit;
        if (level < depth) atomicAdd(own + level, 1);
    }
    __syncthreads();
    if ((int)threadIdx.x < depth && own[threadIdx.x]) atomicAdd((word *)counts + threadIdx.x, (word)own[threadIdx.x]);
}

__global__ void add_levels(const modal_octree_build_task t, const int64_t *counts, const int64_t *begin, const int64_t *sample_begin)
{
    const int depth = t.bits / t.side_bits;
    int64_t n = 0, all = 0;
    t.node_offsets[0] = 0;
    for (int level = 0; level < depth; level++) t.node_offsets[level + 1] = all += n += counts[level];
    t.counts->nodes = all;
    t.counts->masks = begin[t.n_levels];
    t.counts->sample_masks = sample_begin[t.n_levels];
}

struct put_nodes {
    modal_octree_build_task t;
    int level;
    const int64_t *keys;
    int64_t *parents;
    __device__ int64_t n() const
    {
        const int depth = t.bits / t.side_bits;
        if (t.node_offsets[depth] > t.most_nodes) return 0;
        return level == depth - 1 ? smaller_of(t.counts->samples, t.most_samples) : t.node_offsets[level + 2] - t.node_offsets[level + 1];
    }
    __device__ int count(int64_t i) const { return i == 0 || keys[i] >> 3 * t.side_bits != keys[i - 1] >> 3 * t.side_bits; }
    __device__ void total(int64_t) const {}
    __device__ void put(int64_t i, int64_t before) const
    {
        const int digit = 3 * t.side_bits, is_new = count(i);
        const int64_t key = keys[i], node = before + is_new - 1;
        t.cells[(t.node_offsets[level] + node << digit) + (key & (1 << digit) - 1)] =
            level == t.bits / t.side_bits - 1 ? modal_octree_leaf(i, t.begins[i]) : (int32_t)(t.node_offsets[level + 1] + i);
        if (is_new) parents[node] = key >> digit;
    }
};

// A thread a corner.
__global__ void __launch_bounds__(THREADS) put_records(const modal_octree_build_task t, point_set samples)
{
    const int64_t n = smaller_of(*samples.points, t.most_samples) < *samples.points ? 0 : 8 * smaller_of(t.counts->cells, t.most_cells);
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < n; i += (int64_t)gridDim.x * THREADS) {
        const uint64_t key = (uint64_t)t.cell_keys[i / 8];
        const unsigned k = (unsigned)(i & 7);
        const int64_t sample = number_of_point(samples, (unsigned)modal_morton_squeeze(key) + (k & 1), (unsigned)modal_morton_squeeze(key >> 1) + (k >> 1 & 1),
                                         (unsigned)modal_morton_squeeze(key >> 2) + (k >> 2));
        for (int c = 0; c < t.width; c++) t.records[8 * (i / 8 * t.width + c) + k] = sample < 0 ? 0 : __ldg(t.values + sample * t.width + c);
    }
}

// ---- all of it ----

modal_status zero_outputs(const modal_octree_build_task *t, const modal_octree_build_parts &p, char *scratch, cudaStream_t s, modal_error *err)
{
    const size_t n_top = (size_t)1 << 3 * (t->bits - 2 * t->n_levels), masks = sizeof *t->masks * (size_t)t->most_masks;
    cudaError_t code = cudaMemsetAsync(t->counts, 0, sizeof *t->counts, s);
    if (code == cudaSuccess) code = cudaMemsetAsync(t->top, 255, 4 * n_top, s);
    if (code == cudaSuccess) code = cudaMemsetAsync(scratch + p.top, 255, 4 * n_top, s);
    if (code == cudaSuccess) code = cudaMemsetAsync(t->masks, 0, masks, s);
    if (code == cudaSuccess) code = cudaMemsetAsync(scratch + p.masks, 0, masks, s);
    if (code == cudaSuccess) code = cudaMemsetAsync(scratch + p.begin, 0, 8 * 64, s);
    if (code == cudaSuccess) code = cudaMemsetAsync(t->cells, 0, (size_t)(4 * t->most_nodes) << 3 * t->side_bits, s);
    return modal_cuda_status(code, "octree_build: clear", err);
}

modal_status make_tree(const modal_octree_build_task *t, int64_t *parents, int64_t *sums, int64_t *counts, const point_set &cells,
                       const point_set &samples, cudaStream_t s, modal_error *err)
{
    count_nodes<<<BLOCKS, THREADS, 0, s>>>(*t, counts);
    add_levels<<<1, 1, 0, s>>>(*t, counts, cells.begin, samples.begin);
    modal_status status = modal_cuda_launched("octree_build: nodes", err);
    const int64_t *keys = t->keys;
    for (int level = t->bits / t->side_bits - 1; level >= 0 && status == MODAL_OK; level--) {
        int64_t *const to = parents + (level & 1 ? t->most_nodes : 0);
        status = prefix_sum(put_nodes{*t, level, keys, to}, sums, s, "octree_build: nodes", err);
        keys = to;
    }
    return status;
}

} // namespace

extern "C" modal_status modal_octree_build_cuda(const modal_octree_build_task *t, modal_stream *stream, modal_error *err)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const modal_octree_build_parts p = modal_octree_build_parts_of(t);
    const int top_bits = t->bits - 2 * t->n_levels;
    char *const scratch = (char *)t->scratch;
    word *const flags = (word *)(scratch + p.flags);
    int64_t *const sums = (int64_t *)(scratch + p.sums), *const begin = (int64_t *)(scratch + p.begin);
    const point_set cells = {top_bits, t->n_levels, t->bits, t->top, t->masks, (uint64_t *)(scratch + p.keys), begin, &t->counts->cells, t->most_masks};
    const point_set samples = {top_bits, t->n_levels, t->bits, (uint32_t *)(scratch + p.top), (modal_octree_mask *)(scratch + p.masks),
                               (uint64_t *)(scratch + p.sample_keys), begin + 16, &t->counts->samples, t->most_masks};
    modal_status status = zero_outputs(t, p, scratch, s, err);
    for (int set = 0; set < 2 && status == MODAL_OK; set++) {
        status = modal_cuda_status(cudaMemsetAsync(flags, 0, (size_t)(p.top - p.flags), s), "octree_build: clear", err);
        if (status == MODAL_OK) status = fill_set(t, set ? samples : cells, set ? &cells : nullptr, flags, sums, s, err);
    }
    if (status == MODAL_OK) status = make_tree(t, (int64_t *)(scratch + p.parents), sums, begin + 32, cells, samples, s, err);
    if (status != MODAL_OK || t->width == 0) return status;
    put_records<<<8 * BLOCKS, THREADS, 0, s>>>(*t, samples);
    return modal_cuda_launched("octree_build: records", err);
}
