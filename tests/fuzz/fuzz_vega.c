/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/meshes/vega_matrix.h"
#include "lib/base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same bytes under both names: the sizes differ, so at most one of them is a matrix. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int n_good = 0;
    for (int i = 0; i < 2; i++) {
        modal_vega_matrix m;
        modal_error err = {0};
        const modal_status status = modal_vega_matrix_parse((const char *)data, (int64_t)size,
                                                            i ? "fuzz.float" : "fuzz.U", &m, &err);
        if (status != err.status) abort();
        if (status != MODAL_OK && (m.values || m.n_rows != 0)) abort();
        for (int64_t k = 0; status == MODAL_OK && k < m.n_rows * m.n_columns; k++)
            if (!isfinite(m.values[k])) abort();
        n_good += status == MODAL_OK;
        modal_free(&m.values);
    }
    if (n_good > 1) abort();
    return 0;
}
