/* SPDX-License-Identifier: Apache-2.0 */
/* The natural motions of a tree of objects, by which errors of its steps are estimated (drift.h): frequencies of an object by itself
 * are higher than those that it has with others on it.
 *
 * Small motions about the rest position, roots held: M q'' + K q = 0 in all coordinates of the tree. K is diagonal; M has, beside the
 * modal masses, what a parent's mode moves: the frame of a child, and all that hangs there, goes and turns with its interface,
 * here linearly (A. A. Shabana, Dynamics of Multibody Systems). Private to the room. */
#ifndef MODAL_FOREST_SMALL_MOTION_H
#define MODAL_FOREST_SMALL_MOTION_H

#include "lib/forest/forest_tables.h"

/* How a rigid body goes with a coordinate, small motions in world axes: every x by go + turn cross x. */
typedef struct modal_rigid_field {
    double go[3], turn[3];
} modal_rigid_field;

/* How the frame of an attached child goes with each mode of its parent, which stand at rest: fields [parent's modes]. The parent may be
 * made of other modes at the same surface. Errors: as of modal_forest_anchor. */
modal_status modal_joint_fields(const modal_shape *parent, const double *parent_pose, const modal_shape *child, const double *child_pose,
                                modal_rigid_field *fields, modal_error *err);

typedef struct modal_small_motion {
    int64_t n;            /* coordinates of the tree; 0: not known */
    int64_t *coordinates; /* [n] their places among all */
    double *omega;        /* [n] rad/s, of the natural motions */
    double *parts;        /* [n, n] a row a motion: its amplitudes are parts times q; their squares add up to q^T M q */
    double *shares;       /* [n, n] a row a motion: what of its energy of motion a coordinate has by itself */
} modal_small_motion;

/* Of a tree whose objects are at `places` [n_objects] of the task, parents before children, as the tables have them: objects, shapes,
 * frames at rest and eigenvalues of each. A tree whose coordinates are coupled, or do not ring, is not known. */
typedef struct modal_small_tree {
    int32_t n_objects;
    const int32_t *places;
    const modal_step_object *objects; /* of the task */
    const modal_step_shape *shapes;
    const double *tables;
    const double *const *poses;       /* [n_objects] at rest, [3, 4] */
    const modal_modes *const *modes;  /* [n_objects] */
} modal_small_tree;

/* The caller frees with modal_small_motion_free, also after an error. */
modal_status modal_small_motion_make(const modal_small_tree *tree, modal_small_motion *motion, modal_error *err);
void modal_small_motion_free(modal_small_motion *motion);

#endif
