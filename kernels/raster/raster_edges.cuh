// SPDX-License-Identifier: Apache-2.0
#ifndef MODAL_KERNELS_RASTER_EDGES_CUH
#define MODAL_KERNELS_RASTER_EDGES_CUH

#include "kernels/raster/raster_math.h"

constexpr int RASTER_SMALL = 64; // pixels

// Whether 32 bits do for raster_edges.
__device__ __forceinline__ bool raster_is_small(const raster_point &a, const raster_point &b, const raster_point &c)
{
    return max(a.x, max(b.x, c.x)) - min(a.x, min(b.x, c.x)) < 256 * RASTER_SMALL && max(a.y, max(b.y, c.y)) - min(a.y, min(b.y, c.y)) < 256 * RASTER_SMALL;
}

// Edge functions of points (x, y) from the upper left corner of the box on, less 1 where a point on the edge is the neighbour's: none is negative
// where the triangle covers. INT: 32 bits do where raster_is_small; products of 32 bits, whose sum has 64, are one instruction.
template <class INT> struct raster_edges {
    int32_t a[3], b[3], bias[3];
    INT c[3];
    raster_edges() = default;
    __device__ __forceinline__ explicit raster_edges(const raster_setup &s)
    {
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int from = (k + 1) % 3, to = (k + 2) % 3;
            a[k] = s.y[from] - s.y[to];
            b[k] = s.x[to] - s.x[from];
            bias[k] = raster_bias(s.x[from], s.y[from], s.x[to], s.y[to]);
            c[k] = bias[k] - ((INT)a[k] * (s.x[from] - 256 * s.left) + (INT)b[k] * (s.y[from] - 256 * s.top));
        }
    }
    __device__ __forceinline__ INT at(int k, int32_t x, int32_t y) const { return (INT)a[k] * x + ((INT)b[k] * y + c[k]); }
    static __device__ __forceinline__ bool covers(INT e0, INT e1, INT e2) { return (e0 | e1 | e2) >= 0; }
    __device__ __forceinline__ float depth(const raster_setup &s, INT e1, INT e2) const
    {
        return raster_depth(&s, (float)(e1 - bias[1]), (float)(e2 - bias[2]));
    }
};

#endif
