/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/memory.h"

/* What a signal must remove. Files come after the folder that holds them, so the handler goes
 * backwards. Entries change only while signals are blocked. */
enum { UNFINISHED = 32 };
static struct {
    char path[4096];
    int folder;
    char extension[16]; /* of the frames that a folder holds; "" without */
} unfinished[UNFINISHED];
static int n_unfinished;
static char signal_message[128];
static int signal_message_length;

static void block_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

static void unblock_signals(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

/* Removes the frames from `frame` on, which are made in their order, and returns the first one that is not
 * there. Nothing but what a signal handler may call. */
static int64_t unlink_frames(char *path, const char *extension, int64_t frame)
{
    const size_t length = strlen(path);
    for (; frame < 1000000; frame++) {
        char *to = path + length;
        *to++ = '/';
        for (int64_t unit = 100000; unit > 0; unit /= 10) *to++ = (char)('0' + frame / unit % 10);
        *to++ = '.';
        strcpy(to, extension);
        const int gone = unlink(path) == 0;
        path[length] = '\0';
        if (!gone) return frame;
    }
    return frame;
}

/* Removes a folder of frames while another thread may still be making some: under another name it is not
 * found again, and a frame that was just being made goes in a further round. */
static void remove_frames(char *path, const char *extension)
{
    static char before[sizeof unfinished[0].path];
    int64_t frame = 0;
    strcpy(before, path);
    strcat(path, "~");
    if (rename(before, path) != 0) strcpy(path, before);
    for (int round = 0; round < 1000; round++) {
        frame = unlink_frames(path, extension, frame);
        if (rmdir(path) == 0 || (errno != ENOTEMPTY && errno != EEXIST)) return;
    }
}

static volatile sig_atomic_t held, signalled;

void tool_signals_hold(void) { held = 1; }
int tool_signalled(void) { return signalled; }

static void on_signal(int number)
{
    if (held && !signalled) {
        signalled = 1;
        return;
    }
    for (int i = n_unfinished - 1; i >= 0; i--) {
        if (unfinished[i].extension[0])
            remove_frames(unfinished[i].path, unfinished[i].extension);
        else if (unfinished[i].folder)
            rmdir(unfinished[i].path);
        else
            unlink(unfinished[i].path);
    }
    ssize_t ignored = write(STDERR_FILENO, signal_message, (size_t)signal_message_length);
    (void)ignored;
    _exit(128 + number);
}

void tool_signals_install(const char *tool_name)
{
    int length = snprintf(signal_message, sizeof signal_message, "%s: interrupted\n", tool_name);
    signal_message_length = length < (int)sizeof signal_message ? length : 0;
    struct sigaction action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static int remember(const char *path, int folder, const char *extension)
{
    if (n_unfinished == UNFINISHED || strlen(path) + 32 >= sizeof unfinished[0].path ||
        strlen(extension) >= sizeof unfinished[0].extension)
        return 0;
    strcpy(unfinished[n_unfinished].path, path);
    strcpy(unfinished[n_unfinished].extension, extension);
    unfinished[n_unfinished++].folder = folder;
    return 1;
}

static void forget(const char *path)
{
    sigset_t before;
    block_signals(&before);
    for (int i = 0; i < n_unfinished; i++)
        if (strcmp(unfinished[i].path, path) == 0) {
            memmove(&unfinished[i], &unfinished[i + 1],
                    (size_t)(n_unfinished - i - 1) * sizeof unfinished[0]);
            n_unfinished--;
            break;
        }
    unblock_signals(&before);
}

modal_status tool_output_begin(tool_output *output, const char *path, int force, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    sigset_t before;
    output->force = force;
    if (lstat(path, &info) == 0) {
        if (S_ISLNK(info.st_mode) && stat(path, &info) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: a link that leads nowhere", path);
        if (!S_ISREG(info.st_mode))
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: not a regular file", path);
        if (!force)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: exists (--force replaces it)", path);
    }
    size_t length = strlen(path) + 32;
    MODAL_TRY(modal_copy_text(&output->path, path, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&output->temporary, (int64_t)length, 1, "name", err));
    snprintf(output->temporary, length, "%s.tmp-%ld", path, (long)getpid());
    block_signals(&before);
    int file = open(output->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666), code = errno;
    int kept = file >= 0 && remember(output->temporary, 0, "");
    if (file >= 0 && !kept) unlink(output->temporary);
    unblock_signals(&before);
    if (file < 0) {
        modal_free(&output->temporary);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(code));
    }
    close(file);
    if (!kept) {
        modal_free(&output->temporary);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: name too long", path);
    }
done:
    return status;
}

void tool_output_uncache(const tool_output *output)
{
    const int old = output->force ? open(output->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (old < 0) return;
    posix_fadvise(old, 0, 0, POSIX_FADV_DONTNEED);
    close(old);
}

static modal_status sync_path(const char *path, int flags, const char *name, modal_error *err)
{
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0 || (fsync(file) != 0 && errno != EINVAL)) { /* EINVAL: nothing to sync there */
        int code = errno;
        if (file >= 0) close(file);
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot sync, %s", name, strerror(code));
    }
    close(file);
    return MODAL_OK;
}

modal_status tool_output_commit(tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *folder = NULL;
    MODAL_TRY(sync_path(output->temporary, O_RDONLY, output->path, err));
    /* Without --force a file that has come into being meanwhile must not be lost: link refuses. */
    int failed = output->force ? rename(output->temporary, output->path)
                               : link(output->temporary, output->path);
    if (failed && !output->force && errno != EEXIST) /* a file system without links */
        failed = access(output->path, F_OK) == 0 ? (errno = EEXIST, -1)
                                                 : rename(output->temporary, output->path);
    if (failed) {
        if (errno == EEXIST)
            MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: exists (--force replaces it)", output->path);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot rename, %s", output->path, strerror(errno));
    }
    unlink(output->temporary);
    forget(output->temporary);
    modal_free(&output->temporary);
    MODAL_TRY(modal_copy_text(&folder, output->path, SIZE_MAX, err));
    MODAL_TRY(sync_path(dirname(folder), O_RDONLY | O_DIRECTORY, output->path, err));
done:
    modal_free(&folder);
    return status;
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

void tool_output_name_error(const tool_output *output, modal_error *err)
{
    tool_name_error(output->temporary, output->path, err);
}

void tool_output_discard(tool_output *output)
{
    if (output->temporary) {
        unlink(output->temporary);
        forget(output->temporary);
    }
    modal_free(&output->temporary);
    modal_free(&output->path);
}

modal_status tool_folder_begin(const char *path, int *made, modal_error *err)
{
    struct stat info;
    sigset_t before;
    *made = 0;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return MODAL_OK;
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: not a folder", path);
    }
    block_signals(&before);
    int failed = mkdir(path, 0777), code = errno;
    if (!failed && !remember(path, 1, "")) {
        rmdir(path);
        failed = 1;
        code = ENAMETOOLONG;
    }
    unblock_signals(&before);
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
    forget(path);
}

void tool_folder_keep(const char *path) { forget(path); }

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

void tool_frames_remove(const char *path, const char *extension)
{
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_frame(entry->d_name, extension)) unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(path);
}

modal_status tool_frames_begin(tool_frames *frames, const char *path, const char *extension,
                               int force, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    sigset_t before;
    const size_t length = strlen(path) + 32;
    frames->extension = extension;
    frames->force = force;
    if (lstat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode))
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: not a folder", path);
        if (!force)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: exists (--force replaces it)", path);
        if (count_others(path, extension) != 0)
            return modal_error_set(err, MODAL_ERROR_SYSTEM,
                                   "%s: holds something else than frames, .%s, or cannot be read", path,
                                   extension);
    }
    MODAL_TRY(modal_copy_text(&frames->path, path, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&frames->temporary, (int64_t)length, 1, "name", err));
    snprintf(frames->temporary, length, "%s.tmp-%ld", path, (long)getpid());
    block_signals(&before);
    int failed = mkdir(frames->temporary, 0777), code = errno;
    if (!failed && !remember(frames->temporary, 1, extension)) {
        rmdir(frames->temporary);
        failed = 1;
        code = ENAMETOOLONG;
    }
    unblock_signals(&before);
    if (failed) {
        modal_free(&frames->temporary);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot make the folder, %s", path, strerror(code));
    }
done:
    return status;
}

modal_status tool_frames_commit(tool_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    /* One call for all files: a sync of each costs a turn of the journal a frame. */
    int folder = open(frames->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || syncfs(folder) != 0) {
        int code = errno;
        if (folder >= 0) close(folder);
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot sync, %s", frames->path,
                               strerror(code));
    }
    close(folder);
    /* Without --force a folder that has come into being meanwhile must not be lost. With it, the old
     * one takes the temporary name, and goes. */
    int failed = renameat2(AT_FDCWD, frames->temporary, AT_FDCWD, frames->path, RENAME_NOREPLACE);
    if (failed && errno == EEXIST && frames->force) {
        failed = renameat2(AT_FDCWD, frames->temporary, AT_FDCWD, frames->path, RENAME_EXCHANGE);
        if (!failed) tool_frames_remove(frames->temporary, frames->extension);
    }
    if (failed && (errno == EINVAL || errno == ENOSYS)) { /* a file system that knows neither */
        if (frames->force) tool_frames_remove(frames->path, frames->extension);
        failed = rename(frames->temporary, frames->path); /* only an empty folder is replaced */
    }
    if (failed)
        return modal_error_set(err, MODAL_ERROR_SYSTEM,
                               "%s: cannot rename, %s%s", frames->path, strerror(errno),
                               frames->force ? "" : " (--force replaces it)");
    forget(frames->temporary);
    modal_free(&frames->temporary);
    char *copy = NULL;
    MODAL_TRY(modal_copy_text(&copy, frames->path, SIZE_MAX, err));
    status = sync_path(dirname(copy), O_RDONLY | O_DIRECTORY, frames->path, err);
    modal_free(&copy);
done:
    return status;
}

void tool_frames_discard(tool_frames *frames)
{
    if (frames->temporary) {
        tool_frames_remove(frames->temporary, frames->extension);
        forget(frames->temporary);
    }
    modal_free(&frames->temporary);
    modal_free(&frames->path);
}

int tool_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    /* One is not there yet: compare the folders and the last names. */
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    if (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0) return 0;
    char folder_a[4096], folder_b[4096];
    snprintf(folder_a, sizeof folder_a, "%.*s/", slash_a ? (int)(slash_a - a) : 1, slash_a ? a : ".");
    snprintf(folder_b, sizeof folder_b, "%.*s/", slash_b ? (int)(slash_b - b) : 1, slash_b ? b : ".");
    if (stat(folder_a, &of_a) == 0 && stat(folder_b, &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    return strcmp(folder_a, folder_b) == 0;
}

modal_status tool_refuse_same_file(const char *input, const char *output, modal_error *err)
{
    if (tool_same_file(input, output))
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: input and output are one file", output);
    return MODAL_OK;
}

modal_status tool_write_stdout(const void *bytes, size_t length, modal_error *err)
{
    if (fwrite(bytes, 1, length, stdout) != length || fflush(stdout) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "standard output: write error, %s",
                               strerror(errno));
    return MODAL_OK;
}

modal_status tool_read_stdin(void **bytes, size_t *length, modal_error *err)
{
    char *data = NULL;
    int64_t capacity = 0, used = 0;
    for (;;) {
        modal_status status = modal_grow(&data, &capacity, used + (1 << 20), 1, "standard input", err);
        if (status != MODAL_OK) {
            modal_free(&data);
            return status;
        }
        size_t got = fread(data + used, 1, (size_t)(capacity - used), stdin);
        used += (int64_t)got;
        if (got == 0) break;
    }
    if (ferror(stdin)) {
        modal_free(&data);
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "standard input: read error, %s",
                               strerror(errno));
    }
    *bytes = data;
    *length = (size_t)used;
    return MODAL_OK;
}
