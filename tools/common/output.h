/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that exist are complete: a file is written under a temporary name in its folder, synced
 * and renamed; on an error, and on a signal, the temporary file goes.
 * A temporary name is PATH.tmp- and eight hexadecimal digits. The process that works on it holds a lock on it, which
 * ends with the process: what a killed run has left has no lock any more and is removed by the next run that makes
 * PATH. (The lock is one of the open file, F_OFD_SETLK, which HDF5's own, flock, does not see; on a folder it is flock.) */
#ifndef TOOLS_COMMON_OUTPUT_H
#define TOOLS_COMMON_OUTPUT_H

#include <stddef.h>

#include "lib/base/status.h"

typedef struct tool_output {
    char *path;
    char *temporary;       /* write here; what has this name exists and is empty */
    const char *extension; /* of a folder of frames, 000000.EXTENSION and so on; NULL: a file */
    const char *option;    /* that the path comes from, for messages; or NULL */
    int force;
    int piped; /* nonzero: the path is "-", and the temporary file is in memory */
    int lock; /* descriptor of the temporary file or folder; 0: none */
} tool_output;

/* Where an output exists that may not be replaced. */
#define TOOL_ERROR_EXISTS MODAL_ERROR_USAGE

/* Makes the temporary file, that of "-" in memory: it goes to standard output, whole, when it is committed. Refused: a terminal,
 * a path that exists (unless force), one that is not a regular
 * file (even with force), a folder that cannot be written, a file that the run reads or writes otherwise
 * (tools/common/files.h). The struct must be zeroed before, but for `option`. */
modal_status tool_output_begin(tool_output *output, const char *path, int force, modal_error *err);
/* The same for a folder of frames. Refused: a path that exists, unless force is given and it is a folder with nothing
 * but frames of this extension, which is borrowed. */
modal_status tool_numbered_begin(tool_output *output, const char *path, const char *extension, int force,
                                 modal_error *err);
/* Takes another temporary file; who has the first one open keeps it. */
modal_status tool_output_anew(tool_output *output, modal_error *err);
/* Takes what the system keeps of a file that will be replaced out of its memory, which the new one can use then;
 * without this the rename does it, and all wait. The file stays as it is. For a thread that has nothing better to do. */
void tool_output_uncache(const tool_output *output);
/* MODAL_ERROR_SYSTEM where the disk of `path` has no room for so many bytes more, or that of `other` for its own; one disk needs room for both.
 * Each may be NULL. */
modal_status tool_output_check_room(const char *path, double bytes, const char *other, double other_bytes, modal_error *err);
/* Where an error names the temporary file, puts the name that the user gave. */
void tool_output_name_error(const tool_output *output, modal_error *err);
/* Removes the temporary file, or folder with its frames, if it is there, and frees; also after a commit; may be called
 * twice. */
void tool_output_discard(tool_output *output);

/* Brings a file's bytes to the disk, or those of a folder's frames. `name` stands in errors. */
modal_status tool_output_sync(const tool_output *output, modal_error *err);
/* The same for a folder's list of names. */
modal_status tool_folder_sync(const char *path, const char *name, modal_error *err);
/* The output has its name, or is given up: its lock and its temporary name are forgotten. */
void tool_output_release(tool_output *output);

/* A folder for several outputs: made if absent (*made = 1; removed again by a signal, or by
 * tool_folder_discard while it is empty). */
modal_status tool_folder_begin(const char *path, int *made, modal_error *err);
void tool_folder_discard(const char *path, int made);
/* The folder stays, whatever comes. */
void tool_folder_keep(const char *path);

/* Removes a folder's frames, and the folder unless there is something else in it. */
void tool_numbered_remove(const char *path, const char *extension);

/* Locks an open file, or folder, until it is closed: 1; 0: another process has it; -1: no locks there. */
int tool_lock(int file, int folder);

/* Where an error names `temporary`, puts `path`. */
void tool_name_error(const char *temporary, const char *path, modal_error *err);

/* Writes the file in memory of an output "-" to standard output: part of its commit. MODAL_ERROR_MEMORY where it is past the limit of pipes.h. */
modal_status tool_output_put(const tool_output *output, modal_error *err);

/* Writes all bytes to standard output and flushes. */
modal_status tool_write_stdout(const void *bytes, size_t length, modal_error *err);

#endif
