/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of flow over the samples of `octree`: surface_flow without dirt and rain. Bytes of a call are those of its own arrays, each read or
 * written once. A step that goes by neighbours has of a sample its mask, area, steering (16), liquid before and after, wetness twice, and 4 of each
 * neighbour. One that goes by gifts (a GPU's, after the first of a call) has their number instead of mask, area and steering, and 8 of each gift. A step
 * that steers has its neighbours and areas again, masks, a triangle's number and steering, and the gifts that it writes. */
#include <math.h>

#include "kernels/device.h"
#include "lib/base/memory.h"
#include "lib/octree/connect.h"
#include "lib/octree/flow.h"
#include "tests/bench/bench.h"
#include "tests/bench/octree_scene.h"

enum { STEPS = 16 }; /* of a call; the first steers */

typedef struct flow_case {
    modal_flow *flow;
    modal_stream *stream; /* whose events the bench takes */
    double dt;
} flow_case;

static modal_status call(void *context, int64_t k, modal_error *err)
{
    const flow_case *c = context;
    (void)k;
    return modal_flow_steps(c->flow, STEPS, c->dt, c->stream, err);
}

static modal_status measure(modal_bench *b, bench_side *side, const modal_octree *o, const modal_surface_mesh *surface, const float *positions,
                            modal_error *err)
{
    static const modal_flow_settings settings = {.gravity = {0, 0, -9.81}, .mobility = 0.01};
    modal_status status = MODAL_OK;
    modal_flow_state state = {0};
    flow_case c = {.stream = side->stream};
    char name[80];
    int64_t n_steps = 0, neighbours = 0, gifts = 0;
    for (int64_t i = 0; i < o->n_samples; i++) neighbours += __builtin_popcount((unsigned)o->neighbours[i]);
    const double n = (double)o->n_samples, by_neighbours = 44 * n + 4 * (double)neighbours, steering = 28 * n + 4 * (double)neighbours;
    bench_row row = {.ours = 1, .hidden = 1, .side = side, .n_vertices = surface->n_vertices, .n_columns = 1, .n_objects = o->n_samples,
                     .tolerance = "mass to 1e-6"};
    snprintf(name, sizeof name, side->is_cuda ? "surface_flow" : "surface_flow, %d threads", side->device.n_threads);
    row.name = name;
    MODAL_TRY(modal_device_select(&side->device, err));
    MODAL_TRY(modal_flow_state_new(o, 0, &state, err));
    for (int64_t i = 0; i < o->n_samples; i++) state.liquid[i] = o->areas[i];
    state.initial = modal_flow_liquid(&state);
    const double span = o->size / ldexp(1.0, modal_octree_bits(o)) / (settings.mobility * 9.81); /* liquid goes through a cell */
    MODAL_TRY(modal_flow_new(&c.flow, &side->device, o, surface->positions, surface->triangles, &settings, &state, err));
    MODAL_TRY(modal_flow_advance(c.flow, positions, span, &n_steps, NULL, err));
    c.dt = span / (double)n_steps;
    MODAL_TRY(bench_measure(b, side, call, &c, &row.time, err));
    MODAL_TRY(modal_flow_gifts(c.flow, &gifts, err));
    row.bytes = steering + STEPS * by_neighbours;
    if (gifts) row.bytes = steering + by_neighbours + (4 * n + 8 * (double)gifts) + (STEPS - 1) * (20 * n + 8 * (double)gifts);
    MODAL_TRY(modal_flow_advance(c.flow, positions, 2 * span, NULL, NULL, err)); /* brings back what all calls have left */
    row.error = fabs(modal_flow_liquid(&state) / state.initial - 1) / 1e-6;
    MODAL_TRY(bench_row_add(b, &row, err));
    const double rate = row.bytes / row.time.median;
    bench_print(b, "%-4s * %-44s %11.2f us a step %9.4g M samples/s %7.4g GB/s, %.0f %% of a copy, %.1f neighbours, %.1f give; %d steps, the first steers\n",
                side->is_cuda ? "gpu" : "cpu", name, 1e6 * row.time.median / STEPS, 1e-6 * STEPS * n / row.time.median, 1e-9 * rate,
                100 * bench_copy_seconds(side, row.bytes / STEPS) * STEPS / row.time.median, (double)neighbours / n, (double)gifts / n, STEPS);
done:
    modal_flow_delete(c.flow);
    modal_flow_state_free(&state);
    return status;
}

modal_status bench_flow(modal_bench *b, bench_side *side, struct octree_scene *scene, const modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sheets sheets = {0};
    modal_octree *o = &scene->octree;
    float *positions = NULL;
    char name[80];
    snprintf(name, sizeof name, "octree, flow, depth %d", modal_octree_bits(o));
    bench_table(b, name, name);
    MODAL_TRY(modal_device_select(&b->cpu.device, err));
    MODAL_TRY(modal_sheets_make(o, surface->positions, surface->n_vertices, surface->triangles, surface->n_triangles, &sheets, err));
    MODAL_TRY(modal_octree_connect(&sheets, NULL, o, err));
    modal_sheets_free(&sheets);
    MODAL_TRY(modal_alloc(&positions, 3 * surface->n_vertices, sizeof *positions, "positions", err));
    for (int64_t i = 0; i < 3 * surface->n_vertices; i++) positions[i] = (float)surface->positions[i];
    MODAL_TRY(measure(b, side, o, surface, positions, err));
done:
    modal_sheets_free(&sheets);
    modal_free(&positions);
    return status;
}
