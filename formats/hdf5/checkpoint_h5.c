/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5/checkpoint_h5.h"

#include <stdio.h>
#include <string.h>

#include "formats/hdf5/h5_util.h"
#include "formats/hdf5/rules.h"
#include "lib/base/memory.h"

void modal_checkpoint_free(modal_checkpoint *c)
{
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) modal_free(&c->state[i]);
    modal_free(&c->back_end);
    memset(c, 0, sizeof *c);
}

enum { Q, FRAMES, ENERGY, ARRAYS };
static const char *const names[ARRAYS] = {"q", "frames", "energy"};

static modal_status put_rows(void *context, int64_t first, int64_t count, const double *times, const double *q,
                             const double *frames, const double *energy, modal_error *err)
{
    modal_status status = MODAL_OK;
    const hid_t *rows = context;
    const double *const from[ARRAYS] = {q, frames, energy};
    (void)times; /* follow from the scene */
    for (int i = 0; i < ARRAYS; i++)
        if (rows[i] >= 0) MODAL_TRY(modal_h5_put_rows(rows[i], names[i], first, count, from[i], err));
done:
    return status;
}

static modal_status write_all(hid_t file, const modal_checkpoint *c, modal_trajectory_out *from, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t dims[ARRAYS][3] = {{c->n_frames, c->n_coordinates}, {c->n_frames, c->n_objects, 12},
                                     {c->n_frames, 4}};
    const int rank[ARRAYS] = {2, 3, 2};
    hid_t rows[ARRAYS] = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    MODAL_TRY(modal_h5_write_text(file, "modal_type", "checkpoint", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_version", "1.0", err));
    MODAL_TRY(modal_h5_write_text(file, "basis_hash", c->basis_hash, err));
    MODAL_TRY(modal_h5_write_text(file, "scene_hash", c->scene_hash, err));
    MODAL_TRY(modal_h5_write_text(file, "back_end", c->back_end, err));
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        char name[16];
        snprintf(name, sizeof name, "state_%d", i);
        MODAL_TRY(modal_h5_write_array(file, name, MODAL_H5_F64, 1, &c->state_counts[i], c->state[i], err));
    }
    for (int i = 0; i < ARRAYS; i++)
        if (i != FRAMES || c->n_objects > 0)
            MODAL_TRY(modal_h5_make_rows(file, names[i], rank[i], dims[i], &rows[i], err));
    MODAL_TRY(modal_trajectory_out_read(from, c->n_frames, put_rows, rows, err));
done:
    for (int i = 0; i < ARRAYS; i++) status = modal_h5_end_rows(&rows[i], status, names[i], err);
    return status;
}

modal_status modal_checkpoint_write(const char *path, const modal_checkpoint *c, modal_trajectory_out *rows,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t file = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_create(&file, path, err));
    status = write_all(file, c, rows, err);
done:
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

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

static modal_status read_all(const modal_h5_in *in, modal_checkpoint *c)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""};
    const modal_axes axes = {"item", ""};
    MODAL_TRY(modal_h5_check_root(in, "checkpoint", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(read_hash(in, &root, "basis_hash", c->basis_hash));
    MODAL_TRY(read_hash(in, &root, "scene_hash", c->scene_hash));
    MODAL_TRY(modal_h5_read_text(in, &root, "back_end", &c->back_end));
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        char name[16];
        snprintf(name, sizeof name, "state_%d", i);
        c->state_counts[i] = -1;
        MODAL_TRY(modal_h5_read_array(in, &root, name, MODAL_H5_F64, 1, &c->state_counts[i], MODAL_H5_REQUIRED,
                                      &c->state[i]));
        MODAL_TRY(modal_rule_finite(&in->checker, name, c->state[i], c->state_counts[i], 1, axes));
    }
    int64_t q[2] = {-1, -1};
    MODAL_TRY(modal_h5_read_array(in, &root, "q", MODAL_H5_F64, 2, q, MODAL_H5_REQUIRED, NULL));
    int64_t energy[2] = {q[0], 4}, frames[3] = {q[0], -1, 12};
    MODAL_TRY(modal_h5_read_array(in, &root, "energy", MODAL_H5_F64, 2, energy, MODAL_H5_REQUIRED, NULL));
    MODAL_TRY(modal_h5_read_array(in, &root, "frames", MODAL_H5_F64, 3, frames, MODAL_H5_OPTIONAL, NULL));
    c->n_frames = q[0];
    c->n_coordinates = q[1];
    c->n_objects = frames[1] < 0 ? 0 : frames[1];
done:
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
    hid_t rows[ARRAYS] = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    const int64_t width[ARRAYS] = {c->n_coordinates, 12 * c->n_objects, 4};
    double *block[ARRAYS] = {NULL};
    const int64_t most = (4 << 20) / (int64_t)sizeof(double) / (width[Q] + width[FRAMES] + width[ENERGY]) + 1;
    MODAL_TRY(modal_h5_open(&in, &source));
    for (int i = 0; i < ARRAYS; i++) {
        MODAL_TRY(modal_alloc(&block[i], most * width[i], sizeof(double), "checkpoint", err));
        if (width[i] == 0) continue;
        rows[i] = H5Dopen2(in.file, names[i], H5P_DEFAULT);
        if (rows[i] < 0) {
            status = modal_h5_failed(err, MODAL_ERROR_INPUT, names[i], "cannot be read");
            goto done;
        }
    }
    for (int64_t first = 0; first < c->n_frames; first += most) {
        const int64_t n = c->n_frames - first < most ? c->n_frames - first : most;
        for (int i = 0; i < ARRAYS; i++)
            if (rows[i] >= 0) MODAL_TRY(modal_h5_get_rows(rows[i], names[i], first, n, block[i], err));
        for (int64_t k = 0; k < n; k++)
            MODAL_TRY(modal_trajectory_out_row(out, first + k == 0 ? 0 : (double)(first + k) / fps,
                                               block[Q] + k * width[Q], block[FRAMES] + k * width[FRAMES],
                                               block[ENERGY] + k * width[ENERGY], err));
    }
done:
    for (int i = 0; i < ARRAYS; i++) {
        if (rows[i] >= 0) H5Dclose(rows[i]);
        modal_free(&block[i]);
    }
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}
