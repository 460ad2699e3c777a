/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "tools/common/memory.h"

enum { MAX_FILES = 8 };

static struct {
    char path[MODAL_MEMORY_FILE_PATH];
    const char *shown;
} files[MAX_FILES];
static int n_files;
static int64_t memory_limit;

void tool_pipe_set_limit(int64_t bytes) { memory_limit = bytes; }

modal_status tool_pipe_check_limit(const char *name, const char *what, double bytes, modal_error *err)
{
    const double limit = memory_limit > 0 ? (double)memory_limit : tool_available_memory("");
    if (!(limit > 0) || bytes <= limit) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: %s %.0f bytes, %s %.0f", name, what, bytes,
                           memory_limit > 0 ? "--memory-limit" : "bytes of memory left:", limit);
}

/* A new file and its descriptor. */
static modal_status add(const void *bytes, int64_t n_bytes, const char *shown, int *file, const char **path, modal_error *err)
{
    if (n_files == MAX_FILES) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: too many files in memory, %d", shown, n_files);
    const modal_status status = modal_memory_file(bytes, n_bytes, shown, file, files[n_files].path, err);
    if (status != MODAL_OK) return status;
    files[n_files].shown = shown;
    *path = files[n_files++].path;
    return MODAL_OK;
}

modal_status tool_pipe_keep(const void *bytes, int64_t n_bytes, const char *shown, const char **path, modal_error *err)
{
    int file;
    return add(bytes, n_bytes, shown, &file, path, err);
}

modal_status tool_pipe_take(const char **path, modal_error *err)
{
    static const char name[] = "standard input";
    modal_status status = MODAL_OK;
    char *block = NULL;
    int file = -1;
    int64_t n = 0;
    if (strcmp(*path, "-") != 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&block, MODAL_DISK_PIECE, 1, name, err));
    MODAL_TRY(add(NULL, 0, name, &file, path, err));
    for (;;) {
        const ssize_t got = read(STDIN_FILENO, block, MODAL_DISK_PIECE);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: read error, %s", name, strerror(errno));
        if (got == 0) break;
        MODAL_TRY(tool_pipe_check_limit(name, "a file of at least", (double)(n + got), err));
        if (modal_disk_write(file, n, block, got) != 0)
            MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be kept in memory, %s", name, strerror(errno));
        n += got;
    }
    if (n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: empty file", name);
done:
    modal_free(&block);
    return status;
}

void tool_pipe_forget(const char *path)
{
    const int file = modal_is_memory_file(path) ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1; /* its path stays taken */
    if (file >= 0) close(file);
}

const char *tool_pipe_shown(const char *path) { return modal_is_memory_file(path) ? "-" : path; }

void tool_pipe_name(char *text, size_t size)
{
    for (int i = n_files - 1; i >= 0; i--) { /* .../11 before .../1 */
        const size_t length = strlen(files[i].path), shown = strlen(files[i].shown);
        char *from = text, *found;
        while ((found = strstr(from, files[i].path))) {
            const size_t rest = strlen(found + length);
            if ((size_t)(found - text) + shown + rest >= size) break;
            memmove(found + shown, found + length, rest + 1);
            memcpy(found, files[i].shown, shown);
            from = found + shown;
        }
    }
}
