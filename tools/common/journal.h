/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a run that may be gone on with: lines of text about what is complete, locked by the one process that works
 * with it. Who reads it stops at the first line that is not whole or not true, and cuts the rest off; so nothing is synced. */
#ifndef TOOLS_COMMON_JOURNAL_H
#define TOOLS_COMMON_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

typedef struct tool_journal {
    char *path;
    int file; /* -1: there is none, or it is not open */
} tool_journal;

/* Opens and locks path's file, of `doing` ("this sequence"); made with `make`, else *there is 0 where it is not. *there: it has
 * text. The path is copied. TOOL_ERROR_EXISTS for a link, MODAL_ERROR_SYSTEM also where another process works with it. */
modal_status tool_journal_open(tool_journal *journal, const char *path, int make, const char *doing, int *there, modal_error *err);
/* Up to `most` bytes from `at` on, and a zero after them: to has most + 1. *got: how many. */
modal_status tool_journal_read(const tool_journal *journal, int64_t at, char *to, size_t most, size_t *got, modal_error *err);
/* Appends. */
modal_status tool_journal_add(const tool_journal *journal, const char *text, modal_error *err);
/* Cuts it off; tool_journal_add goes on there. */
modal_status tool_journal_cut(const tool_journal *journal, int64_t length, modal_error *err);
int tool_journal_empty(const tool_journal *journal);
/* Closes it, and removes it with `remove`. The path stays until tool_journal_free. */
void tool_journal_close(tool_journal *journal, int remove);
void tool_journal_free(tool_journal *journal);

#endif
