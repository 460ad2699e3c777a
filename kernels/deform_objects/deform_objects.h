/* SPDX-License-Identifier: Apache-2.0 */
/* Deform objects: a whole scene of objects of different shapes, n and r in one launch, two for
 * several frames (B. Wang and J. Barbic, CUDA Deformers for Model Reduction, MIG 2020,
 * sections 4.3 and 4.4, equations 8 to 10; the packing is ours, kernels/deform_objects/pack.h). For
 * every frame f, object o and vertex v of it, with the object's own U, q and T = [R p]:
 *
 *   u = U_v q[f][o],  x[f][point of v] = R (xbar_v + u) + p,  d[f][point of v] = R u if asked for.
 *
 * Sizes: any, 0 included; r = 0 moves the rest shape. Points of no object are left as they are.
 * Units: m. Alignment: the poses to 16 bytes, q and outputs as floats, the pack's arrays as
 * allocated. Aliasing: outputs overlap nothing.
 * Error: the bounds of kernels/deform/deform.h with the object's own r (sums over parts of the
 * modes take no more roundings than one over all). A value that is not finite stays in its object.
 * Determinism: the same task on the same back end and instruction set gives the same bytes, and a
 * frame's bytes do not depend on the other frames of the call nor on the number of threads. */
#ifndef MODAL_KERNELS_DEFORM_OBJECTS_H
#define MODAL_KERNELS_DEFORM_OBJECTS_H

#include <stdint.h>

#include "kernels/deform_objects/pack.h"
#include "kernels/operations.h"

struct modal_deform_objects_task {
    const modal_object_pack *pack; /* the struct itself in main memory: read before the call returns, its
                                      arrays when the work is done */
    int64_t n_frames;
    const float *q;      /* [n_frames, pack->n_modes], object after object */
    const float *poses; /* T [n_frames, pack->n_objects, 3, 4] */
    float *positions;    /* [n_frames, pack->n_points, 3], written at the objects' points */
    float *displacement; /* the same, or NULL */
};

#endif
