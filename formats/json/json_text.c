/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/text.h"

json_t *modal_json_string(const char *text)
{
    if (!text) return json_null();
    char *clean = NULL;
    if (modal_alloc(&clean, 3 * (int64_t)strlen(text) + 1, 1, "text", NULL) != MODAL_OK) return NULL;
    char *to = clean;
    while (*text) {
        uint32_t code;
        size_t n = modal_text_character(text, &code);
        if (n) {
            memcpy(to, text, n);
            to += n;
            text += n;
        } else {
            to = stpcpy(to, "\xef\xbf\xbd");
            text++;
        }
    }
    json_t *value = json_stringn(clean, (size_t)(to - clean));
    modal_free(&clean);
    return value;
}

/* Whether a character of what json_dumps gave is to be escaped: below 0x20 there are only the line ends between
 * values, which it has escaped in strings. */
static int is_escaped(uint32_t code, char also)
{
    return (code >= 0x20 && modal_text_is_hidden(code)) || (also && code == (unsigned char)also);
}

char *modal_json_dump(const json_t *value, size_t flags, char also)
{
    char *text = json_dumps(value, flags);
    size_t more = 1, n;
    uint32_t code;
    if (!text) return NULL;
    for (const char *c = text; (n = modal_text_character(c, &code)) > 0; c += n)
        if (is_escaped(code, also)) more += 6;
    char *result = more > 1 ? malloc(strlen(text) + more) : NULL, *to = result;
    if (more == 1) return text;
    for (const char *c = text; to && (n = modal_text_character(c, &code)) > 0; c += n) {
        if (is_escaped(code, also))
            to += sprintf(to, "\\u%04X", (unsigned)(code & 0xffff));
        else
            to = (char *)memcpy(to, c, n) + n;
    }
    if (to) *to = '\0';
    free(text);
    return result;
}
