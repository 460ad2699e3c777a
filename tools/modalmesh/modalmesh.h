/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modalmesh: what is asked for, the meshing libraries (each in a process of its own), and
 * the reports. */
#ifndef TOOLS_MODALMESH_H
#define TOOLS_MODALMESH_H

#include <stdio.h>

#include "lib/mesh/surface_check.h"
#include "lib/mesh/surface_repair.h"
#include "lib/model/volume_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a meshing library is given and asked for. */
typedef struct modalmesh_order {
    const char *path;                  /* of the input: a library that opens it itself; for messages */
    const modal_surface_mesh *surface; /* or NULL: open the path */
    const int32_t *patch;              /* [n_triangles] of each triangle, from 0 */
    int32_t n_patches;
    int32_t n_groups;                  /* the first patches that become groups */
    const char *const *group_names;    /* [n_groups], or NULL: patch_0, patch_1 ... */
    const int32_t *shell;              /* [n_triangles] closed part of each triangle, from 0 */
    int32_t n_shells;
    const int32_t *outer;              /* [n_shells] the solid's outer shell that a cavity is in; itself if none */
    double volume;                     /* m^3 of the solids */
    double low[3], high[3];            /* m, the surface's box */
    double metres;                     /* that the unit of the path has, its scale included; surfaces are in metres */
    const char *unit;                  /* Gmsh's name for that of the path: "MM" */
    double size;                       /* edge length wanted, m; 0: the library's choice */
    int64_t n_nodes;                   /* at most, 0: any number; modalmesh_run's affair */
    int order;                         /* 1 or 2 */
    double wrap;                       /* m, > 0: of cgal, a closed surface within this of the surface */
    int tell;                          /* where modalmesh_expect writes what is to come; modalmesh_run's affair */
} modalmesh_order;

/* An engine is a module of that name beside the program (both libraries have classes of the same names,
 * and few runs need either), with one function `modalmesh_NAME`. It is called in a process of its own: it
 * may crash, print, change the locale and leave memory behind. Meshes come without check. `told` is zeroed
 * before. modalmesh_cgal makes a surface, which comes back as nodes and one group: three of its nodes a triangle. */
typedef struct modalmesh_told {
    double seconds;      /* that the library itself took; added */
    double distances[2]; /* m, --wrap: of the new surface's points to the old one at most, and of the old one's to it */
} modalmesh_told;
typedef modal_status modalmesh_engine(const modalmesh_order *order, modal_volume_mesh *mesh, modalmesh_told *told,
                                      modal_error *err);
modalmesh_engine modalmesh_gmsh, modalmesh_tetgen, modalmesh_cgal;

/* The version that this program was built with, NULL: without. */
const char *modalmesh_engine_version(const char *name);

/* Before meshing, of the box in metres and the solids' volume in m^3 (0: not known): MODAL_ERROR_USAGE where the size is
 * not within a thousandth of the longest side and that side; else tells the user how many elements to expect, where a size or a surface
 * says it. */
modal_status modalmesh_expect(const modalmesh_order *order, const double low[3], const double high[3], double volume,
                              modal_error *err);

/* The name of a patch's group. */
void modalmesh_group_name(const modalmesh_order *order, int32_t patch, char name[256]);

/* What modalmesh_expect writes: shorter than a pipe's atomic writes. */
typedef struct modalmesh_expected {
    char kind;       /* 'E' */
    int is_box;      /* of the whole box: at most */
    double cells;    /* cubes of the size's edge in it */
    double beside;   /* tetrahedra beside a surface of smaller triangles, where the library keeps them */
} modalmesh_expected;

struct tool;

/* Runs an engine in a child process. Its own error is passed on; a crash (with the stage it
 * was at) or an end without an answer is MODAL_ERROR_SYSTEM, more than `seconds` MODAL_ERROR_NOT_CONVERGED, both with the name. What the
 * library prints is said by `t` with --verbose, line by line, else lost. */
modal_status modalmesh_run(struct tool *t, const char *name, const modalmesh_order *order, double seconds,
                           modal_volume_mesh *mesh, modalmesh_told *told, modal_error *err);

/* Replaces the surface by a closed one around it, no point of which is farther than `distance` from it, by the module
 * cgal, and tells what was reached. MODAL_ERROR_USAGE: a distance that does not fit the surface's box. */
modal_status modalmesh_wrap(struct tool *t, const char *path, double distance, double time_limit, modal_surface_mesh *surface,
                            modal_error *err);

/* Makes a mesh that was checked better (lib/mesh/improve.h) within `distance` (m, < 0: a thousandth of the diagonal of the box low, high) of
 * its surface, and tells what was done, with the quality before and after. MODAL_ERROR_USAGE: a distance that does not fit the box. */
modal_status modalmesh_improve(struct tool *t, const char *path, double distance, const double low[3], const double high[3],
                               modal_volume_mesh *mesh, modal_error *err);

double modalmesh_seconds(void); /* monotonic, in modules, too */

/* A mesh of n_nodes and n_elements of one type with tags from 1 and everything else empty; nodes and
 * element_nodes are to be filled. */
modal_status modalmesh_new_mesh(modal_volume_mesh *mesh, int64_t n_nodes, int64_t n_elements,
                                int type, modal_error *err);

/* The materials of the mesh as JSON (formats/materials.md). A material whose elements are no group of the mesh
 * gets one, material_NAME: so before the mesh is written. MODAL_ERROR_INPUT: a name that is no UTF-8. Errors of
 * the file are the caller's to see. */
modal_status modalmesh_write_materials(FILE *file, modal_volume_mesh *mesh, modal_error *err);

/* Nodes that the file holds (mesh->conditions) become groups, held_xyz and so on, and the user is told how modalpack holds
 * them. MODAL_ERROR_INPUT: a group of that name is there. */
modal_status modalmesh_keep_conditions(struct tool *t, modal_volume_mesh *mesh, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
