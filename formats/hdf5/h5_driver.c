/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5/h5_driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hdf5/h5_heap.h"
#include "lib/base/disk.h"

typedef struct reader {
    H5FD_t base; /* HDF5's own, must be first */
    modal_h5_source source;
    int file; /* -1 where the bytes are in memory */
    haddr_t end_allocated, end;
} reader;

static H5FD_t *open_reader(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    const modal_h5_source *source = H5Pget_driver_info(access);
    (void)name, (void)most;
    if (!source || (flags & H5F_ACC_RDWR)) return NULL;
    reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (reader){.source = *source, .file = -1, .end = source->length};
    if (!source->bytes) {
        struct stat info;
        r->file = open(source->path, O_RDONLY | O_CLOEXEC);
        if (r->file < 0 || fstat(r->file, &info) != 0) {
            if (r->file >= 0) close(r->file);
            free(r);
            return NULL;
        }
        r->end = (haddr_t)info.st_size;
    }
    return &r->base;
}

static herr_t close_reader(H5FD_t *file)
{
    reader *r = (reader *)file;
    if (r->file >= 0) close(r->file);
    free(r);
    return 0;
}

static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_ACCUMULATE_METADATA_READ | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_end_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const reader *)file)->end_allocated;
}

static herr_t set_end_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((reader *)file)->end_allocated = end;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const reader *)file)->end;
}

/* What lies past the end reads as zeros, as with HDF5's own drivers. */
static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t start, size_t size, void *bytes)
{
    reader *r = (reader *)file;
    size_t there = start < r->end ? (size_t)(r->end - start < size ? r->end - start : size) : 0;
    (void)type, (void)transfer;
    if (r->source.bytes && there > 0) memcpy(bytes, (const char *)r->source.bytes + start, there);
    else if (modal_disk_read(r->file, (int64_t)start, bytes, (int64_t)there) != (int64_t)there) return -1;
    memset((char *)bytes + there, 0, size - there);
    /* HDF5 reads a collection as if it were values: it can be told by its signature only. */
    if (!modal_h5_damaged_heap(bytes, size)) return 0;
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_HEAP, H5E_BADVALUE,
             "damaged heap at byte %llu", (unsigned long long)start);
    return -1;
}

static herr_t write_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t start, size_t size, const void *bytes)
{
    (void)file, (void)type, (void)transfer, (void)start, (void)size, (void)bytes;
    return -1;
}

herr_t modal_h5_read_through_driver(hid_t access, const modal_h5_source *source)
{
    static hid_t driver = H5I_INVALID_HID;
    static const H5FD_class_t methods = {
#ifdef H5FD_CLASS_VERSION
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)600, /* of those left to everybody */
#endif
        .name = "modal",
        .maxaddr = (haddr_t)INT64_MAX,
        .fc_degree = H5F_CLOSE_WEAK,
        .fapl_size = sizeof(modal_h5_source),
        .open = open_reader,
        .close = close_reader,
        .query = query,
        .get_eoa = get_end_allocated,
        .set_eoa = set_end_allocated,
        .get_eof = get_end,
        .read = read_bytes,
        .write = write_bytes,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    if (H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&methods);
    return driver < 0 ? -1 : H5Pset_driver(access, driver, source);
}
