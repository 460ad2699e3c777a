/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint is read or refused with a message; what is read is finite.
 * HDF5 leaves no object open. */
#include <math.h>
#include <stdlib.h>

#include "formats/hdf5/checkpoint_h5.h"
#include "tests/fuzz/memory_file.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
