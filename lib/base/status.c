/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/status.h"

#include <stdio.h>
#include <string.h>

modal_status modal_error_set(modal_error *err, modal_status status, const char *format, ...)
{
    if (err && err->status == MODAL_OK) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(err->message, sizeof err->message, format, arguments);
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
    int length = vsnprintf(text, MODAL_ERROR_TEXT, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if (length >= MODAL_ERROR_TEXT) length = MODAL_ERROR_TEXT - 1;
    if (err->line > 0) length += snprintf(text + length, 24, ":%lld", err->line);
    err->line = 0;
    snprintf(text + length, sizeof text - (size_t)length, ": %s", err->message);
    memcpy(err->message, text, sizeof err->message - 1);
    err->message[sizeof err->message - 1] = '\0';
}
