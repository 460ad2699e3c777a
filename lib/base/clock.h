/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_BASE_CLOCK_H
#define MODAL_BASE_CLOCK_H

#include <time.h>

/* s, of a clock of clock_gettime. */
static inline double modal_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* s, monotonic. */
static inline double modal_seconds(void) { return modal_clock(CLOCK_MONOTONIC); }

#endif
