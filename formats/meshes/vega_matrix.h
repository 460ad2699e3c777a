/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices as VegaFEM keeps them: bases .U and .Ulin of a solid, .URendering.float of a surface. */
#ifndef MODAL_FORMATS_VEGA_MATRIX_H
#define MODAL_FORMATS_VEGA_MATRIX_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_vega_matrix {
    int64_t n_rows, n_columns;
    int single;     /* 1: stored in float32 */
    double *values; /* [n_columns, n_rows]: a column is contiguous */
} modal_vega_matrix;

/* Reads int32 rows, int32 columns, then the columns in float64, or in float32 where the name
 * of the file ends with .float, all little-endian. The caller gives matrix->values to modal_free.
 * MODAL_ERROR_INPUT: a missing or empty file, counts below 1, a size that is not right to the byte, a value that is
 * not finite (by column and row); MODAL_ERROR_SYSTEM; MODAL_ERROR_MEMORY.
 * After one *matrix is zeroed. Thread-safe. */
modal_status modal_vega_matrix_read(const char *path, modal_vega_matrix *matrix, modal_error *err);

/* The same for the bytes of a file; `name` stands for the path in messages. */
modal_status modal_vega_matrix_parse(const char *data, int64_t length, const char *name,
                                     modal_vega_matrix *matrix, modal_error *err);

#endif
