// SPDX-License-Identifier: Apache-2.0
// Look-ups in an octree texture for kernels: a record is one sector of 32 bytes, read as two vectors.
#ifndef MODAL_OCTREE_LOOKUP_CUH
#define MODAL_OCTREE_LOOKUP_CUH

#include "kernels/octree_lookup/octree_lookup.h"

namespace modal_octree_device {

__device__ __forceinline__ int place_of(unsigned x, unsigned y, unsigned z, int shift)
{
    const unsigned a = (x >> shift & 3) * 5, b = (y >> shift & 3) * 10,
                   c = (z >> shift & 3) * 20; // the second bit is copied two places up
    return (int)((a & 9) | (b & 18) | (c & 36));
}

__device__ __forceinline__ int64_t find(const modal_octree_grid &g, unsigned x, unsigned y, unsigned z)
{
    const int down = 2 * g.n_levels;
    uint32_t at = __ldg(g.top + ((((uint64_t)(z >> down) << g.top_bits) + (y >> down)) << g.top_bits) + (x >> down));
    for (int level = g.n_levels - 1; level >= 0; level--) {
        if (at == UINT32_MAX) return -1;
        const uint4 m = __ldg((const uint4 *)(g.masks + at));
        const uint64_t there = m.x | (uint64_t)m.y << 32, bit = (uint64_t)1 << place_of(x, y, z, 2 * level);
        if (!(there & bit)) return -1;
        at = m.z + (uint32_t)__popcll((unsigned long long)(there & (bit - 1)));
    }
    return at;
}

// v[k] - offset are the corners. Where they are whole numbers and the offset 2^23, all differences of two are exact.
template <bool NEAREST>
__device__ __forceinline__ float interpolate(const float v[8], float offset, float x, float y, float z)
{
    if constexpr (NEAREST) { // no array indexed by a number of the thread
        const float a = x >= 0.5f ? v[1] : v[0], b = x >= 0.5f ? v[3] : v[2], c = x >= 0.5f ? v[5] : v[4], d = x >= 0.5f ? v[7] : v[6];
        const float e = y >= 0.5f ? b : a, f = y >= 0.5f ? d : c;
        return (z >= 0.5f ? f : e) - offset;
    } else {
        float a[4];
#pragma unroll
        for (int k = 0; k < 4; k++) a[k] = fmaf(z, v[k + 4] - v[k], v[k] - offset);
        const float b = fmaf(y, a[2] - a[0], a[0]), c = fmaf(y, a[3] - a[1], a[1]);
        return fmaf(x, c - b, b);
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
    const unsigned x = (unsigned)X, y = (unsigned)Y, z = (unsigned)Z;
    const int64_t record = find(g, x, y, z);
    if (record < 0) return false;
    const float fx = X - (float)x, fy = Y - (float)y, fz = Z - (float)z;
    uint32_t bits[8];
    float v[8];
    if constexpr (CHANNELS == MODAL_OCTREE_RGBA8) {
        read_record(g.records, record, bits);
#pragma unroll
        for (int c = 0; c < 4; c++) {
#pragma unroll
            for (int k = 0; k < 8; k++)
                v[k] =
                    __uint_as_float(__byte_perm(bits[k], 0x4b000000, 0x7650 | c)); // 2^23 + byte, without a conversion
            out[c] = interpolate<NEAREST>(v, 0x1p23f, fx, fy, fz);
        }
    } else {
        constexpr int WIDTH = CHANNELS == MODAL_OCTREE_FLOAT3 ? 3 : 1;
#pragma unroll
        for (int c = 0; c < WIDTH; c++) {
            read_record(g.records, record * WIDTH + c, bits);
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] = __uint_as_float(bits[k]);
            out[c] = interpolate<NEAREST>(v, 0.0f, fx, fy, fz);
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
