/* SPDX-License-Identifier: Apache-2.0 */
/* What a mesh file or a material asks for and no tool supports: an error, unless --ignore names its kind. */
#ifndef TOOLS_COMMON_IGNORE_H
#define TOOLS_COMMON_IGNORE_H

#include "lib/model/volume_mesh.h"
#include "tools/common/tool.h"

#define TOOL_OPTION_IGNORE \
    {"ignore", 0, "KIND[,...]", NULL, \
     "Continue without what the mesh file or a material asks for and is not supported, instead of ending with exit code 3: boundary (lines of " \
     "*BOUNDARY), constraints (*TIE, *EQUATION ...), elements (*SPRING, *MASS, shells ...), preload (*STATIC before *FREQUENCY ...), material " \
     "(*PLASTIC, fibres, Prony terms ...), keywords (unknown ones), or all. Each is named in a warning (formats/meshes.md).", 0}

/* The names of the kinds, as --ignore and reports have them. */
extern const char *const tool_unsupported_names[MODAL_UNSUPPORTED_KINDS];

/* Reads TOOL_OPTION_IGNORE: bit k of *kinds is kind k. MODAL_ERROR_USAGE: a kind that does not exist. */
modal_status tool_ignore_read(const tool_arguments *arguments, unsigned *kinds, modal_error *err);

/* `notes` has the texts of each kind, of the file at `path`. Warns of those whose kind is in `ignored` (bits); MODAL_ERROR_INPUT, with all
 * others and the option that continues without them. */
modal_status tool_ignore(tool *t, const char *path, const modal_notes notes[MODAL_UNSUPPORTED_KINDS], unsigned ignored, modal_error *err);

#endif
