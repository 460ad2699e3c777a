/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/ignore.h"

#include <stdarg.h>
#include <string.h>

const char *const tool_unsupported_names[MODAL_UNSUPPORTED_KINDS] = {
    [MODAL_UNSUPPORTED_BOUNDARY] = "boundary", [MODAL_UNSUPPORTED_CONSTRAINTS] = "constraints",
    [MODAL_UNSUPPORTED_ELEMENTS] = "elements", [MODAL_UNSUPPORTED_PRELOAD] = "preload",
    [MODAL_UNSUPPORTED_MATERIAL] = "material", [MODAL_UNSUPPORTED_KEYWORDS] = "keywords"};

modal_status tool_ignore_read(const tool_arguments *arguments, unsigned *kinds, modal_error *err)
{
    const char *text = tool_value(arguments, "ignore");
    *kinds = 0;
    for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        int k = 0;
        end = at + length;
        if (length == 3 && strncmp(at, "all", 3) == 0) {
            *kinds |= (1u << MODAL_UNSUPPORTED_KINDS) - 1;
            continue;
        }
        while (k < MODAL_UNSUPPORTED_KINDS &&
               (strlen(tool_unsupported_names[k]) != length || strncmp(at, tool_unsupported_names[k], length) != 0))
            k++;
        if (k == MODAL_UNSUPPORTED_KINDS)
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "--ignore: must be boundary, constraints, elements, preload, material, keywords or all, with commas between "
                                   "them: %s", text);
        *kinds |= 1u << k;
    }
    return MODAL_OK;
}

/* Appends to a list, with `separator` in front where it is not empty. */
__attribute__((format(printf, 4, 5))) static void append(char *list, size_t size, const char *separator, const char *format, ...)
{
    size_t end = strlen(list);
    if (end > 0) end += (size_t)snprintf(list + end, size - end, "%s", separator);
    va_list arguments;
    va_start(arguments, format);
    if (end < size) vsnprintf(list + end, size - end, format, arguments);
    va_end(arguments);
}

/* As many of the texts as fit into a line, and the number of the others. */
static void append_texts(char *list, size_t size, const modal_notes *notes)
{
    for (int32_t i = 0; i < notes->n; i++) {
        if (strlen(list) + strlen(notes->texts[i]) + 24 > size) {
            append(list, size, "; ", "%d more", notes->n - i);
            return;
        }
        append(list, size, "; ", "%s", notes->texts[i]);
    }
}

modal_status tool_ignore(tool *t, const char *path, const modal_notes notes[MODAL_UNSUPPORTED_KINDS], unsigned ignored, modal_error *err)
{
    enum { MOST = 640 }; /* bytes of a list: a message has room for it, a path and the kinds */
    char refused[MOST] = "", kinds[96] = "", list[MOST];
    for (int k = 0; k < MODAL_UNSUPPORTED_KINDS; k++) {
        if (notes[k].n == 0) continue;
        if (ignored >> k & 1) {
            *list = '\0';
            append_texts(list, sizeof list, &notes[k]);
            tool_warn(t, "%s: ignored, %s: %s", path, tool_unsupported_names[k], list);
        } else {
            append(kinds, sizeof kinds, ",", "%s", tool_unsupported_names[k]);
            append_texts(refused, sizeof refused, &notes[k]);
        }
    }
    if (!*kinds) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: not supported: %s (--ignore %s continues without)", path, refused, kinds);
}
