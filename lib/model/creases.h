/* SPDX-License-Identifier: Apache-2.0 */
/* Where a surface has hard edges: corners of triangles whose normals differ at one vertex. Made once, at rest. */
#ifndef MODAL_MODEL_CREASES_H
#define MODAL_MODEL_CREASES_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"

/* A wedge is a vertex with those of its corners that share one normal (H. Hoppe, Progressive Meshes, 1996). Wedges below n_vertices are the vertices
 * themselves: each has its first triangle; further wedges follow, ordered by their vertex. */
typedef struct modal_creases {
    int64_t n_vertices, n_triangles, n_wedges;
    int32_t *source;       /* [n_wedges - n_vertices] vertex of each further wedge, ascending */
    int32_t *corners;      /* [n_triangles, 3] wedge of each corner */
    int64_t *face_offsets; /* [n_wedges + 1] CSR: triangles of each wedge */
    int32_t *faces;        /* [face_offsets[n_wedges]] ascending in each wedge; a triangle that holds a vertex twice is there once */
} modal_creases;

void modal_creases_free(modal_creases *creases);

/* The vertex of a wedge. */
static inline int32_t modal_creases_vertex(const modal_creases *creases, int32_t wedge)
{
    return wedge < creases->n_vertices ? wedge : creases->source[wedge - creases->n_vertices];
}

/* Two triangles of a vertex are of one wedge where edges of the vertex that are no creases lead from one to the other. An edge is a crease where
 * the normals of its two triangles meet at more than `degrees`, 0 to 180 (1e-9 rad more, so that rounding does not decide), and where
 * three or more triangles meet. Triangles without area do not count; each goes to the first neighbour at the vertex that has an area, and joins the
 * neighbours on its two sides where their normals allow it.
 * triangles: [n_triangles, 3], in range; positions: [n_vertices, 3]. The caller frees creases; after an error it is zeroed.
 * Errors: MODAL_ERROR_MEMORY, MODAL_ERROR_INPUT for more than INT32_MAX wedges. Thread-safe. */
modal_status modal_creases_make(modal_creases *creases, int64_t n_vertices, int64_t n_triangles, const int32_t *triangles,
                                const double *positions, double degrees, modal_error *err);

/* Like modal_creases_make, but corners of a vertex are of one wedge where their numbers are the same.
 * numbers: [n_triangles, 3]. */
modal_status modal_creases_of_numbers(modal_creases *creases, int64_t n_vertices, int64_t n_triangles, const int32_t *triangles,
                                      const int32_t *numbers, modal_error *err);

/* Which edges of a basis are hard. */
typedef struct modal_crease_rule {
    double degrees; /* those that are sharper at rest; negative: none is, and there is no table to make */
    int by_normals; /* instead those where corners had normals of their own in the user's file (look.triangle_normal; a shape without: none) */
} modal_crease_rule;

/* Of a shape, in stored order. */
modal_status modal_creases_of_shape(modal_creases *creases, const modal_shape *shape, modal_crease_rule rule, modal_error *err);

/* Of all objects, one after the other, as frames have them. triangles: [their number, 3] of such a frame, in stored or in the user's order. */
modal_status modal_creases_of_objects(modal_creases *creases, const modal_basis *basis, modal_crease_rule rule, int stored_order,
                                      const int32_t *triangles, modal_error *err);

#endif
