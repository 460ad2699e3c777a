// SPDX-License-Identifier: Apache-2.0
// The tile product for many columns: three TF32 products on the tensor cores in place of one float32
// product, U q ~ U_high q_high + U_high q_low + U_low q_high, with x_high = x rounded to TF32's 11 bits
// and x_low = x - x_high.
//
// A block holds q of its columns in shared memory, split and in the order of the fragments, and
// consists of WT teams of WN warps. A team walks through tiles: one warp brings the tile's U to a ring
// in shared memory (cp.async.bulk), every warp multiplies it with its own 8 NT
// columns, transforms and writes. Rows of the fragments are vertices in such an order that a lane ends
// up with x y z of four consecutive vertices: 12 consecutive floats of a column. Why it is fast:
//  - 16 modes go to the ring in four copies, each 8 banks further on, and the lanes of a fragment take
//    one mode of each: their 16-byte loads then meet every bank once, not four times;
//  - results pass through shared memory, so that a warp writes 384 consecutive bytes of a column, and
//    stores are evict-first (st.global.cs): the columns are not read again here;
//  - the teams of a block write neighbouring tiles, so that memory sees longer runs.
#ifndef MODAL_KERNELS_TILE_TENSOR_CUH
#define MODAL_KERNELS_TILE_TENSOR_CUH

#include "kernels/cuda_check.cuh"
#include "kernels/modal_sum/tensor_core.cuh"

namespace modal_cuda {

constexpr int GRANULE = 16;                   // modes; the last one of a tile may have 8
constexpr int GRANULE_FLOATS = 4 * (4 * 96 + 8); // in the ring, see granule_quarter
constexpr int STAGE_PITCH = 100;              // floats of a column where results are staged
constexpr int STAGES_MAX = 4;

// A granule's modes are taken in four quarters, of which lane t of a group multiplies the t-th, and a
// quarter begins 8 banks behind the one before. This is the number of modes of a quarter.
__device__ __forceinline__ int granule_quarter(int modes_left) { return modes_left > 8 ? 4 : 2; }
__device__ __forceinline__ int quarter_floats(int quarter) { return quarter * 96 + 8; }

// Whether every column begins at a multiple of 16 bytes.
inline bool tensor_vectors(const Product &p)
{
    return p.n_vertices % 4 == 0 && (uintptr_t)p.positions % 16 == 0 &&
           (uintptr_t)p.displacement % 16 == 0;
}

struct TensorPlan {
    int64_t column_groups; // of 8 NT WN columns
    int chunk_modes;       // modes of a tile that one stage of the ring holds, in granules
    int n_chunks, n_stages, stage_floats;
    bool contiguous; // a block's (columns, tile) pairs follow each other; else its tiles are strided
    bool bulk_rest;  // the rest positions begin at a multiple of 16 bytes
};

// q and T of the columns from `first` on. b_s is [modes / 8][CB / 8][32] fragments, frames_s [CB][12].
template <int CB, Kind KIND>
__device__ __forceinline__ void load_tensor_columns(const Product &p, int64_t first, float4 *b_s,
                                                    float *frames_s)
{
    const int r = p.n_modes, count = (r + 7) / 8 * CB * 4;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int64_t column = first + i / 32 % (CB / 8) * 8 + i % 32 / 4;
        const int k0 = i / (CB * 8) * GRANULE, quarter = granule_quarter(r - k0);
        const int k = k0 + i % 4 * quarter + i / (CB * 4) % 2 * 2;
        const float *q = p.q + column * r + k;
        const bool exists = column < p.n_columns;
        uint32_t high[2], low[2];
        split(exists && k < r ? __ldg(q) : 0.0f, high[0], low[0]);
        split(exists && k + 1 < r ? __ldg(q + 1) : 0.0f, high[1], low[1]);
        b_s[i] = make_float4(__uint_as_float(high[0]), __uint_as_float(high[1]),
                             __uint_as_float(low[0]), __uint_as_float(low[1]));
    }
    if (KIND != SUM)
        for (int i = threadIdx.x; i < CB * 12; i += blockDim.x)
            frames_s[i] = first + i / 12 < p.n_columns ? __ldg(p.frames + first * 12 + i) : 0.0f;
}

// sum += U q of one chunk in the ring. sum[3 h + c][i] is coordinate c of the lane's vertices 2 h and
// 2 h + 1 in the columns of fragment i. Rows past the last mode may hold anything: `zeros` instead.
// The order of loads and products is fixed here (volatile): with the next row one step ahead it needs
// fewer registers than the compiler's own order, which spills.
template <int NT, int PITCH>
__device__ __forceinline__ void multiply(float (&sum)[6][NT][4], uint32_t chunk, uint32_t zeros,
                                         uint32_t b, int modes)
{
    const int t = threadIdx.x % 4;
#pragma unroll 1
    for (int left = modes; left > 0; left -= GRANULE, chunk += GRANULE_FLOATS * 4) {
        const int quarter = granule_quarter(left);
        uint32_t from = chunk + t * quarter_floats(quarter) * 4;
        const int mine = left - t * quarter;
#pragma unroll 1
        for (int k = 0; k < quarter; k += 2, from += 768, b += PITCH) {
            const uint32_t row0 = k < mine ? from : zeros, row1 = k + 1 < mine ? from + 384 : zeros;
            float4 u = load_shared(row0), v = load_shared(row1), q[NT];
#pragma unroll
            for (int i = 0; i < NT; i++) q[i] = load_shared(b + i * 512);
#pragma unroll
            for (int c = 0; c < 3; c++) {
                uint32_t high[2][4], low[2][4];
                split(u.x, high[0][0], low[0][0]), split(u.y, high[0][1], low[0][1]);
                split(v.x, high[0][2], low[0][2]), split(v.y, high[0][3], low[0][3]);
                split(u.z, high[1][0], low[1][0]), split(u.w, high[1][1], low[1][1]);
                split(v.z, high[1][2], low[1][2]), split(v.w, high[1][3], low[1][3]);
                if (c < 2) u = load_shared(row0 + 128 * (c + 1)), v = load_shared(row1 + 128 * (c + 1));
#pragma unroll
                for (int i = 0; i < NT; i++)
#pragma unroll
                    for (int h = 0; h < 2; h++)
                        multiply_tf32(sum[3 * h + c][i], low[h], q[i].x, q[i].y);
#pragma unroll
                for (int i = 0; i < NT; i++)
#pragma unroll
                    for (int h = 0; h < 2; h++)
                        multiply_tf32(sum[3 * h + c][i], high[h], q[i].z, q[i].w);
#pragma unroll
                for (int i = 0; i < NT; i++)
#pragma unroll
                    for (int h = 0; h < 2; h++)
                        multiply_tf32(sum[3 * h + c][i], high[h], q[i].x, q[i].y);
            }
        }
    }
}

// Brings modes [k0, k0 + modes) of a tile to the ring, and its rest positions where given, which are
// copied by hand where they are not aligned. One thread.
__device__ __forceinline__ void copy_chunk(const Product &p, float *to, int64_t tile, int k0,
                                           int modes, const float *rest, float *rest_to, bool bulk,
                                           uint64_t *barrier)
{
    if (rest && !bulk)
#pragma unroll 1
        for (int i = 0; i < 96; i++) rest_to[i] = rest[i];
    barrier_expect(barrier, (modes + (rest && bulk)) * 384);
    const float *from = p.modal_matrix + (tile * p.n_modes + k0) * 96;
#pragma unroll 1
    for (int left = modes; left > 0; left -= GRANULE, to += GRANULE_FLOATS) {
        const int quarter = granule_quarter(left);
#pragma unroll 1
        for (int t = 0; t < 4; t++) {
            const int count = min(left - t * quarter, quarter);
            if (count <= 0) break;
            copy_bulk(to + t * quarter_floats(quarter), from, count * 384, barrier);
            from += count * 96;
        }
    }
    if (rest && bulk) copy_bulk(rest_to, rest, 384, barrier);
}

// Hides from the compiler how the values came about; it would otherwise compute the addresses of all
// columns ahead of the tiles and have no registers left for the sums.
__device__ __forceinline__ void keep_one(float *&pointer, int &count)
{
    asm volatile("" : "+l"(pointer), "+r"(count)::"memory");
}

// Transforms and writes the warp's columns: `out` is its first one at the tile, `columns` of them
// exist. frames_s is [8 NT][12].
template <int NT, Kind KIND, bool VECTORS, bool DISPLACEMENT>
__device__ __forceinline__ void write_columns(const float (&sum)[6][NT][4], const float *rest_s,
                                              float *out, int64_t pitch, int columns, int limit,
                                              const float *frames_s, float *stage)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < NT; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int c = 8 * i + 2 * t + half;
            float4 frame[3], rest[3] = {};
            if (KIND != SUM)
#pragma unroll
                for (int j = 0; j < 3; j++) {
                    frame[j] = reinterpret_cast<const float4 *>(frames_s)[3 * c + j];
                    if (!DISPLACEMENT)
                        rest[j] = *reinterpret_cast<const float4 *>(rest_s + 32 * j + 4 * g);
                }
            float o[12];
#pragma unroll
            for (int v = 0; v < 4; v++) {
                const int h = v / 2, f = v % 2 * 2 + half;
                const float u[3] = {sum[3 * h][i][f], sum[3 * h + 1][i][f], sum[3 * h + 2][i][f]};
                const float at_rest[3] = {component(rest[0], v), component(rest[1], v),
                                          component(rest[2], v)};
                float x[3], d[3];
                transform<DISPLACEMENT ? DEFORM_WITH_DISPLACEMENT : KIND>(frame, at_rest, u, x, d);
#pragma unroll
                for (int j = 0; j < 3; j++) o[3 * v + j] = DISPLACEMENT ? d[j] : x[j];
            }
            float4 *to = reinterpret_cast<float4 *>(stage + (2 * t + half) * STAGE_PITCH) + 3 * g;
            to[0] = make_float4(o[0], o[1], o[2], o[3]);
            to[1] = make_float4(o[4], o[5], o[6], o[7]);
            to[2] = make_float4(o[8], o[9], o[10], o[11]);
        }
        __syncwarp();
        if (VECTORS) {
#pragma unroll
            for (int c = 0; c < 8; c++) {
                if (columns > 0 && 4 * lane < limit)
                    __stcs(reinterpret_cast<float4 *>(out) + lane,
                        *reinterpret_cast<const float4 *>(stage + c * STAGE_PITCH + 4 * lane));
                out += pitch, columns--;
                keep_one(out, columns);
            }
        } else {
#pragma unroll
            for (int c = 0; c < 8; c++) {
                if (columns > 0)
#pragma unroll
                    for (int j = 0; j < 3; j++)
                        if (32 * j + lane < limit)
                            __stcs(out + 32 * j + lane, stage[c * STAGE_PITCH + 32 * j + lane]);
                out += pitch, columns--;
                keep_one(out, columns);
            }
        }
        __syncwarp();
    }
}

template <int NT, int WN, int WT, int BLOCKS, Kind KIND, bool VECTORS>
__global__ void __launch_bounds__(32 * WN * WT, BLOCKS)
    tensor(const Product p, const TensorPlan plan)
{
    constexpr int CB = 8 * NT * WN;
    extern __shared__ float4 shared[];
    __shared__ uint64_t full[WT][STAGES_MAX], empty[WT][STAGES_MAX];
    __shared__ alignas(16) float zeros[96];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wn = warp % WN, wt = warp / WN;
    const int r = p.n_modes, n_tiles = (int)p.n_tiles;
    float4 *b_s = shared;
    float *frames_s = &shared[(r + 7) / 8 * (CB * 4)].x;
    float *ring = frames_s + CB * 12 + wt * plan.n_stages * plan.stage_floats;
    float *stage = frames_s + CB * 12 + WT * plan.n_stages * plan.stage_floats +
                   warp * 8 * STAGE_PITCH;
    if (lane == 0 && wn == 0)
        for (int i = 0; i < plan.n_stages; i++) {
            barrier_init(&full[wt][i], 1);
            barrier_init(&empty[wt][i], WN);
        }
    barrier_init_done();
    for (int i = threadIdx.x; i < 96; i += blockDim.x) zeros[i] = 0.0f;

    const int64_t items = plan.column_groups * n_tiles;
    const int64_t item0 = items * blockIdx.x / gridDim.x;
    const int64_t item1 = items * (blockIdx.x + 1) / gridDim.x;
    const int step = plan.contiguous ? WT : WT * (int)gridDim.x;
    int group = plan.contiguous ? (int)(item0 / n_tiles) : 0;
    const int group_end =
        plan.contiguous ? (int)((item1 + n_tiles - 1) / n_tiles) : (int)plan.column_groups;
    const int lag = plan.n_stages > 2;
    int slot = 0;
    uint32_t phase = 0;
    for (; group < group_end; group++) {
        int tile = blockIdx.x * WT, tile_end = n_tiles;
        if (plan.contiguous) {
            tile = (int)max(item0 - (int64_t)group * n_tiles, (int64_t)0);
            tile_end = (int)min(item1 - (int64_t)group * n_tiles, (int64_t)n_tiles);
        }
        tile += wt;
        const int tile_begin = tile;
        int piece = 0;
        // chunk number `piece` of the team in this group of columns; one lane
        const auto produce = [&](int piece, int to_slot) {
            const int k0 = piece % plan.n_chunks * plan.chunk_modes;
            const int64_t from = tile_begin + (int64_t)(piece / plan.n_chunks) * step;
            if (from >= tile_end) return;
            float *to = ring + to_slot * plan.stage_floats;
            copy_chunk(p, to, from, k0, min(plan.chunk_modes, r - k0),
                       KIND != SUM && k0 + plan.chunk_modes >= r ? p.rest_tiles + from * 96
                                                                 : nullptr,
                       to + plan.stage_floats - 96, plan.bulk_rest, &full[wt][to_slot]);
        };
        __syncthreads(); // the barriers are there; nobody uses the last columns any more
        for (int i = wn; i < plan.n_stages; i += WN)
            if (lane == 0) produce(i, slot + i < plan.n_stages ? slot + i : slot + i - plan.n_stages);
        load_tensor_columns<CB, KIND>(p, (int64_t)group * CB, b_s, frames_s);
        __syncthreads();
        for (; tile < tile_end; tile += step) {
            float sum[6][NT][4] = {};
            uint32_t b = shared_address(b_s + wn * NT * 32 + lane);
#pragma unroll 1
            for (int left = r; left > 0; left -= plan.chunk_modes) {
                const float *u = ring + slot * plan.stage_floats;
                barrier_wait(&full[wt][slot], phase);
                const uint32_t at = lane / 4 * 16;
                multiply<NT, CB * 64>(sum, shared_address(u) + at, shared_address(zeros) + at, b,
                                      min(plan.chunk_modes, left));
                b += plan.chunk_modes * (CB * 8);
                if (left <= plan.chunk_modes) {
                    const int64_t pitch = p.n_vertices * 3;
                    const int64_t begin = ((int64_t)group * CB + wn * NT * 8) * pitch + (int64_t)tile * 96;
                    const int columns =
                        (int)min(p.n_columns - (int64_t)group * CB, (int64_t)CB) - wn * NT * 8;
                    const int limit = (int)min(pitch - (int64_t)tile * 96, (int64_t)96);
                    const float *rest = u + plan.stage_floats - 96;
                    write_columns<NT, KIND, VECTORS, false>(sum, rest, p.positions + begin, pitch,
                                                            columns, limit,
                                                            frames_s + wn * NT * 96, stage);
                    if (KIND == DEFORM_WITH_DISPLACEMENT)
                        write_columns<NT, KIND, VECTORS, true>(
                            sum, rest, p.displacement + begin, pitch, columns, limit,
                            frames_s + wn * NT * 96, stage);
                }
                __syncwarp();
                if (lane == 0) barrier_arrive(&empty[wt][slot]);
                // the warps take turns to refill the ring, one chunk late where it is long enough for
                // that, so that nobody waits for the others
                if (piece >= lag && (piece - lag) % WN == wn && lane == 0) {
                    const bool wraps = slot < lag;
                    const int old = wraps ? slot - lag + plan.n_stages : slot - lag;
                    barrier_wait(&empty[wt][old], phase ^ wraps);
                    produce(piece - lag + plan.n_stages, old);
                }
                __syncwarp();
                piece++;
                if (++slot == plan.n_stages) slot = 0, phase ^= 1;
            }
        }
    }
}

constexpr size_t SHARED_MAX = 232448 - 2048; // of a block on compute capability 9.0; the rest is static

struct TensorShape {
    int teams, warps, columns, blocks; // of a block; blocks a multiprocessor
};

// Bytes of shared memory of a block, `granules` of U a stage.
inline size_t tensor_bytes(const TensorShape &shape, int n_modes, bool vectors, int granules,
                           int stages)
{
    const size_t ring = (size_t)shape.teams * stages * (granules * GRANULE_FLOATS + 96);
    const size_t staged = (size_t)shape.warps * 8 * STAGE_PITCH;
    return sizeof(float) * ((size_t)(n_modes + 7) / 8 * shape.columns * 16 + shape.columns * 12 +
                            ring + staged);
}

template <int NT, int WN, int WT, int BLOCKS, Kind KIND>
modal_status launch_tensor_variant(const Product &p, cudaStream_t stream, modal_error *err)
{
    constexpr TensorShape shape = {WT, WN * WT, 8 * NT * WN, BLOCKS};
    int device = 0, n_multiprocessors = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (code != cudaSuccess) return modal_cuda_status(code, "properties of the device", err);
    const bool vectors = tensor_vectors(p);
    TensorPlan plan = {};
    plan.column_groups = (p.n_columns + shape.columns - 1) / shape.columns;
    plan.bulk_rest = (uintptr_t)p.rest_tiles % 16 == 0;
    const int granules = (p.n_modes + GRANULE - 1) / GRANULE;
    // two granules a stage where they fit twice, then as many stages as fit
    const auto bytes = [&](int chunk, int stages) {
        return tensor_bytes(shape, p.n_modes, vectors, chunk, stages);
    };
    const int chunk = granules > 1 && bytes(2, 2) <= SHARED_MAX / BLOCKS ? 2 : 1;
    plan.n_stages = STAGES_MAX;
    while (plan.n_stages > 2 && bytes(chunk, plan.n_stages) > SHARED_MAX / BLOCKS) plan.n_stages--;
    plan.chunk_modes = chunk * GRANULE;
    plan.stage_floats = chunk * GRANULE_FLOATS + 96;
    plan.n_chunks = (granules + chunk - 1) / chunk;
    const size_t size = bytes(chunk, plan.n_stages);
    const int64_t rounds = (p.n_tiles + WT - 1) / WT, resident = n_multiprocessors * BLOCKS;
    plan.contiguous = rounds < 8 * resident && plan.column_groups > 1;
    const int64_t blocks = rounds * (plan.contiguous ? plan.column_groups : 1);
    const auto kernel = vectors ? tensor<NT, WN, WT, BLOCKS, KIND, true>
                                : tensor<NT, WN, WT, BLOCKS, KIND, false>;
    code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size);
    if (code != cudaSuccess) return modal_cuda_status(code, "tile product, shared memory", err);
    kernel<<<(unsigned)(blocks < resident ? blocks : resident), 32 * WN * WT, size, stream>>>(
        p, plan);
    return modal_cuda_launched("tile product, tensor cores", err);
}

template <int NT, int WN, int WT>
bool tensor_fits(const Product &p)
{
    const TensorShape shape = {WT, WN * WT, 8 * NT * WN, 1};
    return tensor_bytes(shape, p.n_modes, tensor_vectors(p), 1, 2) <= SHARED_MAX;
}

template <Kind KIND>
modal_status launch_tensor(const Product &p, cudaStream_t stream, modal_error *err)
{
    if (p.n_columns > 64 && tensor_fits<4, 4, 2>(p))
        return launch_tensor_variant<4, 4, 2, 1, KIND>(p, stream, err);
    if (p.n_columns > 32 && tensor_fits<4, 2, 4>(p))
        return launch_tensor_variant<4, 2, 4, 1, KIND>(p, stream, err);
    if (p.n_columns > 16 && tensor_fits<2, 2, 6>(p))
        return launch_tensor_variant<2, 2, 6, 1, KIND>(p, stream, err);
    if (p.n_columns > 8 && tensor_fits<2, 1, 8>(p))
        return launch_tensor_variant<2, 1, 8, 1, KIND>(p, stream, err);
    return launch_tensor_variant<1, 1, 8, 1, KIND>(p, stream, err);
}

} // namespace modal_cuda

#endif
