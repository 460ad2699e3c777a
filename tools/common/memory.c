/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/memory.h"

#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/memory.h"

enum { PATH = 4096 };

/* Of a program that has OpenBLAS. */
extern void openblas_set_num_threads(int n_threads) __attribute__((weak));
extern void *blas_memory_alloc(int kind) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/* The number behind `key` at the start of a line, or with "" the file's only number; -1: not there ("max", too). */
static double number_in(const char *root, const char *folder, const char *file, const char *key)
{
    char path[PATH], line[512];
    double value = -1;
    if (snprintf(path, sizeof path, "%s%s/%s", root, folder, file) >= (int)sizeof path) return -1;
    FILE *in = fopen(path, "r");
    if (!in) return -1;
    while (value < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &value) != 1) value = -1;
    fclose(in);
    return value;
}

static double left_of(const char *root, const char *folder, const char *most, const char *now, const char *idle,
                      const char *active)
{
    const double limit = number_in(root, folder, most, ""), used = number_in(root, folder, now, "");
    if (!(limit >= 0 && used >= 0)) return INFINITY;
    const double files = fmax(number_in(root, folder, "memory.stat", idle), 0) +
                         fmax(number_in(root, folder, "memory.stat", active), 0);
    return fmax(limit - used + files, 0);
}

double tool_available_memory(const char *root)
{
    char line[PATH], folder[PATH + 32] = "/sys/fs/cgroup";
    const double in_all = number_in(root, "/proc", "meminfo", "MemAvailable:");
    double least = in_all >= 0 ? 1024 * in_all : INFINITY;
    const size_t base = strlen(folder);
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *in = fopen(line, "r");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(folder + base, sizeof folder - base, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (in) fclose(in);
    /* a group has no more than what those above it have */
    for (char *end = folder + strlen(folder); end; end = strrchr(folder + base, '/')) {
        *end = '\0';
        least = fmin(least, left_of(root, folder, "memory.max", "memory.current", "inactive_file ",
                                    "active_file "));
    }
    least = fmin(least, left_of(root, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                "total_inactive_file ", "total_active_file "));
    return isfinite(least) ? fmax(least, 1) : 0;
}

/* ---- the address space ---- */

enum {
    BASE = 64 << 20,         /* for a small job: MODAL_RESERVE, a thread that writes and its like, the job itself */
    BLAS_BUFFER = 128 << 20, /* OpenBLAS's BUFFER_SIZE, at most */
    MOST_BUFFERS = 1024
};

static int64_t stack_bytes(void)
{
    struct rlimit limit;
    const int is_known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return (is_known ? (int64_t)limit.rlim_cur : 8 << 20) + (1 << 20);
}

/* OpenBLAS keeps its buffers: those that threads will need at once are taken at once. */
static void take_blas_buffers(int n)
{
    void *buffers[MOST_BUFFERS];
    if (n > MOST_BUFFERS) n = MOST_BUFFERS;
    for (int i = 0; i < n; i++) buffers[i] = blas_memory_alloc(0);
    for (int i = 0; i < n; i++) blas_memory_free(buffers[i]);
}

modal_status tool_fit_threads(int *threads, int must, modal_error *err)
{
    struct rlimit limit;
    const int64_t left = modal_address_space_left();
    const int has_blas = openblas_set_num_threads && blas_memory_alloc && blas_memory_free;
    const int64_t each = stack_bytes() + (has_blas ? BLAS_BUFFER : 0);
    if (left == INT64_MAX) return MODAL_OK;
    const int64_t fit = left > BASE ? (left - BASE) / each : 0;
    const int64_t needed = must ? *threads : 1;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && fit < needed)
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "address space: %.0f MB needed for %lld thread%s, the limit (ulimit -v) is %.0f MB",
                               1e-6 * ((double)limit.rlim_cur + (double)(BASE + needed * each - left)), (long long)needed,
                               needed == 1 ? "" : "s", 1e-6 * (double)limit.rlim_cur);
    if (fit < *threads) *threads = (int)fit;
    mallopt(M_ARENA_MAX, 1); /* others are 64 MiB of addresses each */
    if (has_blas) take_blas_buffers(*threads);
    omp_set_num_threads(*threads);
    _Atomic int started = 0;
#pragma omp parallel num_threads(*threads)
    started++;
    return MODAL_OK;
}
