/* SPDX-License-Identifier: Apache-2.0 */
/* What OUT/shards.part says: which shares are complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/shares.h"

modal_status tool_shares_load(const char *path, char **text, modal_error *err)
{
    enum { MOST = 1 << 30 };
    modal_status status = MODAL_OK;
    struct stat info;
    *text = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) return MODAL_OK;
    if (file < 0 || fstat(file, &info) != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size > MOST) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not a text of shards", path);
    MODAL_TRY(modal_alloc(text, info.st_size + 1, 1, "journal", err));
    const int64_t got = modal_disk_read(file, 0, *text, info.st_size);
    if (got < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", path, strerror(errno));
    (*text)[got] = '\0';
done:
    if (status != MODAL_OK) modal_free(text);
    if (file >= 0) close(file);
    return status;
}

modal_status tool_shares_head(const char *out, char **head, int64_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096];
    *n = 0;
    *head = NULL;
    if (snprintf(path, sizeof path, "%s/" TOOL_SHARES_FOLDER "/head", out) >= (int)sizeof path)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", out);
    MODAL_TRY(tool_shares_load(path, head, err));
    if (!*head) return MODAL_OK;
    const char *at = strstr(*head, "\nshards ");
    int length = 0;
    if (!at || sscanf(at, "\nshards %" SCNd64 "%n", n, &length) != 1 || strcmp(at + length, "\n") != 0 || *n < 1 || *n > TOOL_MOST_SHARES)
        status = modal_error_set(err, MODAL_ERROR_INPUT, "%s: not the head of shards", path);
done:
    if (status != MODAL_OK) *n = 0;
    return status;
}

modal_status tool_shares_state(const char *out, int64_t index, tool_share_state *state, modal_error *err)
{
    char path[4096], *text = NULL;
    *state = TOOL_SHARE_MISSING;
    if (snprintf(path, sizeof path, "%s/" TOOL_SHARES_FOLDER "/%" PRId64 ".journal", out, index) >= (int)sizeof path)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", out);
    const modal_status status = tool_shares_load(path, &text, err);
    if (text) *state = strstr(text, "\ncomplete\n") ? TOOL_SHARE_COMPLETE : TOOL_SHARE_BEGUN;
    modal_free(&text);
    return status;
}

int tool_shares_next(const char **journal, int64_t n_frames, tool_share_line *line)
{
    for (const char *end; (end = strchr(*journal, '\n')); ) {
        const char *begin = *journal;
        int length = 0;
        *journal = end + 1;
        *line = (tool_share_line){0};
        if (sscanf(begin, "frames %" SCNd64 " %" SCNd64 " %32[0-9a-f]%n", &line->first, &line->n, line->hash, &length) == 3 &&
            begin + length == end && strlen(line->hash) == MODAL_HASH_TEXT - 1 && line->first >= 0 && line->n >= 1 &&
            line->first <= n_frames && line->n <= n_frames - line->first)
            return 1;
    }
    return 0;
}

modal_status tool_shares_list(const char *out, int64_t n, int complete, char *text, size_t most, int64_t *n_listed, modal_error *err)
{
    size_t used = 0;
    int64_t run = -1; /* where a run of such shares began */
    text[0] = '\0';
    *n_listed = 0;
    for (int64_t i = 0; i <= n; i++) {
        tool_share_state state = TOOL_SHARE_MISSING;
        const modal_status status = i < n ? tool_shares_state(out, i, &state, err) : MODAL_OK;
        if (status != MODAL_OK) return status;
        const int is_one = i < n && (state == TOOL_SHARE_COMPLETE) == !!complete;
        *n_listed += is_one;
        if (is_one && run < 0) run = i;
        if (is_one || run < 0) continue;
        char one[64];
        snprintf(one, sizeof one, run + 1 < i ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64, used ? ", " : "", run, i - 1);
        run = -1;
        if (used + strlen(one) + 5 < most) used += (size_t)snprintf(text + used, most - used, "%s", one);
        else if (used + 5 <= most && strcmp(text + used - 2, "..") != 0) used += (size_t)snprintf(text + used, most - used, ", ..");
    }
    return MODAL_OK;
}

static void remove_entries(const char *path, int depth)
{
    char inner[4096];
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(dirfd(folder), entry->d_name, 0) == 0 || depth == 0) continue;
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner) remove_entries(inner, depth - 1);
    }
    closedir(folder);
    rmdir(path);
}

void tool_shares_remove(const char *out)
{
    char path[4096];
    struct stat info;
    if (snprintf(path, sizeof path, "%s/" TOOL_SHARES_FOLDER, out) >= (int)sizeof path) return;
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) remove_entries(path, 1);
}
