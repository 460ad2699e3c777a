/* SPDX-License-Identifier: Apache-2.0 */
/* A column in double precision, for the references of the operations on curvature. */
#ifndef MODAL_KERNELS_CURVATURE_REF_H
#define MODAL_KERNELS_CURVATURE_REF_H

#include "lib/base/memory.h"

typedef struct modal_curvature_columns {
    int64_t n_vertices;
    double *positions, *normals, *tensors; /* [n_vertices, 3] */
    double *areas;                         /* [n_vertices] */
} modal_curvature_columns;

/* After a failure modal_curvature_columns_free is due as well. */
modal_status modal_curvature_columns_new(modal_curvature_columns *columns, int64_t n_vertices, modal_error *err);
void modal_curvature_columns_read(modal_curvature_columns *columns, int64_t column, const float *positions,
                                  const float *normals);
void modal_curvature_columns_free(modal_curvature_columns *columns);

#endif
