/* SPDX-License-Identifier: Apache-2.0 */
/* The head and a journal of shares are read or refused with a message. The input is the head, a zero, and the journal of share 0; they stand in a
 * folder that this process makes and leaves empty. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/common/shares.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz_shares.XXXXXX", inner[64];

static void leave(void)
{
    rmdir(inner);
    rmdir(folder);
}

static void put(const char *name, const uint8_t *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", inner, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, n) != (ssize_t)n || close(file) != 0) abort();
}

static void drop(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", inner, name);
    unlink(path);
}

static void read_journal(const char *journal)
{
    enum { FRAMES = 1000 };
    const char *const end = journal + strlen(journal);
    for (tool_share_line line; tool_shares_next(&journal, FRAMES, &line);)
        if (line.first < 0 || line.n < 1 || line.first + line.n > FRAMES || strlen(line.hash) != MODAL_HASH_TEXT - 1 || journal > end) abort();
    if (strchr(journal, '\n')) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_error err = {0};
    char *head = NULL, *journal = NULL, text[64], path[128];
    int64_t n, n_complete, n_others;
    tool_share_state state;
    if (!inner[0]) {
        if (!mkdtemp(folder)) abort();
        snprintf(inner, sizeof inner, "%s/" TOOL_SHARES_FOLDER, folder);
        if (mkdir(inner, 0700) != 0 || atexit(leave) != 0) abort();
    }
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    put("head", data, zero ? (size_t)(zero - data) : size);
    if (zero) put("0.journal", zero + 1, (size_t)(data + size - zero) - 1);
    const modal_status status = tool_shares_head(folder, &head, &n, &err);
    if (status != err.status || !head || (status == MODAL_OK) != (n >= 1 && n <= TOOL_MOST_SHARES) || (status != MODAL_OK && !err.message[0])) abort();
    if (tool_shares_state(folder, 0, &state, &err) != MODAL_OK && status == MODAL_OK) abort();
    if ((state == TOOL_SHARE_MISSING) != !zero) abort();
    if (status == MODAL_OK && n <= 100) {
        if (tool_shares_list(folder, n, 1, text, sizeof text, &n_complete, &err) != MODAL_OK || strlen(text) >= sizeof text) abort();
        if (tool_shares_list(folder, n, 0, text, sizeof text, &n_others, &err) != MODAL_OK || n_complete + n_others != n) abort();
        if (n_complete != (state == TOOL_SHARE_COMPLETE)) abort();
    }
    snprintf(path, sizeof path, "%s/0.journal", inner);
    if (tool_shares_load(path, &journal, &err) != MODAL_OK && status == MODAL_OK) abort();
    if (journal) read_journal(journal);
    modal_free(&head);
    modal_free(&journal);
    drop("head");
    drop("0.journal");
    return 0;
}
