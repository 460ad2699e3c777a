/* SPDX-License-Identifier: Apache-2.0 */
/* octree.h5; formats/octree.md is the specification. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_OCTREE_H5_H
#define MODAL_FORMATS_OCTREE_H5_H

#include "formats/h5/findings.h"
#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/octree.h"
#include "lib/model/octree_atlas.h"
#include "lib/model/octree_flow.h"

/* An octree and how it came about. */
typedef struct modal_octree_file {
    modal_octree octree;
    modal_octree_atlas atlas; /* n_uv 0: none */
    modal_flow_state flow; /* n_samples 0: none */
    modal_provenance *provenance; /* [n_provenance] */
    int32_t n_provenance;
} modal_octree_file;

void modal_octree_file_free(modal_octree_file *file);

/* Writes `path`, created or truncated. */
modal_status modal_octree_write(const char *path, const modal_octree_file *file, modal_error *err);

/* Reads and checks a file. The caller frees it; after an error it is zeroed. The length of the file bounds the memory.
 * MODAL_ERROR_INPUT names the file and the place. */
modal_status modal_octree_read(const char *path, modal_octree_file *file, modal_error *err);

/* Appends to the findings every rule that the file breaks; as modal_basis_check. */
modal_status modal_octree_check(const char *path, modal_findings *findings, modal_error *err);

#endif
