/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that exist are complete: a file is written under a temporary name in its folder, synced
 * and renamed; on an error, and on a signal, the temporary file goes. */
#ifndef TOOLS_COMMON_OUTPUT_H
#define TOOLS_COMMON_OUTPUT_H

#include <stddef.h>

#include "lib/base/status.h"

typedef struct tool_output {
    char *path;
    char *temporary; /* write here; the file exists and is empty */
    int force;
} tool_output;

/* Makes the temporary file. Refused: a path that exists (unless force), one that is not a regular
 * file (even with force), a folder that cannot be written. The struct must be zeroed before. */
modal_status tool_output_begin(tool_output *output, const char *path, int force, modal_error *err);
/* Takes what the system keeps of a file that will be replaced out of its memory, which the new one can use then;
 * without this the rename does it, and all wait. The file stays as it is. For a thread that has nothing better to do. */
void tool_output_uncache(const tool_output *output);
/* Syncs the temporary file and renames it to its path. */
modal_status tool_output_commit(tool_output *output, modal_error *err);
/* Where an error names the temporary file, puts the name that the user gave. */
void tool_output_name_error(const tool_output *output, modal_error *err);
/* Removes the temporary file, if it is there, and frees; also after a commit; may be called twice. */
void tool_output_discard(tool_output *output);

/* A folder for several outputs: made if absent (*made = 1; removed again by a signal, or by
 * tool_folder_discard while it is empty). */
modal_status tool_folder_begin(const char *path, int *made, modal_error *err);
void tool_folder_discard(const char *path, int made);
/* The folder stays, whatever comes. */
void tool_folder_keep(const char *path);

/* A folder of frames, 000000.EXTENSION and so on, made under a temporary name like a file. */
typedef struct tool_frames {
    char *path;
    char *temporary; /* write here; the folder exists and is empty */
    const char *extension;
    int force;
} tool_frames;

/* Refused: a path that exists, unless force is given and it is a folder with nothing but frames of
 * this extension. The struct must be zeroed before; `extension` is borrowed. */
modal_status tool_frames_begin(tool_frames *frames, const char *path, const char *extension,
                               int force, modal_error *err);
/* Syncs the file system and renames the folder to its path. */
modal_status tool_frames_commit(tool_frames *frames, modal_error *err);
/* Removes the temporary folder with its frames, if it is there, and frees; may be called twice. */
void tool_frames_discard(tool_frames *frames);
/* Removes a folder's frames, and the folder unless there is something else in it. */
void tool_frames_remove(const char *path, const char *extension);

/* Where an error names `temporary`, puts `path`. */
void tool_name_error(const char *temporary, const char *path, modal_error *err);

/* Whether both names lead to one file, or would if they existed: one folder, one name. */
int tool_same_file(const char *a, const char *b);
/* MODAL_ERROR_USAGE when they do. */
modal_status tool_refuse_same_file(const char *input, const char *output, modal_error *err);

/* Writes all bytes to standard output and flushes. */
modal_status tool_write_stdout(const void *bytes, size_t length, modal_error *err);
/* Reads all of standard input; the caller owns *bytes. */
modal_status tool_read_stdin(void **bytes, size_t *length, modal_error *err);

/* Installs the handlers for SIGINT, SIGTERM and SIGHUP: what is unfinished is removed and the process
 * ends with 128 + signal (130 for an interrupt). SIGPIPE and SIGXFSZ become write errors. */
void tool_signals_install(const char *tool_name);

/* From now on the first signal only makes tool_signalled true, for a tool that ends cleanly by itself; a
 * second one ends the process as above. */
void tool_signals_hold(void);
int tool_signalled(void);

#endif
