/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/provenance_h5.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

modal_status modal_provenance_write(hid_t place, const modal_provenance *steps, int32_t n,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t all = H5I_INVALID_HID, step = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_make_group(place, "provenance", &all, err));
    MODAL_TRY(modal_h5_write_integer(all, "count", n, err));
    for (int32_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%04d", i);
        MODAL_TRY(modal_h5_make_group(all, name, &step, err));
        MODAL_TRY(modal_h5_write_text(step, "tool", steps[i].tool, err));
        MODAL_TRY(modal_h5_write_text(step, "version", steps[i].version, err));
        MODAL_TRY(modal_h5_write_text(step, "arguments", steps[i].arguments, err));
        MODAL_TRY(modal_h5_write_text(step, "inputs", steps[i].inputs, err));
        MODAL_TRY(modal_h5_write_text(step, "backend", steps[i].back_end, err));
        if (steps[i].quality) MODAL_TRY(modal_h5_write_text(step, "quality", steps[i].quality, err));
        if (steps[i].assumed_material) MODAL_TRY(modal_h5_write_text(step, "assumed_material", steps[i].assumed_material, err));
        MODAL_TRY(modal_h5_end_group(&step, MODAL_OK, err));
    }
done:
    status = modal_h5_end_group(&step, status, err);
    return modal_h5_end_group(&all, status, err);
}

modal_status modal_provenance_read(const modal_h5_in *in, const modal_h5_place *root,
                                   modal_h5_need need, modal_provenance **steps, int32_t *n)
{
    modal_status status = MODAL_OK;
    modal_h5_place all = {H5I_INVALID_HID, ""}, step = {H5I_INVALID_HID, ""};
    int32_t count = 0;
    MODAL_TRY(modal_h5_enter(in, root, "provenance", need, &all));
    MODAL_TRY(modal_h5_read_count(in, &all, &count));
    MODAL_TRY(modal_alloc_zero(steps, count, sizeof **steps, "provenance", in->checker.err));
    *n = count;
    for (int32_t i = 0; i < count; i++) {
        char name[16];
        modal_provenance *to = &(*steps)[i];
        snprintf(name, sizeof name, "%04d", i);
        MODAL_TRY(modal_h5_enter(in, &all, name, MODAL_H5_REQUIRED, &step));
        MODAL_TRY(modal_h5_read_text(in, &step, "tool", &to->tool));
        MODAL_TRY(modal_h5_read_text(in, &step, "version", &to->version));
        MODAL_TRY(modal_h5_read_text(in, &step, "arguments", &to->arguments));
        MODAL_TRY(modal_h5_read_text(in, &step, "inputs", &to->inputs));
        MODAL_TRY(modal_h5_read_text(in, &step, "backend", &to->back_end));
        if (modal_h5_has_attribute(&step, "quality")) MODAL_TRY(modal_h5_read_text(in, &step, "quality", &to->quality));
        if (modal_h5_has_attribute(&step, "assumed_material"))
            MODAL_TRY(modal_h5_read_text(in, &step, "assumed_material", &to->assumed_material));
        modal_h5_leave(&step);
    }
done:
    modal_h5_leave(&step);
    modal_h5_leave(&all);
    return status;
}
