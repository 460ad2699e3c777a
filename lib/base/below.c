/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/below.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

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
