/* SPDX-License-Identifier: Apache-2.0 */
/* What the fits of the CPU and CUDA share beside curvature_fit_body.h. */
#ifndef MODAL_KERNELS_FIT_SHAPE_H
#define MODAL_KERNELS_FIT_SHAPE_H

#include <math.h>

#ifdef __CUDACC__
#define MODAL_FIT_FUNCTION __device__ __forceinline__
#else
#define MODAL_FIT_FUNCTION static inline
#endif

/* The weight of a point is 1 / (d^2 / m + this)^2. */
#define MODAL_FIT_NEAR 0.2

/* The shape operator a b c of z = f(x, y) with the coefficients of 1, x, y, x^2, x y, y^2, over (0, 0): see
 * curvature_fit_ref.c. J^-1 = I - s f f^T. */
MODAL_FIT_FUNCTION void modal_fit_shape(const double *c, double *tensor)
{
    const double x = c[1], y = c[2], up = 1.0 / sqrt(1.0 + x * x + y * y), s = up * up / (1.0 + up);
    const double xx = 1.0 - s * x * x, xy = -s * x * y, yy = 1.0 - s * y * y;
    const double a = -2.0 * c[3] * up, b = -c[4] * up, d = -2.0 * c[5] * up;
    tensor[0] = xx * (xx * a + xy * b) + xy * (xx * b + xy * d);
    tensor[1] = xy * (xx * a + xy * b) + yy * (xx * b + xy * d);
    tensor[2] = xy * (xy * a + yy * b) + yy * (xy * b + yy * d);
}

#endif
