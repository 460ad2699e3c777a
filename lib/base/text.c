/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"

size_t modal_text_character(const char *text, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000}; /* no longer form of what a shorter one can say */
    const size_t n = *c == 0 ? 0 : *c < 0x80 ? 1 : *c >> 5 == 6 ? 2 : *c >> 4 == 14 ? 3 : *c >> 3 == 30 ? 4 : 0;
    if (n == 0) return 0;
    *code = n == 1 ? *c : *c & (0x7f >> n);
    for (size_t i = 1; i < n; i++) {
        if (c[i] >> 6 != 2) return 0;
        *code = *code << 6 | (c[i] & 0x3f);
    }
    return *code >= least[n] && *code <= 0x10ffff && !(*code >= 0xd800 && *code < 0xe000) ? n : 0;
}

int modal_text_is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

size_t modal_text_piece(const char **text, char piece[MODAL_TEXT_PIECE])
{
    static const char shorts[] = "\n\r\t", letters[] = "nrt";
    const unsigned char first = (unsigned char)**text;
    uint32_t code = 0;
    if (first == 0) return 0;
    const size_t n = modal_text_character(*text, &code);
    const char *is_short = strchr(shorts, first);
    int length;
    if (is_short)
        length = snprintf(piece, MODAL_TEXT_PIECE, "\\%c", letters[is_short - shorts]);
    else if (n <= 1 && (n == 0 || modal_text_is_hidden(code)))
        length = snprintf(piece, MODAL_TEXT_PIECE, "\\x%02x", first);
    else if (modal_text_is_hidden(code))
        length = snprintf(piece, MODAL_TEXT_PIECE, "\\u%04x", (unsigned)(code & 0xffff));
    else
        length = snprintf(piece, MODAL_TEXT_PIECE, "%.*s", (int)n, *text);
    *text += n > 0 ? n : 1;
    return (size_t)length;
}

void modal_text_clean(char *to, size_t size, const char *from)
{
    char piece[MODAL_TEXT_PIECE];
    size_t used = 0, length;
    if (size == 0) return;
    while ((length = modal_text_piece(&from, piece)) > 0 && used + length < size) {
        memcpy(to + used, piece, length);
        used += length;
    }
    to[used] = '\0';
}

/* The end of a text that was cut: a character that was cut with it goes, too. */
static void drop_half_character(char *text, size_t length)
{
    uint32_t code;
    size_t first = length;
    while (first > 0 && length - first < 4 && (text[first - 1] & 0xc0) == 0x80) first--;
    if (first > 0 && (text[first - 1] & 0xc0) == 0xc0 && modal_text_character(text + first - 1, &code) == 0)
        text[first - 1] = '\0';
}

void modal_text_format(char *to, size_t size, const char *format, va_list arguments)
{
    char raw[MODAL_ERROR_TEXT] = "";
    if (vsnprintf(raw, sizeof raw, format, arguments) >= (int)sizeof raw) drop_half_character(raw, sizeof raw - 1);
    modal_text_clean(to, size, raw);
}
