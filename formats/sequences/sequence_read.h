/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the surface of a sequence.vtkhdf back: triangles, times, and the positions of a frame at a time. */
#ifndef MODAL_FORMATS_SEQUENCE_READ_H
#define MODAL_FORMATS_SEQUENCE_READ_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_sequence_reader modal_sequence_reader;

/* The arrays are the reader's, until it is closed. */
typedef struct modal_sequence_surface {
    int64_t n_points, n_triangles, n_frames;
    const int64_t *triangles; /* [n_triangles, 3] */
    const double *times;      /* [n_frames] s, strictly increasing */
} modal_sequence_surface;

/* MODAL_ERROR_INPUT for a file that is no sequence, is a solid's, or breaks a rule of what is read here; *reader is NULL
 * then. HDF5 is not for several threads at once: what else uses it meanwhile is the caller's business. */
modal_status modal_sequence_reader_open(modal_sequence_reader **reader, const char *path, modal_sequence_surface *surface,
                                        modal_error *err);

/* points [n_points, 3], m: finite, or MODAL_ERROR_INPUT. 0 <= frame < n_frames. */
modal_status modal_sequence_reader_points(modal_sequence_reader *reader, int64_t frame, float *points, modal_error *err);

/* values [n_points] of an array of single numbers in /VTKHDF/PointData that changes with time; finite, or MODAL_ERROR_INPUT, as where there is no such
 * array. 0 <= frame < n_frames. */
modal_status modal_sequence_reader_field(modal_sequence_reader *reader, const char *name, int64_t frame, float *values, modal_error *err);

modal_sequence_reader *modal_sequence_reader_close(modal_sequence_reader *reader); /* NULL is fine; returns NULL */

#endif
