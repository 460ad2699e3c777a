/* SPDX-License-Identifier: Apache-2.0 */
/* What a snapshots.h5 holds, and whether it keeps the rules of snapshots.md. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_SNAPSHOTS_CHECK_H
#define MODAL_FORMATS_SNAPSHOTS_CHECK_H

#include "formats/h5/findings.h"
#include "formats/snapshots/snapshots_solid.h"
#include "lib/model/basis.h"
#include "lib/model/quality.h"

typedef struct modal_snapshots_contents {
    int64_t n_snapshots, n_nodes, n_probes;
    int has_solid;
    modal_snapshots_solid solid; /* where there is one */
    int single, velocities, forces, energy, parts; /* single: displacements are float32 */
    char *probe_names; /* one a line, or NULL */
    modal_quality *quality; /* [n_snapshots], or NULL */
    double *times;                                      /* [n_snapshots], or NULL */
    int32_t n_provenance;
    modal_provenance *provenance;
} modal_snapshots_contents;

void modal_snapshots_contents_free(modal_snapshots_contents *contents);

/* Reads all but the large arrays, of which it looks at type and shape. After an error contents is zeroed. */
modal_status modal_snapshots_describe(const char *path, modal_snapshots_contents *contents, modal_error *err);

/* Appends to the findings every rule that the file breaks; as modal_basis_check. Large arrays are read snapshot by
 * snapshot. */
modal_status modal_snapshots_check(const char *path, modal_findings *findings, modal_error *err);

#endif
