/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an .inp file and of those that it includes: fields, numbers, keywords with their parameters. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "lib/base/memory.h"

/* ---- lines and fields ---- */

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inp_word trim(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin)) begin++;
    while (begin < end && is_blank(end[-1])) end--;
    return (inp_word){begin, end - begin};
}

int inp_field(modal_text *text, inp_word *field)
{
    const char *begin = text->data + text->position, *end = text->data + text->length;
    while (begin < end && is_blank(*begin)) begin++;
    text->at = begin - text->data;
    *field = (inp_word){begin, 0};
    if (begin == end || *begin == '\n') {
        text->position = text->at;
        return 0;
    }
    const char *stop = begin;
    while (stop < end && *stop != ',' && *stop != '\n') stop++;
    *field = trim(begin, stop);
    text->position = stop - text->data + (stop < end && *stop == ',');
    return 1;
}

static modal_status need_field(modal_text *text, const char *what, inp_word *field)
{
    if (inp_field(text, field)) return MODAL_OK;
    return modal_text_fail(text, "%s missing", what);
}

modal_status inp_integer(modal_text *text, const char *what, int64_t *value)
{
    inp_word field;
    char quoted[MODAL_QUOTE];
    modal_status status = need_field(text, what, &field);
    if (status != MODAL_OK) return status;
    modal_number result = modal_parse_integer(field.text, field.length, value);
    if (result == MODAL_NUMBER_OK && *value >= 0) return MODAL_OK;
    return modal_text_fail(text,
                           result == MODAL_NUMBER_MALFORMED ? "%s is not a whole number, '%s'"
                                                            : "%s out of range, %s",
                           what, modal_quote(quoted, field.text, field.length));
}

modal_status inp_real(modal_text *text, const char *what, double *value)
{
    inp_word field;
    char quoted[MODAL_QUOTE], copy[64];
    modal_status status = need_field(text, what, &field);
    if (status != MODAL_OK) return status;
    const char *digits = field.text;
    if (field.length < (int64_t)sizeof copy &&
        (memchr(digits, 'd', (size_t)field.length) || memchr(digits, 'D', (size_t)field.length))) {
        for (int64_t i = 0; i < field.length; i++)
            copy[i] = digits[i] == 'd' || digits[i] == 'D' ? 'e' : digits[i];
        digits = copy;
    }
    modal_number result = modal_parse_real(digits, field.length, value);
    if (result == MODAL_NUMBER_OK) return MODAL_OK;
    return modal_text_fail(text,
                           result == MODAL_NUMBER_RANGE ? "NaN or infinite %s, '%s'"
                                                        : "%s is not a number, '%s'",
                           what, modal_quote(quoted, field.text, field.length));
}

modal_status inp_end_line(modal_text *text)
{
    inp_word field;
    char quoted[MODAL_QUOTE];
    if (inp_field(text, &field))
        return modal_text_fail(text, "end of the line expected, '%s'",
                               modal_quote(quoted, field.text, field.length));
    modal_text_skip_line(text);
    return MODAL_OK;
}

modal_status inp_real_or_zero(modal_text *text, const char *what, double *value)
{
    modal_text ahead = *text;
    inp_word field;
    *value = 0;
    if (inp_field(&ahead, &field) && field.length > 0) return inp_real(text, what, value);
    *text = ahead;
    return MODAL_OK;
}

/* The next line of this file that is neither blank nor a comment, `**` (`>**` in some). */
static int seek_in_file(modal_text *text)
{
    while (modal_text_seek_token(text)) {
        const char *at = text->data + text->position, *end = text->data + text->length;
        if (*at == '>') at++;
        if (end - at < 2 || at[0] != '*' || at[1] != '*') return 1;
        modal_text_skip_line(text);
    }
    return 0;
}

int inp_is(inp_word word, const char *name)
{
    for (int64_t i = 0; i < word.length; i++) {
        if (is_blank(word.text[i])) continue;
        if (*name == '\0' || toupper((unsigned char)word.text[i]) != *name) return 0;
        name++;
    }
    return *name == '\0';
}

/* ---- keyword lines ---- */

modal_status inp_read_keyword(inp_reader *reader, inp_keyword *keyword)
{
    modal_text *text = &reader->text;
    enum { MOST = sizeof keyword->parameters / sizeof *keyword->parameters };
    inp_word field;
    char quoted[MODAL_QUOTE];
    memset(keyword, 0, sizeof *keyword);
    text->subject = NULL;
    keyword->at = inp_here(reader);
    if (!inp_field(text, &field) || *field.text != '*')
        return modal_text_fail(text, "keyword expected, '%s'",
                               modal_quote(quoted, field.text, field.length));
    keyword->name = trim(field.text + 1, field.text + field.length);
    for (;;) {
        if (!inp_field(text, &field)) {
            /* A comma at the end continues the line, but some leave one behind: parameters begin with letters. */
            int64_t last = text->position;
            while (last > 0 && is_blank(text->data[last - 1])) last--;
            if (last == 0 || text->data[last - 1] != ',') break;
            modal_text_skip_line(text);
            if (!seek_in_file(text) || !isalpha((unsigned char)text->data[text->position])) return MODAL_OK;
            continue;
        }
        const char *end = field.text + field.length,
                   *equals = memchr(field.text, '=', (size_t)field.length);
        if (keyword->n == MOST) return modal_text_fail(text, "more than %d parameters", MOST);
        inp_word value = equals ? trim(equals + 1, end) : (inp_word){end, 0};
        if (value.length >= 2 && value.text[0] == '"' && value.text[value.length - 1] == '"')
            value = (inp_word){value.text + 1, value.length - 2};
        keyword->parameters[keyword->n].key = trim(field.text, equals ? equals : end);
        keyword->parameters[keyword->n++].value = value;
    }
    modal_text_skip_line(text);
    return MODAL_OK;
}

const inp_word *inp_parameter(inp_keyword *keyword, const char *key)
{
    for (int i = 0; i < keyword->n; i++)
        if (inp_is(keyword->parameters[i].key, key)) {
            keyword->parameters[i].used = 1;
            return &keyword->parameters[i].value;
        }
    return NULL;
}

modal_status inp_keyword_fail(const inp_reader *reader, const inp_keyword *keyword, const char *what)
{
    char name[MODAL_QUOTE];
    modal_text where = reader->text;
    where.name = keyword->at.file;
    where.line = keyword->at.line;
    return modal_text_fail(&where, "*%s: %s",
                           modal_quote(name, keyword->name.text, keyword->name.length), what);
}

modal_status inp_check_parameters(const inp_reader *reader, const inp_keyword *keyword)
{
    char key[MODAL_QUOTE], what[128];
    for (int i = 0; i < keyword->n; i++) {
        inp_word parameter = keyword->parameters[i].key;
        if (keyword->parameters[i].used) continue;
        snprintf(what, sizeof what, "parameter %s is not supported",
                 modal_quote(key, parameter.text, parameter.length));
        return inp_keyword_fail(reader, keyword, what);
    }
    return MODAL_OK;
}

/* ---- files that are included ---- */

inp_place inp_here(const inp_reader *reader) { return (inp_place){reader->text.name, reader->text.line}; }

void inp_tell(inp_reader *reader, inp_place at)
{
    reader->text.name = at.file;
    reader->text.line = at.line;
}

modal_status inp_include(inp_reader *reader, inp_word name)
{
    enum { MOST_FILES = 1000, MOST_DEEP = 32 }; /* a circle ends here, too */
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    char *path = NULL;
    int64_t length;
    int deep = 0;
    MODAL_TRY(modal_text_beside(&reader->text, name.text, name.length, &path));
    const char *name_above = reader->text.name;
    for (int i = reader->file;; i = reader->files[i].includer, deep++) {
        if (strcmp(name_above, path) == 0) MODAL_TRY(modal_text_fail(&reader->text, "the file includes itself, %s", path));
        if (i < 0) break;
        name_above = reader->files[i].before.name;
    }
    if (deep == MOST_DEEP || reader->n_files == MOST_FILES)
        MODAL_TRY(modal_text_fail(&reader->text, "more than %d files included%s, %s", deep == MOST_DEEP ? MOST_DEEP : MOST_FILES,
                                  deep == MOST_DEEP ? " one by another" : "", path));
    MODAL_TRY(modal_grow(&reader->files, &reader->file_capacity, reader->n_files + 1, sizeof *reader->files, "files", err));
    inp_file *file = &reader->files[reader->n_files];
    *file = (inp_file){.includer = reader->file, .before = reader->text};
    reader->n_files++;
    file->path = path;
    path = NULL;
    status = modal_file_load(file->path, &file->data, &length, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s:%lld: *INCLUDE", reader->text.name, (long long)reader->text.line);
        goto done;
    }
    reader->file = (int)reader->n_files - 1;
    reader->n_bytes += length;
    modal_text_init(&reader->text, file->path, file->data, length, err);
    reader->text.subject = file->before.subject;
    reader->text.number = file->before.number;
done:
    modal_free(&path);
    return status;
}

/* Goes on in the file that named this one; 0: there is none. */
static int leave_file(inp_reader *reader)
{
    if (reader->file < 0) return 0;
    const inp_file *file = &reader->files[reader->file];
    const char *subject = reader->text.subject;
    const int64_t number = reader->text.number;
    reader->file = file->includer;
    reader->text = file->before;
    reader->text.subject = subject;
    reader->text.number = number;
    return 1;
}

static modal_status read_include(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    inp_keyword keyword;
    const char *subject = reader->text.subject;
    MODAL_TRY(inp_read_keyword(reader, &keyword));
    reader->text.subject = subject;
    const inp_word *input = inp_parameter(&keyword, "INPUT");
    if (!input) return inp_keyword_fail(reader, &keyword, "parameter INPUT missing");
    MODAL_TRY(inp_check_parameters(reader, &keyword));
    MODAL_TRY(inp_include(reader, *input));
done:
    return status;
}

static int is_include(const modal_text *text)
{
    modal_text ahead = *text;
    inp_word field;
    return text->data[text->position] == '*' && inp_field(&ahead, &field) &&
           inp_is((inp_word){field.text + 1, field.length - 1}, "INCLUDE");
}

int inp_seek_line(inp_reader *reader)
{
    while (reader->failed == MODAL_OK) {
        if (!seek_in_file(&reader->text)) {
            if (!leave_file(reader)) return 0;
        } else if (!is_include(&reader->text)) {
            return 1;
        } else {
            reader->failed = read_include(reader);
        }
    }
    return 0;
}

int inp_data_line(inp_reader *reader)
{
    return inp_seek_line(reader) && reader->text.data[reader->text.position] != '*';
}

void inp_skip_data(inp_reader *reader)
{
    while (inp_data_line(reader)) modal_text_skip_line(&reader->text);
}

void inp_free_files(inp_reader *reader)
{
    for (int64_t i = 0; i < reader->n_files; i++) {
        modal_free(&reader->files[i].path);
        modal_free(&reader->files[i].data);
    }
    modal_free(&reader->files);
}
