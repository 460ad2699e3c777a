/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of the motion in a GLB: times, weights, rigid frames. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/glb_writer.h"
#include "lib/base/memory.h"

modal_status modal_glb_write_times(glb_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    glb_scene *g = &w->scene;
    const modal_sequence_info *info = g->info;
    float *times = NULL;
    MODAL_TRY(modal_alloc(&times, info->n_frames, sizeof *times, "times", err));
    for (int64_t f = 0; f < info->n_frames; f++) {
        times[f] = (float)((info->times[f] + g->time_shift) * (info->slow_motion > 0 ? info->slow_motion : 1));
        if (!isfinite(times[f]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "glb: frame %" PRId64 ": its time does not fit float32, %g",
                       info->scene->start + f * info->scene->step, info->times[f]);
        if (f > 0 && !(times[f] > times[f - 1]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "glb: frame %" PRId64 ": float32 cannot tell its time from the one before, %.17g", f,
                       info->times[f]);
    }
    g->arrays[g->times].least[0] = times[0];
    g->arrays[g->times].most[0] = times[info->n_frames - 1];
    MODAL_TRY(modal_glb_put(w, g->times, times, 4 * info->n_frames, err));
done:
    modal_free(&times);
    return status;
}

modal_status modal_glb_write_weights(glb_writer *w, int32_t object, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_scene *in = w->scene.info->scene;
    const modal_trajectory *t = in->trajectory;
    const glb_shape *g = &w->scene.shapes[w->scene.basis->objects[object].shape];
    const int64_t n = w->scene.info->n_frames, total = t->mode_offsets[t->n_objects];
    float *weights = NULL;
    MODAL_TRY(modal_alloc(&weights, n * g->n_targets, sizeof *weights, "weights", err));
    for (int64_t f = 0; f < n; f++) {
        const double *q = t->q + (in->start + f * in->step) * total + t->mode_offsets[object];
        for (int32_t k = 0; k < g->n_targets; k++)
            weights[f * g->n_targets + k] =
                (float)((q[g->modes[k]] - g->low[g->modes[k]]) / g->spread[g->modes[k]]);
    }
    MODAL_TRY(modal_glb_put_floats(w, w->scene.object_array[object], weights, n, g->n_targets,
                         (glb_what){"object", object, "weight", -1, "frame", in->start, in->step}, err));
done:
    modal_free(&weights);
    return status;
}

modal_status modal_glb_write_rigid(glb_writer *w, int32_t object, int64_t array, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_scene *in = w->scene.info->scene;
    const int64_t n = w->scene.info->n_frames, n_objects = w->scene.basis->n_objects;
    double q[4], before[4];
    float *places = NULL, *turns = NULL;
    MODAL_TRY(modal_alloc(&places, n, 12, "translations", err));
    MODAL_TRY(modal_alloc(&turns, n, 16, "rotations", err));
    for (int64_t f = 0; f < n; f++) {
        const double *pose = in->trajectory->poses + ((in->start + f * in->step) * n_objects + object) * 12;
        modal_glb_quaternion(pose, f > 0 ? before : NULL, q);
        memcpy(before, q, sizeof q);
        for (int k = 0; k < 3; k++) places[3 * f + k] = (float)pose[4 * k + 3];
        for (int k = 0; k < 4; k++) turns[4 * f + k] = (float)q[k];
    }
    MODAL_TRY(modal_glb_put_floats(w, array, places, n, 3, (glb_what){"object", object, "translation", -1, "frame", in->start, in->step}, err));
    MODAL_TRY(modal_glb_put_floats(w, array + 1, turns, n, 4, (glb_what){"object", object, "rotation", -1, "frame", in->start, in->step}, err));
done:
    modal_free(&turns);
    modal_free(&places);
    return status;
}
