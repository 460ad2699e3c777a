/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/bench_cpu.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/noise.h"

void bench_cpu_fill(float *to, int64_t count, uint64_t seed)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) to[i] = bench_noise(seed, (uint64_t)i);
}

void bench_cpu_copy(void *to, const void *from, int64_t bytes)
{
    /* slices of 1 MB and more: memcpy then writes past the caches where the processor can */
#pragma omp parallel
    {
        const int64_t n = omp_get_num_threads(), i = omp_get_thread_num();
        const int64_t begin = bytes / n * i / 64 * 64;
        const int64_t end = i + 1 == n ? bytes : bytes / n * (i + 1) / 64 * 64;
        memcpy((char *)to + begin, (const char *)from + begin, (size_t)(end - begin));
    }
}

float bench_cpu_read(const float *from, int64_t count)
{
    float sum = 0.0f;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < count; i++) sum += from[i];
    return sum;
}

int64_t bench_cpu_available(void)
{
    char line[128];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) break;
    if (file) fclose(file);
    return (int64_t)kilobytes * 1024;
}
