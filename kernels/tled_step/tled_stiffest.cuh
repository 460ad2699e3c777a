// SPDX-License-Identifier: Apache-2.0
// `stiffest` of a state (tled_step.h), in float64: a thread an element, then one a node. Sums by node are of whole numbers, so
// that their order means nothing.
#ifndef MODAL_KERNELS_TLED_STIFFEST_CUH
#define MODAL_KERNELS_TLED_STIFFEST_CUH

#include "kernels/cuda_launch.cuh"
#include "kernels/tled_layout/tled_tables.cuh"
#include "kernels/tled_step/tled_hexahedron.h"

namespace modal_tled {

// det F and cof F of F = I + H.
__device__ __forceinline__ double determinant(const double f[9], double c[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = f[(i + 1) % 3 * 3 + (j + 1) % 3] * f[(i + 2) % 3 * 3 + (j + 2) % 3] -
                           f[(i + 1) % 3 * 3 + (j + 2) % 3] * f[(i + 2) % 3 * 3 + (j + 1) % 3];
    return f[0] * c[0] + f[1] * c[1] + f[2] * c[2];
}

// modal_tled_measure of n corners with gradients g.
__device__ __forceinline__ double measure(const modal_tled_material &m, const double h[9], const double *fibre, int n, const double g[8][3])
{
    double f[9], c[9], square = 0, gg = 0, kk = 0, ag = 0;
    for (int k = 0; k < 9; k++) f[k] = h[k] + (k % 4 == 0), square += f[k] * f[k];
    const double jacobian = determinant(f, c), root = cbrt(jacobian), power = 1 / (root * root);
    for (int a = 0; a < n; a++) {
        double part = 0;
        for (int i = 0; i < 3; i++) {
            const double k = (c[3 * i] * g[a][0] + c[3 * i + 1] * g[a][1] + c[3 * i + 2] * g[a][2]) / jacobian;
            kk += k * k, gg += g[a][i] * g[a][i];
            if (m.fibre > 0) part += fibre[i] * g[a][i];
        }
        ag += part * part;
    }
    double result;
    if (m.law == MODAL_TLED_STVK)
        result = ((m.modulus + 2 * m.mu) * fmax(square - 2, square / 3) + (m.modulus + m.mu * 2 / 3) * fmax(square - 3, 0.0) / 2) * gg;
    else if (m.law == MODAL_TLED_LOGARITHMIC)
        result = (m.mu + m.modulus * jacobian * jacobian) * kk + m.mu * gg;
    else
        result = (m.modulus * jacobian * jacobian + m.mu * power * square * 5 / 9) * kk - m.mu * power / 3 * gg;
    if (!(m.fibre > 0)) return result;
    double along = 0;
    for (int i = 0; i < 3; i++) {
        const double x = f[3 * i] * fibre[0] + f[3 * i + 1] * fibre[1] + f[3 * i + 2] * fibre[2];
        along += x * x;
    }
    const double q = power * along;
    return result + m.fibre * (power * fmax(3 * q - 1, 0.0) * ag + 2.0 / 9 * q * q * kk);
}

// Gradients of an element's corners (tled_solid.h), and H.
template <class R>
__device__ __forceinline__ void shape_of(const Stiff &t, const int32_t *corners, int n, const Vector4<R> *u, double g[8][3], double h[9])
{
    double x[8][3];
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) x[a][i] = t.rest[3 * (int64_t)corners[a] + i] - t.rest[3 * (int64_t)corners[0] + i];
    if (n == 8) {
        modal_tled_hexahedron_gradients(x, t.third, g);
    } else {
        double inverse[9]; // of the edges' rows: the cofactors are its transpose times the determinant
        const double det = determinant(x[1], inverse);
        for (int i = 0; i < 3; i++) {
            for (int a = 1; a < 4; a++) g[a][i] = inverse[3 * (a - 1) + i] / det;
            g[0][i] = -(g[1][i] + g[2][i] + g[3][i]);
        }
    }
    const Vector4<R> first = u[corners[0]];
    for (int k = 0; k < 9; k++) h[k] = 0;
    for (int a = 1; a < n; a++) {
        const Vector4<R> at = u[corners[a]];
        const double way[3] = {(double)at.x - first.x, (double)at.y - first.y, (double)at.z - first.z};
        for (int k = 0; k < 9; k++) h[k] += way[k / 3] * g[a][k % 3];
    }
}

// Of a macro-element's tetrahedron, with three vectors of the same measure; H is the mean.
template <class R> __device__ __forceinline__ void macro_shape_of(const Stiff &t, int64_t e, const Vector4<R> *u, double g[8][3], double h[9])
{
    const int32_t m = t.macro_of[e];
    double sum[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0}, all = 0;
    for (int64_t k = t.macro_offsets[m]; k < t.macro_offsets[m + 1]; k++) {
        const int32_t *corners = t.corners + 4 * k;
        double x[9], inverse[9];
        shape_of(t, corners, 4, u, g, h);
        for (int i = 0; i < 9; i++) x[i] = t.rest[3 * (int64_t)corners[i / 3 + 1] + i % 3] - t.rest[3 * (int64_t)corners[0] + i % 3];
        const double det = determinant(x, inverse);
        all += det;
        for (int i = 0; i < 9; i++) sum[i] += det * h[i];
    }
    for (int i = 0; i < 9; i++) h[i] = sum[i] / all, g[i / 3][i % 3] = t.macro_roots[9 * (int64_t)m + i];
}

template <class R> __global__ void __launch_bounds__(128) add_stiffness(const Stiff t, const Vector4<R> *u)
{
    const int64_t e = blockIdx.x * (int64_t)128 + threadIdx.x;
    if (e >= t.n_tetrahedra + t.n_hexahedra) return;
    const int n = e < t.n_tetrahedra ? 4 : 8;
    const int32_t *corners = t.corners + (n == 4 ? 4 * e : 4 * t.n_tetrahedra + 8 * (e - t.n_tetrahedra));
    double g[8][3], h[9];
    const bool macro = n == 4 && t.macro_of;
    if (macro) macro_shape_of(t, e, u, g, h);
    else shape_of(t, corners, n, u, g, h);
    const double *fibre = t.fibres ? t.fibres + 3 * (macro ? t.macro_offsets[t.macro_of[e]] : e) : nullptr;
    const double value = t.stiffness[e] * measure(t.materials[t.material[e]], h, fibre, macro ? 3 : n, g) * t.scale;
    // what is not finite or out of range counts as very much: sums of 2^20 of them still fit
    const unsigned long long whole = value >= 0 && value < 0x1p43 ? (unsigned long long)value : 1ull << 43;
    for (int a = 0; a < n; a++) atomicAdd(&t.sums[corners[a]], whole);
}

static __global__ void __launch_bounds__(256) largest_stiffness(const Stiff t, unsigned long long *largest)
{
    const int64_t i = blockIdx.x * (int64_t)256 + threadIdx.x;
    double value = 0;
    if (i < t.n_nodes) {
        const unsigned long long sum = t.sums[i];
        value = sum >= 1ull << 43 ? __longlong_as_double(0x7ff0000000000000ll) : (double)sum / t.scale / t.mass[i];
        t.sums[i] = 0; // for the next time
    }
    for (int far = 16; far > 0; far /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, far));
    // numbers that are not negative have the order of their bits
    if (threadIdx.x % 32 == 0) atomicMax(largest, (unsigned long long)__double_as_longlong(value));
}

// Queues both.
template <class R> modal_status find_stiffest(const Stiff &t, const Vector4<R> *u, double *largest, cudaStream_t stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = t.n_tetrahedra + t.n_hexahedra;
    MODAL_TRY(modal_cuda_status(cudaMemsetAsync(largest, 0, sizeof *largest, stream), "tled_step: stiffest", err));
    if (n > 0) MODAL_TRY(modal_cuda::launch(add_stiffness<R>, (n + 127) / 128, 128, stream, "tled_step: stiffest", err, t, u));
    if (n > 0) MODAL_TRY(modal_cuda::launch(largest_stiffness, (t.n_nodes + 255) / 256, 256, stream, "tled_step: stiffest", err, t,
                                            (unsigned long long *)largest));
done:
    return status;
}

} // namespace modal_tled

#endif
