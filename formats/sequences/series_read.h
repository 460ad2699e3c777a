/* SPDX-License-Identifier: Apache-2.0 */
/* ParaView's list of a file a time, NAME.series: {"file-series-version": "1.0", "files": [{"name": "ply/000000.ply", "time": 0.0}, ..]}. */
#ifndef MODAL_FORMATS_SERIES_READ_H
#define MODAL_FORMATS_SERIES_READ_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_file_series {
    int64_t n;     /* > 0 */
    char **files;  /* [n] names, not empty; those that do not begin with / are seen from the list's folder */
    double *times; /* [n] s, finite, increasing */
} modal_file_series;

/* `path` is the name in messages. MODAL_ERROR_INPUT for what is no such list, MODAL_ERROR_MEMORY; then *series is zeroed. Free with
 * modal_file_series_free. */
modal_status modal_file_series_parse(const char *data, int64_t length, const char *path, modal_file_series *series, modal_error *err);
modal_status modal_file_series_read(const char *path, modal_file_series *series, modal_error *err);
void modal_file_series_free(modal_file_series *series); /* zeroes it, which is fine itself */

#endif
