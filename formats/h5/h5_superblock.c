/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5 File Format Specification 3.0, II.A: versions 0, 2 and 3 of the superblock. HDF5 writes version 1 only for
 * trees of an unusual rank (H5Pset_istore_k). */
#include "formats/h5/h5_superblock.h"

#include <stdio.h>
#include <string.h>

int64_t modal_h5_next_place(int64_t place)
{
    const int64_t next = place == 0 ? 512 : 2 * place;
    return next <= MODAL_H5_USER_BLOCK ? next : -1;
}

int modal_h5_is_signature(const unsigned char *bytes, int64_t n)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return n >= (int64_t)sizeof signature && memcmp(bytes, signature, sizeof signature) == 0;
}

static uint64_t address(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

void modal_h5_superblock_take(modal_h5_superblock *s, int64_t start, const unsigned char *bytes, int64_t n,
                              char wrong[MODAL_H5_SUPERBLOCK_TEXT])
{
    wrong[0] = '\0';
    *s = (modal_h5_superblock){start, 0};
    if (n < 9) {
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "truncated, it ends in its superblock");
        return;
    }
    const int version = bytes[8];
    if (version == 1 || version > 3) {
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "superblock of version %d, this program knows 0, 2 and 3", version);
        return;
    }
    const int sizes = version == 0 ? 13 : 9, base = version == 0 ? 24 : 12;
    if (n < base + 24) {
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "truncated, it ends in its superblock");
        return;
    }
    if (bytes[sizes] != 8 || bytes[sizes + 1] != 8) {
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "addresses of %d and lengths of %d bytes, must be of 8", bytes[sizes],
                 bytes[sizes + 1]);
        return;
    }
    /* The end counts from where the file began when it was written: there may be a user block since. */
    const uint64_t begin = address(bytes + base), end = address(bytes + base + 16);
    if (end < begin || end - begin > (uint64_t)(INT64_MAX - start))
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "damaged, no possible end in its superblock");
    else
        s->end = start + (int64_t)(end - begin);
}

void modal_h5_superblock_fits(const modal_h5_superblock *s, int64_t file_bytes, char wrong[MODAL_H5_SUPERBLOCK_TEXT])
{
    wrong[0] = '\0';
    if (file_bytes < s->end)
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "truncated, %lld bytes of %lld", (long long)file_bytes, (long long)s->end);
    else if (file_bytes > s->end)
        snprintf(wrong, MODAL_H5_SUPERBLOCK_TEXT, "%lld bytes after the end of the HDF5 file, at byte %lld",
                 (long long)(file_bytes - s->end), (long long)s->end);
}
