/* SPDX-License-Identifier: Apache-2.0 */
/* The deformer: world positions (and normals, displacements) of every object for batches of frames,
 * on a chosen back end. x = R (xbar + U q) + p in float32.
 *
 * Two threads may work with one deformer: one submits batches, the other collects and releases
 * them, in the same order; several batches are in flight, so computing, copying back and the
 * caller's writing overlap. One thread alone collects and releases each batch before the next: where
 * memory is short, only one is in flight.
 *
 * A modal matrix U that does not fit the memory stays where it comes from, and ranges of its tiles
 * pass through the device once for every batch. The results are the same bytes for every limit,
 * batch size, and number of devices of one kind. */
#ifndef MODAL_DEFORM_DEFORM_H
#define MODAL_DEFORM_DEFORM_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/frames.h"
#include "lib/model/matrix_source.h"

typedef enum modal_normals {
    MODAL_NORMALS_NONE = 0,
    MODAL_NORMALS_RIGID,  /* R times the rest normal */
    MODAL_NORMALS_DYNAMIC /* area-weighted, of the deformed surface */
} modal_normals;

typedef enum modal_tangents {
    MODAL_TANGENTS_NONE = 0,
    MODAL_TANGENTS_RIGID,  /* R times the rest tangent */
    MODAL_TANGENTS_DYNAMIC /* of the deformed surface, from its texture coordinates */
} modal_tangents;

typedef enum modal_speed_kind {
    MODAL_SPEED_NONE = 0,
    MODAL_SPEED_RESTING, /* objects keep their poses: the length of R U q' */
    MODAL_SPEED_MOVING   /* of R' (xbar + U q) + p' + R U q' */
} modal_speed_kind;

typedef struct modal_deform_request {
    /* "auto", "ref", "cpu", "cuda" (device 0), "cuda:N", several devices as "cuda:0,1" or "cuda:all",
     * or several of any one kind, "cpu,cpu". */
    const char *back_end;
    modal_normals normals;
    modal_tangents tangents; /* both kinds need texture coordinates, dynamic ones dynamic normals */
    int displacement;      /* nonzero: also R U q, the displacement in world axes */
    modal_speed_kind speed; /* also the length of the velocity; then frames come by modal_deformer_submit_moving */
    int stored_order;      /* nonzero: vertices in the basis's stored order, else the user's */
    int packing;           /* small objects of many shapes in one launch: 0 where that is faster on the back
                            * end, 1 always, -1 never (to measure, and to test) */
    /* Of the whole sequence, frames that others make included: chooses how back ends sum, so that the same sequence has the
     * same bytes however it is cut. */
    int64_t n_frames;
    int64_t n_made; /* about how many of them this run makes: sizes the batches. 0: n_frames */
    int64_t memory_limit;  /* bytes of main memory for the deformer's own arrays, 0 = no limit */
    int64_t device_limit;  /* bytes of memory on each device, 0 = what is free there */
    int64_t taken_together; /* whoever takes frames takes so many at a time, as threads that make a file each do: a batch is a multiple
                             * of it where memory allows; 0, 1: it does not matter */
    modal_matrix_source matrix; /* read NULL: the shapes of the basis hold their modal matrices */
    int64_t direct; /* nonzero: frames come by modal_deformer_frames alone, at most so many at once (fewer where memory is short:
                     * modal_deformer_batch_frames), with any of the outputs above; then no memory is taken for frames where the
                     * device's memory is main memory, and modal matrices that the shapes of the basis hold are used where they
                     * are: the basis is borrowed. No plan, one device. */
    const int *cancelled; /* with `direct`, or NULL: where another thread makes it nonzero, modal_deformer_frames ends with
                           * MODAL_ERROR_INTERRUPTED. Borrowed. */
    /* What else is made of the frames on the device, and what of all comes to main memory (lib/frames/plan.h): the arrays
     * whose source is below MODAL_FROM_STAGES are the outputs above, each exactly once; rows 0 stands for the points.
     * Borrowed for the call, its stages as long as the deformer lives. NULL: all outputs come, as they are. */
    const struct modal_frame_plan *plan;
    const int64_t *point_numbers; /* [points of a frame] which vertex of its object messages call a point; NULL: in their
                                   * order. Borrowed as long as the deformer lives. */
} modal_deform_request;

/* One finished batch. frames has the arrays of the request's plan, in its order. The others are the outputs by name, NULL
 * where they were not asked for or do not come to main memory. Arrays are [n_frames, n_points, 3] float32 (tangents 4: their handedness, 1 or
 * -1, comes last), objects one after the other within a frame; they belong to the deformer and are valid until the batch is released. */
typedef struct modal_deform_batch {
    int64_t n_frames;
    const float *positions;
    const float *normals;
    const float *displacement;
    const float *tangents;
    const float *speed; /* [n_frames, n_points] */
    modal_frames frames;
    int engine, slot;          /* the deformer's own */
} modal_deform_batch;

typedef struct modal_deformer modal_deformer;

/* Copies what it needs of the basis (to the device, for CUDA); the basis may be freed afterwards,
 * unless it holds the modal matrices and modal_deformer_streamed_bytes is not 0.
 * Errors: MODAL_ERROR_USAGE for a request that breaks its rules, MODAL_ERROR_INPUT where a shape lacks
 * what the request needs, MODAL_ERROR_SYSTEM for a back end that was asked for and is absent, MODAL_ERROR_MEMORY
 * with the bytes needed when one frame and one range of tiles do not fit the limit. */
modal_status modal_deformer_new(modal_deformer **deformer, const modal_basis *basis,
                                const modal_deform_request *request, modal_error *err);
modal_deformer *modal_deformer_delete(modal_deformer *deformer); /* NULL is fine; returns NULL */

/* Opens the devices of a back end for the first time in this process, which takes CUDA a quarter of
 * a second: for another thread to do, while the files are read. What fails is said by
 * modal_deformer_new. */
void modal_deform_warm_up(const char *back_end);

const char *modal_deformer_back_end(const modal_deformer *deformer); /* "cpu", "cuda:0,cuda:1" */
const char *modal_deformer_kind(const modal_deformer *deformer);     /* "ref", "cpu", "cuda" */
const char *modal_deformer_device(const modal_deformer *deformer);   /* name of the device */
int modal_deformer_n_devices(const modal_deformer *deformer);
int64_t modal_deformer_n_points(const modal_deformer *deformer);     /* of one frame, all objects */
int64_t modal_deformer_batch_frames(const modal_deformer *deformer); /* most frames of a batch */
/* The object that point 0 <= point < n_points of a frame belongs to, and which of its vertices messages call it. */
void modal_deformer_point(const modal_deformer *deformer, int64_t point, int32_t *object, int64_t *vertex);
/* Bytes of modal matrices that a batch reads, since they stay outside; 0 where all fit. */
int64_t modal_deformer_streamed_bytes(const modal_deformer *deformer);

/* In messages the frames that are submitted from now on are first, first + step, ...; without this,
 * 0, 1, ... */
void modal_deformer_number_frames(modal_deformer *deformer, int64_t first, int64_t step);

/* Starts a batch of n_frames <= modal_deformer_batch_frames frames; waits for a free slot.
 * q: [n_frames, total modes] float64; frames: [n_frames, n_objects, 3, 4] float64 or NULL for the
 * rest poses. Both are read before the call returns. */
modal_status modal_deformer_submit(modal_deformer *deformer, int64_t n_frames, const double *q,
                                   const double *poses, modal_error *err);
/* The same with the rates of change of q and, where speeds are those of moving objects, of the poses, shaped as these. */
modal_status modal_deformer_submit_moving(modal_deformer *deformer, int64_t n_frames, const double *q, const double *poses,
                                          const double *q_rates, const double *pose_rates, modal_error *err);
/* Waits for the oldest submitted batch that is not collected yet. Every value of a batch is finite: where one
 * is not, MODAL_ERROR_INPUT with its frame, object and vertex, and no batch is to be released. */
modal_status modal_deformer_collect(modal_deformer *deformer, modal_deform_batch *batch,
                                    modal_error *err);
/* Gives the batch's slot back. */
void modal_deformer_release(modal_deformer *deformer, modal_deform_batch *batch);
/* Where frames go, [n_frames, n_points, 3], of tangents [n_frames, n_points, 4], of speeds [n_frames, n_points]; NULL: not wanted,
 * which positions always are. No alignment is asked for. */
typedef struct modal_deform_arrays {
    float *positions, *normals, *displacement, *tangents, *speed;
} modal_deform_arrays;

/* Whole frames into arrays of the caller, by one pass over the modal matrices: of a deformer whose request says `direct`, which
 * has no batches. q, poses and their rates as modal_deformer_submit_moving has them for n_frames >= 1 frames, at most
 * modal_deformer_batch_frames; rates are looked at where `to` has speeds. Outputs that the request does not have are
 * MODAL_ERROR_USAGE. Values that are not finite are MODAL_ERROR_INPUT; after any error the arrays hold anything. One thread at a
 * time. */
modal_status modal_deformer_frames(modal_deformer *deformer, int64_t n_frames, const double *q, const double *poses, const double *q_rates,
                                   const double *pose_rates, const modal_deform_arrays *to, modal_error *err);
/* Wakes both threads with MODAL_ERROR_INTERRUPTED: for when one of them has failed. */
void modal_deformer_cancel(modal_deformer *deformer);

/* The triangles of the whole scene in the deformer's point numbering: *triangles becomes
 * [*n_triangles, 3], owned by the caller; *points gets the number of points. In the user's order
 * both vertices and triangles are the user's. */
modal_status modal_deform_topology(const modal_basis *basis, int stored_order, int64_t *points,
                                   int64_t *n_triangles, int64_t **triangles, modal_error *err);

#endif
