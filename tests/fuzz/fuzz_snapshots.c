/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of five nodes are opened and read, or refused with a message; what is read is finite.
 * HDF5 leaves no object open. */
#include <math.h>
#include <stdlib.h>

#include "formats/snapshots/snapshots_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_NODES = 5 };

static modal_status read_all(const char *path, modal_error *err)
{
    static const double nodes[3 * N_NODES] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    modal_snapshots *snapshots = NULL;
    double u[3 * N_NODES];
    int64_t n = 0;
    int single;
    modal_status status = modal_snapshots_open(&snapshots, path, N_NODES, nodes, &n, &single, err);
    if (status == MODAL_OK ? n < 1 || !snapshots : snapshots != NULL) abort();
    for (int64_t i = 0; status == MODAL_OK && i < n && i < 100; i++) {
        status = modal_snapshots_read(snapshots, i, 1, u, err);
        for (int k = 0; status == MODAL_OK && k < 3 * N_NODES; k++)
            if (!isfinite(u[k])) abort();
        if (status == MODAL_OK) digest_add(u, sizeof u);
    }
    modal_snapshots_close(snapshots);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
