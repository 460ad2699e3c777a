/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/status.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

modal_status modal_error_set(modal_error *err, modal_status status, const char *format, ...)
{
    if (err && err->status == MODAL_OK) {
        va_list arguments;
        va_start(arguments, format);
        modal_text_format(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
        err->status = status;
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
