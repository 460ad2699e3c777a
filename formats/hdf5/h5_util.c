/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing share, and opening. */
#include "formats/hdf5/h5_util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/hdf5/h5_driver.h"
#include "formats/hdf5/h5_private.h"
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
static modal_status look_at(const char *path, int64_t *bytes, modal_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return modal_error_set(err, MODAL_ERROR_INPUT, "is a folder, not a file");
    if (!S_ISREG(info.st_mode))
        return modal_error_set(err, MODAL_ERROR_INPUT, "is not a regular file");
    FILE *file = fopen(path, "rb");
    if (!file) return modal_error_set(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(errno));
    fclose(file);
    *bytes = (int64_t)info.st_size;
    return MODAL_OK;
}

modal_status modal_h5_open(modal_h5_in *in, const modal_h5_source *source)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    modal_error *err = in->checker.err;
    modal_status status = MODAL_OK;
    hid_t access = H5I_INVALID_HID;
    in->file = H5I_INVALID_HID;
    in->file_bytes = (int64_t)source->length;
    modal_h5_start();
    if (!source->bytes) MODAL_TRY(look_at(source->path, &in->file_bytes, err));
    if (in->file_bytes == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "empty file");
    MODAL_TRY(modal_h5_access(&access, err));
    if (source->bytes) {
        if (source->length < sizeof signature ||
            memcmp(source->bytes, signature, sizeof signature) != 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "not an HDF5 file");
    } else if (H5Fis_hdf5(source->path) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "not an HDF5 file");
    }
    if (modal_h5_read_through_driver(access, source) < 0) {
        status = modal_h5_failed(err, MODAL_ERROR_MEMORY, "HDF5", "no driver");
        goto done;
    }
    in->file = H5Fopen(source->path, H5F_ACC_RDONLY, access);
    if (in->file < 0)
        status = modal_h5_failed(err, MODAL_ERROR_INPUT, "HDF5 file", "truncated or damaged");
done:
    modal_h5_drop(&access);
    return status;
}

modal_status modal_h5_close(modal_h5_in *in, modal_status status)
{
    if (in->file >= 0 && H5Fclose(in->file) < 0 && status == MODAL_OK)
        status =
            modal_h5_failed(in->checker.err, MODAL_ERROR_SYSTEM, "HDF5 file", "cannot be closed");
    in->file = H5I_INVALID_HID;
    H5Eclear2(H5E_DEFAULT);
    return status;
}

modal_status modal_h5_check_root(const modal_h5_in *in, const char *type, int major)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""};
    /* Without a known type and version no rule applies, so this never goes into a list. */
    const modal_h5_in strict = {in->file, in->file_bytes, {NULL, in->checker.err}};
    char *found = NULL, *version = NULL, *end = NULL;
    MODAL_TRY(modal_h5_enter(&strict, NULL, NULL, MODAL_H5_REQUIRED, &root));
    if (H5Aexists(root.id, "modal_type") <= 0)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT,
                   "no attribute modal_type: not a file of modaltools");
    MODAL_TRY(modal_h5_read_text(&strict, &root, "modal_type", &found));
    if (strcmp(found, type) != 0)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "modal_type: this is a %.64s, expected a %s",
                   found, type);
    MODAL_TRY(modal_h5_read_text(&strict, &root, "modal_version", &version));
    errno = 0;
    long number = strtol(version, &end, 10);
    if (end == version || *end != '.' || errno || number < 0)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT,
                   "modal_version: must read MAJOR.MINOR, is \"%.64s\"", version);
    if (number != major)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT,
                   "modal_version: unsupported version %.64s, this program reads %d.x", version,
                   major);
done:
    modal_h5_leave(&root);
    modal_free(&found);
    modal_free(&version);
    return status;
}

modal_status modal_h5_file_kind(const char *path, char **type, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_place root = {H5I_INVALID_HID, ""};
    *type = NULL;
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root);
    if (status == MODAL_OK && H5Aexists(root.id, "modal_type") <= 0)
        status = modal_error_set(err, MODAL_ERROR_INPUT,
                                 "no attribute modal_type: not a file of modaltools");
    if (status == MODAL_OK) status = modal_h5_read_text(&in, &root, "modal_type", type);
    modal_h5_leave(&root);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
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
