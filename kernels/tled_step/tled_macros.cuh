// SPDX-License-Identifier: Apache-2.0
// Macro-elements (tled_solid.h): a lane goes along its fan twice, for the mean of H and for the forces. Lanes of one macro give each other
// what they have found in shared memory, and compute the law each. Part of tled_elements.cuh, after what it is made of.
#ifndef MODAL_KERNELS_TLED_MACROS_CUH
#define MODAL_KERNELS_TLED_MACROS_CUH

// Of a fan: 6 V H of all its tetrahedra, and 6 V. Tetrahedron k of the edge e_b and the path e_k has 6 V grad N = e_k x e_(k+1) at b,
// e_(k+1) x e_b and e_b x e_k at its other two: so the path's nodes have u_k (x) (e_(k+1) - e_(k-1)), times e_b when they are added up.
template <class R> __device__ __forceinline__ void fan_mean(const modal_tled_patch &patch, int lane, const Bench<R> &b, R sum[9], R &all)
{
    const int n_lanes = patch.n_lanes;
    const uint32_t *corner = b.corners + lane;
    const int pa = place_of(corner[0]), pb = place_of(corner[n_lanes]), n = tetrahedra_of(corner[0]);
    int pi = place_of(corner[2 * n_lanes]);
    const Vector3<R> xa = vector(b.rest[pa]), ua = vector(b.u[pa]);
    const Vector3<R> eb = vector(b.rest[pb]) - xa, ub = vector(b.u[pb]) - ua;
    Vector3<R> before = {0, 0, 0}, ei = vector(b.rest[pi]) - xa, ui = vector(b.u[pi]) - ua, c = {0, 0, 0};
    Vector3<R> sx = {0, 0, 0}, sy = sx, sz = sx; // rows of the sum of u (x) w
    corner += 3 * n_lanes;
    for (int k = 0; k <= n; k++) {
        Vector3<R> ej = {0, 0, 0}, uj = ej; // past the end
        if (k < n) {
            pi = place_of(*corner);
            ej = vector(b.rest[pi]) - xa, uj = vector(b.u[pi]) - ua;
            c = c + cross(ei, ej);
            corner += n_lanes;
        }
        const Vector3<R> w = ej - before;
        sx = sx + ui.x * w, sy = sy + ui.y * w, sz = sz + ui.z * w;
        before = ei, ei = ej, ui = uj;
    }
    sx = cross(sx, eb) + ub.x * c, sy = cross(sy, eb) + ub.y * c, sz = cross(sz, eb) + ub.z * c;
    sum[0] = sx.x, sum[1] = sx.y, sum[2] = sx.z;
    sum[3] = sy.x, sum[4] = sy.y, sum[5] = sy.z;
    sum[6] = sz.x, sum[7] = sz.y, sum[8] = sz.z;
    all = dot(eb, c);
}

// A lane's share of its macro's mean, for the others of it.
template <class R> __device__ __forceinline__ void leave_mean(const Tables<R> &t, const modal_tled_patch &patch, int lane, const Bench<R> &b)
{
    R sum[9], all;
    fan_mean(patch, lane, b, sum, all);
#pragma unroll
    for (int k = 0; k < 9; k++) b.means[k * b.most_means + lane] = sum[k];
    b.means[9 * b.most_means + lane] = all;
    keep(b.means[10 * b.most_means + lane], t.rings[patch.first_element + lane]);
}

// The mean H of a lane's macro: the same bytes for all its lanes.
template <class R> __device__ __forceinline__ void macro_mean(const modal_tled_patch &patch, int lane, const Bench<R> &b, R h[9])
{
    R all;
    if (patch.shares) {
        const R *ring = b.means + 10 * b.most_means;
        uint32_t at = kept(ring[lane]) & 0xffff;
        all = 0;
#pragma unroll
        for (int k = 0; k < 9; k++) h[k] = 0;
        for (; at != MODAL_TLED_NO_LANE; at = kept(ring[at]) >> 16) {
#pragma unroll
            for (int k = 0; k < 9; k++) h[k] += b.means[k * b.most_means + at];
            all += b.means[9 * b.most_means + at];
        }
    } else {
        fan_mean(patch, lane, b, h, all);
    }
    const R over = inverse(all);
#pragma unroll
    for (int k = 0; k < 9; k++) h[k] *= over;
}

// Forces of a fan that is its macro-element or a part of it. Each lane keeps Prony terms of its own, all the same. Returns J of the macro.
template <int LAW, class R>
__device__ __forceinline__ R macro_forces(const Tables<R> &t, const modal_tled_patch &patch, int lane, const Bench<R> &b, R *viscous)
{
    const int n_lanes = patch.n_lanes, number = t.n_materials == 1 ? 0 : material_of(t, patch, lane, 0);
    const Material<R> m = material_of_fan<false>(t, number);
    R h[9], p[9]; // p: of the law at the mean, less what the control does there
    macro_mean(patch, lane, b, h);
    const Extra<R> extra = {viscous, patch.first_element + lane, number, false, 0, (R)(1.0 / 6)};
    const R jacobian = whole_stress<LAW>(t, m, extra, h, p);
#pragma unroll
    for (int k = 0; k < 9; k++) p[k] -= m.control * h[k];
    const uint32_t *corner = b.corners + lane;
    const uint32_t ra = corner[0], rb = corner[n_lanes];
    uint32_t ri = corner[2 * n_lanes], rj = ri;
    const int n = tetrahedra_of(ra);
    const Vector3<R> xa = vector(b.rest[place_of(ra)]), ua = vector(b.u[place_of(ra)]);
    const Vector3<R> eb = vector(b.rest[place_of(rb)]) - xa, ub = vector(b.u[place_of(rb)]) - ua;
    Vector3<R> ei = vector(b.rest[place_of(ri)]) - xa, ui = vector(b.u[place_of(ri)]) - ua;
    Vector3<R> cj = cross(eb, ei), fa = {0, 0, 0}, fb = {0, 0, 0}, fi = {0, 0, 0};
    corner += 3 * n_lanes;
    for (int k = 0; k < n; k++) {
        rj = *corner;
        const Vector3<R> ej = vector(b.rest[place_of(rj)]) - xa, uj = vector(b.u[place_of(rj)]) - ua;
        const Vector3<R> cb = cross(ei, ej), ci = cross(ej, eb);
        R q[9];
        gradient(ub, ui, uj, cb, ci, cj, m.control * inverse(dot(ej, cj)), q);
#pragma unroll
        for (int i = 0; i < 9; i++) q[i] += p[i];
        fb = fb + times(q, cb);
        fi = fi + times(q, ci);
        fa = fa - fi;
        leave(b, ri, fi);
        fi = times(q, cj);
        cj = {-ci.x, -ci.y, -ci.z};
        ei = ej;
        ui = uj;
        ri = rj;
        corner += n_lanes;
    }
    leave(b, rj, fi);
    leave(b, rb, fb);
    leave(b, ra, fa - fb - fi);
    return jacobian;
}

// The macro's first tetrahedron is turned: the slow path, once.
template <class R>
__device__ __noinline__ void note_turned_macro(const Tables<R> &t, int number, int lane, Stop *stop, modal_tled_watch *watch, int64_t first,
                                               int32_t step, R jacobian)
{
    const modal_tled_patch &patch = t.patches[number];
    int32_t lowest = t.elements[patch.first_element + lane];
    for (uint32_t l = t.rings[patch.first_element + lane] & 0xffff; l != MODAL_TLED_NO_LANE; l = t.rings[patch.first_element + l] >> 16)
        for (int k = 0; k < tetrahedra_of(t.corners[patch.first_corner + l]); k++) {
            const int32_t e = t.elements[patch.first_element + (int64_t)k * patch.n_lanes + l];
            lowest = e < lowest ? e : lowest;
        }
    note_turned(stop, watch, first, step, lowest, jacobian);
}

#endif
