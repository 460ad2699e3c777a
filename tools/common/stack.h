/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_COMMON_STACK_H
#define TOOLS_COMMON_STACK_H

#include "lib/base/status.h"

/* A program that is started with less than 256 KiB of stack (ulimit -s) raises its soft limit to that, and starts itself again before any library
 * begins, since threads get the limit of the start. Where the hard limit is lower, this is MODAL_ERROR_MEMORY. */
modal_status tool_check_stack(modal_error *err);

#endif
