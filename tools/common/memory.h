/* SPDX-License-Identifier: Apache-2.0 */
/* How much main memory a program may still take. */
#ifndef TOOLS_COMMON_MEMORY_H
#define TOOLS_COMMON_MEMORY_H

/* Bytes: the least of MemAvailable in /proc/meminfo and of what is left to this process's control groups (version 2
 * in all levels, version 1 as a container sees it), where the pages of files that they hold count as free, since the
 * system takes them back; at least 1. 0: the system does not tell. `root` stands in front of /proc and /sys: "",
 * or a test's folder. */
double tool_available_memory(const char *root);

#endif
