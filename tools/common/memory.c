/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

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
