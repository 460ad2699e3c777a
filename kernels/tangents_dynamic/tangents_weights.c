/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>

#include "kernels/tangents_dynamic/tangents_dynamic.h"

static void corner_weights(const double *own, const double *a, const double *b, float *weights)
{
    const double s1 = a[0] - own[0], t1 = a[1] - own[1], s2 = b[0] - own[0], t2 = b[1] - own[1];
    const double g[4] = {t2, -t1, -s2, s1}, area = s1 * t2 - s2 * t1;
    int fits = area != 0.0;
    for (int i = 0; i < 4; i++) fits = fits && fabs(g[i] / area) <= (double)FLT_MAX;
    for (int i = 0; i < 4; i++) weights[i] = fits ? (float)(g[i] / area) : 0.0f;
}

modal_status modal_tangents_weights(const modal_tangents_surface *s, float *weights, modal_error *err)
{
    for (int64_t v = 0; v < s->n_vertices; v++)
        for (int64_t k = s->corner_offsets[v]; k < s->corner_offsets[v + 1]; k++) {
            const int64_t face = s->corner_faces[k];
            if (face < 0 || face >= s->n_triangles)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "corner %lld of vertex %lld: triangle %lld of %lld",
                                       (long long)(k - s->corner_offsets[v]), (long long)v,
                                       (long long)face, (long long)s->n_triangles);
            const int32_t *t = s->triangles + 3 * face;
            const int place = t[0] == v ? 0 : t[1] == v ? 1 : t[2] == v ? 2 : 3;
            if (place == 3)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "corners of vertex %lld: triangle %lld does not hold it",
                                       (long long)v, (long long)face);
            const double *at[3];
            for (int i = 0; i < 3; i++) {
                const int32_t index = s->triangle_uv[3 * face + (place + i) % 3];
                if (index < 0 || index >= s->n_uv)
                    return modal_error_set(err, MODAL_ERROR_INPUT,
                                           "triangle %lld: texture coordinate %d of %lld",
                                           (long long)face, index, (long long)s->n_uv);
                at[i] = s->uv + 2 * (int64_t)index;
            }
            corner_weights(at[0], at[1], at[2], weights + 4 * k);
        }
    return MODAL_OK;
}
