/* SPDX-License-Identifier: Apache-2.0 */
/* The ceilings of main memory on all threads, as STREAM measures them (J. D. McCalpin, Memory Bandwidth
 * and Machine Balance in Current High Performance Computers, 1995), and random numbers. */
#ifndef MODAL_TESTS_BENCH_CPU_H
#define MODAL_TESTS_BENCH_CPU_H

#include <stdint.h>

void bench_cpu_fill(float *to, int64_t count, uint64_t seed);
void bench_cpu_copy(void *to, const void *from, int64_t bytes);
/* The sum, so that nothing is left out. */
float bench_cpu_read(const float *from, int64_t count);
/* Bytes that the system says are available. */
int64_t bench_cpu_available(void);

#endif
