/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels without images and layers, shaded as vectors: the operations are those of shade_math.h in their order, of which there is none between
 * lanes, so the bytes are, too. A lane is a triangle in a pixel. Loops go over arrays of one number each, which compilers make vectors of. */
#ifndef MODAL_KERNELS_SHADE_LANES_H
#define MODAL_KERNELS_SHADE_LANES_H

#include <string.h>

#include "kernels/shade/shade_math.h"

enum { SHADE_LANES = 96 };

typedef struct shade_lanes {
    int n;
    uint32_t triangle[SHADE_LANES];
    int32_t object[SHADE_LANES], count[SHADE_LANES]; /* count: samples of the pixel */
    float corners[3][3][SHADE_LANES], normals[3][3][SHADE_LANES], x[SHADE_LANES], y[SHADE_LANES], two_sided[SHADE_LANES];
    float diffuse[3][SHADE_LANES], specular[3][SHADE_LANES], shininess[SHADE_LANES];
    float position[3][SHADE_LANES], normal[3][SHADE_LANES], to_eye[3][SHADE_LANES], colour[3][SHADE_LANES];
    float towards[SHADE_LANES], lit[SHADE_LANES], depth[SHADE_LANES], u[SHADE_LANES], v[SHADE_LANES];
    int32_t inside[SHADE_LANES], texel[4][SHADE_LANES];
    float moments[4][SHADE_LANES][2]; /* of the four texels */
} shade_lanes;

/* A triangle at (x, y); what is looked up of it. */
RASTER_INLINE void shade_lane(const modal_shade_task *task, shade_lanes *s, uint32_t t, float x, float y, int count)
{
    const modal_raster_mesh *mesh = &task->mesh;
    const int i = s->n++;
    const int32_t object = t == MODAL_RASTER_NONE ? -1 : task->n_objects == 1 && t < (uint32_t)task->object_triangles[1] ? 0 : shade_object(task, t);
    s->triangle[i] = t, s->object[i] = object, s->count[i] = count, s->x[i] = x, s->y[i] = y;
    if (t == MODAL_RASTER_NONE) { /* numbers that do no harm: its colour is the background's */
        for (int k = 0; k < 9; k++) s->corners[k / 3][k % 3][i] = s->normals[k / 3][k % 3][i] = 0.0f;
        for (int k = 0; k < 3; k++) s->colour[k][i] = s->diffuse[k][i] = s->specular[k][i] = 0.0f;
        s->two_sided[i] = s->shininess[i] = 0.0f;
        return;
    }
    for (int c = 0; c < 3; c++) {
        const int32_t corner = mesh->triangles[3 * (int64_t)t + c];
        const float *point = raster_point_of(mesh, corner);
        const int32_t row = task->triangle_normals && corner < mesh->n_points ? task->triangle_normals[3 * (int64_t)t + c] : corner;
        const float *normal = corner < mesh->n_points ? task->normals + 3 * (int64_t)row : task->more_normals + 3 * (corner - mesh->n_points);
        for (int k = 0; k < 3; k++) s->corners[c][k][i] = point[k], s->normals[c][k][i] = normal[k];
    }
    const float *material = task->paint.materials + MODAL_SHADE_MATERIAL * (int64_t)task->paint.triangle_materials[t];
    for (int k = 0; k < 3; k++) {
        const float tint = object >= 0 ? task->tints[3 * (int64_t)object + k] : 1.0f;
        s->colour[k][i] = task->ambient[k] * (material[k] * tint);
        s->diffuse[k][i] = material[4 + k] * tint;
        s->specular[k][i] = material[8 + k];
    }
    s->two_sided[i] = material[MODAL_PAINT_TWO_SIDED], s->shininess[i] = material[11];
}

/* shade_surface_at, and the way to the eye. */
RASTER_INLINE void shade_lane_surfaces(shade_lanes *s, const modal_raster_view *given)
{
    const modal_raster_view view = *given;
    for (int i = 0; i < s->n; i++) {
        raster_clip corners[3];
        float position[3], normal[3], to_eye[3];
        for (int c = 0; c < 3; c++) {
            const float d[3] = {s->corners[c][0][i] - view.origin[0], s->corners[c][1][i] - view.origin[1], s->corners[c][2][i] - view.origin[2]};
            corners[c].x = raster_row(view.x, d), corners[c].y = raster_row(view.y, d), corners[c].w = raster_row(view.w, d);
        }
        const paint_weights weights = paint_weights_at(corners, s->x[i], s->y[i]);
        const float side = s->two_sided[i] != 0.0f && weights.sum > 0.0f ? -1.0f : 1.0f;
        for (int k = 0; k < 3; k++) {
            position[k] = (weights.of[0] * s->corners[0][k][i] + weights.of[1] * s->corners[1][k][i]) + weights.of[2] * s->corners[2][k][i];
            normal[k] = (weights.of[0] * s->normals[0][k][i] + weights.of[1] * s->normals[1][k][i]) + weights.of[2] * s->normals[2][k][i];
            to_eye[k] = view.origin[k] - position[k];
        }
        shade_unit(normal);
        shade_unit(to_eye);
        for (int k = 0; k < 3; k++) s->position[k][i] = position[k], s->normal[k][i] = normal[k] * side, s->to_eye[k][i] = to_eye[k];
    }
}

/* shade_lit of a variance shadow map. */
RASTER_INLINE void shade_lane_shadows(const modal_shade_task *task, shade_lanes *s, int32_t map)
{
    const modal_raster_view view = task->shadow_views[map];
    const int32_t n = task->shadow_size;
    const float first = (float)task->shadow_border, last = (float)(n - task->shadow_border), end = (float)(n - 1), bleeding = task->bleeding;
    const float *moments = task->maps + 2 * (int64_t)map * n * n;
    for (int i = 0; i < s->n; i++) {
        const float d[3] = {s->position[0][i] - view.origin[0], s->position[1][i] - view.origin[1], s->position[2][i] - view.origin[2]};
        const float at_x = raster_row(view.x, d), at_y = raster_row(view.y, d), depth = raster_row(view.depth, d);
        const float x = paint_limit(at_x - 0.5f, 0.0f, end), y = paint_limit(at_y - 0.5f, 0.0f, end);
        const int32_t left = (int32_t)x, top = (int32_t)y, right = left + 1 < n - 1 ? left + 1 : n - 1, bottom = top + 1 < n - 1 ? top + 1 : n - 1;
        s->inside[i] = (at_x >= first) & (at_x < last) & (at_y >= first) & (at_y < last);
        s->depth[i] = depth > 0.0f ? depth : 0.0f;
        s->u[i] = x - (float)left, s->v[i] = y - (float)top;
        s->texel[0][i] = 2 * (top * n + left), s->texel[1][i] = 2 * (top * n + right);
        s->texel[2][i] = 2 * (bottom * n + left), s->texel[3][i] = 2 * (bottom * n + right);
    }
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < 4; k++) memcpy(s->moments[k][i], moments + s->texel[k][i], sizeof s->moments[k][i]);
    for (int i = 0; i < s->n; i++) {
        float mean[2];
        for (int k = 0; k < 2; k++) {
            const float above = s->moments[0][i][k] * (1.0f - s->u[i]) + s->moments[1][i][k] * s->u[i];
            const float below = s->moments[2][i][k] * (1.0f - s->u[i]) + s->moments[3][i][k] * s->u[i];
            mean[k] = above * (1.0f - s->v[i]) + below * s->v[i];
        }
        const float spread = mean[1] - mean[0] * mean[0], variance = spread > MODAL_SHADE_VARIANCE ? spread : MODAL_SHADE_VARIANCE;
        const float nearer = mean[0] - s->depth[i], part = variance / (variance + nearer * nearer);
        const float lit = paint_limit(((nearer > 0.0f ? part : 1.0f) - bleeding) / (1.0f - bleeding), 0.0f, 1.0f);
        s->lit[i] = s->inside[i] ? lit : 1.0f;
    }
}

/* shade_power of u and the shininess, to u. Loops of their own, without branches: what is not taken is multiplied by 0. */
RASTER_INLINE void shade_lane_powers(shade_lanes *s)
{
    for (int i = 0; i < s->n; i++) {
        const float log = s->shininess[i] * paint_log2(s->u[i]);
        s->v[i] = s->u[i] > FLT_MIN ? log : -127.0f;
    }
    for (int i = 0; i < s->n; i++) {
        const float taken = (float)(s->v[i] > -126.0f);
        s->u[i] = shade_exp2(paint_limit(s->v[i], -126.0f, 0.0f)) * taken;
    }
    for (int i = 0; i < s->n; i++) s->u[i] = s->shininess[i] == 0.0f ? 1.0f : s->u[i];
}

/* shade_colour: the colours so far are what is ambient. Then diffuse is the sum over the lane's samples, and specular that of what is limited to 1. */
RASTER_INLINE void shade_lane_colours(const modal_shade_task *task, shade_lanes *s)
{
    for (int32_t l = 0; l < task->n_lights; l++) {
        const modal_shade_light light = task->lights[l];
        for (int i = 0; i < s->n; i++) {
            const float normal[3] = {s->normal[0][i], s->normal[1][i], s->normal[2][i]};
            s->towards[i] = shade_dot(normal, light.direction);
            s->lit[i] = 1.0f;
        }
        if (light.map >= 0 && task->shadows == MODAL_SHADOW_VSM) shade_lane_shadows(task, s, light.map);
        for (int i = 0; light.map >= 0 && task->shadows == MODAL_SHADOW_HARD && i < s->n; i++) {
            const float position[3] = {s->position[0][i], s->position[1][i], s->position[2][i]};
            if (s->towards[i] > 0.0f) s->lit[i] = shade_lit(task, light.map, position, s->towards[i]);
        }
        for (int i = 0; i < s->n; i++) {
            const float normal[3] = {s->normal[0][i], s->normal[1][i], s->normal[2][i]}, to_eye[3] = {s->to_eye[0][i], s->to_eye[1][i], s->to_eye[2][i]};
            const float mirrored = 2.0f * s->towards[i] * shade_dot(normal, to_eye) - shade_dot(light.direction, to_eye);
            s->u[i] = paint_limit(mirrored, 0.0f, 1.0f);
        }
        shade_lane_powers(s);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < s->n; i++) {
                const float more = s->colour[k][i] + s->lit[i] * light.colour[k] * (s->towards[i] * s->diffuse[k][i] + s->u[i] * s->specular[k][i]);
                s->colour[k][i] = s->towards[i] > 0.0f ? more : s->colour[k][i];
            }
    }
    for (int k = 0; k < 3; k++) {
        const float background = task->background[k];
        for (int i = 0; i < s->n; i++) {
            const float colour = s->triangle[i] == MODAL_RASTER_NONE ? background : s->colour[k][i], count = (float)s->count[i];
            s->diffuse[k][i] = count * colour;
            s->specular[k][i] = count * paint_limit(colour, 0.0f, 1.0f);
        }
    }
}

/* The lanes of a pixel, one a triangle that its samples see, in their order. middle: the mean of all samples. */
RASTER_INLINE void shade_lanes_of(const modal_shade_task *task, shade_lanes *s, int64_t pixel, float column, float row, int samples, const float middle[2])
{
    const uint64_t *keys = task->keys + pixel * samples;
    uint32_t differ = 0;
    for (int i = 1; i < samples; i++) differ |= (uint32_t)keys[i] ^ (uint32_t)keys[0];
    if (differ == 0) { /* most pixels */
        shade_lane(task, s, (uint32_t)keys[0], column + middle[0], row + middle[1], samples);
        return;
    }
    for (int i = 0; i < samples; i++) {
        const uint32_t t = (uint32_t)keys[i];
        unsigned set = 0;
        int count = 0;
        float mean[2];
        for (int j = 0; j < samples; j++) {
            const unsigned same = (uint32_t)keys[j] == t;
            set |= same << j;
            count += (int)same;
        }
        if (set & ((1u << i) - 1)) continue; /* with one of those before */
        shade_mean(set, samples, mean);
        shade_lane(task, s, t, column + mean[0], row + mean[1], count);
    }
}

/* shade_pixel's outputs; lanes [at, end) are the pixel's. */
RASTER_INLINE void shade_lanes_write(const modal_shade_task *task, const shade_lanes *s, int at, int end, int64_t pixel, int samples, float limited[3])
{
    const uint64_t key = task->keys[pixel * samples];
    const float share = 1.0f / (float)samples;
    const int there = key != MODAL_RASTER_EMPTY, seen = s->triangle[at] != MODAL_RASTER_NONE;
    float full[3] = {0.0f, 0.0f, 0.0f};
    limited[0] = limited[1] = limited[2] = 0.0f;
    for (int i = at; i < end; i++)
        for (int k = 0; k < 3; k++) {
            full[k] += s->diffuse[k][i];
            limited[k] += s->specular[k][i];
        }
    for (int k = 0; k < 3; k++) full[k] *= share, limited[k] *= share;
    if (task->triangle) task->triangle[pixel] = there ? (int32_t)(uint32_t)key : -1;
    if (task->object) task->object[pixel] = s->object[at];
    if (task->depth) task->depth[pixel] = there ? 1.0f / raster_key_depth(key) : 0.0f;
    for (int k = 0; k < 3; k++) {
        if (task->normal) task->normal[3 * pixel + k] = seen ? s->normal[k][at] : 0.0f;
        if (task->position) task->position[3 * pixel + k] = seen ? s->position[k][at] : 0.0f;
        if (task->colour) task->colour[3 * pixel + k] = full[k];
    }
}

/* Pixels [first, first + count), which have neither images nor layers; limited: [count, 3]. */
RASTER_INLINE void shade_plain(const modal_shade_task *task, const modal_raster_view *view, int64_t first, int64_t count, float *limited)
{
    shade_lanes s;
    const int samples = task->samples;
    int32_t lane_of[SHADE_LANES + 1], column = (int32_t)(first % task->width), row = (int32_t)(first / task->width);
    float middle[2];
    shade_mean((1u << samples) - 1, samples, middle);
    for (int64_t done = 0; done < count;) {
        int n = 0;
        s.n = 0;
        for (; done + n < count && s.n <= SHADE_LANES - samples; n++) {
            lane_of[n] = s.n;
            shade_lanes_of(task, &s, first + done + n, (float)column, (float)row, samples, middle);
            if (++column == task->width) column = 0, row++;
        }
        lane_of[n] = s.n;
        shade_lane_surfaces(&s, view);
        shade_lane_colours(task, &s);
        for (int i = 0; i < n; i++)
            shade_lanes_write(task, &s, lane_of[i], lane_of[i + 1], first + done + i, samples, limited + 3 * (done + i));
        done += n;
    }
}

#endif
