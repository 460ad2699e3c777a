/* SPDX-License-Identifier: Apache-2.0 */
/* A solid as the command line gives it: a mesh, its materials, the nodes that are held. For tools that compute with
 * volume meshes. */
#ifndef TOOLS_COMMON_SOLID_H
#define TOOLS_COMMON_SOLID_H

#include "lib/model/basis.h"
#include "tools/common/ignore.h"
#include "tools/common/tool.h"
#include "tools/common/units.h"

#define TOOL_OPTIONS_MATERIAL \
    {"young", 0, "E", NULL, "Young's modulus in Pa, for all elements.", 0}, \
    {"poisson", 0, "NU", NULL, "Poisson's ratio, for all elements.", 0}, \
    {"density", 0, "RHO", NULL, "Density in kg/m^3, for all elements.", 0}, \
    {"material", 0, "[GROUP=]NAME|E,NU,RHO", NULL, \
     "Material of a volume group, by its name (--material list prints them) or its constants, or of all, by its name. Goes before the three " \
     "options above and before what the mesh file says. May be repeated. A name alone: of all elements, instead of those three.", \
     TOOL_REPEATABLE | TOOL_FIRST}, \
    {"materials", 0, "FILE.json", NULL, \
     "Materials of many groups, isotropic or orthotropic (formats/materials.md); goes before the plain " \
     "options, --material before it.", \
     TOOL_READS}
#define TOOL_OPTIONS_FIXED \
    {"fixed", 0, "WHAT[@XYZ]", NULL, \
     "Nodes that do not move: a named group of the mesh, box:X,Y,Z:X,Y,Z (low and high corner), plane:X,Y,Z:NX,NY,NZ (on " \
     "the plane through the point and on the side that the normal points to), or a VegaFEM .bou file of node numbers. " \
     "2:NAME is the group of dimension 2, where several bear that name. " \
     "@x, @yz and so on at the end: these components only. May be repeated. Without it an .inp file's *BOUNDARY of zero " \
     "holds its nodes, and other bodies are free.", \
     TOOL_REPEATABLE | TOOL_READS | TOOL_FIRST}, \
    {"free", 0, NULL, NULL, "Hold nothing, whatever *BOUNDARY of an .inp file says.", 0}

typedef struct tool_solid_request {
    const char *mesh_path;
    tool_units units;
    double young, poisson, density;
    int has_material;           /* these three are given */
    const char *materials_path; /* --materials, or NULL */
    int bodies_apart;           /* 1: bodies that do not touch are nothing to warn of */
    unsigned ignored;           /* kinds of what is not supported, bits (ignore.h) */
} tool_solid_request;

/* Reads TOOL_OPTIONS_MATERIAL, TOOL_OPTIONS_FIXED, TOOL_OPTIONS_UNITS and TOOL_OPTION_IGNORE. */
modal_status tool_solid_options(const tool_arguments *arguments, const char *mesh_path, tool_solid_request *r, modal_error *err);

/* Reads the mesh, says what was found, gives it materials and fixed nodes. `solid` is zeroed before. MODAL_ERROR_INPUT also where the
 * file asks for what is not supported and --ignore does not name. */
modal_status tool_solid_read(tool *t, const tool_solid_request *r, modal_solid *solid, modal_error *err);

/* Materials: the mesh file's own, then the plain options for all, then --materials, then --material; of a mesh that has none then
 * MODAL_ASSUMED_MATERIAL, with a warning and t->assumed_material. *n_own: so many of the file's own are left, which come first. */
modal_status tool_assign_materials(tool *t, const tool_solid_request *r, modal_volume_mesh *mesh, int32_t *n_own, modal_error *err);

/* Prints the materials that have names; the exit code. */
int tool_list_materials(void);

/* solid->fixed_nodes and _components from the mesh file's conditions, or the --fixed options. */
modal_status tool_fix_nodes(tool *t, const tool_solid_request *r, modal_solid *solid, modal_error *err);

/* Sets marks[i], [n_nodes], of the nodes that a text names as --fixed does, without components: a group, box:, plane:, or a
 * file of numbers. MODAL_ERROR_INPUT "PLACE: what": nothing of the kind, or no node there. */
modal_status tool_mark_nodes(const modal_volume_mesh *mesh, const char *place, const char *text, uint8_t *marks,
                             modal_error *err);

/* The group of that name, or NULL. A name that groups of several dimensions bear needs the dimension in
 * front, "2:base". dimension < 0: any. */
modal_status tool_find_group(const modal_volume_mesh *mesh, const char *name, size_t length,
                             int dimension, const modal_group **group, modal_error *err);
/* MODAL_ERROR_INPUT that says what `name` is not, and lists the groups that there are. */
modal_status tool_unknown_group(const modal_volume_mesh *mesh, const char *option, const char *what,
                                const char *name, int length, int dimension, modal_error *err);

#endif
