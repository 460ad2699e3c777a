/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of modaltled (formats/checkpoint/README.md): a head, then records, each with its length and the hash of its
 * content: frames, and states that the motion goes on from. Records are only ever added, so whatever stops a run, the last
 * whole state and the frames before it are there. Private to the program that writes it. */
#ifndef MODAL_FORMATS_SOLID_CHECKPOINT_H
#define MODAL_FORMATS_SOLID_CHECKPOINT_H

#include <stdint.h>

#include "lib/base/hash.h"
#include "lib/base/status.h"

enum { MODAL_SOLID_MESH, MODAL_SOLID_SCENE, MODAL_SOLID_RUN, MODAL_SOLID_INPUTS };

/* What a checkpoint was made of: the mesh; the scene and its files; everything else that the bytes depend on. */
typedef struct modal_solid_inputs {
    char hashes[MODAL_SOLID_INPUTS][MODAL_HASH_TEXT];
} modal_solid_inputs;

typedef struct modal_solid_checkpoint modal_solid_checkpoint;

/* A piece of a record. */
typedef struct modal_solid_piece {
    const void *bytes;
    int64_t length;
} modal_solid_piece;

/* Creates or truncates `path`; the caller passes a temporary name. */
modal_status modal_solid_checkpoint_open(modal_solid_checkpoint **out, const char *path, const modal_solid_inputs *inputs,
                                         modal_error *err);
/* Adds a record of these pieces; a state is on the disk when it returns. */
modal_status modal_solid_checkpoint_add(modal_solid_checkpoint *checkpoint, int is_state, const modal_solid_piece *pieces, int n,
                                        modal_error *err);
modal_solid_checkpoint *modal_solid_checkpoint_close(modal_solid_checkpoint *checkpoint); /* NULL is fine; gives NULL */

/* Reads the last whole state into `state` [state_bytes], and hands each frame before it, in order, [frame_bytes], to `take`. What
 * follows that state is not looked at. MODAL_ERROR_INPUT: another kind of file, other inputs (which), no whole state. */
modal_status modal_solid_checkpoint_read(const char *path, const modal_solid_inputs *inputs, int64_t frame_bytes, int64_t state_bytes,
                                         void *state, modal_status (*take)(void *context, const void *frame, modal_error *err),
                                         void *context, modal_error *err);

#endif
