/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/stack.h"

#include <sys/resource.h>
#include <unistd.h>

enum { LEAST = 256 << 10 };

static int is_enough(rlim_t bytes) { return bytes == RLIM_INFINITY || bytes >= LEAST; }

modal_status tool_check_stack(modal_error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || is_enough(limit.rlim_cur)) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_MEMORY, "stack: %d kB are needed, the limit (ulimit -s) is %lld kB", LEAST >> 10,
                           (long long)limit.rlim_cur >> 10);
}

/* A library's functions that run before main run after this one. */
static void start_with_stack(int argc, char **argv, char **environment)
{
    struct rlimit limit;
    (void)argc;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || is_enough(limit.rlim_cur) || !is_enough(limit.rlim_max)) return;
    limit.rlim_cur = LEAST;
    if (setrlimit(RLIMIT_STACK, &limit) == 0) execve("/proc/self/exe", argv, environment);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(int, char **, char **) = start_with_stack;
