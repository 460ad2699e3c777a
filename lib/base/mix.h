/* SPDX-License-Identifier: Apache-2.0 */
/* The output function of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014): every bit of
 * the result depends on every bit of z, and different z give different results. Counters become random numbers by it. */
#ifndef MODAL_BASE_MIX_H
#define MODAL_BASE_MIX_H

#include <stdint.h>

static inline uint64_t modal_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
