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

/* ---- one value of a text ---- */

/* A step of a pointer, its ~1 and ~0 as they mean it. NULL: too long, or another ~. */
static const char *take_step(const char *pointer, char step[MODAL_JSON_PATH])
{
    size_t used = 0;
    for (pointer++; *pointer && *pointer != '/'; pointer++) {
        if (used + 2 > MODAL_JSON_PATH) return NULL;
        if (*pointer == '~' && pointer[1] != '0' && pointer[1] != '1') return NULL;
        step[used++] = *pointer != '~' ? *pointer : *++pointer == '0' ? '~' : '/';
    }
    step[used] = '\0';
    return pointer;
}

/* Whether the text [start, end) with its quotes is that key; it may be written with escapes. */
static int is_key(const char *start, const char *end, const char *key)
{
    const size_t length = strlen(key);
    if (!memchr(start, '\\', (size_t)(end - start))) return (size_t)(end - start) == length + 2 && strncmp(start + 1, key, length) == 0;
    json_t *text = json_loadb(start, (size_t)(end - start), JSON_DECODE_ANY, NULL);
    const int same = text && strcmp(json_string_value(text), key) == 0;
    json_decref(text);
    return same;
}

/* The value of a member of the object at c, NULL: it has none of that key. */
static const char *find_member(const char *c, const char *key)
{
    c = skip_blanks(c + 1);
    while (*c == '"') {
        const char *end = skip_string(c);
        const int same = is_key(c, end, key);
        c = skip_blanks(skip_blanks(end) + 1); /* past the colon */
        if (same) return c;
        c = skip_blanks(skip_value(c));
        if (*c == ',') c = skip_blanks(c + 1);
    }
    return NULL;
}

/* Element `index` of the list at c; *end: where the list's own end is, if it has fewer. */
static const char *find_element(const char *c, int64_t index, const char **end)
{
    c = skip_blanks(c + 1);
    for (int64_t i = 0; *c != ']'; i++) {
        if (i == index) return c;
        c = skip_blanks(skip_value(c));
        if (*c == ',') c = skip_blanks(c + 1);
    }
    *end = c;
    return NULL;
}

/* A text that has `length` bytes at `at` replaced by three pieces. */
static modal_status splice(const char *text, const char *at, size_t length, const char *const pieces[3], char **changed, modal_error *err)
{
    const size_t all = strlen(text) - length + strlen(pieces[0]) + strlen(pieces[1]) + strlen(pieces[2]) + 1;
    const modal_status status = modal_alloc(changed, (int64_t)all, 1, "text", err);
    if (status == MODAL_OK)
        snprintf(*changed, all, "%.*s%s%s%s%s", (int)(at - text), text, pieces[0], pieces[1], pieces[2], at + length);
    return status;
}

modal_status modal_json_set(const char *text, const char *assignment, char **changed, modal_error *err)
{
    modal_status status = MODAL_OK;
    char step[MODAL_JSON_PATH], key[6 * MODAL_JSON_PATH + 8]; /* \u001f for a byte */
    const char *value = strchr(assignment, '='), *pointer = assignment, *c = skip_blanks(text);
    char *path = NULL;
    json_error_t why;
    json_t *parsed = value ? json_loads(value + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why) : NULL;
    *changed = NULL;
    if (!value || *assignment != '/') MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: not /POINTER=VALUE", assignment);
    if (!parsed && json_error_code(&why) == json_error_duplicate_key)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: the value has a key twice", assignment);
    if (!parsed) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: the value is not JSON (a text needs its quotes)", assignment);
    MODAL_TRY(modal_copy_text(&path, assignment, (size_t)(value - assignment), err));
    for (pointer = path; *pointer;) {
        const char *end = NULL;
        char *rest = NULL;
        pointer = take_step(pointer, step);
        if (!pointer) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: not a JSON pointer", assignment);
        const int last = !*pointer;
        if (*c == '{') {
            const char *member = find_member(c, step);
            if (!member && last) {
                const char *inside = c + 1;
                char *quoted = NULL;
                json_t *name = json_string(step);
                if (name) quoted = json_dumps(name, JSON_ENCODE_ANY);
                json_decref(name);
                if (!quoted) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: not a key", assignment);
                snprintf(key, sizeof key, "%s: ", quoted);
                free(quoted);
                const char *const pieces[3] = {key, value + 1, *skip_blanks(inside) == '}' ? "" : ", "};
                MODAL_TRY(splice(text, inside, 0, pieces, changed, err));
                goto done;
            }
            if (!member) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: there is no \"%s\" on the way", assignment, step);
            c = member;
        } else if (*c == '[') {
            const int append = last && strcmp(step, "-") == 0;
            const int64_t index = append ? -1 : strtoll(step, &rest, 10);
            if (!append && (!*step || *rest || index < 0 || !isdigit((unsigned char)*step) || (*step == '0' && step[1])))
                MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: \"%s\" is no place of a list", assignment, step);
            const char *element = find_element(c, index, &end);
            if (append) {
                const char *const pieces[3] = {*skip_blanks(c + 1) == ']' ? "" : ", ", value + 1, ""};
                MODAL_TRY(splice(text, end, 0, pieces, changed, err));
                goto done;
            }
            if (!element) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: the list has no element %s", assignment, step);
            c = element;
        } else {
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: \"%s\" leads into a value without members", assignment, step);
        }
    }
    const char *const pieces[3] = {"", value + 1, ""};
    MODAL_TRY(splice(text, c, (size_t)(skip_value(c) - c), pieces, changed, err));
done:
    json_decref(parsed);
    modal_free(&path);
    return status;
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

modal_status modal_json_open(modal_json_source *source, const char *text, size_t length, modal_json_place *root)
{
    modal_status status = MODAL_OK;
    json_error_t why;
    modal_error *err = source->err;
    if (memchr(text, '\0', length)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: a NUL byte, no text", source->name);
    MODAL_TRY(modal_copy_text(&source->copy, text, length, err));
    source->text = strncmp(source->copy, "\xef\xbb\xbf", 3) == 0 ? source->copy + 3 : source->copy;
    const char *deep = too_deep(source->text);
    if (deep) {
        int line = 1;
        for (const char *c = source->text; c < deep; c++) line += *c == '\n';
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: nested more than %d deep, %c", source->name, line, MODAL_JSON_DEPTH, *deep);
    }
    source->json = json_loads(source->text, JSON_REJECT_DUPLICATES, &why);
    if (!source->json)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: %s", source->name, why.line > 0 ? why.line : 1, why.text);
    *root = (modal_json_place){source, source->json, ""};
done:
    return status;
}

void modal_json_close(modal_json_source *source)
{
    json_decref(source->json);
    modal_free(&source->copy);
    source->json = NULL;
    source->text = NULL;
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

int modal_json_line(const modal_json_place *place)
{
    const char *at = find(place->source->text, place->path);
    int line = 1;
    for (const char *c = place->source->text; c < at; c++) line += *c == '\n';
    return line;
}

modal_status modal_json_wrong(const modal_json_place *place, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    char *value = json_dumps(place->value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    modal_error_set(place->source->err, MODAL_ERROR_INPUT, "%s:%d: %s: %s, %.60s%s", place->source->name,
                    modal_json_line(place), place->path[0] ? place->path : "/", what, value ? value : "",
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

modal_status modal_json_list(const modal_json_place *place, size_t least, size_t most, const char *kind, void *items, size_t item_bytes, size_t *count)
{
    const modal_status status = modal_json_array(place, least);
    if (status != MODAL_OK) return status;
    *count = json_array_size(place->value);
    if (*count > most) return modal_json_wrong(place, "more than %zu %s", most, kind);
    return modal_alloc_zero(items, (int64_t)*count, item_bytes, kind, place->source->err);
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
        return strcmp(unit, "1") == 0 ? modal_json_wrong(place, "not a number")
                                      : modal_json_wrong(place, "not a number (in %s, without the unit)", unit);
    const double x = json_number_value(place->value);
    if (!(x >= least && x <= most))
        return strcmp(unit, "1") == 0 ? modal_json_wrong(place, "must be in %g .. %g", least, most)
                                      : modal_json_wrong(place, "must be in %g .. %g %s", least, most, unit);
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
        return strcmp(unit, "1") == 0 ? modal_json_wrong(place, "not %d numbers", count)
                                      : modal_json_wrong(place, "not %d numbers (in %s)", count, unit);
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
