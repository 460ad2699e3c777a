/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modaltools: the umbrella, and the chain of tools that `quick` runs. */
#ifndef TOOLS_MODALTOOLS_H
#define TOOLS_MODALTOOLS_H

#include "lib/base/status.h"
#include "tools/common/tool.h"

/* "/where/this/program/is/modalpack", for the caller to free. */
modal_status modaltools_path(const char *name, char **path, modal_error *err);

enum { MODALTOOLS_WORDS = 64 };

/* A command of the chain; words [n_words] are owned. */
typedef struct modaltools_command {
    int n_words;
    char *words[MODALTOOLS_WORDS + 1]; /* ends with NULL; words[0] is the tool's name */
} modaltools_command;

/* Adds a word, or two: formatted texts. */
modal_status modaltools_add(modaltools_command *command, modal_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void modaltools_command_free(modaltools_command *command);

#define MODALTOOLS_SCRIPT_HEAD "#!/bin/sh\n# made by modaltools quick"

/* The chain: a folder for what lies between its ends, and a script of it. */
typedef struct modaltools_chain {
    tool *t;
    char *folder;
    int lock; /* its descriptor, locked until the process ends; -1: none */
    char *script; /* grows */
    int exit_code; /* of the stage that failed */
    int messages;      /* what stages print, unless --verbose */
    int64_t n_taken;   /* bytes of it, of earlier stages */
    int n_warnings;
    const char *hint; /* of the stage that comes: what helps where it refuses its input; or NULL */
} modaltools_chain;

/* Removes the folders of killed runs from TMPDIR first. */
modal_status modaltools_chain_begin(modaltools_chain *chain, tool *t, modal_error *err);
/* Runs a command, and notes it; --verbose prints it, with all that it prints. *failed: the stage has failed, its last line was printed, and
 * chain->exit_code is how; an error is one of this program. */
modal_status modaltools_chain_run(modaltools_chain *chain, const modaltools_command *command, int *failed, modal_error *err);
/* Writes a file of the folder, and notes how. */
modal_status modaltools_chain_write(modaltools_chain *chain, const char *name, const char *text, modal_error *err);
/* Removes the folder. */
void modaltools_chain_end(modaltools_chain *chain);

/* quick [options] INPUT OUT, after tool_start. Returns what main returns. */
int modaltools_quick(int argc, char **argv);

/* Options of quick, which are those of the program's own documents. */
extern const tool_option modaltools_options[];

#endif
