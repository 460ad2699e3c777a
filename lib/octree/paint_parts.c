/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/paint_parts.h"

#include <math.h>

#include "lib/base/memory.h"
#include "lib/texture/mips.h"

void modal_paint_position(const modal_octree *o, int64_t i, double x[3])
{
    const double step = o->size / ldexp(1.0, modal_octree_bits(o));
    for (int k = 0; k < 3; k++) x[k] = o->origin[k] + step * modal_morton_squeeze((uint64_t)o->keys[i] >> k);
}

void modal_paint_weights(const modal_octree *o, int64_t i, double weights[3])
{
    weights[1] = (double)o->barycentric[2 * i];
    weights[2] = (double)o->barycentric[2 * i + 1];
    weights[0] = 1 - weights[1] - weights[2];
}

void modal_paint_over(const modal_octree *o, int64_t i, const double linear[3], double alpha, double cover)
{
    uint8_t *to = (uint8_t *)o->values + 4 * i;
    const double over = cover * alpha, below = to[3] / 255.0 * (1 - over), all = over + below;
    for (int c = 0; c < 3 && all > 0; c++)
        to[c] = modal_srgb_from_linear((float)((over * linear[c] + below * (double)modal_srgb_to_linear(to[c])) / all));
    to[3] = (uint8_t)lrint(255 * all);
}

modal_status modal_paint_vertex_normals(const modal_surface_mesh *s, double **normals, modal_error *err)
{
    const modal_status status = modal_alloc_zero(normals, 3 * s->n_vertices, sizeof **normals, "normals", err);
    if (status != MODAL_OK) return status;
    for (int64_t t = 0; t < s->n_triangles; t++)
        for (int j = 0; j < 3; j++) {
            const int32_t *v = s->triangles + 3 * t;
            const double *x[3];
            double a[3], b[3], aa = 0, bb = 0;
            for (int i = 0; i < 3; i++) x[i] = s->positions + 3 * (int64_t)v[(j + i) % 3];
            for (int k = 0; k < 3; k++) {
                a[k] = x[1][k] - x[0][k], b[k] = x[2][k] - x[0][k];
                aa += a[k] * a[k], bb += b[k] * b[k];
            }
            const double squares = aa * bb;
            for (int k = 0; k < 3 && squares > 0; k++)
                (*normals)[3 * (int64_t)v[j] + k] += (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]) / squares;
        }
    for (int64_t v = 0; v < s->n_vertices; v++) {
        double *n = *normals + 3 * v;
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3 && length > 0; k++) n[k] /= length;
    }
    return MODAL_OK;
}
