/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5's driver of a guarded file: metadata is checked before HDF5 gets it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/h5/guard/guard_private.h"

/* What modal_h5_guard hands to open_file. */
typedef struct opening {
    modal_h5_source source;
    int *file; /* the descriptor, which open_file takes */
    uint64_t base;
} opening;

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    const opening *o = H5Pget_driver_info(access);
    struct stat info;
    (void)name, (void)most;
    if (!o || (flags & H5F_ACC_RDWR)) return NULL;
    if (!o->source.bytes && (*o->file < 0 || fstat(*o->file, &info) != 0)) return NULL;
    guard *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    *g = (guard){.source = o->source, .file = -1, .base = o->base, .end = o->source.length};
    if (!o->source.bytes) {
        g->file = *o->file;
        *o->file = -1;
        g->end = (uint64_t)info.st_size;
    }
    return &g->driver;
}

static herr_t close_file(H5FD_t *file)
{
    guard *g = (guard *)file;
    if (g->file >= 0) close(g->file);
    free(g->blocks.blocks);
    free(g);
    return 0;
}

/* Without HDF5's accumulator of metadata, which asks for parts of what is to be checked as a whole. */
static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_end_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const guard *)file)->end_allocated;
}

static herr_t set_end_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((guard *)file)->end_allocated = end;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const guard *)file)->end;
}

static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t start, size_t size, void *bytes)
{
    guard *g = (guard *)file;
    (void)transfer;
    if (g->noted && type == H5FD_MEM_DRAW) {
        if (start > g->end || size > g->end - start) return -1;
        *g->noted = (guard_stored){(int64_t)start, (int64_t)size, 0};
        return 0;
    }
    if (guard_read(g, start, size, bytes) != 0) return -1;
    /* HDF5 reads collections of the heap as if they were values: only their signature tells them. */
    const char *damage = type == H5FD_MEM_OHDR ? guard_check_header(g, start, size, bytes) : guard_check_other(g, start, size, bytes);
    if (!damage) return 0;
    g->damage = damage;
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

herr_t modal_h5_guard(hid_t access, const modal_h5_source *source, int *file, int64_t base)
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
        .open = open_file,
        .close = close_file,
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

guard *guard_of(hid_t dataset)
{
    void *handle = NULL;
    const hid_t file = H5Iget_file_id(dataset), access = file < 0 ? -1 : H5Fget_access_plist(file);
    if (access < 0 || driver < 0 || H5Pget_driver(access) != driver || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0)
        handle = NULL;
    if (access >= 0) H5Pclose(access);
    if (file >= 0) H5Fclose(file);
    return handle;
}

herr_t guard_find_chunk(guard *g, hid_t dataset, const hsize_t *offset, guard_stored *stored)
{
    unsigned char nothing = 0;
    uint32_t mask = 0;
    *stored = (guard_stored){0, -1, 0};
    g->damage = NULL;
    g->noted = stored;
#if H5_VERSION_GE(2, 0, 0)
    const herr_t found = H5Dread_chunk1(dataset, H5P_DEFAULT, offset, &mask, &nothing);
#else
    const herr_t found = H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, &nothing);
#endif
    g->noted = NULL;
    stored->mask = mask;
    return found < 0 || stored->bytes < 0 ? -1 : 0;
}
