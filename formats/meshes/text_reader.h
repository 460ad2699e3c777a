/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of users' files share: the whole file in memory, lines counted, numbers parsed
 * strictly and whatever the locale, and messages that say where. Binary sections of a file are read
 * over the same struct (msh_binary.c). Not thread-safe on one modal_text; fine on several. */
#ifndef MODAL_FORMATS_TEXT_READER_H
#define MODAL_FORMATS_TEXT_READER_H

#include <stdint.h>

#include "lib/base/status.h"

/* Reads a whole file; the caller owns *data and gives it to modal_free. A missing file, a folder
 * (anything but a regular file or a pipe) and an empty file are MODAL_ERROR_INPUT; a file that
 * exists and cannot be read is MODAL_ERROR_SYSTEM. On failure *data is NULL and *length is 0. */
modal_status modal_file_load(const char *path, char **data, int64_t *length, modal_error *err);

struct modal_text;

/* The path of a file that the text names: absolute, or relative to the text's own file. The caller frees it. Refuses an empty
 * name, one with a NUL, and one that is too long. */
modal_status modal_text_beside(const struct modal_text *text, const char *name, int64_t length, char **path);

/* A position in a text that the caller keeps alive. Set by modal_text_init; the flags after that.
 */
typedef struct modal_text {
    const char *name; /* of the file, for messages */
    const char *data; /* [length], not terminated */
    int64_t length;
    int64_t position;
    int64_t line; /* 1-based line of `position` */
    int64_t at;   /* where the item read last begins */
    modal_error *err;
    int binary;          /* messages give the byte of `at` instead of the line */
    int commas;          /* one comma may follow each token */
    int comments;        /* a token that begins with # ends the line */
    int continuations;   /* a backslash at the end of a line joins the next one to it */
    const char *subject; /* what is being read, e.g. "element", or NULL ... */
    int64_t number;      /* ... and the user's number of it, both for messages */
    int passing;         /* data is the reader's own, of modal_file_load, and is read once: modal_text_let_go may forget it */
    int64_t let_go;      /* bytes that it has forgotten */
} modal_text;

/* Starts at the first byte, after a UTF-8 byte order mark where there is one. */
void modal_text_init(modal_text *text, const char *name, const char *data, int64_t length,
                     modal_error *err);

/* Gives memory of the text in front of `position` back to the system, some megabytes at a time, where the text is passing; their bytes
 * are 0 then. Between records of long sections: what is read takes the room of what was read. */
void modal_text_let_go(modal_text *text);

/* Records `NAME:LINE: SUBJECT NUMBER: message` (or `NAME: byte OFFSET: ...`) as
 * MODAL_ERROR_INPUT, which it returns. */
modal_status modal_text_fail(const modal_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next token of this line, ended by a blank (or a comma, see `commas`); 0 at the line's end.
 * The token points into the text. */
int modal_text_token(modal_text *text, const char **token, int64_t *length);

/* Steps to the next line; fails where a token is left on this one. */
modal_status modal_text_end_line(modal_text *text);

/* Steps to the next line, whatever is left on this one. */
void modal_text_skip_line(modal_text *text);

/* Steps to the first line that has a token; 0 at the end of the file. */
int modal_text_seek_token(modal_text *text);

/* Whether the line of `position` ends in a newline, not with the file. */
int modal_text_line_is_ended(const modal_text *text);

/* The next token of this line as a whole number in [least, most], or as a finite number. The whole
 * token must parse. `what` names the value in messages. */
modal_status modal_text_integer(modal_text *text, const char *what, int64_t least, int64_t most,
                                int64_t *value);
modal_status modal_text_real(modal_text *text, const char *what, double *value);

/* A count from the file, against what its rest can hold at this many bytes each at the least. */
modal_status modal_text_check_count(const modal_text *text, const char *what, int64_t count,
                                    int64_t bytes);

typedef enum modal_number {
    MODAL_NUMBER_OK = 0,
    MODAL_NUMBER_MALFORMED,
    MODAL_NUMBER_RANGE, /* an integer beyond 64 bits; a real that is NaN, infinite or too large */
    MODAL_NUMBER_LONG   /* a real of more digits than MODAL_REAL_DIGITS */
} modal_number;

enum { MODAL_REAL_DIGITS = 400 };

/* Parse exactly the characters [length]: [+-]digits, and [+-]digits[.digits][e[+-]digits] with at
 * least one digit before the exponent. Reals are correctly rounded. */
modal_number modal_parse_integer(const char *token, int64_t length, int64_t *value);
modal_number modal_parse_real(const char *token, int64_t length, double *value);

/* Tokens for messages: at most 40 characters, what cannot be printed as '?'. */
enum { MODAL_QUOTE = 48 };
const char *modal_quote(char quoted[MODAL_QUOTE], const char *token, int64_t length);

/* Whether a token is this word; modal_token_is_like ignores the case of ASCII letters. */
int modal_token_is(const char *token, int64_t length, const char *word);
int modal_token_is_like(const char *token, int64_t length, const char *word);

#endif
