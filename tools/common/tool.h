/* SPDX-License-Identifier: Apache-2.0 */
/* What every tool does the same way: start (options, signals), messages on stderr, stages of the
 * report, progress, and the end with its exit code. */
#ifndef TOOLS_COMMON_TOOL_H
#define TOOLS_COMMON_TOOL_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/model/notes.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/signals.h"

enum {
    TOOL_EXIT_DONE = 0,
    TOOL_EXIT_NO = 1, /* a checker found something wrong */
    TOOL_EXIT_USAGE = 2,
    TOOL_EXIT_INPUT = 3,
    TOOL_EXIT_SYSTEM = 4,
    TOOL_EXIT_NOT_CONVERGED = 5,
    TOOL_EXIT_HANGUP = 129, /* 128 + the signal */
    TOOL_EXIT_INTERRUPTED = 130,
    TOOL_EXIT_TERMINATED = 143
};

typedef struct tool_program {
    const char *name;    /* "modalpack" */
    const char *summary; /* one sentence */
    const char *usage;   /* the operands and options line, after the name; '\n' starts a second line */
    const char *words;   /* that the first operand is one of, with blanks between them; NULL: it is a file */
    const tool_option *options;
    int least_operands, most_operands;
    int input_traits;  /* of the operands: TOOL_READS, and TOOL_PIPE; 0: they name no files */
    int output;        /* the operand that is written instead, counted from 1; -1: the last one; 0: none */
    int output_traits; /* of that one: TOOL_WRITES, and TOOL_PIPE */
    const char *endings; /* of that one's name, those which mean a file that this tool makes, with blanks between (endings.h); NULL: any */
    const char *notes;    /* printed by --help after the options, or NULL */
    const char *examples; /* command lines, one a line */
    const char *first_examples; /* those of --help without "all"; NULL: the same */
    const char *(*library)(void);     /* the library of its files, a line of --version, or NULL */
    void (*print_versions)(FILE *to); /* further lines, or NULL */
    /* What else --generate prints, or NULL. Returns 0 for a kind that it does not know. */
    int (*generate)(const char *kind, const tool_arguments *arguments, modal_status *status, modal_error *err);
    const char *divided_by; /* the option that divides a run among the processes of a launcher, or NULL */
    /* Whether processes of a launcher may all run this command line: they divide the work, or write nothing. NULL: none may. */
    int (*is_divided)(const tool_arguments *arguments);
} tool_program;

typedef enum tool_progress_kind {
    TOOL_PROGRESS_NONE = 0,
    TOOL_PROGRESS_TEXT,
    TOOL_PROGRESS_JSON /* one object a line: tool, stage, seconds, fraction, remaining_seconds; fraction 1 at the end */
} tool_progress_kind;

typedef struct tool {
    const tool_program *program;
    tool_arguments arguments;
    char *command_line; /* shell-quoted, for provenance */
    tool_output report_file; /* --report FILE, begun at the start */
    int quiet, verbose, colour;
    int most_threads; /* 0: any number */
    int piped;  /* bits 0 and 1: an input is standard input, an output is standard output */
    int closed; /* bits 0 to 2: the standard streams that were closed at the start */
    const char *assumed_material; /* by name: the material of a mesh that has none, which tool_assign_materials chose; NULL: none */
    double started;
    json_t *report; /* add to it freely: json_object_set_new(tool->report, ...) */
    modal_progress progress; /* hand &tool->progress to long computations */
    tool_progress_kind progress_kind;
    char progress_stage[64];
    double stage_started, progress_time;
    double progress_total; /* of progress_unit in the whole stage, 0: unknown */
    const char *progress_unit;
    int progress_shown;
} tool;

/* Parses and prepares. Several processes of an MPI launcher that would write one output are refused. Returns nonzero when the program
 * must end at once with *exit_code (--help, --version, wrong usage: everything is printed). */
int tool_start(tool *t, const tool_program *program, int argc, char **argv, int *exit_code);

/* A warning for each note of a reader on the file at `path`. */
void tool_warn_notes(tool *t, const char *path, const modal_notes *notes);

/* Prints the error, writes the report, checks the close of stdout, frees; returns the exit code:
 * that of `status`, or `exit_done` (0, or a checker's 1) when it is MODAL_OK. Where a file was refused
 * (tools/common/files.h), that is the error, and no report is written. */
int tool_finish(tool *t, modal_status status, const modal_error *err, int exit_done);

/* Frees, prints nothing and writes no report: for a process that only helped another one. Instead of tool_finish. */
void tool_leave(tool *t);

/* Lines on stderr: notes unless --quiet, details with --verbose only; warnings always, but for
 * --quiet, and kept for the report. "tool: " stands in front. */
void tool_note(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_detail(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_warn(tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where tables and other requested text go: stdout, or stderr when the report has stdout; NULL with
 * --quiet. */
FILE *tool_text_stream(tool *t);

/* A text that came from a file or the command line, for such a table: what would steer a terminal or end the line is
 * made visible (lib/base/text.h). NULL: nothing. Notes, warnings and errors need no care: they do the same. */
void tool_put_text(FILE *to, const char *text);

/* What a fraction of 1 amounts to in the stages to come, for the rate that progress shows; 0: none.
 * `unit` is borrowed: "frames". */
void tool_progress_amount(tool *t, double total, const char *unit);

/* A stage of the run for the report; bytes < 0: no rate. */
void tool_stage(tool *t, const char *name, double seconds, int64_t bytes);

double tool_seconds(void); /* monotonic */

/* --threads if the table has it and it was given, else the processors that this process may use. */
modal_status tool_threads(const tool *t, int *threads, modal_error *err);

/* The variable with which an MPI launcher says that it has started *n processes, more than one; NULL: none does. */
const char *tool_launched(int64_t *n);

const char *tool_version(void); /* "0.1.0" */
/* The version and, where it is known, the commit: "0.1.0+1234567890ab", with ".dirty" after it where sources differ from that
 * (build.cmake). */
const char *tool_build(void);

#endif
