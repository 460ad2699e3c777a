// SPDX-License-Identifier: Apache-2.0
// Objects of many modes, few of them or without tables: what depends on the coefficients by the whole grid, the rest by a
// block each.
#include "kernels/reduced_step/reduced_step_device.cuh"

namespace {

namespace by_grid {
#define RS_LANES ((int32_t)blockDim.x)
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_SYNC() __syncthreads()
#define RS_CLOSE 0
#define RS_GRID_MODES MODAL_STEP_GRID_MODES
#define RS_WARP_SUMS 1
#include "kernels/reduced_step/reduced_step_team.cuh"
#define RS_LANES ((int32_t)blockDim.x)
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_SYNC() __syncthreads()
#define RS_GRID_MODES MODAL_STEP_GRID_MODES
#define RS_TWO_PASSES 0
#include "kernels/reduced_step/reduced_step_large.cuh"
} // namespace by_grid

struct grids : object_a_block<by_grid::team> {
    __device__ static __forceinline__ void evaluate_large(const modal_step_task &t, int64_t size, large_state state,
                                                          bool accepted, int slot)
    {
        by_grid::large_evaluate(t, state, accepted, slot, t.scratch ? t.scratch + blockIdx.x * size : shared);
    }
};

enum { BAND = by_grid::RS_BAND };
#include "kernels/reduced_step/reduced_step_grid.cuh"

KERNEL(solve, grids, __launch_bounds__(512, 1))
KERNEL(measure, grids, __launch_bounds__(512, 1))

} // namespace

const void *modal_step_kernel_grids(modal_step_phase phase)
{
    return phase == MODAL_STEP_SOLVE ? (const void *)solve_by_grids : (const void *)measure_by_grids;
}
