/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation interrupted between two frames: the state that it goes on from, and the frames that are
 * done. HDF5, modal_type "checkpoint"; private to the program that writes it: its version is refused by
 * any other. formats/scene.md says how it is used. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_CHECKPOINT_H5_H
#define MODAL_FORMATS_CHECKPOINT_H5_H

#include <stdint.h>

#include "formats/hdf5/trajectory_h5.h"
#include "lib/base/hash.h"
#include "lib/base/status.h"

enum { MODAL_CHECKPOINT_STATE = 5 };

typedef struct modal_checkpoint {
    char basis_hash[MODAL_HASH_TEXT];
    char scene_hash[MODAL_HASH_TEXT]; /* of the scene and the files that it names */
    char *back_end;
    int64_t n_frames; /* that are done */
    /* what the motion goes on from: five arrays of the simulator's own */
    int64_t state_counts[MODAL_CHECKPOINT_STATE];
    double *state[MODAL_CHECKPOINT_STATE];
    int64_t n_coordinates, n_objects; /* of the frames; n_objects 0: no rigid frames */
} modal_checkpoint;

void modal_checkpoint_free(modal_checkpoint *checkpoint);
/* `rows` has the first n_frames frames, which are copied in blocks. */
modal_status modal_checkpoint_write(const char *path, const modal_checkpoint *checkpoint, modal_trajectory_out *rows,
                                    modal_error *err);
/* All but the frames. `checkpoint` is overwritten; the caller frees it; zeroed after an error.
 * MODAL_ERROR_INPUT for a file that is none, is damaged, or holds values that are not finite. */
modal_status modal_checkpoint_read(const char *path, modal_checkpoint *checkpoint, modal_error *err);
/* Puts the frames of a checkpoint that was read from `path` into `rows`, at i / fps. */
modal_status modal_checkpoint_rows(const char *path, const modal_checkpoint *checkpoint, double fps,
                                   modal_trajectory_out *rows, modal_error *err);

#endif
