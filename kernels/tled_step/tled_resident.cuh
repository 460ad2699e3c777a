// SPDX-License-Identifier: Apache-2.0
// Steps of a solid small enough for all its patches to be on the device at once: one launch for all steps of a task, a block a
// patch, a thread a fan and a node. Positions, displacements and increments stay in registers and shared memory; only
// partial sums of nodes on borders go from block to block (tled_exchange.cuh). A sum has the order that it has in
// patch_step.
#ifndef MODAL_KERNELS_TLED_RESIDENT_CUH
#define MODAL_KERNELS_TLED_RESIDENT_CUH

#include "kernels/tled_step/tled_exchange.cuh"
#include "kernels/tled_step/tled_patch.cuh"

namespace modal_tled {

enum { COUNTER_BYTES = 16 }; // of shared memory, before the bench: of sums that come within a cluster

// A fan with what stays the same from step to step.
struct ResidentFan {
    uint32_t corners[RESIDENT_FAN + 3];
    Vector3<float> b, i, j[RESIDENT_FAN]; // edges from a
    int n;                                // tetrahedra; 0: this thread has no fan
};

__device__ __forceinline__ ResidentFan resident_fan(const Tables<float> &t, const modal_tled_patch &patch,
                                                    const Bench<float> &b)
{
    ResidentFan f;
    const int lane = threadIdx.x;
    f.n = 0;
    if (lane >= patch.n_lanes) return f;
    const uint32_t *corners = t.corners + patch.first_corner + lane;
#pragma unroll
    for (int k = 0; k < 4; k++) f.corners[k] = corners[k * patch.n_lanes];
    f.n = tetrahedra_of(f.corners[0]);
#pragma unroll
    for (int k = 4; k < RESIDENT_FAN + 3; k++) f.corners[k] = k < f.n + 3 ? corners[k * patch.n_lanes] : f.corners[3];
    const Vector3<float> a = vector(b.rest[place_of(f.corners[0])]);
    f.b = vector(b.rest[place_of(f.corners[1])]) - a;
    f.i = vector(b.rest[place_of(f.corners[2])]) - a;
#pragma unroll
    for (int k = 0; k < RESIDENT_FAN; k++) f.j[k] = vector(b.rest[place_of(f.corners[3 + k])]) - a;
    return f;
}

// A material's numbers with volume / det = 1/6.
__device__ __forceinline__ Material<float> material_at(const Tables<float> &t, int number)
{
    Material<float> m = t.materials[number];
    m.mu *= 1.0f / 6, m.modulus *= 1.0f / 6;
    return m;
}

// As fan_forces, unrolled. material: that of the patch. ONE: there is one, m.
template <int LAW, bool ONE>
__device__ __forceinline__ int resident_forces(const Tables<float> &t, const modal_tled_patch &patch, int material, Material<float> m,
                                               const ResidentFan &f, const Bench<float> &b, float *viscous)
{
    const int64_t first = patch.first_element + threadIdx.x;
    int number = ONE || material >= 0 ? material : material_of(t, patch, threadIdx.x, 0);
    if (!ONE) m = material_at(t, number);
    Early<float> early[RESIDENT_FAN];
#pragma unroll
    for (int k = 0; k < RESIDENT_FAN; k++)
        early[k] = early_of<LAW>(t, viscous, number, first + (int64_t)(k < f.n ? k : 0) * patch.n_lanes);
    const Vector3<float> ua = vector(b.u[place_of(f.corners[0])]), ub = vector(b.u[place_of(f.corners[1])]) - ua;
    Vector3<float> ui = vector(b.u[place_of(f.corners[2])]) - ua, ei = f.i, uj[RESIDENT_FAN];
#pragma unroll
    for (int k = 0; k < RESIDENT_FAN; k++) uj[k] = vector(b.u[place_of(f.corners[3 + k])]) - ua;
    Vector3<float> cj = cross(f.b, ei), fa = {0, 0, 0}, fb = {0, 0, 0}, fi = {0, 0, 0};
    int is_turned = 0;
#pragma unroll
    for (int k = 0; k < RESIDENT_FAN; k++) {
        if (k > 0 && k >= f.n) break;
        if (!ONE && k > 0 && material < 0) m = material_at(t, number = material_of(t, patch, threadIdx.x, k));
        const Vector3<float> cb = cross(ei, f.j[k]), ci = cross(f.j[k], f.b);
        float h[9], p[9];
        gradient(ub, ui, uj[k], cb, ci, cj, inverse(dot(f.j[k], cj)), h);
        const Extra<float> extra = {viscous, first + (int64_t)k * patch.n_lanes, number, false, 0, 1.0f / 6, early[k]};
        is_turned |= turned(whole_stress<LAW>(t, m, extra, h, p));
        fb = fb + times(p, cb);
        fi = fi + times(p, ci);
        fa = fa - fi;
        leave(b, f.corners[2 + k], fi);
        fi = times(p, cj);
        if (k + 1 >= f.n) leave(b, f.corners[3 + k], fi);
        cj = {-ci.x, -ci.y, -ci.z};
        ei = f.j[k];
        ui = uj[k];
    }
    leave(b, f.corners[1], fb);
    leave(b, f.corners[0], fa - fb - fi);
    return is_turned;
}

// This thread's node.
struct ResidentNode {
    Motion<float> motion;
    float weight;     // rest.w
    int node, own_sum;
    uint32_t counts;  // of the place; 0: this thread has none
    int rank;         // which of the node's partial sums is this patch's
    int first_remote; // of the others' sums, in the patch's list
};

__device__ __forceinline__ int n_sums_of(const ResidentNode &node) { return node.counts & 0xffff; }

// Also leaves where the node is, for all threads. at: its place.
__device__ __forceinline__ ResidentNode resident_node(const Tables<float> &t, const modal_tled_patch &patch,
                                                      const Vector4<float> *state, const Bench<float> &b, int at)
{
    ResidentNode node = {};
    if (at >= patch.n_places) return node;
    const modal_tled_place place = t.places[blockIdx.x * t.most_places + at];
    const Vector4<float> rest = t.rest[place.node];
    node.motion = load_motion(state, place.node);
    b.rest[at] = rest;
    b.u[at] = node.motion.u;
    node.weight = rest.w;
    node.node = place.node;
    node.own_sum = place.own_sum;
    node.counts = place.counts;
    node.rank = place.own_sum - place.first_sum;
    node.first_remote = t.remote_of[patch.first_place + at];
    return node;
}

// The sum of all patches' partial sums, in their order.
__device__ __forceinline__ Vector3<float> sum_of_all(const ResidentNode &node, Vector3<float> mine,
                                                     const Vector4<float> *others)
{
    const int n = n_sums_of(node);
    Vector3<float> sum = node.rank == 0 ? mine : vector(others[0]);
    for (int k = 1; k < n; k++) sum = sum + (k == node.rank ? mine : vector(others[k - (k > node.rank)]));
    return sum;
}

__device__ __forceinline__ void round_low(const Motion<float> &m, modal_tled_low &low, float more)
{
    const float u[3] = {m.u.x, m.u.y, m.u.z}, d[3] = {m.d.x, m.d.y, m.d.z};
    modal_tled_low_rounded(&low, u, d, more);
}

// The node's step. low: what its motion has lost, in place of the fourth words, but of special nodes; not rounded yet.
template <bool PLAIN>
__device__ __forceinline__ void move_resident(const Tables<float> &t, const Step<float> &s, const Now<float> &now,
                                              Vector3<float> force, ResidentNode &node, modal_tled_low &low)
{
    Motion<float> &m = node.motion;
    if (node.weight > 0) {
        advance(s, push_of(t, now, node.node, s.gain * node.weight, force), m, low);
    } else if (PLAIN || node.weight == 0) { // held still, as place_held
        m.d = {0 - m.u.x, 0 - m.u.y, 0 - m.u.z, 0};
        m.u = {0, 0, 0, 0};
        for (int i = 0; i < 3; i++) low.d[i] = 0 - low.u[i], low.u[i] = 0;
    } else {
        m = move(t, s, now, node.node, node.weight, m, force);
    }
}

// n steps from s.from to s.to. PLAIN: no node is special, and each patch has one material: without the calls that special nodes
// need the kernel keeps everything in registers. What a float loses (tled_low.h) is rounded after the others have the node's
// displacement, and gravity is asked for before forces are computed, so that nobody waits for either. Lanes are taken from the first
// thread on, places from the middle, so that where a patch has few of one kind different threads work. WAY RESIDENT: tag + k marks
// the sums of step k, and buffers alternate with the tag; a block may be a step ahead of its neighbours, not two, since it waits for
// their sums. WAY IN_CLUSTER: all blocks are one cluster, and sums are pushed into the others' shared memory, by turns into one of two lists with a
// counter each: for the same reason no list is written before it is read, and no counter's next turn begins before all have seen this one's end.
// forces: [n_nodes] the elements' in the last step, or NULL.
template <int LAW, int WAY, bool PLAIN>
__global__ void __launch_bounds__(RESIDENT_THREADS, 1)
    resident_steps(const __grid_constant__ Tables<float> t, const __grid_constant__ Step<float> s, Vector4<float> *sums_even,
                   Vector4<float> *sums_odd, int n, uint32_t tag, Vector4<float> *forces)
{
    uint64_t *counters = (uint64_t *)shared_memory(); // at an address that is a constant
    unsigned char *shared = shared_memory() + COUNTER_BYTES;
    const Bench<float> b = bench_of(t, shared);
    Vector4<float> *others = (Vector4<float> *)(shared + remote_offset(t));
    const modal_tled_patch patch = t.patches[blockIdx.x];
    const int first_remote = t.remote_first[blockIdx.x], n_remotes = t.remote_first[blockIdx.x + 1] - first_remote;
    const int mine_to_read = WAY == RESIDENT && threadIdx.x < n_remotes ? t.remote_sums[first_remote + threadIdx.x] : 0;
    for (int j = threadIdx.x; j < patch.n_bases; j += RESIDENT_THREADS) b.bases[j] = t.bases[patch.first_base + j];
    const int at = threadIdx.x ^ (RESIDENT_THREADS / 2); // this thread's place
    ResidentNode node = resident_node(t, patch, s.from, b, at);
    modal_tled_low low = unpack(node.motion);
    float shift = 0;
    __syncthreads();
    const ResidentFan fan = resident_fan(t, patch, b);
    const Material<float> m = material_at(t, PLAIN ? patch.material : 0);
    uint32_t target[MOST_TARGETS], counter[MOST_TARGETS];
    if (WAY == IN_CLUSTER) {
        if (threadIdx.x == 0) new_counter(counters), new_counter(counters + 1);
#pragma unroll
        for (int k = 0; k < MOST_TARGETS; k++) {
            if (k >= n_sums_of(node) - 1) break;
            const uint32_t to = t.remote_targets[first_remote + node.first_remote + k];
            target[k] = address_in(others + (to & 0xffff), to >> 16);
            counter[k] = address_in(counters, to >> 16);
        }
        cluster_barrier(); // every block is there before another one writes into it
    }
    for (int k = 0; k < n; k++) {
        const Now<float> now = now_of(s, t.n_signals, k);
        if (WAY == IN_CLUSTER && threadIdx.x == 0) expect_bytes(counters + (k & 1), 16 * n_remotes);
        if (k > 0 && node.weight > 0) round_low(node.motion, low, shift);
        const modal_tled_patch &again = PLAIN ? patch : t.patches[blockIdx.x]; // special nodes need the registers
        if (fan.n > 0 && resident_forces<LAW, PLAIN>(t, again, patch.material, m, fan, b, s.viscous))
            find_turned_fan(t, blockIdx.x, threadIdx.x, shared, s.stop, s.watch, s.first, s.number + k);
        __syncthreads();
        Vector3<float> force = {0, 0, 0};
        const Vector4<float> *from = others;
        if (node.counts) force = place_force(b, at, node.counts >> 16 & 0x7fff);
        if (WAY == IN_CLUSTER) {
            const int half = (k & 1) * t.most_remotes;
            from += half;
#pragma unroll
            for (int j = 0; j < MOST_TARGETS; j++)
                if (j < n_sums_of(node) - 1) push(target[j] + 16 * half, force, counter[j] + 8 * (k & 1));
            if (n_sums_of(node) > 1) wait_for_bytes(counters + (k & 1), k >> 1);
        } else {
            Vector4<float> *sums = (tag + k) & 1 ? sums_odd : sums_even;
            if (n_sums_of(node) > 1) publish(sums + node.own_sum, force, tag + k);
            for (int i = threadIdx.x; i < n_remotes; i += RESIDENT_THREADS)
                others[i] = wait_for(sums + (i < RESIDENT_THREADS ? mine_to_read : t.remote_sums[first_remote + i]), tag + k);
            __syncthreads();
        }
        if (node.counts) {
            force = sum_of_all(node, force, from + node.first_remote);
            if (k == n - 1 && forces && node.counts >> 31) forces[node.node] = {force.x, force.y, force.z, 0};
            move_resident<PLAIN>(t, s, now, force, node, low);
            shift = node.weight > 0 ? now.more : 0;
            b.u[at] = node.motion.u;
        }
        __syncthreads();
    }
    if (PLAIN || !(node.weight < 0)) pack(node.motion, low, shift);
    if (node.counts >> 31) store_motion(s.to, node.node, node.motion);
    if (WAY == IN_CLUSTER) cluster_barrier(); // no block goes while another one may write into it
}

} // namespace modal_tled

#endif
