/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a trajectory, made by a deformer, as lib/frames takes them. */
#ifndef MODAL_DEFORM_SOURCE_H
#define MODAL_DEFORM_SOURCE_H

#include "lib/deform/deform.h"
#include "lib/frames/frames.h"
#include "lib/model/trajectory.h"

/* Which output an array is: modal_array.source. Those from MODAL_FROM_STAGES on are left to stages. */
enum {
    MODAL_FROM_POSITIONS,
    MODAL_FROM_NORMALS,
    MODAL_FROM_DISPLACEMENT,
    MODAL_FROM_TANGENTS,
    MODAL_FROM_SPEED, /* m/s, needs MODAL_FROM_DISPLACEMENT of the deformer: the length of R' (xbar + U q) + p' + R U q' */
    MODAL_FROM_STAGES
};

/* Everything is borrowed as long as the source lives. */
typedef struct modal_deform_source_request {
    modal_deformer *deformer; /* made for n_frames * modal_deform_columns frames */
    const modal_trajectory *trajectory;
    int64_t start, step;      /* frame i is the trajectory's start + i step */
    const modal_array_list *arrays;
    int single;               /* nonzero: frames are handed on one at a time, as a stage or the speed wants them */
} modal_deform_source_request;

typedef struct modal_deform_source modal_deform_source;

/* Frames that one of the trajectory takes in the deformer: with speed, its rates of change go along. */
int modal_deform_columns(const modal_trajectory *trajectory, int speed);

/* *as is for modal_frames_run, and good until the source is deleted. MODAL_ERROR_INPUT where the trajectory's times do
 * not let a speed be computed, MODAL_ERROR_MEMORY where the deformer's batches are too small for it. */
modal_status modal_deform_source_new(modal_deform_source **source, const modal_deform_source_request *request,
                                     modal_frame_source *as, modal_error *err);
modal_deform_source *modal_deform_source_delete(modal_deform_source *source); /* NULL is fine; returns NULL */

#endif
