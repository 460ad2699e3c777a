/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/sequences/sequence_wav.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_wav wav;
    modal_error err = {0};
    const modal_status status = modal_wav_parse(data, (int64_t)size, "fuzz", &wav, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    for (int64_t i = 0; i < wav.n_samples * wav.n_channels; i++)
        if (!isfinite(wav.samples[i])) abort();
    modal_wav_free(&wav);
    return 0;
}
