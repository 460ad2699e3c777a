/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool says about itself, all of it made from its one option table: --help, --version, the
 * manual page and the completion of its command line. */
#ifndef TOOLS_COMMON_DOCUMENTS_H
#define TOOLS_COMMON_DOCUMENTS_H

#include "tools/common/tool.h"

/* Prints to stdout what --help, --version or --generate ask for. Returns nonzero when one of them was
 * given, and the program should end. *status: MODAL_ERROR_USAGE, and 0 returned, for a --generate
 * of something else, or what program->generate returns. */
int tool_document_print(const tool_program *program, const tool_arguments *arguments,
                        modal_status *status, modal_error *err);

#endif
