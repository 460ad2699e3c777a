/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a test that loops for ever: SIGPROF after so many seconds of processors, which a busy machine does not use up. 0: no limit. */
#ifndef TESTS_UNIT_PROCESSOR_LIMIT_H
#define TESTS_UNIT_PROCESSOR_LIMIT_H

#include <sys/time.h>

static inline void limit_processor(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

#endif
