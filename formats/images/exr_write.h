/* SPDX-License-Identifier: Apache-2.0 */
/* OpenEXR files of pictures: one part of scan lines, compressed by ZIP, by OpenEXR's C core where the program was built with it. */
#ifndef MODAL_FORMATS_EXR_WRITE_H
#define MODAL_FORMATS_EXR_WRITE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef enum modal_exr_type { MODAL_EXR_UINT, MODAL_EXR_HALF, MODAL_EXR_FLOAT } modal_exr_type;

typedef struct modal_exr_channel {
    const char *name; /* "R", "N.X"; each once */
    modal_exr_type type;
    const void *values; /* [height, width] at intervals of `stride` bytes: uint32_t for MODAL_EXR_UINT, else float; row 0 is the upper one */
    int32_t stride;
} modal_exr_channel;

/* *bytes [*length] is the file, which the caller frees with modal_free. Floats that a half cannot hold become infinite. MODAL_ERROR_MEMORY;
 * MODAL_ERROR_SYSTEM where the library is absent or fails. Thread-safe; equal bytes for equal values and one version of the library, or of
 * libdeflate, which packs where the build has it. */
modal_status modal_exr_encode(const modal_exr_channel *channels, int n_channels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length,
                              modal_error *err);

/* "OpenEXR 3.1.5", "OpenEXR absent": for --version. */
const char *modal_exr_library(void);

#endif
