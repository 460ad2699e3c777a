// SPDX-License-Identifier: Apache-2.0
// A step is one cooperative launch: the groups of threads, all resident, go down and up the levels of all
// trees together, a barrier of the grid between two levels, until no tree runs on; nobody asks the host. An
// object is worked on by a warp where bases are small, so that thousands run at once, and by a block where they
// are large. The tables are read as columns, one a thread: whole lines, each once an evaluation, which for
// objects of different large shapes is what takes the time (r = 20: 0.4 MB a shape).
#include <cooperative_groups.h>
#include <math.h>

#include "kernels/cuda_check.cuh"
#include "kernels/reduced_step/reduced_step.h"

namespace {

#define RS_FN __device__ static __forceinline__
#define RS_WIDE 0
#define RS_SUM(rows, n, table, m, out) column_sums<false>(rows, n, table, m, m, out, out)
#define RS_TWO_SUMS(rows, n, table, m1, m2, out1, out2) column_sums<true>(rows, n, table, m1, m2, out1, out2)

// Row i of all columns is one access of a group; `two`: out2 = m2^T table, too.
#define RS_COLUMN_SUMS                                                                                       \
    template <bool two>                                                                                      \
    __device__ void column_sums(int32_t rows, int32_t n, const double *table, const double *m1,              \
                                const double *m2, double *out1, double *out2)                                \
    {                                                                                                        \
        for (int32_t c = RS_LANE; c < n; c += RS_LANES) {                                                    \
            const double *column = table + c;                                                                \
            double x = 0, y = 0;                                                                             \
            _Pragma("unroll 8") for (int32_t i = 0; i < rows; i++)                                           \
            {                                                                                                \
                const double e = __ldg(column + (int64_t)i * n);                                             \
                x = fma(m1[i], e, x);                                                                        \
                if (two) y = fma(m2[i], e, y);                                                               \
            }                                                                                                \
            out1[c] = x;                                                                                     \
            if (two) out2[c] = y;                                                                            \
        }                                                                                                    \
        RS_SYNC();                                                                                           \
    }

// up to so many modes by a warp; so many warps a block, of which one fills a multiprocessor: more of them have too few
// registers, and more blocks make a slower barrier
enum { WARP_MODES = 16, WARPS = 12 };

namespace by_warp {
#define RS_LANE ((int32_t)(threadIdx.x % 32))
#define RS_LANES 32
#define RS_SYNC() __syncwarp()
#define RS_LARGE 0
#define RS_BOUNDS __launch_bounds__(32 * WARPS, 1)
RS_COLUMN_SUMS
#include "kernels/reduced_step/reduced_step_body.h"
#include "kernels/reduced_step/reduced_step_grid.cuh"
#undef RS_LANE
#undef RS_LANES
#undef RS_SYNC
#undef RS_BOUNDS
#undef RS_LARGE
} // namespace by_warp

namespace by_block {
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_LANES ((int32_t)blockDim.x)
#define RS_SYNC() __syncthreads()
#define RS_LARGE 1
#define RS_BOUNDS __launch_bounds__(256)
RS_COLUMN_SUMS
#include "kernels/reduced_step/reduced_step_body.h"
#include "kernels/reduced_step/reduced_step_grid.cuh"
} // namespace by_block

} // namespace

extern "C" modal_status modal_reduced_step_cuda(modal_step_task *t, modal_step_phase phase,
                                                modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const cudaStream_t queue = (cudaStream_t)stream;
    const int64_t size = modal_step_scratch_size(t);
    const int small = t->most_modes <= WARP_MODES, groups = small ? WARPS : 1;
    const int threads = small ? 32 * WARPS : t->most_modes <= 40 ? 128 : 256;
    const size_t shared_bytes = t->scratch ? 0 : (size_t)(groups * size) * sizeof(double);
    const void *kernel = phase == MODAL_STEP_SOLVE
                             ? small ? (const void *)by_warp::solve : (const void *)by_block::solve
                             : small ? (const void *)by_warp::measure : (const void *)by_block::measure;
    modal_step_task task = *t;
    int64_t scratch_size = size;
    void *arguments[] = {&task, &scratch_size};
    int device = 0, processors = 0, resident = 0;
    MODAL_TRY(modal_cuda_status(cudaGetDevice(&device), "reduced_step", err));
    MODAL_TRY(modal_cuda_status(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
                                "reduced_step", err));
    MODAL_TRY(modal_cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     (int)shared_bytes),
                                "reduced_step", err));
    MODAL_TRY(modal_cuda_status(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes),
        "reduced_step", err));
    {
        int64_t blocks = (int64_t)resident * processors;
        const int64_t wanted = (t->n_objects + groups - 1) / groups;
        if (blocks > wanted) blocks = wanted;
        if (t->scratch && blocks * groups > t->n_scratch) blocks = t->n_scratch / groups;
        MODAL_TRY(modal_cuda_status(cudaLaunchCooperativeKernel(kernel, (unsigned)blocks, threads, arguments,
                                                                shared_bytes, queue),
                                    "reduced_step", err));
    }
    if (phase == MODAL_STEP_SOLVE)
        MODAL_TRY(modal_cuda_status(
            cudaMemcpyAsync(t->h_status, t->status, (t->n_trees + MODAL_STEP_COUNTERS) * sizeof(int32_t),
                            cudaMemcpyDeviceToHost, queue),
            "reduced_step", err));
    MODAL_TRY(modal_cuda_status(cudaStreamSynchronize(queue), "reduced_step", err));
    if (phase != MODAL_STEP_SOLVE) goto done;
    t->iterations = t->h_status[t->n_trees + 3];
    for (int32_t i = 0; i < t->n_trees; i++)
        if (t->h_status[i] == MODAL_STEP_FROZEN) t->h_status[i] = MODAL_STEP_RUNNING;
done:
    return status;
}
