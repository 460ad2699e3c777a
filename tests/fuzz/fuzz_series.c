/* SPDX-License-Identifier: Apache-2.0 */
/* A .series is read or refused with a message; times of what is read increase. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/sequences/series_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_file_series series;
    modal_error err = {0};
    const modal_status status = modal_file_series_parse((const char *)data, (int64_t)size, "fuzz.series", &series, &err);
    if (status != err.status || (status == MODAL_OK) != (series.n > 0) || (status != MODAL_OK && !err.message[0])) abort();
    for (int64_t i = 0; i < series.n; i++)
        if (!series.files[i][0] || !isfinite(series.times[i]) || (i > 0 && !(series.times[i] > series.times[i - 1]))) abort();
    modal_file_series_free(&series);
    return 0;
}
