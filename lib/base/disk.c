/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
