/* SPDX-License-Identifier: Apache-2.0 */
/* Time series in comma-separated text, such as a recorded ground motion `t,ax,ay,az`:
 *
 *   - one row a line, a fixed number of columns, separated by exactly one comma; blanks and tabs
 *     around a number are fine, as are \r\n line ends and a UTF-8 byte order mark;
 *   - numbers are finite decimals (1, -2.5, 3e-4); the first column is the time and increases
 *     strictly;
 *   - empty lines, and lines whose first character past blanks is #, are skipped;
 *   - the first line that is left may be a header: as many columns, none of them a number;
 *   - at least two rows: one makes no line to interpolate on. */
#ifndef MODAL_FORMATS_CSV_H
#define MODAL_FORMATS_CSV_H

#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_CSV_COLUMNS = 16 }; /* the most that can be read */

typedef struct modal_series {
    int64_t n_rows;
    int n_values;   /* columns after the time */
    double *times;  /* [n_rows] */
    double *values; /* [n_rows, n_values] */
} modal_series;

/* Frees and zeroes; a zeroed struct is fine. */
void modal_series_free(modal_series *series);

/* Reads rows of a time and n_values (< MODAL_CSV_COLUMNS) numbers. `series` is overwritten; the
 * caller frees it; after an error it is zeroed. MODAL_ERROR_INPUT `path:line: what, value` for what
 * breaks the rules above; MODAL_ERROR_SYSTEM for a file that cannot be read. Thread-safe. */
modal_status modal_series_read_csv(const char *path, int n_values, modal_series *series,
                                   modal_error *err);

/* The same for text in memory, [length] bytes; `name` stands for the path in messages. */
modal_status modal_series_parse_csv(const char *text, int64_t length, const char *name,
                                    int n_values, modal_series *series, modal_error *err);

/* A list that is no series: the first column (`times`) holds any numbers, and one row is enough. */
modal_status modal_list_read_csv(const char *path, int n_values, modal_series *list, modal_error *err);

#endif
