// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda_check.cuh"
#include "kernels/deform_objects/deform_objects.h"

namespace {

constexpr int WARPS = 8;
static_assert(WARPS >= MODAL_PACK_PARTS, "the parts of a tile belong to one block");

struct Scene {
    modal_pack_segment segments[MODAL_PACK_SEGMENTS];
    const int4 *__restrict__ tiles; // [n_tiles, 2]
    const int4 *__restrict__ lanes; // [n_mixed, 32]
    const float *__restrict__ modal_matrix;
    const float *__restrict__ rest_tiles;
    const float *__restrict__ q;
    const float4 *__restrict__ frames;
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
    const float4 *from = s.frames + (frame * s.n_objects + object) * 3;
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
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int at = 32 * i + lane;
        const int32_t to = mixed ? __shfl_sync(~0u, point, at / 3) : point - lane + at / 3;
        if (to >= 0) out[(int64_t)to * 3 + at % 3] = stage[at];
    }
}

// F frames at a time; CHUNK modes are loaded before the first of them is used.
template <int F, int CHUNK, bool DISPLACEMENT>
__global__ void __launch_bounds__(WARPS * 32, F == 1 ? 3 : 2)
    deform_objects(const __grid_constant__ Scene s)
{
    __shared__ float scratch[WARPS][F * 96];
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
    const bool mixed = s.segments[segment].mixed;
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
            record = __ldg(s.lanes + tile * 32 + lane);
        } else {
            const int4 tail = __ldg(s.tiles + 2 * tile + 1);
            record = make_int4(head.w, head.z, tail.x, tail.y + lane);
        }
        if (last)
#pragma unroll
            for (int i = 0; i < 3; i++) rest[i] = __ldg(s.rest_tiles + tile * 96 + i * 32 + lane);
        const int64_t matrix = (int64_t)((uint64_t)(uint32_t)head.x | (uint64_t)head.y << 32);
        const int each = (head.z + parts - 1) / parts, begin = part * each;
        const int end = min(begin + each, head.z), own = min(end, record.y);
        object = record.z;
        point = record.w;
        if (F == 1 && last) rigid = load_rigid(s, frame, object);
        const float *u_lane = s.modal_matrix + matrix + lane;
        const float *q_lane = s.q + frame * s.n_modes + record.x;
        for (int k = begin; k < end; k += CHUNK) {
            float u[CHUNK][3];
#pragma unroll
            for (int c = 0; c < CHUNK; c++)
#pragma unroll
                for (int i = 0; i < 3; i++)
                    u[c][i] = k + c < own ? __ldg(u_lane + (int64_t)(k + c) * 96 + i * 32) : 0.0f;
#pragma unroll
            for (int f = 0; f < F; f++) {
                const bool exists = F == 1 || frame + f < s.n_frames;
                float q[CHUNK];
#pragma unroll
                for (int c = 0; c < CHUNK; c++)
                    q[c] = exists && k + c < own ? __ldg(q_lane + (int64_t)f * s.n_modes + k + c)
                                                 : 0.0f;
#pragma unroll
                for (int c = 0; c < CHUNK; c++)
#pragma unroll
                    for (int i = 0; i < 3; i++) sum[f][i] = fmaf(u[c][i], q[c], sum[f][i]);
            }
        }
    }
    if (parts > 1) { // one condition for the whole block
        if (!last)
#pragma unroll
            for (int i = 0; i < F * 3; i++) scratch[warp][i * 32 + lane] = sum[i / 3][i % 3];
        __syncthreads();
        if (!last) return;
        for (int other = 1; other < parts; other++)
#pragma unroll
            for (int i = 0; i < F * 3; i++)
                sum[i / 3][i % 3] += scratch[warp + other][i * 32 + lane];
    }
    if (!active) return;
#pragma unroll
    for (int f = 0; f < F; f++) {
        if (F > 1 && frame + f >= s.n_frames) break;
        if (F > 1) rigid = load_rigid(s, frame + f, object);
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

template <int F, int CHUNK>
modal_status launch(Scene &s, uint32_t n_blocks, cudaStream_t stream, modal_error *err)
{
    // more blocks than a grid holds: a range of frames at a time
    const int64_t n_frames = s.n_frames, most = INT32_MAX / (int64_t)n_blocks * F;
    const float *q = s.q;
    const float4 *frames = s.frames;
    float *positions = s.positions, *displacement = s.displacement;
    for (int64_t first = 0; first < n_frames; first += most) {
        s.n_frames = n_frames - first < most ? n_frames - first : most;
        s.n_groups = (uint32_t)((s.n_frames + F - 1) / F);
        s.q = q + first * s.n_modes;
        s.frames = frames + first * s.n_objects * 3;
        s.positions = positions + first * s.n_points * 3;
        if (displacement) {
            s.displacement = displacement + first * s.n_points * 3;
            deform_objects<F, CHUNK, true><<<n_blocks * s.n_groups, WARPS * 32, 0, stream>>>(s);
        } else {
            deform_objects<F, CHUNK, false><<<n_blocks * s.n_groups, WARPS * 32, 0, stream>>>(s);
        }
        const modal_status status = modal_cuda_launched("deform objects", err);
        if (status != MODAL_OK) return status;
    }
    return MODAL_OK;
}

} // namespace

extern "C" modal_status modal_deform_objects_cuda(const modal_deform_objects_task *task,
                                                  modal_stream *queue, modal_error *err)
{
    const modal_object_pack *p = task->pack;
    const cudaStream_t stream = (cudaStream_t)queue;
    static_assert(sizeof(modal_pack_tile) == 32 && sizeof(modal_pack_lane) == 16, "read as int4");
    if (p->n_tiles <= 0 || task->n_frames <= 0) return MODAL_OK;
    Scene s = {{},
               reinterpret_cast<const int4 *>(p->tiles),
               reinterpret_cast<const int4 *>(p->lanes),
               p->modal_matrix,
               p->rest_tiles,
               task->q,
               reinterpret_cast<const float4 *>(task->frames),
               task->positions,
               task->displacement,
               task->n_frames,
               p->n_objects,
               p->n_modes,
               p->n_points,
               1};
    uint32_t n_blocks = 0; // at most one a tile: fits
    for (int i = 0; i < p->n_segments; i++) {
        s.segments[i] = p->segments[i];
        n_blocks += segment_blocks(s.segments[i]);
    }
    if (task->n_frames == 1) return launch<1, 8>(s, n_blocks, stream, err);
    if (task->n_frames == 2) return launch<2, 8>(s, n_blocks, stream, err);
    if (task->n_frames <= 4) return launch<4, 4>(s, n_blocks, stream, err);
    return launch<8, 4>(s, n_blocks, stream, err);
}
