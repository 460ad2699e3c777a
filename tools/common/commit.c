/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/common/signals.h"

/* ---- names of a folder ---- */

enum { MOST_MEMBERS = 64, MOST_NAME = 256, MOST_LIST = 65536 };

typedef struct member {
    uint64_t inode;                                          /* of what gets the name; 0: the file goes with success */
    char name[MOST_NAME], origin[MOST_NAME], backup[MOST_NAME]; /* what has the name before gets that of the backup */
    char extension[16];                                      /* of frames; "": a file */
} member;

typedef struct members {
    int folder; /* descriptor */
    int n;
    member all[MOST_MEMBERS];
} members;

static const char head[] = "modaltools commit 1";

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int folder_length(const char *path) { return (int)(name_in(path) - path); }

static int in_same_folder(const char *a, const char *b)
{
    return folder_length(a) == folder_length(b) && strncmp(a, b, (size_t)folder_length(a)) == 0;
}

static modal_status folder_of(const char *path, char folder[4096], modal_error *err)
{
    const int length = folder_length(path);
    if (snprintf(folder, 4096, "%.*s", length ? length : 1, length ? path : ".") < 4096) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", path);
}

/* 0: there is nothing of that name. */
static uint64_t inode_of(int folder, const char *name)
{
    struct stat info;
    return *name && fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)info.st_ino : 0;
}

/* Takes a name that nothing has. */
static int rename_new(int folder, const char *from, const char *to, int is_file)
{
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    /* A file system that does not know that; a folder takes the place of an empty one only. */
    if (!is_file) return renameat(folder, from, folder, to);
    if (linkat(folder, from, folder, to, 0) == 0) return unlinkat(folder, from, 0);
    if (errno == EEXIST) return -1;
    if (inode_of(folder, to)) return errno = EEXIST, -1;
    return renameat(folder, from, folder, to);
}

/* ---- what is done, undone or brought to an end ---- */

static int take_name(int folder, const member *m, int force)
{
    const int is_file = !m->extension[0];
    if (!*m->backup) return force ? renameat(folder, m->origin, folder, m->name)
                                  : rename_new(folder, m->origin, m->name, is_file);
    if (is_file && linkat(folder, m->name, folder, m->backup, 0) == 0)
        return renameat(folder, m->origin, folder, m->name);
    /* folders, and file systems without links: for a moment nothing has the name */
    if (rename_new(folder, m->name, m->backup, is_file) != 0) return -1;
    return rename_new(folder, m->origin, m->name, is_file);
}

static void undo(const members *list)
{
    for (int i = list->n - 1; i >= 0; i--) {
        const member *m = &list->all[i];
        if (m->inode && inode_of(list->folder, m->name) == m->inode) {
            if (inode_of(list->folder, m->origin) == m->inode) unlinkat(list->folder, m->name, 0);
            else rename_new(list->folder, m->name, m->origin, !m->extension[0]);
        }
        const uint64_t old = inode_of(list->folder, m->backup), now = inode_of(list->folder, m->name);
        if (old && now == old) unlinkat(list->folder, m->backup, 0);
        else if (old && !now) rename_new(list->folder, m->backup, m->name, !m->extension[0]);
    }
}

static void finish(const members *list, const char *folder)
{
    char path[4096 + MOST_NAME];
    for (int i = 0; i < list->n; i++) {
        const member *m = &list->all[i];
        if (!m->inode) unlinkat(list->folder, m->name, 0);
        else if (*m->backup && *m->extension) {
            snprintf(path, sizeof path, "%s/%s", folder, m->backup);
            tool_numbered_remove(path, m->extension);
        } else if (*m->backup) unlinkat(list->folder, m->backup, 0);
    }
}

/* Whether the last one has its name, which makes all complete. */
static int is_complete(const members *list)
{
    const member *last = NULL;
    for (int i = 0; i < list->n; i++)
        if (list->all[i].inode) last = &list->all[i];
    return last && inode_of(list->folder, last->name) == last->inode;
}

/* ---- the list ---- */

static modal_status list_name(const char *last, char **name, modal_error *err)
{
    const int64_t length = (int64_t)strlen(last) + 8;
    const modal_status status = modal_alloc(name, length, 1, "name", err);
    if (status == MODAL_OK) snprintf(*name, (size_t)length, "%s.commit", last);
    return status;
}

/* Texts that end with zeros: the head, then inode, name, origin, backup and extension of each, and the head again. */
static modal_status write_list(const members *list, const char *path, int *file, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    char *text = NULL, *to;
    MODAL_TRY(modal_alloc(&text, MOST_LIST, 1, "list", err));
    to = stpcpy(text, head) + 1;
    for (int i = 0; i < list->n; i++) {
        const member *m = &list->all[i];
        to += sprintf(to, "%" PRIu64, m->inode) + 1;
        to = stpcpy(to, m->name) + 1;
        to = stpcpy(to, m->origin) + 1;
        to = stpcpy(to, m->backup) + 1;
        to = stpcpy(to, m->extension) + 1;
    }
    to = stpcpy(to, head) + 1;
    *file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (*file < 0 || tool_lock(*file, 0) == 0 || modal_disk_write(*file, 0, text, to - text) != 0 ||
        fstat(*file, &info) != 0) {
        const int code = errno;
        if (*file >= 0) unlink(path);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(code));
    }
    if (info.st_nlink == 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: another process is writing these outputs", path);
done:
    modal_free(&text);
    return status;
}

static const char *take(const char **at, const char *end, char *to, size_t most)
{
    const char *text = *at, *zero = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    if (!zero || (size_t)(zero - text) >= most) return NULL;
    *at = zero + 1;
    if (to) memcpy(to, text, (size_t)(zero - text) + 1);
    return text;
}

static int is_plain(const char *name) { return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

/* 0: not a whole list, so that nothing was done after it. */
static int read_list(members *list, const char *text, int64_t length)
{
    const char *at = text, *end = text + length, *word = take(&at, end, NULL, MOST_NAME);
    if (!word || strcmp(word, head) != 0) return 0;
    for (list->n = 0; list->n < MOST_MEMBERS; list->n++) {
        member *m = &list->all[list->n];
        char *stop = NULL;
        word = take(&at, end, NULL, MOST_NAME);
        if (word && strcmp(word, head) == 0) return at == end;
        if (!word) return 0;
        m->inode = strtoull(word, &stop, 10);
        if (stop == word || *stop || !take(&at, end, m->name, MOST_NAME) || !take(&at, end, m->origin, MOST_NAME) ||
            !take(&at, end, m->backup, MOST_NAME) || !take(&at, end, m->extension, sizeof m->extension) ||
            !*m->name || !is_plain(m->name) || !is_plain(m->origin) || !is_plain(m->backup) || !is_plain(m->extension))
            return 0;
    }
    return 0;
}

modal_status tool_outputs_recover(const char *last, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    char *name = NULL, *text = NULL, folder[4096];
    members *list = NULL;
    int file = -1;
    MODAL_TRY(list_name(last, &name, err));
    file = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) goto done;
    MODAL_TRY(modal_alloc(&text, MOST_LIST, 1, "list", err));
    MODAL_TRY(modal_alloc(&list, 1, sizeof *list, "list", err));
    list->folder = -1;
    if (tool_lock(file, 0) == 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: another process is writing these outputs", last);
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink == 0) goto done;
    const int64_t length = modal_disk_read(file, 0, text, MOST_LIST);
    MODAL_TRY(folder_of(last, folder, err));
    list->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (length < 0 || list->folder < 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read, %s", name, strerror(errno));
    tool_signals_defer();
    if (read_list(list, text, length)) {
        if (is_complete(list)) finish(list, folder);
        else undo(list);
    }
    unlink(name);
    tool_signals_resume();
done:
    if (file >= 0) close(file);
    if (list && list->folder >= 0) close(list->folder);
    modal_free(&list);
    modal_free(&text);
    modal_free(&name);
    return status;
}

/* ---- commits ---- */

static modal_status failed_name(const tool_output *output, modal_error *err)
{
    if (errno == EEXIST || errno == ENOTEMPTY)
        return modal_error_set(err, TOOL_ERROR_EXISTS, "%s: exists (--force replaces it)", output->path);
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot rename, %s", output->path, strerror(errno));
}

static modal_status place_alone(const tool_output *output, modal_error *err)
{
    if ((output->force ? rename(output->temporary, output->path)
                       : rename_new(AT_FDCWD, output->temporary, output->path, 1)) != 0)
        return failed_name(output, err);
    return MODAL_OK;
}

static modal_status sync_folder_of(const tool_output *output, modal_error *err)
{
    char folder[4096];
    const modal_status status = folder_of(output->path, folder, err);
    return status == MODAL_OK ? tool_folder_sync(folder, output->path, err) : status;
}

static modal_status commit_alone(tool_output *output, int complete, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(tool_files_check(err));
    if (output->piped) {
        MODAL_TRY(tool_output_put(output, err));
        if (complete) tool_signals_ignore();
        tool_output_release(output);
        goto done;
    }
    MODAL_TRY(tool_output_sync(output, err));
    tool_signals_defer();
    status = place_alone(output, err);
    if (status == MODAL_OK) tool_output_release(output);
    if (status == MODAL_OK && complete) tool_signals_ignore();
    tool_signals_resume();
    if (status == MODAL_OK) MODAL_TRY(sync_folder_of(output, err));
done:
    return status;
}

modal_status tool_output_commit(tool_output *output, modal_error *err) { return commit_alone(output, 0, err); }

modal_status tool_output_complete(tool_output *output, modal_error *err) { return commit_alone(output, 1, err); }

static modal_status add_member(members *list, const tool_output *output, modal_error *err)
{
    member *m = &list->all[list->n];
    const char *name = name_in(output->path), *origin = name_in(output->temporary);
    if (list->n == MOST_MEMBERS || strlen(name) + 32 >= MOST_NAME || strlen(origin) >= MOST_NAME)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", output->path);
    struct stat old;
    const int is_there = fstatat(list->folder, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && (output->extension ? !S_ISDIR(old.st_mode) : S_ISDIR(old.st_mode)))
        return modal_error_set(err, TOOL_ERROR_EXISTS, "%s: exists, and is %sa folder", output->path,
                               output->extension ? "not " : "");
    *m = (member){.inode = inode_of(list->folder, origin)};
    if (!m->inode)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be found, %s", output->temporary, strerror(errno));
    strcpy(m->name, name);
    strcpy(m->origin, origin);
    if (output->extension) strcpy(m->extension, output->extension);
    if (output->force && is_there)
        snprintf(m->backup, MOST_NAME, "%s.old-%08x", name, (unsigned)(m->inode ^ m->inode >> 32));
    list->n++;
    return MODAL_OK;
}

/* All that are in the folder of the last one. */
static modal_status list_members(members *list, tool_output *const *outputs, int n, const char *doomed, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_output *last = outputs[n - 1];
    list->n = 0;
    for (int i = 0; i < n; i++)
        if (in_same_folder(outputs[i]->path, last->path)) MODAL_TRY(add_member(list, outputs[i], err));
    if (doomed && list->n < MOST_MEMBERS) snprintf(list->all[list->n++].name, MOST_NAME, "%s", name_in(doomed));
done:
    return status;
}

/* The last one's old file speaks of the others' old ones: it goes first. */
static modal_status place_all(members *list, tool_output *const *outputs, int n, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_output *last = outputs[n - 1];
    int next = 0;
    for (int i = 0; i < n; i++)
        if (!in_same_folder(outputs[i]->path, last->path)) MODAL_TRY(place_alone(outputs[i], err));
    for (int i = list->n - 1; i >= 0; i--) {
        member *m = &list->all[i];
        if (!m->inode) continue;
        if (*m->backup && rename_new(list->folder, m->name, m->backup, 1) != 0)
            MODAL_TRY(failed_name(last, err));
        break;
    }
    for (int i = 0; i < n; i++) {
        if (!in_same_folder(outputs[i]->path, last->path)) continue;
        member *m = &list->all[next++];
        const int failed = outputs[i] == last ? rename_new(list->folder, m->origin, m->name, 1)
                                              : take_name(list->folder, m, outputs[i]->force);
        if (failed) MODAL_TRY(failed_name(outputs[i], err));
    }
done:
    return status;
}

modal_status tool_outputs_commit(tool_output *const *outputs, int n, const char *doomed, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_output *last = outputs[n - 1];
    char *name = NULL, folder[4096];
    members *list = NULL;
    int file = -1;
    MODAL_TRY(tool_files_check(err));
    if (last->piped) { /* what is written there cannot be taken back, so it goes first */
        MODAL_TRY(tool_output_commit(outputs[n - 1], err));
        return n > 1 ? tool_outputs_commit(outputs, n - 1, doomed, err) : MODAL_OK;
    }
    for (int i = 0; i < n; i++) MODAL_TRY(tool_output_sync(outputs[i], err));
    MODAL_TRY(folder_of(last->path, folder, err));
    MODAL_TRY(list_name(last->path, &name, err));
    MODAL_TRY(modal_alloc_zero(&list, 1, sizeof *list, "list", err));
    list->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (list->folder < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot open, %s", folder, strerror(errno));
    MODAL_TRY(list_members(list, outputs, n, doomed, err));
    tool_signals_defer();
    status = write_list(list, name, &file, err);
    if (status == MODAL_OK) {
        status = place_all(list, outputs, n, err);
        if (status == MODAL_OK) finish(list, folder);
        else undo(list);
        unlink(name);
    }
    if (status == MODAL_OK) {
        tool_signals_ignore();
        for (int i = 0; i < n; i++) tool_output_release(outputs[i]);
    }
    tool_signals_resume();
    for (int i = 0; i < n && status == MODAL_OK; i++)
        if (i == n - 1 || !in_same_folder(outputs[i]->path, last->path)) status = sync_folder_of(outputs[i], err);
done:
    if (file >= 0) close(file);
    if (list && list->folder > 0) close(list->folder);
    modal_free(&list);
    modal_free(&name);
    return status;
}
