/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/below.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_path_beside(const char *file, const char *name, int64_t length, char **path, modal_error *err)
{
    const char *slash = file && !(length > 0 && *name == '/') ? strrchr(file, '/') : NULL;
    const int64_t folder = slash ? slash + 1 - file : 0;
    const modal_status status = modal_alloc(path, folder + length + 1, 1, "path", err);
    if (status != MODAL_OK) return status;
    if (folder > 0) memcpy(*path, file, (size_t)folder);
    memcpy(*path + folder, name, (size_t)length);
    (*path)[folder + length] = '\0';
    return MODAL_OK;
}

int modal_path_is_below(const char *name)
{
    for (const char *part = name;; part++) {
        const size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && part[0] == '.') || (length == 2 && strncmp(part, "..", 2) == 0)) return 0;
        part += length;
        if (!*part) return 1;
    }
}

int modal_path_folder(const char *folder, int of_file, char real[PATH_MAX + 1])
{
    if (!realpath(folder, real)) return 0;
    char *end = of_file ? strrchr(real, '/') + 1 : real + strlen(real);
    if (end == real || end[-1] != '/') *end++ = '/';
    *end = '\0';
    return 1;
}

modal_status modal_path_find(const char *real, const char *name, int anywhere, char **path, modal_error *err)
{
    char whole[2 * PATH_MAX], found[PATH_MAX];
    *path = NULL;
    if (snprintf(whole, sizeof whole, "%s%s", *name == '/' ? "" : real, name) >= (int)sizeof whole)
        return modal_error_set(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(ENAMETOOLONG));
    if (!realpath(whole, found)) return modal_error_set(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(errno));
    if (!anywhere && strncmp(found, real, strlen(real)) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "a symbolic link that leads out of %s, to %s", real, found);
    return modal_copy_text(path, found, SIZE_MAX, err);
}

modal_status modal_path_between(const char *from, const char *to, char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    /* "/" alone is the empty list of folders, like the others then without a slash at the end */
    if (strcmp(from, "/") == 0) from = "";
    if (strcmp(to, "/") == 0) to = "";
    size_t same = 0; /* length of the folders that both share */
    for (size_t i = 0;; i++) {
        const int from_ends = from[i] == '\0' || from[i] == '/', to_ends = to[i] == '\0' || to[i] == '/';
        if (from_ends && to_ends) same = i;
        if (from[i] != to[i] || from[i] == '\0') break;
    }
    int64_t ups = 0;
    for (const char *c = from + same; *c; c++) ups += *c == '/';
    const char *down = to[same] == '/' ? to + same + 1 : to + same;
    MODAL_TRY(modal_alloc(path, 3 * ups + (int64_t)strlen(down) + 1, 1, "path", err));
    char *end = *path;
    for (int64_t i = 0; i < ups; i++) end = stpcpy(end, "../");
    stpcpy(end, down);
done:
    return status;
}
