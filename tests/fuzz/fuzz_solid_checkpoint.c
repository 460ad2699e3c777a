/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint of modaltled is read or refused with a message: every length is that of what the reader knows. Frames have
 * 24 bytes here, states 40, and the hashes of the inputs are digits of 0. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/checkpoint/solid_checkpoint.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static modal_status take(void *context, const void *frame, modal_error *err)
{
    unsigned char *sum = context;
    (void)err;
    for (int i = 0; i < 24; i++) *sum ^= ((const unsigned char *)frame)[i];
    return MODAL_OK;
}

static modal_status read_it(const char *path, modal_error *err)
{
    modal_solid_inputs inputs = {{""}};
    unsigned char state[40], sum = 0;
    for (int i = 0; i < MODAL_SOLID_INPUTS; i++) memset(inputs.hashes[i], '0', MODAL_HASH_TEXT - 1);
    return modal_solid_checkpoint_read(path, &inputs, 24, sizeof state, state, take, &sum, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_it); }
