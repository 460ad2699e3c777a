/* SPDX-License-Identifier: Apache-2.0 */
/* Curvature of deformed surfaces: by the engine of modaldeform and modalcurv, of positions in main memory, a frame at a time. */
#include <inttypes.h>
#include <string.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/curvature/curvature.h"
#include "tools/library/motion.h"

struct motion_curvature {
    modal_curvature_topology topology; /* of all objects */
    modal_device device;
    modal_curvature *engine;
    double mean_edge;
    int fields[MODAL_CURVATURE_FIELDS]; /* of the engine */
};

/* NULL: not wanted, or none of this interface. */
static void list_fields(const modal_motion_arrays *to, float *fields[MODAL_CURVATURE_FIELDS])
{
    float *const all[MODAL_CURVATURE_FIELDS] = {[MODAL_K_MAX] = to->k_max,
                                                [MODAL_K_MIN] = to->k_min,
                                                [MODAL_MEAN_CURVATURE] = to->mean_curvature,
                                                [MODAL_GAUSS_CURVATURE] = to->gauss_curvature,
                                                [MODAL_DIRECTION_MAX] = to->direction_max,
                                                [MODAL_DIRECTION_MIN] = to->direction_min,
                                                [MODAL_CURVATURE_DERIVATIVE] = to->curvature_derivative,
                                                [MODAL_BOUNDARY] = to->boundary};
    memcpy(fields, all, sizeof all);
}

int motion_wants_curvature(const modal_motion_arrays *to)
{
    float *fields[MODAL_CURVATURE_FIELDS];
    list_fields(to, fields);
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (fields[i]) return 1;
    return 0;
}

/* What does not depend on the fields. */
static modal_status begin(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_points, n, *all = NULL;
    int32_t *triangles = NULL;
    struct motion_curvature *c = NULL;
    if (m->n_points > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "curvature is of at most %d points, not %" PRId64, INT32_MAX, m->n_points);
    MODAL_TRY(modal_alloc_zero(&c, 1, sizeof *c, "curvature", err));
    MODAL_TRY(modal_deform_topology(&m->basis, 0, &n_points, &n, &all, err));
    MODAL_TRY(modal_alloc(&triangles, 3 * n, sizeof *triangles, "triangles", err));
    for (int64_t i = 0; i < 3 * n; i++) triangles[i] = (int32_t)all[i];
    modal_free(&all);
    MODAL_TRY(modal_curvature_topology_build(n_points, n, triangles, &c->topology, err));
    MODAL_TRY(modal_curvature_rest_edge(&m->basis, &c->mean_edge, err));
    MODAL_TRY(modal_device_open(&c->device, modal_deformer_back_end(m->deformer), err));
    m->curvature = c;
    c = NULL;
done:
    modal_free(&triangles);
    modal_free(&all);
    motion_curvature_delete(c);
    return status;
}

modal_status motion_make_curvature(modal_motion *m, const float *positions, const modal_motion_arrays *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_curvature_options options = {.method = MODAL_CURVATURE_TENSOR};
    float *fields[MODAL_CURVATURE_FIELDS];
    if (m->n_points == 0) return MODAL_OK;
    if (!m->curvature) MODAL_TRY(begin(m, err));
    struct motion_curvature *c = m->curvature;
    list_fields(to, fields);
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) options.fields[i] = fields[i] != NULL;
    if (!c->engine || memcmp(options.fields, c->fields, sizeof c->fields) != 0) { /* which makes all of its fields */
        memcpy(c->fields, options.fields, sizeof c->fields);
        c->engine = modal_curvature_delete(c->engine);
        MODAL_TRY(modal_curvature_new(&c->engine, &c->device, &options, &c->topology, c->mean_edge, 1, err));
    }
    MODAL_TRY(modal_curvature_compute(c->engine, 1, positions, fields, NULL, err));
done:
    return status;
}

struct motion_curvature *motion_curvature_delete(struct motion_curvature *c)
{
    if (!c) return NULL;
    modal_curvature_delete(c->engine);
    modal_curvature_topology_free(&c->topology);
    modal_free(&c);
    return NULL;
}
