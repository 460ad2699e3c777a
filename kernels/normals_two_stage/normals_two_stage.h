/* SPDX-License-Identifier: Apache-2.0 */
/* Area-weighted vertex normals in two stages (Wang and Barbic 2020, section 4.2, the method they
 * chose): the cross product of every triangle is stored, then every vertex sums those of its faces.
 *
 *   f[c][t] = (x_1 - x_0) x (x_2 - x_0) for triangle t = (0, 1, 2)
 *   N[c][v] = sum over faces t of v of f[c][t],   normal = N / |N|
 *
 * The same normals as normals_dynamic but for rounding, and for vertices that a triangle holds
 * twice, whose cross product is zero either way. The second implementation, kept to be measured: it
 * computes a cross product once instead of three times, but writes and reads 12 bytes a triangle and
 * column more. With vertices in an order of locality one stage is faster on a GPU; without it, two.
 * Faces of a vertex are summed in their order; a sum of exactly zero gives the zero vector.
 * Sizes: any, 0 included. Alignment: as their types. Aliasing: the two outputs overlap nothing.
 * Error, e = FLT_EPSILON / 2, m faces, x_0 the first vertex of a face: as normals_dynamic.h,
 *   |normal - exact| <= 2 sqrt(6) g(m + 6) B / |N| + 6 e,  B = sum over faces |x_1 - x_0| |x_2 - x_0|,
 * as long as nothing overflows or underflows. The reference sums in double, stores face normals
 * rounded once, for the caller alone, and rounds once.
 * Determinism: as normals_dynamic.h. */
#ifndef MODAL_KERNELS_NORMALS_TWO_STAGE_H
#define MODAL_KERNELS_NORMALS_TWO_STAGE_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_normals_two_stage_task {
    int64_t n_vertices, n_triangles, n_columns;
    const int32_t *triangles;    /* [n_triangles, 3] */
    const int64_t *face_offsets; /* [n_vertices + 1] */
    const int32_t *faces;        /* [face_offsets[n_vertices]], a face once for each of its vertices */
    const float *positions;      /* [n_columns, n_vertices, 3] */
    float *face_normals;         /* f [n_columns, n_triangles, 3], written */
    float *normals;              /* [n_columns, n_vertices, 3], written */
};

#endif
