// SPDX-License-Identifier: Apache-2.0
// Vectors, and the stresses of tled_solid.h for a thread of a GPU, in float or double.
#ifndef MODAL_KERNELS_TLED_STRESS_CUH
#define MODAL_KERNELS_TLED_STRESS_CUH

#include <float.h>
#include <math.h>

#include "kernels/tled_layout/tled_tables.cuh"
#include "kernels/tled_step/tled_approximate.cuh"

namespace modal_tled {

template <class R> struct Vector3 {
    R x, y, z;
};

template <class R> __device__ __forceinline__ Vector3<R> operator-(Vector3<R> a, Vector3<R> b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class R> __device__ __forceinline__ Vector3<R> operator+(Vector3<R> a, Vector3<R> b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class R> __device__ __forceinline__ Vector3<R> operator*(R s, Vector3<R> a)
{
    return {s * a.x, s * a.y, s * a.z};
}
template <class R> __device__ __forceinline__ Vector3<R> cross(Vector3<R> a, Vector3<R> b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class R> __device__ __forceinline__ R dot(Vector3<R> a, Vector3<R> b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class R> __device__ __forceinline__ Vector3<R> vector(const Vector4<R> &a) { return {a.x, a.y, a.z}; }

// Rows of a 3 x 3 matrix times a vector.
template <class R> __device__ __forceinline__ Vector3<R> times(const R m[9], Vector3<R> v)
{
    return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
            m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

// 1 / x and x^(-2/3) to about one unit in the last place; of float in tled_approximate.cuh.
__device__ __forceinline__ double inverse(double x) { return 1 / x; }
__device__ __forceinline__ double power_minus_two_thirds(double x)
{
    const double c = rcbrt(x);
    return c * c;
}

__device__ __forceinline__ int turned(float jacobian) { return !(jacobian > 0 && jacobian <= FLT_MAX); }
__device__ __forceinline__ int turned(double jacobian) { return !(jacobian > 0 && jacobian <= DBL_MAX); }

template <class R> __device__ __forceinline__ void stvk_stress(R mu, R lambda, const R h[9], R p[9])
{
    R s[9], trace = 0; // s: 2 mu E, then S
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = i; j < 3; j++) {
            R e = h[3 * i + j] + h[3 * j + i];
#pragma unroll
            for (int k = 0; k < 3; k++) e += h[3 * k + i] * h[3 * k + j];
            s[3 * i + j] = s[3 * j + i] = mu * e;
            if (i == j) trace += e / 2;
        }
#pragma unroll
    for (int i = 0; i < 3; i++) s[4 * i] += lambda * trace;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            p[3 * i + j] = s[3 * i + j] + h[3 * i] * s[j] + h[3 * i + 1] * s[3 + j] + h[3 * i + 2] * s[6 + j];
}

// What the stress of H follows from: C = cof H, t = tr H, id = tr C + det H, J.
template <class R> struct Volumes {
    R c[9], t, id, above, jacobian; // above: J - 1
};

template <class R> __device__ __forceinline__ Volumes<R> volumes_of(const R h[9])
{
    Volumes<R> v = {{h[4] * h[8] - h[5] * h[7], h[5] * h[6] - h[3] * h[8], h[3] * h[7] - h[4] * h[6],
                     h[2] * h[7] - h[1] * h[8], h[0] * h[8] - h[2] * h[6], h[1] * h[6] - h[0] * h[7],
                     h[1] * h[5] - h[2] * h[4], h[2] * h[3] - h[0] * h[5], h[0] * h[4] - h[1] * h[3]}};
    v.t = h[0] + h[4] + h[8];
    v.id = v.c[0] + v.c[4] + v.c[8] + (h[0] * v.c[0] + h[1] * v.c[1] + h[2] * v.c[2]);
    v.above = v.t + v.id;
    v.jacobian = 1 + v.above;
    return v;
}

// The neo-Hookean law's: P = a F + (b - a) cof F, which is a H + (b - a) (C - H^T) + (b + (b - a) t) I; power: J^(-2/3).
template <class R> struct NeoHooke {
    R power, over, a, b; // over: 1 / J
};

template <class R>
__device__ __forceinline__ NeoHooke<R> neo_hooke_of(R mu, R modulus, const R h[9], const Volumes<R> &v, const R *pressure = nullptr)
{
    NeoHooke<R> n;
    R square = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) square += h[k] * h[k];
    n.power = power_minus_two_thirds(v.jacobian);
    n.over = inverse(v.jacobian);
    n.a = mu * n.power;
    n.b = (pressure ? *pressure : modulus * v.above) - n.a * ((square - v.t - 3 * v.id) * (n.over * (R)(1.0 / 3)));
    return n;
}

// p = a H + back (C - H^T) + identity I.
template <class R> __device__ __forceinline__ void isotropic(R a, R back, R identity, const R h[9], const R c[9], R p[9])
{
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            p[3 * i + j] = a * h[3 * i + j] + back * (c[3 * i + j] - h[3 * j + i]) + (i == j ? identity : 0);
}

// P of H in p, with *pressure for modulus (J - 1) where it is not NULL; returns J. LAW: the law of all elements, or LAW_ANY.
template <int LAW, class R>
__device__ __forceinline__ R stress(int law, R mu, R modulus, const R h[9], R p[9], const R *pressure = nullptr)
{
    const Volumes<R> v = volumes_of(h);
    if (LAW == MODAL_TLED_STVK || (LAW == LAW_ANY && law == MODAL_TLED_STVK)) {
        stvk_stress(mu, modulus, h, p);
    } else if (LAW == MODAL_TLED_LOGARITHMIC || (LAW == LAW_ANY && law == MODAL_TLED_LOGARITHMIC)) {
        const R l = pressure ? *pressure : modulus * v.above, m = mu * inverse(v.jacobian);
        isotropic(mu, l - m, m * v.id + l + l * v.t, h, v.c, p);
    } else {
        const NeoHooke<R> n = neo_hooke_of(mu, modulus, h, v, pressure);
        const R back = n.b - n.a;
        isotropic(n.a, back, n.b + back * v.t, h, v.c, p);
    }
    return v.jacobian;
}

} // namespace modal_tled

#endif
