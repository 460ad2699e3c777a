/* SPDX-License-Identifier: Apache-2.0 */
/* Smooth normals of a GLB. The area-weighted normal n = sum of the triangles' area vectors changes with a displacement d by
 * dn, linear in d, so the unit normal N = n / |n| changes to first order by
 *
 *     G(d) = (dn - N (N . dn)) / |n|.
 *
 * The base has N + G(base - X) and a target G(target), all divided by the length of the former: glTF wants unit normals in the
 * base, and viewers bring sums to length 1. So every weighted sum has the direction of N + G(u), right to second order in u. */
#ifndef MODAL_FORMATS_GLB_NORMALS_H
#define MODAL_FORMATS_GLB_NORMALS_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_glb_normals {
    int64_t n_vertices, n_triangles;
    const uint32_t *corners; /* [n_triangles, 3] borrowed */
    const double *rest;      /* [n_vertices, 3] X, borrowed */
    double *normals;         /* [n_vertices, 3] n; 0: a vertex without one, which shows +z */
    double *scale;           /* [n_vertices] 1 / |N + G(base - X)| */
    double *change, *work;   /* [n_vertices, 3] each */
} modal_glb_normals;

modal_status modal_glb_normals_init(modal_glb_normals *normals, int64_t n_vertices, int64_t n_triangles, const uint32_t *corners,
                                    const double *rest, modal_error *err);
void modal_glb_normals_free(modal_glb_normals *normals);

/* Of the base at `positions` [n_vertices, 3], to [n_vertices, 3]; before the targets. */
void modal_glb_normals_base(modal_glb_normals *normals, const double *positions, float *to);
/* Of a target, displacements [n_vertices, 3]. */
void modal_glb_normals_target(modal_glb_normals *normals, const float *target, float *to);

/* Bytes of them for one vertex. */
enum { MODAL_GLB_NORMALS_BYTES = 24 + 8 + 24 + 24 };

#endif
