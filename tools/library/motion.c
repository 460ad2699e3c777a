/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, locks, and what a handle says of itself. */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "tools/library/motion.h"

static __thread char last_error[MODAL_ERROR_TEXT];
static pthread_mutex_t hdf5_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* closing tiles takes it, too */

pthread_mutex_t *motion_hdf5(void) { return &hdf5_lock; }

int32_t modal_motion_interface(void) { return MODAL_MOTION_INTERFACE; }
const char *modal_motion_library(void) { return MODAL_VERSION; }
const char *modal_motion_error(void) { return last_error; }

int32_t motion_result(modal_status status, const char *path, const modal_error *err)
{
    static const int32_t results[] = {[MODAL_OK] = MODAL_MOTION_OK,
                                      [MODAL_ERROR_USAGE] = MODAL_MOTION_USAGE,
                                      [MODAL_ERROR_INPUT] = MODAL_MOTION_INPUT,
                                      [MODAL_ERROR_SYSTEM] = MODAL_MOTION_SYSTEM,
                                      [MODAL_ERROR_MEMORY] = MODAL_MOTION_SYSTEM,
                                      [MODAL_ERROR_NOT_CONVERGED] = MODAL_MOTION_INPUT,
                                      [MODAL_ERROR_INTERRUPTED] = MODAL_MOTION_CANCELLED};
    if (status == MODAL_OK) return MODAL_MOTION_OK;
    modal_error said = *err;
    const size_t length = path ? strlen(path) : 0;
    const int has_path = length > 0 && strncmp(said.message, path, length) == 0 && said.message[length] == ':';
    if (path && !has_path) modal_error_context(&said, "%s", path);
    memcpy(last_error, said.message, sizeof last_error);
    return results[status];
}

modal_status motion_begin(modal_motion *m, modal_error *err)
{
    if (!m) return modal_error_set(err, MODAL_ERROR_USAGE, "no handle of a motion: it was not opened");
    pthread_mutex_lock(&m->lock);
    __atomic_store_n(&m->cancelled, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&m->working, 1, __ATOMIC_RELEASE);
    return MODAL_OK;
}

void motion_end(modal_motion *m)
{
    if (!m) return;
    __atomic_store_n(&m->working, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&m->lock);
}

void modal_motion_cancel(modal_motion *m)
{
    if (m && __atomic_load_n(&m->working, __ATOMIC_ACQUIRE)) __atomic_store_n(&m->cancelled, 1, __ATOMIC_RELAXED);
}

/* The size that a struct says: all have members of 8 bytes or pairs of 4, so that no older or newer one has another kind of size. */
static modal_status check_bytes(const void *from, const char *what, size_t *bytes, modal_error *err)
{
    enum { MOST = 4096 };
    *bytes = 0;
    if (from) memcpy(bytes, from, sizeof *bytes);
    if (*bytes >= sizeof *bytes && *bytes <= MOST && *bytes % sizeof *bytes == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "%s: its member bytes is not its size, %zu", what, *bytes);
}

modal_status motion_check_room(const void *to, int64_t n, const char *what, modal_error *err)
{
    return to || n == 0 ? MODAL_OK : modal_error_set(err, MODAL_ERROR_USAGE, "no array for %s", what);
}

modal_status motion_take(void *to, size_t to_bytes, const void *from, const char *what, modal_error *err)
{
    size_t bytes = 0;
    memset(to, 0, to_bytes);
    const modal_status status = check_bytes(from, what, &bytes, err);
    if (status != MODAL_OK) return status;
    for (size_t i = to_bytes; i < bytes; i++)
        if (((const unsigned char *)from)[i])
            return modal_error_set(err, MODAL_ERROR_USAGE, "%s: has a member that this library does not know yet, at byte %zu", what, i);
    memcpy(to, from, bytes < to_bytes ? bytes : to_bytes);
    return MODAL_OK;
}

/* ---- what there is ---- */

int32_t modal_motion_get_sizes(modal_motion *m, modal_motion_sizes *sizes)
{
    modal_error err = {0};
    modal_motion_sizes known;
    size_t bytes;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    status = check_bytes(sizes, "sizes", &bytes, &err);
    if (status == MODAL_OK) {
        const int32_t n = m->basis.n_objects;
        known = (modal_motion_sizes){.bytes = bytes,
                                     .n_frames = m->trajectory.n_frames,
                                     .n_objects = n,
                                     .n_shapes = m->basis.n_shapes,
                                     .n_points = m->n_points,
                                     .n_triangles = m->volume ? 0 : m->n_cells,
                                     .n_cells = m->volume ? m->n_cells : 0,
                                     .n_coordinates = m->trajectory.mode_offsets[n],
                                     .n_materials = m->n_materials,
                                     .n_groups = m->n_groups,
                                     .streamed_bytes = m->deformer ? modal_deformer_streamed_bytes(m->deformer) : 0};
        for (int32_t i = 0; i < n && m->volume; i++) {
            const modal_volume_mesh *mesh = &m->basis.shapes[m->object_shapes[i]].solid.mesh;
            known.n_corners += mesh->element_offsets[mesh->n_elements];
        }
        memset(sizes, 0, bytes); /* members of a newer header */
        memcpy(sizes, &known, bytes < sizeof known ? bytes : sizeof known);
    }
    motion_end(m);
    return motion_result(status, m->path, &err);
}

const char *modal_motion_shape_name(const modal_motion *m, int64_t shape)
{
    if (!m || shape < 0 || shape >= m->basis.n_shapes) return NULL;
    return m->basis.shapes[shape].name ? m->basis.shapes[shape].name : "";
}

const char *modal_motion_material_name(const modal_motion *m, int64_t material)
{
    return m && material >= 0 && material < m->n_materials ? m->materials[material] : NULL;
}

const char *modal_motion_basis_path(const modal_motion *m) { return m ? m->basis_path : NULL; }

const char *modal_motion_back_end(const modal_motion *m)
{
    return !m ? NULL : m->deformer ? modal_deformer_back_end(m->deformer) : m->back_end;
}

const double *modal_motion_times(const modal_motion *m) { return m ? m->trajectory.times : NULL; }
const double *modal_motion_coordinates(const modal_motion *m) { return m ? m->trajectory.q : NULL; }
const double *modal_motion_poses(const modal_motion *m) { return m ? m->trajectory.poses : NULL; }
const double *modal_motion_rest_poses(const modal_motion *m) { return m ? m->rest_poses : NULL; }
const double *modal_motion_frequencies(const modal_motion *m) { return m ? m->frequencies : NULL; }
const int32_t *modal_motion_object_shapes(const modal_motion *m) { return m ? m->object_shapes : NULL; }
const int64_t *modal_motion_first_points(const modal_motion *m) { return m ? m->first_points : NULL; }
const int64_t *modal_motion_first_cells(const modal_motion *m) { return m ? m->first_cells : NULL; }
const int64_t *modal_motion_first_coordinates(const modal_motion *m) { return m ? m->trajectory.mode_offsets : NULL; }

int32_t modal_motion_get_triangles(modal_motion *m, int64_t *triangles)
{
    modal_error err = {0};
    int64_t n_points, n, *all = NULL;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    status = motion_check_room(triangles, m->volume ? 0 : m->n_cells, "triangles", &err);
    if (status == MODAL_OK) status = modal_deform_topology(&m->basis, 0, &n_points, &n, &all, &err);
    if (status == MODAL_OK && n > 0) memcpy(triangles, all, (size_t)(3 * n) * sizeof *all);
    modal_free(&all);
    motion_end(m);
    return motion_result(status, m->path, &err);
}

int32_t modal_motion_get_rest(modal_motion *m, float *positions)
{
    modal_error err = {0};
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    status = motion_check_room(positions, m->n_points, "positions", &err);
    for (int32_t i = 0; i < m->basis.n_objects && status == MODAL_OK; i++) {
        const modal_surface *s = &m->basis.shapes[m->object_shapes[i]].surface;
        const double *pose = m->rest_poses + 12 * (int64_t)i;
        for (int64_t v = 0; v < s->n_vertices; v++) {
            const double *x = s->rest_positions + 3 * v;
            float *to = positions + 3 * (m->first_points[i] + s->user_vertex[v]);
            for (int k = 0; k < 3; k++)
                to[k] = (float)(pose[4 * k] * x[0] + pose[4 * k + 1] * x[1] + pose[4 * k + 2] * x[2] + pose[4 * k + 3]);
        }
    }
    motion_end(m);
    return motion_result(status, m->path, &err);
}
