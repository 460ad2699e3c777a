// SPDX-License-Identifier: Apache-2.0
// Objects of many modes that have tables: a block each.
#include "kernels/reduced_step/reduced_step_device.cuh"

namespace {

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
    __device__ static __forceinline__ void evaluate_large(const modal_step_task &, int64_t, large_state, bool, int) {}
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

enum { BAND = by_block::RS_BAND };
#include "kernels/reduced_step/reduced_step_grid.cuh"

KERNEL(solve, blocks, __launch_bounds__(256, 2)) /* 128 registers: left alone, the compiler takes 128 or 174 */
KERNEL(measure, blocks, __launch_bounds__(256))

} // namespace

const void *modal_step_kernel_blocks(modal_step_phase phase)
{
    return phase == MODAL_STEP_SOLVE ? (const void *)solve_by_blocks : (const void *)measure_by_blocks;
}
