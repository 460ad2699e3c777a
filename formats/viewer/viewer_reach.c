/* SPDX-License-Identifier: Apache-2.0 */
/* That a page stays within float32: viewers compute in it, and square lengths. */
#include <float.h>
#include <math.h>

#include "formats/viewer/viewer_data.h"
#include "lib/base/memory.h"

static const double REACH = 1e18; /* m; the sum of three squares of it fits float32 */

static inline double entry(const modal_shape *s, int64_t v, int32_t mode, int axis)
{
    return s->modes.modal_matrix[((v / MODAL_TILE * s->modes.n_modes + mode) * 3 + axis) * MODAL_TILE + v % MODAL_TILE];
}

/* How far from its object's origin vertex v is at most, a coordinate: |xbar| + sum |U_k| |q_k|. */
static double reach_of(const modal_shape *s, int64_t v, const double *q)
{
    double most = 0;
    for (int i = 0; i < 3; i++) {
        double sum = fabs(s->surface.rest_positions[3 * v + i]);
        for (int32_t k = 0; k < s->modes.n_modes; k++) sum += fabs(q[k] * entry(s, v, k, i));
        if (!(sum <= most)) most = sum;
    }
    return most;
}

/* The vertices one by one, where the largest of all together reach too far. */
static modal_status check_vertices(const modal_shape *s, int64_t frame, int32_t object, const double *q, modal_error *err)
{
    int64_t worst = 0;
    double most = -1;
    for (int64_t v = 0; v < s->surface.n_vertices; v++) {
        const double reach = reach_of(s, v, q);
        if (!(reach <= most)) most = reach, worst = v;
    }
    if (most <= REACH) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "frame %lld, object %d, vertex %d: up to %g m from the object's origin, a page reaches %g m",
                           (long long)frame, object, s->surface.user_vertex[worst], most, REACH);
}

/* Largest coordinate of the rest positions, and entry of each mode. */
static modal_status find_largest(const modal_shape *s, int32_t shape, double *rest, double *modes, modal_error *err)
{
    *rest = 0;
    for (int64_t i = 0; i < 3 * s->surface.n_vertices; i++) {
        if (!(fabs(s->surface.rest_positions[i]) <= REACH))
            return modal_error_set(err, MODAL_ERROR_INPUT, "shape %d, vertex %d: at rest, a page reaches %g m, %g",
                                   shape, s->surface.user_vertex[i / 3], REACH, s->surface.rest_positions[i]);
        *rest = fmax(*rest, fabs(s->surface.rest_positions[i]));
    }
    for (int32_t k = 0; k < s->modes.n_modes; k++) modes[k] = 0;
    for (int64_t v = 0; v < s->surface.n_vertices; v++)
        for (int32_t k = 0; k < s->modes.n_modes; k++)
            for (int i = 0; i < 3; i++) modes[k] = fmax(modes[k], fabs(entry(s, v, k, i)));
    return MODAL_OK;
}

static modal_status check_pose(const double *pose, int64_t number, int32_t object, modal_error *err)
{
    for (int k = 0; k < 12; k++)
        if (!(fabs(pose[k]) <= REACH))
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "frame %lld, object %d: entry %d of its rigid frame, a page reaches %g m, %g",
                                   (long long)number, object, k, REACH, pose[k]);
    return MODAL_OK;
}

modal_status modal_viewer_check_reach(const modal_basis *basis, const modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *modes = NULL;
    const int64_t n_frames = trajectory ? trajectory->n_frames : 1;
    const int64_t total = trajectory ? trajectory->mode_offsets[trajectory->n_objects] : 0;
    if (trajectory && !isfinite(trajectory->times[n_frames - 1] - trajectory->times[0]))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "times: too far apart for a page, %g to %g s", trajectory->times[0],
                   trajectory->times[n_frames - 1]);
    for (int32_t shape = 0; shape < basis->n_shapes; shape++) {
        const modal_shape *s = &basis->shapes[shape];
        double rest;
        modal_free(&modes);
        MODAL_TRY(modal_alloc(&modes, s->modes.n_modes, sizeof *modes, "page", err));
        MODAL_TRY(find_largest(s, shape, &rest, modes, err));
        for (int32_t o = 0; o < basis->n_objects; o++) {
            if (basis->objects[o].shape != shape) continue;
            MODAL_TRY(check_pose(basis->objects[o].rest_pose, 0, o, err));
            for (int64_t f = 0; f < n_frames; f++) {
                const double *q = trajectory ? trajectory->q + f * total + trajectory->mode_offsets[o] : NULL;
                double sum = rest;
                for (int32_t k = 0; q && k < s->modes.n_modes; k++) {
                    sum += fabs(q[k]) * modes[k];
                    if (!(fabs(q[k]) <= FLT_MAX))
                        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                                   "frame %lld, object %d: reduced coordinate %d does not fit float32, %g",
                                   (long long)f, o, k, q[k]);
                }
                if (!(sum <= REACH)) MODAL_TRY(check_vertices(s, f, o, q, err));
                if (trajectory && trajectory->poses)
                    MODAL_TRY(check_pose(trajectory->poses + 12 * (f * trajectory->n_objects + o), f, o, err));
            }
        }
    }
done:
    modal_free(&modes);
    return status;
}
