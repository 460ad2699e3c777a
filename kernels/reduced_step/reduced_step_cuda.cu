// SPDX-License-Identifier: Apache-2.0
// A step is one cooperative launch: teams of threads, all resident, go down and up the levels of all trees together, a
// barrier of the grid between two levels (down: four levels, body_bands.h), until no tree runs on; nobody asks the host.
// What it takes is the latency of thousands of dependent instructions an object, so an object of few modes is worked on
// by eight lanes where there are more objects than warps, which then run at once; by a warp where there are fewer, and
// by a block where bases are large. The tables are read as columns, each once an evaluation, which for objects of
// different large shapes is what takes the time (r = 20: 0.4 MB a shape). 6,440 objects of r = 7, 5.2 evaluations, on an
// H200: 0.95 ms (kernels/VERSIONS.md).
#include <cooperative_groups.h>
#include <math.h>

#include "kernels/cuda_check.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/reduced_step/reduced_step.h"

namespace {

#define RS_FN __device__ static __forceinline__
#define RS_WIDE 0
#define RS_SUM(rows, n, table, m, out) column_sums<false>(rows, n, table, m, m, out, out)
#define RS_TWO_SUMS(rows, n, table, m1, m2, out1, out2) column_sums<true>(rows, n, table, m1, m2, out1, out2)

// Their numbers, without their arrays, which would keep the copies in memory.
RS_FN modal_step_object object_of(const modal_step_object *from)
{
    modal_step_object o;
    o.shape = __ldg(&from->shape);
    o.tree = __ldg(&from->tree);
    o.motion = __ldg(&from->motion);
    o.parent = __ldg(&from->parent);
    o.first_child = __ldg(&from->first_child);
    o.n_children = __ldg(&from->n_children);
    o.first_point = __ldg(&from->first_point);
    o.n_points = __ldg(&from->n_points);
    o.n_modes = __ldg(&from->n_modes);
    o.parent_modes = __ldg(&from->parent_modes);
    o.coordinates = __ldg(&from->coordinates);
    o.damping = __ldg(&from->damping);
    o.anchor = __ldg(&from->anchor);
    o.work = __ldg(&from->work);
    o.share = __ldg(&from->share);
    return o;
}
RS_FN modal_step_shape shape_of(const modal_step_shape *from)
{
    modal_step_shape s;
    s.n_modes = __ldg(&from->n_modes);
    s.cubic = __ldg(&from->cubic);
    s.stiffness = __ldg(&from->stiffness);
    s.energy = __ldg(&from->energy);
    s.inertia = __ldg(&from->inertia);
    s.masses = __ldg(&from->masses);
    s.mass = __ldg(&from->mass);
    return s;
}

// Up to so many modes by a warp, and by eight lanes. So many warps a block, of which one fills a multiprocessor: with
// 13 to 16 a thread has 128 registers; the fewest of them, whose scratch leaves the most of the cache, and still hold
// the forest of 6,440 objects at once. More blocks make a slower barrier.
enum { WARP_MODES = 16, EIGHT_MODES = 8, WARPS = 13 };

namespace by_eight {
#define RS_LANES 8
#define RS_LANE ((int32_t)(threadIdx.x % RS_LANES))
#define RS_SYNC() __syncwarp(0xffu << (threadIdx.x & 24))
#define RS_CLOSE 1
#define RS_MOST(t) EIGHT_MODES
#define RS_FEW 8
#define RS_MOST_ROWS(t) (1 + EIGHT_MODES + EIGHT_MODES * (EIGHT_MODES + 1) / 2)
#include "kernels/reduced_step/reduced_step_team.cuh"
// Doubles of its scratch (rs_scratch_of), and 4 more, so that the four teams of a warp begin in different banks.
enum { SCRATCH = 2 * 48 + 2 * 72 + 48 + 17 * 8 + 24 + 4 };
} // namespace by_eight

namespace by_warp {
#define RS_LANES 32
#define RS_LANE ((int32_t)(threadIdx.x % RS_LANES))
#define RS_SYNC() __syncwarp()
#define RS_CLOSE 0
#include "kernels/reduced_step/reduced_step_team.cuh"
} // namespace by_warp

namespace by_block {
#define RS_LANES ((int32_t)blockDim.x)
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_SYNC() __syncthreads()
#define RS_CLOSE 0
#include "kernels/reduced_step/reduced_step_team.cuh"
} // namespace by_block

extern __shared__ double shared[];

// An object a block.
struct blocks {
    template <class function>
    __device__ static __forceinline__ void each(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                const function &f)
    {
        for (int32_t i = first + blockIdx.x; i < end; i += gridDim.x) {
            f(by_block::team{}, i, t.scratch ? t.scratch + blockIdx.x * size : shared);
            __syncthreads();
        }
    }
    template <class function>
    __device__ static __forceinline__ void each_parent(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                       const function &f)
    {
        for (int32_t i = first + blockIdx.x; i < end; i += gridDim.x) {
            if (t.objects[i].n_children > 0) f(by_block::team{}, i, t.scratch ? t.scratch + blockIdx.x * size : shared);
            __syncthreads();
        }
    }
};

// An object a warp, or, where they are more than the warps, up to four of few modes at a time. Neighbours go to
// different multiprocessors first.
struct warps {
    __device__ static __forceinline__ int32_t index() { return threadIdx.x / 32 * gridDim.x + blockIdx.x; }
    __device__ static __forceinline__ int32_t count() { return blockDim.x / 32 * gridDim.x; }

    // Those of a warp's objects that are chosen; it looks at 32 at a time.
    template <class function, class choice>
    __device__ static __forceinline__ void each_of(int32_t first, int32_t end, double *own, const function &f,
                                                   const choice &chosen)
    {
        for (; first < end; first += 32 * count()) {
            const int32_t mine = first + threadIdx.x % 32 * count();
            for (uint32_t left = __ballot_sync(~0u, mine < end && chosen(mine)); left; left &= left - 1) {
                f(by_warp::team{}, first + (__ffs(left) - 1) * count(), own);
                __syncwarp();
            }
        }
    }

    template <class function>
    __device__ static __forceinline__ void each(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                const function &f)
    {
        double *own = shared + threadIdx.x / 32 * size;
        const int32_t most = (end - first + count() - 1) / count(), many = most < 4 ? most : 4;
        const int32_t part = threadIdx.x % 32 / 8;
        for (int32_t base = first + many * index(); many > 1 && base < end; base += many * count()) {
            const int32_t i = base + part;
            if (part < many && i < end && __ldg(&t.objects[i].n_modes) <= EIGHT_MODES)
                f(by_eight::team{}, i, own + part * by_eight::SCRATCH);
            __syncwarp();
        }
        // the others by a whole warp each, the first by the last, which have the least to do
        each_of(first + count() - 1 - index(), end, own, f, [&](int32_t i) {
            return many <= 1 || __ldg(&t.objects[i].n_modes) > EIGHT_MODES;
        });
    }
    // those that bear others, which are added by all lanes
    template <class function>
    __device__ static __forceinline__ void each_parent(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                       const function &f)
    {
        each_of(first + index(), end, shared + threadIdx.x / 32 * size, f,
                [&](int32_t i) { return __ldg(&t.objects[i].n_children) > 0; });
    }
};

#include "kernels/reduced_step/reduced_step_grid.cuh"

#define KERNEL(name, teams, bounds)                                                                  \
    __global__ void bounds name##_by_##teams(const __grid_constant__ modal_step_task t, int64_t size) \
    {                                                                                                \
        name<teams>(t, size);                                                                        \
    }
KERNEL(solve, warps, __launch_bounds__(32 * WARPS, 1))
KERNEL(measure, warps, __launch_bounds__(32 * WARPS, 1))
KERNEL(solve, blocks, __launch_bounds__(256, 2)) /* 128 registers: left alone, the compiler takes 128 or 174 */
KERNEL(measure, blocks, __launch_bounds__(256))

} // namespace

extern "C" modal_status modal_reduced_step_cuda(const modal_step_task *t, modal_stream *stream,
                                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const cudaStream_t queue = (cudaStream_t)stream;
    int64_t size = modal_step_scratch_size(t);
    const int small = t->most_modes <= WARP_MODES;
    if (small && size < 4 * by_eight::SCRATCH) size = 4 * by_eight::SCRATCH;
    const size_t team_bytes = t->scratch ? 0 : (size_t)size * sizeof(double);
    int groups = small ? WARPS : 1, threads = t->most_modes <= 40 ? 128 : 256, resident = 0;
    size_t shared_bytes = team_bytes;
    const void *kernel = t->phase == MODAL_STEP_SOLVE
                             ? small ? (const void *)solve_by_warps : (const void *)solve_by_blocks
                             : small ? (const void *)measure_by_warps : (const void *)measure_by_blocks;
    modal_step_task task = *t;
    void *arguments[] = {&task, &size};
    modal_cuda_machine machine;
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    if (small) { // fewer warps where the device has less shared memory
        if (groups * team_bytes > (size_t)machine.shared_block) groups = (int)(machine.shared_block / team_bytes);
        threads = 32 * groups;
        shared_bytes = groups * team_bytes;
    }
    MODAL_TRY(modal_cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     (int)shared_bytes),
                                "reduced_step", err));
    MODAL_TRY(modal_cuda_status(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes),
        "reduced_step", err));
    {
        int64_t blocks = (int64_t)resident * machine.n_multiprocessors;
        const int64_t wanted = (t->n_objects + groups - 1) / groups;
        if (blocks > wanted) blocks = wanted;
        if (t->scratch && blocks * groups > t->n_scratch) blocks = t->n_scratch / groups;
        MODAL_TRY(modal_cuda_status(cudaLaunchCooperativeKernel(kernel, (unsigned)blocks, threads, arguments,
                                                                shared_bytes, queue),
                                    "reduced_step", err));
    }
    if (t->phase == MODAL_STEP_SOLVE)
        MODAL_TRY(modal_cuda_status(
            cudaMemcpyAsync(t->h_status, t->status, (t->n_trees + MODAL_STEP_COUNTERS) * sizeof(int32_t),
                            cudaMemcpyDeviceToHost, queue),
            "reduced_step", err));
    MODAL_TRY(modal_cuda_status(cudaStreamSynchronize(queue), "reduced_step", err));
    if (t->phase != MODAL_STEP_SOLVE) goto done;
    for (int32_t i = 0; i < t->n_trees; i++)
        if (t->h_status[i] == MODAL_STEP_FROZEN) t->h_status[i] = MODAL_STEP_RUNNING;
done:
    return status;
}
