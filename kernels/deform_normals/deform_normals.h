/* SPDX-License-Identifier: Apache-2.0 */
/* Deform with dynamic normals: kernels/deform and kernels/normals_dynamic in one pass, so that
 * positions are still in a cache when their normals need them. Values, errors and determinism are those
 * of the two, operation by operation: on the same back end and instruction set the bytes are those of
 * one after the other.
 *
 * Sizes, alignment, aliasing: as there. The positions of the two tasks are the same array; both have the
 * same number of vertices and columns. displacement is NULL. */
#ifndef MODAL_KERNELS_DEFORM_NORMALS_H
#define MODAL_KERNELS_DEFORM_NORMALS_H

#include "kernels/deform/deform.h"
#include "kernels/normals_dynamic/normals_dynamic.h"

/* Errors: also MODAL_ERROR_MEMORY. */
struct modal_deform_normals_task {
    const modal_deform_task *deform;
    const modal_normals_dynamic_task *normals;
};

#endif
