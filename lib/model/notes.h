/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader has to tell the user of a file that it took: what it left out, turned round or assumed. */
#ifndef MODAL_MODEL_NOTES_H
#define MODAL_MODEL_NOTES_H

#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_NOTE_BYTES = 512 }; /* of one text; longer ones are cut */

/* Zeroed: none. */
typedef struct modal_notes {
    int32_t n;
    char **texts; /* [n] one line each, without the file's name */
    int64_t capacity;
} modal_notes;

/* Appends a text, unless it is there. MODAL_ERROR_MEMORY; the notes are then as before. */
modal_status modal_notes_add(modal_notes *notes, modal_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Frees all and zeroes the struct. */
void modal_notes_free(modal_notes *notes);

#endif
