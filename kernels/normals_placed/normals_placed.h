/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic normals and the positions that they are made of, put in their places in finished frames: normals_dynamic
 * and two reorders (kernels/normals_dynamic, kernels/reorder) without writing normals in the stored order first and
 * without reading both again.
 *
 *   normals[base[c] + target[v]] = the normal of vertex v in column c,
 *   positions[base[c] + target[v]] = x[c][v]
 *
 * Sizes, alignment, errors, the meaning of a normal: as there; the bytes are those of the three. target[v] are
 * different from each other; NULL stands for target[v] = v. Aliasing: the outputs overlap nothing.
 *
 * Two ways. With a target, normals are made in the stored order and scattered. With `source`, its inverse, and a ring in
 * the places' order (modal_normals_order_corners), place i gathers: the normal of vertex source[i], and its position, are
 * written where base[c] + i is, whole lines at a time. Where places and vertices are near each other that is the faster
 * way, elsewhere the slower one. The bytes are the same.
 *
 * The check of modal_reorder_task: *nonfinite, where given, becomes 1 if a float that is written is NaN or infinite.
 *
 * There is no CPU version: there the product is done in the same pass (kernels/deform_normals). */
#ifndef MODAL_KERNELS_NORMALS_PLACED_H
#define MODAL_KERNELS_NORMALS_PLACED_H

#include "kernels/normals_dynamic/normals_dynamic.h"

/* Errors: also MODAL_ERROR_MEMORY. */
struct modal_normals_placed_task {
    modal_normals_dynamic_task surface; /* `normals` is not looked at */
    const int32_t *target;              /* [n_vertices] or NULL; not looked at with a source */
    const int32_t *source;              /* [n_vertices] or NULL: source[target[v]] = v, and surface.ring is that of the places;
                                         * the corners are those of the vertices as ever */
    const int64_t *base;                /* [n_columns] in points */
    float *positions, *normals;         /* [.., 3] */
    int32_t *nonfinite;                 /* or NULL; in the back end's memory or in pinned main memory */
};

#endif
