/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/disk.h"

#include <errno.h>
#include <fcntl.h>

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
