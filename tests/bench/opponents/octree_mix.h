/* SPDX-License-Identifier: Apache-2.0 */
/* The interpolant of eight corners x + 2 y + 4 z, for the opponents of `modalbench octree` that have none of their own. */
#ifndef MODAL_TESTS_OCTREE_MIX_H
#define MODAL_TESTS_OCTREE_MIX_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define OCTREE_MIX static __host__ __device__ __forceinline__
#else
#define OCTREE_MIX static inline
#endif

OCTREE_MIX float octree_mix(const float v[8], const float f[3])
{
    float a[4];
    for (int k = 0; k < 4; k++) a[k] = v[k] + f[2] * (v[k + 4] - v[k]);
    const float b = a[0] + f[1] * (a[2] - a[0]), c = a[1] + f[1] * (a[3] - a[1]);
    return b + f[0] * (c - b);
}

/* Bits of the value: of a float, or four numbers rounded to nearest. */
OCTREE_MIX uint32_t octree_mix_bits(int rgba, const uint32_t corner[8], const float f[3])
{
    float v[8];
    uint32_t packed = 0;
    if (!rgba) {
        memcpy(v, corner, sizeof v);
        const float value = octree_mix(v, f);
        memcpy(&packed, &value, sizeof packed);
        return packed;
    }
    for (int c = 0; c < 4; c++) {
        for (int k = 0; k < 8; k++) v[k] = (float)(int)(corner[k] >> 8 * c & 255);
        packed |= (uint32_t)(int)(octree_mix(v, f) + 0.5f) << 8 * c;
    }
    return packed;
}

#endif
