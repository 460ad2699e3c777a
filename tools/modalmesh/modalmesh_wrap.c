/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh --wrap: a closed surface around one that may be anything. */
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "tools/common/tool.h"
#include "tools/modalmesh/modalmesh.h"

/* Of the box's diagonal: closer than that the wrap has millions of triangles. */
static const double closest = 1e-3;

static modal_status check_distance(const modal_surface_mesh *surface, double distance, modal_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, square = 0;
    for (int64_t i = 0; i < 3 * surface->n_triangles; i++)
        for (int k = 0; k < 3; k++) {
            const double x = surface->positions[3 * (int64_t)surface->triangles[i] + k];
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
        }
    for (int k = 0; k < 3; k++) square += (high[k] - low[k]) * (high[k] - low[k]);
    const double diagonal = sqrt(square);
    if (distance >= closest * diagonal && distance <= diagonal) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--wrap: must be in %.4g .. %.4g m, for a box of the diagonal %.4g m, %g",
                           closest * diagonal, diagonal, diagonal, distance);
}

/* The new surface takes the old one's place. */
static modal_status take_surface(const modal_volume_mesh *made, modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh wrap = {.n_vertices = made->n_nodes, .n_triangles = made->n_groups == 1 ? made->groups[0].n_nodes / 3 : 0};
    MODAL_TRY(modal_alloc(&wrap.positions, 3 * wrap.n_vertices, sizeof *wrap.positions, "wrap", err));
    MODAL_TRY(modal_alloc(&wrap.triangles, 3 * wrap.n_triangles, sizeof *wrap.triangles, "wrap", err));
    memcpy(wrap.positions, made->nodes, (size_t)(3 * wrap.n_vertices) * sizeof *wrap.positions);
    if (wrap.n_triangles > 0)
        memcpy(wrap.triangles, made->groups[0].nodes, (size_t)(3 * wrap.n_triangles) * sizeof *wrap.triangles);
    modal_surface_mesh_free(surface);
    *surface = wrap;
    return MODAL_OK;
done:
    modal_surface_mesh_free(&wrap);
    return status;
}

modal_status modalmesh_wrap(tool *t, const char *path, double distance, double time_limit, modal_surface_mesh *surface,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    modal_volume_mesh made = {0};
    modalmesh_told told = {0};
    const modalmesh_order order = {.path = path, .surface = surface, .wrap = distance};
    const int32_t n_parts = surface->n_parts;
    MODAL_TRY(check_distance(surface, distance, err));
    MODAL_TRY(modalmesh_run(t, "cgal", &order, time_limit, &made, &told, err));
    MODAL_TRY(take_surface(&made, surface, err));
    if (n_parts > 0) tool_warn(t, "%s: --wrap keeps no names of parts, %d", path, n_parts);
    tool_note(t, "wrap: %lld triangles; no point of it is farther than %.3g m from the surface, no point of the surface farther "
              "than %.3g m from it", (long long)surface->n_triangles, told.distances[0], told.distances[1]);
    if (!(told.distances[1] <= distance))
        tool_warn(t, "%s: the wrap leaves parts of the surface farther than --wrap inside it or fills hollows, %.3g m", path,
                  told.distances[1]);
    json_object_set_new(t->report, "wrap", json_pack("{s:f, s:I, s:f, s:f}", "asked_m", distance, "triangles",
                                                     (json_int_t)surface->n_triangles, "wrap_to_surface_m", told.distances[0],
                                                     "surface_to_wrap_m", told.distances[1]));
    if (!(told.distances[0] <= distance))
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "%s: cgal: the wrap is farther than --wrap from the surface, %.4g m", path,
                   told.distances[0]);
    tool_stage(t, "wrap", tool_seconds() - start, -1);
done:
    modal_volume_mesh_free(&made);
    return status;
}
