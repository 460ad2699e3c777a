/* SPDX-License-Identifier: Apache-2.0 */
/* For readers that want a path: the input as a file that is in memory alone. */
#ifndef MODAL_TESTS_MEMORY_FILE_H
#define MODAL_TESTS_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/status.h"
#include "tests/fuzz/open_ids.h"

/* Stops unless what `read` returns is what its error says, with a message where it failed, and HDF5 is left without
 * an open object. */
static inline int memory_file_read(const uint8_t *data, size_t size,
                                   modal_status (*read)(const char *path, modal_error *err))
{
    char path[64];
    modal_error err = {0};
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    modal_status status = read(path, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    close(file);
    no_open_ids();
    return 0;
}

#endif
