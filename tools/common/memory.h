/* SPDX-License-Identifier: Apache-2.0 */
/* How much main memory a program may still take. */
#ifndef TOOLS_COMMON_MEMORY_H
#define TOOLS_COMMON_MEMORY_H

#include <stdint.h>

#include "lib/base/status.h"

/* Bytes: the least of MemAvailable in /proc/meminfo and of what is left to this process's control groups (version 2
 * in all levels, version 1 as a container sees it), where the pages of files that they hold count as free, since the
 * system takes them back; at least 1. 0: the system does not tell. `root` stands in front of /proc and /sys: "",
 * or a test's folder. */
double tool_available_memory(const char *root);

/* Under a limit of the address space (ulimit -v) libraries end badly where it does not suffice: OpenMP ends the program
 * with a message of its own, OpenBLAS waits for ever. So a tool begins by taking what `*threads` threads need: their
 * stacks, and OpenBLAS's buffers in programs that have it. Where `must` is 0 *threads becomes as many as there is room
 * for. MODAL_ERROR_MEMORY, with what is needed and the limit, where there is room for none, or not for all that must
 * be. Without a limit nothing is done. (Before main OpenBLAS starts no threads, which a limit may refuse: start.c.) */
modal_status tool_fit_threads(int *threads, int must, modal_error *err);

#endif
