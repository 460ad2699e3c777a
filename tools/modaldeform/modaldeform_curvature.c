/* SPDX-License-Identifier: Apache-2.0 */
/* What curvature of the deformed surface needs, as a stage on the device (lib/curvature/stage.h). */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/curvature/stage.h"
#include "tools/modaldeform/modaldeform.h"

struct modaldeform_curvature {
    modal_curvature_topology topology;
    modal_curvature_stage stage;
};

modal_status modaldeform_curvature_fields(const char *list, int fields[MODAL_CURVATURE_FIELDS], modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_curvature_parse_fields(list, fields, err));
    if (fields[MODAL_FIT_DEGREE]) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: fit_degree is of modalcurv --method fit alone");
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (fields[i] && modal_curvature_is_stretch((modal_curvature_field)i))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: of modalcurv alone, %s", modal_curvature_arrays[i].name);
done:
    return status;
}

int64_t modaldeform_curvature_bytes(int64_t n_points, int64_t n_triangles)
{
    /* the ring, twelve numbers a vertex, and what it is made from */
    return n_points * (4 * 12 + 24) + 60 * n_triangles;
}

modal_status modaldeform_curvature_new(modaldeform_curvature **curvature, tool *t, const modaldeform_request *r,
                                       const modaldeform_input *in, modal_frame_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_curvature *c = NULL;
    int32_t *triangles = NULL;
    *curvature = NULL;
    if (!r->curved) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&c, 1, sizeof *c, "curvature", err));
    MODAL_TRY(modal_alloc(&triangles, 3 * in->n_triangles, sizeof *triangles, "triangles", err));
    for (int64_t i = 0; i < 3 * in->n_triangles; i++) triangles[i] = (int32_t)in->triangles[i];
    MODAL_TRY(modal_curvature_topology_build(in->n_points, in->n_triangles, triangles, &c->topology, err));
    if (c->topology.n_turned_edges > 0)
        tool_warn(t, "--fields: %lld edges whose two triangles are turned against each other: curvature changes its sign there",
                  (long long)c->topology.n_turned_edges);
    c->stage = (modal_curvature_stage){.topology = &c->topology, .areas = -1};
    MODAL_TRY(modal_curvature_rest_edge(&in->basis, &c->stage.mean_edge, err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) c->stage.arrays[i] = -1;
    for (int i = 0; i < plan->list.n; i++)
        if (plan->list.all[i].source >= MODALDEFORM_FROM_CURVATURE)
            c->stage.arrays[plan->list.all[i].source - MODALDEFORM_FROM_CURVATURE] = i;
    plan->stages[plan->n_stages++] = modal_curvature_stage_of(&c->stage);
    *curvature = c;
    c = NULL;
done:
    modal_free(&triangles);
    modaldeform_curvature_delete(c);
    return status;
}

modaldeform_curvature *modaldeform_curvature_delete(modaldeform_curvature *c)
{
    if (!c) return NULL;
    modal_curvature_topology_free(&c->topology);
    modal_free(&c);
    return NULL;
}
