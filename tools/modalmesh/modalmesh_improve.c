/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh --improve: a mesh without bad angles, and what was done for it. */
#include <math.h>

#include "lib/mesh/improve.h"
#include "lib/mesh/quality.h"
#include "tools/common/tool.h"
#include "tools/modalmesh/modalmesh.h"

/* Of the box's diagonal: the distance where none is given, and the largest that makes sense. */
static const double usual = 1e-3, most = 0.1;

/* Half as much again as the five degrees below which an element spoils a factorisation or the time step. */
static const double wanted_degrees = 7.5;

static json_t *quality_of(const modal_volume_mesh *mesh, modal_mesh_quality *quality)
{
    modal_mesh_measure_quality(mesh, quality);
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "elements", (json_int_t)mesh->n_elements, "least_dihedral_deg", quality->least_angle,
                     "greatest_dihedral_deg", quality->greatest_angle, "least_radius_ratio", quality->least_ratio, "mean_radius_ratio",
                     quality->mean_ratio);
}

modal_status modalmesh_improve(tool *t, const char *path, double distance, const double low[3], const double high[3],
                               modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_improvement told;
    modal_mesh_quality before, after;
    double diagonal = 0;
    const double start = tool_seconds();
    json_t *j = json_object();
    json_object_set_new(t->report, "improve", j);
    for (int k = 0; k < 3; k++) diagonal += (high[k] - low[k]) * (high[k] - low[k]);
    diagonal = sqrt(diagonal);
    if (distance < 0) distance = usual * diagonal;
    if (distance > most * diagonal)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--improve-distance: must be at most %.4g m, for a box of the diagonal %.4g m, %g",
                   most * diagonal, diagonal, distance);
    json_object_set_new(j, "before", quality_of(mesh, &before));
    status = modal_volume_mesh_improve(mesh, distance, wanted_degrees * 3.14159265358979323846 / 180, &told, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s: --improve", path);
        goto done;
    }
    json_object_set_new(j, "after", quality_of(mesh, &after));
    json_t *distances = json_pack("{s:f, s:f, s:f, s:f}", "wanted_deg", wanted_degrees, "asked_m", distance, "new_to_old_m",
                                  told.distances[0], "old_to_new_m", told.distances[1]);
    json_object_update_new(j, distances);
    const struct {
        const char *key;
        int64_t n;
    } counts[] = {{"bad_elements_before", told.n_bad_before}, {"bad_elements", told.n_bad}, {"edges_exchanged", told.n_edges},
                  {"faces_exchanged", told.n_faces}, {"elements_peeled", told.n_peeled}, {"nodes_merged", told.n_merged},
                  {"nodes_moved", told.n_moved}, {"nodes_added", told.n_added}, {"nodes_left_alone", told.n_still}, {"rounds", told.n_rounds}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) json_object_set_new(j, counts[i].key, json_integer(counts[i].n));
    tool_note(t, "improve: least dihedral angle %.3g degrees, was %.3g; %lld elements, were %lld; the surface moved by %.3g m at most",
              after.least_angle, before.least_angle, (long long)after.n_tetrahedra, (long long)before.n_tetrahedra,
              fmax(told.distances[0], told.distances[1]));
    if (told.n_bad > 0)
        tool_warn(t, "%s: elements that --improve could not mend within %.3g m of the surface, with an angle below %g or above %g degrees, "
                  "%lld", path, distance, wanted_degrees, 180 - wanted_degrees, (long long)told.n_bad);
    tool_stage(t, "improve", tool_seconds() - start, -1);
done:
    return status;
}
