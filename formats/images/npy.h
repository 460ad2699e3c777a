/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy, version 1.0 (numpy.lib.format): an array of numbers after a line of text that says what they are. */
#ifndef MODAL_FORMATS_NPY_H
#define MODAL_FORMATS_NPY_H

#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_NPY_HEAD = 128 };

/* The head of an array of C order, little-endian: type "<f4", "<i4" ...; `components` 1: [height, width], else [height, width, components]. */
void modal_npy_head(char head[MODAL_NPY_HEAD], const char *type, int64_t height, int64_t width, int components);

#endif
