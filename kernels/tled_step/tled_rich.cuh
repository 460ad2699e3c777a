// SPDX-License-Identifier: Apache-2.0
// What comes on top of an element's law (tled_solid.h): fibres, Prony terms, nodal pressures.
#ifndef MODAL_KERNELS_TLED_RICH_CUH
#define MODAL_KERNELS_TLED_RICH_CUH

#include "kernels/tled_step/tled_stress.cuh"

namespace modal_tled {

// What comes on top is looked up for each element.
__host__ __device__ constexpr bool is_rich(int law) { return law == LAW_RICH_NEO_HOOKEAN || law == LAW_RICH_ANY || law == LAW_RICH_MACROS; }
__host__ __device__ constexpr int law_of(int law)
{
    return law == LAW_RICH_NEO_HOOKEAN || law == LAW_MACROS ? (int)MODAL_TLED_NEO_HOOKEAN
           : law == LAW_RICH_ANY || law == LAW_RICH_MACROS  ? (int)LAW_ANY
                                                            : law;
}

// cof F of F = I + H; returns J - 1.
template <class R> __device__ __forceinline__ R whole_cofactors(const R h[9], R c[9])
{
    const R t = h[0] + h[4] + h[8];
    const R x = h[4] * h[8] - h[5] * h[7], y = h[5] * h[6] - h[3] * h[8], z = h[3] * h[7] - h[4] * h[6];
    const R a = h[0] * h[8] - h[2] * h[6], b = h[0] * h[4] - h[1] * h[3];
    c[0] = x - h[0] + 1 + t, c[1] = y - h[3], c[2] = z - h[6];
    c[3] = h[2] * h[7] - h[1] * h[8] - h[1], c[4] = a - h[4] + 1 + t, c[5] = h[1] * h[6] - h[0] * h[7] - h[7];
    c[6] = h[1] * h[5] - h[2] * h[4] - h[2], c[7] = h[2] * h[3] - h[0] * h[5] - h[5], c[8] = b - h[8] + 1 + t;
    return t + (x + a + b + (h[0] * x + h[1] * y + h[2] * z));
}

// Fibres of stiffness eta along a: their stress is along f a^T - around cof F, f = F a.
template <class R> struct Pull {
    R f[3], along, around;
};

template <class R> __device__ __forceinline__ Pull<R> pull_of(R eta, const R h[9], const R a[3], R above, R power, R over)
{
    Pull<R> pull;
    const R root = (1 + above) * power, q = -above * (root + 1) * inverse(root * root + root + 1) * power; // q: J^(-2/3) - 1
    R e = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const R ha = h[3 * i] * a[0] + h[3 * i + 1] * a[1] + h[3 * i + 2] * a[2];
        pull.f[i] = a[i] + ha;
        e += ha * (a[i] + pull.f[i]);
    }
    const R g = q * (1 + e) + e, stress = eta * g;
    pull.along = stress * power;
    pull.around = stress * (1 + g) * (over * (R)(1.0 / 3));
    return pull;
}

template <class R> __device__ __forceinline__ void add_along(const Pull<R> &pull, const R a[3], R p[9])
{
#pragma unroll
    for (int k = 0; k < 9; k++) p[k] += pull.along * pull.f[k / 3] * a[k % 3];
}

// p += P of fibres of stiffness eta along a.
template <class R> __device__ __forceinline__ void add_fibres(R eta, const R h[9], const R a[3], R p[9])
{
    R c[9];
    const R above = whole_cofactors(h, c);
    const Pull<R> pull = pull_of(eta, h, a, above, power_minus_two_thirds(1 + above), inverse(1 + above));
    add_along(pull, a, p);
#pragma unroll
    for (int k = 0; k < 9; k++) p[k] -= pull.around * c[k];
}

// F^-1 p, in six numbers: its isochoric part and its volumetric one.
template <class R> __device__ __forceinline__ void split(const R h[9], const R p[9], R part[2][6])
{
    const int rows[6] = {0, 1, 2, 1, 0, 0}, columns[6] = {0, 1, 2, 2, 2, 1};
    R c[9], pressure = p[0] + p[4] + p[8];
    const R over = inverse(whole_cofactors(h, c) + 1);
#pragma unroll
    for (int k = 0; k < 9; k++) pressure += p[k] * h[k];
    pressure *= over * (R)(1.0 / 3);
#pragma unroll
    for (int k = 0; k < 6; k++) { // F^-1 = cof F^T / J
        const int i = rows[k], j = columns[k];
        const R s = (c[i] * p[j] + c[3 + i] * p[3 + j] + c[6 + i] * p[6 + j]) * over;
        part[1][k] = (c[i] * c[j] + c[3 + i] * c[3 + j] + c[6 + i] * c[6 + j]) * (over * pressure);
        part[0][k] = s - part[1][k];
    }
}

// p -= F off.
template <class R> __device__ __forceinline__ void take_off(const R h[9], const R off[6], R p[9])
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const R x = h[3 * i] + (i == 0), y = h[3 * i + 1] + (i == 1), z = h[3 * i + 2] + (i == 2);
        p[3 * i] -= x * off[0] + y * off[5] + z * off[4];
        p[3 * i + 1] -= x * off[5] + y * off[1] + z * off[3];
        p[3 * i + 2] -= x * off[4] + y * off[3] + z * off[2];
    }
}

// Takes the Prony terms off p; state [n_terms, 6] with `stride` between its numbers.
template <class R>
__device__ __forceinline__ void relax(const Rich<R> &m, const Decay<R> *decays, const R h[9], R *state, int64_t stride, R p[9])
{
    R part[2][6], off[6] = {0};
    split(h, p, part);
    for (int n = 0; n < m.n_terms; n++) {
        const Decay<R> decay = decays[n];
#pragma unroll
        for (int k = 0; k < 6; k++) {
            R *known = state + (6 * n + k) * stride;
            const R s = n < m.n_isochoric ? part[0][k] : part[1][k], d = *known + decay.now * s;
            off[k] += d;
            *known = decay.keep * d + decay.next * s;
        }
    }
    take_off(h, off, p);
}

// What LAW_FIBRES and LAW_PRONY read of an element, early, so that forces do not wait for it.
template <class R> struct Early {
    R fibre;        // stiffness
    int isochoric;  // the term is
    Decay<R> decay; // its
    R own[6];       // direction, or the term's six numbers
};

template <int LAW, class R> __device__ __forceinline__ void read_material(const Tables<R> &t, int material, Early<R> &early)
{
    if (LAW == LAW_FIBRES) early.fibre = t.rich[material].fibre;
    if (LAW == LAW_PRONY) {
        early.isochoric = t.rich[material].n_isochoric;
        early.decay = t.decays[material * MODAL_TLED_TERMS];
    }
}

// at: the element's place in `elements`.
template <int LAW, class R>
__device__ __forceinline__ void read_own(const Tables<R> &t, const R *viscous, int64_t at, Early<R> &early)
{
    if (LAW == LAW_FIBRES) {
#pragma unroll
        for (int c = 0; c < 3; c++) early.own[c] = t.fibres[c * t.n_elements + at];
    }
    if (LAW == LAW_PRONY) {
#pragma unroll
        for (int c = 0; c < 6; c++) early.own[c] = viscous[c * t.n_elements + at];
    }
}

template <int LAW, class R>
__device__ __forceinline__ Early<R> early_of(const Tables<R> &t, const R *viscous, int material, int64_t at)
{
    Early<R> early;
    read_material<LAW>(t, material, early);
    read_own<LAW>(t, viscous, at, early);
    return early;
}

// The neo-Hookean law and fibres: cof F is C - H^T + (1 + t) I, so that they change the law's numbers.
template <class R> __device__ __forceinline__ R fibre_stress(R mu, R modulus, R eta, const R h[9], const R a[3], R p[9])
{
    const Volumes<R> v = volumes_of(h);
    const NeoHooke<R> n = neo_hooke_of(mu, modulus, h, v);
    const Pull<R> pull = pull_of(eta, h, a, v.above, n.power, n.over);
    const R back = n.b - n.a - pull.around;
    isotropic(n.a, back, n.b - pull.around + back * v.t, h, v.c, p);
    add_along(pull, a, p);
    return v.jacobian;
}

// The neo-Hookean law and one Prony term; what is known of it becomes the next step's. With D = J C^-1 - I the law's S is
// b I + (b - a) D, its volumetric part K (J - 1) (I + D). D is made of G = cof F - I: J C^-1 = (I + G)^T (I + G) / J.
template <class R>
__device__ __forceinline__ R prony_stress(R mu, R modulus, const Early<R> &early, const R h[9], R known[6], R p[9])
{
    const Volumes<R> v = volumes_of(h);
    const NeoHooke<R> n = neo_hooke_of(mu, modulus, h, v);
    const int rows[6] = {0, 1, 2, 1, 0, 0}, columns[6] = {0, 1, 2, 2, 2, 1};
    const R back = n.b - n.a, volumetric = modulus * v.above;
    const R x = early.isochoric ? n.b - volumetric : volumetric, y = early.isochoric ? back - volumetric : volumetric;
    R g[9], s[6];
#pragma unroll
    for (int k = 0; k < 9; k++) g[k] = v.c[k] - h[k % 3 * 3 + k / 3] + (k % 4 == 0 ? v.t : 0);
#pragma unroll
    for (int k = 0; k < 6; k++) {
        const int i = rows[k], j = columns[k];
        const R more = g[3 * i + j] + g[3 * j + i] + (g[i] * g[j] + g[3 + i] * g[3 + j] + g[6 + i] * g[6 + j]);
        const R d = (k < 3 ? more - v.above : more) * n.over, part = k < 3 ? x + y * d : y * d;
        const R off = early.own[k] + early.decay.now * part;
        known[k] = early.decay.keep * off + early.decay.next * part;
        s[k] = (k < 3 ? n.b + back * d : back * d) - off;
    }
#pragma unroll
    for (int i = 0; i < 3; i++) { // F S
        const R hx = h[3 * i], hy = h[3 * i + 1], hz = h[3 * i + 2];
        p[3 * i] = (hx * s[0] + hy * s[5] + hz * s[4]) + s[i == 0 ? 0 : i == 1 ? 5 : 4];
        p[3 * i + 1] = (hx * s[5] + hy * s[1] + hz * s[3]) + s[i == 0 ? 5 : i == 1 ? 1 : 3];
        p[3 * i + 2] = (hx * s[4] + hy * s[3] + hz * s[2]) + s[i == 0 ? 4 : i == 1 ? 3 : 2];
    }
    return v.jacobian;
}

// What a rich material's stress is made of beside H. All stresses are times `scale`.
template <class R> struct Extra {
    R *viscous;
    int64_t at;       // the element's place in `elements`
    int material;
    bool tetrahedron; // whether it may average
    R mean;           // of its corners' nodal pressures, where it does
    R scale;
    Early<R> early;   // where LAW has such
};

// All of an element's stress; m: the law's numbers, times scale. Returns J.
template <int LAW, class R>
__device__ __forceinline__ R whole_stress(const Tables<R> &t, const Material<R> &m, const Extra<R> &x, const R h[9], R p[9])
{
    if (LAW == LAW_FIBRES) return fibre_stress(m.mu, m.modulus, x.early.fibre * x.scale, h, x.early.own, p);
    if (LAW == LAW_PRONY) {
        R known[6];
        const R jacobian = prony_stress(m.mu, m.modulus, x.early, h, known, p);
#pragma unroll
        for (int c = 0; c < 6; c++) x.viscous[c * t.n_elements + x.at] = known[c];
        return jacobian;
    }
    if (!is_rich(LAW)) return stress<law_of(LAW)>(m.law, m.mu, m.modulus, h, p);
    const Rich<R> rich = t.rich[x.material];
    const R mean = x.mean * x.scale;
    const R jacobian = stress<law_of(LAW)>(m.law, m.mu, m.modulus, h, p, rich.averages && x.tetrahedron ? &mean : nullptr);
    if (rich.fibre > 0) {
        const R a[3] = {t.fibres[x.at], t.fibres[t.n_elements + x.at], t.fibres[2 * t.n_elements + x.at]};
        add_fibres(rich.fibre * x.scale, h, a, p);
    }
    if (rich.n_terms > 0) relax(rich, t.decays + x.material * MODAL_TLED_TERMS, h, x.viscous + x.at, t.n_elements, p);
    return jacobian;
}

// Of all materials, for steps of one length.
template <class R> __global__ void set_decays(const __grid_constant__ Tables<R> t, double step, double before)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= t.n_materials * MODAL_TLED_TERMS) return;
    const double g = t.terms[2 * k] / 2, tau = t.terms[2 * k + 1];
    if (!(tau > 0)) return; // no term
    t.decays[k] = {(R)exp(-step / tau), (R)(-g * expm1(-step / tau)), (R)(-g * expm1(-before / tau))};
}

} // namespace modal_tled

#endif
