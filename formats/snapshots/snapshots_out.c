/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/snapshots/snapshots_out.h"

#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/quality_h5.h"
#include "lib/base/memory.h"

enum { TIMES, DISPLACEMENTS, VELOCITIES, FORCES, ENERGY, PARTS, QUALITY, PROBE_DISPLACEMENTS, PROBE_REACTIONS, PROBE_VELOCITIES, ARRAYS };
static const char *const names[ARRAYS] = {"times", "displacements", "velocities", "internal_forces",
                                          "energy", "energy_parts", "quality", "displacements", "reactions", "velocities"};

struct modal_snapshots_out {
    hid_t file, probes, arrays[ARRAYS];
    int64_t n;
    modal_quality_judgement quality;
};

static modal_status make_arrays(modal_snapshots_out *o, const modal_snapshots_head *h, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_type field = h->single ? MODAL_H5_F32 : MODAL_H5_F64;
    const int64_t nodes[3] = {0, h->n_nodes, 3}, probes[3] = {0, h->n_probes, 3}, energy[2] = {0, h->n_energies};
    const int64_t parts[2] = {0, h->n_parts}, quality[2] = {0, MODAL_QUALITY_NUMBERS}, one = 0;
    MODAL_TRY(modal_h5_make_growing(o->file, names[TIMES], MODAL_H5_F64, 1, &one, &o->arrays[TIMES], err));
    MODAL_TRY(modal_h5_make_growing(o->file, names[DISPLACEMENTS], field, 3, nodes, &o->arrays[DISPLACEMENTS], err));
    if (h->velocities)
        MODAL_TRY(modal_h5_make_growing(o->file, names[VELOCITIES], field, 3, nodes, &o->arrays[VELOCITIES], err));
    if (h->forces) MODAL_TRY(modal_h5_make_growing(o->file, names[FORCES], field, 3, nodes, &o->arrays[FORCES], err));
    if (h->n_energies > 0)
        MODAL_TRY(modal_h5_make_growing(o->file, names[ENERGY], MODAL_H5_F64, 2, energy, &o->arrays[ENERGY], err));
    if (h->n_parts > 0) MODAL_TRY(modal_h5_make_growing(o->file, names[PARTS], MODAL_H5_F64, 2, parts, &o->arrays[PARTS], err));
    if (h->quality) {
        MODAL_TRY(modal_h5_make_growing(o->file, names[QUALITY], MODAL_H5_F64, 2, quality, &o->arrays[QUALITY], err));
        MODAL_TRY(modal_quality_write_columns(o->file, err));
    }
    if (h->n_probes == 0) goto done;
    MODAL_TRY(modal_h5_make_group(o->file, "probes", &o->probes, err));
    MODAL_TRY(modal_h5_write_text(o->probes, "names", h->probe_names, err));
    for (int k = PROBE_DISPLACEMENTS; k < ARRAYS; k++)
        MODAL_TRY(modal_h5_make_growing(o->probes, names[k], MODAL_H5_F64, 3, probes, &o->arrays[k], err));
done:
    return status;
}

modal_status modal_snapshots_out_open(modal_snapshots_out **out, const char *path, const modal_snapshots_head *h,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_snapshots_out *o = NULL;
    *out = NULL;
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "snapshots", err));
    o->file = o->probes = H5I_INVALID_HID;
    for (int k = 0; k < ARRAYS; k++) o->arrays[k] = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_create(&o->file, path, err));
    MODAL_TRY(modal_h5_write_text(o->file, "modal_format", "snapshots", err));
    MODAL_TRY(modal_h5_write_text(o->file, "modal_format_version", "1.0", err));
    MODAL_TRY(make_arrays(o, h, err));
    if (h->solid) MODAL_TRY(modal_snapshots_solid_write(o->file, h->solid, err));
    MODAL_TRY(modal_provenance_write(o->file, h->provenance, h->n_provenance, err));
    *out = o;
    o = NULL;
done:
    if (status != MODAL_OK) modal_snapshots_out_close(&o, status, err);
    return status;
}

modal_status modal_snapshots_out_add(modal_snapshots_out *o, const modal_snapshot *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double *const values[ARRAYS] = {&s->time, s->displacements, s->velocities, s->forces, s->energies, s->parts, (const double *)s->quality,
                                          s->probe_displacements, s->probe_reactions, s->probe_velocities};
    modal_h5_start(); /* frames may come from a thread of their own, and HDF5 prints for each thread */
    for (int k = 0; k < ARRAYS; k++)
        if (o->arrays[k] >= 0) MODAL_TRY(modal_h5_add_row(o->arrays[k], names[k], o->n, MODAL_H5_F64, values[k], err));
    if (o->arrays[QUALITY] >= 0) modal_quality_judge(&o->quality, o->n, s->time, s->quality);
    o->n++;
done:
    return status;
}

const modal_quality_judgement *modal_snapshots_out_quality(const modal_snapshots_out *o) { return &o->quality; }

int64_t modal_snapshots_out_count(const modal_snapshots_out *o) { return o->n; }

modal_status modal_snapshots_out_close(modal_snapshots_out **out, modal_status status, modal_error *err)
{
    modal_snapshots_out *o = *out;
    if (!o) return status;
    for (int k = 0; k < ARRAYS; k++)
        if (o->arrays[k] >= 0) status = modal_h5_end_rows(&o->arrays[k], status, names[k], err);
    if (o->probes >= 0) status = modal_h5_end_group(&o->probes, status, err);
    status = modal_h5_finish(&o->file, status, err);
    modal_free(out);
    return status;
}
