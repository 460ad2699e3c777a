/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/meshes/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_series series;
    modal_error err = {0};
    modal_status status =
        modal_series_parse_csv((const char *)data, (int64_t)size, "fuzz", 3, &series, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    for (int64_t i = 0; i < series.n_rows; i++) {
        if (i > 0 && !(series.times[i] > series.times[i - 1])) abort();
        for (int k = 0; k < 3; k++)
            if (!isfinite(series.values[3 * i + k])) abort();
    }
    modal_series_free(&series);
    return 0;
}
