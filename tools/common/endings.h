/* SPDX-License-Identifier: Apache-2.0 */
/* The ending of an output's name says which kind of file it is, and so which tool makes it. */
#ifndef TOOLS_COMMON_ENDINGS_H
#define TOOLS_COMMON_ENDINGS_H

#include "lib/base/status.h"

/* The ending of the last part of a path, ".glb"; "": it has none, as "out" and "out.glb/". */
const char *tool_ending(const char *path);

/* Which of names[n] the ending is, small and capital letters alike: ".glb" of "glb"; -1: none. names[i] may be NULL. */
int tool_ending_find(const char *path, const char *const *names, int n);

/* MODAL_ERROR_USAGE where the ending means a kind of file that another tool makes; the line names that tool. `own`: the endings of
 * `program`, with blanks between them. An ending that no tool has means nothing. */
modal_status tool_ending_check(const char *path, const char *program, const char *own, modal_error *err);

#endif
