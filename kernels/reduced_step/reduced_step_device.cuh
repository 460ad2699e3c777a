// SPDX-License-Identifier: Apache-2.0
// What reduced_step_body.h needs on a GPU, and what the kernels of both kinds of teams, which are compiled side by side,
// and their launch (reduced_step_cuda.cu) have in common.
#ifndef MODAL_KERNELS_REDUCED_STEP_DEVICE_CUH
#define MODAL_KERNELS_REDUCED_STEP_DEVICE_CUH

#include <cooperative_groups.h>
#include <math.h>

#include "kernels/reduced_step/reduced_force.h"

// Up to so many modes by a warp, and by eight lanes. So many warps a block, of which one fills a multiprocessor: with
// 13 to 16 a thread has 128 registers; the fewest of them, whose scratch leaves the most of the cache, and still hold
// the forest of 6,440 objects at once. More blocks make a slower barrier.
enum { WARP_MODES = 16, EIGHT_MODES = 8, WARPS = 13 };

// Up to so many modes one object alone is solved for in two passes (reduced_step_single.cu).
enum { SINGLE_MODES = 112 };

// Doubles of the scratch of eight lanes (rs_scratch_of), and 4 more, so that the four teams of a warp begin in different banks.
enum { EIGHT_SCRATCH = 2 * 48 + 2 * 72 + 48 + 17 * 8 + 24 + 4 };

// The kernels of a phase: void (task, doubles of scratch a team).
const void *modal_step_kernel_warps(modal_step_phase phase);
const void *modal_step_kernel_blocks(modal_step_phase phase);
const void *modal_step_kernel_grids(modal_step_phase phase);
const void *modal_step_kernel_single(void); // MODAL_STEP_SOLVE's

#define KERNEL(name, teams, bounds)                                                                  \
    __global__ void bounds name##_by_##teams(const __grid_constant__ modal_step_task t, int64_t size) \
    {                                                                                                \
        name<teams>(t, size);                                                                        \
    }

namespace {

// What the whole grid evaluates (reduced_step_large.cuh): the trial state, the middle of the step, its start.
enum large_state { LARGE_END, LARGE_MIDDLE, LARGE_START };

#define RS_FN __device__ static __forceinline__
#define RS_WIDE 0
#define RS_SUM(rows, n, table, m, out) column_sums<false>(rows, n, table, m, m, out, out)
#define RS_TWO_SUMS(rows, n, table, m1, m2, out1, out2) column_sums<true>(rows, n, table, m1, m2, out1, out2)

// Their numbers, without their arrays, which would keep the copies in memory.
RS_FN modal_step_object object_of(const modal_step_object *from)
{
    modal_step_object o;
    o.shape = __ldg(&from->shape);
    o.tree = __ldg(&from->tree);
    o.motion = __ldg(&from->motion);
    o.parent = __ldg(&from->parent);
    o.first_child = __ldg(&from->first_child);
    o.n_children = __ldg(&from->n_children);
    o.first_point = __ldg(&from->first_point);
    o.n_points = __ldg(&from->n_points);
    o.n_modes = __ldg(&from->n_modes);
    o.parent_modes = __ldg(&from->parent_modes);
    o.coordinates = __ldg(&from->coordinates);
    o.damping = __ldg(&from->damping);
    o.tangent = __ldg(&from->tangent);
    o.alpha = __ldg(&from->alpha);
    o.anchor = __ldg(&from->anchor);
    o.work = __ldg(&from->work);
    o.share = __ldg(&from->share);
    return o;
}
RS_FN modal_step_shape shape_of(const modal_step_shape *from)
{
    modal_step_shape s;
    s.n_modes = __ldg(&from->n_modes);
    s.cubic = __ldg(&from->cubic);
    s.stiffness = __ldg(&from->stiffness);
    s.energy = __ldg(&from->energy);
    s.inertia = __ldg(&from->inertia);
    s.masses = __ldg(&from->masses);
    s.mass = __ldg(&from->mass);
    return s;
}

#ifdef __CUDACC__
extern __shared__ double shared[];
#else // tests/emulate
#define shared emulated.shared
#endif

// An object a block, by its team.
template <class team> struct object_a_block {
    enum { ONE = 0 };
    template <class function>
    __device__ static __forceinline__ void each(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                const function &f)
    {
        for (int32_t i = first + blockIdx.x; i < end; i += gridDim.x) {
            f(team{}, i, t.scratch ? t.scratch + blockIdx.x * size : shared);
            __syncthreads();
        }
    }
    template <class function>
    __device__ static __forceinline__ void each_parent(const modal_step_task &t, int64_t size, int32_t first, int32_t end,
                                                       const function &f)
    {
        for (int32_t i = first + blockIdx.x; i < end; i += gridDim.x) {
            if (t.objects[i].n_children > 0) f(team{}, i, t.scratch ? t.scratch + blockIdx.x * size : shared);
            __syncthreads();
        }
    }
};

} // namespace

#endif
