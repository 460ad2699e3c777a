/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/common/pipes.h"
#include "tools/common/signals.h"

static const char mark[] = ".tmp-";
enum { DIGITS = 8 };

/* ---- folders of frames ---- */

static int is_frame(const char *name, const char *extension)
{
    return strspn(name, "0123456789") == 6 && name[6] == '.' && strcmp(name + 7, extension) == 0;
}

/* What is in a folder beside frames of the extension; -1 where it cannot be read. */
static int count_others(const char *path, const char *extension)
{
    int others = 0;
    DIR *folder = opendir(path);
    if (!folder) return -1;
    for (struct dirent *entry; (entry = readdir(folder));)
        others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                  !is_frame(entry->d_name, extension);
    closedir(folder);
    return others;
}

void tool_numbered_remove(const char *path, const char *extension)
{
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_frame(entry->d_name, extension)) unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(path);
}

/* ---- temporary names ---- */

int tool_lock(int file, int folder)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if ((folder ? flock(file, LOCK_EX | LOCK_NB) : fcntl(file, F_OFD_SETLK, &all)) == 0) return 1;
    return errno == EWOULDBLOCK || errno == EAGAIN || errno == EACCES ? 0 : -1;
}

/* Whether the name is BASE, the mark and its digits; "~" after them is what a signal makes of a folder. */
static int is_temporary(const char *name, const char *base)
{
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || strncmp(name + length, mark, sizeof mark - 1) != 0) return 0;
    name += length + sizeof mark - 1;
    return strspn(name, "0123456789abcdef") == DIGITS && (!name[DIGITS] || strcmp(name + DIGITS, "~") == 0);
}

/* Removes one that no process has locked. */
static void remove_stale(int folder, const char *name, const char *extension, const char *path)
{
    struct stat info;
    const int file = openat(folder, name, (extension ? O_RDONLY | O_DIRECTORY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC |
                                              O_NONBLOCK);
    if (file < 0) return;
    if (fstat(file, &info) == 0 && (extension || S_ISREG(info.st_mode)) && tool_lock(file, extension != NULL) == 1) {
        if (extension) tool_numbered_remove(path, extension);
        else unlinkat(folder, name, 0);
    }
    close(file);
}

/* What killed runs have left of this output. */
static void sweep(const char *path, const char *extension)
{
    char folder_name[4096], left[4096];
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (snprintf(folder_name, sizeof folder_name, "%.*s", slash ? (int)(base - path) : 1, slash ? path : ".") >=
        (int)sizeof folder_name)
        return;
    DIR *folder = opendir(folder_name);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_temporary(entry->d_name, base) &&
            snprintf(left, sizeof left, "%s/%s", folder_name, entry->d_name) < (int)sizeof left)
            remove_stale(dirfd(folder), entry->d_name, extension, left);
    closedir(folder);
}

/* Makes and locks one name; nonzero: errno says why not, EEXIST: another name may do. */
static int make_temporary(tool_output *output)
{
    struct stat info;
    const int folder = output->extension != NULL;
    int file = -1, locked = 0;
    if (!folder) file = open(output->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    else if (mkdir(output->temporary, 0777) == 0)
        file = open(output->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else return -1;
    if (file >= 0) locked = tool_lock(file, folder);
    /* Another run may have taken it for a stale one before it was locked. */
    if (file >= 0 && (locked == 0 || fstat(file, &info) != 0 || info.st_nlink == 0)) {
        close(file);
        errno = EEXIST;
        return -1;
    }
    if (file < 0) {
        if (folder && errno == ENOENT) errno = EEXIST;
        return -1;
    }
    if (!tool_unfinished_add(output->temporary, folder ? TOOL_UNFINISHED_NUMBERED : TOOL_UNFINISHED_FILE,
                             folder ? output->extension : "")) {
        if (folder) rmdir(output->temporary);
        else unlink(output->temporary);
        close(file);
        errno = ENAMETOOLONG;
        return -1;
    }
    output->lock = file;
    return 0;
}

static modal_status begin_temporary(tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    int failed = -1, code = EEXIST;
    const size_t length = strlen(output->path) + sizeof mark + DIGITS;
    MODAL_TRY(modal_alloc(&output->temporary, (int64_t)length, 1, "name", err));
    for (int tries = 0; failed && code == EEXIST && tries < 100; tries++) {
        uint32_t number = 0;
        struct timespec now;
        if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
            clock_gettime(CLOCK_REALTIME, &now);
            number = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 12;
        }
        snprintf(output->temporary, length, "%s%s%08x", output->path, mark, (unsigned)number);
        tool_signals_defer();
        failed = make_temporary(output);
        code = errno;
        tool_signals_resume();
    }
    if (failed) {
        modal_free(&output->temporary);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, output->extension ? "%s: cannot make the folder, %s" : "%s: cannot write, %s",
                   output->path, strerror(code));
    }
done:
    return status;
}

/* ---- outputs ---- */

static modal_status begin_piped(tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *kept = NULL;
    if (isatty(STDOUT_FILENO)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "standard output is a terminal: name a file, or a program after |, -");
    MODAL_TRY(tool_pipe_keep(NULL, 0, "standard output", &kept, err));
    MODAL_TRY(modal_copy_text(&output->temporary, kept, SIZE_MAX, err));
done:
    return status;
}

modal_status tool_output_begin(tool_output *output, const char *path, int force, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    output->force = force;
    output->piped = strcmp(path, "-") == 0;
    if (output->piped) {
        MODAL_TRY(modal_copy_text(&output->path, path, SIZE_MAX, err));
        return begin_piped(output, err);
    }
    MODAL_TRY(tool_files_write(path, TOOL_FILES_ONE, output->option, output, err));
    if (lstat(path, &info) == 0) {
        if (S_ISLNK(info.st_mode) && stat(path, &info) != 0)
            MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists, a link that leads nowhere", path);
        if (!S_ISREG(info.st_mode)) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists, and is not a regular file", path);
        if (!force) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists (--force replaces it)", path);
    }
    sweep(path, NULL);
    MODAL_TRY(modal_copy_text(&output->path, path, SIZE_MAX, err));
    MODAL_TRY(begin_temporary(output, err));
done:
    return status;
}

modal_status tool_numbered_begin(tool_output *output, const char *path, const char *extension, int force,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    output->extension = extension;
    output->force = force;
    MODAL_TRY(tool_files_write(path, TOOL_FILES_FOLDER, NULL, output, err));
    if (lstat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode)) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists, and is not a folder", path);
        if (!force) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists (--force replaces it)", path);
        if (count_others(path, extension) != 0)
            MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: holds something else than frames, .%s, or cannot be read", path,
                       extension);
    }
    sweep(path, extension);
    MODAL_TRY(modal_copy_text(&output->path, path, SIZE_MAX, err));
    MODAL_TRY(begin_temporary(output, err));
done:
    return status;
}

modal_status tool_output_anew(tool_output *output, modal_error *err)
{
    if (output->piped) {
        tool_output_release(output);
        return begin_piped(output, err);
    }
    if (unlink(output->temporary) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be replaced, %s", output->path, strerror(errno));
    tool_output_release(output);
    return begin_temporary(output, err);
}

void tool_output_release(tool_output *output)
{
    if (output->temporary) tool_unfinished_drop(output->temporary);
    modal_free(&output->temporary);
    if (output->lock) close(output->lock);
    output->lock = 0;
}

void tool_output_discard(tool_output *output)
{
    if (output->temporary && output->extension) tool_numbered_remove(output->temporary, output->extension);
    else if (output->temporary && !output->piped) unlink(output->temporary);
    tool_output_release(output);
    modal_free(&output->path);
}

void tool_output_uncache(const tool_output *output)
{
    const int old = output->force && !output->piped ? open(output->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (old < 0) return;
    posix_fadvise(old, 0, 0, POSIX_FADV_DONTNEED);
    close(old);
}

modal_status tool_folder_sync(const char *path, const char *name, modal_error *err)
{
    const int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 || (fsync(file) != 0 && errno != EINVAL)) { /* EINVAL: nothing to sync there */
        int code = errno;
        if (file >= 0) close(file);
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot sync, %s", name, strerror(code));
    }
    close(file);
    return MODAL_OK;
}

modal_status tool_output_sync(const tool_output *output, modal_error *err)
{
    /* One call for all frames: a sync of each costs a turn of the journal a frame. */
    const int file = open(output->temporary, O_RDONLY | O_CLOEXEC);
    int failed = file < 0;
    if (!failed) failed = output->extension ? syncfs(file) != 0 : fsync(file) != 0 && errno != EINVAL;
    const int code = errno;
    if (file >= 0) close(file);
    if (!failed) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot sync, %s", output->path, strerror(code));
}

void tool_name_error(const char *temporary, const char *path, modal_error *err)
{
    if (!temporary || err->status == MODAL_OK) return;
    char *found = strstr(err->message, temporary);
    if (!found) return;
    size_t wanted = strlen(path), length = strlen(temporary);
    memmove(found + wanted, found + length, strlen(found + length) + 1); /* always shorter */
    memcpy(found, path, wanted);
}

static modal_status folder_of(const char *path, char **folder, modal_error *err)
{
    char *copy = NULL;
    modal_status status = modal_copy_text(&copy, path, SIZE_MAX, err);
    if (status == MODAL_OK) status = modal_copy_text(folder, dirname(copy), SIZE_MAX, err);
    modal_free(&copy);
    return status;
}

modal_status tool_output_check_room(const char *path, double bytes, const char *other, double other_bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *folder = NULL, *other_folder = NULL;
    struct stat first, second;
    if (path && strcmp(path, "-") == 0) {
        MODAL_TRY(tool_pipe_check_limit("standard output", "a file of", bytes, err));
        path = NULL;
    }
    if (path) MODAL_TRY(folder_of(path, &folder, err));
    if (other) MODAL_TRY(folder_of(other, &other_folder, err));
    const int together = path && other && stat(folder, &first) == 0 && stat(other_folder, &second) == 0 && first.st_dev == second.st_dev;
    if (path) MODAL_TRY(modal_disk_check(folder, path, together ? bytes + other_bytes : bytes, err));
    if (other && !together) MODAL_TRY(modal_disk_check(other_folder, other, other_bytes, err));
done:
    modal_free(&folder);
    modal_free(&other_folder);
    return status;
}

void tool_output_name_error(const tool_output *output, modal_error *err)
{
    tool_name_error(output->temporary, output->path, err);
}

modal_status tool_folder_begin(const char *path, int *made, modal_error *err)
{
    struct stat info;
    *made = 0;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return MODAL_OK;
        return modal_error_set(err, TOOL_ERROR_EXISTS, "%s: exists, and is not a folder", path);
    }
    tool_signals_defer();
    int failed = mkdir(path, 0777), code = errno;
    if (!failed && !tool_unfinished_add(path, TOOL_UNFINISHED_FOLDER, "")) {
        rmdir(path);
        failed = 1;
        code = ENAMETOOLONG;
    }
    tool_signals_resume();
    /* another share has made it between the two looks */
    if (failed && code == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return MODAL_OK;
    if (failed)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot make the folder, %s", path,
                               strerror(code));
    *made = 1;
    return MODAL_OK;
}

void tool_folder_discard(const char *path, int made)
{
    if (!made) return;
    rmdir(path);
    tool_unfinished_drop(path);
}

void tool_folder_keep(const char *path) { tool_unfinished_drop(path); }

/* ---- standard input and output ---- */

modal_status tool_write_stdout(const void *bytes, size_t length, modal_error *err)
{
    if (fwrite(bytes, 1, length, stdout) != length || fflush(stdout) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "standard output: write error, %s",
                               strerror(errno));
    return MODAL_OK;
}

modal_status tool_output_put(const tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *block = NULL;
    const int file = open(output->temporary, O_RDONLY | O_CLOEXEC);
    int64_t n = 0, got;
    if (file < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "standard output: its file in memory cannot be opened, %s", strerror(errno));
    MODAL_TRY(tool_pipe_check_limit("standard output", "a file of", (double)lseek(file, 0, SEEK_END), err));
    MODAL_TRY(modal_alloc(&block, MODAL_DISK_PIECE, 1, "standard output", err));
    while ((got = modal_disk_read(file, n, block, MODAL_DISK_PIECE)) > 0) {
        MODAL_TRY(tool_write_stdout(block, (size_t)got, err));
        n += got;
    }
    if (got < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "standard output: its file in memory cannot be read, %s", strerror(errno));
done:
    if (file >= 0) close(file);
    modal_free(&block);
    return status;
}
