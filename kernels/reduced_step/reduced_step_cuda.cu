// SPDX-License-Identifier: Apache-2.0
// A step is one cooperative launch: teams of threads, all resident, go down and up the levels of all trees together, a
// barrier of the grid between two levels (down: four levels, body_bands.h), until no tree runs on; nobody asks the host.
// What it takes is the latency of thousands of dependent instructions an object, so an object of few modes is worked on
// by eight lanes where there are more objects than warps, which then run at once; by a warp where there are fewer, and
// by a block where bases are large. The tables are read as columns, each once an evaluation, which for objects of
// different large shapes is what takes the time (r = 20: 0.4 MB a shape). 6,440 objects of r = 7, 5.2 evaluations, on an
// H200: 0.95 ms (kernels/VERSIONS.md).
#include "kernels/cuda_check.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/reduced_step/reduced_step_device.cuh"

extern "C" modal_status modal_reduced_step_cuda(const modal_step_task *t, modal_stream *stream,
                                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const cudaStream_t queue = (cudaStream_t)stream;
    int64_t size = modal_step_device_scratch_size(t);
    const int small = t->most_modes <= WARP_MODES;
    if (small && size < 4 * EIGHT_SCRATCH) size = 4 * EIGHT_SCRATCH;
    const size_t team_bytes = t->scratch ? 0 : (size_t)size * sizeof(double);
    int groups = small ? WARPS : 1, threads = 0, resident = 0, large = 0, single = 0;
    const void *kernel = NULL;
    size_t shared_bytes = team_bytes;
    modal_step_task task = *t;
    void *arguments[] = {&task, &size};
    modal_cuda_machine machine;
    MODAL_TRY(modal_cuda_machine_of(&machine, err));
    // by the whole grid where a block an object would leave most of it idle
    large = t->most_modes > MODAL_STEP_TABLE_MODES || (!small && t->n_objects < 4 * machine.n_multiprocessors);
    single = large && t->n_objects == 1 && t->most_modes <= SINGLE_MODES && t->phase == MODAL_STEP_SOLVE;
    threads = t->most_modes <= 40 ? 128 : large ? 512 : 256;
    // blocks of 256 leave two a multiprocessor: for objects that are not more than those
    if (threads == 128 && large && !single && t->n_objects <= 2 * machine.n_multiprocessors) threads = 256;
    kernel = small    ? modal_step_kernel_warps(t->phase)
             : single ? modal_step_kernel_single()
             : large  ? modal_step_kernel_grids(t->phase)
                      : modal_step_kernel_blocks(t->phase);
    if (small) { // fewer warps where all multiprocessors have one an object, and where there is less shared memory
        const int spread = (t->n_objects + machine.n_multiprocessors - 1) / machine.n_multiprocessors;
        if (groups > spread) groups = spread;
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
        if (blocks > wanted && !large) blocks = wanted;
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
