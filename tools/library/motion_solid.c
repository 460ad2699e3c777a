/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes: the basis whose "surfaces" are the nodes of its solids, their cells, strain and stress. */
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"
#include "lib/deform/solids.h"
#include "tools/library/motion.h"

enum { SOLIDS = MODAL_BASIS_VOLUME | MODAL_BASIS_VOLUME_MODES };

modal_status motion_read_solids(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_basis_read(m->basis_path, SOLIDS | MODAL_BASIS_MODES, &m->basis, err));
    status = modal_solids_as_surfaces(&m->basis, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", m->basis_path);
done:
    return status;
}

int32_t modal_motion_get_cells(modal_motion *m, int64_t *connectivity, int64_t *offsets, uint8_t *types)
{
    modal_error err = {0};
    modal_solid_cells cells = {0};
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    if (!m->volume) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "cells are of volumes");
    MODAL_TRY(motion_check_room(offsets, 1, "offsets", &err));
    MODAL_TRY(motion_check_room(connectivity, m->n_cells, "connectivity", &err));
    MODAL_TRY(motion_check_room(types, m->n_cells, "types", &err));
    MODAL_TRY(modal_solid_cells_of_basis(&m->basis, &cells, &err));
    memcpy(offsets, cells.offsets, (size_t)(cells.n_cells + 1) * sizeof *offsets);
    if (cells.n_cells > 0) memcpy(connectivity, cells.connectivity, (size_t)cells.offsets[cells.n_cells] * sizeof *connectivity);
    if (cells.n_cells > 0) memcpy(types, cells.types, (size_t)cells.n_cells);
done:
    modal_solid_cells_free(&cells);
    motion_end(m);
    return motion_result(status, m->path, &err);
}

/* ---- fields ---- */

/* By the values of modal_stress_frames; NULL: not wanted. Pressures, minus a third of the trace of the stress, are not of this interface. */
static void list_fields(const modal_motion_arrays *to, float *fields[MODAL_STRESS_FRAMES_VALUES])
{
    float *const all[MODAL_STRESS_FRAMES_VALUES] = {to->strain,       to->stress,       to->von_mises,       to->jacobian,       NULL,
                                                    to->strain_nodes, to->stress_nodes, to->von_mises_nodes, to->jacobian_nodes, NULL};
    memcpy(fields, all, sizeof all);
}

int motion_wants_fields(const modal_motion_arrays *to)
{
    float *fields[MODAL_STRESS_FRAMES_VALUES];
    list_fields(to, fields);
    for (int i = 0; i < MODAL_STRESS_FRAMES_VALUES; i++)
        if (fields[i]) return 1;
    return 0;
}

/* The solids are read again, with their modes in float64: the handle's own have become points. */
static modal_status make_stress(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis solids = {0};
    modal_array_list list = {0};
    m->stress = modal_stress_frames_delete(m->stress);
    for (int i = 0; i < MODAL_STRESS_FRAMES_VALUES; i++) {
        modal_array array = modal_stress_frames_array(i);
        array.source = i;
        if (m->has_stress[i]) MODAL_TRY(modal_array_add(&list, &array, err));
    }
    pthread_mutex_lock(motion_hdf5());
    status = modal_basis_read(m->basis_path, SOLIDS, &solids, err);
    pthread_mutex_unlock(motion_hdf5());
    if (status != MODAL_OK) goto done;
    if (strcmp(solids.hash, m->basis.hash) != 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: changed since it was opened", m->basis_path);
    MODAL_TRY(modal_stress_frames_keep(&m->stress, &solids, err));
    for (int32_t i = 0; i < solids.n_shapes; i++) modal_free(&solids.shapes[i].solid.mesh.nodes); /* it has its own */
    MODAL_TRY(modal_stress_frames_begin(m->stress, &solids, &list, 0, err));
done:
    if (status != MODAL_OK) m->stress = modal_stress_frames_delete(m->stress);
    modal_basis_free(&solids);
    return status;
}

modal_status motion_fields(modal_motion *m, const modal_trajectory *trajectory, int64_t frame, const modal_motion_arrays *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *fields[MODAL_STRESS_FRAMES_VALUES];
    int lacks = m->stress == NULL;
    list_fields(to, fields);
    for (int i = 0; i < MODAL_STRESS_FRAMES_VALUES; i++) {
        lacks |= fields[i] && !m->has_stress[i];
        m->has_stress[i] |= fields[i] != NULL;
    }
    if (lacks) MODAL_TRY(make_stress(m, err));
    MODAL_TRY(modal_stress_frames_make(m->stress, trajectory, frame, m->threads, err));
    for (int i = 0; i < MODAL_STRESS_FRAMES_VALUES; i++) {
        const int64_t rows = i < MODAL_STRESS_FRAMES_VALUES / 2 ? m->n_cells : m->n_points;
        if (fields[i] && rows > 0)
            memcpy(fields[i], modal_stress_frames_values(m->stress, i), (size_t)(rows * modal_stress_frames_array(i).components) * sizeof(float));
    }
done:
    return status;
}
