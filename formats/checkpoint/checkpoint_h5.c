/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/checkpoint/checkpoint_h5.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/rules.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

void modal_checkpoint_free(modal_checkpoint *c)
{
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) modal_free(&c->state[i]);
    modal_free(&c->back_end);
    memset(c, 0, sizeof *c);
}

enum { Q, POSES, ENERGY, QUALITY, ARRAYS };
static const char *const names[ARRAYS] = {"q", "poses", "energy", "quality"};

enum { COPIES = 2, SEAL = MODAL_HASH_TEXT - 1 };

static void state_name(char name[16], int i) { snprintf(name, 16, "state_%d", i); }

/* What makes a state whole: a hash over the number of frames and its five arrays. */
static modal_status seal_of(int64_t n_frames, const int64_t *counts, double *const *state, char seal[MODAL_HASH_TEXT],
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    char name[16];
    MODAL_TRY(modal_hash_new(&hash, err));
    modal_hash_array(hash, "n_frames", &n_frames, 1, sizeof n_frames);
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        state_name(name, i);
        modal_hash_array(hash, name, state[i], counts[i], sizeof(double));
    }
    modal_hash_text(hash, seal);
done:
    modal_hash_delete(hash);
    return status;
}

/* ---- writing ---- */

/* HDF5 makes the file, whose arrays lie where they lie from then on; they are filled without it, so that it is
 * known what reaches the disk before what. */
struct modal_checkpoint_out {
    int file;
    char *name;
    int64_t most_frames, written; /* frames */
    int64_t width[ARRAYS];        /* numbers a frame; 0: this array is not there */
    int64_t counts[MODAL_CHECKPOINT_STATE];
    int64_t rows[ARRAYS], state[MODAL_CHECKPOINT_STATE], n_frames, seal; /* where they begin, bytes */
    int64_t copy; /* the older of the two states */
};

static modal_status make_array(hid_t file, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                               int64_t *place, modal_error *err)
{
    hid_t dataset = H5I_INVALID_HID;
    modal_status status = modal_h5_make_rows(file, name, type, rank, dims, &dataset, err);
    if (status != MODAL_OK) return status;
    const haddr_t address = H5Dget_offset(dataset);
    *place = (int64_t)address;
    if (address == HADDR_UNDEF) status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "has no place");
    return modal_h5_end_rows(&dataset, status, name, err);
}

static modal_status make_all(hid_t file, modal_checkpoint_out *o, const modal_checkpoint *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t dims[ARRAYS][3] = {{c->most_frames, c->n_coordinates}, {c->most_frames, c->n_objects, 12},
                                     {c->most_frames, 4}, {c->most_frames, c->n_quality}};
    const int rank[ARRAYS] = {2, 3, 2, 2};
    const int64_t seal[2] = {COPIES, SEAL};
    char name[16];
    MODAL_TRY(modal_h5_write_text(file, "modal_format", "checkpoint", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format_version", "1.0", err));
    MODAL_TRY(modal_h5_write_text(file, "basis_hash", c->basis_hash, err));
    MODAL_TRY(modal_h5_write_text(file, "scene_hash", c->scene_hash, err));
    MODAL_TRY(modal_h5_write_text(file, "backend", c->back_end, err));
    MODAL_TRY(make_array(file, "n_frames", MODAL_H5_I64, 1, seal, &o->n_frames, err));
    MODAL_TRY(make_array(file, "checksum", MODAL_H5_U8, 2, seal, &o->seal, err));
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        const int64_t state[2] = {COPIES, c->state_counts[i]};
        state_name(name, i);
        MODAL_TRY(make_array(file, name, MODAL_H5_F64, 2, state, &o->state[i], err));
    }
    for (int i = 0; i < ARRAYS; i++)
        if (o->width[i] > 0)
            MODAL_TRY(make_array(file, names[i], MODAL_H5_F64, rank[i], dims[i], &o->rows[i], err));
done:
    return status;
}

modal_status modal_checkpoint_out_open(modal_checkpoint_out **out, const char *path, const char *name,
                                       const modal_checkpoint *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_checkpoint_out *o = NULL;
    hid_t file = H5I_INVALID_HID;
    *out = NULL;
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "checkpoint", err));
    o->file = -1;
    o->most_frames = c->most_frames;
    o->width[Q] = c->n_coordinates;
    o->width[POSES] = 12 * c->n_objects;
    o->width[ENERGY] = 4;
    o->width[QUALITY] = c->n_quality;
    memcpy(o->counts, c->state_counts, sizeof o->counts);
    MODAL_TRY(modal_copy_text(&o->name, name, SIZE_MAX, err));
    MODAL_TRY(modal_h5_create(&file, path, err));
    status = modal_h5_finish(&file, make_all(file, o, c, err), err);
    if (status != MODAL_OK) modal_error_context(err, "%s", name);
    if (status != MODAL_OK) goto done;
    o->file = open(path, O_WRONLY | O_CLOEXEC);
    if (o->file < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", name, strerror(errno));
    *out = o;
    o = NULL;
done:
    modal_checkpoint_out_close(o);
    return status;
}

static modal_status put_at(const modal_checkpoint_out *o, int64_t place, const void *bytes, int64_t length,
                           modal_error *err)
{
    if (modal_disk_write(o->file, place, bytes, length) == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", o->name, strerror(errno));
}

/* Times are not among them, since they follow from the scene. */
static modal_status put_rows(void *context, const modal_trajectory_block *rows, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_checkpoint_out *o = context;
    const void *const from[ARRAYS] = {rows->q, rows->poses, rows->energy, rows->quality};
    for (int i = 0; i < ARRAYS; i++) {
        const int64_t row = o->width[i] * (int64_t)sizeof(double);
        if (row > 0) MODAL_TRY(put_at(o, o->rows[i] + rows->first * row, from[i], rows->count * row, err));
    }
done:
    return status;
}

static modal_status put_state(const modal_checkpoint_out *o, const modal_checkpoint *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    char seal[MODAL_HASH_TEXT];
    MODAL_TRY(seal_of(c->n_frames, o->counts, c->state, seal, err));
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        const int64_t bytes = o->counts[i] * (int64_t)sizeof(double);
        MODAL_TRY(put_at(o, o->state[i] + o->copy * bytes, c->state[i], bytes, err));
    }
    MODAL_TRY(put_at(o, o->n_frames + o->copy * (int64_t)sizeof c->n_frames, &c->n_frames, sizeof c->n_frames, err));
    MODAL_TRY(put_at(o, o->seal + o->copy * SEAL, seal, SEAL, err));
done:
    return status;
}

static modal_status reach_disk(const modal_checkpoint_out *o, modal_error *err)
{
    if (fdatasync(o->file) == 0 || errno == EINVAL) return MODAL_OK; /* EINVAL: nothing to sync there */
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot sync, %s", o->name, strerror(errno));
}

modal_status modal_checkpoint_out_put(modal_checkpoint_out *o, const modal_checkpoint *c, modal_trajectory_out *rows,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    if (c->n_frames <= o->written) goto done;
    assert(c->n_frames <= o->most_frames);
    MODAL_TRY(modal_trajectory_out_read(rows, o->written, c->n_frames, put_rows, o, err));
    MODAL_TRY(reach_disk(o, err));
    MODAL_TRY(put_state(o, c, err));
    MODAL_TRY(reach_disk(o, err));
    o->written = c->n_frames;
    o->copy = !o->copy;
done:
    return status;
}

int modal_checkpoint_out_is_at(const modal_checkpoint_out *o, const char *path)
{
    struct stat mine, there;
    return fstat(o->file, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

modal_checkpoint_out *modal_checkpoint_out_close(modal_checkpoint_out *o)
{
    if (!o) return NULL;
    if (o->file >= 0) close(o->file);
    modal_free(&o->name);
    modal_free(&o);
    return NULL;
}

/* ---- reading ---- */

static modal_status read_hash(const modal_h5_in *in, const modal_h5_place *root, const char *name,
                              char hash[MODAL_HASH_TEXT])
{
    char *text = NULL, where[64];
    modal_status status = modal_h5_read_text(in, root, name, &text);
    if (status == MODAL_OK && text && strlen(text) < MODAL_HASH_TEXT) strcpy(hash, text);
    modal_free(&text);
    snprintf(where, sizeof where, "/@%s", name);
    return status == MODAL_OK ? modal_rule_hash(&in->checker, where, hash) : status;
}

/* The one of the two states that is whole and the later one, moved to the front of its arrays. */
static modal_status choose_state(const modal_h5_in *in, modal_checkpoint *c, const int64_t n_frames[COPIES],
                                 const uint8_t *seals)
{
    modal_status status = MODAL_OK;
    char seal[MODAL_HASH_TEXT], name[16];
    int chosen = -1;
    for (int copy = 0; copy < COPIES; copy++) {
        double *state[MODAL_CHECKPOINT_STATE];
        for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) state[i] = c->state[i] + copy * c->state_counts[i];
        MODAL_TRY(seal_of(n_frames[copy], c->state_counts, state, seal, in->checker.err));
        const int whole = memcmp(seal, seals + (size_t)copy * SEAL, SEAL) == 0 && n_frames[copy] >= 1 &&
                          n_frames[copy] <= c->most_frames;
        if (whole && (chosen < 0 || n_frames[copy] > n_frames[chosen])) chosen = copy;
    }
    if (chosen < 0)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/checksum: neither of the two states is whole");
    c->n_frames = n_frames[chosen];
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        const modal_axes axes = {"item", ""};
        const int64_t n = c->state_counts[i];
        memmove(c->state[i], c->state[i] + chosen * n, (size_t)n * sizeof(double));
        state_name(name, i);
        MODAL_TRY(modal_rule_finite(&in->checker, name, c->state[i], n, 1, axes));
    }
done:
    return status;
}

static modal_status read_all(const modal_h5_in *in, modal_checkpoint *c)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""};
    int64_t *n_frames = NULL, seal[2] = {COPIES, SEAL};
    uint8_t *seals = NULL;
    char name[16];
    MODAL_TRY(modal_h5_check_root(in, "checkpoint", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(read_hash(in, &root, "basis_hash", c->basis_hash));
    MODAL_TRY(read_hash(in, &root, "scene_hash", c->scene_hash));
    MODAL_TRY(modal_h5_read_text(in, &root, "backend", &c->back_end));
    MODAL_TRY(modal_h5_read_array(in, &root, "n_frames", MODAL_H5_I64, 1, seal, MODAL_H5_REQUIRED, &n_frames));
    MODAL_TRY(modal_h5_read_array(in, &root, "checksum", MODAL_H5_U8, 2, seal, MODAL_H5_REQUIRED, &seals));
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        int64_t dims[2] = {COPIES, -1};
        state_name(name, i);
        MODAL_TRY(modal_h5_read_array(in, &root, name, MODAL_H5_F64, 2, dims, MODAL_H5_REQUIRED, &c->state[i]));
        c->state_counts[i] = dims[1];
    }
    int64_t q[2] = {-1, -1};
    MODAL_TRY(modal_h5_read_array(in, &root, "q", MODAL_H5_F64, 2, q, MODAL_H5_REQUIRED, NULL));
    int64_t energy[2] = {q[0], 4}, poses[3] = {q[0], -1, 12}, quality[2] = {q[0], -1};
    MODAL_TRY(modal_h5_read_array(in, &root, "energy", MODAL_H5_F64, 2, energy, MODAL_H5_REQUIRED, NULL));
    MODAL_TRY(modal_h5_read_array(in, &root, "poses", MODAL_H5_F64, 3, poses, MODAL_H5_OPTIONAL, NULL));
    MODAL_TRY(modal_h5_read_array(in, &root, "quality", MODAL_H5_F64, 2, quality, MODAL_H5_OPTIONAL, NULL));
    c->most_frames = q[0];
    c->n_coordinates = q[1];
    c->n_objects = poses[1] < 0 ? 0 : poses[1];
    c->n_quality = quality[1] < 0 ? 0 : quality[1];
    MODAL_TRY(choose_state(in, c, n_frames, seals));
done:
    modal_free(&n_frames);
    modal_free(&seals);
    modal_h5_leave(&root);
    return status;
}

modal_status modal_checkpoint_read(const char *path, modal_checkpoint *c, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    memset(c, 0, sizeof *c);
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = read_all(&in, c);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) {
        modal_checkpoint_free(c);
        modal_error_context(err, "%s", path);
    }
    return status;
}

modal_status modal_checkpoint_rows(const char *path, const modal_checkpoint *c, double fps,
                                   modal_trajectory_out *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_place root = {H5I_INVALID_HID, ""};
    modal_h5_rows *rows[ARRAYS] = {NULL};
    int64_t dims[ARRAYS][3] = {{c->most_frames, c->n_coordinates}, {c->most_frames, c->n_objects, 12}, {c->most_frames, 4},
                               {c->most_frames, c->n_quality}};
    const int64_t width[ARRAYS] = {c->n_coordinates, 12 * c->n_objects, 4, c->n_quality};
    double *block[ARRAYS] = {NULL};
    const int64_t most = (4 << 20) / (int64_t)sizeof(double) / (width[Q] + width[POSES] + width[ENERGY] + width[QUALITY]) + 1;
    MODAL_TRY(modal_h5_open(&in, &source));
    MODAL_TRY(modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    for (int i = 0; i < ARRAYS; i++) {
        MODAL_TRY(modal_alloc(&block[i], most * width[i], sizeof(double), "checkpoint", err));
        if (width[i] > 0)
            MODAL_TRY(modal_h5_rows_open(&in, &root, names[i], MODAL_H5_F64, i == POSES ? 3 : 2, dims[i],
                                         MODAL_H5_REQUIRED, &rows[i]));
    }
    for (int64_t first = 0; first < c->n_frames; first += most) {
        const int64_t n = c->n_frames - first < most ? c->n_frames - first : most;
        for (int i = 0; i < ARRAYS; i++)
            if (rows[i]) {
                MODAL_TRY(modal_h5_rows_read(rows[i], first, n, block[i], err));
                if (i != QUALITY) /* which the rows' own rules look at */
                    MODAL_TRY(modal_rule_finite(&in.checker, names[i], block[i], n, width[i],
                                                (modal_axes){"frame", "number"}));
            }
        for (int64_t k = 0; k < n; k++)
            MODAL_TRY(modal_trajectory_out_row(out, first + k == 0 ? 0 : (double)(first + k) / fps,
                                               block[Q] + k * width[Q], block[POSES] + k * width[POSES],
                                               block[ENERGY] + k * width[ENERGY],
                                               (const modal_quality *)(block[QUALITY] + k * width[QUALITY]), err));
    }
done:
    for (int i = 0; i < ARRAYS; i++) {
        modal_h5_rows_close(rows[i]);
        modal_free(&block[i]);
    }
    modal_h5_leave(&root);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}
