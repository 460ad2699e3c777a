// SPDX-License-Identifier: Apache-2.0
#include "kernels/tled_step/tled_step.h"

#include "kernels/cuda_check.cuh"
#include "kernels/tled_step/tled_account.cuh"

namespace modal_tled {
namespace {

// Threads of a block, and blocks of a multiprocessor that registers are given out for.
template <class R> struct Shape {
    enum { THREADS = sizeof(R) == 4 ? 256 : 128, BLOCKS = sizeof(R) == 4 ? 4 : 2 };
};

template <int MOVES, int ELEMENTS, int LAW, class R>
modal_status launch_patches(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    typedef Shape<R> shape;
    auto kernel = patch_step<MOVES, ELEMENTS, LAW, R, shape::THREADS, shape::BLOCKS>;
    const size_t bytes = bench_bytes(l->tables);
    modal_cuda_machine machine;
    modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    if ((int64_t)bytes > machine.shared_block)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "tled_step: a patch needs %zu bytes of shared memory, not %lld",
                               bytes, (long long)machine.shared_block);
    status = modal_cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                               "tled_step", err);
    if (status != MODAL_OK) return status;
    return modal_cuda::launch_overlapping(machine, kernel, (unsigned)l->tables.n_patches, shape::THREADS, bytes, stream,
                                          "tled_step", err, l->tables, s);
}

template <int MOVES, int ELEMENTS, class R>
modal_status launch_law(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    switch (l->law) {
    case MODAL_TLED_NEO_HOOKEAN: return launch_patches<MOVES, ELEMENTS, MODAL_TLED_NEO_HOOKEAN>(l, s, stream, err);
    case MODAL_TLED_LOGARITHMIC: return launch_patches<MOVES, ELEMENTS, MODAL_TLED_LOGARITHMIC>(l, s, stream, err);
    case MODAL_TLED_STVK: return launch_patches<MOVES, ELEMENTS, MODAL_TLED_STVK>(l, s, stream, err);
    default: return launch_patches<MOVES, ELEMENTS, LAW_ANY>(l, s, stream, err);
    }
}

template <int MOVES, class R>
modal_status launch(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    if (l->tables.n_patches == 0) return MODAL_OK;
    switch (l->elements) {
    case TETRAHEDRA: return launch_law<MOVES, TETRAHEDRA>(l, s, stream, err);
    case HEXAHEDRA: return launch_law<MOVES, HEXAHEDRA>(l, s, stream, err);
    default: return launch_patches<MOVES, BOTH, LAW_ANY>(l, s, stream, err);
    }
}

// Steps [k, k + n) of a task, from the caller's arrays to the caller's arrays.
template <class R>
modal_status steps(const Layout<R> *l, const modal_tled_step_task *task, int64_t k, int64_t n, cudaStream_t stream,
                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const Tables<R> &t = l->tables;
    const int blocks = (t.n_nodes + REDUCE - 1) / REDUCE;
    const modal_tled_factors factors = modal_tled_step_factors(task->step, task->before, task->alpha);
    Vector4<R> *u = (Vector4<R> *)task->u, *d = (Vector4<R> *)task->d;
    Step<R> s = {};
    s.keep = (R)factors.keep;
    s.gain = (R)factors.gain;
    s.first = task->first + k;
    s.stop = l->stop;
    s.watch = task->watch;
    take_state<<<blocks, REDUCE, 0, stream>>>(t, u, d, l->state[0], l->stop, task->watch);
    MODAL_TRY(modal_cuda_launched("tled_step: state", err));
    s.from = l->state[0];
    s.next_forces = l->partial[0];
    MODAL_TRY(launch<0>(l, s, stream, err));
    for (int64_t i = 0; i < n; i++) {
        const int a = (int)(i % 2);
        s.from = l->state[a];
        s.forces = l->partial[a];
        s.to = l->state[1 - a];
        s.next_forces = l->partial[1 - a];
        s.gravity = task->gravity ? task->gravity + 3 * (k + i) : nullptr;
        s.signals = task->signals ? task->signals + (k + i) * t.n_signals : nullptr;
        s.number = (int32_t)(i + 1);
        if (i < n - 1) MODAL_TRY(launch<1>(l, s, stream, err));
    }
    last_step<<<blocks, REDUCE, 0, stream>>>(t, s, u, d, task->work || task->reactions ? l->forces : nullptr);
    MODAL_TRY(modal_cuda_launched("tled_step: last step", err));
    if (task->work || task->reactions) {
        const Account account = {factors, task->step, task->alpha, l->forces, task->work ? l->works : nullptr, task->reactions};
        account_step<<<blocks, REDUCE, 0, stream>>>(t, s, account, d);
        MODAL_TRY(modal_cuda_launched("tled_step: works", err));
        if (task->work) add_works<<<1, REDUCE, 0, stream>>>(l->works, blocks, task->work);
        MODAL_TRY(modal_cuda_launched("tled_step: works", err));
    }
done:
    return status;
}

template <class R> modal_status run(const modal_tled_step_task *task, cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const Layout<R> *l = (const Layout<R> *)task->layout;
    if (l->tables.n_nodes == 0 || task->n_steps == 0) return MODAL_OK;
    // works need every step's displacements before and after it; a state's number has 31 bits
    const int64_t most = task->work ? 1 : INT32_MAX - 1;
    for (int64_t k = 0; k < task->n_steps; k += most)
        MODAL_TRY(steps(l, task, k, task->n_steps - k < most ? task->n_steps - k : most, stream, err));
done:
    return status;
}

} // namespace
} // namespace modal_tled

extern "C" modal_status modal_tled_step_cuda(const modal_tled_step_task *task, modal_stream *stream, modal_error *err)
{
    if (task->layout->precision == MODAL_TLED_FLOAT64) return modal_tled::run<double>(task, (cudaStream_t)stream, err);
    return modal_tled::run<float>(task, (cudaStream_t)stream, err);
}
