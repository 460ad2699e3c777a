/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing: the trajectory, its basis, what follows from them. */
#include <inttypes.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "tools/library/motion.h"

/* The trajectory, unless it is a basis, and where the basis is. */
static modal_status find_files(modal_motion *m, const modal_motion_options *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *kind = NULL;
    MODAL_TRY(modal_h5_file_kind(m->path, &kind, err));
    if (kind && strcmp(kind, "basis") == 0) {
        if (o->basis) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: is a basis itself, and was given another, %s", m->path, o->basis);
        MODAL_TRY(modal_copy_text(&m->basis_path, m->path, SIZE_MAX, err));
        goto done;
    }
    MODAL_TRY(modal_trajectory_read(m->path, &m->trajectory, err));
    if (o->basis) {
        MODAL_TRY(modal_copy_text(&m->basis_path, o->basis, SIZE_MAX, err));
        goto done;
    }
    if (m->trajectory.basis_bytes) {
        char kept[MODAL_MEMORY_FILE_PATH];
        MODAL_TRY(modal_memory_file(m->trajectory.basis_bytes, m->trajectory.n_basis_bytes, m->path, &m->carried, kept, err));
        modal_free(&m->trajectory.basis_bytes);
        MODAL_TRY(modal_copy_text(&m->basis_path, kept, SIZE_MAX, err));
        goto done;
    }
    MODAL_TRY(modal_trajectory_basis_path(&m->trajectory, m->path, &m->basis_path, err));
    m->no_basis = access(m->basis_path, F_OK) != 0;
    if (m->no_basis)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its basis is not there (its new place can be given beside it), %s", m->path, m->basis_path);
done:
    modal_free(&kind);
    return status;
}

static modal_status read_basis(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis *b = &m->basis;
    if (m->volume) MODAL_TRY(motion_read_solids(m, err));
    else MODAL_TRY(modal_basis_read(m->basis_path, MODAL_BASIS_SURFACE | MODAL_BASIS_MODES | MODAL_BASIS_LOOK, b, err));
    if (m->trajectory.mode_offsets) MODAL_TRY(modal_trajectory_check_basis(&m->trajectory, b, err));
    if (!m->volume) MODAL_TRY(modal_basis_tiles_open(&m->tiles, m->basis_path, b, motion_hdf5(), err));
    for (int32_t i = 0; i < b->n_shapes; i++) modal_free(&b->shapes[i].surface.boundary); /* not needed here */
done:
    return status;
}

/* Offsets and the like of the objects. */
static modal_status count(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = &m->basis;
    const int64_t n = b->n_objects;
    MODAL_TRY(modal_alloc_zero(&m->first_points, n + 1, sizeof *m->first_points, "objects", err));
    MODAL_TRY(modal_alloc_zero(&m->first_cells, n + 1, sizeof *m->first_cells, "objects", err));
    MODAL_TRY(modal_alloc(&m->object_shapes, n, sizeof *m->object_shapes, "objects", err));
    MODAL_TRY(modal_alloc(&m->rest_poses, n, 12 * sizeof *m->rest_poses, "rest poses", err));
    for (int32_t i = 0; i < n; i++) {
        const modal_shape *s = &b->shapes[b->objects[i].shape];
        m->object_shapes[i] = b->objects[i].shape;
        memcpy(m->rest_poses + 12 * (int64_t)i, b->objects[i].rest_pose, 12 * sizeof *m->rest_poses);
        if (!modal_size_add(m->first_points[i], s->surface.n_vertices, &m->first_points[i + 1]) ||
            !modal_size_add(m->first_cells[i], m->volume ? s->solid.mesh.n_elements : s->surface.n_triangles, &m->first_cells[i + 1]) ||
            m->first_points[i + 1] > INT64_MAX / 64 || m->first_cells[i + 1] > INT64_MAX / 64)
            MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%s: too many points", m->basis_path);
    }
    m->n_points = m->first_points[n];
    m->n_cells = m->first_cells[n];
    if (!m->trajectory.mode_offsets) {
        MODAL_TRY(modal_alloc(&m->trajectory.mode_offsets, n + 1, sizeof *m->trajectory.mode_offsets, "modes", err));
        modal_basis_mode_offsets(b, m->trajectory.mode_offsets);
        m->trajectory.n_objects = b->n_objects;
    }
    const int64_t *offsets = m->trajectory.mode_offsets;
    MODAL_TRY(modal_alloc(&m->frequencies, offsets[n], sizeof *m->frequencies, "frequencies", err));
    for (int32_t i = 0; i < n; i++) {
        const modal_modes *modes = &b->shapes[m->object_shapes[i]].modes;
        for (int64_t k = 0; k < offsets[i + 1] - offsets[i]; k++) m->frequencies[offsets[i] + k] = modes->frequencies ? modes->frequencies[k] : 0;
    }
done:
    return status;
}

static modal_status open_files(modal_motion *m, const modal_motion_options *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    if (o->threads < 0 || o->memory_limit < 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "options: %d threads, a limit of %" PRId64 " bytes", o->threads, o->memory_limit);
    m->shares_cores = o->threads == 0;
    m->threads = o->threads ? o->threads : omp_get_num_procs();
    m->memory_limit = o->memory_limit ? o->memory_limit : memory / 2;
    MODAL_TRY(modal_copy_text(&m->back_end, o->back_end ? o->back_end : "cpu", SIZE_MAX, err));
    MODAL_TRY(find_files(m, o, err));
    MODAL_TRY(read_basis(m, err));
    MODAL_TRY(count(m, err));
    MODAL_TRY(motion_find_materials(m, err));
done:
    return status;
}

int32_t modal_motion_open(modal_motion **motion, const char *path, const modal_motion_options *options)
{
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_motion *m = NULL;
    modal_motion_options o = {0};
    if (!motion || !path) {
        status = modal_error_set(&err, MODAL_ERROR_USAGE, "nothing to open");
        return motion_result(status, NULL, &err);
    }
    *motion = NULL;
    if (options) MODAL_TRY(motion_take(&o, sizeof o, options, "options", &err));
    MODAL_TRY(modal_alloc_zero(&m, 1, sizeof *m, "motion", &err));
    pthread_mutex_init(&m->lock, NULL);
    m->carried = -1;
    m->volume = o.volume != 0;
    MODAL_TRY(modal_copy_text(&m->path, path, SIZE_MAX, &err));
    pthread_mutex_lock(motion_hdf5());
    status = open_files(m, &o, &err);
    pthread_mutex_unlock(motion_hdf5());
    if (status == MODAL_OK) {
        *motion = m;
        m = NULL;
    }
done:;
    const int no_basis = m && m->no_basis;
    modal_motion_close(m);
    const int32_t result = motion_result(status, NULL, &err);
    return no_basis ? MODAL_MOTION_NO_BASIS : result;
}

void modal_motion_close(modal_motion *m)
{
    if (!m) return;
    modal_deformer_delete(m->deformer);
    modal_stress_frames_delete(m->stress);
    motion_curvature_delete(m->curvature);
    pthread_mutex_lock(motion_hdf5());
    modal_basis_tiles_close(m->tiles);
    pthread_mutex_unlock(motion_hdf5());
    modal_basis_free(&m->basis);
    modal_trajectory_free(&m->trajectory);
    motion_free_names(m);
    modal_free(&m->path);
    modal_free(&m->basis_path);
    if (m->carried >= 0) close(m->carried);
    modal_free(&m->back_end);
    modal_free(&m->first_points);
    modal_free(&m->first_cells);
    modal_free(&m->object_shapes);
    modal_free(&m->rest_poses);
    modal_free(&m->frequencies);
    modal_free(&m->q_rates);
    modal_free(&m->pose_rates);
    modal_free(&m->still);
    modal_free(&m->q);
    modal_free(&m->poses);
    modal_free(&m->unwanted);
    pthread_mutex_destroy(&m->lock);
    modal_free(&m);
}
