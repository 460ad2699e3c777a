/* SPDX-License-Identifier: Apache-2.0 */
/* The back ends of this machine, for --version of tools that have --backend. */
#ifndef MODAL_TOOLS_BACK_ENDS_H
#define MODAL_TOOLS_BACK_ENDS_H

#include <stdio.h>

/* A line each; then why there is no CUDA device, and which ones this build has no code for. */
void tool_print_back_ends(FILE *to);

#endif
