/* SPDX-License-Identifier: Apache-2.0 */
/* Float32 in fewer bits, as HDF5's scaleoffset filter has a chunk of them: the whole numbers nearest to (x - least) scale,
 * where scale is a power of ten, in as many bits as the largest one needs.
 *
 * An encoded chunk is 4 bytes of the number of bits, 1 byte of 8, 8 bytes of `least` (its float32 in the first four), 8
 * unused ones, then the numbers, each one's bits from the highest on without gaps, and a byte more where the last one is
 * full; all 32 bits stand for the float32 themselves (HDF5 Reference Manual, "H5Pset_scaleoffset", and the filter's
 * source, H5Zscaleoffset.c, HDF5 1.10). A least of -0 is stored as 0. */
#ifndef MODAL_MODEL_ENCODING_H
#define MODAL_MODEL_ENCODING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_ENCODED_HEAD = 21 };

/* What an encoded chunk is: its bytes, and the largest |x|. Values that are not all finite are not encoded: no bytes, NaN. */
typedef struct modal_encoded {
    int64_t n_bytes;
    float most;
} modal_encoded;

/* The room that n values need: 1 byte that the filter counts more, and 3 that are written beyond the last one. */
static inline int64_t modal_encoded_room(int64_t n_values) { return MODAL_ENCODED_HEAD + 4 * n_values + 4; }

/* n > 0 values; `to` has the room. */
modal_encoded modal_encode(const float *values, int64_t n, double scale, unsigned char *to);

#ifdef __cplusplus
}
#endif
#endif
