/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run: all that it reads and all that it writes, known by device and inode, so that links of both kinds
 * lead to the same file. In whatever order they become known, a file that would be written and is read, or would be
 * written twice, ends the run: MODAL_ERROR_USAGE, and nothing that exists is replaced. */
#ifndef TOOLS_COMMON_FILES_H
#define TOOLS_COMMON_FILES_H

#include "lib/base/status.h"

/* From now on every file that the library and the formats open is known as read (modal_disk_watch). One that must not
 * be read cannot be opened, and tool_files_check tells why, whatever becomes of that error. */
void tool_files_watch(void);

/* A file that the run will read; it may be missing. */
void tool_files_read(const char *path);

/* What a path that is written stands for. */
typedef enum tool_files_extent {
    TOOL_FILES_ONE,    /* a file */
    TOOL_FILES_FOLDER, /* a folder that is replaced, with all that is in it */
    TOOL_FILES_INTO    /* a file, or a folder that another program writes into: no other output is in it, inputs may be */
} tool_files_extent;

/* A file that the run will write, replace or remove, there or not. `option` that
 * names it, "--report", or NULL; borrowed. Who asks again for the same place says so by the same `owner`. */
modal_status tool_files_write(const char *path, tool_files_extent extent, const char *option, const void *owner, modal_error *err);

/* The one exception: `output` may replace `input`, which the run goes on from and has read before. Both borrowed. */
void tool_files_continue(const char *input, const char *output);

/* MODAL_ERROR_USAGE where a file was refused in this run. */
modal_status tool_files_check(modal_error *err);

/* Forgets all files and refusals, at the end of a run. */
void tool_files_forget(void);

#endif
