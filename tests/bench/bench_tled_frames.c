/* SPDX-License-Identifier: Apache-2.0 */
/* What frames cost the steps that they leave beside (lib/tled/frames.h): the same steps with no frames, and with frames into a sink
 * that drops them. */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/tled/frames.h"
#include "tests/bench/bench.h"
#include "tests/bench/tled_cube.h"

enum { FRAMES = 100, FRAMES_HERE = 10, FRAMES_QUICK = 6, STEPS = 50, STEPS_QUICK = 3 }; /* of a call, on a processor; of a frame */

typedef struct run {
    modal_tled_motion *motion;
    modal_tled_frames *frames; /* or NULL */
    int n_frames, n_steps;
    int64_t n_nodes, dropped;
    double *last; /* [n_nodes, 3] where a frame is looked at, or NULL */
} run;

static modal_status drop(void *context, const modal_tled_frame *frame, modal_error *err)
{
    run *r = context;
    (void)err;
    r->dropped++;
    if (r->last) memcpy(r->last, frame->u, (size_t)r->n_nodes * 3 * sizeof *r->last);
    return MODAL_OK;
}

static modal_status call(void *context, int64_t k, modal_error *err)
{
    modal_status status = MODAL_OK;
    run *r = context;
    int64_t element;
    (void)k;
    for (int f = 0; f < r->n_frames; f++) {
        int slot;
        MODAL_TRY(modal_tled_motion_advance(r->motion, modal_tled_motion_steps(r->motion) + r->n_steps, NULL, &element, err));
        if (!r->frames) continue;
        MODAL_TRY(modal_tled_frames_slot(r->frames, &slot, err));
        MODAL_TRY(modal_tled_frames_take(r->frames, err));
    }
    if (r->frames) MODAL_TRY(modal_tled_frames_wait(r->frames, err));
done:
    return status;
}

/* One more call, whose last frame is to be the state at hand, to the bit. *error: the bounds that it is off by. */
static modal_status check(run *r, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *want = NULL;
    MODAL_TRY(modal_alloc(&want, r->n_nodes, 3 * sizeof *want, "check", err));
    MODAL_TRY(modal_alloc_zero(&r->last, r->n_nodes, 3 * sizeof *r->last, "check", err));
    MODAL_TRY(call(r, 0, err));
    MODAL_TRY(modal_tled_motion_state(r->motion, want, NULL, err));
    *error = memcmp(want, r->last, (size_t)r->n_nodes * 3 * sizeof *want) == 0 ? 0 : 2;
done:
    modal_free(&want);
    modal_free(&r->last);
    return status;
}

static modal_status row(modal_bench *b, bench_side *side, const tled_cube *cube, const run *r, const bench_time times[2], double error,
                        modal_error *err)
{
    static const char name[] = "frames beside the steps, into a null sink";
    const double cost = times[1].median / times[0].median - 1;
    const bench_row line = {.name = name, .ours = 1, .hidden = 1, .side = side, .n_vertices = cube->solid.n_nodes,
                            .n_columns = r->n_frames * r->n_steps, .time = times[1], .error = error, .tolerance = "the same bytes"};
    bench_print(b, "       %s: %.2f ms for %d frames of %d steps, %+.2f %% more than none\n", name, 1e3 * times[1].median, r->n_frames,
                r->n_steps, 100 * cost);
    const modal_status status = bench_row_add(b, &line, err);
    json_t *last = json_array_get(b->results, json_array_size(b->results) - 1);
    json_object_set_new(last, "mesh", json_string(cube->name));
    json_object_set_new(last, "frames",
                        json_pack("{s:i, s:i, s:f, s:f}", "count", r->n_frames, "steps_of_one", r->n_steps, "seconds_without",
                                  times[0].median, "more_than_none", cost));
    return status;
}

modal_status bench_tled_frames(modal_bench *b, bench_side *side, const tled_cube *cube, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *table = b->table;
    const int64_t n = cube->solid.n_nodes;
    modal_tled_model model = {.solid = cube->solid};
    modal_solid_scene scene = {.gravity = {0, 0, -9.81}, .alpha = cube->alpha};
    const modal_tled_motion_options options = {.precision = MODAL_TLED_FLOAT32, .step = cube->step};
    run r = {.n_frames = b->quick ? FRAMES_QUICK : side->is_cuda ? FRAMES : FRAMES_HERE, .n_steps = b->quick ? STEPS_QUICK : STEPS, .n_nodes = n};
    bench_time times[2];
    double error = 2;
    MODAL_TRY(modal_alloc(&model.node_from, n, sizeof *model.node_from, "order of nodes", err));
    for (int64_t i = 0; i < n; i++) model.node_from[i] = (int32_t)(n - 1 - i); /* frames are put into another order, as a mesh's is */
    MODAL_TRY(modal_tled_motion_new(&side->device, &model, &scene, &options, &r.motion, err));
    MODAL_TRY(bench_measure(b, side, call, &r, &times[0], err));
    MODAL_TRY(modal_tled_frames_new(r.motion, 0, drop, &r, &r.frames, err));
    MODAL_TRY(bench_measure(b, side, call, &r, &times[1], err));
    if (r.dropped == 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "tled: no frame has reached the sink");
    MODAL_TRY(check(&r, &error, err));
    b->table = "tled, frames";
    MODAL_TRY(row(b, side, cube, &r, times, error, err));
done:
    b->table = table;
    modal_tled_frames_delete(r.frames);
    modal_tled_motion_delete(r.motion);
    modal_free(&model.node_from);
    return status;
}
