/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools that read meshes and surfaces do alike: --unit and --scale, and what is said of the size. */
#ifndef TOOLS_COMMON_UNITS_H
#define TOOLS_COMMON_UNITS_H

#include "lib/mesh/units.h"
#include "tools/common/tool.h"

/* For the table of options; `of` says what they are of, and ends a sentence. */
#define TOOL_OPTIONS_UNITS(of)                                                                                        \
    {"unit", 0, "m|cm|mm|um|in|ft", NULL,                                                                             \
     "Unit of length of files that have none, " of                                                                    \
     " Default: m. The materials of an .inp file are taken to be in the consistent system of that unit: mm, N, t, "   \
     "MPa, for instance.",                                                                                            \
     TOOL_FIRST},                                                                                                     \
        {"scale", 0, "F", "1", "Make the body F times as large; its materials stay what they are.", 0}

typedef struct tool_units {
    const modal_unit *unit; /* the metre where none was given */
    int is_given;
    double scale;
} tool_units;

/* MODAL_ERROR_USAGE names the units that there are. */
modal_status tool_units_read(const tool_arguments *arguments, tool_units *units, modal_error *err);
/* The unit that an option names, or the metre. */
modal_status tool_unit_read(const tool_arguments *arguments, const char *option, const modal_unit **unit,
                            modal_error *err);

/* Says the box, in metres. Warns of a body above 100 m or below 0.1 mm, with the
 * unit that would make sense; of a file that says its own unit (is_said) with --scale alone. */
void tool_say_box(tool *t, const char *path, const tool_units *units, int is_said, const double low[3],
                  const double high[3]);

/* A mesh as its file has it becomes metres and SI. Says what the unit does to materials. Returns how many of them the file had in its own
 * units: all or none. */
int32_t tool_mesh_to_metres(tool *t, const char *path, const tool_units *units, modal_volume_mesh *mesh);

/* Warns of the first of n materials, in SI, whose density or Young's modulus no solid has, with the unit that was probably meant. Of the first
 * n_of_file, which a mesh file had in its own units, that is a --unit. */
void tool_doubt_materials(tool *t, const char *path, int32_t n, const modal_material *materials, int32_t n_of_file, const tool_units *units);
/* The same of a density alone; `who` ends with a blank, or is empty. Returns whether there was something to warn of. */
int tool_doubt_density(tool *t, const char *path, const char *who, double density, const modal_unit *of_file);

#endif
