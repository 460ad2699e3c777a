/* SPDX-License-Identifier: Apache-2.0 */
/* A range of tiles of a contiguous matrix is one piece of the file: one pread to where it is
 * wanted. The kernel is told about the range behind it, so that the disk works while this range is
 * computed with. */
#include "formats/hdf5/basis_tiles.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/hdf5/basis_layout.h"
#include "formats/hdf5/h5_util.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

typedef struct tiled_matrix {
    int64_t n_vertices, n_modes, n_tiles;
    int plain;       /* [n_vertices, 3, n_modes], not tiles */
    int64_t offset;  /* in the file; -1: through `rows` only */
    modal_h5_rows *rows;
    int64_t checked; /* the tiles before this one have been */
} tiled_matrix;

struct modal_basis_tiles {
    char *path;
    int descriptor;
    hid_t file; /* open only where HDF5 is needed */
    pthread_mutex_t *hdf5;
    int32_t n_shapes;
    tiled_matrix *matrices; /* [n_shapes] */
};

/* Rows of the array that tiles [begin, end) are, and the bytes of one: vertices or tiles. */
static int64_t rows_of(const tiled_matrix *m, int64_t begin, int64_t end)
{
    const int64_t last = end * MODAL_TILE < m->n_vertices ? end * MODAL_TILE : m->n_vertices;
    return m->plain ? last - begin * MODAL_TILE : end - begin;
}
static int64_t row_bytes(const tiled_matrix *m)
{
    return m->n_modes * 3 * (m->plain ? 1 : MODAL_TILE) * (int64_t)sizeof(float);
}

static void name_of(char name[64], int32_t shape)
{
    snprintf(name, 64, "/shapes/%04d/modes/modal_matrix", shape);
}

/* The place of a matrix whose type, shape and storage are as they must be. */
static modal_status find_matrix(const modal_h5_in *in, const modal_h5_place *shapes, int32_t index,
                                tiled_matrix *m)
{
    modal_status status = MODAL_OK;
    modal_h5_place shape = nowhere, modes = nowhere;
    int64_t dims[4] = {m->n_tiles, m->n_modes, 3, MODAL_TILE}, rows[3] = {m->n_vertices, 3, m->n_modes};
    char name[64];
    snprintf(name, sizeof name, "%04d", index);
    MODAL_TRY(modal_h5_enter(in, shapes, name, MODAL_H5_REQUIRED, &shape));
    MODAL_TRY(modal_h5_enter(in, &shape, "modes", MODAL_H5_REQUIRED, &modes));
    MODAL_TRY(modal_basis_layout(in, &modes, &m->plain));
    MODAL_TRY(modal_h5_rows_open(in, &modes, "modal_matrix", MODAL_H5_F32, m->plain ? 3 : 4, m->plain ? rows : dims,
                                 MODAL_H5_REQUIRED, &m->rows));
    m->offset = modal_h5_rows_place(m->rows);
    if (m->offset >= 0 || m->n_modes == 0) m->rows = modal_h5_rows_close(m->rows); /* without modes nothing is read */
done:
    modal_h5_leave(&modes);
    modal_h5_leave(&shape);
    return status;
}

static modal_status find_matrices(modal_basis_tiles *t, const modal_basis *basis, modal_h5_in *in)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere, shapes = nowhere;
    char *hash = NULL;
    unsigned major = 0;
    MODAL_TRY(modal_basis_check_version(in, &major));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_read_text(in, &root, "content_hash", &hash));
    if (!hash || strcmp(hash, basis->hash) != 0)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/@content_hash: changed while it was read");
    MODAL_TRY(modal_h5_enter(in, &root, "shapes", MODAL_H5_REQUIRED, &shapes));
    for (int32_t i = 0; i < t->n_shapes; i++) {
        tiled_matrix *m = &t->matrices[i];
        m->n_vertices = basis->shapes[i].n_vertices;
        m->n_tiles = modal_tile_count(m->n_vertices);
        m->n_modes = basis->shapes[i].n_modes;
        MODAL_TRY(find_matrix(in, &shapes, i, m));
    }
done:
    modal_free(&hash);
    modal_h5_leave(&shapes);
    modal_h5_leave(&root);
    return status;
}

modal_status modal_basis_tiles_open(modal_basis_tiles **tiles, const char *path,
                                    const modal_basis *basis, pthread_mutex_t *hdf5,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_basis_tiles *t = NULL;
    int needs_hdf5 = 0;
    *tiles = NULL;
    MODAL_TRY(modal_alloc_zero(&t, 1, sizeof *t, "tiles", err));
    t->descriptor = -1;
    t->file = H5I_INVALID_HID;
    t->hdf5 = hdf5;
    t->n_shapes = basis->n_shapes;
    MODAL_TRY(modal_alloc_zero(&t->matrices, t->n_shapes, sizeof *t->matrices, "tiles", err));
    MODAL_TRY(modal_copy_text(&t->path, path, SIZE_MAX, err));
    t->descriptor = modal_disk_open(path);
    if (t->descriptor < 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "cannot open, %s", strerror(errno));
    MODAL_TRY(modal_h5_open(&in, &source));
    MODAL_TRY(find_matrices(t, basis, &in));
    for (int32_t i = 0; i < t->n_shapes; i++) needs_hdf5 |= t->matrices[i].rows != NULL;
    if (needs_hdf5) {
        t->file = in.file;
        in.file = H5I_INVALID_HID;
    }
    *tiles = t;
    t = NULL;
done:
    modal_basis_tiles_close(t); /* and what is open of the file */
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        *tiles = modal_basis_tiles_close(*tiles);
    }
    return status;
}

modal_basis_tiles *modal_basis_tiles_close(modal_basis_tiles *t)
{
    if (!t) return NULL;
    if (t->hdf5) pthread_mutex_lock(t->hdf5);
    for (int32_t i = 0; t->matrices && i < t->n_shapes; i++) modal_h5_rows_close(t->matrices[i].rows);
    if (t->file >= 0) H5Fclose(t->file);
    if (t->hdf5) pthread_mutex_unlock(t->hdf5);
    if (t->descriptor >= 0) close(t->descriptor);
    modal_free(&t->path);
    modal_free(&t->matrices);
    modal_free(&t);
    return NULL;
}

static modal_status read_bytes(const modal_basis_tiles *t, const char *name, int64_t offset,
                               int64_t bytes, char *to, modal_error *err)
{
    const int64_t got = modal_disk_read(t->descriptor, offset, to, bytes);
    if (got < bytes)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: %s: cannot be read, %s", t->path, name,
                               got < 0 ? strerror(errno) : "the file has become shorter");
    posix_fadvise(t->descriptor, (off_t)(offset + bytes), (off_t)bytes, POSIX_FADV_WILLNEED);
    return MODAL_OK;
}

static modal_status read_rows(const modal_basis_tiles *t, const tiled_matrix *m, int64_t first, int64_t n, float *to,
                              modal_error *err)
{
    modal_error local = {0};
    if (t->hdf5) pthread_mutex_lock(t->hdf5);
    const modal_status status = modal_h5_rows_read(m->rows, first, n, to, &local);
    if (t->hdf5) pthread_mutex_unlock(t->hdf5);
    if (status == MODAL_OK) return status;
    return modal_error_set(err, status, "%s: %s", t->path, local.message);
}

/* The rules of the specification on values, as the reader of the whole matrix applies them. */
static modal_status check_values(const modal_basis_tiles *t, const char *name,
                                 const tiled_matrix *m, int64_t begin, int64_t end,
                                 const float *values, modal_error *err)
{
    const int64_t width = m->n_modes * 3 * MODAL_TILE, lanes = m->n_vertices % MODAL_TILE;
    for (int64_t tile = begin; tile < end; tile++) {
        const float *of_tile = values + (tile - begin) * width;
        int bad = 0;
        for (int64_t i = 0; i < width; i++) bad |= !(fabsf(of_tile[i]) <= FLT_MAX);
        for (int64_t i = 0; bad && i < width; i++)
            if (!isfinite(of_tile[i]))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "%s: %s: tile %lld, value %lld: not finite, %g", t->path, name,
                                       (long long)tile, (long long)i, (double)of_tile[i]);
        if (tile < m->n_tiles - 1 || lanes == 0) continue;
        for (int64_t i = 0; i < width; i++)
            if (i % MODAL_TILE >= lanes && !(of_tile[i] == 0.0f))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "%s: %s: mode %lld, lane %lld of the last tile: past the "
                                       "last vertex, must be 0, is %g",
                                       t->path, name, (long long)(i / (3 * MODAL_TILE)),
                                       (long long)(i % MODAL_TILE), (double)of_tile[i]);
    }
    return MODAL_OK;
}

modal_status modal_basis_tiles_read(void *tiles, int32_t shape, int64_t begin, int64_t end,
                                    float *to, modal_error *err)
{
    modal_basis_tiles *t = tiles;
    tiled_matrix *m = &t->matrices[shape];
    const int64_t first = begin * (m->plain ? MODAL_TILE : 1), n = rows_of(m, begin, end);
    modal_status status = MODAL_OK;
    float *rows = NULL; /* of a plain matrix */
    char name[64];
    assert(shape >= 0 && shape < t->n_shapes && 0 <= begin && begin <= end && end <= m->n_tiles);
    name_of(name, shape);
    if (begin == end || m->n_modes == 0) return MODAL_OK;
    if (m->plain) MODAL_TRY(modal_alloc(&rows, n, (size_t)row_bytes(m), name, err));
    if (m->offset >= 0)
        MODAL_TRY(read_bytes(t, name, m->offset + first * row_bytes(m), n * row_bytes(m),
                             (char *)(rows ? rows : to), err));
    else
        MODAL_TRY(read_rows(t, m, first, n, rows ? rows : to, err));
    if (rows) modal_basis_tile_rows(n, m->n_modes, rows, to);
    /* Ranges come in their order, and again for the next batch. */
    if (end > m->checked) {
        MODAL_TRY(check_values(t, name, m, begin, end, to, err));
        if (begin <= m->checked) m->checked = end;
    }
done:
    modal_free(&rows);
    return status;
}
