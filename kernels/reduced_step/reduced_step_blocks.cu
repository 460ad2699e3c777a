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

struct blocks : object_a_block<by_block::team> {
    __device__ static __forceinline__ void evaluate_large(const modal_step_task &, int64_t, large_state, bool, int) {}
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
