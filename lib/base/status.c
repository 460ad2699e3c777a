/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/status.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

/* Every source's name begins as this one's does: with the path to the source folder, as the compiler was told it. */
static const char *within_sources(const char *file)
{
    const size_t path = sizeof __FILE__ - sizeof "lib/base/status.c";
    return strncmp(file, __FILE__, path) == 0 ? file + path : file;
}

modal_status modal_error_set_from(modal_error *err, const char *source_file, int source_line, modal_status status,
                                  const char *format, ...)
{
    if (err && err->status == MODAL_OK) {
        va_list arguments;
        va_start(arguments, format);
        modal_text_format(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
        err->status = status;
        err->source_file = within_sources(source_file);
        err->source_line = source_line;
    }
    return status;
}

void modal_error_context(modal_error *err, const char *format, ...)
{
    if (!err || err->status == MODAL_OK) return;
    char text[2 * MODAL_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    modal_text_format(text, MODAL_ERROR_TEXT, format, arguments);
    va_end(arguments);
    size_t length = strlen(text);
    if (err->line > 0) length += (size_t)snprintf(text + length, 24, ":%lld", err->line);
    err->line = 0;
    snprintf(text + length, sizeof text - length, ": %s", err->message);
    modal_text_clean(err->message, sizeof err->message, text);
}
