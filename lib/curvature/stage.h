/* SPDX-License-Identifier: Apache-2.0 */
/* Curvature as a stage of frames (lib/frames/plan.h): fields of positions that are on the device, which stay there until a
 * sink takes them. The fields of stretch.h, which compare with a rest, are none of it: they are made in main memory. */
#ifndef MODAL_CURVATURE_STAGE_H
#define MODAL_CURVATURE_STAGE_H

#include "lib/curvature/curvature.h"
#include "lib/frames/plan.h"

typedef struct modal_curvature_stage {
    modal_curvature_options options; /* fields: set by modal_curvature_stage_of */
    const modal_curvature_topology *topology; /* borrowed */
    double mean_edge;                /* m, of a typical frame: as modal_curvature_new */
    int positions;                   /* array of the list that it is the curvature of */
    int arrays[MODAL_CURVATURE_FIELDS]; /* array that a field becomes, or -1 */
    int areas;                       /* array of the areas, or -1 */
} modal_curvature_stage;

/* A stage that makes the fields for which stage->arrays has a place. *stage is borrowed as long as the slots live. */
modal_frame_stage modal_curvature_stage_of(modal_curvature_stage *stage);

#endif
