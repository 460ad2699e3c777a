/* SPDX-License-Identifier: Apache-2.0 */
/* Most of a forest's objects are leaves, and alike: of one shape, hanging on parents of one shape. A pack of them,
 * neighbours in the task, is worked on at once, an object a lane of a vector: reduced_step_leaves_pack.h compiles the
 * work on an object (reduced_step_body.h) for such vectors. Between the first and the last iteration of a step a
 * pack's state stays with it; what its parents need they find where they find that of single objects. */
#ifndef MODAL_KERNELS_REDUCED_STEP_LEAVES_H
#define MODAL_KERNELS_REDUCED_STEP_LEAVES_H

#include "kernels/reduced_step/reduced_step.h"

/* Objects [first, first + count), alike (modal_step_alike), count at most the width. memory: [size] of its own from
 * begin to end, aligned to 64 bytes; scratch: [scratch_size], aligned alike, to be had by one pack after the other. */
typedef struct modal_step_leaves {
    int32_t width;
    int64_t (*size)(int64_t n_modes, int64_t parent_modes); /* doubles */
    int64_t (*scratch_size)(const modal_step_task *task);
    void (*begin)(const modal_step_task *task, int32_t first, int32_t count, double *memory); /* after the guess */
    void (*iterate)(const modal_step_task *task, int32_t first, int32_t count, int first_time, double *memory,
                    double *scratch); /* down and up */
    void (*end)(const modal_step_task *task, int32_t first, int32_t count, double *memory); /* to the task's trial */
} modal_step_leaves;
extern const modal_step_leaves modal_step_leaves_avx2, modal_step_leaves_avx512;

enum { MODAL_STEP_PACK_MODES = 32 }; /* beyond, a pack's tables would leave the caches of a core */

/* Whether a leaf may be in a pack, and an object beside it in the same one. */
static inline int modal_step_packable(const modal_step_object *o)
{
    return o->n_children == 0 && o->motion == MODAL_STEP_ATTACHED && o->n_modes <= MODAL_STEP_PACK_MODES &&
           o->parent_modes <= MODAL_STEP_PACK_MODES;
}
static inline int modal_step_alike(const modal_step_task *t, const modal_step_object *a, const modal_step_object *b)
{
    int alike = a->tree == b->tree && a->shape == b->shape && a->parent_modes == b->parent_modes &&
                a->damping == b->damping && a->tangent == b->tangent && a->alpha == b->alpha && a->n_points == b->n_points && modal_step_packable(b);
    for (int32_t i = 0; i < a->n_points && alike; i++)
        alike = t->points[a->first_point + i].table == t->points[b->first_point + i].table &&
                t->points[a->first_point + i].drag == t->points[b->first_point + i].drag;
    return alike;
}

#endif
