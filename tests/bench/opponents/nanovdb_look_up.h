// SPDX-License-Identifier: Apache-2.0
// A look-up of NanoVDB, on either machine.
#ifndef MODAL_TESTS_NANOVDB_LOOK_UP_H
#define MODAL_TESTS_NANOVDB_LOOK_UP_H

#include <nanovdb/NanoVDB.h>
#include <nanovdb/util/SampleFromVoxels.h>

#include "tests/bench/opponents/octree_mix.h"

template <typename ACCESSOR> __hostdev__ inline float nanovdb_float(const ACCESSOR &accessor, const float *at)
{
    return nanovdb::createSampler<1, ACCESSOR, false>(accessor)(nanovdb::Vec3f(at[0], at[1], at[2]));
}

template <typename ACCESSOR> __hostdev__ inline uint32_t nanovdb_rgba8(const ACCESSOR &accessor, const float *at)
{
    const nanovdb::SampleFromVoxels<ACCESSOR, 1, false> sampler(accessor);
    const int c[3] = {(int)at[0], (int)at[1], (int)at[2]};
    const float f[3] = {at[0] - (float)c[0], at[1] - (float)c[1], at[2] - (float)c[2]};
    nanovdb::Coord corner(c[0], c[1], c[2]);
    uint32_t v[2][2][2], flat[8];
    sampler.stencil(corner, v); // [x][y][z]
    for (int k = 0; k < 8; k++) flat[k] = v[k & 1][k >> 1 & 1][k >> 2];
    return octree_mix_bits(1, flat, f);
}

#endif
