/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of meshes over memory instead of a file: for tests and fuzzing. `data` has `length`
 * bytes and need not be terminated; `name` stands for the file in messages. Results and errors are
 * those of mesh_read.h, bou.h, obj.h and surface_read.h. */
#ifndef MODAL_FORMATS_MESH_PARSE_H
#define MODAL_FORMATS_MESH_PARSE_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* By content, or by the extension of `name`. */
modal_status modal_mesh_parse(const char *data, int64_t length, const char *name,
                              modal_volume_mesh *mesh, modal_error *err);
modal_status modal_msh_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err);
/* Like modal_msh_parse, of the caller's memory, which it reads once and forgets meanwhile (modal_text_let_go). */
modal_status modal_msh_parse_passing(char *data, int64_t length, const char *name, modal_volume_mesh *mesh, modal_error *err);
modal_status modal_veg_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err);
modal_status modal_medit_parse(const char *data, int64_t length, const char *name,
                               modal_volume_mesh *mesh, modal_error *err);
modal_status modal_inp_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err);
modal_status modal_vtk_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err);
modal_status modal_vtu_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err);
/* TetGen's files; .face may be absent: its data NULL. */
typedef struct modal_tetgen_files {
    struct {
        const char *data, *name;
        int64_t length;
    } node, ele, face;
} modal_tetgen_files;
modal_status modal_tetgen_parse(const modal_tetgen_files *files, modal_volume_mesh *mesh, modal_error *err);
modal_status modal_bou_parse(const char *data, int64_t length, const char *name, int64_t **numbers,
                             int64_t *count, modal_error *err);
/* n_collapsed: as in surface_read.h. */
modal_status modal_obj_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err);
modal_status modal_stl_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err);
modal_status modal_ply_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err);
modal_status modal_off_parse(const char *data, int64_t length, const char *name,
                             modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err);
/* Of .vtk files with polygons and strips (POLYDATA). */
modal_status modal_vtk_surface_parse(const char *data, int64_t length, const char *name,
                                     modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err);
/* By the extension of `name`, or by content. */
modal_status modal_surface_parse(const char *data, int64_t length, const char *name,
                                 modal_surface_mesh *surface, int64_t *n_collapsed,
                                 modal_error *err);

#endif
