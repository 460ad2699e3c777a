// SPDX-License-Identifier: Apache-2.0
// A block an object: 32 threads for small ones, so that thousands run at once. What does not depend on
// the tree (stiffness, inertia, the residual: nearly all the arithmetic and all the large tables) is one
// launch over all objects; only the passes along the tree are a launch a level. The tables are read as
// columns, one a thread: whole lines, each once an evaluation, which for objects of different shapes is
// what takes the time (r = 20: 0.4 MB a shape, at the device's bandwidth).
#include "kernels/cuda_check.cuh"
#include "kernels/reduced_step/reduced_step.h"

namespace {

#define RS_FN __device__ static
#define RS_LANE ((int32_t)threadIdx.x)
#define RS_LANES ((int32_t)blockDim.x)
#define RS_WIDE 0
#define RS_SYNC() __syncthreads()
#define RS_TWO_SUMS two_sums

__device__ void two_sums(int32_t rows, int32_t n, const double *table, const double *m1, const double *m2,
                         double *out1, double *out2)
{
    for (int32_t c = RS_LANE; c < n; c += RS_LANES) {
        const double *column = table + c;
        double x = 0, y = 0;
#pragma unroll 8
        for (int32_t i = 0; i < rows; i++) {
            const double e = __ldg(column + (int64_t)i * n);
            x = fma(m1[i], e, x);
            y = fma(m2[i], e, y);
        }
        out1[c] = x;
        out2[c] = y;
    }
    __syncthreads();
}

#include "kernels/reduced_step/reduced_step_body.h"

extern __shared__ double shared[];

__device__ double *scratch_of(const modal_step_task &t, int64_t size)
{
    return t.scratch ? t.scratch + blockIdx.x * size : shared;
}

__global__ void begin(const modal_step_task t)
{
    const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < t.n_trees) t.status[i] = t.active[i] ? MODAL_STEP_RUNNING : MODAL_STEP_IDLE;
}

enum { PREDICT, EVALUATE, ELIMINATE, ACCEPT, MEASURE };

template <int WHAT>
__global__ void each(const modal_step_task t, int32_t first, int32_t end, int64_t size)
{
    double *own = scratch_of(t, size);
    for (int32_t i = first + blockIdx.x; i < end; i += gridDim.x) {
        if (WHAT == PREDICT) {
            rs_predict(&t, i);
            __syncthreads();
            if (t.rule == MODAL_STEP_ENERGY) rs_start_force(&t, i, own);
        }
        if (WHAT == EVALUATE) rs_evaluate(&t, i, own);
        if (WHAT == ELIMINATE) rs_eliminate(&t, i, own);
        if (WHAT == ACCEPT) rs_accept(&t, i, own);
        if (WHAT == MEASURE) rs_measure(&t, i, own);
        __syncthreads();
    }
}

__global__ void descend(const modal_step_task t, int32_t first, int32_t end)
{
    __shared__ double sums[48];
    for (int32_t i = first + blockIdx.x; i < end; i += gridDim.x) {
        rs_descend(&t, i, sums);
        __syncthreads();
    }
}

struct launcher {
    const modal_step_task &t;
    cudaStream_t stream;
    int threads;
    int64_t size;
    size_t shared_bytes;

    unsigned blocks(int32_t count) const
    {
        const int32_t most = t.scratch ? t.n_scratch : 1 << 20;
        return (unsigned)(count < most ? count : most);
    }
    template <int WHAT> modal_status run(int32_t first, int32_t end, modal_error *err) const
    {
        if (end <= first) return MODAL_OK;
        if (shared_bytes > 48 * 1024)
            cudaFuncSetAttribute(each<WHAT>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
        each<WHAT><<<blocks(end - first), threads, shared_bytes, stream>>>(t, first, end, size);
        return modal_cuda_launched("reduced_step", err);
    }
};

modal_status solve(modal_step_task *t, const launcher &l, modal_error *err)
{
    modal_status status = MODAL_OK;
    begin<<<(t->n_trees + 255) / 256, 256, 0, l.stream>>>(*t);
    MODAL_TRY(modal_cuda_launched("reduced_step", err));
    MODAL_TRY(l.run<PREDICT>(0, t->n_objects, err));
    for (t->iterations = 0;; t->iterations++) {
        for (int32_t level = 0; level < t->n_levels; level++) {
            const int32_t first = t->h_levels[level], end = t->h_levels[level + 1];
            descend<<<(unsigned)(end - first), l.threads, 0, l.stream>>>(*t, first, end);
            MODAL_TRY(modal_cuda_launched("reduced_step", err));
        }
        MODAL_TRY(l.run<EVALUATE>(0, t->n_objects, err));
        for (int32_t level = t->n_levels; level-- > 0;)
            MODAL_TRY(l.run<ELIMINATE>(t->h_levels[level], t->h_levels[level + 1], err));
        MODAL_TRY(modal_cuda_status(cudaMemcpyAsync(t->h_status, t->status, t->n_trees * sizeof(int32_t),
                                                   cudaMemcpyDeviceToHost, l.stream),
                                   "reduced_step", err));
        MODAL_TRY(modal_cuda_status(cudaStreamSynchronize(l.stream), "reduced_step", err));
        int running = 0;
        for (int32_t i = 0; i < t->n_trees; i++) running |= t->h_status[i] == MODAL_STEP_RUNNING;
        if (!running || t->iterations == t->most_iterations) break;
    }
done:
    return status;
}

} // namespace

extern "C" modal_status modal_reduced_step_cuda(modal_step_task *t, modal_step_phase phase,
                                                modal_stream *stream, modal_error *err)
{
    const int64_t size = modal_step_scratch_size(t);
    const int threads = t->most_modes <= 12 ? 32 : t->most_modes <= 40 ? 128 : 256;
    const launcher l = {*t, (cudaStream_t)stream, threads, size,
                        t->scratch ? 0 : (size_t)size * sizeof(double)};
    if (phase == MODAL_STEP_SOLVE) return solve(t, l, err);
    modal_status status = phase == MODAL_STEP_ACCEPT ? l.run<ACCEPT>(0, t->n_objects, err)
                                                     : l.run<MEASURE>(0, t->n_objects, err);
    if (status != MODAL_OK) return status;
    return modal_cuda_status(cudaStreamSynchronize(l.stream), "reduced_step", err);
}
