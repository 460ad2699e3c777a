/* SPDX-License-Identifier: Apache-2.0 */
/* --crease DEG|vn: which edges are hard. */
#ifndef TOOLS_COMMON_CREASES_H
#define TOOLS_COMMON_CREASES_H

#include "lib/model/creases.h"
#include "tools/common/tool.h"

/* `rule` stays what it is where the option is absent and has no default. MODAL_ERROR_USAGE: neither 0 to 180 degrees nor vn. */
modal_status tool_creases_read(const tool_arguments *arguments, modal_crease_rule *rule, modal_error *err);

/* With vn: MODAL_ERROR_INPUT where no shape has normals of the user's file; shapes without are smooth, and told. The basis was read with
 * MODAL_BASIS_LOOK. */
modal_status tool_creases_check(tool *t, modal_crease_rule rule, const modal_basis *basis, const char *path, modal_error *err);

#endif
