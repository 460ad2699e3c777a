/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/documents.h"

#include <ctype.h>
#include <string.h>

static const struct {
    int code;
    const char *meaning;
} exit_codes[] = {
    {TOOL_EXIT_DONE, "done"},
    {TOOL_EXIT_NO, "a checker found something wrong"},
    {TOOL_EXIT_USAGE, "wrong usage; an output exists, or is a file that the run reads"},
    {TOOL_EXIT_INPUT, "bad input"},
    {TOOL_EXIT_SYSTEM, "the system failed: memory, disk, device, a missing library"},
    {TOOL_EXIT_NOT_CONVERGED, "a computation did not converge"},
    {TOOL_EXIT_HANGUP, "ended by SIGHUP"},
    {TOOL_EXIT_INTERRUPTED, "interrupted, SIGINT"},
    {TOOL_EXIT_TERMINATED, "ended by SIGTERM"},
};

/* Wraps text at 80 columns; all lines but the first are indented. */
static void print_wrapped(const char *text, int indent, int column)
{
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column + (int)word >= 80 && column > indent) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        printf("%.*s", (int)word, text);
        column += (int)word;
        text += word;
        if (*text == ' ') {
            if (column < 79) putchar(' ');
            column++;
            text++;
        }
    }
    putchar('\n');
}

static void print_lines(const char *text, const char *first, const char *others)
{
    int n = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        printf("%s%.*s\n", n++ == 0 ? first : others, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* One option; brief: the first sentence of its text. */
static void print_option(const tool_option *o, int brief)
{
    char left[64], letter[8] = "    ", help[1024];
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const int width = snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->argument ? " " : "",
                               o->argument ? o->argument : "");
    const int indent = 30;
    if (width >= indent - 1)
        printf("%s\n%*s", left, indent, "");
    else
        printf("%-*s", indent, left);
    const char *end = brief ? strstr(o->help, ". ") : NULL;
    while (end && end > o->help && end[-1] == '.') end = strstr(end + 1, ". "); /* as in 0, 1 ... n */
    const int length = end ? (int)(end - o->help) + 1 : (int)strlen(o->help);
    snprintf(help, sizeof help, "%.*s%s%s%s", length, o->help, o->fallback ? " Default: " : "",
             o->fallback ? o->fallback : "", o->fallback ? "." : "");
    print_wrapped(help, indent, indent);
}

static int has_first(const tool_program *p)
{
    int found = 0;
    for (const tool_option *o = p->options; o->name; o++) found |= o->traits & TOOL_FIRST;
    return found;
}

/* What - is among the operands, or NULL: nothing. */
static const char *pipe_note(const tool_program *p)
{
    const int in = p->input_traits & TOOL_PIPE, out = p->output_traits & TOOL_PIPE;
    return in && out ? "As an input - is standard input, as the output standard output."
           : in      ? "As an input - is standard input."
           : out     ? "As the output - is standard output."
                     : NULL;
}

/* all: every option, and the notes; else, where the table marks some, those alone. */
static void print_help(const tool_program *p, int all)
{
    char first[64], others[64];
    const int brief = !all && has_first(p);
    printf("%s: %s\n\n", p->name, p->summary);
    snprintf(first, sizeof first, "usage: %s ", p->name);
    snprintf(others, sizeof others, "%*s", (int)strlen(first), "");
    print_lines(p->usage, first, others);
    printf("\noptions:\n");
    for (const tool_option *o = p->options; o->name; o++)
        if (!brief || o->traits & TOOL_FIRST) print_option(o, brief);
    if (p->notes && !brief) printf("\n%s\n", p->notes);
    if (pipe_note(p) && !brief) printf("\n%s\n", pipe_note(p));
    if (p->examples) {
        const char *few = brief && p->first_examples ? p->first_examples : p->examples;
        printf("\nexamples:\n");
        print_lines(few, "  ", "  ");
    }
    if (brief) {
        printf("\nall options: %s --help all\n", p->name);
        return;
    }
    printf("\nexit codes: 0 done, 1 a checker's no, 2 usage, 3 bad input, 4 system, 5 not converged,\n"
           "129 hung up, 130 interrupted, 143 terminated\n");
}

static void print_version(const tool_program *p)
{
    printf("%s %s (modaltools)\n", p->name, tool_build());
    printf("compiler: gcc-compatible %s, %s\n", __VERSION__, MODAL_BUILD_FLAGS);
    if (p->library) printf("%s\n", p->library());
    if (p->print_versions) p->print_versions(stdout);
}

/* Text for troff: backslashes and leading dots and quotes keep their meaning, dashes can be copied. */
static void print_roff(const char *text)
{
    int line_start = 1;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        line_start = *text == '\n';
    }
}

static void print_manual(const tool_program *p)
{
    printf(".TH ");
    for (const char *c = p->name; *c; c++) putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"modaltools %s\" \"User Commands\"\n.SH NAME\n%s \\- ", MODAL_VERSION, p->name);
    print_roff(p->summary);
    printf("\n.SH SYNOPSIS\n.nf\n");
    for (const char *line = p->usage; *line;) {
        char text[512];
        size_t length = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        printf("\\fB%s\\fR ", p->name);
        print_roff(text);
        putchar('\n');
        line += length + (line[length] == '\n');
    }
    printf(".fi\n");
    if (p->notes) {
        printf(".SH DESCRIPTION\n");
        print_roff(p->notes);
        if (pipe_note(p)) putchar('\n');
        if (pipe_note(p)) print_roff(pipe_note(p));
        putchar('\n');
    }
    printf(".SH OPTIONS\n");
    for (const tool_option *o = p->options; o->name; o++) {
        printf(".TP\n");
        if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
        printf("\\fB\\-\\-");
        print_roff(o->name);
        printf("\\fR");
        if (o->argument) {
            printf(" \\fI");
            print_roff(o->argument);
            printf("\\fR");
        }
        putchar('\n');
        print_roff(o->help);
        if (o->fallback) {
            printf(" Default: ");
            print_roff(o->fallback);
            putchar('.');
        }
        if (o->traits & TOOL_REPEATABLE && !strstr(o->help, "epeated")) printf(" May be repeated.");
        putchar('\n');
    }
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof exit_codes / sizeof exit_codes[0]; i++)
        printf(".TP\n%d\n%s\n", exit_codes[i].code, exit_codes[i].meaning);
    printf(".SH ENVIRONMENT\n.TP\nNO_COLOR\nWhere it is set to anything, messages have no colour.\n");
    if (p->examples) {
        printf(".SH EXAMPLES\n.nf\n");
        print_roff(p->examples);
        printf("\n.fi\n");
    }
}

/* The values that an option's argument lists, "man|bash|zsh": lower-case words, two at least. */
static int is_choice(const char *argument)
{
    if (!argument || !strchr(argument, '|')) return 0;
    for (const char *c = argument; *c; c++)
        if (!islower((unsigned char)*c) && !strchr("0123456789-|", *c)) return 0;
    return 1;
}

/* Whether it is the name of a file. */
static int is_file(const tool_option *o) { return (o->traits & (TOOL_READS | TOOL_WRITES)) != 0; }

static void print_choices(const char *argument)
{
    for (; *argument; argument++) putchar(*argument == '|' ? ' ' : *argument);
}

static void print_bash(const tool_program *p)
{
    printf("# bash completion of %s, made from its option table\n_%s() {\n", p->name, p->name);
    printf("  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  case $before in\n");
    for (const tool_option *o = p->options; o->name; o++) {
        if (!o->argument) continue;
        if (o->letter) printf("  -%c | ", o->letter);
        printf("%s--%s) ", o->letter ? "" : "  ", o->name);
        if (tool_value_may_lack(o)) {
            printf("COMPREPLY=($(compgen -W '%.*s", (int)strlen(o->argument) - 2, o->argument + 1);
            printf("' -- \"$word\"))");
        } else if (is_choice(o->argument)) {
            printf("COMPREPLY=($(compgen -W '");
            print_choices(o->argument);
            printf("' -- \"$word\"))");
        } else {
            printf(is_file(o) ? "COMPREPLY=($(compgen -f -- \"$word\"))" : "COMPREPLY=()");
        }
        printf("; return ;;\n");
    }
    printf("  esac\n  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W '");
    for (const tool_option *o = p->options; o->name; o++)
        printf("%s--%s", o == p->options ? "" : " ", o->name);
    printf("' -- \"$word\"))\n");
    if (p->words) printf("  elif [[ $COMP_CWORD == 1 ]]; then\n    COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n", p->words);
    printf("  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\n"
           "complete -o filenames -F _%s %s\n", p->name, p->name);
}

/* Inside single quotes and square brackets of a zsh _arguments specification. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else {
            if (strchr("[]:\\", *text)) putchar('\\');
            putchar(*text);
        }
    }
}

static void print_zsh(const tool_program *p)
{
    printf("#compdef %s\n# made from its option table\n_arguments \\\n", p->name);
    for (const tool_option *o = p->options; o->name; o++) {
        const char *repeat = o->traits & TOOL_REPEATABLE ? "*" : "";
        if (o->letter)
            printf("  '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
        else
            printf("  '%s--%s[", repeat, o->name);
        print_zsh_text(o->help);
        putchar(']');
        if (o->argument) {
            printf(tool_value_may_lack(o) ? "::" : ":");
            print_zsh_text(o->argument);
            putchar(':');
            if (tool_value_may_lack(o)) {
                printf("(%.*s)", (int)strlen(o->argument) - 2, o->argument + 1);
            } else if (is_choice(o->argument)) {
                putchar('(');
                print_choices(o->argument);
                putchar(')');
            } else {
                printf(is_file(o) ? "_files" : " "); /* a blank: nothing to choose from */
            }
        }
        printf("' \\\n");
    }
    if (p->words) printf("  '1:tool:(%s)' \\\n", p->words);
    printf("  '*:file:_files'\n");
}

static const char *generate_kinds(const tool_program *program)
{
    const tool_option *o = program->options;
    while (strcmp(o->name, "generate") != 0) o++;
    return o->argument;
}

int tool_document_print(const tool_program *program, const tool_arguments *arguments,
                        modal_status *status, modal_error *err)
{
    const char *generate = tool_value(arguments, "generate");
    const int help = tool_count(arguments, "help");
    const char *topic = help ? tool_value(arguments, "help") : "";
    int all = strcmp(topic, "all") == 0;
    for (int i = 0; help && i < arguments->n_operands; i++) all |= strcmp(arguments->operands[i], "all") == 0;
    if (help && *topic && !all)
        *status = modal_error_set(err, MODAL_ERROR_USAGE, "--help: must be all, or nothing, %s", topic);
    if (*status != MODAL_OK) return 0;
    if (help)
        print_help(program, all);
    else if (tool_count(arguments, "version"))
        print_version(program);
    else if (generate && strcmp(generate, "man") == 0)
        print_manual(program);
    else if (generate && strcmp(generate, "bash") == 0)
        print_bash(program);
    else if (generate && strcmp(generate, "zsh") == 0)
        print_zsh(program);
    else if (!generate)
        return 0;
    else if (!program->generate || !program->generate(generate, arguments, status, err))
        *status = modal_error_set(err, MODAL_ERROR_USAGE, "--generate: must be %s, %s", generate_kinds(program), generate);
    return *status == MODAL_OK;
}
