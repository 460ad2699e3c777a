// SPDX-License-Identifier: Apache-2.0
// Works and reactions of one step, in float64 from its displacements and forces: sums over nodes in a fixed tree.
#ifndef MODAL_KERNELS_TLED_ACCOUNT_CUH
#define MODAL_KERNELS_TLED_ACCOUNT_CUH

#include "kernels/tled_step/tled_patch.cuh"

namespace modal_tled {

// A step's factors in float64, and which results are wanted.
struct Account {
    modal_tled_factors factors;
    double step, alpha;
    const void *forces; // [n_nodes, 4] of R: of the elements at its start
    double *works;     // [blocks, WORKS] or NULL
    double *reactions; // [n_held, 3] or NULL
    const double *touches; // of bodies, where there are any
};

__device__ __forceinline__ void add_up(double sums[WORKS][REDUCE])
{
    for (int far = REDUCE / 2; far > 0; far /= 2) {
        __syncthreads();
        for (int k = 0; k < WORKS; k++)
            if (threadIdx.x < far) sums[k][threadIdx.x] += sums[k][threadIdx.x + far];
    }
    __syncthreads();
}

// A component of a node: what acts on it, how it moves, whether it is prescribed.
struct Component {
    double load, force, touch, old, now;
    int held;
};

// Adds to loads, held, damped, inner; m is the node's mass.
__device__ __forceinline__ void account_component(const Account &a, double m, const Component &c, double *reaction, double sums[WORKS])
{
    const modal_tled_factors &f = a.factors;
    const double both = c.now + f.ratio * c.old, way = f.half * both;
    const double holding = c.held ? m * (c.now - f.keep * c.old) / f.gain - (c.load - c.force) : 0;
    if (reaction) *reaction = holding;
    sums[0] += c.load * way;
    sums[1] += (holding + c.touch) * way;
    sums[2] += a.alpha * m * both / (2 * a.step) * way;
    sums[3] += c.force * way;
}

// d: after the step, in the solid's order.
template <class R>
__global__ void __launch_bounds__(REDUCE)
    account_step(const __grid_constant__ Tables<R> t, const __grid_constant__ Step<R> s, const Account a, const Vector4<R> *d)
{
    __shared__ double sums[WORKS][REDUCE];
    const int i = blockIdx.x * REDUCE + threadIdx.x;
    double mine[WORKS] = {0, 0, 0, 0};
    if (i < t.n_nodes) {
        const int row = t.held_rows[i];
        const Vector4<R> force = ((const Vector4<R> *)a.forces)[i], old = s.from[2 * (int64_t)i + 1], now = d[t.nodes[i]];
        const double mass = t.mass[i];
        Double3 load = {{0, 0, 0}};
        if (t.rest[i].w < 0) load = loads_on(t, s.from, s.signals, i);
        if (s.gravity)
            for (int c = 0; c < 3; c++) load.at[c] += mass * (t.falls ? t.falls[i] : 1) * s.gravity[c];
        double touch[3] = {0, 0, 0};
        const int special = t.rest[i].w < 0 ? t.specials_of[i] : -1;
        if (special >= 0 && t.specials[special].touching >= 0)
            for (int k = 0; k < t.n_contacts; k++)
                for (int c = 0; c < 3; c++) touch[c] += a.touches[3 * (k * t.n_touching + t.specials[special].touching) + c];
        double *reaction = a.reactions && row >= 0 ? a.reactions + 3 * (int64_t)row : nullptr;
        int held[3];
        double to[3];
        held_at(t, s.signals, row, held, to);
        const bool first = !(a.factors.ratio > 0); // d is not read
        const double forces[3] = {force.x, force.y, force.z}, olds[3] = {old.x, old.y, old.z}, nows[3] = {now.x, now.y, now.z};
        for (int c = 0; c < 3; c++)
            account_component(a, mass, {load.at[c], forces[c], touch[c], first ? 0 : olds[c], nows[c], held[c]},
                              reaction ? reaction + c : nullptr, mine);
    }
    if (!a.works) return;
    for (int k = 0; k < WORKS; k++) sums[k][threadIdx.x] = mine[k];
    add_up(sums);
    if (threadIdx.x < WORKS) a.works[WORKS * (int64_t)blockIdx.x + threadIdx.x] = sums[threadIdx.x][0];
}

static __global__ void __launch_bounds__(REDUCE) add_works(const double *works, int n, modal_tled_work *work)
{
    __shared__ double sums[WORKS][REDUCE];
    double mine[WORKS] = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < n; i += REDUCE)
        for (int k = 0; k < WORKS; k++) mine[k] += works[WORKS * (int64_t)i + k];
    for (int k = 0; k < WORKS; k++) sums[k][threadIdx.x] = mine[k];
    add_up(sums);
    if (threadIdx.x > 0) return;
    work->loads += sums[0][0];
    work->held += sums[1][0];
    work->damped += sums[2][0];
    work->inner += sums[3][0];
}

} // namespace modal_tled

#endif
