/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/opponents/octree_opponents.h"

#include "tests/bench/opponents/octree_mix.h"

static inline uint32_t corner_of(const octree_plain *plain, uint32_t x, uint32_t y, uint32_t z)
{
    if (plain->lattice) return plain->lattice[((((uint64_t)z << plain->bits) + y) << plain->bits) + x];
    uint32_t at = 0;
    for (int level = plain->bits - 1; level >= 0; level--)
        at = plain->cells[8 * (uint64_t)at + (x >> level & 1) + 2 * (y >> level & 1) + 4 * (z >> level & 1)];
    return at;
}

void octree_plain_cpu(const octree_plain *plain, const octree_points *p)
{
    const int rgba = p->channels == MODAL_OCTREE_RGBA8;
    uint32_t *values = (uint32_t *)p->values;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        const float *at = p->points + 3 * i;
        const uint32_t c[3] = {(uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]};
        const float f[3] = {at[0] - (float)c[0], at[1] - (float)c[1], at[2] - (float)c[2]};
        uint32_t corner[8];
        for (uint32_t k = 0; k < 8; k++) corner[k] = corner_of(plain, c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2));
        values[i] = octree_mix_bits(rgba, corner, f);
    }
}
