/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over all pairs of bodies: attraction of masses, or of charges with their signs (L. Nyland, M. Harris, J. Prins,
 * Fast N-Body Simulation with CUDA, 2007):
 *
 *   sum[i] = sum over j of  w_j (x_j - x_i) / (|x_j - x_i|^2 + l^2)^(3/2)
 *
 * with weights w and the softening length l (S. Aarseth, 1963): for small l the field of points of weight w, times
 * whatever constant the caller has. A body adds nothing to its own sum.
 * Sizes: any, 0 included. Units: x and l in one unit of length L, w any; sums are weights / L^2.
 * Alignment: bodies 16 bytes in CUDA, otherwise as the types. Aliasing: sums and work overlap nothing.
 * Range: l^2 and every w / l^3 normal numbers of float32 (1e-37 to 1e38); l > 0.
 * Error, e = FLT_EPSILON / 2: |sum - exact| <= g(n + 16) sum over j of |w_j| |x_j - x_i| / (...)^(3/2) per component,
 * g(k) = k e / (1 - k e); in practice some e. The reference sums in double and rounds once.
 * Determinism: the same bytes for any number of threads, and on every CUDA device; no atomics.
 * Steps of dynamics take modal_pair_sum_exact: float64. */
#ifndef MODAL_KERNELS_PAIR_SUM_H
#define MODAL_KERNELS_PAIR_SUM_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_pair_sum_task {
    int64_t n_bodies;
    const float *bodies; /* [n_bodies, 4] x, y, z, w */
    float softening;     /* l */
    float *sums;         /* [n_bodies, 3], written */
    float *work;         /* [modal_pair_sum_work(n_bodies)] in the back end's memory; only CUDA uses it, else NULL will do */
};

/* Floats of work: partial sums of the parts that sources are divided into, so that few bodies fill a GPU, too. */
int64_t modal_pair_sum_work(int64_t n_bodies);

/* Parts that the sources of n bodies are divided into, a function of n alone. */
int32_t modal_pair_sum_parts(int64_t n_bodies);

/* Forces w_i sum[i] in float64, on the CPU: bodies [n, 4], forces [n, 3]; softening >= 0, bodies in one place do nothing to
 * each other. What a pair adds to its two bodies is opposite to the last bit, so all forces add up to what their sums round
 * off. Threads: OpenMP's; sums have one order. */
void modal_pair_sum_exact(int64_t n_bodies, const double *bodies, double softening, double *forces);

#ifdef __cplusplus
}
#endif
#endif
