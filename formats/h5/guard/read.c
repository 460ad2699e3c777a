/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "formats/h5/guard/guard_private.h"
#include "lib/base/disk.h"

int guard_read(const guard *g, uint64_t start, uint64_t size, void *bytes)
{
    const size_t there = start < g->end ? (size_t)(g->end - start < size ? g->end - start : size) : 0;
    if (g->source.bytes && there > 0) memcpy(bytes, (const char *)g->source.bytes + start, there);
    else if (modal_disk_read(g->file, (int64_t)start, bytes, (int64_t)there) != (int64_t)there) return -1;
    memset((char *)bytes + there, 0, size - there);
    return 0;
}
