/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation interrupted between two frames: the state that it goes on from, and the frames that are
 * done. HDF5, modal_format "checkpoint"; private to the program that writes it: its version is refused by
 * any other. formats/checkpoint.md says how it is used and what it holds. Not thread-safe (HDF5).
 *
 * A file has room for all frames of the motion and for two states. Frames are added in place, and the older of
 * the two states is replaced in place, each with a seal, once the frames are on the disk: so a checkpoint costs
 * what was added since the last one, and at any moment one of the two states, with its frames, is whole. */
#ifndef MODAL_FORMATS_CHECKPOINT_H5_H
#define MODAL_FORMATS_CHECKPOINT_H5_H

#include <stdint.h>

#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/hash.h"
#include "lib/base/status.h"

enum { MODAL_CHECKPOINT_STATE = 5 };

typedef struct modal_checkpoint {
    char basis_hash[MODAL_HASH_TEXT];
    char scene_hash[MODAL_HASH_TEXT]; /* of the scene and the files that it names */
    char *back_end;
    int64_t n_frames, most_frames; /* that are done; of the whole motion */
    /* what the motion goes on from: five arrays of the simulator's own */
    int64_t state_counts[MODAL_CHECKPOINT_STATE];
    double *state[MODAL_CHECKPOINT_STATE];
    int64_t n_coordinates, n_objects; /* of the frames; n_objects 0: no poses */
    int64_t n_quality;                /* numbers of a modal_quality, or 0: the frames have none */
} modal_checkpoint;

void modal_checkpoint_free(modal_checkpoint *checkpoint);

typedef struct modal_checkpoint_out modal_checkpoint_out;

/* Makes the file `path`, which may then be renamed to `name` (that of messages), with room for what `checkpoint`
 * says: everything of it but n_frames and the values of the state is used. There is no state in it yet. */
modal_status modal_checkpoint_out_open(modal_checkpoint_out **out, const char *path, const char *name,
                                       const modal_checkpoint *checkpoint, modal_error *err);
/* Adds the frames from the last time's to n_frames, of which `rows` has all, and then the state; on the disk when it
 * returns. More frames than the last time, or nothing is done. After an error what was put before is still there. */
modal_status modal_checkpoint_out_put(modal_checkpoint_out *out, const modal_checkpoint *checkpoint,
                                      modal_trajectory_out *rows, modal_error *err);
/* Whether `path` still leads to this file. */
int modal_checkpoint_out_is_at(const modal_checkpoint_out *out, const char *path);
/* Returns NULL; NULL is fine. */
modal_checkpoint_out *modal_checkpoint_out_close(modal_checkpoint_out *out);

/* All but the frames. `checkpoint` is overwritten; the caller frees it; zeroed after an error.
 * MODAL_ERROR_INPUT for a file that is none, is damaged, or holds values that are not finite. */
modal_status modal_checkpoint_read(const char *path, modal_checkpoint *checkpoint, modal_error *err);
/* Puts the frames of a checkpoint that was read from `path` into `rows`, at i / fps. */
modal_status modal_checkpoint_rows(const char *path, const modal_checkpoint *checkpoint, double fps,
                                   modal_trajectory_out *rows, modal_error *err);

#endif
