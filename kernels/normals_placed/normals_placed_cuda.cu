// SPDX-License-Identifier: Apache-2.0
// The kernels of normals_dynamic; a warp has 32 positions and normals in registers, and writes them where they belong:
// through shared memory, so that the 3 floats of a point are written by neighbouring lanes, and a store of a warp touches
// some 11 places of 12 bytes instead of 32 of 4. With a local permutation the pieces of a line meet in the second-level
// cache. Saved are one write of the normals in the stored order and the reads of both outputs by two reorders: of a
// frame's 12 (r + 1) + 60 bytes a vertex, indices aside, 36.
// With a source lanes are places, and what is scattered is the reads of positions, which the normals gather anyway.
#include <cfloat>

#include "kernels/normals_dynamic/normals_tiles.cuh"
#include "kernels/normals_placed/normals_placed.h"

namespace {

// Puts min(count, 32) points of which lane l has one, at the place `to` of `out`.
__device__ __forceinline__ bool place_tile(float *out, int32_t to, int64_t count, float *stage, const float (&x)[3])
{
    const int lane = threadIdx.x % 32;
    bool odd = false;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 3; i++) stage[3 * lane + i] = x[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int k = 32 * i + lane, point = k / 3;
        const int64_t at = __shfl_sync(~0u, to, point);
        if (point >= count) continue;
        const float value = stage[k];
        out[3 * at + k - 3 * point] = value;
        odd |= !(fabsf(value) <= FLT_MAX);
    }
    return odd;
}

struct in_their_places {
    const int32_t *target;
    const int64_t *base;
    float *positions, *normals;
    int32_t *nonfinite;

    static __device__ __forceinline__ int64_t rows(int64_t n_vertices) { return n_vertices; }
    static __device__ __forceinline__ int64_t vertex(int64_t place) { return place; }
    static __device__ __forceinline__ int64_t vertex_of_corners(int64_t row) { return row; }

    template <int C>
    __device__ __forceinline__ void put(int64_t n, const float (&own)[C][3], float (&sum)[C][3], int64_t tile,
                                        int64_t column, float *stage) const
    {
        const int64_t first = tile * MODAL_TILE, v = first + threadIdx.x % 32, left = n - first;
        const int32_t to = !target ? (int32_t)v : v < n ? __ldg(target + v) : 0;
        bool odd = false;
#pragma unroll
        for (int c = 0; c < C; c++) {
            const int64_t begin = 3 * __ldg(base + column + c);
            modal_cuda::normalise(sum[c]);
            odd |= place_tile(normals + begin, to, left, stage, sum[c]);
            odd |= place_tile(positions + begin, to, left, stage, own[c]);
        }
        if (odd && nonfinite) *(volatile int32_t *)nonfinite = 1; // by whoever, the same
    }
};

// A lane has what belongs to the place of its number: whole lines.
struct as_places_are {
    const int32_t *source;
    const int64_t *base;
    float *positions, *normals;
    int32_t *nonfinite;

    static __device__ __forceinline__ int64_t rows(int64_t n_vertices) { return n_vertices; }
    __device__ __forceinline__ int64_t vertex(int64_t place) const { return __ldg(source + place); }
    static __device__ __forceinline__ int64_t vertex_of_corners(int64_t row) { return row; }

    template <int C>
    __device__ __forceinline__ void put(int64_t n, const float (&own)[C][3], float (&sum)[C][3], int64_t tile,
                                        int64_t column, float *stage) const
    {
        const int64_t first = tile * MODAL_TILE;
        bool odd = false;
#pragma unroll
        for (int c = 0; c < C; c++) {
            const int64_t begin = 3 * (__ldg(base + column + c) + first);
            modal_cuda::normalise(sum[c]);
            modal_cuda::store_tile(normals + begin, n - first, stage, sum[c][0], sum[c][1], sum[c][2]);
            modal_cuda::store_tile(positions + begin, n - first, stage, own[c][0], own[c][1], own[c][2]);
#pragma unroll
            for (int i = 0; i < 3; i++) odd |= !(fabsf(sum[c][i]) <= FLT_MAX) | !(fabsf(own[c][i]) <= FLT_MAX);
        }
        // Lanes past the last place have the last vertex and a sum of the ring's padding, which is zero.
        if (odd && nonfinite) *(volatile int32_t *)nonfinite = 1; // by whoever, the same
    }
};

} // namespace

extern "C" modal_status modal_normals_placed_cuda(const modal_normals_placed_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    if (task->source && task->surface.ring) {
        const as_places_are out = {task->source, task->base, task->positions, task->normals, task->nonfinite};
        return launch_all(&task->surface, out, "normals_placed", task->surface.n_vertices, stream, err);
    }
    const in_their_places out = {task->target, task->base, task->positions, task->normals, task->nonfinite};
    return launch_all(&task->surface, out, "normals_placed", task->surface.n_vertices, stream, err);
}
