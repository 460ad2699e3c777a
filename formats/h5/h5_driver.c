/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/h5_driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/h5/h5_headers.h"
#include "lib/base/disk.h"

enum { USUAL_RANK = 32 }; /* of trees of chunks: HDF5_BTREE_CHUNK_IK_DEF */

/* What is told to open_reader. */
typedef struct opening {
    modal_h5_source source;
    int *file; /* the descriptor, which open_reader takes */
    uint64_t base;
} opening;

struct modal_h5_reader {
    H5FD_t base; /* HDF5's own, must be first */
    modal_h5_source source;
    int file; /* -1 where the bytes are in memory */
    haddr_t end_allocated;
    modal_h5_unsealed parts;
    modal_h5_blocks blocks; /* of object headers */
    modal_h5_stored *noted; /* NULL, or where the next request for values is noted, which is not followed */
};

/* What lies past the end reads as zeros, as with HDF5's own drivers. */
static int take_bytes(const void *file, uint64_t start, uint64_t size, void *bytes)
{
    const modal_h5_reader *r = file;
    const size_t there = start < r->parts.end ? (size_t)(r->parts.end - start < size ? r->parts.end - start : size) : 0;
    if (r->source.bytes && there > 0) memcpy(bytes, (const char *)r->source.bytes + start, there);
    else if (modal_disk_read(r->file, (int64_t)start, bytes, (int64_t)there) != (int64_t)there) return -1;
    memset((char *)bytes + there, 0, size - there);
    return 0;
}

static H5FD_t *open_reader(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    const opening *o = H5Pget_driver_info(access);
    (void)name, (void)most;
    if (!o || (flags & H5F_ACC_RDWR)) return NULL;
    modal_h5_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (modal_h5_reader){.source = o->source, .file = -1,
                           .parts = {take_bytes, r, o->base, o->source.length, USUAL_RANK}};
    if (!o->source.bytes) {
        struct stat info;
        if (*o->file < 0 || fstat(*o->file, &info) != 0) {
            free(r);
            return NULL;
        }
        r->file = *o->file;
        *o->file = -1;
        r->parts.end = (uint64_t)info.st_size;
    }
    return &r->base;
}

static herr_t close_reader(H5FD_t *file)
{
    modal_h5_reader *r = (modal_h5_reader *)file;
    if (r->file >= 0) close(r->file);
    modal_h5_blocks_free(&r->blocks);
    free(r);
    return 0;
}

static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file; /* without HDF5's accumulator of metadata, which asks for parts of what is to be looked at whole */
    *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_end_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const modal_h5_reader *)file)->end_allocated;
}

static herr_t set_end_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((modal_h5_reader *)file)->end_allocated = end;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const modal_h5_reader *)file)->parts.end;
}

static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t start, size_t size, void *bytes)
{
    modal_h5_reader *r = (modal_h5_reader *)file;
    (void)transfer;
    if (r->noted && type == H5FD_MEM_DRAW) {
        if (start > r->parts.end || size > r->parts.end - start) return -1;
        *r->noted = (modal_h5_stored){(int64_t)start, (int64_t)size, 0};
        return 0;
    }
    if (take_bytes(r, start, size, bytes) != 0) return -1;
    /* HDF5 reads collections of the heap as if they were values: what it reads can be told by its signature only. */
    const char *damage = type == H5FD_MEM_OHDR ? modal_h5_header_damage(&r->parts, start, size, bytes, &r->blocks)
                                               : modal_h5_unsealed_damage(&r->parts, start, size, bytes);
    if (!damage) return 0;
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_HEAP, H5E_BADVALUE, "%s at byte %llu", damage,
             (unsigned long long)start);
    return -1;
}

static herr_t write_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t start, size_t size, const void *bytes)
{
    (void)file, (void)type, (void)transfer, (void)start, (void)size, (void)bytes;
    return -1;
}

static herr_t get_handle(H5FD_t *file, hid_t access, void **handle)
{
    (void)access;
    *handle = file;
    return 0;
}

static hid_t driver = H5I_INVALID_HID;

herr_t modal_h5_read_through_driver(hid_t access, const modal_h5_source *source, int *file, int64_t base)
{
    static const H5FD_class_t methods = {
#ifdef H5FD_CLASS_VERSION
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)600, /* of those left to everybody */
#endif
        .name = "modal",
        .maxaddr = (haddr_t)INT64_MAX,
        .fc_degree = H5F_CLOSE_WEAK,
        .fapl_size = sizeof(opening),
        .open = open_reader,
        .close = close_reader,
        .query = query,
        .get_eoa = get_end_allocated,
        .set_eoa = set_end_allocated,
        .get_eof = get_end,
        .get_handle = get_handle,
        .read = read_bytes,
        .write = write_bytes,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    if (H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&methods);
    const opening o = {*source, file, (uint64_t)base};
    return driver < 0 ? -1 : H5Pset_driver(access, driver, &o);
}

modal_h5_reader *modal_h5_reader_of(hid_t id)
{
    void *handle = NULL;
    const hid_t file = H5Iget_file_id(id), access = file < 0 ? -1 : H5Fget_access_plist(file);
    if (access < 0 || driver < 0 || H5Pget_driver(access) != driver || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0)
        handle = NULL;
    if (access >= 0) H5Pclose(access);
    if (file >= 0) H5Fclose(file);
    return handle;
}

void modal_h5_reader_learn(modal_h5_reader *reader, unsigned chunk_rank) { reader->parts.chunk_rank = chunk_rank; }

herr_t modal_h5_find_chunk(modal_h5_reader *reader, hid_t dataset, const hsize_t *offset, modal_h5_stored *stored)
{
    unsigned char nothing = 0;
    uint32_t mask = 0;
    *stored = (modal_h5_stored){0, -1, 0};
    reader->noted = stored;
#if H5_VERSION_GE(2, 0, 0)
    const herr_t found = H5Dread_chunk1(dataset, H5P_DEFAULT, offset, &mask, &nothing);
#else
    const herr_t found = H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, &nothing);
#endif
    reader->noted = NULL;
    stored->mask = mask;
    return found < 0 || stored->bytes < 0 ? -1 : 0;
}

int modal_h5_reader_in_memory(const modal_h5_reader *reader) { return reader->source.bytes != NULL; }

const void *modal_h5_reader_bytes(const modal_h5_reader *reader, int64_t start, int64_t bytes, void *buffer)
{
    if (reader->source.bytes) return (const char *)reader->source.bytes + start;
    return modal_disk_read(reader->file, start, buffer, bytes) == bytes ? buffer : NULL;
}
