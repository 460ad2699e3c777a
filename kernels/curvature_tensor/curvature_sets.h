/* SPDX-License-Identifier: Apache-2.0 */
/* Includes CURVATURE_TEMPLATE once for every instruction set, with LANES, TARGET and NAME(x), the vectors and the
 * arithmetic of curvature_body.h. A lane is a vertex. No include guard: each operation has its own copies. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/cpu.h"
#include "kernels/curvature_tensor/curvature_output.h"
#include "lib/base/tile.h"

typedef float curvature_four __attribute__((vector_size(16)));
typedef float curvature_loaded __attribute__((vector_size(16), aligned(4), may_alias));

#define PRODUCTS(a, b, c, d) ((a) * (b) - (c) * (d))
#define DIVIDE(a, b) ((a) / (b))
#define RECIPROCAL_ROOT(x) (NUMBER(1.0f) / SQRT(x))
#define REAL NAME(vector)
#define MASK NAME(integers)
#define NUMBER(c) ((REAL){0} + (c))
#define SELECT(m, a, b) ((REAL)(((MASK)(a) & (m)) | ((MASK)(b) & ~(m))))
#define FN TARGET static inline __attribute__((always_inline))

#if !defined(__x86_64__)
static inline curvature_four curvature_square_roots(curvature_four v)
{
    return (curvature_four){sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3])};
}
#endif

#define LANES 4
#define TARGET
#define NAME(x) x##_base
#if defined(__x86_64__)
#define SQRT(v) ((vector_base)_mm_sqrt_ps((__m128)(v)))
#else
#define SQRT(v) curvature_square_roots(v)
#endif
#define JOIN(row, k) (row(k))
#include "kernels/curvature_tensor/curvature_simd.h"
#include CURVATURE_TEMPLATE
#undef LANES
#undef TARGET
#undef NAME
#undef SQRT
#undef JOIN

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define SQRT(v) ((vector_avx2)_mm256_sqrt_ps((__m256)(v)))
#define JOIN(row, k)                                                                                                  \
    ((vector_avx2)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)row(k)), (__m128)row((k) + 4), 1))
#include "kernels/curvature_tensor/curvature_simd.h"
#include CURVATURE_TEMPLATE
#undef LANES
#undef TARGET
#undef NAME
#undef SQRT
#undef JOIN

#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#define SQRT(v) ((vector_avx512)_mm512_sqrt_ps((__m512)(v)))
#define JOIN(row, k)                                                                                                  \
    ((vector_avx512)_mm512_mask_broadcast_f32x4(                                                                      \
        _mm512_mask_broadcast_f32x4(                                                                                  \
            _mm512_mask_broadcast_f32x4(_mm512_castps128_ps512((__m128)row(k)), 0x00f0, (__m128)row((k) + 4)),         \
            0x0f00, (__m128)row((k) + 8)),                                                                            \
        0xf000, (__m128)row((k) + 12)))
#include "kernels/curvature_tensor/curvature_simd.h"
#include CURVATURE_TEMPLATE
#undef LANES
#undef TARGET
#undef NAME
#undef SQRT
#undef JOIN
#endif

/* The function of the instruction set in use. */
#if defined(MODAL_SIMD) && defined(__x86_64__)
#define CURVATURE_CHOOSE(f)                                                                                           \
    (modal_cpu_simd() == MODAL_SIMD_AVX512 ? f##_avx512 : modal_cpu_simd() == MODAL_SIMD_AVX2 ? f##_avx2 : f##_base)
#else
#define CURVATURE_CHOOSE(f) f##_base
#endif
