/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/json/json_text.h"
#include "lib/base/clock.h"
#include "lib/base/cores.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/base/text.h"
#include "tools/common/commit.h"
#include "tools/common/documents.h"
#include "tools/common/endings.h"
#include "tools/common/files.h"
#include "tools/common/memory.h"
#include "tools/common/output.h"
#include "tools/common/pipes.h"
#include "tools/common/stack.h"

double tool_seconds(void) { return modal_seconds(); }

const char *tool_version(void) { return MODAL_VERSION; }

const char *tool_launched(int64_t *n)
{
    /* Not SLURM_NTASKS, which a batch script has, too, before anything is launched. */
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        if (!text || *text < '0' || *text > '9') continue;
        errno = 0;
        *n = strtoll(text, &end, 10);
        if (errno == 0 && !*end && *n > 1) return names[i];
    }
    return NULL;
}

/* The command line so that a shell reads it back. */
static modal_status quote_arguments(char **text, const char *name, int argc, char **argv,
                                    modal_error *err)
{
    int64_t length = (int64_t)strlen(name) + 1;
    for (int i = 1; i < argc; i++) length += 4 * (int64_t)strlen(argv[i]) + 3;
    modal_status status = modal_alloc(text, length, 1, "command line", err);
    if (status != MODAL_OK) return status;
    char *to = stpcpy(*text, name);
    for (int i = 1; i < argc; i++) {
        const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-+=./:,@%";
        *to++ = ' ';
        if (*argv[i] && strspn(argv[i], plain) == strlen(argv[i])) {
            to = stpcpy(to, argv[i]);
            continue;
        }
        *to++ = '\'';
        for (const char *c = argv[i]; *c; c++) {
            if (*c == '\'')
                to = stpcpy(to, "'\\''");
            else
                *to++ = *c;
        }
        *to++ = '\'';
    }
    *to = '\0';
    return MODAL_OK;
}

/* no-color.org: colour unless NO_COLOR is set to something. */
static int wants_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
}

static modal_status choose_progress(tool *t, modal_error *err)
{
    const char *kind = tool_value(&t->arguments, "progress");
    if (strcmp(kind, "auto") == 0)
        t->progress_kind = isatty(STDERR_FILENO) ? TOOL_PROGRESS_TEXT : TOOL_PROGRESS_NONE;
    else if (strcmp(kind, "text") == 0)
        t->progress_kind = TOOL_PROGRESS_TEXT;
    else if (strcmp(kind, "json") == 0)
        t->progress_kind = TOOL_PROGRESS_JSON;
    else if (strcmp(kind, "none") == 0)
        t->progress_kind = TOOL_PROGRESS_NONE;
    else
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "--progress: must be auto, text, json or none, %s", kind);
    if (t->quiet && t->progress_kind == TOOL_PROGRESS_TEXT) t->progress_kind = TOOL_PROGRESS_NONE;
    return MODAL_OK;
}

static void clear_progress(tool *t)
{
    if (t->progress_shown) fputs("\r\033[K", stderr);
    t->progress_shown = 0;
}

/* Seconds that the stage will still take, if it goes on as so far; negative: unknown. */
static double remaining_seconds(double elapsed, double fraction)
{
    return fraction > 0.01 && elapsed > 0.5 ? elapsed * (1 - fraction) / fraction : -1;
}

static void print_progress_json(const tool *t, double fraction, double elapsed)
{
    double remaining = remaining_seconds(elapsed, fraction);
    json_t *line = json_pack("{s:s, s:s, s:f}", "tool", t->program->name, "phase", t->progress_stage,
                             "seconds", elapsed);
    if (fraction >= 0) json_object_set_new(line, "fraction", json_real(fraction));
    if (remaining >= 0) json_object_set_new(line, "remaining_seconds", json_real(remaining));
    char *text = modal_json_dump(line, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6), 0);
    if (text) fprintf(stderr, "%s\n", text);
    free(text);
    json_decref(line);
}

static void print_progress_text(tool *t, double fraction, double elapsed)
{
    int terminal = isatty(STDERR_FILENO);
    double remaining = remaining_seconds(elapsed, fraction);
    clear_progress(t);
    fprintf(stderr, "%s: %s", t->program->name, t->progress_stage);
    if (fraction >= 0) fprintf(stderr, " %3.0f %%", 100 * fraction);
    if (t->progress_total > 0 && fraction > 0 && elapsed > 0.5)
        fprintf(stderr, ", %.3g %s/s", fraction * t->progress_total / elapsed, t->progress_unit);
    if (remaining >= 60)
        fprintf(stderr, ", %.0f min left", remaining / 60);
    else if (remaining >= 0)
        fprintf(stderr, ", %.0f s left", remaining);
    if (!terminal) fputc('\n', stderr);
    t->progress_shown = terminal;
}

static int show_progress(void *context, const char *stage, double fraction)
{
    tool *t = context;
    double now = tool_seconds();
    if (t->progress_kind == TOOL_PROGRESS_NONE) return 0;
    int same = strncmp(t->progress_stage, stage, sizeof t->progress_stage - 1) == 0;
    int often = t->progress_kind == TOOL_PROGRESS_TEXT && isatty(STDERR_FILENO);
    if (same && now - t->progress_time < (often ? 0.1 : 1.0)) return 0;
    if (!same) {
        snprintf(t->progress_stage, sizeof t->progress_stage, "%s", stage);
        t->stage_started = now;
    }
    t->progress_time = now;
    if (t->progress_kind == TOOL_PROGRESS_JSON)
        print_progress_json(t, fraction, now - t->stage_started);
    else
        print_progress_text(t, fraction, now - t->stage_started);
    return 0;
}

void tool_progress_amount(tool *t, double total, const char *unit)
{
    t->progress_total = total;
    t->progress_unit = unit;
}

/* The lines of the usage in one. */
static modal_status wrong_operands(const tool_program *program, int n, modal_error *err)
{
    char usage[MODAL_ERROR_TEXT];
    size_t used = 0;
    for (const char *c = program->usage; *c && used + 4 < sizeof usage; c++)
        used = (size_t)(stpcpy(usage + used, *c == '\n' ? " | " : (char[]){*c, '\0'}) - usage);
    return modal_error_set(err, MODAL_ERROR_USAGE, "usage: %s %.*s (see --help), %d operand%s", program->name, (int)used,
                           usage, n, n == 1 ? "" : "s");
}

static int has_option(const tool_program *program, const char *name)
{
    for (const tool_option *o = program->options; o->name; o++)
        if (strcmp(o->name, name) == 0) return 1;
    return 0;
}

static const char *report_path(const tool *t)
{
    return has_option(t->program, "report") ? tool_value(&t->arguments, "report") : NULL;
}

/* A program that is started with one of these closed would get it for a file that it opens, and write messages there. */
static int open_descriptors(void)
{
    int closed = 0;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) >= 0) continue;
        closed |= 1 << i;
        if (open("/dev/null", O_RDWR) != i) _exit(TOOL_EXIT_SYSTEM);
    }
    return closed;
}

/* - is a pipe, where it may stand. */
static modal_status check_pipe(tool *t, const char *dashes, const char *name, int traits, modal_error *err)
{
    const int descriptor = traits & TOOL_WRITES ? STDOUT_FILENO : STDIN_FILENO;
    const char *stream = traits & TOOL_WRITES ? "standard output" : "standard input";
    if (!(traits & TOOL_PIPE))
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s%s: needs a name, cannot be %s, -", dashes, name, stream);
    if (t->closed >> descriptor & 1)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s%s: %s is closed, -", dashes, name, stream);
    if (t->piped >> descriptor & 1)
        return modal_error_set(err, MODAL_ERROR_USAGE, traits & TOOL_WRITES ? "%s%s: %s already takes another output, -"
                                                                            : "%s%s: %s already is another input, -", dashes, name, stream);
    t->piped |= 1 << descriptor;
    return MODAL_OK;
}

/* What the usage calls operand i of n. */
static const char *operand_name(const tool_program *p, int i, int n, char name[64])
{
    char line[256], *rest = NULL;
    int k = 0;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(p->usage, "\n"), p->usage);
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (*word == '[' || *word == '.') continue;
        snprintf(name, 64, "%.*s", (int)(strstr(word, "...") ? strstr(word, "...") - word : 63), word);
        if (k++ == i && !(p->output < 0 && i == n - 1)) break;
    }
    return name;
}

/* One name of a file on the command line, of an option with `dashes`. "" is what an unset variable of a script leaves. */
static modal_status name_file(tool *t, const char *dashes, const char *name, const char *path, int traits, modal_error *err)
{
    if (!*path) return modal_error_set(err, MODAL_ERROR_USAGE, "%s%s: needs a name, is empty", dashes, name);
    if (strcmp(path, "-") == 0) return check_pipe(t, dashes, name, traits, err);
    if (traits & TOOL_READS) tool_files_read(path);
    return MODAL_OK;
}

/* The files that the command line names to be read; those that the run writes are made known as they are begun. */
static modal_status name_files(tool *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    const tool_program *p = t->program;
    const int n = a->n_operands, output = p->output < 0 ? n - 1 : p->output - 1;
    char name[64] = "operand";
    for (int i = p->words ? 1 : 0; i < n; i++) {
        const int traits = i == output ? p->output_traits : p->input_traits;
        if (traits) MODAL_TRY(name_file(t, "", operand_name(p, i, n, name), a->operands[i], traits, err));
        if (i == output && p->endings) MODAL_TRY(tool_ending_check(a->operands[i], p->name, p->endings, err));
    }
    for (int i = 0; i < a->n_given; i++) {
        const tool_option *option = &a->table[a->given[i].option];
        if (option->traits & (TOOL_READS | TOOL_WRITES))
            MODAL_TRY(name_file(t, "--", option->name, a->given[i].value, option->traits, err));
    }
done:
    return status;
}

/* Processes that know nothing of each other would each do all of the work, and write to the same place. */
static modal_status check_launch(const tool *t, modal_error *err)
{
    const tool_arguments *a = &t->arguments;
    const tool_program *p = t->program;
    const int output = p->output < 0 ? a->n_operands - 1 : p->output - 1;
    const char *written = output >= 0 && output < a->n_operands && p->output_traits & TOOL_WRITES ? a->operands[output] : NULL;
    int64_t n;
    const char *variable = tool_launched(&n);
    if (!variable || (p->is_divided && p->is_divided(a))) return MODAL_OK;
    for (int i = 0; i < a->n_given && !written; i++)
        if (a->table[a->given[i].option].traits & TOOL_WRITES && strcmp(a->given[i].value, "-") != 0) written = a->given[i].value;
    if (!written) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE,
                           "%s: each of the %lld processes would do the whole run and write %s; start one%s%s, or `env -u %s %s ...` where each "
                           "has an output of its own", variable, (long long)n, written, p->divided_by ? ", divide the run with " : "",
                           p->divided_by ? p->divided_by : "", variable, p->name);
}

/* How every report begins. */
#define REPORT_HEAD "{\n  \"tool\": \"modal"

/* A report describes the newest run: it replaces an older one, or an empty file, but nothing else: a run that fails
 * writes one, too, perhaps before it has come to all that it reads. Begun before the work, so that a bad place is
 * noticed before an output is made. */
static modal_status begin_report(tool *t, modal_error *err)
{
    const char *report = report_path(t);
    char found[sizeof REPORT_HEAD] = "";
    struct stat info;
    if (!report || strcmp(report, "-") == 0) return MODAL_OK;
    t->report_file.option = "--report";
    modal_status status = tool_output_begin(&t->report_file, report, 1, err);
    if (status != MODAL_OK || stat(report, &info) != 0 || info.st_size == 0) return status;
    const int file = open(report, O_RDONLY | O_CLOEXEC);
    const int64_t got = file < 0 ? -1 : modal_disk_read(file, 0, found, sizeof REPORT_HEAD - 1);
    if (file >= 0) close(file);
    if (got == (int64_t)sizeof REPORT_HEAD - 1 && strcmp(found, REPORT_HEAD) == 0) return MODAL_OK;
    return modal_error_set(err, TOOL_ERROR_EXISTS, "--report: exists, and is not a report of a tool, %s", report);
}

/* As many threads as the address space has room for; all that --threads asks for, or none. Teams leave cores to other processes
 * (lib/base/cores.h), unless --threads is given and OMP_DYNAMIC, OpenMP's variable for this, is false. */
static modal_status fit_threads(tool *t, modal_error *err)
{
    const char *dynamic = getenv("OMP_DYNAMIC");
    const int must = has_option(t->program, "threads") && tool_count(&t->arguments, "threads") > 0;
    int asked = 0, fitting;
    modal_status status = tool_threads(t, &asked, err);
    fitting = asked;
    modal_cores_share(!(must && dynamic && strcasecmp(dynamic, "false") == 0));
    if (status == MODAL_OK) status = tool_fit_threads(&fitting, must, err);
    if (status != MODAL_OK || fitting == asked) return status;
    t->most_threads = fitting;
    tool_note(t, "address space (ulimit -v): room for %d of %d threads", fitting, asked);
    return MODAL_OK;
}

static int exit_code_of(modal_status status, int exit_done)
{
    switch (status) {
    case MODAL_OK: return exit_done;
    case MODAL_ERROR_USAGE: return TOOL_EXIT_USAGE;
    case MODAL_ERROR_INPUT: return TOOL_EXIT_INPUT;
    case MODAL_ERROR_SYSTEM:
    case MODAL_ERROR_MEMORY: return TOOL_EXIT_SYSTEM;
    case MODAL_ERROR_NOT_CONVERGED: return TOOL_EXIT_NOT_CONVERGED;
    case MODAL_ERROR_INTERRUPTED: return tool_signalled() ? 128 + tool_signalled() : TOOL_EXIT_INTERRUPTED;
    }
    return TOOL_EXIT_SYSTEM;
}

/* What a pipe brings or takes is held in memory. A wrong value is the tool's to refuse. */
static void limit_pipes(const tool *t)
{
    int64_t bytes = 0;
    const int known = has_option(t->program, "memory-limit") && tool_size(&t->arguments, "memory-limit", &bytes, NULL) == MODAL_OK;
    tool_pipe_set_limit(known ? bytes : 0);
}

int tool_start(tool *t, const tool_program *program, int argc, char **argv, int *exit_code)
{
    modal_error err = {0};
    modal_status status = MODAL_OK;
    memset(t, 0, sizeof *t);
    t->closed = open_descriptors();
    t->program = program;
    t->started = tool_seconds();
    tool_signals_install(program->name);
    tool_files_watch();
    status = tool_arguments_parse(&t->arguments, program->options, argc, argv, &err);
    if (status == MODAL_OK) {
        if (tool_document_print(program, &t->arguments, &status, &err)) {
            tool_arguments_free(&t->arguments);
            tool_files_forget();
            *exit_code = fflush(stdout) == 0 && !ferror(stdout) ? TOOL_EXIT_DONE : TOOL_EXIT_SYSTEM;
            return 1;
        }
        t->quiet = tool_count(&t->arguments, "quiet");
        t->verbose = tool_count(&t->arguments, "verbose");
        t->colour = isatty(STDERR_FILENO) && wants_colour();
        t->progress = (modal_progress){show_progress, t};
        int n = t->arguments.n_operands;
        if (status == MODAL_OK) status = choose_progress(t, &err);
        if (status != MODAL_OK)
            ;
        else if (n < program->least_operands || n > program->most_operands)
            status = wrong_operands(program, n, &err);
    }
    if (status == MODAL_OK && t->quiet && t->verbose)
        status = modal_error_set(&err, MODAL_ERROR_USAGE, "--quiet, --verbose: choose one");
    if (status == MODAL_OK) status = tool_check_stack(&err);
    if (status == MODAL_OK) status = name_files(t, &err);
    if (status == MODAL_OK) limit_pipes(t);
    if (status == MODAL_OK) status = check_launch(t, &err);
    if (status == MODAL_OK) status = fit_threads(t, &err);
    if (status == MODAL_OK)
        status = quote_arguments(&t->command_line, program->name, argc, argv, &err);
    if (status == MODAL_OK) {
        t->report = json_pack("{s:s, s:s, s:o, s:[], s:[]}", "tool", program->name, "version", MODAL_VERSION,
                              "arguments", modal_json_string(t->command_line), "phases", "warnings");
        if (!t->report) status = modal_error_set(&err, MODAL_ERROR_MEMORY, "report: out of memory");
    }
    if (status == MODAL_OK) status = begin_report(t, &err);
    if (status == MODAL_OK) return 0;
    json_decref(t->report);
    tool_output_discard(&t->report_file);
    fprintf(stderr, "%s: %s\n", program->name, err.message);
    modal_free(&t->command_line);
    tool_arguments_free(&t->arguments);
    tool_files_forget();
    *exit_code = exit_code_of(status, TOOL_EXIT_DONE);
    return 1;
}

static modal_status write_report(tool *t, int refused, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *path = report_path(t);
    if (!path || (refused && strcmp(path, "-") != 0)) return MODAL_OK;
    char *text = modal_json_dump(t->report, JSON_INDENT(2) | JSON_PRESERVE_ORDER, 0);
    if (!text) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%s: out of memory", path);
    if (strcmp(path, "-") == 0) {
        MODAL_TRY(tool_write_stdout(text, strlen(text), err));
        MODAL_TRY(tool_write_stdout("\n", 1, err));
        goto done;
    }
    FILE *file = fopen(t->report_file.temporary, "w");
    if (!file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    int failed = fprintf(file, "%s\n", text) < 0;
    failed |= fclose(file) != 0;
    if (failed) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path, strerror(errno));
    MODAL_TRY(tool_output_commit(&t->report_file, err));
done:
    free(text);
    return status;
}

/* VmHWM begins with the program; ru_maxrss begins with what the process that started it had. */
static int64_t peak_memory(void)
{
    char line[128];
    long long kilobytes = -1;
    struct rusage usage;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && kilobytes < 0 && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %lld kB", &kilobytes);
    if (file) fclose(file);
    getrusage(RUSAGE_SELF, &usage);
    return 1024 * (kilobytes >= 0 ? (int64_t)kilobytes : (int64_t)usage.ru_maxrss);
}

int tool_finish(tool *t, modal_status status, const modal_error *err, int exit_done)
{
    modal_error last = {0}, refusal = {0}, shown = *err;
    const int refused = tool_files_check(&refusal) != MODAL_OK;
    if (refused) {
        status = refusal.status;
        shown = refusal;
        tool_output_discard(&t->report_file);
    }
    tool_pipe_name(shown.message, sizeof shown.message);
    int code = exit_code_of(status, exit_done);
    clear_progress(t);
    if (status == MODAL_OK && t->progress_kind == TOOL_PROGRESS_JSON && *t->progress_stage)
        print_progress_json(t, 1, tool_seconds() - t->stage_started); /* who reads on waits for the end */
    if (status != MODAL_OK) {
        fprintf(stderr, t->colour ? "\033[31m%s:\033[0m %s\n" : "%s: %s\n", t->program->name,
                shown.message);
        if (shown.source_file) tool_detail(t, "found at %s:%d", shown.source_file, shown.source_line);
        json_object_set_new(t->report, "error", json_string(shown.message));
    }
    json_object_set_new(t->report, "seconds", json_real(tool_seconds() - t->started));
    json_object_set_new(t->report, "peak_memory_bytes",
                        json_integer((json_int_t)peak_memory()));
    json_object_set_new(t->report, "exit_code", json_integer(code));
    if (write_report(t, refused, &last) != MODAL_OK) {
        fprintf(stderr, "%s: %s\n", t->program->name, last.message);
        if (code == exit_done) code = TOOL_EXIT_SYSTEM;
    }
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == exit_done) {
        fprintf(stderr, "%s: standard output: write error, %s\n", t->program->name, strerror(errno));
        code = TOOL_EXIT_SYSTEM;
    }
    tool_leave(t);
    return code;
}

void tool_leave(tool *t)
{
    json_decref(t->report);
    tool_output_discard(&t->report_file);
    modal_free(&t->command_line);
    tool_arguments_free(&t->arguments);
    tool_files_forget();
}

static void print_line(tool *t, const char *format, va_list arguments)
{
    char text[MODAL_ERROR_TEXT];
    modal_text_format(text, sizeof text, format, arguments);
    tool_pipe_name(text, sizeof text);
    clear_progress(t);
    fprintf(stderr, "%s: %s\n", t->program->name, text);
}

void tool_note(tool *t, const char *format, ...)
{
    if (t->quiet) return;
    va_list arguments;
    va_start(arguments, format);
    print_line(t, format, arguments);
    va_end(arguments);
}

void tool_detail(tool *t, const char *format, ...)
{
    if (!t->verbose) return;
    va_list arguments;
    va_start(arguments, format);
    print_line(t, format, arguments);
    va_end(arguments);
}

void tool_warn(tool *t, const char *format, ...)
{
    char text[MODAL_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    modal_text_format(text, sizeof text, format, arguments);
    tool_pipe_name(text, sizeof text);
    va_end(arguments);
    json_array_append_new(json_object_get(t->report, "warnings"), json_string(text));
    if (t->quiet) return;
    clear_progress(t);
    fprintf(stderr, t->colour ? "%s: \033[33mwarning:\033[0m %s\n" : "%s: warning: %s\n",
            t->program->name, text);
}

void tool_warn_notes(tool *t, const char *path, const modal_notes *notes)
{
    for (int32_t i = 0; i < notes->n; i++) tool_warn(t, "%s: %s", path, notes->texts[i]);
}

void tool_put_text(FILE *to, const char *text)
{
    char piece[MODAL_TEXT_PIECE];
    while (text && modal_text_piece(&text, piece) > 0) fputs(piece, to);
}

FILE *tool_text_stream(tool *t)
{
    if (t->quiet) return NULL;
    return t->piped >> STDOUT_FILENO & 1 ? stderr : stdout;
}

void tool_stage(tool *t, const char *name, double seconds, int64_t bytes)
{
    json_t *stage = json_pack("{s:s, s:f}", "name", name, "seconds", seconds);
    if (bytes >= 0) {
        json_object_set_new(stage, "bytes", json_integer(bytes));
        if (seconds > 0)
            json_object_set_new(stage, "gb_per_second", json_real(1e-9 * (double)bytes / seconds));
    }
    json_array_append_new(json_object_get(t->report, "phases"), stage);
    if (bytes >= 0 && seconds > 0)
        tool_detail(t, "%s: %.3f s, %.2f GB/s", name, seconds, 1e-9 * (double)bytes / seconds);
    else
        tool_detail(t, "%s: %.3f s", name, seconds);
}

modal_status tool_threads(const tool *t, int *threads, modal_error *err)
{
    int64_t wanted = 0;
    if (has_option(t->program, "threads")) {
        modal_status status = tool_integer(&t->arguments, "threads", 1, 4096, &wanted, err);
        if (status != MODAL_OK) return status;
    }
    if (wanted == 0) {
        cpu_set_t set;
        wanted = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                             : sysconf(_SC_NPROCESSORS_ONLN);
        if (t->most_threads > 0 && wanted > t->most_threads) wanted = t->most_threads;
    }
    *threads = wanted < 1 ? 1 : (int)wanted;
    return MODAL_OK;
}
