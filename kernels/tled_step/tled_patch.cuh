// SPDX-License-Identifier: Apache-2.0
// Steps of a solid of any size: one kernel a step, a block a patch. It moves the patch's nodes (those on its border are moved
// by every patch that has them, each to the same bytes; the first one writes), then computes its elements' forces at
// where they are now, and writes one partial sum for each of its nodes.
#ifndef MODAL_KERNELS_TLED_PATCH_CUH
#define MODAL_KERNELS_TLED_PATCH_CUH

#include "kernels/modal_sum/overlap.cuh"
#include "kernels/tled_step/tled_elements.cuh"
#include "kernels/tled_step/tled_exchange.cuh"
#include "kernels/tled_step/tled_nodes.cuh"

namespace modal_tled {

template <class R> __device__ __forceinline__ Motion<R> load_motion(const Vector4<R> *state, int node)
{
    return {state[2 * (int64_t)node], state[2 * (int64_t)node + 1]};
}

template <class R> __device__ __forceinline__ void store_motion(Vector4<R> *state, int node, const Motion<R> &m)
{
    state[2 * (int64_t)node] = m.u;
    state[2 * (int64_t)node + 1] = m.d;
}

// Special nodes, before the patches take them: so the patches' kernel has no calls, which would cost it registers.
template <class R>
__global__ void __launch_bounds__(128) move_specials(const __grid_constant__ Tables<R> t, const __grid_constant__ Step<R> s)
{
    modal_cuda::let_next_begin();
    modal_cuda::wait_for_previous();
    const int k = blockIdx.x * 128 + threadIdx.x;
    if (k >= t.n_specials) return;
    const int i = t.special_nodes[k], n = t.sums[i + 1] - t.sums[i];
    const Vector3<R> force = n > 0 ? node_force(s.forces + t.sums[i], n) : Vector3<R>{0, 0, 0};
    store_motion(s.to, i, move(t, s, now_of(s, t.n_signals, 0), i, t.rest[i].w, load_motion(s.from, i), force));
}

// A place's node where the step's forces are wanted: moved, and written by its first patch, where MOVES.
template <int MOVES, class R>
__device__ __forceinline__ Motion<R> patch_motion(const Tables<R> &t, const Step<R> &s, const Now<R> &now, const modal_tled_place &p,
                                                  R rest_w)
{
    if (MOVES && rest_w < 0) return load_motion(s.to, p.node); // move_specials has moved it
    Motion<R> m = load_motion(s.from, p.node);
    if (MOVES) {
        m = move_plain(t, s, now, p.node, rest_w, m, node_force(s.forces + p.first_sum, p.counts & 0xffff));
        if (p.counts >> 31) store_motion(s.to, p.node, m);
    }
    return m;
}

// A node's pressure: partial sums in order, times K_a / V_a.
template <class R> __device__ __forceinline__ R node_pressure(const Tables<R> &t, const modal_tled_place &p)
{
    R sum = 0;
    for (int k = 0; k < (int)(p.counts & 0xffff); k++) sum += t.changes[p.first_sum + k];
    return sum * t.pressure_factors[p.node];
}

// Where materials average: moves the patch's nodes as patch_step does, which then only computes forces, and writes for each of
// them the partial sum of its elements' changes of volume.
template <int MOVES, class R, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    patch_changes(const __grid_constant__ Tables<R> t, const __grid_constant__ Step<R> s)
{
    unsigned char *shared = shared_memory();
    modal_cuda::let_next_begin();
    const Bench<R> b = bench_of(t, shared);
    const modal_tled_patch patch = t.patches[blockIdx.x];
    const modal_tled_place *places = t.places + patch.first_place;
    for (int j = threadIdx.x; j < patch.n_bases; j += THREADS) b.bases[j] = t.bases[patch.first_base + j];
    modal_cuda::wait_for_previous();
    const Now<R> now = now_of(s, t.n_signals, 0);
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        const modal_tled_place p = places[i];
        const Vector4<R> rest = t.rest[p.node];
        const Motion<R> m = patch_motion<MOVES>(t, s, now, p, rest.w);
        b.rest[i] = rest;
        b.u[i] = m.u;
    }
    __syncthreads();
    for (int lane = threadIdx.x; lane < patch.n_lanes && !patch.hexahedra; lane += THREADS) fan_changes(t, patch, lane, b);
    __syncthreads();
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        const modal_tled_place p = places[i];
        R sum = 0;
        for (int j = 0; j < (int)(p.counts >> 16 & 0x7fff) && !patch.hexahedra; j++) sum += b.force[b.bases[j] + i];
        t.changes[p.own_sum] = sum;
    }
}

// MOVES 0: forces only, at where the nodes are. What no step changes is in shared memory before the step before has ended, where STAGED.
template <int MOVES, int ELEMENTS, int LAW, class R, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    patch_step(const __grid_constant__ Tables<R> t, const __grid_constant__ Step<R> s)
{
    unsigned char *shared = shared_memory();
    modal_cuda::let_next_begin();
    constexpr bool STAGED = is_staged(LAW);
    const Bench<R> b = bench_of(t, shared);
    const modal_tled_patch patch = t.patches[blockIdx.x];
    const modal_tled_place *places = t.places + patch.first_place;
    for (int j = threadIdx.x; j < patch.n_bases; j += THREADS) b.bases[j] = t.bases[patch.first_base + j];
    modal_tled_place p = places[threadIdx.x < patch.n_places ? threadIdx.x : 0];
    Vector4<R> rest;
    if (!STAGED) rest = t.rest[p.node];
    if (STAGED) {
        const uint32_t *corners = t.corners + patch.first_corner;
        const int n_corners = (tetrahedra_of(corners[0]) + 3) * patch.n_lanes; // the first fan is a longest one
        for (int i = threadIdx.x; 4 * i < n_corners; i += THREADS) copy_ahead(b.corners + 4 * i, corners + 4 * i);
        for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
            if (i >= THREADS) p = places[i];
            copy_ahead(b.rest + i, t.rest + p.node);
            b.places[i] = p;
        }
    }
    modal_cuda::wait_for_previous();
    const Now<R> now = now_of(s, t.n_signals, 0);
    if (STAGED) wait_for_copies();
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        if (STAGED) p = b.places[i], rest.w = b.rest[i].w;
        else if (i >= THREADS) p = places[i], rest = t.rest[p.node];
        Motion<R> m = patch_motion<MOVES>(t, s, now, p, rest.w);
        if (!STAGED) b.rest[i] = rest;
        if (is_rich(LAW) && t.pressure_factors) m.u.w = node_pressure(t, p);
        b.u[i] = m.u;
    }
    __syncthreads();
    patch_elements<ELEMENTS, LAW, STAGED>(t, s, blockIdx.x, patch, b);
    __syncthreads();
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        p = STAGED ? b.places[i] : places[i];
        const Vector3<R> f = place_force(b, i, p.counts >> 16 & 0x7fff);
        s.next_forces[p.own_sum] = {f.x, f.y, f.z, 0};
    }
}

// Between the solid's order of nodes and the patches'. The first thread arms the watch for the task.
template <class R>
__global__ void take_state(const __grid_constant__ Tables<R> t, const Vector4<R> *u, const Vector4<R> *d,
                           Vector4<R> *state, Stop *stop, const modal_tled_watch *watch)
{
    const int i = t.first_node + blockIdx.x * blockDim.x + threadIdx.x;
    if (i == t.first_node) *stop = Stop{0, watch->step < 0, ~0ull};
    if (i < t.n_nodes) store_motion(state, i, Motion<R>{u[t.nodes[i]], d[t.nodes[i]]});
}

template <class R>
__global__ void give_state(const __grid_constant__ Tables<R> t, const Vector4<R> *state, Vector4<R> *u, Vector4<R> *d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= t.n_nodes) return;
    const Motion<R> m = load_motion(state, i);
    u[t.nodes[i]] = m.u;
    d[t.nodes[i]] = m.d;
}

// The last step of a task: no forces follow it, and the result goes where the caller wants it. forces: [n_nodes] the
// elements' at its start, or NULL.
template <class R>
__global__ void last_step(const __grid_constant__ Tables<R> t, const __grid_constant__ Step<R> s, Vector4<R> *u,
                          Vector4<R> *d, Vector4<R> *forces)
{
    const int i = t.first_node + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= t.n_nodes) return;
    const int n = t.sums[i + 1] - t.sums[i];
    const Vector3<R> force = n > 0 ? node_force(s.forces + t.sums[i], n) : Vector3<R>{0, 0, 0};
    const Motion<R> m = move(t, s, now_of(s, t.n_signals, 0), i, t.rest[i].w, load_motion(s.from, i), force);
    if (forces) forces[i] = {force.x, force.y, force.z, 0};
    u[t.nodes[i]] = m.u;
    d[t.nodes[i]] = m.d;
}

} // namespace modal_tled

#endif
