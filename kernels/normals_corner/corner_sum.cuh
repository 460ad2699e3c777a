// SPDX-License-Identifier: Apache-2.0
// The sum of a vertex's corners. It carries what float32 rounds off (two multiply-adds and two sums a component): normals
// that are off by their rounding alone halve the error of curvature, and conversions to float64 are slow.
#ifndef MODAL_KERNELS_CORNER_SUM_CUH
#define MODAL_KERNELS_CORNER_SUM_CUH

#include "kernels/curvature_tensor/curvature_cuda.cuh"

namespace modal_cuda {

struct normals_sum {
    float sum[3] = {0.0f, 0.0f, 0.0f}, rest[3] = {0.0f, 0.0f, 0.0f};

    // the corner of edges e, f with product = |e|^2 |f|^2, where `on`
    FN void add(curvature_vec e, curvature_vec f, float product, bool on)
    {
        const curvature_vec c = curvature_cross(e, f);
        const float weight = on && product > 0.0f ? curvature_reciprocal(product) : 0.0f, parts[3] = {c.x, c.y, c.z};
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const float s = fmaf(weight, parts[i], sum[i]), added = __fsub_rn(s, sum[i]);
            rest[i] = __fadd_rn(rest[i], fmaf(weight, parts[i], -added));
            sum[i] = s;
        }
    }
    // the length in float32: a common factor of all three does not turn the normal
    FN curvature_vec normal() const
    {
        float near[3], left[3];
#pragma unroll
        for (int i = 0; i < 3; i++) near[i] = __fadd_rn(sum[i], rest[i]), left[i] = __fsub_rn(rest[i], __fsub_rn(near[i], sum[i]));
        const float square = near[0] * near[0] + near[1] * near[1] + near[2] * near[2];
        const float inverse = square > 0.0f ? rsqrtf(square) : 0.0f;
        return {fmaf(near[0], inverse, left[0] * inverse), fmaf(near[1], inverse, left[1] * inverse),
                fmaf(near[2], inverse, left[2] * inverse)};
    }
};

} // namespace modal_cuda

#endif
