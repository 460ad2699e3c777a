/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/output.h"

static modal_status system_error(const tool_journal *journal, const char *what, modal_error *err)
{
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: %s, %s", journal->path, what, strerror(errno));
}

modal_status tool_journal_open(tool_journal *journal, const char *path, int make, const char *doing, int *there, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    *journal = (tool_journal){.file = -1};
    *there = 0;
    MODAL_TRY(modal_copy_text(&journal->path, path, SIZE_MAX, err));
    journal->file = open(path, (make ? O_CREAT : 0) | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (journal->file < 0 && errno == ENOENT && !make) return MODAL_OK;
    if (journal->file < 0 && errno == ELOOP) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists, and is a link", path);
    if (journal->file < 0) return system_error(journal, "cannot be opened", err);
    /* A process that was just killed may need a moment to be gone (CUDA has much to give back). */
    int locked = 0;
    for (int tries = 0; !locked && tries < 30; tries++) {
        if (tries > 0) usleep(100000);
        locked = flock(journal->file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    }
    const int known = fstat(journal->file, &info) == 0;
    if (locked && known && S_ISREG(info.st_mode) && info.st_nlink > 0) {
        *there = info.st_size > 0;
        return MODAL_OK;
    }
    tool_journal_close(journal, 0); /* it is not ours to remove */
    if (known && !S_ISREG(info.st_mode)) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: not a regular file", path);
    MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: another process is writing %s", path, doing);
done:
    return status;
}

modal_status tool_journal_read(const tool_journal *journal, int64_t at, char *to, size_t most, size_t *got, modal_error *err)
{
    const ssize_t n = pread(journal->file, to, most, (off_t)at);
    *got = n < 0 ? 0 : (size_t)n;
    to[*got] = '\0';
    return n < 0 ? system_error(journal, "cannot be read", err) : MODAL_OK;
}

modal_status tool_journal_add(const tool_journal *journal, const char *text, modal_error *err)
{
    if (modal_disk_write(journal->file, -1, text, (int64_t)strlen(text)) == 0) return MODAL_OK;
    return system_error(journal, "write error", err);
}

modal_status tool_journal_cut(const tool_journal *journal, int64_t length, modal_error *err)
{
    if (ftruncate(journal->file, (off_t)length) == 0 && lseek(journal->file, (off_t)length, SEEK_SET) >= 0) return MODAL_OK;
    return system_error(journal, "cannot be cut", err);
}

int tool_journal_empty(const tool_journal *journal)
{
    struct stat info;
    return journal->file >= 0 && fstat(journal->file, &info) == 0 && info.st_size == 0;
}

void tool_journal_close(tool_journal *journal, int remove)
{
    if (journal->file < 0) return;
    if (remove) unlink(journal->path);
    close(journal->file);
    journal->file = -1;
}

void tool_journal_free(tool_journal *journal)
{
    tool_journal_close(journal, 0);
    modal_free(&journal->path);
}
