/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and checks traj.h5; trajectory.md is the specification. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_TRAJECTORY_H5_H
#define MODAL_FORMATS_TRAJECTORY_H5_H

#include <stddef.h>

#include "formats/h5/findings.h"
#include "lib/model/trajectory.h"

/* Writes `path`, created or truncated; the caller passes a temporary name, and syncs and renames. A
 * trajectory that breaks a rule of the specification is refused (MODAL_ERROR_INPUT) before a file
 * is made. */
modal_status modal_trajectory_write(const char *path, const modal_trajectory *trajectory,
                                    modal_error *err);

/* The same bytes in memory, for standard output. The caller frees *bytes with modal_free. */
modal_status modal_trajectory_image(const modal_trajectory *trajectory, void **bytes,
                                    size_t *length, modal_error *err);

/* A trajectory that is written as it is made, in bounded memory; the bytes are those of
 * modal_trajectory_write. The arrays of rows are those of modal_trajectory. */
typedef struct modal_trajectory_out modal_trajectory_out;

/* Makes the file (path NULL: in memory). Of `head` everything is used but times, q, frames, energy, quality and
 * velocities, of which only is looked at whether the last ones are NULL; n_frames rows MUST follow. */
modal_status modal_trajectory_out_open(modal_trajectory_out **out, const char *path, const modal_trajectory *head,
                                       modal_error *err);
/* The next row; frames, energy and quality as in the head. Kept until some megabytes are together. */
modal_status modal_trajectory_out_row(modal_trajectory_out *out, double time, const double *q,
                                      const double *poses, const double *energy, const modal_quality *quality,
                                      modal_error *err);
/* Velocities of the next row, before it: q [coordinates] and poses [n_objects, 3, 4] as modal_trajectory has them. Without effect where the head has no
 * q_velocities. */
void modal_trajectory_out_velocities(modal_trajectory_out *out, const double *q, const double *poses);
int64_t modal_trajectory_out_count(const modal_trajectory_out *out);
/* The verdict on the rows so far. */
const modal_quality_judgement *modal_trajectory_out_quality(const modal_trajectory_out *out);
/* Rows [first, first + count) of the arrays of frames; NULL where the file has none. */
typedef struct modal_trajectory_block {
    int64_t first, count;
    const double *times, *q, *poses, *energy;
    const modal_quality *quality;
    const double *q_velocities, *pose_velocities;
} modal_trajectory_block;
/* Calls `take` for rows [begin, end) of what was written so far, in blocks. */
typedef modal_status modal_trajectory_rows(void *context, const modal_trajectory_block *rows, modal_error *err);
modal_status modal_trajectory_out_read(modal_trajectory_out *out, int64_t begin, int64_t end,
                                       modal_trajectory_rows *take, void *context, modal_error *err);
/* Completes the file; bytes not NULL: returns it, too (path NULL; the caller frees). Rows that are missing are an
 * error. Frees and forgets *out. */
modal_status modal_trajectory_out_close(modal_trajectory_out **out, void **bytes, size_t *length,
                                        modal_error *err);
/* Frees without completing; NULL is fine. */
void modal_trajectory_out_abandon(modal_trajectory_out **out);

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
