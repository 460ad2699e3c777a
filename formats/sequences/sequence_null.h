/* SPDX-License-Identifier: Apache-2.0 */
/* No file: frames are counted and dropped. For measuring what makes them. */
#ifndef MODAL_FORMATS_SEQUENCE_NULL_H
#define MODAL_FORMATS_SEQUENCE_NULL_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_null;

/* Bytes of all arrays of all frames that a writer of this format got. */
int64_t modal_sequence_null_bytes(const void *writer);

#endif
