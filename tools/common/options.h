/* SPDX-License-Identifier: Apache-2.0 */
/* One option table a tool: it drives parsing and --help. What is unknown, abbreviated, repeated
 * without need, half-parsed or out of range is refused by name. */
#ifndef TOOLS_COMMON_OPTIONS_H
#define TOOLS_COMMON_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

typedef struct tool_option {
    const char *name;     /* long name, without the dashes; NULL ends a table */
    char letter;          /* short name, 0 = none */
    const char *argument; /* what --help calls the value, in brackets where --name=VALUE may lack it; NULL: a flag */
    const char *fallback; /* the value when the option is not given, NULL = none */
    const char *help;     /* a sentence or two, wrapped by --help */
    int traits;           /* of the following, added */
} tool_option;

enum {
    TOOL_REPEATABLE = 1,
    TOOL_READS = 2,  /* the value, or the operand, names a file that is read */
    TOOL_WRITES = 4, /* one that is written, or a folder */
    TOOL_PIPE = 8,   /* or -, standard input or output; elsewhere - is refused */
    TOOL_FIRST = 16  /* among those that --help without "all" prints; a table that marks none prints all */
};

/* The options that several tools share, for their tables. */
#define TOOL_OPTION_FORCE {"force", 'f', NULL, NULL, "Replace an output that exists.", 0}
#define TOOL_OPTION_THREADS                                                                        \
    {"threads", 'j', "N", NULL, "CPU threads, at most (default: all cores of this process).", 0}
#define TOOL_OPTION_MEMORY_LIMIT                                                                   \
    {"memory-limit", 0, "SIZE", NULL, "Most main memory to use, e.g. 800M or 4G.", 0}
#define TOOL_OPTIONS_COMMON TOOL_OPTIONS_COMMON_WITH("man|bash|zsh", "")
/* With more that --generate knows (tool_program.generate); `text` says what. */
#define TOOL_OPTIONS_COMMON_WITH(kinds, text)                                                      \
    {"quiet", 'q', NULL, NULL, "Print errors only.", 0},                                           \
        {"verbose", 'v', NULL, NULL, "Print what is being done.", 0},                              \
        {"progress", 0, "auto|text|json|none", "auto",                                             \
         "Progress on stderr: auto is text on a terminal, json is an object a line.", 0},          \
        {"report", 0, "FILE", NULL, "Write a JSON report of the run; - is standard output.",       \
         TOOL_WRITES | TOOL_PIPE},                                                                 \
        {"generate", 0, kinds, NULL,                                                               \
         "Print the manual page, or what completes the command line in that shell." text, 0},      \
        {"help", 'h', "[all]", NULL, "Print how to use it; all: with every option.", 0},           \
        {"version", 'V', NULL, NULL, "Print the version and how it was built.", 0}

typedef struct tool_given {
    int option; /* index in the table */
    const char *value;
} tool_given;

typedef struct tool_arguments {
    const tool_option *table;
    int n_given;
    tool_given *given; /* [n_given] in the order of the command line */
    int n_operands;
    char **operands;
} tool_arguments;

/* Parses; MODAL_ERROR_USAGE with the offending word, and the option that it resembles. The texts are argv's own. */
modal_status tool_arguments_parse(tool_arguments *arguments, const tool_option *table, int argc,
                                  char **argv, modal_error *err);
void tool_arguments_free(tool_arguments *arguments);

/* The one of names[n] that is most like the first `length` bytes of `word`: it begins with them (three at least), or
 * differs by one letter left out, added, changed or by two that changed places, two of these where the word has five
 * letters. NULL: none is like it. */
const char *tool_nearest_name(const char *word, size_t length, const char *const *names, int n);

/* Whether --name stands alone or with =VALUE. */
int tool_value_may_lack(const tool_option *option);

/* How often an option was given; its i-th value; its only value, else its default, else NULL.
 * A name that the table does not have is a bug and aborts. */
int tool_count(const tool_arguments *arguments, const char *name);
const char *tool_value_at(const tool_arguments *arguments, const char *name, int i);
const char *tool_value(const tool_arguments *arguments, const char *name);

/* The value as a whole number in [least, most], a finite number in [least, most], or a size in bytes
 * (digits and an optional K, M, G or T, powers of 1024). Nothing is stored when neither value nor
 * default is there. Errors are MODAL_ERROR_USAGE: "--modes: not a whole number, 2x". */
modal_status tool_integer(const tool_arguments *arguments, const char *name, int64_t least,
                          int64_t most, int64_t *value, modal_error *err);
modal_status tool_number(const tool_arguments *arguments, const char *name, double least,
                         double most, double *value, modal_error *err);
modal_status tool_size(const tool_arguments *arguments, const char *name, int64_t *bytes,
                       modal_error *err);
/* A share in per cent, "5%", above 0 and up to 1000; *share is 0.05. */
modal_status tool_percent(const tool_arguments *arguments, const char *name, double *share, modal_error *err);

/* Parses exactly `count` finite numbers separated by commas; `what` starts the message. */
modal_status tool_parse_numbers(const char *text, int count, double *numbers, const char *what,
                                modal_error *err);

#endif
