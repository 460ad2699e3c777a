/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/json_place.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

/* ---- the line of a place: Jansson keeps none, so the text, which it has found sound, is gone through
 * again along the path ---- */

static const char *skip_blanks(const char *c)
{
    while (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r') c++;
    return c;
}

static const char *skip_string(const char *c)
{
    for (c++; *c && *c != '"'; c++)
        if (*c == '\\' && c[1]) c++;
    return *c ? c + 1 : c;
}

static const char *skip_value(const char *c)
{
    int depth = 0;
    c = skip_blanks(c);
    do {
        if (*c == '"') {
            c = skip_string(c);
            continue;
        }
        if (*c == '{' || *c == '[') depth++;
        if (*c == '}' || *c == ']') depth--;
        if (!*c) return c;
        c++;
        if (depth == 0 && (c[-1] == '}' || c[-1] == ']')) return c;
    } while (depth > 0 || (*c && !strchr(",}] \t\r\n", *c)));
    return c;
}

/* The value at the path, or as far as it leads; for a member, its key. */
static const char *find(const char *text, const char *path)
{
    const char *c = skip_blanks(text), *at = c;
    while (*path == '/') {
        const char *step = path + 1;
        const size_t length = strcspn(step, "/");
        path = step + length;
        if (*c == '[') {
            long index = strtol(step, NULL, 10);
            c = skip_blanks(c + 1);
            while (index-- > 0) {
                c = skip_blanks(skip_value(c));
                if (*c != ',') return at;
                c = skip_blanks(c + 1);
            }
            at = c;
        } else if (*c == '{') {
            c = skip_blanks(c + 1);
            for (;;) {
                if (*c != '"') return at;
                const char *key = c, *end = skip_string(c);
                c = skip_blanks(end);
                if (*c != ':') return at;
                c = skip_blanks(c + 1);
                if ((size_t)(end - key - 2) == length && strncmp(key + 1, step, length) == 0) {
                    at = key;
                    break;
                }
                c = skip_blanks(skip_value(c));
                if (*c != ',') return at;
                c = skip_blanks(c + 1);
            }
        } else {
            return at;
        }
    }
    return at;
}

/* Where values are nested too deep: the parser calls itself for each of them, on stacks that may be small. */
static const char *too_deep(const char *text)
{
    int depth = 0;
    for (const char *c = text; *c;) {
        depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
        if (depth > MODAL_JSON_DEPTH) return c;
        c = *c == '"' ? skip_string(c) : c + 1;
    }
    return NULL;
}

modal_status modal_json_parse(modal_json_source *source, const char *text, size_t length, char **copy, json_t **json)
{
    modal_status status = MODAL_OK;
    json_error_t why;
    modal_error *err = source->err;
    if (memchr(text, '\0', length)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: a NUL byte, no text", source->name);
    MODAL_TRY(modal_copy_text(copy, text, length, err));
    source->text = strncmp(*copy, "\xef\xbb\xbf", 3) == 0 ? *copy + 3 : *copy;
    const char *deep = too_deep(source->text);
    if (deep) {
        int line = 1;
        for (const char *c = source->text; c < deep; c++) line += *c == '\n';
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: nested more than %d deep, %c", source->name, line, MODAL_JSON_DEPTH, *deep);
    }
    *json = json_loads(source->text, JSON_REJECT_DUPLICATES, &why);
    if (!*json)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: %s", source->name, why.line > 0 ? why.line : 1, why.text);
done:
    return status;
}

void modal_json_lines(const modal_json_place *place, int32_t *lines)
{
    const char *from = place->source->text, *at = find(from, place->path);
    int32_t line = 1;
    if (*at == '"') at = skip_blanks(skip_blanks(skip_string(at)) + 1); /* past the key */
    at = skip_blanks(at + 1);
    for (size_t i = 0; i < json_array_size(place->value); i++) {
        for (; from < at; from++) line += *from == '\n';
        lines[i] = line;
        at = skip_blanks(skip_blanks(skip_value(at)) + 1); /* past the comma */
    }
}

modal_status modal_json_wrong(const modal_json_place *place, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *at = find(place->source->text, place->path);
    int line = 1;
    for (const char *c = place->source->text; c < at; c++) line += *c == '\n';
    char *value = json_dumps(place->value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    modal_error_set(place->source->err, MODAL_ERROR_INPUT, "%s:%d: %s: %s, %.60s%s", place->source->name,
                    line, place->path[0] ? place->path : "/", what, value ? value : "",
                    value && strlen(value) > 60 ? "..." : "");
    free(value);
    return MODAL_ERROR_INPUT;
}

static int is_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *c = words; *c; c += strspn(c, " ")) {
        const size_t n = strcspn(c, " ");
        if (n == length && strncmp(c, word, n) == 0) return 1;
        c += n;
    }
    return 0;
}

static void extend(const modal_json_place *place, const char *step, json_t *value, modal_json_place *to)
{
    char path[MODAL_JSON_PATH];
    const size_t used = strlen(place->path);
    memcpy(path, place->path, used);
    snprintf(path + used, sizeof path - used, "/%s", step);
    to->source = place->source;
    to->value = value;
    memcpy(to->path, path, sizeof path);
}

modal_status modal_json_object(const modal_json_place *place, const char *keys)
{
    const char *key;
    json_t *value;
    if (!json_is_object(place->value)) return modal_json_wrong(place, "not an object");
    json_object_foreach(place->value, key, value)
    {
        modal_json_place member;
        if (is_word(keys, key)) continue;
        extend(place, key, value, &member);
        if (strcmp(key, "comment") == 0) {
            size_t i;
            json_t *line;
            int is_text = json_is_string(value) || json_is_array(value);
            json_array_foreach (value, i, line) is_text &= json_is_string(line);
            if (!is_text) return modal_json_wrong(&member, "not a text or a list of texts");
            continue;
        }
        return modal_json_wrong(&member, "unknown key, there are: %s", keys);
    }
    return MODAL_OK;
}

int modal_json_member(const modal_json_place *place, const char *key, modal_json_place *member)
{
    json_t *value = json_object_get(place->value, key);
    if (!value) return 0;
    extend(place, key, value, member);
    return 1;
}

modal_status modal_json_required(const modal_json_place *place, const char *key, modal_json_place *member)
{
    if (modal_json_member(place, key, member)) return MODAL_OK;
    return modal_json_wrong(place, "\"%s\" is missing", key);
}

modal_status modal_json_array(const modal_json_place *place, size_t least)
{
    if (!json_is_array(place->value)) return modal_json_wrong(place, "not an array");
    if (json_array_size(place->value) < least)
        return modal_json_wrong(place, "too few items, at least %zu", least);
    return MODAL_OK;
}

void modal_json_item(const modal_json_place *place, size_t index, modal_json_place *item)
{
    char step[32];
    snprintf(step, sizeof step, "%zu", index);
    extend(place, step, json_array_get(place->value, index), item);
}

modal_status modal_json_number(const modal_json_place *place, double least, double most, const char *unit,
                               double *value)
{
    if (!json_is_number(place->value))
        return modal_json_wrong(place, "not a number (in %s, without the unit)", unit);
    const double x = json_number_value(place->value);
    if (!(x >= least && x <= most))
        return modal_json_wrong(place, "must be in %g .. %g %s", least, most, unit);
    *value = x;
    return MODAL_OK;
}

modal_status modal_json_integer(const modal_json_place *place, int64_t least, int64_t most, int64_t *value)
{
    if (!json_is_integer(place->value)) return modal_json_wrong(place, "not a whole number");
    const int64_t x = json_integer_value(place->value);
    if (x < least || x > most)
        return modal_json_wrong(place, "must be in %lld .. %lld", (long long)least, (long long)most);
    *value = x;
    return MODAL_OK;
}

modal_status modal_json_vector(const modal_json_place *place, int count, const char *unit, double *values)
{
    if (!json_is_array(place->value) || json_array_size(place->value) != (size_t)count)
        return modal_json_wrong(place, "not %d numbers (in %s)", count, unit);
    for (int i = 0; i < count; i++) {
        modal_json_place item;
        modal_json_item(place, (size_t)i, &item);
        modal_status status = modal_json_number(&item, -1e300, 1e300, unit, &values[i]);
        if (status != MODAL_OK) return status;
    }
    return MODAL_OK;
}

modal_status modal_json_text(const modal_json_place *place, const char **text)
{
    *text = json_string_value(place->value);
    if (!*text) return modal_json_wrong(place, "not a text");
    if (**text == '\0') return modal_json_wrong(place, "an empty text");
    if (strlen(*text) != json_string_length(place->value)) return modal_json_wrong(place, "holds a NUL");
    return MODAL_OK;
}

modal_status modal_json_boolean(const modal_json_place *place, int *value)
{
    if (!json_is_boolean(place->value)) return modal_json_wrong(place, "not true or false");
    *value = json_is_true(place->value);
    return MODAL_OK;
}

modal_status modal_json_optional_number(const modal_json_place *object, const char *key, double least,
                                        double most, const char *unit, double *value)
{
    modal_json_place member;
    if (!modal_json_member(object, key, &member)) return MODAL_OK;
    return modal_json_number(&member, least, most, unit, value);
}

modal_status modal_json_optional_vector(const modal_json_place *object, const char *key, int count,
                                        const char *unit, double *values)
{
    modal_json_place member;
    if (!modal_json_member(object, key, &member)) return MODAL_OK;
    return modal_json_vector(&member, count, unit, values);
}
