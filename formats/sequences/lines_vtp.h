/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on a surface as .vtp, VTK's XML PolyData in text: a file a frame (formats/sequences.md). */
#ifndef MODAL_FORMATS_LINES_VTP_H
#define MODAL_FORMATS_LINES_VTP_H

#include <stdint.h>

#include "formats/sequences/file_out.h"

/* Line l has the points offsets[l] .. offsets[l + 1] - 1. Borrowed. */
typedef struct modal_lines_vtp {
    int64_t n_points, n_lines;
    const float *points;    /* [n_points, 3] m */
    const float *curvature; /* [n_points] 1/m */
    const int64_t *offsets; /* [n_lines + 1]; NULL without lines */
    const float *strength;  /* [n_lines] */
    const uint8_t *valley;  /* [n_lines] 1: a valley, 0: a ridge */
} modal_lines_vtp;

/* Writes folder/NNNNNN.vtp. The buffer of `out`, {.file = -1} at first, stays for the next frame. */
modal_status modal_lines_vtp_write(modal_file_out *out, const char *folder, int64_t frame, double time,
                                   const modal_lines_vtp *lines, modal_error *err);

#endif
