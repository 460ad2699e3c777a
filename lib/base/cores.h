/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads a job should take on a machine that others use, too. A team of threads waits for its slowest one: if
 * one of two cores is taken by another process, a team of two takes many times as long as one thread. */
#ifndef MODAL_BASE_CORES_H
#define MODAL_BASE_CORES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Nonzero: from now on modal_free_threads leaves cores to other processes. Off at first. */
void modal_cores_share(int share);

/* Threads that a team should have now: `most`, or, where cores are shared, no more than the cores that other processes
 * left free in the last quarter of a second, or would have, had we not been in their way, and at least 1. The first answer
 * goes by how many threads of others run or wait at that moment. Counted are the cores that this process may use; what
 * others compute there with a lower priority than ours, and work of the kernel (disks, networks), does not count (but at that
 * moment). `most` where the system does not tell (/proc/stat). Takes some 20 ns, every quarter of a second the time of
 * reading /proc/stat. Thread-safe. Results must not depend on it. */
int modal_free_threads(int most);

/* The same of the number that the calling thread's OpenMP has (omp_set_num_threads). Where it stands, <omp.h> is included. */
#define MODAL_TEAM modal_free_threads(omp_get_max_threads())

/* What modal_free_threads computes: cores, of which others had `others` seconds of `seconds` while our threads waited for a
 * core for `waited`, rounded to whole ones. Where a process and a thread of ours share a core, each gets one half: that thread
 * waits for as long as the process works, which wants the whole core. So as much of the waiting as others worked counts, too. */
int modal_cores_left(int cores, double others, double waited, double seconds);

#ifdef __cplusplus
}
#endif
#endif
