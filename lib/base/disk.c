/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

static int (*watcher)(const char *path, int file);

void modal_disk_watch(int (*opened)(const char *path, int file)) { watcher = opened; }

int modal_disk_open(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || !watcher || watcher(path, file) == 0) return file;
    close(file);
    errno = EBUSY;
    return -1;
}

FILE *modal_disk_stream(const char *path)
{
    const int file = modal_disk_open(path);
    FILE *stream = file < 0 ? NULL : fdopen(file, "rb");
    if (file >= 0 && !stream) close(file);
    return stream;
}

modal_status modal_disk_open_status(int code)
{
    return code == ENOENT || code == ENOTDIR || code == ELOOP ? MODAL_ERROR_INPUT : MODAL_ERROR_SYSTEM;
}

modal_status modal_disk_check_regular(const char *path, modal_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: cannot be read", path);
    if (!S_ISREG(info.st_mode)) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: not a regular file", path);
    return MODAL_OK;
}

void modal_disk_start(int file, int64_t from, int64_t length)
{
#ifdef SYNC_FILE_RANGE_WRITE
    const int before = errno;
    sync_file_range(file, (off_t)from, (off_t)length, SYNC_FILE_RANGE_WRITE);
    errno = before;
#else
    (void)file, (void)from, (void)length;
#endif
}

int modal_disk_write(int file, int64_t place, const void *bytes, int64_t length)
{
    for (int64_t done = 0; done < length;) {
        const char *from = (const char *)bytes + done;
        const size_t left = (size_t)(length - done);
        const ssize_t wrote = place < 0 ? write(file, from, left) : pwrite(file, from, left, (off_t)(place + done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return -1;
        done += wrote;
    }
    return 0;
}

/* A direct write is a buffered one with more to do there, or another machine's business. */
static int has_disk(int file)
{
    static const long without[] = {0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */, 0x6969 /* NFS */, 0x65735546 /* FUSE */,
                                   0xff534d42 /* CIFS */, 0x517b /* SMB */, (long)0xfe534d42 /* SMB 2 */};
    struct statfs about;
    if (fstatfs(file, &about) != 0) return 0;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if ((unsigned)about.f_type == (unsigned)without[i]) return 0;
    return 1;
}

int modal_disk_open_direct(const char *path)
{
    const int file = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
    if (file < 0 || has_disk(file)) return file;
    close(file);
    return -1;
}

int modal_disk_write_direct(int file, int direct, int64_t place, const void *from, int64_t length, int *refused)
{
    const char *bytes = from;
    const int64_t to_block = (MODAL_DISK_BLOCK - place % MODAL_DISK_BLOCK) % MODAL_DISK_BLOCK, head = to_block < length ? to_block : length;
    const int64_t end = head + (length - head) / MODAL_DISK_BLOCK * MODAL_DISK_BLOCK;
    int64_t done = head;
    if (direct < 0 || (uintptr_t)(bytes + head) % MODAL_DISK_BLOCK != 0) return modal_disk_write(file, place, bytes, length);
    if (modal_disk_write(file, place, bytes, head) != 0) return -1;
    while (done < end) {
        const ssize_t n = pwrite(direct, bytes + done, (size_t)(end - done), (off_t)(place + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EINVAL) return -1;
        if (n < 0 && refused) *refused = 1;
        if (n <= 0 || n % MODAL_DISK_BLOCK != 0) break; /* not its blocks, or the last one did not fit */
        done += n;
    }
    return modal_disk_write(file, place + done, bytes + done, length - done);
}

int64_t modal_disk_read(int file, int64_t place, void *bytes, int64_t length)
{
    int64_t done = 0;
    while (done < length) {
        const ssize_t got = pread(file, (char *)bytes + done, (size_t)(length - done), (off_t)(place + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += got;
    }
    return done;
}

modal_status modal_disk_check(const char *folder, const char *name, double needed_bytes, modal_error *err)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot ask for free space, %s", folder, strerror(errno));
    const double free_bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    if (needed_bytes <= free_bytes) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: disk too full, %.3f MB are needed and %.3f MB free", name,
                           1e-6 * needed_bytes, 1e-6 * free_bytes);
}
