/* SPDX-License-Identifier: Apache-2.0 */
/* --parts FOLDER: where the files are that shapes of an assembly lie in (formats/basis.md, "Assemblies"). */
#ifndef TOOLS_COMMON_PARTS_H
#define TOOLS_COMMON_PARTS_H

#include "tools/common/tool.h"

#define TOOL_OPTION_PARTS                                                                                     \
    {"parts", 0, "FOLDER", NULL, "Look for the files of an assembly's shapes in this folder (default: its own).", \
     TOOL_READS}

/* Before the first basis is read. MODAL_ERROR_INPUT where it is no folder. */
modal_status tool_use_parts(const tool *t, modal_error *err);

#endif
