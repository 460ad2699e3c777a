/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/viewer/response_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_response_table table;
    modal_error err = {0};
    const modal_status status = modal_response_table_parse((const char *)data, (int64_t)size, "fuzz", &table, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    for (int64_t i = 0; i < table.n_rows; i++)
        if (!(table.frequencies[i] >= 0) || (i > 0 && !(table.frequencies[i] > table.frequencies[i - 1]))) abort();
    for (int64_t i = 0; i < table.n_rows * table.n_curves; i++)
        if (!(table.amplitudes[i] >= 0) || isinf(table.amplitudes[i]) || !(fabsf(table.phases[i]) <= 180)) abort();
    modal_response_table_free(&table);
    return 0;
}
