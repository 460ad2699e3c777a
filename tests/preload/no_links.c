/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a tool: a file system without hard links (WITHOUT has "link"), and without renames that replace nothing ("rename"); or
 * where another process makes every folder just before ("first"). */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static int lacks(const char *what, int code)
{
    const char *without = getenv("WITHOUT");
    if (!without || !strstr(without, what)) return 0;
    errno = code;
    return 1;
}

int link(const char *from, const char *to);
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
int mkdir(const char *path, mode_t mode);

int link(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "link");
    return lacks("link", EPERM) ? -1 : real(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    int (*real)(int, const char *, int, const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "linkat");
    return lacks("link", EPERM) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    int (*real)(int, const char *, int, const char *, unsigned);
    *(void **)&real = dlsym(RTLD_NEXT, "renameat2");
    return flags && lacks("rename", EINVAL) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    int (*real)(const char *, mode_t);
    *(void **)&real = dlsym(RTLD_NEXT, "mkdir");
    const int made = real(path, mode);
    return made == 0 && lacks("first", EEXIST) ? -1 : made;
}
