/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files that another file names. */
#ifndef MODAL_BASE_BELOW_H
#define MODAL_BASE_BELOW_H

#include <limits.h>
#include <stdint.h>

#include "lib/base/status.h"

/* The path of what `file` names: name [length], beside the file unless it is absolute or file is NULL; the caller frees it. */
modal_status modal_path_beside(const char *file, const char *name, int64_t length, char **path, modal_error *err);

/* Whether a name, its parts separated by /, leads neither up from a folder nor out of it, but for symbolic links: it is not
 * absolute, and no part is empty, "." or "..". */
int modal_path_is_below(const char *name);

/* `folder` as the system knows it, without symbolic links and with a / at its end. `of_file`: `folder` is a file, and its folder is
 * meant. 0 and errno where it cannot be opened. */
int modal_path_folder(const char *folder, int of_file, char real[PATH_MAX + 1]);

/* The path of the file `name` below `real` (from modal_path_folder) without symbolic links; the caller frees it. MODAL_ERROR_INPUT,
 * without the name of the file: it is not there, or a symbolic link leads out of the folder (not looked at with `anywhere`). */
modal_status modal_path_find(const char *real, const char *name, int anywhere, char **path, modal_error *err);

/* The way from the folder `from` to the file or folder `to`, both as realpath gives them; the caller frees it. */
modal_status modal_path_between(const char *from, const char *to, char **path, modal_error *err);

#endif
