/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and checks traj.h5; trajectory.md is the specification. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_TRAJECTORY_H5_H
#define MODAL_FORMATS_TRAJECTORY_H5_H

#include <stddef.h>

#include "formats/findings.h"
#include "lib/trajectory/trajectory.h"

/* Writes `path`, created or truncated; the caller passes a temporary name, and syncs and renames. A
 * trajectory that breaks a rule of the specification is refused (MODAL_ERROR_INPUT) before a file
 * is made. */
modal_status modal_trajectory_write(const char *path, const modal_trajectory *trajectory,
                                    modal_error *err);

/* The same bytes in memory, for standard output. The caller frees *bytes with modal_free. */
modal_status modal_trajectory_image(const modal_trajectory *trajectory, void **bytes,
                                    size_t *length, modal_error *err);

/* Reads and checks. trajectory is overwritten; the caller frees it with modal_trajectory_free;
 * after an error it is zeroed. The basis is not opened. */
modal_status modal_trajectory_read(const char *path, modal_trajectory *trajectory,
                                   modal_error *err);
modal_status modal_trajectory_read_image(const void *bytes, size_t length, const char *name,
                                         modal_trajectory *trajectory, modal_error *err);

/* Appends to the findings every rule that the file breaks; as modal_basis_check. Rule 7, which
 * needs the basis, is modal_trajectory_check_basis. */
modal_status modal_trajectory_check(const char *path, modal_findings *findings, modal_error *err);
modal_status modal_trajectory_check_image(const void *bytes, size_t length, const char *name,
                                          modal_findings *findings, modal_error *err);

/* Where the basis is: basis_path, if relative put behind the folder of trajectory_path (NULL:
 * standard input, relative to the current folder). The caller frees *path. */
modal_status modal_trajectory_basis_path(const modal_trajectory *trajectory,
                                         const char *trajectory_path, char **path,
                                         modal_error *err);

#endif
