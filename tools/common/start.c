/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries read of the environment when they are loaded, before main. Linked, it works; nothing calls it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* GCC's OpenMP: how often a thread that waits looks before it sleeps. By default it looks for milliseconds (with
 * OMP_WAIT_POLICY=active for minutes), which takes the core from the thread that it waits for where others use the machine, too.
 * Looking 1,000 times takes 20 to 70 us, and is as long as waking a thread, or two. */
static char spins[] = "GOMP_SPINCOUNT=1000";
/* OpenBLAS starts so many threads at once, which look for a tenth of a second before they sleep; openblas_set_num_threads adds
 * to them later. No tool multiplies by it but modalbench, and modalpack's module for ranks, which set the number. */
static char blas[] = "OPENBLAS_NUM_THREADS=1";
extern void openblas_set_num_threads(int n_threads) __attribute__((weak));

/* libc takes over the array of the environment that the kernel has made, and there is no room for more in it. So until all libraries
 * are loaded the settings stand in the places of variables that libraries do not read then. */
static const char *const spare[] = {"_", "SHLVL", "OLDPWD", "PWD", "TERM", "PATH"};
enum { SPARE = sizeof spare / sizeof *spare, MOST_VARIABLES = 4096 };

static struct {
    char *setting, *was;
} lent[2];
static int n_lent;

static char **find(char **environment, const char *name)
{
    const size_t n = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=') return environment;
    return NULL;
}

static int lend(char **environment, char *setting, const char *first)
{
    char **place = find(environment, first);
    for (int i = 0; !place && i < SPARE; i++) place = find(environment, spare[i]);
    if (!place) return 0;
    lent[n_lent].setting = setting;
    lent[n_lent++].was = *place;
    *place = setting;
    return 1;
}

static void give_back(char **environment)
{
    for (; environment && *environment; environment++)
        for (int i = 0; i < n_lent; i++)
            if (*environment == lent[i].setting) *environment = lent[i].was;
}

/* The program again, with the settings in its environment; goes on as it is where that fails. */
static void start_again(char **argv, char **environment)
{
    static char *with[MOST_VARIABLES + 3], path[4096];
    size_t n = 0;
    give_back(environment);
    n_lent = 0;
    for (; environment[n] && n < MOST_VARIABLES; n++) with[n] = environment[n];
    if (environment[n] || readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return;
    if (!find(environment, "GOMP_SPINCOUNT")) with[n++] = spins;
    if (openblas_set_num_threads && !find(environment, "OPENBLAS_NUM_THREADS")) with[n++] = blas;
    execve(path, argv, with);
}

/* A number of looks that the user has set stays. */
static void before_libraries(int argc, char **argv, char **environment)
{
    (void)argc;
    if ((!find(environment, "GOMP_SPINCOUNT") && !lend(environment, spins, "OMP_WAIT_POLICY")) ||
        (openblas_set_num_threads && !lend(environment, blas, "OPENBLAS_NUM_THREADS")))
        start_again(argv, environment);
}

__attribute__((section(".preinit_array"), used)) static void (*const before)(int, char **, char **) = before_libraries;

/* A program's own constructors run after those of its libraries. */
__attribute__((constructor)) static void after_libraries(void) { give_back(environ); }
