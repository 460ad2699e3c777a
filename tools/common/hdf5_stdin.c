/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/hdf5_stdin.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "formats/h5/h5_superblock.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/pipes.h"

static const char name[] = "standard input";

/* Reads on until there are `wanted` bytes, for which there is room, or the input ends. */
static modal_status read_to(unsigned char *bytes, int64_t *used, int64_t wanted, modal_error *err)
{
    while (*used < wanted) {
        const int64_t left = wanted - *used;
        const ssize_t got = read(STDIN_FILENO, bytes + *used, (size_t)(left < MODAL_DISK_PIECE ? left : MODAL_DISK_PIECE));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: read error, %s", name, strerror(errno));
        if (got == 0) break;
        *used += got;
    }
    return MODAL_OK;
}

/* Reads to the end of the superblock. */
static modal_status find_superblock(unsigned char **bytes, int64_t *capacity, int64_t *used, modal_h5_superblock *block,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    char wrong[MODAL_H5_SUPERBLOCK_TEXT];
    for (int64_t place = 0; place >= 0; place = modal_h5_next_place(place)) {
        MODAL_TRY(modal_grow(bytes, capacity, place + MODAL_H5_SUPERBLOCK, 1, name, err));
        MODAL_TRY(read_to(*bytes, used, place + MODAL_H5_SUPERBLOCK, err));
        if (*used == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: empty file", name);
        if (!modal_h5_is_signature(*bytes + place, *used - place)) continue;
        modal_h5_superblock_take(block, place, *bytes + place, *used - place, wrong);
        if (wrong[0]) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: HDF5 file: %s", name, wrong);
        goto done;
    }
    status = modal_error_set(err, MODAL_ERROR_INPUT, "%s: not an HDF5 file", name);
done:
    return status;
}

modal_status tool_take_hdf5(const char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    char wrong[MODAL_H5_SUPERBLOCK_TEXT];
    unsigned char *head = NULL, *all = NULL;
    int64_t capacity = 0, used = 0;
    modal_h5_superblock block;
    if (strcmp(*path, "-") != 0) return MODAL_OK;
    MODAL_TRY(find_superblock(&head, &capacity, &used, &block, err));
    MODAL_TRY(tool_pipe_check_limit(name, "an HDF5 file of", (double)block.end, err));
    /* One byte more than there should be: there must be none. */
    const int64_t room = block.end + 1 > used ? block.end + 1 : used;
    MODAL_TRY(modal_alloc(&all, room, 1, name, err));
    memcpy(all, head, (size_t)used);
    MODAL_TRY(read_to(all, &used, room, err));
    modal_h5_superblock_fits(&block, used, wrong);
    if (used > block.end)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: more bytes after the end of the HDF5 file, at byte %" PRId64, name, block.end);
    if (wrong[0]) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: HDF5 file: %s", name, wrong);
    MODAL_TRY(tool_pipe_keep(all, used, name, path, err));
done:
    modal_free(&head);
    modal_free(&all);
    return status;
}
