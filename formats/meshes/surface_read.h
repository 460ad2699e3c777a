/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the surfaces that users hand over: .obj, .stl, .ply, .off, .vtk of polygons. meshes.md says what is accepted. */
#ifndef MODAL_FORMATS_SURFACE_READ_H
#define MODAL_FORMATS_SURFACE_READ_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Reads by the extension of the path; where it is another one, a file that begins with ply, OFF (or
 * COFF, NOFF, CNOFF) or solid, or has the size of a binary STL, is of that kind. Polygons become fans of
 * triangles, in the file's order; vertices keep theirs, also those that no face uses (STL, which has no vertices, gives them
 * in the order of their first corner).
 *
 * `surface` is overwritten, so it must hold nothing; the caller owns the result and gives it to
 * modal_surface_mesh_free. *n_collapsed gets the number of triangles that were left out because two
 * of their corners are one vertex (.obj: always refused); where it is NULL such a triangle is an
 * error. Errors as modal_mesh_read's. Thread-safe. */
modal_status modal_surface_read(const char *path, modal_surface_mesh *surface,
                                int64_t *n_collapsed, modal_error *err);

/* Whether the path has an extension of a surface, or is a .vtk file that says so. */
int modal_surface_is_named(const char *path);

/* Whether the first bytes are those of a surface, whatever the name is: for what came through a pipe. */
int modal_surface_is_inside(const char *path);

#endif
