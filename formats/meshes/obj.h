/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces in Wavefront's OBJ format. */
#ifndef MODAL_FORMATS_OBJ_H
#define MODAL_FORMATS_OBJ_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Reads the polygons of an OBJ file.
 *   v   x y z, then nothing, a weight, or a colour (3 or 4 numbers); only x y z are kept, in the
 *       file's unit (m by this project's convention)
 *   vt  u [v [w]]; v is 0 where it is missing, w is not kept
 *   f   3 or more corners v, v/vt, v//vn or v/vt/vn, alike within a face, what follows a slash may
 *       be missing; negative numbers count back from the last vertex read. A polygon becomes the fan
 *       of triangles around its first corner, in its orientation. A vertex twice in a row is refused
 *       here (modal_surface_read leaves out such triangles and counts them).
 *   g   the named part of the faces that follow, by the first name; without a name: none
 *   usemtl  the name of the material of the faces that follow, to the end of the line; without a name: none
 *   mtllib  files of materials, kept as the line says it (100 lines at most)
 *   vn  a normal; only which corners have equal ones is kept, where every face has them
 * vp, o, s, mg, l, p and the other grouping and rendering keywords are
 * ignored; free-form curves and surfaces are refused, and so is every unknown keyword. A backslash
 * joins lines, # begins a comment.
 *
 * `surface` is overwritten, so it must hold nothing; the caller owns the result and gives it to
 * modal_surface_mesh_free. Vertices keep their order, also those that no face uses. uv and
 * triangle_uv are there when every face has texture coordinates; where only some have them, or
 * none, or numbers of vt are beyond the last, both are NULL and n_uv is 0, since a triangle without uv
 * has no place in triangle_uv; such numbers, of vn too, are told in `notes`. triangle_normal is there when every face has normals
 * and every vn of the file is three finite numbers; one that is not is told in `notes`.
 *
 * Errors: MODAL_ERROR_INPUT for a missing or empty file, a folder, and content that breaks these
 * rules (also: a number out of range, a vertex repeated in a face, a coordinate that is not finite,
 * no faces), with `FILE:LINE:` in front; MODAL_ERROR_SYSTEM for a file that cannot be read;
 * MODAL_ERROR_MEMORY. The surface is empty (zeroed) after one. The format has no end mark, so a
 * file that was cut off between lines reads as a smaller surface. Thread-safe. */
modal_status modal_obj_read(const char *path, modal_surface_mesh *surface, modal_error *err);

/* The names alone: material_names and libraries of the surface, as modal_obj_read gives them, without a look at other lines than
 * usemtl and mtllib; so names are there also where no face follows the first of them, which modal_obj_read forgets. The caller frees
 * the surface; after an error it is zeroed. */
modal_status modal_obj_parse_names(const char *data, int64_t length, const char *name, modal_surface_mesh *surface, modal_error *err);
modal_status modal_obj_read_names(const char *path, modal_surface_mesh *surface, modal_error *err);

#endif
