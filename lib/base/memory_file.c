/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/memory_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/disk.h"

modal_status modal_memory_file(const void *bytes, int64_t n_bytes, const char *name, int *file, char path[MODAL_MEMORY_FILE_PATH], modal_error *err)
{
    *file = memfd_create("modaltools", MFD_CLOEXEC);
    if (*file < 0 || (n_bytes > 0 && modal_disk_write(*file, 0, bytes, n_bytes) != 0)) {
        const int code = errno;
        if (*file >= 0) close(*file);
        *file = -1;
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be kept in memory, %s", name, strerror(code));
    }
    snprintf(path, MODAL_MEMORY_FILE_PATH, MODAL_MEMORY_FILE "%d", *file);
    return MODAL_OK;
}

int modal_is_memory_file(const char *path) { return strncmp(path, MODAL_MEMORY_FILE, sizeof MODAL_MEMORY_FILE - 1) == 0; }
