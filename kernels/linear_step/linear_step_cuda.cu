// SPDX-License-Identifier: Apache-2.0
// A warp an object, lanes over its modes: neighbouring lanes read neighbouring doubles of every column. What
// damping took is summed in a fixed tree of shuffles, so that the bytes do not depend on the schedule.
#include "kernels/cuda_check.cuh"
#include "kernels/linear_step/linear_step.h"

namespace {

enum { WARP = 32, WARPS = 8 };

__global__ void step(const modal_linear_step_task t)
{
    const int32_t i = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (i >= t.n_objects || (t.skip && t.skip[i])) return;
    const modal_linear_step_object o = t.objects[i];
    double lost = 0;
    for (int32_t k = lane; k < o.n_modes; k += WARP) lost += modal_linear_step_mode(&t, &o, k);
    if (o.loss == MODAL_LINEAR_NO_LOSS) return; // the whole warp
    for (int far = WARP / 2; far > 0; far /= 2) lost += __shfl_down_sync(0xffffffffu, lost, far);
    if (lane == 0) t.lost[i] += lost;
}

} // namespace

extern "C" modal_status modal_linear_step_cuda(const modal_linear_step_task *t, modal_stream *stream,
                                               modal_error *err)
{
    if (t->n_objects == 0) return MODAL_OK;
    step<<<(t->n_objects + WARPS - 1) / WARPS, WARPS * WARP, 0, (cudaStream_t)stream>>>(*t);
    return modal_cuda_launched("linear_step", err);
}
