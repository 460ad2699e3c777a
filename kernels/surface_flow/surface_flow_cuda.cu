// SPDX-License-Identifier: Apache-2.0
// A thread a sample. What is gathered lies in Morton order and is mostly in the first cache. Loops over the 26 ways
// are unrolled: a way's share is an addition or two, where the way of a bit of the mask took 40 instructions to find.
// A step that steers keeps who gives to a sample and what share (gifts); a step that does not reads that and no neighbour's steering.
#include "kernels/cuda_launch.cuh"
#include "kernels/surface_flow/surface_flow.h"

namespace {

constexpr int THREADS = MODAL_FLOW_BLOCK, AHEAD = 3, WAYS = 26, PAIRS = WAYS / 2, AT_ONCE = 4;
static_assert(MODAL_FLOW_TILE == 32 && WAYS < 1 << MODAL_FLOW_GIVEN, "gifts of a tile are a warp's, their number has its bits");

// ---- steering ----

// e_axis of the way of a bit below 13; the way of 25 - bit is its opposite.
__device__ __forceinline__ constexpr int way(int bit, int axis) { return axis == 0 ? bit % 3 - 1 : axis == 1 ? bit / 3 % 3 - 1 : bit / 9 - 1; }

// e is -1, 0 or 1.
template <class T> __device__ __forceinline__ T along_axis(T sum, int e, T x)
{
    return e > 0 ? sum + x : e < 0 ? sum - x : sum;
}

template <class T> __device__ __forceinline__ T along_way(int bit, const T x[3])
{
    return along_axis(along_axis(along_axis((T)0, way(bit, 0), x[0]), way(bit, 1), x[1]), way(bit, 2), x[2]);
}

// modal_flow_weight of the way of a bit below 13.
__device__ __forceinline__ float weight_of(int bit, float area)
{
    const int square = way(bit, 0) * way(bit, 0) + way(bit, 1) * way(bit, 1) + way(bit, 2) * way(bit, 2);
    return square == 1 ? area : __fmul_rn(square == 2 ? 0.5f : 0.33333334f, area);
}

// To multiples of 2^-24: floats from 1/2 on are such multiples, and sums of 1/2 and one below are rounded to them.
__device__ __forceinline__ float rounded(float exact)
{
    return exact < 0.5f ? __fadd_rn(__fadd_rn(exact, 0.5f), -0.5f) : exact;
}

// modal_flow_steer. All weights are read at once and kept, 0 where there is no neighbour; of a way and its opposite only one is downhill.
__global__ void __launch_bounds__(THREADS) steer(const modal_surface_flow_task t)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i >= t.n_samples) return;
    float4 *const to = (float4 *)t.steer + i;
    const float4 V = __ldg((const float4 *)t.motion + t.triangles[i]), n = __ldg((const float4 *)t.normals + t.triangles[i]);
    const double v[3] = {(double)V.x, (double)V.y, (double)V.z}, normal[3] = {(double)n.x, (double)n.y, (double)n.z};
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const uint32_t mask = (uint32_t)t.masks[i];
    *to = make_float4(0, 0, 0, 0);
    if (!(speed > 0) || !mask) return;
    const int32_t *const row = modal_flow_row(&t, i);
    float w[WAYS]; // of bit b below 13 at b, of 25 - b at 25 - b
    int from[WAYS];
#pragma unroll
    for (int b = 0; b < WAYS; b++) from[b] = mask >> b & 1 ? __ldg(row + __popc(mask & ((1u << b) - 1)) * MODAL_FLOW_TILE) : -1;
#pragma unroll
    for (int b = 0; b < WAYS; b++) w[b] = from[b] >= 0 ? weight_of(b < PAIRS ? b : WAYS - 1 - b, __ldg(t.areas + from[b])) : 0.0f;
    double a[3], side_way[3], W = 0, aa = 0, ab = 0, bb = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) a[k] = v[k] / speed;
#pragma unroll
    for (int k = 0; k < 3; k++) side_way[k] = normal[(k + 1) % 3] * a[(k + 2) % 3] - normal[(k + 2) % 3] * a[(k + 1) % 3];
#pragma unroll
    for (int b = 0; b < PAIRS; b++) {
        const double both = (double)w[b] + (double)w[WAYS - 1 - b], x = along_way(b, a), y = along_way(b, side_way);
        W += both, aa += both * x * x, ab += both * x * y, bb += both * y * y;
    }
    if (!(W > 0)) return;
    const double even = bb + 0.01 * (aa + bb), turn = even > 0 ? -ab / even : 0, side = turn > 0.5 ? 0.5 : turn < -0.5 ? -0.5 : turn;
    double u[3], D = 0, all = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) u[k] = a[k] + side * side_way[k];
#pragma unroll
    for (int b = 0; b < PAIRS; b++) {
        const double along = along_way(b, u), part = (double)(along > 0 ? w[b] : w[WAYS - 1 - b]) * along; // below 0 uphill
        D += part * along_way(b, a);
        all += fabs(part);
    }
    if (!(D > 0)) return; // nothing is downhill
    double s = D > 0.02 * W ? speed * t.dt / D : speed * t.dt * D / (0.02 * W * 0.02 * W);
    if (s * all > 1 - 0x1p-18) s = (1 - 0x1p-18) / all;
    float q[3] = {0, 0, 0};
    double sum = 2;
    for (; sum > 1; s *= 0.999) { // as modal_flow_steer has it
        sum = 0;
#pragma unroll
        for (int k = 0; k < 3; k++) q[k] = (float)(s * u[k]);
#pragma unroll
        for (int b = 0; b < PAIRS; b++) {
            const float along = along_way(b, q);
            sum += (double)rounded(__fmul_rn(fabsf(along), along > 0 ? w[b] : w[WAYS - 1 - b]));
        }
    }
    *to = make_float4(q[0], q[1], q[2], (float)sum);
}

// ---- a step ----

__device__ __forceinline__ modal_flow_gift *gifts_of(const modal_surface_flow_task &t, int64_t i)
{
    return t.gifts + t.row_offsets[i / MODAL_FLOW_TILE] * MODAL_FLOW_TILE + i % MODAL_FLOW_TILE;
}

// modal_flow_gather with the same bytes. KEEP: gifts are kept.
template <bool DIRT, bool KEEP>
__device__ __forceinline__ void gather(const modal_surface_flow_task &t, int64_t i, uint32_t mask, float area, float given,
                                       double *liquid, double *dirt)
{
    const int32_t *row = modal_flow_row(&t, i);
    const float weights[3] = {area, 0.5f * area, 0.33333334f * area}; // modal_flow_weight
    double in = 0, carried = 0;
    modal_flow_gift *gift = KEEP ? gifts_of(t, i) : nullptr;
    int n_gifts = 0;
    int left = __popc(mask) - AHEAD,
        ahead[AHEAD]; // indices come from main memory: they are read some neighbours before
#pragma unroll
    for (int k = 0; k < AHEAD; k++) ahead[k] = left + AHEAD > k ? __ldg(row + k * MODAL_FLOW_TILE) : 0;
    row += AHEAD * MODAL_FLOW_TILE;
#pragma unroll
    for (int b = 0; b < 26; b++) {
        if (!(mask >> b & 1)) continue;
        const int from = 25 - b, k = from < 13 ? from : from + 1, ex = k % 3 - 1, ey = k / 3 % 3 - 1,
                  ez = k / 9 - 1; // from there to here
        const int64_t j = ahead[0];
        const float4 steer = __ldg((const float4 *)t.steer + j);
#pragma unroll
        for (int m = 0; m + 1 < AHEAD; m++) ahead[m] = ahead[m + 1];
        if (left > 0) ahead[AHEAD - 1] = __ldg(row);
        row += MODAL_FLOW_TILE, left--;
        const float along = along_axis(along_axis(along_axis(0.0f, ex, steer.x), ey, steer.y), ez, steer.z);
        if (!(along > 0.0f)) continue; // a share of 0
        const float share = rounded(__fmul_rn(along, weights[ex * ex + ey * ey + ez * ez - 1]));
        in += (double)__ldg(t.liquid + j) * (double)share;
        if (DIRT) carried += (double)__ldg(t.moving + j) * (double)share;
        if (KEEP && share > 0.0f) {
            *(int2 *)gift = make_int2((int)j, __float_as_int(share));
            gift += MODAL_FLOW_TILE, n_gifts++;
        }
    }
    if (KEEP) t.n_gifts[i] = (uint32_t)n_gifts | (uint32_t)(given * 0x1p24f) << MODAL_FLOW_GIVEN;
    *liquid = in;
    *dirt = carried;
}

// The same from what was kept: gifts of 0 are left out, which changes no sum.
template <bool DIRT>
__device__ __forceinline__ void gather_kept(const modal_surface_flow_task &t, int64_t i, int n, double *liquid, double *dirt)
{
    const modal_flow_gift *const gifts = gifts_of(t, i);
    double in = 0, carried = 0;
    for (int r = 0; r < n; r += AT_ONCE) {
        int2 gift[AT_ONCE];
        float from[AT_ONCE], dirt_from[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) gift[k] = r + k < n ? __ldcs((const int2 *)(gifts + (r + k) * MODAL_FLOW_TILE)) : make_int2(-1, 0);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            from[k] = gift[k].x >= 0 ? __ldg(t.liquid + gift[k].x) : 0.0f;
            if (DIRT) dirt_from[k] = gift[k].x >= 0 ? __ldg(t.moving + gift[k].x) : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            in += (double)from[k] * (double)__int_as_float(gift[k].y);
            if (DIRT) carried += (double)dirt_from[k] * (double)__int_as_float(gift[k].y);
        }
    }
    *liquid = in;
    *dirt = carried;
}

// Pairs, in the same order every time.
__device__ double sum_of_warp(double x)
{
    for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

enum gathering { NEIGHBOURS, KEEPING, KEPT };

template <bool DIRT, gathering GATHERING> __global__ void __launch_bounds__(THREADS) flow(const modal_surface_flow_task task)
{
    __shared__ double warps[THREADS / 32][MODAL_FLOW_SUMS];
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    double sums[MODAL_FLOW_SUMS] = {0.0, 0.0};
    if (i < task.n_samples) {
        double in, carried;
        float given;
        if constexpr (GATHERING == KEPT) {
            const uint32_t n = task.n_gifts[i];
            given = (float)(n >> MODAL_FLOW_GIVEN) * 0x1p-24f;
            gather_kept<DIRT>(task, i, (int)(n & ((1 << MODAL_FLOW_GIVEN) - 1)), &in, &carried);
        } else {
            given = task.steer[4 * i + 3];
            gather<DIRT, GATHERING == KEEPING>(task, i, (uint32_t)task.masks[i], task.areas[i], given, &in, &carried);
        }
        modal_flow_settle(&task, i, (double)given, in, carried, sums);
    }
    for (int k = 0; k < MODAL_FLOW_SUMS; k++) {
        const double sum = sum_of_warp(sums[k]);
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32][k] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= MODAL_FLOW_SUMS) return;
    double sum = 0.0;
    for (int w = 0; w < THREADS / 32; w++) sum += warps[w][threadIdx.x];
    task.sums[MODAL_FLOW_SUMS * (int64_t)blockIdx.x + threadIdx.x] += sum;
}

} // namespace

extern "C" modal_status modal_surface_flow_cuda(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const cudaStream_t s = (cudaStream_t)stream;
    const int64_t blocks = (task->n_samples + THREADS - 1) / THREADS; // fewer than 2^31 / 256
    const bool keeps = task->gifts;
    if (task->n_samples <= 0) return MODAL_OK;
    if (task->steers) MODAL_TRY(modal_cuda::launch(steer, blocks, THREADS, s, "surface_flow, steer", err, *task));
    if (task->dirt)
        MODAL_TRY(modal_cuda::launch(!keeps ? flow<true, NEIGHBOURS> : task->steers ? flow<true, KEEPING> : flow<true, KEPT>, blocks, THREADS, s,
                                     "surface_flow", err, *task));
    else
        MODAL_TRY(modal_cuda::launch(!keeps ? flow<false, NEIGHBOURS> : task->steers ? flow<false, KEEPING> : flow<false, KEPT>, blocks, THREADS, s,
                                     "surface_flow", err, *task));
done:
    return status;
}
