/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic normals (kernels/normals_dynamic) as a stage of frames (lib/frames/plan.h), of positions that did not come from modes. */
#ifndef MODAL_DEFORM_NORMALS_STAGE_H
#define MODAL_DEFORM_NORMALS_STAGE_H

#include "lib/frames/plan.h"
#include "lib/model/basis.h"

typedef struct modal_normals_stage {
    const modal_surface *surface; /* triangles and the faces of each vertex; borrowed */
    int positions, normals;       /* arrays of the plan's list */
} modal_normals_stage;

/* *stage is borrowed as long as the slots live. */
modal_frame_stage modal_normals_stage_of(const modal_normals_stage *stage);

#endif
