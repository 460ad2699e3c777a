/* SPDX-License-Identifier: Apache-2.0 */
/* Encode: columns of float32 in fewer bits, each a chunk as lib/model/encoding.h describes it, so that fewer bytes leave
 * the device. The numbers are computed in float64, every operation rounded by itself:
 *
 *   k = floor((x - least) scale + 0.5)
 *
 * All back ends write the same bytes. Chunk c begins at byte c stride + MODAL_ENCODE_FIRST of the output: its numbers
 * begin at a multiple of 128 bytes. Bytes of the output before a chunk are not written, those after it may be.
 * Sizes: n_values > 0, any n_columns. Alignment: as their types, the output as uint32_t (best to 128 bytes).
 * Aliasing: outputs overlap nothing. A column that is not all finite: no bytes, NaN. */
#ifndef MODAL_KERNELS_ENCODE_H
#define MODAL_KERNELS_ENCODE_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/model/encoding.h"

enum {
    MODAL_ENCODE_FIRST = 128 - MODAL_ENCODED_HEAD,
    MODAL_ENCODE_SCRATCH = 3 * 64 /* floats a column */
};

/* The least stride. */
static inline int64_t modal_encode_stride(int64_t n_values)
{
    return (MODAL_ENCODE_FIRST + modal_encoded_room(n_values) + 127) / 128 * 128;
}

struct modal_encode_task {
    int64_t n_values, n_columns;
    const float *in; /* [n_columns, n_values] */
    double scale;    /* a power of ten */
    int64_t stride;  /* a multiple of 128 */
    unsigned char *out;     /* [n_columns, stride]; in the back end's memory or in pinned main memory */
    modal_encoded *encoded; /* [n_columns], likewise */
    float *scratch;         /* [n_columns, MODAL_ENCODE_SCRATCH] in the back end's memory */
};

#endif
