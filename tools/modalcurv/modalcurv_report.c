/* SPDX-License-Identifier: Apache-2.0 */
/* The report of modalcurv: connectivity, and for every frame how the fields are distributed. */
#include <math.h>
#include <stdlib.h>

#include "lib/base/memory.h"
#include "lib/base/quantiles.h"
#include "tools/modalcurv/modalcurv.h"

static int by_place(const void *a, const void *b)
{
    const float *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

modal_status modalcurv_oddities(modalcurv_input *in, const float *positions, modal_error *err)
{
    modal_status status = MODAL_OK;
    float(*places)[3] = NULL;
    MODAL_TRY(modal_alloc(&places, in->n_vertices, sizeof *places, "positions", err));
    for (int64_t v = 0; v < in->n_vertices; v++)
        for (int i = 0; i < 3; i++) places[v][i] = positions[3 * v + i];
    qsort(places, (size_t)in->n_vertices, sizeof *places, by_place);
    for (int64_t v = 1; v < in->n_vertices; v++) in->n_duplicates += by_place(places[v - 1], places[v]) == 0;
    for (int64_t t = 0; t < in->n_triangles; t++) {
        const int32_t *v = in->triangles + 3 * t;
        const double quality = modal_curvature_quality(positions + 3 * (int64_t)v[0], positions + 3 * (int64_t)v[1], positions + 3 * (int64_t)v[2]);
        in->n_flat += quality <= MODAL_CURVATURE_FLAT;
        in->n_needles += quality > MODAL_CURVATURE_FLAT && quality <= 1e-3;
    }
done:
    modal_free(&places);
    return status;
}

void modalcurv_report_topology(tool *t, const modalcurv_input *in)
{
    const modal_curvature_topology *s = &in->topology;
    const int64_t used = s->n_vertices - s->n_unused;
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"vertices", s->n_vertices},
                  {"triangles", s->n_triangles},
                  {"unused_vertices", s->n_unused},
                  {"collapsed_triangles", s->n_collapsed + in->n_collapsed},
                  {"duplicate_vertices", in->n_duplicates},
                  {"flat_triangles", in->n_flat},
                  {"needle_triangles", in->n_needles},
                  {"edges", s->n_edges},
                  {"open_edges", s->n_open_edges},
                  {"shared_edges", s->n_shared_edges},
                  {"turned_edges", s->n_turned_edges},
                  {"pinched_vertices", s->n_pinched},
                  {"boundary_vertices", s->n_boundary},
                  {"largest_valence", s->largest_valence},
                  {"euler_characteristic", s->euler}};
    json_t *to = json_object();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(to, counts[i].name, json_integer(counts[i].value));
    json_object_set_new(to, "boundary_share", json_real(used > 0 ? (double)s->n_boundary / (double)used : 0.0));
    json_object_set_new(to, "mean_edge", json_real(in->mean_edge));
    json_object_set_new(t->report, "surface", to);
    if (s->n_turned_edges > 0)
        tool_warn(t, "%lld edges whose two triangles are turned against each other: curvature changes its sign there",
                  (long long)s->n_turned_edges);
    if (s->n_shared_edges > 0)
        tool_warn(t, "%lld edges of three and more triangles: all of them count at their vertices",
                  (long long)s->n_shared_edges);
    if (in->n_flat > 0)
        tool_warn(t, "triangles without area: a vertex with no other ones has zeros, %lld triangles", (long long)in->n_flat);
    if (s->n_boundary == used)
        tool_warn(t, "no vertex lies inside the surface: every value is one-sided, %lld vertices", (long long)used);
}

static json_t *distribution(const modalcurv_input *in, const float *values, float *scratch)
{
    static const char *const names[5] = {"least", "quantile_02", "median", "quantile_98", "most"};
    json_t *to = json_object();
    double quantiles[5];
    modal_quantiles(values, in->n_vertices, scratch, quantiles);
    for (int i = 0; i < 5; i++) json_object_set_new(to, names[i], json_real(quantiles[i]));
    return to;
}

modal_status modalcurv_report_frame(tool *t, const modalcurv_request *r, const modalcurv_input *in, int64_t frame,
                                    const float *const out[MODAL_CURVATURE_FIELDS], const float *areas, float *scratch,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = in->n_vertices;
    json_t *frames = json_object_get(t->report, "frames"), *to = json_object();
    if (!frames) json_object_set_new(t->report, "frames", frames = json_array());
    json_object_set_new(to, "file", json_string(in->files[frame]));
    json_object_set_new(to, "time", json_real(in->times[frame]));
    double area = 0.0, integral = 0.0;
    int64_t lower = 0;
    for (int64_t v = 0; v < n; v++) {
        area += (double)areas[v];
        if (out[MODAL_GAUSS_CURVATURE]) integral += (double)areas[v] * (double)out[MODAL_GAUSS_CURVATURE][v];
        if (out[MODAL_FIT_DEGREE]) lower += out[MODAL_FIT_DEGREE][v] < (float)r->options.degree;
    }
    json_object_set_new(to, "area", json_real(area));
    if (out[MODAL_GAUSS_CURVATURE]) {
        json_object_set_new(to, "integral_of_gauss_curvature", json_real(integral));
        json_object_set_new(to, "two_pi_euler", json_real(2.0 * M_PI * (double)in->topology.euler));
    }
    if (out[MODAL_FIT_DEGREE]) json_object_set_new(to, "vertices_of_lower_degree", json_integer(lower));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (out[i] && modal_curvature_arrays[i].components == 1 && i != MODAL_BOUNDARY && i != MODAL_FIT_DEGREE)
            json_object_set_new(to, modal_curvature_arrays[i].name, distribution(in, out[i], scratch));
    if (!frames || json_array_append_new(frames, to) != 0) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "report: no memory");
done:
    return status;
}
