/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as they lie in HDF5's metadata. */
#ifndef MODAL_FORMATS_H5_BYTES_H
#define MODAL_FORMATS_H5_BYTES_H

#include <stdint.h>

/* A little-endian number of n bytes, at most 8. */
static inline uint64_t modal_h5_little(const unsigned char *bytes, int n)
{
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

#endif
