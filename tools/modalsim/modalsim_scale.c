/* SPDX-License-Identifier: Apache-2.0 */
/* --amplitude of a scene: linear objects whose frames stand still move in proportion to the loads, so a first run, of which
 * nothing is kept, says by what to multiply all of them. */
#include <math.h>
#include <string.h>

#include "tools/modalsim/modalsim.h"

/* What does not grow with the loads; NULL: everything does. */
static const char *nonlinear(const modal_scene *scene, const modal_basis *basis, const uint8_t *models)
{
    for (int32_t i = 0; models && i < basis->n_objects; i++)
        if (models[i]) return "an object has the model \"stvk\"";
    return scene->response.given                ? "\"response\" is no motion"
           : scene->wind.given                  ? "the drag of wind is not in proportion to it"
           : modal_scene_moves(scene, basis)    ? "an object moves as a whole"
                                                : NULL;
}

static void scale(double factor, int64_t n, double *values)
{
    for (int64_t i = 0; i < n; i++) values[i] *= factor;
}

static void scale_scene(modal_scene *scene, double factor)
{
    scale(factor, 3, scene->gravity);
    for (int32_t i = 0; i < scene->n_forces; i++) scale(factor, 3, scene->forces[i].vector);
    for (int32_t i = 0; i < scene->n_shakings; i++) scale(factor, 3, scene->shakings[i].acceleration);
    for (int32_t i = 0; i < scene->n_objects; i++) {
        scale(factor, scene->objects[i].n_initial, scene->objects[i].initial);
        scale(factor, scene->objects[i].n_initial_velocity, scene->objects[i].initial_velocity);
    }
}

static modal_status observe(void *context, const modal_simulation *run, modal_error *err)
{
    (void)err;
    modalsim_range_observe(context, run->state.next_frame - 1, run->state.q);
    return MODAL_OK;
}

static modal_status find_factor(tool *t, const modalsim_request *r, modalsim_range *range, double *factor, modal_error *err)
{
    *factor = r->amplitude / range->displacement;
    if (!(range->displacement > 0 && isfinite(*factor) && *factor > 0))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--amplitude: nothing moves that could be scaled, the largest displacement is %g m",
                               range->place.length);
    tool_note(t, "--amplitude: all loads times %.6g: vertex %lld of object %d moves by %.4g m in frame %lld, %.4g %% of its size",
              *factor, (long long)range->place.vertex, range->place.object, *factor * range->place.length,
              (long long)range->place.frame, 100 * r->amplitude);
    json_object_set_new(t->report, "load_factor", json_real(*factor));
    return MODAL_OK;
}

modal_status modalsim_scale_scene(tool *t, const modalsim_request *r, const modal_simulation *like, modal_scene *scene,
                                  const uint8_t *models, char remark[64], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation run = *like;
    modalsim_range range = {0};
    const char *why = nonlinear(scene, like->basis, models);
    double factor;
    const double start = tool_seconds();
    memset(&run.state, 0, sizeof run.state);
    if (why) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--amplitude: is for linear motion: %s: %s", r->scene_path ? r->scene_path : r->basis_path, why);
    MODAL_TRY(modalsim_range_begin(&range, like->basis, err));
    range.displacement = 0;
    MODAL_TRY(modal_scene_state_alloc(&run.state, like->basis, err));
    run.poses = NULL;
    run.look_at_solids = 0;
    run.load_tiles = NULL;
    run.planned = NULL;
    run.placed = NULL;
    run.watch = NULL;
    run.frame_done = observe;
    run.context = &range;
    MODAL_TRY(modal_scene_simulate(&run, err));
    MODAL_TRY(find_factor(t, r, &range, &factor, err));
    scale_scene(scene, factor);
    snprintf(remark, MODALSIM_REMARK, " # all loads times %.17g", factor);
    tool_stage(t, "find the amplitude", tool_seconds() - start, -1);
done:
    modal_scene_state_free(&run.state);
    modalsim_range_end(&range);
    return status;
}
