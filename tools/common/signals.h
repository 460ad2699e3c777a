/* SPDX-License-Identifier: Apache-2.0 */
/* What a signal does: SIGINT, SIGTERM and SIGHUP remove what is unfinished and end the process with 128 + signal. SIGPIPE
 * and SIGXFSZ become write errors. */
#ifndef TOOLS_COMMON_SIGNALS_H
#define TOOLS_COMMON_SIGNALS_H

void tool_signals_install(const char *tool_name);

/* From now on the first signal only makes tool_signalled its number, for a tool that ends cleanly by itself; a
 * second one ends the process as above. */
void tool_signals_hold(void);
int tool_signalled(void);

/* The output is complete: signals have no effect any more, and the run ends as it would without them. */
void tool_signals_ignore(void);

/* From defer to resume signals wait, whichever thread they come to. One thread at a time; may be nested. */
void tool_signals_defer(void);
void tool_signals_resume(void);

typedef enum tool_unfinished {
    TOOL_UNFINISHED_FILE,
    TOOL_UNFINISHED_FOLDER, /* removed where it is empty */
    TOOL_UNFINISHED_NUMBERED  /* a folder of frames, 000000.EXTENSION and so on */
} tool_unfinished;

/* A signal will remove this; 0 where there is no room for it. Called while signals wait. What comes later is
 * removed first: files after the folder that holds them. */
int tool_unfinished_add(const char *path, tool_unfinished kind, const char *extension);
/* No more; nothing where it is not known. */
void tool_unfinished_drop(const char *path);

#endif
