/* SPDX-License-Identifier: Apache-2.0 */
/* Images onto samples: by the uv of the surface, and along the axes. The level of an image is that where a texel is as long as samples
 * are apart, so that a fine image does not flicker in a coarse texture. */
#include <math.h>
#include <omp.h>

#include "kernels/raster/paint_math.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/octree/paint_parts.h"

static double step_of(const modal_octree *o) { return o->size / ldexp(1.0, modal_octree_bits(o)); }

static void look_up(const modal_paint *images, int32_t image, int wrap, const paint_place *place, double linear[3], double *alpha)
{
    float texel[4];
    paint_sample(images, image, wrap, 1, 1, place, texel);
    for (int k = 0; k < 3; k++) linear[k] = fmin(1, (double)texel[k]);
    *alpha = fmin(1, (double)texel[3]);
}

/* How uv change over a step along the first edge and across it; a triangle without area has everything in a step. */
static void slopes(const modal_surface_mesh *s, int64_t triangle, double step, paint_place *place)
{
    const int32_t *vertex = s->triangles + 3 * triangle, *corner = s->triangle_uv + 3 * triangle;
    double e[2][3], d[2][2], ee = 0, ef = 0, ff = 0;
    for (int j = 0; j < 2; j++) {
        for (int k = 0; k < 3; k++) e[j][k] = s->positions[3 * (int64_t)vertex[j + 1] + k] - s->positions[3 * (int64_t)vertex[0] + k];
        for (int k = 0; k < 2; k++) d[j][k] = s->uv[2 * (int64_t)corner[j + 1] + k] - s->uv[2 * (int64_t)corner[0] + k];
    }
    for (int k = 0; k < 3; k++) ee += e[0][k] * e[0][k], ef += e[0][k] * e[1][k], ff += e[1][k] * e[1][k];
    const double length = sqrt(ee), along = ef / length, across = sqrt(fmax(0, ff - along * along));
    double slope[2][2];
    for (int k = 0; k < 2; k++) {
        slope[0][k] = step * d[0][k] / length;
        slope[1][k] = step * (d[1][k] - along * d[0][k] / length) / across;
    }
    place->u_right = (float)slope[0][0], place->v_right = (float)slope[0][1];
    place->u_down = (float)slope[1][0], place->v_down = (float)slope[1][1];
}

void modal_paint_image_layer(modal_octree *o, const modal_layer *layer, const modal_layer_inputs *in, modal_layer_counts *counts)
{
    const modal_surface_mesh *s = in->surface;
    const double step = step_of(o);
    int64_t n_outside = 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(+ : n_outside)
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int32_t *corner = s->triangle_uv + 3 * (int64_t)o->triangles[i];
        double weights[3], at[2] = {0, 0}, linear[3], alpha;
        paint_place place;
        modal_paint_weights(o, i, weights);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++) at[k] += weights[j] * s->uv[2 * (int64_t)corner[j] + k];
        n_outside += !(at[0] >= -1e-6 && at[0] <= 1 + 1e-6 && at[1] >= -1e-6 && at[1] <= 1 + 1e-6);
        slopes(s, o->triangles[i], step, &place);
        place.u = (float)at[0], place.v = (float)at[1];
        look_up(in->images, 0, layer->wrap, &place, linear, &alpha);
        if (layer->opacity > 0) modal_paint_over(o, i, linear, alpha, layer->opacity);
    }
    counts->n_outside = n_outside;
}

/* The image along an axis: upright where z is up (along z: y), not mirrored for who looks from outside. */
static paint_place place_along(const modal_layer *layer, const modal_paint *images, int axis, int towards, double step, const double x[3])
{
    const modal_paint_level *level = images->levels + images->images[axis].first_level;
    const double width = layer->scale, height = layer->scale * (double)level->height / (double)level->width;
    const int across = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2;
    const double side = (axis == 1 ? -1 : 1) * (towards ? 1 : -1);
    const paint_place place = {.u = (float)(side * (x[across] - layer->centre[across]) / width), .v = (float)((x[up] - layer->centre[up]) / height),
                               .u_right = (float)(step / width), .v_down = (float)(step / height)};
    return place;
}

modal_status modal_paint_triplanar(modal_octree *o, const modal_layer *layer, const modal_layer_inputs *in, modal_error *err)
{
    const modal_surface_mesh *s = in->surface;
    const double step = step_of(o);
    double *normals = NULL;
    const modal_status status = modal_paint_vertex_normals(s, &normals, err);
    if (status != MODAL_OK) return status;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int32_t *vertex = s->triangles + 3 * (int64_t)o->triangles[i];
        double x[3], weights[3], n[3] = {0, 0, 0}, share[3], all = 0, sum[3] = {0, 0, 0}, alpha = 0;
        modal_paint_position(o, i, x);
        modal_paint_weights(o, i, weights);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) n[k] += weights[j] * normals[3 * (int64_t)vertex[j] + k];
        const double most = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
        for (int k = 0; k < 3; k++) all += share[k] = most > 0 ? pow(fabs(n[k]) / most, layer->sharpness) : 1;
        for (int k = 0; k < 3; k++) {
            double linear[3], of;
            if (share[k] < 1e-6) continue;
            const paint_place place = place_along(layer, in->images, k, n[k] >= 0, step, x);
            look_up(in->images, k, 0, &place, linear, &of);
            of *= share[k] / all;
            alpha += of;
            for (int c = 0; c < 3; c++) sum[c] += of * linear[c];
        }
        for (int c = 0; c < 3 && alpha > 0; c++) sum[c] = fmin(1, sum[c] / alpha);
        if (layer->opacity > 0) modal_paint_over(o, i, sum, fmin(1, alpha), layer->opacity);
    }
    modal_free(&normals);
    return MODAL_OK;
}
