/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint is read or refused with a message; what is read is finite.
 * HDF5 leaves no object open. */
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/hdf5/checkpoint_h5.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static modal_status read_all(const char *path, modal_error *err)
{
    modal_checkpoint c;
    modal_status status = modal_checkpoint_read(path, &c, err);
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++)
        for (int64_t k = 0; k < c.state_counts[i]; k++)
            if (!isfinite(c.state[i][k])) abort();
    if (status == MODAL_OK && (c.n_frames < 0 || c.n_coordinates < 0 || c.n_objects < 0 || !c.back_end)) abort();
    modal_checkpoint_free(&c);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    modal_error err = {0};
    int file = memfd_create("checkpoint", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    modal_status status = read_all(path, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    close(file);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0) abort();
    return 0;
}
