/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json: what lies in an output folder, how it was made and from what. Written last, so a
 * folder that has one is complete. formats/sequence.md is the specification. */
#ifndef MODAL_FORMATS_MANIFEST_H
#define MODAL_FORMATS_MANIFEST_H

#include <stdint.h>

#include "formats/sequences/sequence.h"
#include "lib/base/status.h"

typedef struct modal_manifest_file {
    const char *name; /* in the folder; "ply/000000.ply" for a frame's */
    const char *kind; /* "vtkhdf", "xdmf" ... */
    int64_t bytes;
} modal_manifest_file;

/* Everything is borrowed. */
typedef struct modal_manifest {
    const char *tool, *version, *arguments;
    const char *trajectory, *trajectory_hash; /* name as given, hash of the file's bytes */
    const char *basis, *basis_hash;           /* name as found, content hash */
    const char *back_end, *device;
    int64_t frame_start, frame_step;          /* written frame i is the trajectory's start + i step */
    int64_t n_frames;
    double first_time, last_time; /* s */
    int64_t n_points, n_triangles;
    int64_t n_cells;     /* of a solid, which has no triangles; 0: a surface */
    const char *order;   /* "user" or "stored" */
    const char *normals; /* "none", "rigid" or "dynamic" */
    int n_fields;
    const char *const *fields; /* [n_fields] the arrays of every frame: "Points", ... */
    const modal_sequence_sound *sound; /* NULL: none; its samples are not looked at */
    const char *quality; /* the verdict on the motion and why, or NULL: not measured */
    double slow_motion; /* times of glb and mdd are as often the real ones; 0: they are these */
    int n_files;
    const modal_manifest_file *files; /* [n_files] */
    const char *input, *input_hash; /* instead of trajectory and basis, of a tool that has neither; else NULL */
} modal_manifest;

/* Writes `path`, created or truncated. Keys are always in the same order. Bytes of arguments and
 * names that are no UTF-8, which JSON cannot hold, are written as U+FFFD. */
modal_status modal_manifest_write(const char *path, const modal_manifest *manifest,
                                  modal_error *err);

#endif
