// SPDX-License-Identifier: Apache-2.0
// One object of many modes, but not of most: by the whole grid as in reduced_step_grids.cu, in two passes instead of three. The
// third pass costs it more than reading each coefficient once saves: three take 0.46 instead of 0.39 ms a step at r = 60, 0.85
// instead of 0.82 at r = 100, and 2.6 instead of 3.3 at r = 200 (an H200; kernels/VERSIONS.md). It has no kernel that measures:
// that of reduced_step_grids.cu does.
#include "kernels/reduced_step/reduced_step_device.cuh"

namespace {

namespace by_single {
#define RS_LANES ((int32_t)blockDim.x)
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_SYNC() __syncthreads()
#define RS_CLOSE 0
#define RS_GRID_MODES MODAL_STEP_GRID_MODES
#define RS_MOST_SWEPT SINGLE_MODES
#include "kernels/reduced_step/reduced_step_team.cuh"
#define RS_LANES ((int32_t)blockDim.x)
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_SYNC() __syncthreads()
#define RS_GRID_MODES MODAL_STEP_GRID_MODES
#define RS_TWO_PASSES 1
#include "kernels/reduced_step/reduced_step_large.cuh"
} // namespace by_single

struct single : object_a_block<by_single::team> {
    enum { ONE = 1 };
    __device__ static __forceinline__ void evaluate_large(const modal_step_task &t, int64_t size, large_state state,
                                                          bool accepted, int slot)
    {
        by_single::large_evaluate(t, state, accepted, slot, t.scratch ? t.scratch + blockIdx.x * size : shared);
    }
};

enum { BAND = by_single::RS_BAND };
#include "kernels/reduced_step/reduced_step_grid.cuh"

KERNEL(solve, single, __launch_bounds__(512, 1))

} // namespace

const void *modal_step_kernel_single(void) { return (const void *)solve_by_single; }
