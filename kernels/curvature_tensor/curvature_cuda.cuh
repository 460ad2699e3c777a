// SPDX-License-Identifier: Apache-2.0
// What the CUDA versions of the operations on curvature share: the arithmetic of curvature_body.h on floats, loads, and
// how outputs are written. A thread is a vertex, a warp a tile of 32; columns are further tiles.
#ifndef MODAL_KERNELS_CURVATURE_CUDA_CUH
#define MODAL_KERNELS_CURVATURE_CUDA_CUH

#include <cstdint>

#include "kernels/cuda_check.cuh"
#include "kernels/curvature_tensor/curvature_output.h"
#include "kernels/tile_store.cuh"
#include "lib/base/tile.h"

namespace modal_cuda {

#define NAME(x) curvature_##x
#define FN __device__ __forceinline__
#define REAL float
#define MASK bool
#define NUMBER(c) (c)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define SQRT(x) curvature_root(x)
#define DIVIDE(a, b) __fdividef(a, b)
#define RECIPROCAL_ROOT(x) curvature_reciprocal_root(x)
#define ABSOLUTE(x) fabsf(x)
#define PRODUCTS(a, b, c, d) __fsub_rn(__fmul_rn(a, b), __fmul_rn(c, d))

// One instruction each, errors of 1 and 2 units of the last place; what is below 1.2e-38 counts as 0.
FN float curvature_reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

FN float curvature_reciprocal_root(float x)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// x rsqrt(x) takes half the instructions of a root; 0 for 0, and for what is below 1.2e-38
FN float curvature_root(float x)
{
    return x >= 1.17549435e-38f ? x * curvature_reciprocal_root(x) : 0.0f;
}

// 1 / scale of a power of two.
FN float curvature_unit(float scale)
{
    return __int_as_float(0x7f000000 - __float_as_int(scale));
}

#include "kernels/curvature_tensor/curvature_body.h"

constexpr int CURVATURE_WARPS = 4;

// at + i STRIDE bytes in one multiply-add, which compilers do not find: an index is 32 bits and never negative.
template <int STRIDE> FN const float *curvature_address(const float *at, int32_t i)
{
    const float *p;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(p) : "r"(i), "n"(STRIDE), "l"(at));
    return p;
}

FN curvature_vec curvature_point_of(const float *__restrict__ at, int32_t i)
{
    const float *p = curvature_address<12>(at, i);
    return {__ldg(p), __ldg(p + 1), __ldg(p + 2)};
}

FN curvature_vec curvature_load(const float *__restrict__ at, int64_t i)
{
    return {__ldg(at + 3 * i), __ldg(at + 3 * i + 1), __ldg(at + 3 * i + 2)};
}

// A lane's place in the outputs, in bytes of float32; kept, since it costs more to make it anew for each of them.
struct curvature_place_of {
    int64_t bytes;

    FN curvature_place_of(int64_t i) : bytes(4 * i) { asm volatile("" : "+l"(bytes)); }
    FN void put(float *array, float value) const { *(float *)((char *)array + bytes) = value; }
};

// The outputs of the tile's vertices that begin at `at`, `count` of them there: as curvature_simd.h. frame: n, p, q.
FN void curvature_give(const modal_curvature_output &out, int64_t at, int64_t count, const curvature_vec *frame,
                       curvature_share t, float scale, float *stage)
{
    const curvature_vec n = frame[0], p = frame[1], q = frame[2];
    const int lane = threadIdx.x % 32;
    const bool there = curvature_dot(n, n) > 0.0f, on = lane < count;
    const curvature_place_of to(at + lane);
    float k_max, k_min, x, y;
    if (!there) t.a = t.b = t.c = t.w = 0.0f;
    curvature_diagonal(t.a, t.b, t.c, &k_max, &k_min, &x, &y);
    const float a = t.a * scale, b = t.b * scale, c = t.c * scale, unit = curvature_unit(scale);
    if (!there) x = y = 0.0f;
    if (on && out.k_max) to.put(out.k_max, k_max * scale);
    if (on && out.k_min) to.put(out.k_min, k_min * scale);
    if (on && out.mean) to.put(out.mean, (a + c) * 0.5f);
    if (on && out.gauss) to.put(out.gauss, PRODUCTS(a, c, b, b));
    if (on && out.areas) to.put(out.areas, t.w * unit * unit);
    if (out.tensors) store_tile(out.tensors + 3 * at, count, stage, a, b, c);
    if (out.direction_max)
        store_tile(out.direction_max + 3 * at, count, stage, x * p.x + y * q.x, x * p.y + y * q.y, x * p.z + y * q.z);
    if (out.direction_min)
        store_tile(out.direction_min + 3 * at, count, stage, x * q.x - y * p.x, x * q.y - y * p.y, x * q.z - y * p.z);
}

// Calls launch(grid, column) for columns from `column` on, in grids of blocks of CURVATURE_WARPS tiles and one column
// each: a loop over columns in a kernel would keep what all of them share in registers.
template <class Launch> modal_status curvature_launches(int64_t n_vertices, int64_t n_columns, Launch launch)
{
    const int64_t most = 65535, n_tiles = (n_vertices + MODAL_TILE - 1) / MODAL_TILE;
    modal_status status = MODAL_OK;
    for (int64_t column = 0; column < n_columns && status == MODAL_OK; column += most) {
        const int64_t left = n_columns - column;
        status = launch(dim3((unsigned)((n_tiles + CURVATURE_WARPS - 1) / CURVATURE_WARPS), (unsigned)(left < most ? left : most)),
                        column);
    }
    return status;
}

// Blocks for tiles of n vertices in all columns; a kernel goes on with the grid's size.
inline unsigned curvature_grid(int64_t n_vertices, int64_t n_columns)
{
    const int64_t blocks =
        ((n_vertices + MODAL_TILE - 1) / MODAL_TILE * n_columns + CURVATURE_WARPS - 1) / CURVATURE_WARPS;
    return (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
}

} // namespace modal_cuda

#endif
