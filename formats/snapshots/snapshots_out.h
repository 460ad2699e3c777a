/* SPDX-License-Identifier: Apache-2.0 */
/* Writes snapshots.h5 (snapshots.md) frame by frame. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_SNAPSHOTS_OUT_H
#define MODAL_FORMATS_SNAPSHOTS_OUT_H

#include "formats/snapshots/snapshots_solid.h"
#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/quality.h"

/* What every frame has besides its time and displacements. */
typedef struct modal_snapshots_head {
    int64_t n_nodes;
    int single;             /* 1: displacements, velocities and forces are stored in float32 */
    int velocities, forces; /* 1: they are there */
    int64_t n_energies, n_parts; /* columns of /energy and /energy_parts, or 0 */
    int quality;            /* 1: /quality is there */
    int64_t n_probes;       /* 0: no /probes */
    const char *probe_names; /* one a line */
    const modal_snapshots_solid *solid; /* /solid, or NULL */
    int32_t n_provenance;
    const modal_provenance *provenance;
} modal_snapshots_head;

/* Arrays are [n_nodes, 3], [n_energies], [n_parts] and [n_probes, 3]; those that the head does not have are not read. */
typedef struct modal_snapshot {
    double time;
    const double *displacements, *velocities, *forces, *energies, *parts, *probe_displacements, *probe_reactions, *probe_velocities;
    const modal_quality *quality;
} modal_snapshot;

typedef struct modal_snapshots_out modal_snapshots_out;

/* Creates or truncates `path`; the caller passes a temporary name, and syncs and renames. */
modal_status modal_snapshots_out_open(modal_snapshots_out **out, const char *path, const modal_snapshots_head *head,
                                      modal_error *err);
modal_status modal_snapshots_out_add(modal_snapshots_out *out, const modal_snapshot *frame, modal_error *err);
/* The verdict on the frames so far. */
const modal_quality_judgement *modal_snapshots_out_quality(const modal_snapshots_out *out);
int64_t modal_snapshots_out_count(const modal_snapshots_out *out);
/* Completes the file, frees and forgets *out; NULL inside is fine. `status` is what went before and wins. */
modal_status modal_snapshots_out_close(modal_snapshots_out **out, modal_status status, modal_error *err);

#endif
