/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/text_reader.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/below.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

/* The fast path of modal_parse_real rounds once only where doubles are computed as doubles. */
_Static_assert(FLT_EVAL_METHOD == 0, "needs arithmetic in double");

/* ---- files ---- */

static modal_status read_all(int file, const char *path, int64_t expected, char **data,
                             int64_t *length, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    for (;;) {
        /* One byte more than expected, so that a regular file is read without growing. */
        MODAL_TRY(modal_grow(data, &capacity, *length < expected ? expected + 1 : *length + 1, 1,
                             "file contents", err));
        ssize_t got = read(file, *data + *length, (size_t)(capacity - *length));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: read error, %s", path, strerror(errno));
        if (got == 0) break;
        *length += got;
    }
    if (*length == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: empty file", path);
done:
    return status;
}

modal_status modal_file_load(const char *path, char **data, int64_t *length, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    *data = NULL;
    *length = 0;
    const int file = modal_disk_open(path);
    if (file < 0)
        MODAL_FAIL(err, modal_disk_open_status(errno), "%s: cannot open, %s", path, strerror(errno));
    if (fstat(file, &info) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot stat, %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: is a directory", path);
    if (!S_ISREG(info.st_mode)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not a regular file", path);
    status = read_all(file, path, (int64_t)info.st_size, data, length, err);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", path);
done:
    if (file >= 0) close(file);
    if (status != MODAL_OK) {
        modal_free(data);
        *length = 0;
    }
    return status;
}

modal_status modal_text_beside(const modal_text *text, const char *name, int64_t length, char **path)
{
    if (length == 0 || length >= PATH_MAX || memchr(name, '\0', (size_t)length))
        return modal_text_fail(text, "name of a file is missing or too long");
    const modal_status status = modal_path_beside(text->name, name, length, path, text->err);
    if (status != MODAL_OK || strlen(*path) < PATH_MAX) return status;
    modal_free(path);
    return modal_text_fail(text, "name of a file is missing or too long");
}

/* ---- messages ---- */

void modal_text_let_go(modal_text *text)
{
    enum { STEP = 4 << 20 };
    if (!text->passing || text->position - text->let_go < STEP) return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)(text->data + text->let_go) + page - 1) / page * page;
    const uintptr_t end = (uintptr_t)(text->data + text->position) / page * page;
    /* private memory of malloc; where the system keeps it nothing is lost */
    if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
    text->let_go = text->position;
}

void modal_text_init(modal_text *text, const char *name, const char *data, int64_t length,
                     modal_error *err)
{
    *text = (modal_text){.name = name, .data = data, .length = length, .line = 1, .err = err};
    if (length >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) text->position = 3;
}

modal_status modal_text_fail(const modal_text *text, const char *format, ...)
{
    char message[MODAL_ERROR_TEXT], subject[96] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (text->subject)
        snprintf(subject, sizeof subject, "%s %lld: ", text->subject, (long long)text->number);
    if (text->binary)
        return modal_error_set(text->err, MODAL_ERROR_INPUT, "%s: byte %lld: %s%s", text->name,
                               (long long)text->at, subject, message);
    return modal_error_set(text->err, MODAL_ERROR_INPUT, "%s:%lld: %s%s", text->name,
                           (long long)text->line, subject, message);
}

const char *modal_quote(char quoted[MODAL_QUOTE], const char *token, int64_t length)
{
    enum { LONGEST = 40 };
    int64_t kept = length > LONGEST ? LONGEST : length;
    for (int64_t i = 0; i < kept; i++)
        quoted[i] = token[i] >= ' ' && token[i] <= '~' ? token[i] : '?';
    strcpy(quoted + kept, length > LONGEST ? "..." : "");
    return quoted;
}

int modal_token_is(const char *token, int64_t length, const char *word)
{
    return (size_t)length == strlen(word) && memcmp(token, word, (size_t)length) == 0;
}

int modal_token_is_like(const char *token, int64_t length, const char *word)
{
    return (size_t)length == strlen(word) && strncasecmp(token, word, (size_t)length) == 0;
}

/* ---- tokens and lines ---- */

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/* Skips blanks, and line ends that a backslash makes void. */
static void skip_blanks(modal_text *text)
{
    for (; text->position < text->length; text->position++) {
        if (is_blank(text->data[text->position])) continue;
        if (!text->continuations || text->data[text->position] != '\\') return;
        int64_t next = text->position + 1;
        if (next < text->length && text->data[next] == '\r') next++;
        if (next >= text->length || text->data[next] != '\n') return;
        text->position = next;
        text->line++;
    }
}

/* At the end of a line or file, or at a comment. */
static int line_is_over(const modal_text *text)
{
    return text->position >= text->length || text->data[text->position] == '\n' ||
           (text->comments && text->data[text->position] == '#');
}

int modal_text_token(modal_text *text, const char **token, int64_t *length)
{
    skip_blanks(text);
    text->at = text->position;
    *token = text->data + text->position;
    *length = 0;
    if (line_is_over(text)) return 0;
    int64_t end = text->position;
    for (; end < text->length; end++) {
        char c = text->data[end];
        if (is_blank(c) || c == '\n' || (c == ',' && text->commas)) break;
        if (c == '\\' && text->continuations && end > text->position) {
            int64_t next = end + 1;
            if (next < text->length && text->data[next] == '\r') next++;
            if (next < text->length && text->data[next] == '\n') break;
        }
    }
    *length = end - text->position;
    text->position = end;
    if (text->commas) {
        skip_blanks(text);
        if (text->position < text->length && text->data[text->position] == ',') text->position++;
    }
    return 1;
}

void modal_text_skip_line(modal_text *text)
{
    if (text->position >= text->length) return;
    const char *newline =
        memchr(text->data + text->position, '\n', (size_t)(text->length - text->position));
    text->position = newline ? newline - text->data + 1 : text->length;
    if (newline) text->line++;
}

modal_status modal_text_end_line(modal_text *text)
{
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    if (modal_text_token(text, &token, &length))
        return modal_text_fail(text, "end of the line expected, '%s'",
                               modal_quote(quoted, token, length));
    modal_text_skip_line(text);
    return MODAL_OK;
}

int modal_text_seek_token(modal_text *text)
{
    for (;;) {
        skip_blanks(text);
        if (!line_is_over(text)) return 1;
        if (text->position >= text->length) return 0;
        modal_text_skip_line(text);
    }
}

int modal_text_line_is_ended(const modal_text *text)
{
    return text->position < text->length &&
           memchr(text->data + text->position, '\n', (size_t)(text->length - text->position));
}

modal_status modal_text_check_count(const modal_text *text, const char *what, int64_t count,
                                    int64_t bytes)
{
    int64_t left = text->length - text->position;
    /* The newline of the last record is not needed. */
    if (count <= (left + 1) / bytes) return MODAL_OK;
    return modal_text_fail(text, "%lld %s cannot be in the %lld bytes left of the file",
                           (long long)count, what, (long long)left);
}

/* ---- numbers ---- */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

modal_number modal_parse_integer(const char *token, int64_t length, int64_t *value)
{
    int64_t i = 0, number = 0;
    int negative = 0;
    if (i < length && (token[i] == '-' || token[i] == '+')) negative = token[i++] == '-';
    if (i == length) return MODAL_NUMBER_MALFORMED;
    modal_number result = MODAL_NUMBER_OK;
    for (; i < length; i++) {
        if (!is_digit(token[i])) return MODAL_NUMBER_MALFORMED;
        int digit = token[i] - '0';
        if (result == MODAL_NUMBER_OK && (__builtin_mul_overflow(number, (int64_t)10, &number) ||
                                          __builtin_sub_overflow(number, (int64_t)digit, &number)))
            result = MODAL_NUMBER_RANGE;
    }
    /* Counted downwards, since the least number has no positive counterpart. */
    if (!negative && number == INT64_MIN) result = MODAL_NUMBER_RANGE;
    if (result == MODAL_NUMBER_OK) *value = negative ? number : -number;
    return result;
}

/* nan, inf and infinity in any case, with a sign or in front of a bracket. */
static int is_not_finite_word(const char *token, int64_t length)
{
    if (length > 0 && (*token == '-' || *token == '+')) token++, length--;
    return (length >= 3 && strncasecmp(token, "nan", 3) == 0) ||
           modal_token_is_like(token, length, "inf") ||
           modal_token_is_like(token, length, "infinity");
}

/* The value of digits x 10^exponent, by strtod: without a decimal point no locale matters. */
static modal_number convert_exactly(const char *digits, int n_digits, int64_t exponent,
                                    int negative, double *value)
{
    char text[MODAL_REAL_DIGITS + 32];
    memcpy(text, digits, (size_t)n_digits);
    snprintf(text + n_digits, sizeof text - (size_t)n_digits, "e%lld", (long long)exponent);
    double magnitude = strtod(text, NULL);
    if (!isfinite(magnitude)) return MODAL_NUMBER_RANGE;
    *value = negative ? -magnitude : magnitude;
    return MODAL_NUMBER_OK;
}

modal_number modal_parse_real(const char *token, int64_t length, double *value)
{
    /* Powers of ten that are doubles: one rounding remains when one of them and a whole number up
     * to 2^53 are multiplied or divided (Clinger, How to read floating point numbers accurately,
     * 1990). */
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_TENS = 22, WHOLE_DIGITS = 18 };
    char digits[MODAL_REAL_DIGITS];
    int n_digits = 0, seen = 0, too_long = 0, negative = 0, fraction = 0;
    int64_t i = 0, exponent = 0;
    uint64_t whole = 0;
    if (i < length && (token[i] == '-' || token[i] == '+')) negative = token[i++] == '-';
    for (; i < length; i++) {
        if (token[i] == '.' && !fraction) {
            fraction = 1;
            continue;
        }
        if (!is_digit(token[i])) break;
        seen = 1;
        if (fraction) exponent--;
        if (n_digits == 0 && token[i] == '0') continue;
        if (n_digits == MODAL_REAL_DIGITS) {
            too_long = 1;
            continue;
        }
        digits[n_digits++] = token[i];
        if (n_digits <= WHOLE_DIGITS) whole = 10 * whole + (uint64_t)(token[i] - '0');
    }
    if (seen && i < length && (token[i] == 'e' || token[i] == 'E')) {
        int negative_power = 0;
        int64_t power = 0;
        i++;
        if (i < length && (token[i] == '-' || token[i] == '+')) negative_power = token[i++] == '-';
        if (i == length) return MODAL_NUMBER_MALFORMED;
        for (; i < length && is_digit(token[i]); i++)
            if (power < 100000) power = 10 * power + (token[i] - '0');
        exponent += negative_power ? -power : power;
    }
    if (!seen || i < length)
        return is_not_finite_word(token, length) ? MODAL_NUMBER_RANGE : MODAL_NUMBER_MALFORMED;
    if (too_long) return MODAL_NUMBER_LONG;
    if (n_digits == 0) {
        *value = negative ? -0.0 : 0.0;
        return MODAL_NUMBER_OK;
    }
    if (n_digits > WHOLE_DIGITS || whole > (uint64_t)1 << 53 || exponent < -MOST_TENS ||
        exponent > MOST_TENS)
        return convert_exactly(digits, n_digits, exponent, negative, value);
    double magnitude = (double)whole;
    magnitude = exponent < 0 ? magnitude / tens[-exponent] : magnitude * tens[exponent];
    *value = negative ? -magnitude : magnitude;
    return MODAL_NUMBER_OK;
}

/* The next token, or a message that says what is missing. */
static modal_status token_needed(modal_text *text, const char *what, const char **token,
                                 int64_t *length)
{
    if (modal_text_token(text, token, length)) return MODAL_OK;
    return text->position >= text->length
               ? modal_text_fail(text, "the file ends, %s expected", what)
               : modal_text_fail(text, "%s missing", what);
}

modal_status modal_text_integer(modal_text *text, const char *what, int64_t least, int64_t most,
                                int64_t *value)
{
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    modal_status status = token_needed(text, what, &token, &length);
    if (status != MODAL_OK) return status;
    modal_number result = modal_parse_integer(token, length, value);
    if (result == MODAL_NUMBER_MALFORMED)
        return modal_text_fail(text, "%s is not a whole number, '%s'", what,
                               modal_quote(quoted, token, length));
    if (result != MODAL_NUMBER_OK || *value < least || *value > most)
        return modal_text_fail(text, "%s out of range, %s", what,
                               modal_quote(quoted, token, length));
    return MODAL_OK;
}

modal_status modal_text_real(modal_text *text, const char *what, double *value)
{
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    modal_status status = token_needed(text, what, &token, &length);
    if (status != MODAL_OK) return status;
    switch (modal_parse_real(token, length, value)) {
    case MODAL_NUMBER_OK: return MODAL_OK;
    case MODAL_NUMBER_RANGE:
        return modal_text_fail(text, "NaN or infinite %s, '%s'", what,
                               modal_quote(quoted, token, length));
    case MODAL_NUMBER_LONG:
        return modal_text_fail(text, "%s of more than %d digits, '%s'", what, MODAL_REAL_DIGITS,
                               modal_quote(quoted, token, length));
    default:
        return modal_text_fail(text, "%s is not a number, '%s'", what,
                               modal_quote(quoted, token, length));
    }
}
