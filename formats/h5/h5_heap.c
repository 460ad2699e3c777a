/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/h5_heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_bytes.h"
#include "formats/h5/h5_unsealed.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

/* HDF5 File Format Specification 3.0, III.E. A collection: "GCOL", version 1, 3 zeros, size (u64);
 * then objects: index (u16, 0 = the free rest), references (u16), 4 zeros, size (u64), data padded
 * to 8 bytes. */
enum { HEAD = 16, WINDOW = 1 << 20, MOST_BYTES = 1 << 26 };
static const unsigned char signature[8] = {'G', 'C', 'O', 'L', 1, 0, 0, 0};

static uint32_t turn(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

/* The checksum of HDF5's metadata: Bob Jenkins, lookup3.c (2006), hashlittle with initial value 0. */
static uint32_t checksum(const unsigned char *key, uint64_t length)
{
    static const int mixing[6] = {4, 6, 8, 16, 19, 4}, last[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t s[3]; /* a, b, c */
    s[0] = s[1] = s[2] = 0xdeadbeef + (uint32_t)length;
    for (; length > 12; length -= 12, key += 12) {
        for (int i = 0; i < 3; i++) s[i] += (uint32_t)modal_h5_little(key + 4 * i, 4);
        for (int i = 0; i < 6; i++) {
            uint32_t *x = &s[i % 3], *y = &s[(i + 2) % 3], *z = &s[(i + 1) % 3];
            *x -= *y;
            *x ^= turn(*y, mixing[i]);
            *y += *z;
        }
    }
    if (length == 0) return s[2];
    for (uint64_t i = 0; i < length; i++) s[i / 4] += (uint32_t)key[i] << 8 * (i % 4);
    for (int i = 0; i < 7; i++) {
        uint32_t *x = &s[(i + 2) % 3], *y = &s[(i + 1) % 3];
        *x ^= *y;
        *x -= turn(*y, last[i]);
    }
    return s[2];
}

/* NULL, or what is wrong with an object of a collection as the mapping of a virtual dataset. */
static const char *wrong_mapping(const unsigned char *data, uint64_t length)
{
    if (length < 13 || data[0] != 0) return "an object that is no mapping";
    if (checksum(data, length - 4) != modal_h5_little(data + length - 4, 4)) return "a mapping with a wrong checksum";
    return NULL;
}

/* NULL, or what is wrong with a collection of `size` bytes; `wrong_object` looks at each object, or is NULL. */
static const char *wrong_collection(const unsigned char *bytes, uint64_t size,
                                    const char *(*wrong_object)(const unsigned char *data, uint64_t length))
{
    uint64_t at = HEAD;
    while (size - at >= HEAD) {
        const unsigned char *object = bytes + at;
        uint64_t index = modal_h5_little(object, 2), length = modal_h5_little(object + 8, 8), room = size - at;
        if (index == 0) return length == room ? NULL : "free space of another size";
        if (modal_h5_little(object + 4, 4) != 0) return "an object that is none";
        if (length > room - HEAD || (length + 7) / 8 * 8 > room - HEAD)
            return "an object that does not fit";
        const char *wrong = wrong_object ? wrong_object(object + HEAD, length) : NULL;
        if (wrong) return wrong;
        at += HEAD + (length + 7) / 8 * 8;
    }
    return NULL;
}

uint64_t modal_h5_heap_bytes(const void *bytes, size_t size)
{
    if (size < HEAD || memcmp(bytes, signature, sizeof signature) != 0) return 0;
    const uint64_t whole = modal_h5_little((const unsigned char *)bytes + 8, 8);
    return whole > 0 ? whole : 1;
}

int modal_h5_damaged_heap(const void *bytes, uint64_t size)
{
    return size < HEAD || wrong_collection(bytes, size, NULL) != NULL;
}

/* The object of the collection at `at`, in *collection, which the caller frees; NULL: there is none, or it is not sound. */
static const unsigned char *find_object(const modal_h5_unsealed *f, uint64_t at, uint64_t index, unsigned char **collection,
                                        uint64_t *length)
{
    const unsigned char *found = NULL;
    unsigned char head[HEAD];
    const uint64_t there = f->end - f->base;
    *collection = NULL;
    if (at > there || there - at < HEAD || f->read(f->file, f->base + at, HEAD, head) != 0) return NULL;
    const uint64_t size = modal_h5_heap_bytes(head, HEAD);
    if (size < HEAD || size > there - at || size > MOST_BYTES || index == 0) return NULL;
    *collection = malloc(size);
    if (!*collection || f->read(f->file, f->base + at, size, *collection) != 0 || wrong_collection(*collection, size, NULL))
        return NULL;
    for (uint64_t next = HEAD; size - next >= HEAD && modal_h5_little(*collection + next, 2) != 0;) {
        const unsigned char *object = *collection + next;
        const uint64_t bytes = modal_h5_little(object + 8, 8);
        if (modal_h5_little(object, 2) == index) { /* of several HDF5 takes the last */
            found = object + HEAD;
            *length = bytes;
        }
        next += HEAD + (bytes + 7) / 8 * 8;
    }
    return found;
}

int modal_h5_heap_object(const modal_h5_unsealed *f, uint64_t at, uint64_t index, uint64_t *length)
{
    unsigned char *collection;
    const int found = find_object(f, at, index, &collection, length) != NULL;
    free(collection);
    return found;
}

int modal_h5_heap_mapping(const modal_h5_unsealed *f, uint64_t at, uint64_t index)
{
    unsigned char *collection;
    uint64_t length;
    const unsigned char *object = find_object(f, at, index, &collection, &length);
    const int sound = object && !wrong_mapping(object, length);
    free(collection);
    return sound;
}

/* Checks the collection at `at`; *bytes is its size, 8 where that is broken. */
static modal_status check_collection(FILE *file, int64_t at, int64_t file_bytes,
                                     const modal_checker *checker, int64_t *bytes, int *sound)
{
    modal_status status = MODAL_OK;
    unsigned char head[HEAD], *all = NULL;
    const char *wrong = NULL;
    char where[64];
    *bytes = 8;
    if (fseeko(file, at, SEEK_SET) != 0 || fread(head, 1, HEAD, file) != HEAD) {
        wrong = "cut off";
    } else {
        uint64_t size = modal_h5_little(head + 8, 8);
        if (size < HEAD || size > MOST_BYTES || (int64_t)size > file_bytes - at) {
            wrong = "impossible size";
        } else {
            MODAL_TRY(modal_alloc(&all, (int64_t)size, 1, "heap", checker->err));
            memcpy(all, head, HEAD);
            if (fread(all + HEAD, 1, (size_t)size - HEAD, file) != size - HEAD)
                wrong = "cannot be read";
            else
                wrong = wrong_collection(all, size, wrong_mapping);
            *bytes = (int64_t)size;
        }
    }
    if (wrong) {
        *sound = 0;
        snprintf(where, sizeof where, "heap at byte %" PRId64, at);
        status = modal_broken(checker, where, "damaged, %s", wrong);
    }
done:
    modal_free(&all);
    return status;
}

/* The first byte at or after `at` that is in no range, and how many follow before the next one. */
static int64_t next_searched(int64_t at, int64_t end, const modal_h5_range *skip, int n_skip,
                             int64_t *count)
{
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < n_skip; i++)
            if (at >= skip[i].start && at - skip[i].start < skip[i].bytes) {
                at = skip[i].start + skip[i].bytes;
                again = 1;
            }
    }
    for (int i = 0; i < n_skip; i++)
        if (skip[i].bytes > 0 && skip[i].start > at && skip[i].start < end) end = skip[i].start;
    *count = end > at ? end - at : 0;
    return at;
}

modal_status modal_h5_check_heaps(const char *path, const modal_h5_range *skip, int n_skip,
                                  const modal_checker *checker, int *sound)
{
    modal_status status = MODAL_OK;
    unsigned char *window = NULL;
    FILE *file = modal_disk_stream(path);
    *sound = 1;
    if (!file || fseeko(file, 0, SEEK_END) != 0)
        MODAL_FAIL(checker->err, MODAL_ERROR_SYSTEM, "cannot read, %s", strerror(errno));
    const int64_t end = (int64_t)ftello(file);
    int64_t count = 0;
    MODAL_TRY(modal_alloc(&window, WINDOW, 1, "window", checker->err));
    for (int64_t at = next_searched(0, end, skip, n_skip, &count); count >= HEAD;
         at = next_searched(at, end, skip, n_skip, &count)) {
        size_t length = count < WINDOW ? (size_t)count : WINDOW;
        if (fseeko(file, at, SEEK_SET) != 0 || fread(window, 1, length, file) != length)
            MODAL_FAIL(checker->err, MODAL_ERROR_SYSTEM, "read error, %s", strerror(errno));
        const unsigned char *found = memmem(window, length, signature, sizeof signature);
        if (found) {
            int64_t bytes;
            at += found - window;
            MODAL_TRY(check_collection(file, at, end, checker, &bytes, sound));
            at += bytes;
        } else {
            /* A signature may lie across the border, unless a range follows. */
            at += (int64_t)length - ((int64_t)length < count ? (int64_t)sizeof signature - 1 : 0);
        }
    }
done:
    modal_free(&window);
    if (file) fclose(file);
    return status;
}
