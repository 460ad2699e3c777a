/* SPDX-License-Identifier: Apache-2.0 */
/* How the pose of a body, its rigid frame [R p], moves, and its state. SI units. */
#ifndef MODAL_MODEL_RIGID_MOTION_H
#define MODAL_MODEL_RIGID_MOTION_H

typedef enum modal_step_motion {
    MODAL_STEP_FIXED,   /* the frame stands still */
    MODAL_STEP_DRIVEN,  /* the caller sets it for the end of each step */
    MODAL_STEP_FREE,    /* the frame moves by the forces on it */
    MODAL_STEP_ATTACHED /* it follows the parent */
} modal_step_motion;

typedef struct modal_step_pose {
    double rotation[9], position[3];    /* R row-major, p */
    double velocity[3], acceleration[3]; /* p', p'' in world axes */
    double spin[3], spin_rate[3];       /* w, al in the body's axes */
    double turn[9];                     /* attached: the interface's best-fit rotation */
} modal_step_pose;

#endif
