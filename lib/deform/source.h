/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a trajectory, made by a deformer, as lib/frames takes them. */
#ifndef MODAL_DEFORM_SOURCE_H
#define MODAL_DEFORM_SOURCE_H

#include "lib/deform/deform.h"
#include "lib/frames/frames.h"
#include "lib/model/trajectory.h"

/* Which output an array is: modal_array.source. Those from MODAL_FROM_STAGES on are made by stages and steps. */
enum {
    MODAL_FROM_POSITIONS,
    MODAL_FROM_NORMALS,
    MODAL_FROM_DISPLACEMENT,
    MODAL_FROM_TANGENTS,
    MODAL_FROM_SPEED,
    MODAL_FROM_STAGES
}; /* the deformer's own numbers of its outputs, too (deform_private.h) */

/* Everything is borrowed as long as the source lives. */
typedef struct modal_deform_source_request {
    modal_deformer *deformer; /* whose request has the outputs of the arrays; speeds as modal_deform_speed_kind says */
    const modal_trajectory *trajectory;
    int64_t start, step;      /* frame i is the trajectory's start + i step */
    const struct modal_frame_plan *plan; /* the deformer's */
    int single;               /* nonzero: frames are handed on one at a time, as a stage wants them */
    int lead;                 /* nonzero: with each batch but that of frame 0 the frame before it is made, too, and not handed on: stages that look back
                               * find it on whichever device makes the batch */
} modal_deform_source_request;

typedef struct modal_deform_source modal_deform_source;

/* Which speeds the objects of a trajectory have. */
modal_speed_kind modal_deform_speed_kind(const modal_trajectory *trajectory);

/* *as is for modal_frames_run, and good until the source is deleted. MODAL_ERROR_MEMORY where a batch has no room for the frame before it. */
modal_status modal_deform_source_new(modal_deform_source **source, const modal_deform_source_request *request,
                                     modal_frame_source *as, modal_error *err);
modal_deform_source *modal_deform_source_delete(modal_deform_source *source); /* NULL is fine; returns NULL */

#endif
