/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/cores.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/clock.h"

static const double PERIOD = 0.25; /* s; the system counts in steps of 0.01 s a core */

static atomic_int shares, free_cores = INT_MAX;
static _Atomic double next_look;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

typedef struct sample {
    double time, all, own; /* s: when, computing of all processes on our cores, and of this one */
    double waited;         /* s, of its threads for a core */
    int cores;
    int running, online; /* threads of all processes that have a core or wait for one, this one too; cores of the system */
} sample;

void modal_cores_share(int share) { atomic_store(&shares, share); }

int modal_cores_left(int cores, double others, double waited, double seconds)
{
    const double wanted = others + (waited <= 0 ? 0 : waited < others ? waited : others);
    const double left = seconds > 0 ? floor(cores - wanted / seconds + 0.5) : cores;
    return left >= 1 ? left < cores ? (int)left : cores : 1;
}

/* Of all threads that there are now: how long they could have run and did not, s; 0 where the system does not tell. */
static double time_waited(void)
{
    double sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char name[64];
        long long ran, waited;
        if (strlen(task->d_name) > 20) continue;
        snprintf(name, sizeof name, "/proc/self/task/%.20s/schedstat", task->d_name);
        FILE *file = fopen(name, "re");
        if (!file) continue;
        if (fscanf(file, "%lld %lld", &ran, &waited) == 2) sum += 1e-9 * (double)waited;
        fclose(file);
    }
    if (tasks) closedir(tasks);
    return sum;
}

/* Whether the system told. */
static int look(sample *s)
{
    char line[256];
    cpu_set_t ours;
    struct rusage usage;
    long long user, nice;
    int cpu;
    FILE *file = fopen("/proc/stat", "re");
    *s = (sample){.time = modal_clock(CLOCK_MONOTONIC)};
    if (!file) return 0;
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) CPU_ZERO(&ours);
    const int nice_too = getpriority(PRIO_PROCESS, 0) > 0; /* then we are among those */
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "procs_running %d", &s->running) == 1) break;
        if (sscanf(line, "cpu%d %lld %lld", &cpu, &user, &nice) != 3 || cpu < 0 || cpu >= CPU_SETSIZE) continue;
        s->online++;
        if (!CPU_ISSET(cpu, &ours)) continue;
        s->cores++;
        s->all += (double)(user + (nice_too ? nice : 0)) / (double)sysconf(_SC_CLK_TCK);
    }
    fclose(file);
    getrusage(RUSAGE_SELF, &usage);
    s->own = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
    s->waited = time_waited();
    return s->cores > 0;
}

static void look_again(void)
{
    static sample before;
    sample after;
    const int told = look(&after);
    if (told && before.cores == after.cores && after.time - before.time < 8 * PERIOD)
        atomic_store(&free_cores, modal_cores_left(after.cores, after.all - before.all - (after.own - before.own),
                                                   after.waited - before.waited, after.time - before.time));
    else /* nothing to compare with yet: who runs at this moment; those on cores that are not ours count only where all are taken */
        atomic_store(&free_cores, told ? modal_cores_left(after.online, after.running - 1, 0, 1) : INT_MAX);
    before = after;
    atomic_store(&next_look, after.time + PERIOD);
}

int modal_free_threads(int most)
{
    if (most <= 1 || !atomic_load_explicit(&shares, memory_order_relaxed)) return most;
    if (modal_clock(CLOCK_MONOTONIC_COARSE) >= atomic_load_explicit(&next_look, memory_order_relaxed) &&
        pthread_mutex_trylock(&looking) == 0) {
        look_again();
        pthread_mutex_unlock(&looking);
    }
    const int left = atomic_load_explicit(&free_cores, memory_order_relaxed);
    return most < left ? most : left;
}
