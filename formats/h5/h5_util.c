/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing share, and opening. */
#include "formats/h5/h5_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/h5/h5_private.h"
#include "formats/h5/h5_superblock.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

size_t modal_h5_type_bytes(modal_h5_type type)
{
    static const size_t bytes[] = {8, 4, 8, 4, 1};
    return bytes[type];
}

hid_t modal_h5_file_type(modal_h5_type type)
{
    switch (type) {
    case MODAL_H5_F64: return H5T_IEEE_F64LE;
    case MODAL_H5_F32: return H5T_IEEE_F32LE;
    case MODAL_H5_I64: return H5T_STD_I64LE;
    case MODAL_H5_I32: return H5T_STD_I32LE;
    case MODAL_H5_U8: return H5T_STD_U8LE;
    }
    return H5I_INVALID_HID;
}

hid_t modal_h5_native_type(modal_h5_type type)
{
    switch (type) {
    case MODAL_H5_F64: return H5T_NATIVE_DOUBLE;
    case MODAL_H5_F32: return H5T_NATIVE_FLOAT;
    case MODAL_H5_I64: return H5T_NATIVE_INT64;
    case MODAL_H5_I32: return H5T_NATIVE_INT32;
    case MODAL_H5_U8: return H5T_NATIVE_UINT8;
    }
    return H5I_INVALID_HID;
}

void modal_h5_drop(hid_t *id)
{
    if (*id >= 0) H5Idec_ref(*id);
    *id = H5I_INVALID_HID;
}

void modal_h5_leave(modal_h5_place *place) { modal_h5_drop(&place->id); }

/* HDF5 prints nothing of its own. And it does nothing at exit: a close that fails (a full disk) leaves
 * the file's id behind, HDF5 1.10 tries again when the process exits, and crashes there; every id of
 * ours is closed by us. The second has no effect where HDF5 was used before. */
void modal_h5_start(void)
{
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* ---- HDF5's error stack ---- */

typedef struct stack_text {
    char *text;
    size_t bytes;
    int depth;
} stack_text;

static herr_t take_description(unsigned n, const H5E_error2_t *entry, void *data)
{
    (void)n;
    stack_text *t = data;
    /* The innermost entry comes first and says what happened; the second one, what for. */
    if (t->depth < 2 && entry->desc) {
        size_t length = strlen(t->text);
        /* Failed system calls are described over two lines, with the date: the reason is enough. */
        const char *reason = strstr(entry->desc, "error message = '");
        const char *desc = reason ? reason + strlen("error message = '") : entry->desc;
        size_t shown = strcspn(desc, reason ? "'" : "\n");
        /* Nor are addresses in memory, which differ from run to run. */
        const char *address = strstr(desc, ": current p = ");
        if (address && (size_t)(address - desc) < shown) shown = (size_t)(address - desc);
        snprintf(t->text + length, t->bytes - length, "%s%.*s", t->depth ? ", " : "", (int)shown, desc);
        t->depth++;
    }
    return 0;
}

void modal_h5_stack(char text[MODAL_H5_STACK])
{
    stack_text t = {text, MODAL_H5_STACK, 0};
    text[0] = '\0';
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_description, &t);
    if (!text[0]) snprintf(text, MODAL_H5_STACK, "no more is known");
    H5Eclear2(H5E_DEFAULT);
}

modal_status modal_h5_failed(modal_error *err, modal_status status, const char *where,
                             const char *what)
{
    char text[MODAL_H5_STACK];
    modal_h5_stack(text);
    return modal_error_set(err, status, "%s: %s (HDF5: %s)", where, what, text);
}

/* ---- opening ---- */

/* The version-2 metadata of HDF5 1.8 carries checksums (so that damage is noticed, not followed)
 * and every reader since 2008 knows it. Large arrays start on a page, for readers that map them. */
modal_status modal_h5_access(hid_t *access, modal_error *err)
{
    *access = H5Pcreate(H5P_FILE_ACCESS);
    if (*access < 0 || H5Pset_fclose_degree(*access, H5F_CLOSE_SEMI) < 0 ||
        H5Pset_libver_bounds(*access, H5F_LIBVER_V18, H5F_LIBVER_V18) < 0 ||
        H5Pset_alignment(*access, 65536, 4096) < 0) {
        modal_status status =
            modal_h5_failed(err, MODAL_ERROR_MEMORY, "HDF5", "no access properties");
        modal_h5_drop(access);
        return status;
    }
    return MODAL_OK;
}

/* HDF5 says little about files that it cannot open, and would wait for ever at a named pipe. */
static modal_status look_at(const char *path, int *file, int64_t *bytes, modal_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return modal_error_set(err, MODAL_ERROR_INPUT, "is a folder, not a file");
    if (!S_ISREG(info.st_mode))
        return modal_error_set(err, MODAL_ERROR_INPUT, "is not a regular file");
    *file = modal_disk_open(path);
    if (*file < 0) return modal_error_set(err, modal_disk_open_status(errno), "cannot open, %s", strerror(errno));
    *bytes = (int64_t)info.st_size;
    return MODAL_OK;
}

/* For who gives a mesh where a basis or a motion is meant: what makes one of it, by the extension of the name; else "". */
static const char *instead(const char *path)
{
    static const char *const meshes[] = {".msh", ".veg", ".inp", ".mesh", ".meshb", ".node", ".ele", ".vtk", ".vtu"};
    static const char *const others[] = {".obj", ".stl", ".ply", ".off", ".step", ".stp", ".iges", ".igs", ".brep", ".geo"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof meshes / sizeof *meshes; i++)
        if (strcasecmp(dot, meshes[i]) == 0) return "; modalpack makes a basis of a mesh";
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot, others[i]) == 0) return "; modalmesh makes a mesh of it, and modalpack a basis";
    return "";
}

/* Whether there is an HDF5 file, all of it and nothing else after it; *base: where it begins. */
static modal_status check_superblock(const modal_h5_source *source, int file, int64_t file_bytes, int64_t *base,
                                     modal_error *err)
{
    unsigned char bytes[MODAL_H5_SUPERBLOCK];
    char wrong[MODAL_H5_SUPERBLOCK_TEXT];
    modal_h5_superblock block;
    for (int64_t place = 0; place >= 0 && place < file_bytes; place = modal_h5_next_place(place)) {
        int64_t n = file_bytes - place < MODAL_H5_SUPERBLOCK ? file_bytes - place : MODAL_H5_SUPERBLOCK;
        if (source->bytes) memcpy(bytes, (const char *)source->bytes + place, (size_t)n);
        else n = modal_disk_read(file, place, bytes, n);
        if (n < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "read error, %s", strerror(errno));
        if (!modal_h5_is_signature(bytes, n)) continue;
        modal_h5_superblock_take(&block, place, bytes, n, wrong);
        if (!wrong[0]) modal_h5_superblock_fits(&block, file_bytes, wrong);
        *base = block.start;
        return wrong[0] ? modal_error_set(err, MODAL_ERROR_INPUT, "HDF5 file: %s", wrong) : MODAL_OK;
    }
    return modal_error_set(err, MODAL_ERROR_INPUT, "not an HDF5 file%s", source->path ? instead(source->path) : "");
}

modal_status modal_h5_open(modal_h5_in *in, const modal_h5_source *source)
{
    modal_error *err = in->checker.err;
    modal_status status = MODAL_OK;
    hid_t access = H5I_INVALID_HID;
    int file = -1;
    in->file = H5I_INVALID_HID;
    in->file_bytes = (int64_t)source->length;
    modal_h5_start();
    if (!source->bytes) MODAL_TRY(look_at(source->path, &file, &in->file_bytes, err));
    if (in->file_bytes == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "empty file");
    MODAL_TRY(check_superblock(source, file, in->file_bytes, &in->base, err));
    MODAL_TRY(modal_h5_access(&access, err));
    /* Written by whatever version: what is read is no later than the library, or it says so. */
    if (H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) < 0 ||
        modal_h5_guard(access, source, &file, in->base) < 0) {
        status = modal_h5_failed(err, MODAL_ERROR_MEMORY, "HDF5", "no driver");
        goto done;
    }
    in->file = H5Fopen(source->path, H5F_ACC_RDONLY, access);
    if (in->file < 0) status = modal_h5_failed(err, MODAL_ERROR_INPUT, "HDF5 file", "damaged, or of a later version");
done:
    if (file >= 0) close(file);
    modal_h5_drop(&access);
    return status;
}

static int64_t n_stuck;

int64_t modal_h5_stuck(void) { return n_stuck; }

modal_status modal_h5_close(modal_h5_in *in, modal_status status)
{
    const int closed = in->file < 0 || H5Fclose(in->file) >= 0;
    n_stuck += !closed;
    if (!closed && status == MODAL_OK && !(in->checker.findings && in->checker.findings->n > 0))
        status = modal_h5_failed(in->checker.err, MODAL_ERROR_INPUT, "HDF5 file", "damaged, and cannot be closed");
    in->file = H5I_INVALID_HID;
    H5Eclear2(H5E_DEFAULT);
    return status;
}

const char *modal_h5_version(void)
{
    static char text[64];
    unsigned part[3];
    H5get_libversion(&part[0], &part[1], &part[2]);
    snprintf(text, sizeof text, "HDF5 %u.%u.%u", part[0], part[1], part[2]);
    return text;
}
