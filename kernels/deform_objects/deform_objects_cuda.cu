// SPDX-License-Identifier: Apache-2.0
// A packed scene on CUDA: one warp is one tile (or one part of its modes), one thread one vertex,
// so that every load of U is a full line and small objects share warps instead of padding them.
//
// One frame, one launch. What a small scene waits for is latency, so there are two dependent steps
// of loads and no more: the tile's record (and the lane's, in mixed tiles), then U, q, T and xbar
// side by side, four modes at a time. Long sums are divided among up to eight warps of a block
// (pack.h), long tiles come first. Each lane reads no further than its own r. U is streamed.
// Several frames, one launch for each kind of tile: a register block of 8 frames (4 in mixed tiles)
// reads U once; in whole tiles q and T of those frames come by one load a warp and are handed
// around through shared memory; blocks of the same tiles are neighbours and find U in the L2 cache.
// Results go through shared memory, so that a warp writes runs of points as whole lines.
// The order of a sum depends on the pack alone: a frame's bytes are those it has by itself.
//
// Measured with tests/bench/bench_objects.c on an NVIDIA H200, November 2026, the five plants of
// the paper's table 4 with n and r mixed around their means, microseconds a frame of product and
// transform; cold: U comes from memory; sgemv: cublasSgemvBatched, uniform sizes, product alone:
//                 hot    cold   bytes at copy rate   sgemv hot, cold   of 64 frames, each
//   Conifer         3.7    4.0    0.2 (empty: 2.7)      4.5    4.5        0.2
//   Peach          11.7   14.2   10.7                  17.1   21.1        2.4
//   Broad-leaved    9.4   11.9    8.3                  13.7   19.8        2.3
//   E. hemlock      6.2    8.0    4.1                   9.8   14.8        2.2
//   Treesketch      3.9    4.7    1.2 (empty: 2.6)      9.6   13.7        0.9
//   30,000 objects 30.2   30.2   25.0                  64.2   64.3        -    (30 vertices, r = 8)
//   one object     92.5   92.5   97.4                   121    121        -    (1e6, r = 32)
#include "kernels/cuda_check.cuh"
#include "kernels/deform_objects/deform_objects.h"
#include "lib/base/tile.h"

namespace {

constexpr int WARPS = 8, CHUNK = 4; // modes that are loaded before the first of them is used
static_assert(WARPS >= MODAL_PACK_PARTS, "the parts of a tile belong to one block");

enum Kind { WHOLE, MIXED, ANY }; // of tiles

struct Scene {
    modal_pack_segment segments[MODAL_PACK_SEGMENTS];
    const int4 *__restrict__ tiles; // [n_tiles, 2]
    const int4 *__restrict__ lanes; // [n_mixed, 32]
    const float *__restrict__ modal_matrix;
    const float *__restrict__ rest_tiles;
    const float *__restrict__ q;
    const float4 *__restrict__ poses;
    float *__restrict__ positions;
    float *__restrict__ displacement;
    int64_t n_frames;
    int32_t n_objects, n_modes, n_points;
    uint32_t n_groups; // of frames
};

__host__ __device__ inline unsigned segment_blocks(const modal_pack_segment &s)
{
    const unsigned tiles = WARPS / s.parts;
    return ((unsigned)s.n_tiles + tiles - 1) / tiles;
}

struct Rigid {
    float4 row[3];
};

__device__ __forceinline__ Rigid load_rigid(const Scene &s, int64_t frame, int32_t object)
{
    const float4 *from = s.poses + (frame * s.n_objects + object) * 3;
    return {__ldg(from), __ldg(from + 1), __ldg(from + 2)};
}

// Writes the warp's 32 points as runs of floats: 96 of a whole tile, one an object in a mixed one.
__device__ __forceinline__ void store_points(float *out, int32_t point, bool mixed, float *stage,
                                             float x, float y, float z)
{
    const int lane = threadIdx.x % 32;
    __syncwarp();
    stage[3 * lane] = x;
    stage[3 * lane + 1] = y;
    stage[3 * lane + 2] = z;
    __syncwarp();
    if (mixed) {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int at = MODAL_TILE * i + lane;
            const int32_t to = __shfl_sync(~0u, point, at / 3);
            if (to >= 0) out[(int64_t)to * 3 + at % 3] = stage[at];
        }
    } else {
        float *from = out + (int64_t)point * 3 - 2 * lane; // point is lane 0's and `lane` more
#pragma unroll
        for (int i = 0; i < 3; i++) from[MODAL_TILE * i] = stage[MODAL_TILE * i + lane];
    }
}

// U of CHUNK modes from k on, zeros from `end` on.
template <bool STREAMED, bool CHECKED>
__device__ __forceinline__ void load_modes(float (&u)[CHUNK][3], const float *u_lane, int k,
                                           int end)
{
    const float *from = u_lane + (int64_t)k * MODAL_TILE_FLOATS;
#pragma unroll
    for (int c = 0; c < CHUNK; c++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            u[c][i] = CHECKED && k + c >= end ? 0.0f
                      : STREAMED              ? __ldcs(from + c * MODAL_TILE_FLOATS + i * MODAL_TILE)
                                              : __ldg(from + c * MODAL_TILE_FLOATS + i * MODAL_TILE);
}

// F frames at a time of tiles of one kind, or of any.
template <int F, Kind KIND, bool DISPLACEMENT>
__global__ void __launch_bounds__(WARPS * 32, F <= 2 || (KIND == WHOLE && F <= 4) ? 4 : 3)
    deform_objects(const __grid_constant__ Scene s)
{
    // a whole tile's factors are the same in all lanes: one load brings F frames of CHUNK modes
    constexpr bool SHARED = KIND == WHOLE;
    static_assert(KIND == ANY ? F == 1 : F * CHUNK <= 32, "a factor and a row of T a lane");
    __shared__ alignas(16) float scratch[WARPS][F * MODAL_TILE_FLOATS];
    __shared__ float4 rigid_s[WARPS][SHARED ? F * 3 : 1]; // of whole tiles
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned block = blockIdx.x;
    int64_t frame = 0;
    if (s.n_groups > 1) {
        // groups of frames of a tile run side by side: all but the first find U in the L2 cache
        frame = (int64_t)(block % s.n_groups) * F;
        block /= s.n_groups;
    }
    int segment = 0;
    while (block >= segment_blocks(s.segments[segment]))
        block -= segment_blocks(s.segments[segment++]);
    const int parts = s.segments[segment].parts, part = warp % parts;
    const bool mixed = KIND == ANY ? s.segments[segment].mixed : KIND == MIXED;
    const unsigned in_segment = block * (WARPS / parts) + warp / parts;
    const bool active = in_segment < (unsigned)s.segments[segment].n_tiles;
    const bool last = part == 0; // this warp adds up the parts and writes

    float sum[F][3] = {}, rest[3] = {};
    int32_t point = -1, object = 0;
    Rigid rigid = {};
    if (active) {
        const int64_t tile = s.segments[segment].first_tile + (int64_t)in_segment;
        const int4 head = __ldg(s.tiles + 2 * tile);
        int4 record; // q, n_modes, object, point
        if (mixed) {
            record = __ldg(s.lanes + tile * MODAL_TILE + lane);
        } else {
            const int4 tail = __ldg(s.tiles + 2 * tile + 1);
            record = make_int4(head.w, head.z, tail.x, tail.y + lane);
        }
        if (last)
#pragma unroll
            for (int i = 0; i < 3; i++) rest[i] = __ldg(s.rest_tiles + tile * MODAL_TILE_FLOATS + i * MODAL_TILE + lane);
        const int64_t matrix = (int64_t)((uint64_t)(uint32_t)head.x | (uint64_t)head.y << 32);
        const int each = (head.z + parts - 1) / parts, begin = part * each;
        const int end = min(begin + each, head.z), own = min(end, record.y);
        object = record.z;
        point = record.w;
        if (F == 1 && last) rigid = load_rigid(s, frame, object);
        if (SHARED && last && lane < F * 3 && frame + lane / 3 < s.n_frames)
            rigid_s[warp][lane] = __ldg(s.poses + ((frame + lane / 3) * s.n_objects + object) * 3 +
                                        lane % 3);
        const float *u_lane = s.modal_matrix + matrix + lane;
        const float *q_lane = s.q + frame * s.n_modes + record.x;
        float *factors = scratch[warp]; // [F][CHUNK]
        const int f_mine = lane / CHUNK, c_mine = lane % CHUNK;
        const bool has_mine = f_mine < F && frame + f_mine < s.n_frames;
        const float *q_mine = q_lane + (int64_t)f_mine * s.n_modes + c_mine;
        for (int k = begin; k < end; k += CHUNK) {
            float u[CHUNK][3], q[CHUNK];
            if (SHARED && k + CHUNK <= own)
                load_modes<F == 1, false>(u, u_lane, k, own);
            else
                load_modes<F == 1, true>(u, u_lane, k, own);
            if (SHARED) {
                __syncwarp();
                if (f_mine < F)
                    factors[lane] = has_mine && k + c_mine < own ? __ldg(q_mine + k) : 0.0f;
                __syncwarp();
            }
#pragma unroll
            for (int f = 0; f < F; f++) {
                if (SHARED) {
#pragma unroll
                    for (int c = 0; c < CHUNK; c += 4) {
                        const float4 four =
                            *reinterpret_cast<const float4 *>(factors + f * CHUNK + c);
                        q[c] = four.x, q[c + 1] = four.y, q[c + 2] = four.z, q[c + 3] = four.w;
                    }
                } else {
                    const bool exists = F == 1 || frame + f < s.n_frames;
#pragma unroll
                    for (int c = 0; c < CHUNK; c++)
                        q[c] = exists && k + c < own
                                   ? __ldg(q_lane + (int64_t)f * s.n_modes + k + c)
                                   : 0.0f;
                }
#pragma unroll
                for (int c = 0; c < CHUNK; c++)
#pragma unroll
                    for (int i = 0; i < 3; i++) sum[f][i] = fmaf(u[c][i], q[c], sum[f][i]);
            }
        }
    }
    __syncwarp(); // rigid_s is written, the factors in scratch are read
    if (parts > 1) { // one condition for the whole block
        if (!last)
#pragma unroll
            for (int i = 0; i < F * 3; i++) scratch[warp][i * MODAL_TILE + lane] = sum[i / 3][i % 3];
        __syncthreads();
        if (!last) return;
        for (int other = 1; other < parts; other++)
#pragma unroll
            for (int i = 0; i < F * 3; i++)
                sum[i / 3][i % 3] += scratch[warp + other][i * MODAL_TILE + lane];
    }
    if (!active) return;
#pragma unroll
    for (int f = 0; f < F; f++) {
        if (F > 1 && frame + f >= s.n_frames) break;
        if (F > 1 && !SHARED) rigid = load_rigid(s, frame + f, object);
        if (SHARED)
#pragma unroll
            for (int i = 0; i < 3; i++) rigid.row[i] = rigid_s[warp][f * 3 + i];
        float x[3], d[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const float4 row = rigid.row[i];
            x[i] = fmaf(row.x, rest[0] + sum[f][0], row.w);
            x[i] = fmaf(row.y, rest[1] + sum[f][1], x[i]);
            x[i] = fmaf(row.z, rest[2] + sum[f][2], x[i]);
            d[i] = fmaf(row.z, sum[f][2], fmaf(row.y, sum[f][1], row.x * sum[f][0]));
        }
        const int64_t out = (frame + f) * s.n_points * 3;
        store_points(s.positions + out, point, mixed, scratch[warp], x[0], x[1], x[2]);
        if (DISPLACEMENT)
            store_points(s.displacement + out, point, mixed, scratch[warp], d[0], d[1], d[2]);
    }
}

// All frames of the tiles of a kind.
template <int F, Kind KIND>
modal_status launch(const modal_object_pack *pack, Scene s, cudaStream_t stream, modal_error *err)
{
    uint32_t n_blocks = 0; // at most one a tile: fits
    for (int i = 0, kept = 0; i < pack->n_segments; i++) {
        const modal_pack_segment segment = pack->segments[i];
        if (KIND != ANY && (segment.mixed != 0) != (KIND == MIXED)) continue;
        s.segments[kept++] = segment;
        n_blocks += segment_blocks(segment);
    }
    if (n_blocks == 0) return MODAL_OK;
    // more blocks than a grid holds: a range of frames at a time
    const int64_t n_frames = s.n_frames, most = INT32_MAX / (int64_t)n_blocks * F;
    for (int64_t done = 0; done < n_frames; done += most) {
        s.n_frames = n_frames - done < most ? n_frames - done : most;
        s.n_groups = (uint32_t)((s.n_frames + F - 1) / F);
        const unsigned grid = n_blocks * s.n_groups;
        if (s.displacement)
            deform_objects<F, KIND, true><<<grid, WARPS * 32, 0, stream>>>(s);
        else
            deform_objects<F, KIND, false><<<grid, WARPS * 32, 0, stream>>>(s);
        const modal_status status = modal_cuda_launched("deform objects", err);
        if (status != MODAL_OK) return status;
        s.q += s.n_frames * s.n_modes;
        s.poses += s.n_frames * s.n_objects * 3;
        s.positions += s.n_frames * s.n_points * 3;
        if (s.displacement) s.displacement += s.n_frames * s.n_points * 3;
    }
    return MODAL_OK;
}

template <int WHOLE_FRAMES, int MIXED_FRAMES>
modal_status launch_both(const modal_object_pack *pack, const Scene &s, cudaStream_t stream,
                         modal_error *err)
{
    const modal_status status = launch<MIXED_FRAMES, MIXED>(pack, s, stream, err);
    return status != MODAL_OK ? status : launch<WHOLE_FRAMES, WHOLE>(pack, s, stream, err);
}

} // namespace

extern "C" modal_status modal_deform_objects_cuda(const modal_deform_objects_task *task,
                                                  modal_stream *queue, modal_error *err)
{
    const modal_object_pack *p = task->pack;
    const cudaStream_t stream = (cudaStream_t)queue;
    static_assert(sizeof(modal_pack_tile) == 32 && sizeof(modal_pack_lane) == 16, "read as int4");
    if (p->n_tiles <= 0 || task->n_frames <= 0) return MODAL_OK;
    const Scene s = {{},
                     reinterpret_cast<const int4 *>(p->tiles),
                     reinterpret_cast<const int4 *>(p->lanes),
                     p->modal_matrix,
                     p->rest_tiles,
                     task->q,
                     reinterpret_cast<const float4 *>(task->poses),
                     task->positions,
                     task->displacement,
                     task->n_frames,
                     p->n_objects,
                     p->n_modes,
                     p->n_points,
                     1};
    if (task->n_frames == 1) return launch<1, ANY>(p, s, stream, err);
    if (task->n_frames == 2) return launch_both<2, 2>(p, s, stream, err);
    if (task->n_frames <= 4) return launch_both<4, 4>(p, s, stream, err);
    return launch_both<8, 4>(p, s, stream, err);
}
