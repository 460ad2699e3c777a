/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_notes_add(modal_notes *notes, modal_error *err, const char *format, ...)
{
    modal_status status = MODAL_OK;
    char text[MODAL_NOTE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (int32_t i = 0; i < notes->n; i++)
        if (strcmp(notes->texts[i], text) == 0) return MODAL_OK;
    MODAL_TRY(modal_grow(&notes->texts, &notes->capacity, notes->n + 1, sizeof *notes->texts, "notes", err));
    MODAL_TRY(modal_copy_text(&notes->texts[notes->n], text, strlen(text), err));
    notes->n++;
done:
    return status;
}

void modal_notes_free(modal_notes *notes)
{
    for (int32_t i = 0; i < notes->n; i++) modal_free(&notes->texts[i]);
    modal_free(&notes->texts);
    memset(notes, 0, sizeof *notes);
}
