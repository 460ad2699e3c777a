/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of sequences opens a name, so the bytes go into a file in memory. */
#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/sequences/sequence_vtkhdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    modal_findings findings = {0};
    modal_error err = {0};
    int file = memfd_create("sequence", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    modal_status status = modal_sequence_check(path, &findings, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    modal_findings_free(&findings);
    close(file);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0) abort();
    return 0;
}
