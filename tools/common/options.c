/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

static int table_length(const tool_option *table)
{
    int n = 0;
    while (table[n].name) n++;
    return n;
}

int tool_value_may_lack(const tool_option *option)
{
    return option->argument && *option->argument == '[' && option->argument[strlen(option->argument) - 1] == ']';
}

static int find_option(const tool_option *table, const char *name)
{
    for (int i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    assert(!"no such option in the table");
    return -1;
}

static int least_of(int a, int b) { return a < b ? a : b; }

/* Letters left out, added, changed, and neighbours that changed places (optimal string alignment distance); most + 1
 * where it is more than that. */
static int edit_distance(const char *a, size_t length_a, const char *b, int most)
{
    enum { LONGEST = 32 };
    const size_t length_b = strlen(b);
    int rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    if (length_a > LONGEST || length_b > LONGEST) return most + 1;
    for (size_t k = 0; k <= length_b; k++) last[k] = (int)k;
    for (size_t i = 1; i <= length_a; i++) {
        row[0] = (int)i;
        for (size_t k = 1; k <= length_b; k++) {
            const int changed = last[k - 1] + (a[i - 1] != b[k - 1]);
            row[k] = least_of(least_of(last[k], row[k - 1]) + 1, changed);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) row[k] = least_of(row[k], before[k - 2] + 1);
        }
        int *const oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return least_of(last[length_b], most + 1);
}

const char *tool_nearest_name(const char *word, size_t length, const char *const *names, int n)
{
    const int most = length < 3 ? 0 : length < 5 ? 1 : 2;
    const char *nearest = NULL;
    int least = most + 1;
    for (int i = 0; i < n; i++) {
        const int distance = edit_distance(word, length, names[i], most);
        if (distance >= least) continue;
        least = distance;
        nearest = names[i];
    }
    for (int i = 0; i < n && !nearest && length >= 3; i++)
        if (strncmp(names[i], word, length) == 0) nearest = names[i];
    return nearest;
}

static modal_status refuse_option(const tool_option *table, const char *name, size_t length, modal_error *err)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int n = 0;
    for (; n < MOST && table[n].name; n++) names[n] = table[n].name;
    const char *nearest = tool_nearest_name(name, length, names, n);
    if (!nearest)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%.*s: unknown option (see --help all)", (int)length, name);
    return modal_error_set(err, MODAL_ERROR_USAGE, "--%.*s: unknown option, did you mean --%s? (see --help all)", (int)length,
                           name, nearest);
}

/* getopt_long takes abbreviations; a script that uses one breaks with the next release. */
static modal_status refuse_unknown_names(const tool_option *table, int argc, char **argv,
                                         modal_error *err)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        const char *name = argv[i] + 2;
        size_t length = strcspn(name, "=");
        int known = 0;
        for (int k = 0; table[k].name && !known; k++)
            known = strlen(table[k].name) == length && strncmp(table[k].name, name, length) == 0;
        if (!known) return refuse_option(table, name, length, err);
    }
    return MODAL_OK;
}

modal_status tool_arguments_parse(tool_arguments *arguments, const tool_option *table, int argc,
                                  char **argv, modal_error *err)
{
    modal_status status = MODAL_OK;
    int n = table_length(table);
    struct option *longs = NULL;
    char *shorts = NULL;
    memset(arguments, 0, sizeof *arguments);
    arguments->table = table;
    MODAL_TRY(refuse_unknown_names(table, argc, argv, err));
    MODAL_TRY(modal_alloc_zero(&longs, n + 1, sizeof *longs, "options", err));
    MODAL_TRY(modal_alloc_zero(&shorts, 2 * n + 2, 1, "options", err));
    MODAL_TRY(modal_alloc_zero(&arguments->given, argc, sizeof *arguments->given, "options", err));
    char *s = shorts;
    *s++ = ':'; /* a missing value is reported by us */
    for (int i = 0; i < n; i++) {
        longs[i] = (struct option){.name = table[i].name,
                                   .has_arg = !table[i].argument               ? no_argument
                                              : tool_value_may_lack(&table[i]) ? optional_argument
                                                                               : required_argument,
                                   .val = 256 + i};
        if (table[i].letter) *s++ = table[i].letter;
        if (table[i].letter && table[i].argument && !tool_value_may_lack(&table[i])) *s++ = ':';
    }
    opterr = 0;
    optind = 0; /* start anew */
    for (;;) {
        int found = getopt_long(argc, argv, shorts, longs, NULL);
        if (found == -1) break;
        if (found == ':' || found == '?') {
            const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
            if (optopt >= 256) {
                const tool_option *option = &table[optopt - 256];
                MODAL_FAIL(err, MODAL_ERROR_USAGE,
                           option->argument ? "--%s: needs a value" : "--%s: takes no value",
                           option->name);
            }
            if (found == ':') MODAL_FAIL(err, MODAL_ERROR_USAGE, "-%c: needs a value", optopt);
            if (optopt) MODAL_FAIL(err, MODAL_ERROR_USAGE, "-%c: unknown option (see --help all)", optopt);
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: unknown option (see --help all)", word);
        }
        int option = found - 256;
        for (int i = 0; found < 256 && i < n; i++)
            if (table[i].letter == found) option = i;
        if (!(table[option].traits & TOOL_REPEATABLE) && tool_count(arguments, table[option].name) > 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: given twice", table[option].name);
        arguments->given[arguments->n_given++] = (tool_given){option, optarg ? optarg : ""};
    }
    arguments->operands = argv + optind;
    arguments->n_operands = argc - optind;
done:
    modal_free(&longs);
    modal_free(&shorts);
    if (status != MODAL_OK) tool_arguments_free(arguments);
    return status;
}

void tool_arguments_free(tool_arguments *arguments)
{
    modal_free(&arguments->given);
    arguments->n_given = 0;
}

int tool_count(const tool_arguments *arguments, const char *name)
{
    int option = find_option(arguments->table, name), count = 0;
    for (int i = 0; i < arguments->n_given; i++) count += arguments->given[i].option == option;
    return count;
}

const char *tool_value_at(const tool_arguments *arguments, const char *name, int i)
{
    int option = find_option(arguments->table, name);
    for (int k = 0; k < arguments->n_given; k++)
        if (arguments->given[k].option == option && i-- == 0) return arguments->given[k].value;
    return NULL;
}

const char *tool_value(const tool_arguments *arguments, const char *name)
{
    const char *value = tool_value_at(arguments, name, 0);
    return value ? value : arguments->table[find_option(arguments->table, name)].fallback;
}

modal_status tool_integer(const tool_arguments *arguments, const char *name, int64_t least,
                          int64_t most, int64_t *value, modal_error *err)
{
    const char *text = tool_value(arguments, name);
    if (!text) return MODAL_OK;
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)*text) || errno == ERANGE)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not a whole number, %s", name, text);
    if (number < least || number > most)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: must be in %lld .. %lld, %s", name,
                               (long long)least, (long long)most, text);
    *value = number;
    return MODAL_OK;
}

/* One finite number that ends at `end_mark`; returns where it ended, NULL when it is none. */
static const char *parse_number(const char *text, char end_mark, double *number)
{
    char *end = NULL;
    if (!(isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.'))
        return NULL; /* strtod would take blanks, nan and infinity */
    *number = strtod(text, &end);
    size_t length = (size_t)(end - text);
    if (end == text || *end != end_mark || !isfinite(*number) || strcspn(text, "xX") < length)
        return NULL;
    return end;
}

modal_status tool_number(const tool_arguments *arguments, const char *name, double least,
                         double most, double *value, modal_error *err)
{
    const char *text = tool_value(arguments, name);
    double number = 0;
    if (!text) return MODAL_OK;
    if (!parse_number(text, '\0', &number))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not a finite number, %s", name, text);
    if (!(number >= least && number <= most))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: must be in %g .. %g, %s", name, least,
                               most, text);
    *value = number;
    return MODAL_OK;
}

modal_status tool_percent(const tool_arguments *arguments, const char *name, double *share, modal_error *err)
{
    const char *text = tool_value(arguments, name), *end = NULL;
    double number = 0;
    if (!text) return MODAL_OK;
    end = parse_number(text, '%', &number);
    if (!end || end[1]) return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not a share such as 5%%, %s", name, text);
    if (!(number > 0 && number <= 1000))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: must be above 0 %% and up to 1000 %%, %s", name, text);
    *share = number / 100;
    return MODAL_OK;
}

modal_status tool_size(const tool_arguments *arguments, const char *name, int64_t *bytes,
                       modal_error *err)
{
    const char *text = tool_value(arguments, name);
    if (!text) return MODAL_OK;
    char *end = NULL;
    errno = 0;
    long long number = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
    int shift = 0;
    if (number >= 0 && *end) {
        const char *units = "KMGT", *unit = strchr(units, toupper((unsigned char)*end));
        if (unit && !end[1])
            shift = 10 * (int)(unit - units + 1);
        else
            number = -1;
    }
    if (number < 1 || errno == ERANGE || number > INT64_MAX >> shift)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not a size such as 800M or 4G, %s",
                               name, text);
    *bytes = number << shift;
    return MODAL_OK;
}

modal_status tool_parse_numbers(const char *text, int count, double *numbers, const char *what,
                                modal_error *err)
{
    const char *rest = text;
    for (int i = 0; i < count; i++) {
        rest = parse_number(rest, i + 1 < count ? ',' : '\0', &numbers[i]);
        if (!rest)
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "%s: needs %d finite number%s separated by commas, %s", what,
                                   count, count == 1 ? "" : "s", text);
        rest++;
    }
    return MODAL_OK;
}
