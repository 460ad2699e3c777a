/* SPDX-License-Identifier: Apache-2.0 */
/* What - stands for: a file in main memory, by a path that every reader and writer of this process can open. Messages show a name instead
 * of that path. */
#ifndef TOOLS_COMMON_PIPES_H
#define TOOLS_COMMON_PIPES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

/* How many bytes one of them may have; 0, as at the start: what the machine has left. */
void tool_pipe_set_limit(int64_t bytes);

/* MODAL_ERROR_MEMORY "NAME: WHAT N bytes, --memory-limit ..." where that is more. */
modal_status tool_pipe_check_limit(const char *name, const char *what, double bytes, modal_error *err);

/* Keeps bytes (NULL: none yet). `shown` stands for the path in messages. *path stays valid; the file ends with the process. */
modal_status tool_pipe_keep(const void *bytes, int64_t n_bytes, const char *shown, const char **path, modal_error *err);

/* Where *path is "-": reads all of standard input, once, and *path becomes that of the file. Waits for the input; signals end it. */
modal_status tool_pipe_take(const char **path, modal_error *err);

/* The bytes of the file at `path`, if it is one of these, are not wanted any more: their memory is free. */
void tool_pipe_forget(const char *path);

/* For provenance: "-" in the place of such a path; any other path is returned as it is. */
const char *tool_pipe_shown(const char *path);

/* In a text of `size` bytes at most: names in the place of paths. */
void tool_pipe_name(char *text, size_t size);

#endif
