/* SPDX-License-Identifier: Apache-2.0 */
/* Reads snapshots of displacements in pieces: snapshots.h5 (snapshots.md), or the displacements of a
 * sequence.vtkhdf whose points are the nodes. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_SNAPSHOTS_H5_H
#define MODAL_FORMATS_SNAPSHOTS_H5_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_snapshots modal_snapshots;

/* Opens a file of snapshots of a mesh with these nodes [n_nodes, 3], which are borrowed until the
 * close. *n_snapshots is how many there are; *single is 1 where they are stored in float32.
 * MODAL_ERROR_INPUT `path: where: what, value`: neither kind of file, damaged, of another number of
 * nodes. On an error *snapshots is NULL. */
modal_status modal_snapshots_open(modal_snapshots **snapshots, const char *path, int64_t n_nodes,
                                  const double *nodes, int64_t *n_snapshots, int *single,
                                  modal_error *err);

/* Reads the snapshots [first, first + count) to displacements [count, n_nodes, 3]. MODAL_ERROR_INPUT: a
 * value that is not finite, or a sequence's point that is not its node displaced. */
modal_status modal_snapshots_read(modal_snapshots *snapshots, int64_t first, int64_t count,
                                  double *displacements, modal_error *err);

/* Closes and frees; returns NULL. NULL is fine. */
modal_snapshots *modal_snapshots_close(modal_snapshots *snapshots);

#endif
