/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of the frames: curvature of the deformed surface, one frame at a time (lib/curvature). */
#include <string.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/curvature/curvature.h"
#include "tools/modaldeform/modaldeform.h"

struct modaldeform_curvature {
    const modal_array_list *list;
    int first_source;
    modal_curvature_options options;
    modal_device device;
    int32_t *triangles; /* [n_triangles, 3] */
    modal_curvature_topology topology;
    modal_curvature *engine; /* made of the first frame, whose edges tell lengths */
    float *out[MODAL_CURVATURE_FIELDS];
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

int64_t modaldeform_curvature_bytes(const modaldeform_request *r, int64_t n_points, int64_t n_triangles)
{
    int64_t floats = 0;
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (r->curvature[i]) floats += modal_curvature_arrays[i].components;
    /* normals, tensors, records of the CPU; the ring, twelve numbers a vertex; what the tables are made from */
    return n_points * (4 * (floats + 6 + 12 + 12) + 24) + 60 * n_triangles;
}

modal_status modaldeform_curvature_new(modaldeform_curvature **curvature, tool *t, const modaldeform_request *r,
                                       const modaldeform_input *in, int first_source, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_curvature *c = NULL;
    char name[MODAL_DEVICE_NAME] = "";
    *curvature = NULL;
    MODAL_TRY(modal_alloc_zero(&c, 1, sizeof *c, "curvature", err));
    c->list = &r->arrays, c->first_source = first_source;
    memcpy(c->options.fields, r->curvature, sizeof r->curvature);
    /* the first of several devices: "cuda:0,1", "cuda:all" */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(r->deform.back_end, ","), r->deform.back_end);
    if (strcmp(name, "cuda:all") == 0) snprintf(name, sizeof name, "cuda:0");
    MODAL_TRY(modal_device_open(&c->device, name, err));
    MODAL_TRY(modal_alloc(&c->triangles, 3 * in->n_triangles, sizeof *c->triangles, "triangles", err));
    for (int64_t i = 0; i < 3 * in->n_triangles; i++) c->triangles[i] = (int32_t)in->triangles[i];
    MODAL_TRY(modal_curvature_topology_build(in->n_points, in->n_triangles, c->triangles, &c->topology, err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (r->curvature[i])
            MODAL_TRY(modal_alloc(&c->out[i], modal_curvature_arrays[i].components * in->n_points, sizeof(float),
                                  modal_curvature_arrays[i].name, err));
    if (c->topology.n_turned_edges > 0)
        tool_warn(t, "--fields: %lld edges whose two triangles are turned against each other: curvature changes its sign there",
                  (long long)c->topology.n_turned_edges);
    *curvature = c;
    c = NULL;
done:
    modaldeform_curvature_delete(c);
    return status;
}

modaldeform_curvature *modaldeform_curvature_delete(modaldeform_curvature *c)
{
    if (!c) return NULL;
    c->engine = modal_curvature_delete(c->engine);
    modal_curvature_topology_free(&c->topology);
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) modal_free(&c->out[i]);
    modal_free(&c->triangles);
    modal_free(&c);
    return NULL;
}

modal_status modaldeform_curvature_run(void *self, int64_t first, modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_curvature *c = self;
    const float *positions = frames->arrays[0];
    (void)first; /* one frame at a time: it does not matter which */
    if (!c->engine)
        MODAL_TRY(modal_curvature_new(&c->engine, &c->device, &c->options, &c->topology,
                                      modal_curvature_mean_edge(c->topology.n_triangles, c->triangles, positions), 1, err));
    MODAL_TRY(modal_curvature_compute(c->engine, 1, positions, c->out, NULL, err));
    for (int i = 0; i < c->list->n; i++)
        if (c->list->all[i].source >= c->first_source) frames->arrays[i] = c->out[c->list->all[i].source - c->first_source];
done:
    return status;
}
