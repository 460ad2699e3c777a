/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/paint.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/mix.h"
#include "lib/octree/paint_parts.h"
#include "lib/texture/mips.h"

/* ---- solids ---- */

/* Product of the offset with one of twelve gradients, the middles of a cube's edges. */
static double slope(int64_t x, int64_t y, int64_t z, uint64_t seed, double u, double v, double w)
{
    static const double gradients[12][3] = {{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}, {1, 0, 1}, {-1, 0, 1},
                                            {1, 0, -1}, {-1, 0, -1}, {0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1}};
    const uint64_t h = modal_mix(modal_mix(modal_mix((uint64_t)x + seed * 0x9e3779b97f4a7c15u) + (uint64_t)y) + (uint64_t)z);
    const double *g = gradients[h % 12];
    return g[0] * u + g[1] * v + g[2] * w;
}

double modal_noise(const double p[3], uint64_t seed)
{
    int64_t c[3];
    double f[3], s[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        const double low = floor(p[k]);
        c[k] = (int64_t)low;
        f[k] = p[k] - low;
        s[k] = f[k] * f[k] * f[k] * (f[k] * (f[k] * 6 - 15) + 10);
    }
    for (int k = 0; k < 8; k++) {
        const int i = k & 1, j = k >> 1 & 1, l = k >> 2;
        sum += (i ? s[0] : 1 - s[0]) * (j ? s[1] : 1 - s[1]) * (l ? s[2] : 1 - s[2]) *
               slope(c[0] + i, c[1] + j, c[2] + l, seed, f[0] - i, f[1] - j, f[2] - l);
    }
    return sum;
}

/* Octaves of noise, each half as large and half as strong. */
static double turbulence(const modal_layer *layer, const double x[3])
{
    double sum = 0, strength = 1, scale = 1 / layer->scale, p[3];
    for (int64_t i = 0; i < layer->octaves; i++, strength /= 2, scale *= 2) {
        for (int k = 0; k < 3; k++) p[k] = x[k] * scale;
        sum += strength * modal_noise(p, (uint64_t)(layer->seed + i));
    }
    return sum;
}

/* 0 to 1: how far from `from` to `to` the solid is at x. */
static double solid(const modal_layer *layer, const double x[3])
{
    double along = 0, square = 0, y[3];
    switch (layer->kind) {
    case MODAL_LAYER_FILL: return 0;
    case MODAL_LAYER_CHECKER: return (int64_t)(floor(x[0] / layer->scale) + floor(x[1] / layer->scale) + floor(x[2] / layer->scale)) & 1;
    case MODAL_LAYER_NOISE: return fmin(1, fmax(0, 0.5 + 0.5 * turbulence(layer, x)));
    case MODAL_LAYER_MARBLE:
        for (int k = 0; k < 3; k++) along += layer->axis[k] * x[k];
        return 0.5 + 0.5 * sin(2 * M_PI * (along / layer->scale + layer->turbulence * turbulence(layer, x)));
    default: /* wood: rings sharpen outwards */
        for (int k = 0; k < 3; k++) y[k] = x[k] - layer->centre[k], along += layer->axis[k] * y[k];
        for (int k = 0; k < 3; k++) square += (y[k] - along * layer->axis[k]) * (y[k] - along * layer->axis[k]);
        const double ring = sqrt(square) / layer->scale + layer->turbulence * turbulence(layer, x), part = ring - floor(ring);
        return part * part;
    }
}

/* ---- over what is there ---- */

/* `value` covers `cover` of a sample. */
static void blend(const modal_octree *o, int64_t i, const double value[4], double cover)
{
    if (!(cover > 0)) return;
    if (o->channels != MODAL_OCTREE_RGBA8) {
        const int width = modal_octree_width(o->channels);
        float *to = (float *)o->values + width * i;
        for (int c = 0; c < width; c++) to[c] = (float)((double)to[c] + cover * (value[c] - (double)to[c]));
        return;
    }
    double linear[3];
    for (int c = 0; c < 3; c++) { /* between two steps of sRGB */
        const double byte = 255 * value[c], low = floor(byte);
        const double first = (double)modal_srgb_to_linear((uint8_t)low), next = (double)modal_srgb_to_linear((uint8_t)fmin(255, low + 1));
        linear[c] = first + (byte - low) * (next - first);
    }
    modal_paint_over(o, i, linear, value[3], cover);
}

static void paint_solid(modal_octree *o, const modal_layer *layer)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        double x[3], value[4];
        modal_paint_position(o, i, x);
        const double t = solid(layer, x);
        for (int c = 0; c < 4; c++) value[c] = layer->from[c] + t * (layer->to[c] - layer->from[c]);
        blend(o, i, value, layer->opacity);
    }
}

/* A stroke's cover falls from its opacity at the centre to nothing at the radius, smoothly. */
static modal_status paint_strokes(modal_octree *o, const modal_layer *layer, modal_layer_counts *counts, modal_error *err)
{
    uint8_t *reached = NULL; /* [n_strokes] */
    const modal_status status = modal_alloc_zero(&reached, layer->n_strokes, 1, "strokes", err);
    if (status != MODAL_OK) return status;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        double x[3];
        modal_paint_position(o, i, x);
        for (int64_t s = 0; s < layer->n_strokes; s++) {
            const modal_stroke *stroke = &layer->strokes[s];
            double square = 0;
            for (int k = 0; k < 3; k++) square += (x[k] - stroke->centre[k]) * (x[k] - stroke->centre[k]);
            const double left = 1 - square / (stroke->radius * stroke->radius);
            if (!(left > 0)) continue;
#pragma omp atomic write
            reached[s] = 1;
            blend(o, i, stroke->value, layer->opacity * stroke->opacity * left * left);
        }
    }
    for (int64_t s = 0; s < layer->n_strokes; s++) counts->n_missed += !reached[s];
    modal_free(&reached);
    return MODAL_OK;
}

static void paint_colours(modal_octree *o, const modal_layer *layer, const modal_surface_mesh *at)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int32_t *corner = at->triangles + 3 * (int64_t)o->triangles[i];
        double linear[3], alpha = 0, weights[3];
        modal_paint_weights(o, i, weights);
        for (int k = 0; k < 4; k++) {
            double sum = 0;
            for (int j = 0; j < 3; j++) {
                const uint8_t v = at->colours[4 * (int64_t)corner[j] + k];
                sum += weights[j] * (k < 3 ? (double)modal_srgb_to_linear(v) : v / 255.0);
            }
            *(k < 3 ? &linear[k] : &alpha) = fmin(1, fmax(0, sum));
        }
        if (layer->opacity > 0) modal_paint_over(o, i, linear, alpha, layer->opacity);
    }
}

static void paint_field(modal_octree *o, const modal_layer *layer, const modal_surface_mesh *surface, const float *field)
{
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        const int32_t *corner = surface->triangles + 3 * (int64_t)o->triangles[i];
        double weights[3], value[4], number = 0;
        modal_paint_weights(o, i, weights);
        for (int j = 0; j < 3; j++) number += weights[j] * (double)field[corner[j]];
        const double t = fmin(1, fmax(0, (number - layer->range[0]) / (layer->range[1] - layer->range[0])));
        for (int c = 0; c < 4; c++) value[c] = layer->from[c] + t * (layer->to[c] - layer->from[c]);
        blend(o, i, value, layer->opacity);
    }
}

static modal_status check(const modal_octree *o, const modal_layer *layer, const modal_layer_inputs *in, modal_error *err)
{
    const modal_layer_kind kind = layer->kind;
    const modal_surface_mesh *surface = kind == MODAL_LAYER_COLOURS ? in->coloured : kind > MODAL_LAYER_COLOURS ? in->surface : NULL;
    if (kind >= MODAL_LAYER_COLOURS && kind != MODAL_LAYER_NORMALS && kind != MODAL_LAYER_FIELD && o->channels != MODAL_OCTREE_RGBA8)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: only in a texture of rgba8, not of %s", modal_layer_names[kind],
                               modal_octree_channels_name(o->channels));
    if (kind == MODAL_LAYER_NORMALS && o->channels == MODAL_OCTREE_FLOAT)
        return modal_error_set(err, MODAL_ERROR_INPUT, "normals: only in a texture of float3 or rgba8, not of float");
    if (surface && surface->n_triangles != o->n_triangles)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%lld triangles, the texture's surface has %lld", (long long)surface->n_triangles,
                               (long long)o->n_triangles);
    if (kind == MODAL_LAYER_IMAGE && !surface->triangle_uv)
        return modal_error_set(err, MODAL_ERROR_INPUT, "image: the surface has no uv");
    return MODAL_OK;
}

modal_status modal_octree_paint(modal_octree *o, const modal_layer *layer, const modal_layer_inputs *in, modal_layer_counts *counts, modal_error *err)
{
    *counts = (modal_layer_counts){0};
    const modal_status status = check(o, layer, in, err);
    if (status != MODAL_OK) return status;
    switch (layer->kind) {
    case MODAL_LAYER_STROKES: return paint_strokes(o, layer, counts, err);
    case MODAL_LAYER_COLOURS: paint_colours(o, layer, in->coloured); return MODAL_OK;
    case MODAL_LAYER_IMAGE: modal_paint_image_layer(o, layer, in, counts); return MODAL_OK;
    case MODAL_LAYER_TRIPLANAR: return modal_paint_triplanar(o, layer, in, err);
    case MODAL_LAYER_NORMALS: return modal_paint_normals(o, layer, in, counts, err);
    case MODAL_LAYER_FIELD: paint_field(o, layer, in->surface, in->field); return MODAL_OK;
    default: paint_solid(o, layer); return MODAL_OK;
    }
}
