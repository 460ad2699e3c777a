/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of five nodes are opened and read, or refused with a message; what is read is finite. All that 1.1 has beside, the
 * solid with materials and groups among it, is read and checked. HDF5 leaves no object open. */
#include <math.h>
#include <stdlib.h>

#include "formats/snapshots/snapshots_check.h"
#include "formats/snapshots/snapshots_h5.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/memory_file.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_NODES = 5 };

/* What describes the file; what is read of the solid keeps the rules, and so may be walked through. */
static void describe(const char *path)
{
    modal_snapshots_contents c;
    modal_findings findings = {0};
    modal_error err = {0};
    const modal_status status = modal_snapshots_describe(path, &c, &err);
    if (status != MODAL_OK && !err.message[0]) abort();
    if (status == MODAL_OK) {
        const modal_volume_mesh *m = &c.solid.mesh;
        digest_add(&c.n_snapshots, sizeof c.n_snapshots);
        for (int64_t e = 0; e < m->n_elements; e++) {
            const int32_t *nodes = modal_mesh_nodes(m, e);
            for (int k = 0; k < modal_mesh_kind(m, e)->n_nodes; k++) digest_add(m->nodes + 3 * (int64_t)nodes[k], 3 * sizeof(double));
            if (m->element_material) digest_add(&m->materials[m->element_material[e]].young, sizeof(double));
        }
        for (int64_t k = 0; k < 3 * c.solid.n_triangles; k++) digest_add(c.solid.mass + c.solid.triangles[k], sizeof(double));
    }
    modal_snapshots_contents_free(&c);
    modal_snapshots_check(path, &findings, NULL);
    modal_findings_free(&findings);
}

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
    describe(path);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return memory_file_read(data, size, read_all); }
