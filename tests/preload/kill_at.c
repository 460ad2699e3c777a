/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a tool: counts the calls that change files or their names, and sends the process a signal before the
 * KILL_AT-th (1 is the first). KILL_SIGNAL: its number. KILL_FROM: "" counts from the start, ".commit" from the first
 * file that is made whose name ends so. KILL_COUNT: a file that gets the number of calls at the end. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int counting, calls;
static int at, number;
static const char *from, *count_file;

__attribute__((constructor)) static void start(void)
{
    at = getenv("KILL_AT") ? atoi(getenv("KILL_AT")) : 0;
    number = getenv("KILL_SIGNAL") ? atoi(getenv("KILL_SIGNAL")) : SIGKILL;
    from = getenv("KILL_FROM") ? getenv("KILL_FROM") : "";
    count_file = getenv("KILL_COUNT");
    counting = !*from;
}

__attribute__((destructor)) static void end(void)
{
    FILE *file = count_file ? fopen(count_file, "w") : NULL;
    if (!file) return;
    fprintf(file, "%d\n", calls);
    fclose(file);
}

static void count(void)
{
    if (counting && ++calls == at) kill(getpid(), number);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static void count_open(const char *path, int flags)
{
    const size_t length = strlen(path), end_length = strlen(from);
    if (!(flags & (O_CREAT | O_TRUNC))) return;
    if (!counting && length >= end_length && strcmp(path + length - end_length, from) == 0) counting = 1;
    count();
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                                                \
        va_end(more);                                                                                                  \
        count_open(path, flags);                                                                                       \
        return ((int (*)(const char *, int, ...))next(#name))(path, flags, mode);                                      \
    }
OPEN(open)
OPEN(open64)

/* The types and names of the parameters, and the names alone. */
#define COUNTED(type, name, parameters, arguments)                                                                     \
    type name parameters                                                                                               \
    {                                                                                                                  \
        count();                                                                                                       \
        return ((type(*) parameters)next(#name))arguments;                                                             \
    }
COUNTED(int, rename, (const char *a, const char *b), (a, b))
COUNTED(int, renameat, (int a, const char *b, int c, const char *d), (a, b, c, d))
COUNTED(int, renameat2, (int a, const char *b, int c, const char *d, unsigned e), (a, b, c, d, e))
COUNTED(int, link, (const char *a, const char *b), (a, b))
COUNTED(int, linkat, (int a, const char *b, int c, const char *d, int e), (a, b, c, d, e))
COUNTED(int, unlink, (const char *a), (a))
COUNTED(int, unlinkat, (int a, const char *b, int c), (a, b, c))
COUNTED(int, rmdir, (const char *a), (a))
COUNTED(int, mkdir, (const char *a, mode_t b), (a, b))
COUNTED(int, fsync, (int a), (a))
COUNTED(int, syncfs, (int a), (a))
COUNTED(int, ftruncate, (int a, off_t b), (a, b))
COUNTED(int, ftruncate64, (int a, off_t b), (a, b))
COUNTED(ssize_t, write, (int a, const void *b, size_t c), (a, b, c))
COUNTED(ssize_t, pwrite, (int a, const void *b, size_t c, off_t d), (a, b, c, d))
COUNTED(ssize_t, pwrite64, (int a, const void *b, size_t c, off_t d), (a, b, c, d))
