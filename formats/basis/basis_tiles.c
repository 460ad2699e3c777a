/* SPDX-License-Identifier: Apache-2.0 */
/* A range of tiles of a contiguous matrix is one piece of the file: one pread to where it is
 * wanted. The kernel is told about the range behind it, so that the disk works while this range is
 * computed with. */
#include "formats/basis/basis_tiles.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_layout.h"
#include "formats/basis/basis_parts.h"
#include "formats/h5/h5_util.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

/* Files at a time, of two descriptors at most: an assembly may have more of them than a process may open. */
enum { MOST_OPEN = 32 };

/* The basis, or a part of an assembly. Only while it is used, or HDF5 is needed, it is open. */
typedef struct tiled_file {
    char *path;
    struct stat info; /* when it was first opened */
    int descriptor;   /* -1: closed */
    modal_h5_in in;   /* .file < 0: closed */
    int64_t used;     /* the use of any file that was its last */
} tiled_file;

typedef struct tiled_matrix {
    int64_t n_vertices, n_modes, n_tiles;
    int32_t file, index; /* where it is, and the number of the shape there */
    int plain;       /* [n_vertices, 3, n_modes], not tiles */
    int64_t offset;  /* in the file; -1: through `rows` only */
    modal_h5_rows *rows; /* NULL while its file is closed */
    int64_t checked; /* the tiles before this one have been */
} tiled_matrix;

struct modal_basis_tiles {
    int32_t n_files, n_open;
    tiled_file *files; /* [n_files], the basis first */
    int64_t uses;
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

/* ---- files ---- */

static void close_hdf5(modal_basis_tiles *t, tiled_file *f)
{
    if (f->in.file < 0) return;
    if (t->hdf5) pthread_mutex_lock(t->hdf5);
    for (int32_t i = 0; i < t->n_shapes; i++)
        if (&t->files[t->matrices[i].file] == f) t->matrices[i].rows = modal_h5_rows_close(t->matrices[i].rows);
    H5Fclose(f->in.file);
    f->in.file = H5I_INVALID_HID;
    if (t->hdf5) pthread_mutex_unlock(t->hdf5);
}

static void close_file(modal_basis_tiles *t, tiled_file *f)
{
    close_hdf5(t, f);
    if (f->descriptor < 0) return;
    close(f->descriptor);
    f->descriptor = -1;
    t->n_open--;
}

static void close_oldest(modal_basis_tiles *t)
{
    tiled_file *oldest = NULL;
    for (int32_t i = 0; i < t->n_files; i++)
        if (t->files[i].descriptor >= 0 && (!oldest || t->files[i].used < oldest->used)) oldest = &t->files[i];
    close_file(t, oldest);
}

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Opens a file, the same as before. */
static modal_status use_file(modal_basis_tiles *t, tiled_file *f, modal_error *err)
{
    struct stat info;
    f->used = ++t->uses;
    if (f->descriptor >= 0) return MODAL_OK;
    if (t->n_open == MOST_OPEN) close_oldest(t);
    f->descriptor = modal_disk_open(f->path);
    if (f->descriptor < 0)
        return modal_error_set(err, modal_disk_open_status(errno), "%s: cannot open, %s", f->path, strerror(errno));
    t->n_open++;
    if (fstat(f->descriptor, &info) != 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be looked at, %s", f->path, strerror(errno));
    if (f->info.st_ino == 0) f->info = info;
    if (is_same(&info, &f->info)) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: changed while it was read", f->path);
}

/* ---- matrices ---- */

/* Finds a matrix whose type, shape and storage are as they must be; its rows are open. */
static modal_status find_matrix(const modal_h5_in *in, const modal_h5_place *shapes, tiled_matrix *m)
{
    modal_status status = MODAL_OK;
    modal_h5_place shape = nowhere, modes = nowhere;
    int64_t dims[4] = {m->n_tiles, m->n_modes, 3, MODAL_TILE}, rows[3] = {m->n_vertices, 3, m->n_modes};
    char name[64];
    snprintf(name, sizeof name, "%04d", m->index);
    MODAL_TRY(modal_h5_enter(in, shapes, name, MODAL_H5_REQUIRED, &shape));
    MODAL_TRY(modal_h5_enter(in, &shape, "modes", MODAL_H5_REQUIRED, &modes));
    MODAL_TRY(modal_basis_layout(in, &modes, &m->plain));
    MODAL_TRY(modal_h5_rows_open(in, &modes, "modal_matrix", MODAL_H5_F32, m->plain ? 3 : 4, m->plain ? rows : dims,
                                 MODAL_H5_REQUIRED, &m->rows));
    m->offset = modal_h5_rows_place(m->rows);
done:
    modal_h5_leave(&modes);
    modal_h5_leave(&shape);
    return status;
}

/* The same at first: where it lies is known then. */
static modal_status place_matrix(const modal_h5_in *in, const modal_h5_place *shapes, const modal_shape *s,
                                 int32_t file, int32_t index, tiled_matrix *m)
{
    *m = (tiled_matrix){.n_vertices = s->surface.n_vertices, .n_modes = s->modes.n_modes, .file = file, .index = index};
    m->n_tiles = modal_tile_count(m->n_vertices);
    const modal_status status = find_matrix(in, shapes, m);
    m->rows = modal_h5_rows_close(m->rows);
    return status;
}

/* Those that lie in the basis itself. */
static modal_status place_own(modal_basis_tiles *t, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {t->files[0].path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_place root = nowhere, shapes = nowhere;
    char *hash = NULL;
    MODAL_TRY(modal_h5_open(&in, &source));
    MODAL_TRY(modal_h5_check_root(&in, "basis", 1));
    MODAL_TRY(modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_read_text(&in, &root, "content_hash", &hash));
    if (!hash || strcmp(hash, basis->hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "/@content_hash: changed while it was read");
    MODAL_TRY(modal_h5_enter(&in, &root, "shapes", MODAL_H5_REQUIRED, &shapes));
    for (int32_t i = 0; i < t->n_shapes; i++)
        if (!basis->shapes[i].file) MODAL_TRY(place_matrix(&in, &shapes, &basis->shapes[i], 0, i, &t->matrices[i]));
done:
    modal_free(&hash);
    modal_h5_leave(&shapes);
    modal_h5_leave(&root);
    return modal_h5_close(&in, status);
}

/* Those of the shapes order[n], all of which lie in the file that comes next. */
static modal_status place_part(modal_basis_tiles *t, const modal_basis *basis, const int32_t *order, int32_t n,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis_part part = {0};
    tiled_file *f = &t->files[t->n_files];
    char *path = NULL;
    *f = (tiled_file){.descriptor = -1, .in = {.file = H5I_INVALID_HID}};
    MODAL_TRY(modal_basis_find_part(t->files[0].path, basis->shapes[order[0]].file, &f->path, err));
    t->n_files++;
    MODAL_TRY(use_file(t, f, err));
    MODAL_TRY(modal_copy_text(&path, f->path, SIZE_MAX, err));
    MODAL_TRY(modal_basis_part_open(&part, path, NULL, NULL, NULL, err)); /* and has the path */
    for (int32_t k = 0; k < n; k++) {
        const modal_shape *s = &basis->shapes[order[k]];
        MODAL_TRY(modal_basis_part_has(&part, s, err));
        MODAL_TRY(place_matrix(&part.in, &part.shapes, s, t->n_files - 1, (int32_t)s->file_shape,
                               &t->matrices[order[k]]));
    }
done:
    if (status != MODAL_OK) modal_error_context(err, "/shapes/%04d: %s", order[0], basis->shapes[order[0]].file);
    return modal_basis_part_close(&part, status, err);
}

modal_status modal_basis_tiles_open(modal_basis_tiles **tiles, const char *path,
                                    const modal_basis *basis, pthread_mutex_t *hdf5,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis_tiles *t = NULL;
    int32_t *order = NULL, n = 0, end = 0;
    *tiles = NULL;
    MODAL_TRY(modal_alloc_zero(&t, 1, sizeof *t, "tiles", err));
    t->hdf5 = hdf5;
    t->n_shapes = basis->n_shapes;
    MODAL_TRY(modal_alloc_zero(&t->matrices, t->n_shapes, sizeof *t->matrices, "tiles", err));
    MODAL_TRY(modal_basis_sort_links(basis, &order, &n, err));
    MODAL_TRY(modal_alloc_zero(&t->files, 1 + (int64_t)n, sizeof *t->files, "tiles", err));
    t->files[0] = (tiled_file){.descriptor = -1, .in = {.file = H5I_INVALID_HID}};
    t->n_files = 1;
    MODAL_TRY(modal_copy_text(&t->files[0].path, path, SIZE_MAX, err));
    MODAL_TRY(use_file(t, &t->files[0], err));
    MODAL_TRY(place_own(t, basis, err));
    for (int32_t begin = 0; begin < n; begin = end) {
        const char *file = basis->shapes[order[begin]].file;
        for (end = begin + 1; end < n && strcmp(file, basis->shapes[order[end]].file) == 0;) end++;
        MODAL_TRY(place_part(t, basis, order + begin, end - begin, err));
    }
    *tiles = t;
    t = NULL;
done:
    modal_free(&order);
    modal_basis_tiles_close(t);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

modal_basis_tiles *modal_basis_tiles_close(modal_basis_tiles *t)
{
    if (!t) return NULL;
    for (int32_t i = 0; i < t->n_files; i++) {
        close_file(t, &t->files[i]);
        modal_free(&t->files[i].path);
    }
    modal_free(&t->files);
    modal_free(&t->matrices);
    modal_free(&t);
    return NULL;
}

static modal_status read_bytes(const tiled_file *f, const char *name, int64_t offset, int64_t bytes, char *to,
                               modal_error *err)
{
    const int64_t got = modal_disk_read(f->descriptor, offset, to, bytes);
    if (got < bytes)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: %s: cannot be read, %s", f->path, name,
                               got < 0 ? strerror(errno) : "the file has become shorter");
    posix_fadvise(f->descriptor, (off_t)(offset + bytes), (off_t)bytes, POSIX_FADV_WILLNEED);
    return MODAL_OK;
}

/* Opens the rows of a matrix that only HDF5 can read. */
static modal_status open_rows(tiled_file *f, tiled_matrix *m)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {f->path, NULL, 0};
    modal_h5_place root = nowhere, shapes = nowhere;
    if (m->rows) return MODAL_OK;
    if (f->in.file < 0) MODAL_TRY(modal_h5_open(&f->in, &source));
    MODAL_TRY(modal_h5_enter(&f->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&f->in, &root, "shapes", MODAL_H5_REQUIRED, &shapes));
    MODAL_TRY(find_matrix(&f->in, &shapes, m));
done:
    modal_h5_leave(&shapes);
    modal_h5_leave(&root);
    return status;
}

static modal_status read_rows(const modal_basis_tiles *t, tiled_file *f, tiled_matrix *m, int64_t first, int64_t n,
                              float *to, modal_error *err)
{
    modal_error local = {0};
    if (t->hdf5) pthread_mutex_lock(t->hdf5);
    f->in.checker.err = &local;
    modal_status status = open_rows(f, m);
    if (status == MODAL_OK) status = modal_h5_rows_read(m->rows, first, n, to, &local);
    f->in.checker.err = NULL;
    if (t->hdf5) pthread_mutex_unlock(t->hdf5);
    if (status == MODAL_OK) return status;
    return modal_error_set(err, status, "%s: %s", f->path, local.message);
}

/* The rules of the specification on values, as the reader of the whole matrix applies them. */
static modal_status check_values(const tiled_file *f, const char *name,
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
                                       "%s: %s: tile %lld, value %lld: not finite, %g", f->path, name,
                                       (long long)tile, (long long)i, (double)of_tile[i]);
        if (tile < m->n_tiles - 1 || lanes == 0) continue;
        for (int64_t i = 0; i < width; i++)
            if (i % MODAL_TILE >= lanes && !(of_tile[i] == 0.0f))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "%s: %s: mode %lld, lane %lld of the last tile: past the "
                                       "last vertex, must be 0, is %g",
                                       f->path, name, (long long)(i / (3 * MODAL_TILE)),
                                       (long long)(i % MODAL_TILE), (double)of_tile[i]);
    }
    return MODAL_OK;
}

modal_status modal_basis_tiles_read(void *tiles, int32_t shape, int64_t begin, int64_t end,
                                    float *to, modal_error *err)
{
    modal_basis_tiles *t = tiles;
    tiled_matrix *m = &t->matrices[shape];
    tiled_file *f = &t->files[m->file];
    const int64_t first = begin * (m->plain ? MODAL_TILE : 1), n = rows_of(m, begin, end);
    modal_status status = MODAL_OK;
    float *rows = NULL; /* of a plain matrix */
    char name[64];
    assert(shape >= 0 && shape < t->n_shapes && 0 <= begin && begin <= end && end <= m->n_tiles);
    name_of(name, m->index);
    if (begin == end || m->n_modes == 0) return MODAL_OK;
    if (m->plain) MODAL_TRY(modal_alloc(&rows, n, (size_t)row_bytes(m), name, err));
    MODAL_TRY(use_file(t, f, err));
    if (m->offset >= 0)
        MODAL_TRY(read_bytes(f, name, m->offset + first * row_bytes(m), n * row_bytes(m),
                             (char *)(rows ? rows : to), err));
    else
        MODAL_TRY(read_rows(t, f, m, first, n, rows ? rows : to, err));
    if (rows) modal_basis_tile_rows(n, m->n_modes, rows, to);
    /* Ranges come in their order, and again for the next batch. */
    if (end > m->checked) {
        MODAL_TRY(check_values(f, name, m, begin, end, to, err));
        if (begin <= m->checked) m->checked = end;
    }
done:
    modal_free(&rows);
    return status;
}
