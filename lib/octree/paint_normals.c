/* SPDX-License-Identifier: Apache-2.0 */
/* Normals of a finer surface onto samples, in the coordinates of the object. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/mesh/triangle_tree.h"
#include "lib/octree/nearest.h"
#include "lib/octree/paint_parts.h"

static int make_unit(double v[3])
{
    const double length = sqrt(modal_dot(v, v));
    for (int k = 0; k < 3; k++) v[k] = length > 0 ? v[k] / length : 0;
    return length > 0;
}

/* A point of a triangle, or the unit normal there. */
static void at_weights(const double *values, const int32_t vertex[3], const double weights[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int j = 0; j < 3; j++) out[k] += weights[j] * values[3 * (int64_t)vertex[j] + k];
    }
}

static void put(const modal_octree *o, int64_t i, const double n[3], double cover)
{
    for (int k = 0; k < 3; k++) {
        if (o->channels == MODAL_OCTREE_FLOAT3) {
            float *to = (float *)o->values + 3 * i + k;
            *to = (float)((double)*to + cover * (n[k] - (double)*to));
        } else {
            uint8_t *to = (uint8_t *)o->values + 4 * i + k;
            *to = (uint8_t)lrint(*to + cover * (128 + 127 * n[k] - *to));
        }
    }
}

modal_status modal_paint_normals(modal_octree *o, const modal_layer *layer, const modal_layer_inputs *in, modal_layer_counts *counts, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface_mesh *own = in->surface, *fine = in->finer;
    modal_triangle_tree tree = {0};
    double *own_normals = NULL, *fine_normals = NULL;
    int32_t *labels = NULL;
    int64_t n_turned = 0;
    if (fine->n_triangles == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "normals: a surface without triangles");
    MODAL_TRY(modal_alloc(&labels, fine->n_triangles, sizeof *labels, "triangles", err));
    for (int64_t t = 0; t < fine->n_triangles; t++) labels[t] = (int32_t)t;
    MODAL_TRY(modal_triangle_tree_new(&tree, fine->positions, fine->n_triangles, fine->triangles, labels, err));
    MODAL_TRY(modal_paint_vertex_normals(own, &own_normals, err));
    MODAL_TRY(modal_paint_vertex_normals(fine, &fine_normals, err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 1024) reduction(+ : n_turned)
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int32_t *vertex = own->triangles + 3 * (int64_t)o->triangles[i];
        double weights[3], x[3], n[3], m[3], corners[9];
        int32_t nearest = 0;
        modal_paint_weights(o, i, weights);
        at_weights(own->positions, vertex, weights, x);
        at_weights(own_normals, vertex, weights, n);
        modal_triangle_tree_nearest(&tree, x, INFINITY, &nearest);
        const int32_t *other = fine->triangles + 3 * (int64_t)nearest;
        for (int j = 0; j < 3; j++) memcpy(corners + 3 * j, fine->positions + 3 * (int64_t)other[j], 3 * sizeof *corners);
        modal_octree_closest(corners, x, weights + 1);
        weights[0] = 1 - weights[1] - weights[2];
        at_weights(fine_normals, other, weights, m);
        const int turned = !make_unit(m) || !(modal_dot(m, n) > 0);
        n_turned += turned;
        if (turned && !make_unit(n)) continue;
        put(o, i, turned ? n : m, layer->opacity);
    }
    counts->n_turned = n_turned;
    o->normals = 1;
done:
    modal_triangle_tree_free(&tree);
    modal_free(&labels);
    modal_free(&own_normals);
    modal_free(&fine_normals);
    return status;
}
