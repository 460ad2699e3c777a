/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/cad_unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"

static int ends_in(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

int modal_is_step(const char *path) { return ends_in(path, ".step") || ends_in(path, ".stp"); }

int modal_is_iges(const char *path) { return ends_in(path, ".iges") || ends_in(path, ".igs"); }

/* ---- STEP ---- */

typedef struct step_text {
    const char *at, *end;
} step_text;

/* The end of what is at c: of a text or a comment, else of the one character. */
static const char *step_over(const char *c, const char *end)
{
    if (*c == '\'') { /* a doubled quote ends a text and begins another */
        for (c++; c < end && *c != '\''; c++) continue;
    } else if (*c == '/' && end - c > 1 && c[1] == '*') {
        for (c += 3; c < end && !(c[0] == '/' && c[-1] == '*'); c++) continue;
    }
    return c < end ? c + 1 : end;
}

static int is_comment(const char *c, const char *end) { return end - c > 1 && c[0] == '/' && c[1] == '*'; }

/* The next statement, without its semicolon; 0 at the end. */
static int next_statement(step_text *text, step_text *statement)
{
    const char *c = text->at;
    while (c < text->end && (isspace((unsigned char)*c) || is_comment(c, text->end))) c = step_over(c, text->end);
    if (c == text->end) return 0;
    statement->at = c;
    while (c < text->end && *c != ';') c = step_over(c, text->end);
    statement->end = c;
    text->at = c < text->end ? c + 1 : c;
    return 1;
}

/* The place after a word of a statement, texts and comments left out; NULL: not there. */
static const char *after_word(step_text statement, const char *word)
{
    const int64_t length = (int64_t)strlen(word);
    for (const char *c = statement.at; c < statement.end; c = step_over(c, statement.end)) {
        if (statement.end - c < length || memcmp(c, word, (size_t)length) != 0) continue;
        if (c > statement.at && (isalnum((unsigned char)c[-1]) || c[-1] == '_')) continue;
        if (c + length < statement.end && (isalnum((unsigned char)c[length]) || c[length] == '_')) continue;
        return c + length;
    }
    return NULL;
}

static int64_t number_at(const char *c, const char *end)
{
    int64_t number = 0;
    for (; c < end && isdigit((unsigned char)*c) && number < INT64_MAX / 10 - 1; c++) number = 10 * number + (*c - '0');
    return number;
}

/* Appends the letters between two places, in small ones. */
static void add_letters(const char *from, const char *end, char *name, size_t size)
{
    size_t used = strlen(name);
    for (; from < end && used + 1 < size; from++)
        if (isprint((unsigned char)*from)) name[used++] = (char)tolower((unsigned char)*from);
    name[used] = '\0';
}

/* "millimetre" of SI_UNIT(.MILLI.,.METRE.), "inch" of CONVERSION_BASED_UNIT('INCH',#7). */
static void name_unit(step_text statement, char name[MODAL_CAD_UNIT])
{
    const char *c = after_word(statement, "CONVERSION_BASED_UNIT"), *end = statement.end;
    name[0] = '\0';
    if (c) {
        const char *open = memchr(c, '\'', (size_t)(end - c)),
                   *close = open ? memchr(open + 1, '\'', (size_t)(end - open - 1)) : NULL;
        if (close) add_letters(open + 1, close, name, 24);
    } else if ((c = after_word(statement, "SI_UNIT"))) {
        for (; c < end && *c != ')'; c++) {
            if (*c != '.') continue;
            const char *close = memchr(c + 1, '.', (size_t)(end - c - 1));
            if (!close) break;
            add_letters(c + 1, close, name, 24);
            c = close;
        }
    }
    if (!*name) snprintf(name, MODAL_CAD_UNIT, "a unit");
}

/* Gathers the units of all contexts, then looks for those of length. */
static void step_unit(step_text all, char unit[MODAL_CAD_UNIT])
{
    enum { MOST = 256 };
    int64_t units[MOST];
    int n = 0;
    step_text text = all, statement;
    while (next_statement(&text, &statement)) {
        const char *c = after_word(statement, "GLOBAL_UNIT_ASSIGNED_CONTEXT");
        for (; c && c < statement.end && *c != ')' && n < MOST; c++)
            if (*c == '#') units[n++] = number_at(c + 1, statement.end);
    }
    text = all;
    while (next_statement(&text, &statement)) {
        char name[MODAL_CAD_UNIT];
        int is_one = 0;
        if (*statement.at != '#' || !after_word(statement, "LENGTH_UNIT")) continue;
        const int64_t number = number_at(statement.at + 1, statement.end);
        for (int i = 0; i < n; i++) is_one |= units[i] == number;
        if (!is_one) continue;
        name_unit(statement, name);
        if (strstr(unit, name) || strlen(unit) + strlen(name) + 6 > MODAL_CAD_UNIT) continue;
        if (*unit) strcat(unit, " and ");
        strcat(unit, name);
    }
}

/* ---- IGES ---- */

/* The next character of the global section, whose lines have 72 before their letter; -1 at its end. */
static int next_global(const char *data, int64_t length, int64_t *at)
{
    enum { WIDTH = 72 };
    while (*at < length) {
        int64_t line = *at;
        while (line > 0 && data[line - 1] != '\n') line--;
        const int is_global = line + WIDTH < length && data[line + WIDTH] == 'G';
        if (is_global && *at < line + WIDTH) return (unsigned char)data[(*at)++];
        const char *end = memchr(data + *at, '\n', (size_t)(length - *at));
        *at = end ? end - data + 1 : length;
    }
    return -1;
}

/* Field after field, until `wanted`; texts are 4Habcd. 0: the section ends before. */
static int iges_field(const char *data, int64_t length, int wanted, char *value, size_t size)
{
    int64_t at = 0;
    int separator = ',', finish = ';', c = 0;
    for (int field = 1; field <= wanted; field++) {
        size_t used = 0;
        value[0] = '\0';
        for (;;) {
            c = next_global(data, length, &at);
            if (c < 0) return 0;
            if (c == separator || c == finish) break;
            if (c == 'H' && used > 0 && strspn(value, "0123456789") == used) {
                long n = strtol(value, NULL, 10);
                for (used = 0; n > 0; n--) {
                    if ((c = next_global(data, length, &at)) < 0) return 0;
                    if (used + 1 < size) value[used++] = (char)c;
                }
                value[used] = '\0';
                if (field == 1 && used == 1) separator = value[0];
                if (field == 2 && used == 1) finish = value[0];
                continue;
            }
            if (c != ' ' && used + 1 < size) value[used++] = (char)c;
            value[used] = '\0';
        }
        value[used] = '\0';
        if (c == finish && field < wanted) return 0;
    }
    return 1;
}

static modal_status iges_unit(const char *data, int64_t length, const char *path, char unit[MODAL_CAD_UNIT],
                              modal_error *err)
{
    static const char *const names[] = {"inch", "millimetre", NULL,         "foot",       "mile",     "metre",
                                        "kilometre", "mil",   "micrometre", "centimetre", "microinch"};
    char value[MODAL_CAD_UNIT] = "";
    if (!iges_field(data, length, 14, value, sizeof value))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: no IGES file, its global section has no field 14", path);
    const long flag = strtol(value, NULL, 10);
    if (flag == 3) {
        if (!iges_field(data, length, 15, value, sizeof value)) value[0] = '\0';
        add_letters(value, value + strlen(value), unit, MODAL_CAD_UNIT);
    } else if (flag >= 1 && flag <= 11) {
        snprintf(unit, MODAL_CAD_UNIT, "%s", names[flag - 1]);
    }
    return MODAL_OK;
}

modal_status modal_cad_unit(const char *path, char unit[MODAL_CAD_UNIT], modal_error *err)
{
    char *data;
    int64_t length;
    unit[0] = '\0';
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status != MODAL_OK) return status;
    const char mark[] = "ISO-10303-21";
    const int64_t marked = (int64_t)sizeof mark - 1;
    if (modal_is_iges(path)) status = iges_unit(data, length, path, unit, err);
    else if (length < marked || memcmp(data, mark, (size_t)marked) != 0)
        status = modal_error_set(err, MODAL_ERROR_INPUT, "%s: no STEP file, it does not begin with %s", path, mark);
    else step_unit((step_text){data, data + length}, unit);
    modal_free(&data);
    return status;
}
