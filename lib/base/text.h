/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of unknown origin (names in files, file names, messages of other libraries) as one line that may be sent to a
 * terminal. Valid UTF-8 stays as it is. What would steer a terminal or break the line becomes visible:
 *   newline, carriage return, tab                                    \n \r \t
 *   other control characters                                         \x1b
 *   bytes that are no UTF-8                                          \xff
 *   control characters U+0080 to U+009F, separators of lines and
 *   paragraphs, characters that turn the direction of writing        \u009b
 * A backslash stays: a text that was cleaned once is not changed by a second time. */
#ifndef MODAL_BASE_TEXT_H
#define MODAL_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_TEXT_PIECE = 8 };

/* The bytes of the UTF-8 character that `text` begins with, and its code. 0: no valid character, or the end. */
size_t modal_text_character(const char *text, uint32_t *code);

/* 1: a character that is not printed but acts (those of the list above). */
int modal_text_is_hidden(uint32_t code);

/* The next character of *text as it is shown, with a terminator; *text moves on. Returns its bytes, 0 at the end. */
size_t modal_text_piece(const char **text, char piece[MODAL_TEXT_PIECE]);

/* to[size] becomes the clean text, cut between characters where it is too long. `to` must not overlap `from`. */
void modal_text_clean(char *to, size_t size, const char *from);

/* vsnprintf, then modal_text_clean; at most MODAL_ERROR_TEXT - 1 bytes. */
void modal_text_format(char *to, size_t size, const char *format, va_list arguments);

#ifdef __cplusplus
}
#endif
#endif
