/* SPDX-License-Identifier: Apache-2.0 */
/* How an object of a basis takes part in a scene that runs. */
#ifndef MODAL_SCENE_BODY_H
#define MODAL_SCENE_BODY_H

#include "lib/model/rigid_motion.h"

typedef struct modal_body {
    modal_step_motion motion; /* ATTACHED: to the object's parent in the basis */
    int exact;                /* nonzero: its q and v are moved by others (lib/oscillators/exact.h), and left alone */
    int linear;               /* nonzero: force eigenvalue q; 0: the shape's reduced forces */
    double alpha, beta;       /* Rayleigh: D = alpha M + beta K(0); 1/s and s */
    int tangent;              /* nonzero: beta K(q), the tangent stiffness */
    double ratio;             /* plus 2 ratio omega in every mode */
    double pose[12];         /* [R p] at the start; ATTACHED: not looked at */
    double velocity[3], spin[3]; /* FREE: p' in the world, w in the body's axes */
} modal_body;

#endif
