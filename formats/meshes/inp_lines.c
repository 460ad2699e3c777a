/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an .inp file: fields, numbers, keywords with their parameters. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/inp_reader.h"

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

int inp_seek_line(modal_text *text)
{
    while (modal_text_seek_token(text)) {
        const char *at = text->data + text->position;
        if (text->length - text->position < 2 || at[0] != '*' || at[1] != '*') return 1;
        modal_text_skip_line(text);
    }
    return 0;
}

int inp_data_line(modal_text *text)
{
    return inp_seek_line(text) && text->data[text->position] != '*';
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

modal_status inp_read_keyword(modal_text *text, inp_keyword *keyword)
{
    enum { MOST = sizeof keyword->parameters / sizeof *keyword->parameters };
    inp_word field;
    char quoted[MODAL_QUOTE];
    memset(keyword, 0, sizeof *keyword);
    text->subject = NULL;
    keyword->line = text->line;
    if (!inp_field(text, &field) || *field.text != '*')
        return modal_text_fail(text, "keyword expected, '%s'",
                               modal_quote(quoted, field.text, field.length));
    keyword->name = trim(field.text + 1, field.text + field.length);
    for (;;) {
        if (!inp_field(text, &field)) {
            /* A comma at the end continues the line. */
            int64_t last = text->position;
            while (last > 0 && is_blank(text->data[last - 1])) last--;
            if (last == 0 || text->data[last - 1] != ',') break;
            modal_text_skip_line(text);
            if (!inp_data_line(text)) return modal_text_fail(text, "parameter expected after a comma");
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
    where.line = keyword->line;
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
