// SPDX-License-Identifier: Apache-2.0
// Steps of a solid of any size: one kernel a step, a block a patch. It moves the patch's nodes (those on its border are moved
// by every patch that has them, each to the same bytes; the first one writes), then computes its elements' forces at
// where they are now, and writes one partial sum for each of its nodes.
//
// A patch's step needs of the step before only what patches near it, which have a node of it, have written (itself, too): where its nodes are,
// and their partial sums. So, where the layout has marks, it waits for these patches' marks alone instead of the whole launch before, and gives
// its own when its sums are written.
//   It ends: launches overlap by griddepcontrol.launch_dependents, so a block of step i begins only when every block of step i - 1 has come to
// that or ended. So a block waits for blocks alone that are on a multiprocessor or gone, however many fit, and of the earliest step's none waits.
//   Nothing is overwritten before it is read: step i writes states and sums that step i - 1 has read, those of a patch's nodes by patches near
// it alone; these have given step i - 1's mark, after their reading.
//   Pieces of a solid on several devices wait for patches of other pieces the same way; large ones for those alone, and for the launch before of
// their own device. Steps are queued step by step, all pieces' i before
// anybody's i + 1, those of one device in one stream: so a block of step i begins only when all blocks of step i - 1 of its own device have, and those
// of other devices need nothing of step i to do so.
//   Whoever waits for the end of the last launch has all: each of its blocks has seen the mark of the same patch's step before, that block's last
// deed, and so back to the first launch, which waits for all before it.
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

// A place in one load.
__device__ __forceinline__ modal_tled_place place_at(const modal_tled_place *places, int i)
{
    const int4 words = ((const int4 *)places)[i];
    return {words.x, words.y, words.z, (uint32_t)words.w};
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
    const modal_tled_place *places = t.places + (int64_t)blockIdx.x * t.most_places;
    for (int j = threadIdx.x; j < patch.n_bases; j += THREADS) b.bases[j] = t.bases[patch.first_base + j];
    modal_cuda::wait_for_previous();
    const Now<R> now = now_of(s, t.n_signals, 0);
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        const modal_tled_place p = place_at(places, i);
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

// What other pieces need of a patch: its partial sums of their nodes, then its mark. After a barrier behind the sums.
template <class R> __device__ __forceinline__ void give_peers(const Tables<R> &t, const Step<R> &s)
{
    const int first = t.border_first[blockIdx.x], end = t.border_first[blockIdx.x + 1];
    unsigned all = 0;
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
        const int sum = t.border_sums[i];
        const Vector4<R> f = s.next_forces[sum];
        const unsigned to = t.border_to[i];
        all |= to;
        for (unsigned left = to; left; left &= left - 1) t.peers[__ffs((int)left) - 1].partial[s.parity][sum] = f;
    }
    for (unsigned k = 0; k < MOST_PIECES; k++) // also the barrier behind them
        if (__syncthreads_or((int)(all >> k & 1)) && threadIdx.x == 0) give_peer_mark(t.peers[k].marks + t.numbers[blockIdx.x], s.mark);
}

// MOVES 0: forces only, at where the nodes are. What no step changes is on its way into shared memory before the step before has
// ended, as far as `stages_of` says. Where sums go waits in the fourth words of positions, which elements do not read, but where those are pressures.
// MARKS: the layout may have marks.
template <int MOVES, int ELEMENTS, int LAW, bool ONE, bool MARKS, class R, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    patch_step(const __grid_constant__ Tables<R> t, const __grid_constant__ Step<R> s)
{
    unsigned char *shared = shared_memory();
    modal_cuda::let_next_begin();
    constexpr int STAGES = stages_of<R>(LAW, ELEMENTS);
    constexpr bool KEEPS = STAGES != STAGES_ALL && !is_rich(LAW);
    Bench<R> b = bench_of(t, shared);
    const modal_tled_place *places = t.places + (int64_t)blockIdx.x * t.most_places;
    modal_tled_place p = place_at(places, threadIdx.x < t.most_places ? threadIdx.x : 0);
    const modal_tled_patch patch = t.patches[blockIdx.x];
    modal_tled_place q = place_at(places, threadIdx.x + THREADS < t.most_places ? threadIdx.x + THREADS : 0);
    const bool by_mark = MARKS && MOVES && s.waits_for_marks;
    const bool far = MARKS && t.peers && t.border_first[blockIdx.x] < t.border_first[blockIdx.x + 1]; // it has neighbours on other devices
    const int near = MOVES && (by_mark || far) && threadIdx.x < t.most_near ? t.near[(int64_t)blockIdx.x * t.most_near + threadIdx.x] : -1;
    Vector4<R> rest;
    if (STAGES != STAGES_ALL) rest = t.rest[p.node];
    b.corners = t.corners + patch.first_corner;
    if (STAGES >= STAGES_CORNERS) {
        uint32_t *to = staged_corners(t, shared);
        for (int i = 4 * threadIdx.x; i < patch.n_corners; i += 4 * THREADS) copy_ahead(to + i, b.corners + i);
        b.corners = to;
    }
    if (STAGES == STAGES_ALL) {
        b.places = staged_places(t, shared);
        for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
            if (i >= THREADS) p = place_at(places, i);
            copy_ahead(b.rest + i, t.rest + p.node);
            b.places[i] = p;
        }
    }
    for (int j = threadIdx.x; j < patch.n_bases; j += THREADS) b.bases[j] = t.bases[patch.first_base + j];
    const Now<R> now = now_of(s, t.n_signals, 0); // of the task's arrays, which are there before its first step
    if (!by_mark) modal_cuda::wait_for_previous();
    if (near >= 0) far ? wait_for_peer_mark(t.marks + near, s.mark - 1) : wait_for_mark(t.marks + near, s.mark - 1);
    if (by_mark || (MOVES && far)) __syncthreads();
    if (STAGES == STAGES_ALL) wait_for_copies();
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        if (STAGES == STAGES_ALL) p = place_at(b.places, i), rest.w = b.rest[i].w;
        else if (i >= THREADS) p = i < 2 * THREADS ? q : place_at(places, i), rest = t.rest[p.node];
        Motion<R> m = patch_motion<MOVES>(t, s, now, p, rest.w);
        if (KEEPS) keep(rest.w, p.own_sum), keep(m.u.w, p.counts >> 16 & 0x7fff);
        if (STAGES != STAGES_ALL) b.rest[i] = rest;
        if (is_rich(LAW) && t.pressure_factors) m.u.w = node_pressure(t, p);
        b.u[i] = m.u;
    }
    if (STAGES == STAGES_CORNERS) wait_for_copies();
    __syncthreads();
    patch_elements<ELEMENTS, LAW, ONE>(t, s, blockIdx.x, patch, b);
    __syncthreads();
    for (int i = threadIdx.x; i < patch.n_places; i += THREADS) {
        int sum, n;
        if (KEEPS) {
            sum = kept(b.rest[i].w), n = kept(b.u[i].w);
        } else {
            p = place_at(STAGES == STAGES_ALL ? b.places : places, i);
            sum = p.own_sum, n = p.counts >> 16 & 0x7fff;
        }
        const Vector3<R> f = place_force(b, i, n);
        s.next_forces[sum] = {f.x, f.y, f.z, 0};
    }
    if (MARKS && (s.gives_marks || far)) {
        __syncthreads();
        if (far) give_peers(t, s);
        if (s.gives_marks && threadIdx.x == 0) give_mark(t.marks + (t.numbers ? t.numbers[blockIdx.x] : (int)blockIdx.x), s.mark);
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
