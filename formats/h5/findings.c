/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

void modal_findings_free(modal_findings *findings)
{
    for (int64_t i = 0; i < findings->n; i++) modal_free(&findings->texts[i]);
    modal_free(&findings->texts);
    memset(findings, 0, sizeof *findings);
}

modal_status modal_broken(const modal_checker *checker, const char *where, const char *format, ...)
{
    char text[MODAL_ERROR_TEXT], *copy = NULL;
    int length = snprintf(text, sizeof text, "%s: ", where);
    if (length >= 0 && length < (int)sizeof text) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
        va_end(arguments);
    }
    modal_findings *list = checker->findings;
    if (!list) return modal_error_set(checker->err, MODAL_ERROR_INPUT, "%s", text);
    modal_status status = modal_copy_text(&copy, text, sizeof text, checker->err);
    if (status == MODAL_OK)
        status = modal_grow(&list->texts, &list->capacity, list->n + 1, sizeof *list->texts,
                            "findings", checker->err);
    if (status == MODAL_OK)
        list->texts[list->n++] = copy;
    else
        modal_free(&copy);
    return status;
}
