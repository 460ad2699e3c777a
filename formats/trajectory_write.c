/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "formats/h5_util.h"
#include "formats/provenance_h5.h"
#include "formats/trajectory_h5.h"
#include "formats/trajectory_rules.h"
#include "lib/base/memory.h"

static modal_status check_complete(const modal_trajectory *t, modal_error *err)
{
    const modal_checker checker = {NULL, err};
    if (!t->times || !t->mode_offsets || !t->q || !t->basis_path)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "/: times, mode_offsets, q or basis_path missing");
    if (t->n_objects < 1)
        return modal_error_set(err, MODAL_ERROR_INPUT, "/mode_offsets: no objects");
    return modal_trajectory_rules(&checker, t, t->mode_offsets[t->n_objects]);
}

static modal_status write_all(hid_t file, const modal_trajectory *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_offsets = (int64_t)t->n_objects + 1;
    const int64_t q_dims[2] = {t->n_frames, t->mode_offsets[t->n_objects]};
    const int64_t energy_dims[2] = {t->n_frames, 4};
    const int64_t frame_dims[4] = {t->n_frames, t->n_objects, 3, 4};
    MODAL_TRY(modal_h5_write_text(file, "modal_type", "trajectory", err));
    /* the lowest version that has all that is written: older readers know what they get */
    MODAL_TRY(modal_h5_write_text(file, "modal_version", t->energy ? "1.1" : "1.0", err));
    MODAL_TRY(modal_h5_write_text(file, "basis_hash", t->basis_hash, err));
    MODAL_TRY(modal_h5_write_text(file, "basis_path", t->basis_path, err));
    MODAL_TRY(modal_h5_write_external(file, "basis", t->basis_path, err));
    MODAL_TRY(modal_h5_write_array(file, "times", MODAL_H5_F64, 1, &t->n_frames, t->times, err));
    MODAL_TRY(modal_h5_write_array(file, "mode_offsets", MODAL_H5_I64, 1, &n_offsets,
                                   t->mode_offsets, err));
    MODAL_TRY(modal_h5_write_array(file, "q", MODAL_H5_F64, 2, q_dims, t->q, err));
    if (t->frames)
        MODAL_TRY(
            modal_h5_write_array(file, "frames", MODAL_H5_F64, 4, frame_dims, t->frames, err));
    if (t->energy)
        MODAL_TRY(modal_h5_write_array(file, "energy", MODAL_H5_F64, 2, energy_dims, t->energy, err));
    MODAL_TRY(modal_provenance_write(file, t->provenance, t->n_provenance, err));
done:
    return status;
}

modal_status modal_trajectory_write(const char *path, const modal_trajectory *trajectory,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t file = H5I_INVALID_HID;
    MODAL_TRY(check_complete(trajectory, err));
    MODAL_TRY(modal_h5_create(&file, path, err));
    status = write_all(file, trajectory, err);
done:
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

modal_status modal_trajectory_image(const modal_trajectory *trajectory, void **bytes,
                                    size_t *length, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t file = H5I_INVALID_HID;
    *bytes = NULL;
    *length = 0;
    MODAL_TRY(check_complete(trajectory, err));
    MODAL_TRY(modal_h5_create(&file, NULL, err));
    MODAL_TRY(write_all(file, trajectory, err));
    status = modal_h5_image(file, bytes, length, err);
done:
    status = modal_h5_finish(&file, status, err);
    if (status != MODAL_OK) {
        modal_free(bytes);
        *length = 0;
    }
    return status;
}
