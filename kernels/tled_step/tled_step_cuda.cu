// SPDX-License-Identifier: Apache-2.0
#include "kernels/tled_step/tled_step.h"

#include "kernels/cuda_launch.cuh"
#include "kernels/device.h"
#include "kernels/tled_step/tled_account.cuh"
#include "kernels/tled_step/tled_resident.cuh"
#include "kernels/tled_step/tled_stiffest.cuh"

namespace modal_tled {
namespace {

enum { MOST_STEPS = 1 << 20 }; // of one run: a step's number has 31 bits, and the mark of a sum 32

// Threads of a block, and blocks of a multiprocessor that registers are given out for.
template <class R> struct Shape {
    enum { THREADS = sizeof(R) == 4 ? 256 : 128, BLOCKS = sizeof(R) == 4 ? 4 : 2 };
    enum { RICH_BLOCKS = 2, EARLY_BLOCKS = 3 }; // what comes on top of a law needs registers
};

// A kernel of a block a patch.
template <class R>
modal_status launch_kernel(void (*kernel)(const Tables<R>, const Step<R>), const Layout<R> *l, const Step<R> &s, int stages,
                           cudaStream_t stream, modal_error *err)
{
    const size_t bytes = bench_bytes(l->tables, stages);
    modal_cuda_machine machine;
    modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    if ((int64_t)bytes > machine.shared_block)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "tled_step: a patch needs %zu bytes of shared memory, not %lld",
                               bytes, (long long)machine.shared_block);
    status = modal_cuda_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                               "tled_step", err);
    if (status != MODAL_OK) return status;
    return modal_cuda::launch_overlapping(machine, kernel, (unsigned)l->tables.n_patches, Shape<R>::THREADS, bytes, stream,
                                          "tled_step", err, l->tables, s);
}

template <int MOVES, int ELEMENTS, int LAW, class R>
modal_status launch_patches(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    typedef Shape<R> shape;
    constexpr int blocks = asks_early(LAW) ? (int)shape::EARLY_BLOCKS : is_rich(LAW) ? (int)shape::RICH_BLOCKS : (int)shape::BLOCKS;
    constexpr int stages = stages_of<R>(LAW, ELEMENTS);
    constexpr bool knows_one = asks_early(LAW);            // other laws gain 2 % by numbers of a material that are constants
    // hexahedra lose 4 % by what they are not asked for; forces alone are wanted once a task, but where a law may have nodal pressures
    constexpr bool always_marks = ELEMENTS == TETRAHEDRA || (MOVES == 0 && !is_rich(LAW));
    if (!always_marks && !l->tables.near)
        return launch_kernel<R>(patch_step<MOVES, ELEMENTS, LAW, false, always_marks, R, shape::THREADS, blocks>, l, s, stages, stream, err);
    if (knows_one && l->tables.n_materials == 1)
        return launch_kernel<R>(patch_step<MOVES, ELEMENTS, LAW, knows_one, true, R, shape::THREADS, blocks>, l, s, stages, stream, err);
    return launch_kernel<R>(patch_step<MOVES, ELEMENTS, LAW, false, true, R, shape::THREADS, blocks>, l, s, stages, stream, err);
}

template <int MOVES, class R>
modal_status launch_changes(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    typedef Shape<R> shape;
    if (l->tables.n_patches == 0) return MODAL_OK;
    return launch_kernel<R>(patch_changes<MOVES, R, shape::THREADS, shape::BLOCKS>, l, s, STAGES_NONE, stream, err);
}

template <class R> modal_status launch_specials(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    modal_cuda_machine machine;
    if (l->tables.n_specials == 0) return MODAL_OK;
    const modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    return modal_cuda::launch_overlapping(machine, move_specials<R>, (unsigned)(l->tables.n_specials + 127) / 128, 128, 0, stream,
                                          "tled_step: special nodes", err, l->tables, s);
}

template <int MOVES, int ELEMENTS, class R>
modal_status launch_law(const Layout<R> *l, const Step<R> &s, cudaStream_t stream, modal_error *err)
{
    if constexpr (ELEMENTS == TETRAHEDRA && sizeof(R) == 4) {
        if (l->law == LAW_FIBRES) return launch_patches<MOVES, ELEMENTS, LAW_FIBRES>(l, s, stream, err);
        if (l->law == LAW_PRONY) return launch_patches<MOVES, ELEMENTS, LAW_PRONY>(l, s, stream, err);
    }
    if constexpr (ELEMENTS == TETRAHEDRA) {
        if (l->law == LAW_MACROS) return launch_patches<MOVES, ELEMENTS, LAW_MACROS>(l, s, stream, err);
        if (l->law == LAW_RICH_MACROS) return launch_patches<MOVES, ELEMENTS, LAW_RICH_MACROS>(l, s, stream, err);
    }
    switch (l->law) {
    case MODAL_TLED_NEO_HOOKEAN: return launch_patches<MOVES, ELEMENTS, MODAL_TLED_NEO_HOOKEAN>(l, s, stream, err);
    case MODAL_TLED_LOGARITHMIC: return launch_patches<MOVES, ELEMENTS, MODAL_TLED_LOGARITHMIC>(l, s, stream, err);
    case MODAL_TLED_STVK: return launch_patches<MOVES, ELEMENTS, MODAL_TLED_STVK>(l, s, stream, err);
    case LAW_FIBRES:
    case LAW_PRONY:
    case LAW_RICH_NEO_HOOKEAN: return launch_patches<MOVES, ELEMENTS, LAW_RICH_NEO_HOOKEAN>(l, s, stream, err);
    case LAW_RICH_ANY: return launch_patches<MOVES, ELEMENTS, LAW_RICH_ANY>(l, s, stream, err);
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
    default:
        if (has_macros(l->law)) return launch_patches<MOVES, BOTH, LAW_RICH_MACROS>(l, s, stream, err);
        return l->law >= (int)LAW_RICH_NEO_HOOKEAN ? launch_patches<MOVES, BOTH, LAW_RICH_ANY>(l, s, stream, err)
                               : launch_patches<MOVES, BOTH, LAW_ANY>(l, s, stream, err);
    }
}

typedef void (*resident_kernel)(const Tables<float>, const Step<float>, Vector4<float> *, Vector4<float> *, int, uint32_t,
                                Vector4<float> *);

template <int WAY> resident_kernel kernel_of(int law, bool plain)
{
    switch (plain ? law : (int)MODAL_TLED_LAWS) {
    case MODAL_TLED_NEO_HOOKEAN: return resident_steps<MODAL_TLED_NEO_HOOKEAN, WAY, true>;
    case MODAL_TLED_LOGARITHMIC: return resident_steps<MODAL_TLED_LOGARITHMIC, WAY, true>;
    case MODAL_TLED_STVK: return resident_steps<MODAL_TLED_STVK, WAY, true>;
    case LAW_FIBRES: return resident_steps<LAW_FIBRES, WAY, true>;
    case LAW_PRONY: return resident_steps<LAW_PRONY, WAY, true>;
    default: break;
    }
    switch (law) {
    case MODAL_TLED_NEO_HOOKEAN: return resident_steps<MODAL_TLED_NEO_HOOKEAN, WAY, false>;
    case MODAL_TLED_LOGARITHMIC: return resident_steps<MODAL_TLED_LOGARITHMIC, WAY, false>;
    case MODAL_TLED_STVK: return resident_steps<MODAL_TLED_STVK, WAY, false>;
    case LAW_FIBRES:
    case LAW_PRONY:
    case LAW_RICH_NEO_HOOKEAN: return resident_steps<LAW_RICH_NEO_HOOKEAN, WAY, false>;
    case LAW_RICH_ANY: return resident_steps<LAW_RICH_ANY, WAY, false>;
    default: return resident_steps<LAW_ANY, WAY, false>;
    }
}

resident_kernel kernel_of(Way way, int law, bool plain)
{
    return way == IN_CLUSTER ? kernel_of<IN_CLUSTER>(law, plain) : kernel_of<RESIDENT>(law, plain);
}

size_t resident_bytes(Way way, const Tables<float> &t)
{
    return COUNTER_BYTES + remote_offset(t) + (way == IN_CLUSTER ? 2 : 1) * sizeof(Vector4<float>) * (size_t)t.most_remotes;
}

cudaLaunchConfig_t resident_config(Way way, int n_patches, size_t bytes, cudaLaunchAttribute *attribute)
{
    cudaLaunchConfig_t config = {};
    if (way == IN_CLUSTER) {
        attribute->id = cudaLaunchAttributeClusterDimension;
        attribute->val.clusterDim.x = (unsigned)n_patches;
        attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
    } else {
        attribute->id = cudaLaunchAttributeCooperative;
        attribute->val.cooperative = 1;
    }
    config.gridDim = dim3((unsigned)n_patches);
    config.blockDim = dim3(RESIDENT_THREADS);
    config.dynamicSmemBytes = bytes;
    config.attrs = attribute;
    config.numAttrs = 1;
    return config;
}

modal_status allow(resident_kernel kernel, Way way, size_t bytes, modal_error *err)
{
    cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (code == cudaSuccess && way == IN_CLUSTER)
        code = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return modal_cuda_status(code, "tled_step: one launch", err);
}

// All n steps in one launch, from and to the layout's states.
modal_status launch_resident(Layout<float> *l, const Step<float> &s, int n, Vector4<float> *forces, cudaStream_t stream,
                             modal_error *err)
{
    const size_t bytes = resident_bytes(l->way, l->tables);
    const resident_kernel kernel = kernel_of(l->way, l->law, l->plain);
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = resident_config(l->way, l->tables.n_patches, bytes, &attribute);
    const modal_status status = allow(kernel, l->way, bytes, err);
    if (status != MODAL_OK) return status;
    config.stream = stream;
    const uint32_t tag = l->tag;
    l->tag += (uint32_t)n;
    return modal_cuda_status(cudaLaunchKernelEx(&config, kernel, l->tables, s, l->partial[0], l->partial[1], n, tag, forces),
                             "tled_step: one launch", err);
}

modal_status launch_resident(Layout<double> *, const Step<double> &, int, Vector4<double> *, cudaStream_t, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "tled_step: one launch is for float32"); // not reached
}

// Steps [k, k + n) of a task from state 0, a launch each and the last without forces after it. s becomes the last step.
template <class R>
modal_status each_step(Layout<R> *l, const modal_tled_step_task *task, int64_t k, int64_t n, Step<R> &s,
                       Vector4<R> *forces, cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const Tables<R> &t = l->tables;
    const int blocks = (t.n_nodes + REDUCE - 1) / REDUCE;
    s.next_forces = l->partial[0];
    s.gives_marks = t.near != nullptr;
    s.mark = l->tag;
    l->tag += (uint32_t)n;
    if (t.pressure_factors) MODAL_TRY(launch_changes<0>(l, s, stream, err));
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
        s.step = s.first + i;
        if (i == n - 1) break;
        s.waits_for_marks = s.gives_marks;
        s.mark++;
        MODAL_TRY(launch_specials(l, s, stream, err));
        if (t.pressure_factors) { // one kernel moves, the other one computes forces
            MODAL_TRY(launch_changes<1>(l, s, stream, err));
            Step<R> there = s;
            there.from = s.to;
            MODAL_TRY(launch<0>(l, there, stream, err));
        } else {
            MODAL_TRY(launch<1>(l, s, stream, err));
        }
    }
    MODAL_TRY(modal_cuda::launch(last_step<R>, blocks, REDUCE, stream, "tled_step: last step", err, t, s, (Vector4<R> *)task->u,
                                 (Vector4<R> *)task->d, forces));
done:
    return status;
}

// The same in one launch.
template <class R>
modal_status one_launch(Layout<R> *l, const modal_tled_step_task *task, int64_t k, int64_t n, Step<R> &s,
                        Vector4<R> *forces, cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const Tables<R> &t = l->tables;
    const int blocks = (t.n_nodes + REDUCE - 1) / REDUCE;
    s.to = l->state[1];
    s.gravity = task->gravity ? task->gravity + 3 * k : nullptr;
    s.signals = task->signals ? task->signals + k * t.n_signals : nullptr;
    MODAL_TRY(launch_resident(l, s, (int)n, forces, stream, err));
    MODAL_TRY(modal_cuda::launch(give_state<R>, blocks, REDUCE, stream, "tled_step: state", err, t, l->state[1],
                                 (Vector4<R> *)task->u, (Vector4<R> *)task->d));
done:
    return status;
}

#include "kernels/tled_step/tled_pieces_step.cuh"

// Steps [k, k + n) of a task on one device, from the caller's arrays to the caller's arrays. s becomes the last step, forces its elements'.
template <class R>
modal_status device_steps(Layout<R> *l, const modal_tled_step_task *task, int64_t k, int64_t n, Step<R> &s, Vector4<R> *forces,
                          cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const Tables<R> &t = l->tables;
    const int blocks = (t.n_nodes + REDUCE - 1) / REDUCE;
    if (task->viscous) {
        MODAL_TRY(modal_cuda::launch(set_decays<R>, (t.n_materials * MODAL_TLED_TERMS + 63) / 64, 64, stream,
                                     "tled_step: Prony terms", err, t, task->step, task->before));
    }
    MODAL_TRY(modal_cuda::launch(take_state<R>, blocks, REDUCE, stream, "tled_step: state", err, t, (const Vector4<R> *)task->u,
                                 (const Vector4<R> *)task->d, l->state[0], l->stop, task->watch));
    if (l->way == EACH_STEP) MODAL_TRY(each_step(l, task, k, n, s, forces, stream, err));
    else MODAL_TRY(one_launch(l, task, k, n, s, forces, stream, err));
done:
    return status;
}

// The same with works and reactions where `accounts`; n is 1 then.
template <class R>
modal_status steps(Layout<R> *l, const modal_tled_step_task *task, int64_t k, int64_t n, int accounts, cudaStream_t stream,
                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const Tables<R> &t = l->tables;
    const int blocks = (t.n_nodes + REDUCE - 1) / REDUCE;
    const modal_tled_factors factors = modal_tled_step_factors(task->step, task->before, task->alpha);
    Vector4<R> *forces = accounts ? l->forces : nullptr;
    Step<R> s = {};
    s.keep = (R)factors.keep;
    s.lose = (R)factors.lose;
    s.gain = (R)factors.gain;
    s.first = s.step = task->first + k;
    s.stop = l->stop;
    s.watch = task->watch;
    s.from = l->state[0];
    s.viscous = (R *)task->viscous;
    s.factor = factors.gain;
    if (accounts && t.n_contacts > 0) s.touches = task->touches ? task->touches : l->touches;
    if (l->pieces) MODAL_TRY(pieces_steps(l, task, k, n, s, forces, (modal_stream *)stream, err));
    else MODAL_TRY(device_steps(l, task, k, n, s, forces, stream, err));
    if (accounts) {
        const Account account = {factors, task->step, task->alpha, l->forces, task->work ? l->works : nullptr,
                                 task->reactions, s.touches};
        MODAL_TRY(modal_cuda::launch(account_step<R>, blocks, REDUCE, stream, "tled_step: works", err, t, s, account,
                                     (const Vector4<R> *)task->d));
        if (task->work) MODAL_TRY(modal_cuda::launch(add_works, 1, REDUCE, stream, "tled_step: works", err, l->works, blocks,
                                                     task->work));
    }
done:
    return status;
}

// Works need every step's displacements before and after it, reactions those of the last one: these steps are tasks of
// their own.
template <class R> modal_status run(const modal_tled_step_task *task, cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    Layout<R> *l = (Layout<R> *)task->layout;
    const int64_t n_plain = task->work ? 0 : task->reactions || task->touches ? task->n_steps - 1 : task->n_steps;
    if (l->tables.n_nodes == 0) return MODAL_OK;
    for (int64_t k = 0; k < task->n_steps;) {
        const int64_t left = n_plain - k, most = l->pieces ? (int64_t)PIECE_STEPS : (int64_t)MOST_STEPS;
        const int64_t n = left <= 0 ? 1 : left < most ? left : most;
        MODAL_TRY(steps(l, task, k, n, left <= 0, stream, err));
        k += n;
    }
    if (task->stiffest) MODAL_TRY(find_stiffest(l->stiff, (const Vector4<R> *)task->u, task->stiffest, stream, err));
done:
    return status;
}

} // namespace
} // namespace modal_tled

modal_status modal_tled::resident_fits(Way way, int law, bool plain, const Tables<float> &t, int n_patches,
                                       const modal_cuda_machine *machine, int *fits, modal_error *err)
{
    const size_t bytes = resident_bytes(way, t);
    const resident_kernel kernel = kernel_of(way, law, plain);
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = resident_config(way, n_patches, bytes, &attribute);
    int n = 0;
    *fits = 0;
    if ((int64_t)bytes > machine->shared_block) return MODAL_OK;
    const modal_status status = allow(kernel, way, bytes, err);
    if (status != MODAL_OK) return status;
    if (way == IN_CLUSTER) {
        const cudaError_t code = cudaOccupancyMaxActiveClusters(&n, kernel, &config);
        if (code != cudaSuccess) cudaGetLastError(); // no such clusters here
        *fits = code == cudaSuccess && n > 0;
        return MODAL_OK;
    }
    const cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, RESIDENT_THREADS, bytes);
    *fits = n * machine->n_multiprocessors >= n_patches;
    return modal_cuda_status(code, "tled_layout: blocks of one launch", err);
}

extern "C" modal_status modal_tled_step_cuda(const modal_tled_step_task *task, modal_stream *stream, modal_error *err)
{
    if (task->layout->precision == MODAL_TLED_FLOAT64) return modal_tled::run<double>(task, (cudaStream_t)stream, err);
    return modal_tled::run<float>(task, (cudaStream_t)stream, err);
}
