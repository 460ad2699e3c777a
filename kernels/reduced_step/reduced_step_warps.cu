// SPDX-License-Identifier: Apache-2.0
// Objects of few modes: eight lanes or a warp each.
#include "kernels/reduced_step/reduced_step_device.cuh"

namespace {

namespace by_eight {
#define RS_LANES 8
#define RS_LANE ((int32_t)(threadIdx.x % RS_LANES))
#define RS_SYNC() __syncwarp(0xffu << (threadIdx.x & 24))
#define RS_CLOSE 1
#define RS_MOST(t) EIGHT_MODES
#define RS_FEW 8
#define RS_MOST_ROWS(t) (1 + EIGHT_MODES + EIGHT_MODES * (EIGHT_MODES + 1) / 2)
#include "kernels/reduced_step/reduced_step_team.cuh"
} // namespace by_eight

namespace by_warp {
#define RS_LANES 32
#define RS_LANE ((int32_t)(threadIdx.x % RS_LANES))
#define RS_SYNC() __syncwarp()
#define RS_CLOSE 0
#define RS_WARP_SUMS 1
#include "kernels/reduced_step/reduced_step_team.cuh"
} // namespace by_warp

// An object a warp, or, where they are more than the warps, up to four of few modes at a time. Neighbours go to
// different multiprocessors first.
struct warps {
    enum { ONE = 0 };
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
                f(by_eight::team{}, i, own + part * EIGHT_SCRATCH);
            __syncwarp();
        }
        // the others by a whole warp each, the first by the last, which have the least to do
        each_of(first + count() - 1 - index(), end, own, f, [&](int32_t i) {
            return many <= 1 || __ldg(&t.objects[i].n_modes) > EIGHT_MODES;
        });
    }
    // objects of many modes it has none
    __device__ static __forceinline__ void evaluate_large(const modal_step_task &, int64_t, large_state, bool, int) {}
    // those that bear others, which are added by all lanes
    template <class function>
    __device__ static __forceinline__ void each_parent(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                       const function &f)
    {
        each_of(first + index(), end, shared + threadIdx.x / 32 * size, f,
                [&](int32_t i) { return __ldg(&t.objects[i].n_children) > 0; });
    }
};

enum { BAND = by_warp::RS_BAND };
#include "kernels/reduced_step/reduced_step_grid.cuh"

KERNEL(solve, warps, __launch_bounds__(32 * WARPS, 1))
KERNEL(measure, warps, __launch_bounds__(32 * WARPS, 1))

} // namespace

const void *modal_step_kernel_warps(modal_step_phase phase)
{
    return phase == MODAL_STEP_SOLVE ? (const void *)solve_by_warps : (const void *)measure_by_warps;
}
