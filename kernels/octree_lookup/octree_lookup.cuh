// SPDX-License-Identifier: Apache-2.0
// Look-ups in an octree texture for kernels: a record is one sector of 32 bytes, read as two vectors.
#ifndef MODAL_OCTREE_LOOKUP_CUH
#define MODAL_OCTREE_LOOKUP_CUH

#include "kernels/octree_lookup/octree_lookup.h"

namespace modal_octree_device {

// 63 less the place in Morton order: of x, y and z whose bits are all inverted.
__device__ __forceinline__ int place_from_last(unsigned not_x, unsigned not_y, unsigned not_z, int shift)
{
    const unsigned a = (not_x >> shift & 3) * 5, b = (not_y >> shift & 3) * 10,
                   c = (not_z >> shift & 3) * 20; // the second bit is copied two places up
    return (int)((a & 9) | (b & 18) | (c & 36));
}

// A mask shifted up until the place's bit is the highest: its sign says whether it is there, its bits are those up to the place.
__device__ __forceinline__ int64_t find(const modal_octree_grid &g, unsigned x, unsigned y, unsigned z)
{
    const int down = 2 * g.n_levels;
    uint32_t at = __ldg(g.top + ((((z >> down) << g.top_bits) + (y >> down) << g.top_bits) + (x >> down))); // fewer than 2^31
    for (int level = g.n_levels - 1; level >= 0; level--) {
        if (at == UINT32_MAX) return -1;
        const uint4 m = __ldg((const uint4 *)(g.masks + at));
        const uint64_t up_to = (m.x | (uint64_t)m.y << 32) << place_from_last(~x, ~y, ~z, 2 * level);
        if ((int)(up_to >> 32) >= 0) return -1;
        at = m.z - 1 + (uint32_t)__popc((unsigned)(up_to >> 32)) + (uint32_t)__popc((unsigned)up_to);
    }
    return at;
}

// No array indexed by a number of the thread.
template <class T> __device__ __forceinline__ T nearest_of(const T v[8], float x, float y, float z)
{
    const T a = x >= 0.5f ? v[1] : v[0], b = x >= 0.5f ? v[3] : v[2], c = x >= 0.5f ? v[5] : v[4], d = x >= 0.5f ? v[7] : v[6];
    const T e = y >= 0.5f ? b : a, f = y >= 0.5f ? d : c;
    return z >= 0.5f ? f : e;
}

template <bool NEAREST> __device__ __forceinline__ float interpolate(const float v[8], float x, float y, float z)
{
    if constexpr (NEAREST) {
        return nearest_of(v, x, y, z);
    } else {
        float a[4];
#pragma unroll
        for (int k = 0; k < 4; k++) a[k] = fmaf(z, v[k + 4] - v[k], v[k]);
        const float b = fmaf(y, a[2] - a[0], a[0]), c = fmaf(y, a[3] - a[1], a[1]);
        return fmaf(x, c - b, b);
    }
}

// All four numbers of rgba8, by eight weights: to 10 e of 255. A byte in place is a float without being converted: bits below 2^24 are that
// number of 2^-149, and a multiply-add takes such floats as any other.
__device__ __forceinline__ void interpolate_bytes(const uint32_t bits[8], float x, float y, float z, float out[4])
{
    constexpr float UP = 0x1p100f, DOWN[4] = {0x1p49f, 0x1p41f, 0x1p33f, 0x1p49f};
    const float fx = x * UP, gx = UP - fx, gy = 1 - y, gz = 1 - z, yz[4] = {gy * gz, y * gz, gy * z, y * z};
    float w[8];
#pragma unroll
    for (int k = 0; k < 4; k++) w[2 * k] = gx * yz[k], w[2 * k + 1] = fx * yz[k];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        float sum[2];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const float v = __uint_as_float(c == 3 ? bits[k] >> 24 : bits[k] & 255u << 8 * c);
            sum[k / 4] = k % 4 == 0 ? v * w[k] : fmaf(v, w[k], sum[k / 4]);
        }
        out[c] = (sum[0] + sum[1]) * DOWN[c];
    }
}

__device__ __forceinline__ void read_record(const void *records, int64_t row, uint32_t v[8])
{
    const uint4 p = __ldg((const uint4 *)records + 2 * row), q = __ldg((const uint4 *)records + 2 * row + 1);
    v[0] = p.x, v[1] = p.y, v[2] = p.z, v[3] = p.w, v[4] = q.x, v[5] = q.y, v[6] = q.z, v[7] = q.w;
}

// The numbers of one look-up at (X, Y, Z) in cells: [4], [1] or [3]. False: outside, and nothing is written.
template <modal_octree_channels CHANNELS, bool NEAREST>
__device__ __forceinline__ bool look_up(const modal_octree_grid &g, float X, float Y, float Z, float *out)
{
    const float side = (float)(1u << g.bits);
    if (!(X >= 0 && Y >= 0 && Z >= 0 && X < side && Y < side && Z < side)) return false;
    const float whole_x = __fadd_rd(X, 0x1p23f), whole_y = __fadd_rd(Y, 0x1p23f), whole_z = __fadd_rd(Z, 0x1p23f); // no conversion
    const int64_t record = find(g, __float_as_uint(whole_x) & 0x7fffff, __float_as_uint(whole_y) & 0x7fffff, __float_as_uint(whole_z) & 0x7fffff);
    if (record < 0) return false;
    const float fx = X - (whole_x - 0x1p23f), fy = Y - (whole_y - 0x1p23f), fz = Z - (whole_z - 0x1p23f);
    uint32_t bits[8];
    if constexpr (CHANNELS == MODAL_OCTREE_RGBA8) {
        read_record(g.records, record, bits);
        if constexpr (NEAREST) {
            const uint32_t own = nearest_of(bits, fx, fy, fz);
#pragma unroll
            for (int k = 0; k < 4; k++) out[k] = (float)(own >> 8 * k & 255);
        } else {
            interpolate_bytes(bits, fx, fy, fz, out);
        }
    } else {
        constexpr int WIDTH = CHANNELS == MODAL_OCTREE_FLOAT3 ? 3 : 1;
        float v[8];
#pragma unroll
        for (int c = 0; c < WIDTH; c++) {
            read_record(g.records, record * WIDTH + c, bits);
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] = __uint_as_float(bits[k]);
            out[c] = interpolate<NEAREST>(v, fx, fy, fz);
        }
    }
    return true;
}

struct mip_set {
    int n;
    modal_octree_mip mips[MODAL_OCTREE_MIPS];
};

template <modal_octree_channels CHANNELS>
__device__ __forceinline__ bool look_up_octave(const modal_octree_grid &g, int octave, float X, float Y, float Z, float *out)
{
    if (octave == 0) return look_up<CHANNELS, false>(g, X, Y, Z, out);
    const float scale = 1.0f / (float)(1u << octave);
    return look_up<CHANNELS, false>(g, fmaf(X + 0.5f, scale, 0.5f), fmaf(Y + 0.5f, scale, 0.5f), fmaf(Z + 0.5f, scale, 0.5f), out);
}

// Trilinear look-ups in the two octaves around `level`.
template <modal_octree_channels CHANNELS>
__device__ __forceinline__ bool look_up_level(const modal_octree_grid &g, const mip_set &set, float level, float X, float Y, float Z, float *out)
{
    int above = 0; // the first mip whose octave is above the level
    while (above < set.n && level >= (float)set.mips[above].octave) above++;
    const bool finest = above == 0, last = above == set.n || !(level > 0);
    const int low = finest ? 0 : set.mips[above - 1].octave;
    if (!look_up_octave<CHANNELS>(finest ? g : set.mips[above - 1].grid, low, X, Y, Z, out)) return false;
    if (last) return true;
    constexpr int N = CHANNELS == MODAL_OCTREE_RGBA8 ? 4 : CHANNELS == MODAL_OCTREE_FLOAT ? 1 : 3;
    float coarse[N];
    if (!look_up_octave<CHANNELS>(set.mips[above].grid, set.mips[above].octave, X, Y, Z, coarse)) return false;
    const float part = (level - (float)low) / (float)(set.mips[above].octave - low);
#pragma unroll
    for (int c = 0; c < N; c++) out[c] = fmaf(part, coarse[c] - out[c], out[c]);
    return true;
}

// Writes a look-up's numbers as value i.
template <modal_octree_channels CHANNELS>
__device__ __forceinline__ void put_value(void *values, int64_t i, bool found, const float *v, float outside, uint32_t outside_rgba8)
{
    if constexpr (CHANNELS == MODAL_OCTREE_RGBA8) {
        uint32_t packed = outside_rgba8;
        if (found) { // rounded to nearest, even at halves, by an addition: the lowest byte of 1.5 2^23 + v
            uint32_t q[4];
#pragma unroll
            for (int c = 0; c < 4; c++) q[c] = __float_as_uint(__fadd_rn(v[c], 12582912.0f));
            packed = __byte_perm(__byte_perm(q[0], q[1], 0x40), __byte_perm(q[2], q[3], 0x40), 0x5410);
        }
        ((uint32_t *)values)[i] = packed;
    } else {
        constexpr int WIDTH = CHANNELS == MODAL_OCTREE_FLOAT3 ? 3 : 1;
#pragma unroll
        for (int c = 0; c < WIDTH; c++) ((float *)values)[WIDTH * i + c] = found ? v[c] : outside;
    }
}

static inline mip_set mips_of(int n, const modal_octree_mip *mips)
{
    mip_set set = {n};
    for (int i = 0; i < n; i++) set.mips[i] = mips[i];
    return set;
}

} // namespace modal_octree_device

#endif
