/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: a deformer that makes one, or some at a time, into the caller's arrays, remade where an output is wanted that it lacks. */
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/deform/reach.h"
#include "lib/deform/rates.h"
#include "lib/deform/source.h"
#include "tools/library/motion.h"

/* ---- the deformer ---- */

/* The matrices in pieces, so that reading them can be cancelled. */
static modal_status read_tiles(void *context, int32_t shape, int64_t begin, int64_t end, float *to, modal_error *err)
{
    enum { PIECE = 1 << 22 }; /* floats */
    const modal_motion *m = context;
    const int64_t tile = (int64_t)m->basis.shapes[shape].modes.n_modes * 3 * MODAL_TILE, step = tile > 0 && tile < PIECE ? PIECE / tile : 1;
    for (int64_t at = begin; at < end; at += step) {
        const int64_t next = end - at < step ? end : at + step;
        if (__atomic_load_n(&m->cancelled, __ATOMIC_RELAXED)) return modal_error_set(err, MODAL_ERROR_INTERRUPTED, "cancelled");
        const modal_status status = modal_basis_tiles_read(m->tiles, shape, at, next, to + (at - begin) * tile, err);
        if (status != MODAL_OK) return status;
    }
    return MODAL_OK;
}

modal_matrix_source motion_matrix(modal_motion *m)
{
    return m->volume ? (modal_matrix_source){NULL, NULL} : (modal_matrix_source){read_tiles, m};
}

/* Main memory that the handle holds beside its deformer; modaldeform counts likewise. */
static int64_t held_bytes(const modal_motion *m)
{
    const modal_trajectory *q = &m->trajectory;
    int64_t bytes = q->n_frames * 8 * (1 + q->mode_offsets[q->n_objects] + (q->poses ? 12 * (int64_t)q->n_objects : 0));
    for (int32_t i = 0; i < m->basis.n_shapes; i++) {
        const modal_shape *s = &m->basis.shapes[i];
        bytes += s->surface.n_vertices * (24 + 4 + 8) + s->surface.n_triangles * (12 + 4);
        bytes += s->surface.face_offsets ? 4 * s->surface.face_offsets[s->surface.n_vertices] : 0;
        bytes += 24 * s->solid.mesh.n_nodes + 33 * s->solid.mesh.n_elements;
        if (s->modes.modal_matrix) bytes += modal_tile_count(s->surface.n_vertices) * s->modes.n_modes * 3 * MODAL_TILE * 4;
    }
    return bytes;
}

static modal_status check_wanted(const modal_motion *m, const modal_motion_arrays *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (m->volume && (to->normals || to->tangents)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "a volume has no normals and no tangents");
    if (!m->volume && motion_wants_fields(to)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "strain, stress and det F are of volumes");
    if (m->volume && motion_wants_curvature(to)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "curvature is of surfaces");
    for (int32_t i = 0; i < m->basis.n_shapes && to->tangents; i++)
        if (!m->basis.shapes[i].surface.uv && m->basis.shapes[i].surface.n_triangles > 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s: no texture coordinates, which tangents need", modal_motion_shape_name(m, i));
done:
    return status;
}

/* Gives memory that was freed back to the system: the allocator keeps arrays of some MB for the next ones, which are of other sizes. */
static void give_back(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* The faces of vertices are a tenth of a basis, and a deformer with normals has its own: they are here only while one is made. */
static void forget_faces(modal_motion *m)
{
    for (int32_t i = 0; i < m->basis.n_shapes && m->outputs.normals; i++) {
        modal_free(&m->basis.shapes[i].surface.faces);
        modal_free(&m->basis.shapes[i].surface.face_offsets);
    }
}

static modal_status recall_faces(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis again = {0};
    int lacks = 0;
    for (int32_t i = 0; i < m->basis.n_shapes; i++) lacks |= !m->basis.shapes[i].surface.face_offsets;
    if (!lacks || m->volume) return MODAL_OK;
    pthread_mutex_lock(motion_hdf5());
    status = modal_basis_read(m->basis_path, MODAL_BASIS_SURFACE, &again, err);
    pthread_mutex_unlock(motion_hdf5());
    if (status != MODAL_OK) goto done;
    if (strcmp(again.hash, m->basis.hash) != 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: changed since it was opened", m->basis_path);
    for (int32_t i = 0; i < m->basis.n_shapes; i++) {
        modal_surface *to = &m->basis.shapes[i].surface, *from = &again.shapes[i].surface;
        modal_free(&to->faces);
        modal_free(&to->face_offsets);
        to->faces = from->faces;
        to->face_offsets = from->face_offsets;
        from->faces = NULL;
        from->face_offsets = NULL;
    }
done:
    modal_basis_free(&again);
    return status;
}

/* Frames that one pass over the modal matrices makes, where several are wanted: as many as kernels take at once, or as much memory, which
 * is the caller's but for what normals are made of. */
static int64_t most_at_once(const modal_motion *m, const modal_motion_arrays *to)
{
    enum { MOST = 16, BYTES = 192 << 20 };
    const int64_t fit = BYTES / ((to->normals || to->tangents ? 24 : 12) * m->n_points + 1);
    return fit < 1 ? 1 : fit > MOST ? MOST : fit;
}

/* What has a place for every frame that is made at once. */
static void forget_frames(modal_motion *m)
{
    modal_free(&m->unwanted);
    modal_free(&m->q);
    modal_free(&m->poses);
    modal_free(&m->q_rates);
    modal_free(&m->pose_rates);
    modal_free(&m->still);
}

static int wants_points(const modal_motion_arrays *to)
{
    return to->positions || to->normals || to->displacement || to->tangents || to->speed || motion_wants_curvature(to);
}

/* What is wanted now and was before: the deformer has all of it. */
static modal_status make_deformer(modal_motion *m, const modal_motion_arrays *to, int moves, int64_t at_once, modal_error *err)
{
    modal_status status = MODAL_OK;
    motion_outputs all = m->outputs;
    if (!wants_points(to)) return MODAL_OK;
    if (at_once > all.at_once) all.at_once = at_once;
    all.normals |= to->normals || to->tangents;
    all.displacement |= to->displacement != NULL;
    all.tangents |= to->tangents != NULL;
    if (to->speed && all.speed == MODAL_SPEED_NONE) all.speed = MODAL_SPEED_RESTING;
    if (to->speed && moves) all.speed = MODAL_SPEED_MOVING;
    if (m->deformer && memcmp(&all, &m->outputs, sizeof all) == 0) return MODAL_OK;
    if (m->deformer) {
        m->deformer = modal_deformer_delete(m->deformer);
        give_back();
    }
    if (all.at_once != m->outputs.at_once) forget_frames(m);
    m->outputs = all;
    if (all.normals) MODAL_TRY(recall_faces(m, err));
    const int64_t held = held_bytes(m);
    if (held >= m->memory_limit)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "basis and trajectory alone take %" PRId64 " bytes, the limit is %" PRId64, held, m->memory_limit);
    const modal_deform_request request = {.back_end = m->back_end,
                                          .normals = all.normals ? MODAL_NORMALS_DYNAMIC : MODAL_NORMALS_NONE,
                                          .tangents = all.tangents ? MODAL_TANGENTS_DYNAMIC : MODAL_TANGENTS_NONE,
                                          .displacement = all.displacement,
                                          .speed = all.speed,
                                          .n_frames = m->trajectory.n_frames,
                                          .memory_limit = m->memory_limit - held,
                                          .matrix = motion_matrix(m),
                                          .direct = all.at_once,
                                          .cancelled = &m->cancelled};
    MODAL_TRY(modal_deformer_new(&m->deformer, &m->basis, &request, err));
    forget_faces(m);
    give_back();
done:
    return status;
}

/* Frames `frame`, frame + step .. of the trajectory; frame -1: one of coordinates of one's own. */
typedef struct inputs {
    int64_t frame, step, n;
    const double *q, *poses, *q_rates, *pose_rates;
} inputs;

static modal_status check_speed(modal_motion *m, modal_error *err)
{
    if (m->speed_checked) return MODAL_OK;
    const modal_status status = modal_deform_check_rates(&m->basis, &m->trajectory, err);
    m->speed_checked = status == MODAL_OK;
    return status;
}

/* What moves the points in frames of the trajectory: its own arrays where frames lie side by side, else copies; rates by the differences that
 * modaldeform takes. */
static modal_status gather(modal_motion *m, int64_t frame, int64_t step, int64_t n, int rates, inputs *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *t = &m->trajectory;
    const int64_t r = t->mode_offsets[t->n_objects], width = 12 * (int64_t)t->n_objects, room = m->outputs.at_once;
    *in = (inputs){frame, step, n, t->q + frame * r, t->poses ? t->poses + frame * width : NULL, NULL, NULL};
    if (n > 1 && step != 1) {
        if (!m->q) MODAL_TRY(modal_alloc(&m->q, room * r, sizeof *m->q, "coordinates", err));
        if (!m->poses && t->poses) MODAL_TRY(modal_alloc(&m->poses, room * width, sizeof *m->poses, "poses", err));
        for (int64_t i = 0; i < n; i++) {
            memcpy(m->q + i * r, t->q + (frame + i * step) * r, (size_t)r * sizeof *m->q);
            if (t->poses) memcpy(m->poses + i * width, t->poses + (frame + i * step) * width, (size_t)width * sizeof *m->poses);
        }
        in->q = m->q;
        in->poses = t->poses ? m->poses : NULL;
    }
    if (!rates) return MODAL_OK;
    if (!m->q_rates) MODAL_TRY(modal_alloc(&m->q_rates, room * r, sizeof *m->q_rates, "rates", err));
    if (!m->pose_rates && t->poses) MODAL_TRY(modal_alloc(&m->pose_rates, room * width, sizeof *m->pose_rates, "rates", err));
    for (int64_t i = 0; i < n; i++)
        modal_deform_rates(t, frame + i * step, m->q_rates + i * r, t->poses ? m->pose_rates + i * width : NULL);
    in->q_rates = m->q_rates;
    in->pose_rates = t->poses ? m->pose_rates : NULL;
done:
    return status;
}

/* Where the frame after `n` others goes. */
static modal_motion_arrays after(const modal_motion *m, const modal_motion_arrays *to, int64_t n)
{
    modal_motion_arrays at = *to;
    const struct { float **array; int64_t floats; } all[] = {
        {&at.positions, 3 * m->n_points}, {&at.normals, 3 * m->n_points}, {&at.displacement, 3 * m->n_points}, {&at.speed, m->n_points},
        {&at.tangents, 4 * m->n_points}, {&at.strain, 6 * m->n_cells}, {&at.stress, 6 * m->n_cells}, {&at.von_mises, m->n_cells},
        {&at.strain_nodes, 6 * m->n_points}, {&at.stress_nodes, 6 * m->n_points}, {&at.von_mises_nodes, m->n_points}, {&at.jacobian, m->n_cells},
        {&at.jacobian_nodes, m->n_points}, {&at.k_max, m->n_points}, {&at.k_min, m->n_points}, {&at.mean_curvature, m->n_points},
        {&at.gauss_curvature, m->n_points}, {&at.direction_max, 3 * m->n_points}, {&at.direction_min, 3 * m->n_points},
        {&at.curvature_derivative, 4 * m->n_points}, {&at.boundary, m->n_points}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (*all[i].array) *all[i].array += n * all[i].floats;
    return at;
}

/* By a deformer that make_deformer has made. Positions are always made: into an array of ours where the caller has none. */
static modal_status deform(modal_motion *m, const inputs *in, const modal_motion_arrays *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    inputs all = *in;
    modal_deform_arrays arrays = {to->positions, to->normals, to->displacement, to->tangents, to->speed};
    const int64_t room = m->outputs.at_once;
    if (!wants_points(to)) return MODAL_OK;
    if (!arrays.positions && !m->unwanted) MODAL_TRY(modal_alloc(&m->unwanted, room * m->n_points, 3 * sizeof *m->unwanted, "positions", err));
    if (!arrays.positions) arrays.positions = m->unwanted;
    if (m->outputs.speed == MODAL_SPEED_MOVING && to->speed && !all.pose_rates) {
        if (!m->still) MODAL_TRY(modal_alloc_zero(&m->still, room * m->basis.n_objects, 12 * sizeof *m->still, "rates", err));
        all.pose_rates = m->still;
    }
    modal_deformer_number_frames(m->deformer, in->frame < 0 ? 0 : in->frame, in->step);
    MODAL_TRY(modal_deformer_frames(m->deformer, in->n, all.q, all.poses, all.q_rates, all.pose_rates, &arrays, err));
    for (int64_t i = 0; i < in->n && motion_wants_curvature(to); i++) {
        const modal_motion_arrays one = after(m, to, i);
        MODAL_TRY(motion_make_curvature(m, arrays.positions + i * 3 * m->n_points, &one, err));
    }
done:
    return status;
}

/* The CPU back end sets the number of threads of the thread that it is called from, which is not ours. Returns the number before. */
static int take_threads(const modal_motion *m)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(m->threads);
    modal_cores_share(m->shares_cores);
    return before;
}

/* Frames first, first + step .. of the trajectory, which are there. */
static modal_status make_frames(modal_motion *m, int64_t first, int64_t step, int64_t n, const modal_motion_arrays *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    inputs in;
    const int before = take_threads(m);
    MODAL_TRY(check_wanted(m, to, err));
    if (to->speed) MODAL_TRY(check_speed(m, err));
    MODAL_TRY(make_deformer(m, to, m->trajectory.poses != NULL, n > 1 ? most_at_once(m, to) : 1, err));
    const int64_t most = wants_points(to) ? modal_deformer_batch_frames(m->deformer) : 1;
    for (int64_t f = 0, count; f < n; f += count) {
        count = n - f < most ? n - f : most;
        const modal_motion_arrays now = after(m, to, f);
        MODAL_TRY(gather(m, first + f * step, step, count, to->speed != NULL, &in, err));
        MODAL_TRY(deform(m, &in, &now, err));
        for (int64_t i = 0; i < count && motion_wants_fields(to); i++) {
            const modal_motion_arrays one = after(m, &now, i);
            MODAL_TRY(motion_fields(m, &m->trajectory, first + (f + i) * step, &one, err));
        }
    }
done:
    omp_set_num_threads(before);
    return status;
}

int32_t modal_motion_frame(modal_motion *m, int64_t frame, const modal_motion_arrays *arrays)
{
    modal_error err = {0};
    modal_motion_arrays to;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    const int64_t n = m->trajectory.n_frames;
    MODAL_TRY(motion_take(&to, sizeof to, arrays, "arrays", &err));
    if (n == 0) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "is a basis, which has no frames");
    if (frame < 0 || frame >= n) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "frame %" PRId64 " of %" PRId64, frame, n);
    MODAL_TRY(make_frames(m, frame, 1, 1, &to, &err));
done:
    motion_end(m);
    return motion_result(status, m->path, &err);
}

/* MODAL_ERROR_USAGE where not all of n frames are there. */
static modal_status check_slice(const modal_motion *m, int64_t first, int64_t step, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_frames = m->trajectory.n_frames;
    int64_t span = 0;
    if (n_frames == 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "is a basis, which has no frames");
    if (n < 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%" PRId64 " frames", n);
    if (n > 0 && (first < 0 || first >= n_frames || __builtin_mul_overflow(n - 1, step, &span) || __builtin_add_overflow(first, span, &span) ||
                  span < 0 || span >= n_frames))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "frames %" PRId64 " and %" PRId64 " more, %" PRId64 " apart, of %" PRId64, first, n - 1, step, n_frames);
done:
    return status;
}

int32_t modal_motion_frames(modal_motion *m, int64_t first, int64_t step, int64_t n, const modal_motion_arrays *arrays)
{
    modal_error err = {0};
    modal_motion_arrays to;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    MODAL_TRY(motion_take(&to, sizeof to, arrays, "arrays", &err));
    MODAL_TRY(check_slice(m, first, step, n, &err));
    if (n > 0) MODAL_TRY(make_frames(m, first, step, n, &to, &err));
done:
    motion_end(m);
    return motion_result(status, m->path, &err);
}

/* MODAL_ERROR_INPUT where a number does not fit float32. */
static modal_status check_numbers(const char *what, const double *values, int64_t n, modal_error *err)
{
    for (int64_t i = 0; values && i < n; i++)
        if (!(fabs(values[i]) <= 3.4028234663852886e38))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: number %" PRId64 " does not fit float32, %g", what, i, values[i]);
    return MODAL_OK;
}

int32_t modal_motion_at(modal_motion *m, const double *q, const double *poses, const double *q_rates, const double *pose_rates,
                        const modal_motion_arrays *arrays)
{
    modal_error err = {0};
    modal_motion_arrays to;
    int before = 0;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    const int64_t n = m->trajectory.mode_offsets[m->basis.n_objects], n_poses = 12 * (int64_t)m->basis.n_objects;
    MODAL_TRY(motion_take(&to, sizeof to, arrays, "arrays", &err));
    if (!q && n > 0) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "no q");
    if (to.speed && !q_rates) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "speed needs the rates of change of q");
    MODAL_TRY(check_numbers("q", q, n, &err));
    MODAL_TRY(check_numbers("poses", poses, n_poses, &err));
    if (to.speed) MODAL_TRY(check_numbers("rates of q", q_rates, n, &err));
    if (to.speed) MODAL_TRY(check_numbers("rates of poses", pose_rates, n_poses, &err));
    before = take_threads(m);
    MODAL_TRY(check_wanted(m, &to, &err));
    MODAL_TRY(make_deformer(m, &to, to.speed && pose_rates, 1, &err));
    MODAL_TRY(deform(m, &(inputs){-1, 1, 1, q, poses, to.speed ? q_rates : NULL, to.speed ? pose_rates : NULL}, &to, &err));
    if (motion_wants_fields(&to)) {
        modal_trajectory one = m->trajectory; /* borrows; q and poses are only read */
        one.q = (double *)(uintptr_t)q;
        one.poses = (double *)(uintptr_t)poses;
        MODAL_TRY(motion_fields(m, &one, 0, &to, &err));
    }
done:
    if (before > 0) omp_set_num_threads(before);
    motion_end(m);
    return motion_result(status, m->path, &err);
}

/* ---- a few points, and how far modes go ---- */

typedef struct probed {
    int64_t vertex; /* stored */
    double rest[3];
    float *u;       /* [n_modes, 3] */
} probed;

/* Where in the object a point is: its rest position and rows of U. tile is [n_modes, 3, 32]. */
static modal_status find_row(modal_motion *m, int32_t object, int64_t user, float *tile, probed *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t index = m->object_shapes[object];
    const modal_shape *s = &m->basis.shapes[index];
    const int32_t r = s->modes.n_modes;
    int64_t v = 0;
    while (s->surface.user_vertex[v] != user) v++;
    to->vertex = v;
    memcpy(to->rest, s->surface.rest_positions + 3 * v, sizeof to->rest);
    const float *from = s->modes.modal_matrix ? modal_shape_tile(s, v / MODAL_TILE) : tile;
    if (from == tile && r > 0) MODAL_TRY(modal_basis_tiles_read(m->tiles, index, v / MODAL_TILE, v / MODAL_TILE + 1, tile, err));
    for (int64_t k = 0; k < 3 * (int64_t)r; k++) to->u[k] = from[k * MODAL_TILE + v % MODAL_TILE];
done:
    return status;
}

static modal_status put_row(const modal_motion *m, int32_t object, const probed *p, int64_t frame, double *to, modal_error *err)
{
    const modal_trajectory *t = &m->trajectory;
    const double *q = t->q + frame * t->mode_offsets[t->n_objects] + t->mode_offsets[object];
    const double *pose = t->poses ? t->poses + 12 * (frame * t->n_objects + object) : m->rest_poses + 12 * (int64_t)object;
    double x[3] = {p->rest[0], p->rest[1], p->rest[2]};
    for (int64_t k = 0; k < t->mode_offsets[object + 1] - t->mode_offsets[object]; k++)
        for (int i = 0; i < 3; i++) x[i] += p->u[3 * k + i] * q[k];
    for (int i = 0; i < 3; i++) {
        to[i] = pose[4 * i] * x[0] + pose[4 * i + 1] * x[1] + pose[4 * i + 2] * x[2] + pose[4 * i + 3];
        if (!isfinite(to[i]))
            return modal_error_set(err, MODAL_ERROR_INPUT, "frame %" PRId64 ", object %d, vertex %d: position is not finite, %g", frame, object,
                                   m->basis.shapes[m->object_shapes[object]].surface.user_vertex[p->vertex], to[i]);
    }
    return MODAL_OK;
}

static modal_status probe(modal_motion *m, int64_t n_points, const int64_t *points, const int64_t slice[3], double *positions, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *tile = NULL;
    probed p = {0};
    int32_t most = 0;
    for (int32_t i = 0; i < m->basis.n_shapes; i++)
        if (m->basis.shapes[i].modes.n_modes > most) most = m->basis.shapes[i].modes.n_modes;
    MODAL_TRY(modal_alloc(&tile, most, 3 * MODAL_TILE * sizeof *tile, "tile", err));
    MODAL_TRY(modal_alloc(&p.u, most, 3 * sizeof *p.u, "row", err));
    for (int64_t i = 0; i < n_points; i++) {
        int32_t low = 0, high = m->basis.n_objects;
        if (points[i] < 0 || points[i] >= m->n_points)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "points are 0 to %" PRId64 ", not %" PRId64, m->n_points - 1, points[i]);
        while (high - low > 1) { /* first_points[low] <= point < first_points[high] */
            const int32_t middle = low + (high - low) / 2;
            if (m->first_points[middle] <= points[i]) low = middle;
            else high = middle;
        }
        MODAL_TRY(find_row(m, low, points[i] - m->first_points[low], tile, &p, err));
        for (int64_t f = 0; f < slice[2]; f++)
            MODAL_TRY(put_row(m, low, &p, slice[0] + f * slice[1], positions + 3 * (f * n_points + i), err));
    }
done:
    modal_free(&p.u);
    modal_free(&tile);
    return status;
}

int32_t modal_motion_probe(modal_motion *m, int64_t n_points, const int64_t *points, int64_t first, int64_t step, int64_t n, double *positions)
{
    modal_error err = {0};
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    const int64_t slice[3] = {first, step, n};
    if (n_points < 0) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "%" PRId64 " points", n_points);
    MODAL_TRY(check_slice(m, first, step, n, &err));
    MODAL_TRY(motion_check_room(points, n_points, "points", &err));
    MODAL_TRY(motion_check_room(positions, n_points > 0 ? n : 0, "positions", &err));
    MODAL_TRY(probe(m, n_points, points, slice, positions, &err));
done:
    motion_end(m);
    return motion_result(status, m->path, &err);
}

int32_t modal_motion_get_reach(modal_motion *m, double *reach)
{
    modal_error err = {0};
    double *largest = NULL;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    const int64_t *offsets = m->trajectory.mode_offsets;
    const modal_matrix_source source = motion_matrix(m);
    MODAL_TRY(motion_check_room(reach, offsets[m->basis.n_objects], "reach", &err));
    for (int32_t i = 0; i < m->basis.n_shapes; i++) {
        const modal_shape *s = &m->basis.shapes[i];
        modal_free(&largest);
        MODAL_TRY(modal_alloc(&largest, s->modes.n_modes, sizeof *largest, "reach", &err));
        MODAL_TRY(modal_reach_modes(s, i, &source, largest, &err));
        for (int32_t o = 0; o < m->basis.n_objects; o++)
            if (m->object_shapes[o] == i) memcpy(reach + offsets[o], largest, (size_t)s->modes.n_modes * sizeof *largest);
    }
done:
    modal_free(&largest);
    motion_end(m);
    return motion_result(status, m->path, &err);
}
