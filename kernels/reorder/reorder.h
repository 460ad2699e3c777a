/* SPDX-License-Identifier: Apache-2.0 */
/* Reorder: columns in the stored order of vertices into the layout of finished frames.
 *
 *   out[base[c] + i] = in[c][source[i]],   i = 0 .. n_vertices - 1,   `width` floats each
 *
 * source[i] is the stored index of the user's vertex i (the inverse of user_vertex), so reads are
 * scattered within a column and writes are contiguous; NULL stands for source[i] = i. With a target it is
 *
 *   out[base[c] + target[i]] = in[c][i]
 *
 * instead, for columns whose points are not together; target[i] >= 0 are different from each other. base[c] is the
 * point where the column's object begins in its frame, frame * n_points + first point of the object.
 * Sizes: any, 0 included. Alignment: as their types. Aliasing: out overlaps nothing; columns write
 * to disjoint ranges. Exact: bytes are copied.
 *
 * The check: where `nonfinite` is given, *nonfinite becomes 1 if a float that is copied is NaN or infinite, and
 * stays as it is otherwise. Every value of a finished frame is copied once by this operation, when it is
 * in a register or a cache anyway, so it is the place where a batch is proven finite: whatever made the
 * value, on every back end, and nothing that no frame has (lanes of a tile past the last vertex). */
#ifndef MODAL_KERNELS_REORDER_H
#define MODAL_KERNELS_REORDER_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_reorder_task {
    int64_t n_vertices, n_columns;
    int32_t width;         /* floats a vertex, 3 or 4 */
    const float *in;       /* [n_columns, n_vertices, width] */
    const int32_t *source; /* [n_vertices] or NULL */
    const int64_t *base;   /* [n_columns] in points */
    float *out;            /* [.., width], n_vertices points written from each base[c] on */
    const int32_t *target; /* [n_vertices] or NULL; then source is NULL */
    int32_t *nonfinite;    /* or NULL; in the back end's memory or in pinned main memory */
};

#endif
