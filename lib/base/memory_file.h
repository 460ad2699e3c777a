/* SPDX-License-Identifier: Apache-2.0 */
/* A file in main memory, for bytes that come or go through a pipe and for readers that want a path. */
#ifndef MODAL_BASE_MEMORY_FILE_H
#define MODAL_BASE_MEMORY_FILE_H

#include <stdint.h>

#include "lib/base/status.h"

/* How the path of such a file begins. It is a path of this process only, and has no folder. */
#define MODAL_MEMORY_FILE "/proc/self/fd/"
enum { MODAL_MEMORY_FILE_PATH = 32 };

/* Makes one with these bytes (NULL: empty). The file ends with the last descriptor; the caller closes *file. `name` is for messages.
 * MODAL_ERROR_SYSTEM; *file is then -1. */
modal_status modal_memory_file(const void *bytes, int64_t n_bytes, const char *name, int *file, char path[MODAL_MEMORY_FILE_PATH], modal_error *err);

int modal_is_memory_file(const char *path);

#endif
