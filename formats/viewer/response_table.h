/* SPDX-License-Identifier: Apache-2.0 */
/* A table of responses over frequency, as `modalsim --scene` writes it: formats/scene.md, "Response over frequency". */
#ifndef MODAL_FORMATS_RESPONSE_TABLE_H
#define MODAL_FORMATS_RESPONSE_TABLE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_response_curve {
    int of_probe;   /* 1: probe `number`, axis `index` of x y z; 0: object `number`, mode `index` */
    int32_t number, index;
} modal_response_curve;

typedef struct modal_response_table {
    int64_t n_rows;
    int32_t n_curves;
    modal_response_curve *curves; /* [n_curves] */
    double *frequencies;          /* [n_rows] Hz, >= 0, strictly increasing */
    float *amplitudes, *phases;   /* [n_curves, n_rows] m or kg^1/2 m, >= 0; degrees in [-180, 180] */
} modal_response_table;

/* The caller frees the table; after an error it is zeroed. MODAL_ERROR_INPUT `path:line: what, value` for what is no such
 * table, or an amplitude that float32 does not hold. */
modal_status modal_response_table_read(const char *path, modal_response_table *table, modal_error *err);
/* The same for text in memory, [length] bytes; `name` stands for the path in messages. */
modal_status modal_response_table_parse(const char *text, int64_t length, const char *name, modal_response_table *table,
                                        modal_error *err);
void modal_response_table_free(modal_response_table *table);

#endif
