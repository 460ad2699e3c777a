/* SPDX-License-Identifier: Apache-2.0 */
/* A small made-up basis, and what the deformer should make of it, by plain loops in double: for the
 * unit test of the deformer and for its run on a GPU. */
#ifndef MODAL_TESTS_SYNTHETIC_H
#define MODAL_TESTS_SYNTHETIC_H

#include <stdint.h>

#include "lib/model/basis.h"

/* Three shapes of grids of `scale` * 7 x 11, 1 x 1 (r = 0) and 5 x 5 vertices; four objects of
 * shapes 0, 2, 1, 0 (so that shape 0 has two objects that are not neighbours); an order of vertices
 * and triangles that is not the user's; texture coordinates with a seam, mirrored beyond it. The allocator is the
 * library's. Returns 0 when an
 * allocation failed; the basis is then still to be freed. */
int synthetic_basis(modal_basis *basis, int64_t scale);

/* q [n_frames, modes] and poses [n_frames, n_objects, 3, 4], rotations and translations. */
void synthetic_motion(const modal_basis *basis, int64_t n_frames, double *q, double *poses);

/* One frame: positions, normals, displacement [n_points, 3] and the tolerance of positions and
 * displacement [n_points, 3] as kernels/deform/deform.h states it. frame NULL: the rest poses.
 * rigid: rest normals turned. */
void synthetic_expected(const modal_basis *basis, const double *q, const double *pose,
                        int stored_order, int rigid, double *positions, double *normals,
                        double *displacement, double *tolerance);

/* Tangents [n_points, 4] of the same frame, q NULL: of the rest shape, and the tolerance [n_points] of
 * each. Where the handedness is not certain it is 0. */
void synthetic_tangents(const modal_basis *basis, const double *q, const double *pose,
                        int stored_order, double *tangents, double *tolerance);

#endif
