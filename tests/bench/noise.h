/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of benchmarks. */
#ifndef TESTS_BENCH_NOISE_H
#define TESTS_BENCH_NOISE_H

#include <stdint.h>

#include "lib/base/status.h"

/* A random number in [-1, 1), the same on every machine. */
static inline float bench_noise(uint64_t seed, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    return (float)((double)(z >> 40) * 0x1p-23 - 1.0);
}

/* `count` of one seed, in main memory. */
modal_status bench_random(float **host, int64_t count, uint64_t seed, modal_error *err);

#endif
