/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of unknown origin in JSON. */
#ifndef MODAL_FORMATS_JSON_TEXT_H
#define MODAL_FORMATS_JSON_TEXT_H

#include <jansson.h>

/* The text as a JSON string. Bytes that are no UTF-8, which JSON cannot hold, become U+FFFD. null for a NULL text; NULL
 * when out of memory. */
json_t *modal_json_string(const char *text);

/* json_dumps, with every character of modal_text_is_hidden in a string written as \uXXXX, so that the text may be sent
 * to a terminal, and so that `also` is, a character that means nothing outside strings ('<' for a script in HTML; 0:
 * none). The caller frees it; NULL when out of memory or for a NULL value. */
char *modal_json_dump(const json_t *value, size_t flags, char also);

#endif
