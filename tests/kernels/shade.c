/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a torus on a ground: the reference's bytes; positions, normals and Phong's colours beside a ray and a sum in double. */
#include "kernels/shade/shade.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/layers/layers.h"
#include "kernels/shade/shade_math.h"
#include "kernels/shadow_blur/shadow_blur.h"
#include "tests/kernels/raster_scene.h"

enum { WIDTH = 200, HEIGHT = 120, PIXELS = WIDTH * HEIGHT, SHADOW = 128, LIGHTS = 3, MATERIALS = 4, OUTPUTS = 9 };

static const float materials[MATERIALS][16] = {
    {0.3f, 0.2f, 0.1f, 1, 0.6f, 0.5f, 0.35f, 1, 0.5f, 0.5f, 0.4f, 40, 0.5f, 0, 1, 0},
    {0.1f, 0.1f, 0.1f, 1, 0.2f, 0.5f, 0.9f, 1, 0.0f, 0.0f, 0.0f, 20, 0.5f, 0, 0, 0},
    {0.5f, 0.5f, 0.5f, 1, 0.5f, 0.5f, 0.5f, 1, 1.0f, 1.0f, 1.0f, 0, 0.5f, 0, 1, 0},
    {0.0f, 0.0f, 0.0f, 1, 0.9f, 0.1f, 0.1f, 1, 0.7f, 0.7f, 0.7f, 3000, 0.5f, 0, 0, 0},
};
static const int floats_of[OUTPUTS] = {1, 3, 1, 1, 1, 3, 3, 2, 2}; /* a pixel: picture, colour, triangle, object, depth, normal, position, deep, motion */

/* Arrays in one memory. */
typedef struct inputs {
    modal_raster_mesh mesh;
    const float *normals, *more_normals, *materials, *tints, *points_before;
    const int32_t *triangle_materials, *object_triangles;
    const modal_shade_light *lights;
    modal_raster_view *views; /* the camera's, the lights', the camera's of the frame before */
    const raster_paint *painted; /* NULL: materials only */
    modal_paint paint;
    const int32_t *triangle_normals; /* or NULL */
    uint64_t *keys;
    float *depths, *moments, *between;
    void *scratch;
    int again; /* parts are shaded once more with layers that do not fit: nothing is written */
} inputs;

static void set_outputs(modal_shade_task *task, float *const out[OUTPUTS])
{
    task->picture = (uint8_t *)out[0];
    task->colour = out[1];
    task->triangle = (int32_t *)out[2];
    task->object = (int32_t *)out[3];
    task->depth = out[4];
    task->normal = out[5];
    task->position = out[6];
    task->deep = (uint16_t *)out[7];
    task->motion = out[8];
}

/* Visibility, two maps, shading. */
static void draw(harness *h, const modal_device *device, const inputs *in, int samples, modal_shadow_kind kind, float *const out[OUTPUTS],
                 modal_stream *stream, modal_shade_task *used, uint64_t sources[MODAL_SHADE_SOURCES])
{
    modal_error err = {0};
    const modal_kernels *kernels = device->kernels;
    const unsigned tests = in->painted ? MODAL_RASTER_CUTOUT : 0, blended = in->painted ? MODAL_RASTER_BLEND : 0;
    const int64_t capacity = 20 * (int64_t)PIXELS * samples;
    const modal_raster_task seen = {.skip = blended, .test = tests, .paint = in->paint,
                                    .mesh = in->mesh, .view = in->views, .width = WIDTH, .height = HEIGHT, .samples = samples, .keys = in->keys,
                                    .scratch = in->scratch, .cull = MODAL_RASTER_ONE_SIDED};
    harness_ok(h, kernels->raster(&seen, stream, &err), &err);
    for (int map = 0; map < 2; map++) {
        float *depths = in->depths + map * SHADOW * SHADOW;
        const modal_raster_task near = {.test = tests | blended, .paint = in->paint, .blended_alpha = 0.5f,
                                        .mesh = in->mesh, .view = in->views + 1 + map, .width = SHADOW, .height = SHADOW, .samples = 1,
                                        .depths = depths, .scratch = in->scratch};
        modal_shadow_blur_task blur = {.size = SHADOW, .radius = 1, .weights = {0.25f, 0.5f, 0.25f}, .depths = depths,
                                       .moments = in->moments + map * 2 * SHADOW * SHADOW, .scratch = in->between};
        harness_ok(h, kernels->raster(&near, stream, &err), &err);
        harness_ok(h, kernels->shadow_blur(&blur, stream, &err), &err);
    }
    modal_shade_task task = {.mesh = in->mesh, .normals = in->normals, .more_normals = in->more_normals,
                             .paint = in->paint, .triangle_normals = in->triangle_normals, .n_objects = 3,
                             .object_triangles = in->object_triangles, .tints = in->tints, .view = in->views, .width = WIDTH, .height = HEIGHT,
                             .samples = samples, .keys = in->keys, .n_lights = LIGHTS, .lights = in->lights, .ambient = {0.3f, 0.3f, 0.4f},
                             .background = {0.7f, 0.8f, 1.2f}, .shadows = kind, .shadow_size = SHADOW, .shadow_views = in->views + 1,
                             .maps = kind == MODAL_SHADOW_HARD ? in->depths : in->moments, .bleeding = 0.2f, .shadow_border = 2,
                             .points_before = in->points_before, .view_before = in->views + 3};
    modal_layers_task layers = {.mesh = in->mesh, .view = in->views, .width = WIDTH, .height = HEIGHT, .samples = samples, .cull = seen.cull,
                                .only = MODAL_RASTER_BLEND, .keys = in->keys, .paint = in->paint, .capacity = capacity};
    const int parts = in->painted ? 3 : 1;
    set_outputs(&task, out);
    memset(sources, 0, MODAL_SHADE_SOURCES * sizeof *sources);
    harness_ok(h, modal_device_alloc(device, &task.sources, MODAL_SHADE_SOURCES, sizeof *task.sources, "sources", &err), &err);
    harness_ok(h, modal_device_copy_in(device, task.sources, sources, MODAL_SHADE_SOURCES * sizeof *sources, stream, &err), &err);
    if (in->painted) {
        harness_ok(h, modal_device_alloc(device, &layers.layers, (int64_t)PIXELS * samples + 1, 4, "layers", &err), &err);
        harness_ok(h, modal_device_alloc(device, &layers.fragments, capacity, 8, "layers", &err), &err);
        harness_ok(h, modal_device_alloc(device, &layers.needed, 1, 8, "layers", &err), &err);
        harness_ok(h, modal_device_alloc(device, &layers.scratch, modal_layers_scratch_bytes(in->mesh.n_points + 4, in->mesh.n_triangles, PIXELS * samples), 1,
                                         "layers", &err), &err);
        harness_ok(h, modal_device_alloc(device, &task.layer_scratch, modal_shade_layer_bytes(capacity), 1, "layers", &err), &err);
        task.layers = layers.layers, task.fragments = layers.fragments;
    }
    for (int i = 0; i < parts; i++) { /* layers by parts of the rows */
        if (in->painted) {
            int64_t needed = 0;
            task.first_row = layers.first_row = HEIGHT * i / parts;
            task.end_row = layers.end_row = HEIGHT * (i + 1) / parts;
            harness_ok(h, kernels->layers(&layers, stream, &err), &err);
            harness_ok(h, modal_device_copy_out(device, &needed, layers.needed, 8, stream, &err), &err);
            harness_ok(h, modal_device_stream_wait(device, stream, &err), &err);
            if (needed > capacity || needed == 0) harness_fail(h, "%lld layers", (long long)needed);
        }
        harness_ok(h, kernels->shade(&task, stream, &err), &err);
        if (!in->painted || !in->again) continue;
        modal_shade_task none = task;
        none.n_needed = layers.needed, none.layer_capacity = 0, none.background[0] = -1.0f, none.ambient[0] = 2.0f;
        harness_ok(h, kernels->shade(&none, stream, &err), &err);
        none = task, none.n_needed = layers.needed, none.layer_capacity = capacity, none.sources = NULL;
        harness_ok(h, kernels->shade(&none, stream, &err), &err);
    }
    harness_ok(h, modal_device_stream_wait(device, stream, &err), &err);
    harness_ok(h, modal_device_copy_out(device, sources, task.sources, MODAL_SHADE_SOURCES * sizeof *sources, stream, &err), &err);
    harness_ok(h, modal_device_stream_wait(device, stream, &err), &err);
    modal_device_free(device, &task.sources);
    modal_device_free(device, &layers.layers), modal_device_free(device, &layers.fragments);
    modal_device_free(device, &layers.needed), modal_device_free(device, &layers.scratch);
    modal_device_free(device, &task.layer_scratch);
    task.layers = NULL, task.fragments = NULL;
    *used = task;
}

/* Phong's sum; *steep: how much of the colour a change of the normal makes; *nearest: of the terminators, where a highlight of exponent 0
 * begins, |n.l|. */
static void phong(const modal_shade_task *task, int32_t t, int32_t object, const double normal[3], const double eye[3], double want[3], double *steep,
                  double *nearest)
{
    const float *m = task->paint.materials + 16 * task->paint.triangle_materials[t];
    double tint[3];
    *steep = 0.0, *nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        tint[k] = object >= 0 ? (double)task->tints[3 * object + k] : 1.0;
        want[k] = (double)task->ambient[k] * (double)m[k] * tint[k];
    }
    for (int i = 0; i < LIGHTS; i++) {
        const modal_shade_light *l = &task->lights[i];
        double nl = 0.0, nv = 0.0, lv = 0.0;
        for (int k = 0; k < 3; k++)
            nl += normal[k] * (double)l->direction[k], nv += normal[k] * eye[k], lv += (double)l->direction[k] * eye[k];
        const double highlight = pow(fmin(fmax(2.0 * nl * nv - lv, 0.0), 1.0), (double)m[11]);
        *steep += 3.0 + 4.0 * (double)m[11];
        *nearest = fmin(*nearest, fabs(nl));
        for (int k = 0; k < 3 && nl > 0.0; k++)
            want[k] += (double)l->colour[k] * (nl * (double)m[4 + k] * tint[k] + highlight * (double)m[8 + k]);
    }
}

/* Where a point is seen, in double. */
static void project(const modal_raster_view *v, const double p[3], double to[2])
{
    double x = (double)v->x[3], y = (double)v->y[3], w = (double)v->w[3];
    for (int k = 0; k < 3; k++) {
        const double d = p[k] - (double)v->origin[k];
        x += (double)v->x[k] * d, y += (double)v->y[k] * d, w += (double)v->w[k] * d;
    }
    to[0] = x / w, to[1] = y / w;
}

/* The place's share of the corners is `w`, in all 1: less where it was seen. */
static void check_motion(harness *h, const modal_shade_task *task, int64_t pixel, const double w[3], const float *got)
{
    double then[3] = {0, 0, 0}, seen[2];
    const int32_t *corners = task->mesh.triangles + 3 * task->triangle[pixel];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            then[k] += w[i] * (double)(corners[i] < task->mesh.n_points ? task->points_before + 3 * corners[i] : raster_point_of(&task->mesh, corners[i]))[k];
    project(task->view_before, then, seen);
    harness_compare(h, "motion", 2 * pixel, got[2 * pixel], (double)(pixel % WIDTH) + 0.5 - seen[0], 1.0 / 256.0);
    harness_compare(h, "motion", 2 * pixel + 1, got[2 * pixel + 1], (double)(pixel / WIDTH) + 0.5 - seen[1], 1.0 / 256.0);
}

/* One sample a pixel, no shadows: the ray in double. What its triangle's corners are taken from is that of `task`, in main memory. */
static void check_oracle(harness *h, const modal_shade_task *task, float *const out[OUTPUTS])
{
    for (int64_t pixel = 0; pixel < PIXELS; pixel += 3) {
        const int32_t t = task->triangle[pixel];
        if (t < 0) {
            for (int k = 0; k < 3; k++) harness_compare(h, "background", pixel, out[1][3 * pixel + k], (double)task->background[k], 1e-6);
            continue;
        }
        double corner[3][3], edge[2][3], d[3], s[3], w[3], position[3], normal[3], eye[3], want[3], length = 0.0, normal_length = 0.0;
        const double x = (double)(pixel % WIDTH) + 0.5, y = (double)(pixel / WIDTH) + 0.5;
        const float *normals[3];
        for (int i = 0; i < 3; i++) {
            const int32_t v = task->mesh.triangles[3 * t + i];
            normals[i] = v < task->mesh.n_points ? task->normals + 3 * v : task->more_normals + 3 * (v - task->mesh.n_points);
            for (int k = 0; k < 3; k++)
                corner[i][k] = (double)raster_point_of(&task->mesh, v)[k] - (double)task->view->origin[k];
        }
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            d[k] = ((double)task->view->x[a] - x * (double)task->view->w[a]) * ((double)task->view->y[b] - y * (double)task->view->w[b]) -
                   ((double)task->view->x[b] - x * (double)task->view->w[b]) * ((double)task->view->y[a] - y * (double)task->view->w[a]);
            edge[0][k] = corner[1][k] - corner[0][k], edge[1][k] = corner[2][k] - corner[0][k];
        }
        double det = 0.0, along = 0.0; /* the ray meets the plane at `along` d: Cramer's rule */
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            s[k] = edge[0][a] * edge[1][b] - edge[0][b] * edge[1][a];
            det += s[k] * d[k], along += s[k] * corner[0][k];
        }
        along /= det;
        double sum = 0.0;
        for (int i = 0; i < 3; i++) { /* weights: volumes of the ray with the edges across */
            const double *p = corner[(i + 1) % 3], *q = corner[(i + 2) % 3];
            w[i] = 0.0;
            for (int k = 0; k < 3; k++) w[i] += d[k] * (p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3]);
            sum += w[i];
        }
        int inside = 1;
        for (int i = 0; i < 3; i++) inside &= w[i] / sum > 0.02;
        if (!inside) continue; /* at its border weights are limited */
        for (int i = 0; i < 3; i++) w[i] /= sum;
        check_motion(h, task, pixel, w, out[8]);
        for (int k = 0; k < 3; k++) {
            position[k] = along * d[k] + (double)task->view->origin[k];
            normal[k] = w[0] * (double)normals[0][k] + w[1] * (double)normals[1][k] + w[2] * (double)normals[2][k];
            normal_length += normal[k] * normal[k];
            eye[k] = (double)task->view->origin[k] - position[k];
            length += eye[k] * eye[k];
        }
        /* d points along w or against it: what decides is the side of the plane where the eye is */
        double towards_eye = 0.0;
        for (int k = 0; k < 3; k++) towards_eye -= s[k] * corner[0][k];
        const double side = task->paint.materials[16 * task->paint.triangle_materials[t] + 14] != 0.0f && towards_eye < 0.0 ? -1.0 : 1.0;
        for (int k = 0; k < 3; k++) normal[k] *= side / sqrt(normal_length), eye[k] /= sqrt(length);
        double steep, nearest;
        phong(task, t, task->object[pixel], normal, eye, want, &steep, &nearest);
        for (int k = 0; k < 3; k++) {
            harness_compare(h, "position", 3 * pixel + k, out[6][3 * pixel + k], position[k], 2e-4);
            harness_compare(h, "normal", 3 * pixel + k, out[5][3 * pixel + k], normal[k], 1e-3);
            if (nearest > 2e-3) harness_compare(h, "colour", 3 * pixel + k, out[1][3 * pixel + k], want[k], 2e-5 * steep + 1e-4);
        }
    }
}

static void check_functions(harness *h)
{
    static const float exponents[] = {0.0f, 0.416666667f, 1.0f, 20.0f, 1000.0f, 10000.0f};
    harness_case(h, "powers, sRGB");
    for (int i = 0; i <= 2000; i++)
        for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
            const float x = i < 100 ? (float)i * 1e-6f : (float)(i - 100) / 1900.0f, e = exponents[k];
            const double right = pow((double)x, (double)e);
            const double digits = x > 0.0f ? fabs((double)e * log2((double)x)) : 0.0;
            harness_compare(h, "power", i, shade_power(x, e), right, 1e-6 * (1.0 + digits / 4.0) * right + 0x1p-125 * (right > 0.0));
        }
    for (int i = 0; i < 256; i++) { /* the middle of each code */
        const double c = i / 255.0, linear = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
        if (shade_srgb((float)linear) != i) harness_fail(h, "sRGB %d became %d", i, shade_srgb((float)linear));
        h->n_values++;
    }
    for (int i = 0; i <= 65535; i += i < 3000 ? 1 : 61) {
        const double linear = (double)(float)(i / 65535.0), code = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
        harness_compare(h, "16 bits", i, (float)shade_deep((float)linear), 65535.0 * code, 0.65);
    }
}

/* The arrays of main memory in the back end's. */
static inputs upload(harness *h, const inputs *here, const raster_scene *s, int64_t scratch_bytes, int samples)
{
    inputs there = {.mesh = raster_scene_mesh(h, s), .normals = harness_input(h, s->normals, 12 * s->n_points, 0),
                    .more_normals = harness_input(h, s->more_normals, 12 * s->n_more, 0),
                    .materials = harness_input(h, materials, sizeof materials, 0), .tints = harness_input(h, here->tints, 36, 0),
                    .triangle_materials = harness_input(h, here->triangle_materials, 4 * s->n_triangles, 0),
                    .object_triangles = harness_input(h, here->object_triangles, 16, 0),
                    .lights = harness_input(h, here->lights, LIGHTS * sizeof *here->lights, 0)};
    there.painted = here->painted, there.again = 1;
    there.paint = here->painted ? raster_paint_there(h, here->painted)
                                : (modal_paint){.materials = there.materials, .triangle_materials = there.triangle_materials};
    if (here->triangle_normals) there.triangle_normals = harness_input(h, here->triangle_normals, 12 * s->n_triangles, 0);
    there.points_before = harness_input(h, here->points_before, 12 * s->n_points, 0);
    there.views = (modal_raster_view *)(uintptr_t)harness_input(h, here->views, 4 * sizeof *here->views, 0);
    there.keys = (uint64_t *)(uintptr_t)harness_input(h, here->keys, (int64_t)PIXELS * samples * 8, 0);
    there.scratch = (void *)(uintptr_t)harness_input(h, here->scratch, scratch_bytes, 0);
    there.depths = harness_new_output(h, 2 * SHADOW * SHADOW, 0, NULL)->device;
    there.moments = harness_new_output(h, 4 * SHADOW * SHADOW, 0, NULL)->device;
    there.between = harness_new_output(h, 2 * SHADOW * SHADOW, 0, NULL)->device;
    return there;
}

static void check(harness *h, const inputs *arrays, const raster_scene *s, int samples, modal_shadow_kind kind)
{
    modal_error err = {0};
    modal_device host;
    inputs here = *arrays;
    const int64_t scratch_bytes = modal_raster_scratch_bytes(s->n_points + s->n_more, s->n_triangles);
    if (modal_device_open(&host, "ref", &err) != MODAL_OK) abort();
    harness_case(h, "%d samples, shadows %d%s", samples, kind, here.painted ? ", images and layers" : here.triangle_normals ? ", normals of corners" : "");
    here.keys = harness_alloc((int64_t)PIXELS * samples, 8), here.scratch = harness_alloc(scratch_bytes, 1);
    here.depths = harness_alloc(2 * SHADOW * SHADOW, 4), here.moments = harness_alloc(4 * SHADOW * SHADOW, 4);
    here.between = harness_alloc(2 * SHADOW * SHADOW, 4);
    const inputs there = upload(h, &here, s, scratch_bytes, samples);
    float *want[OUTPUTS], *got[OUTPUTS];
    harness_output *outputs[OUTPUTS];
    for (int i = 0; i < OUTPUTS; i++) {
        want[i] = harness_alloc((int64_t)PIXELS * floats_of[i], 4);
        outputs[i] = harness_new_output(h, (int64_t)PIXELS * floats_of[i], 0, NULL);
        got[i] = outputs[i]->device;
    }
    modal_shade_task task, used;
    uint64_t sources[2][MODAL_SHADE_SOURCES];
    draw(h, &host, &here, samples, kind, want, NULL, &task, sources[0]);
    draw(h, h->device, &there, samples, kind, got, h->stream, &used, sources[1]);
    for (int i = 0; i < MODAL_SHADE_SOURCES; i++) {
        if (sources[0][i] != sources[1][i]) harness_fail(h, "%lld samples of source %d, not %lld", (long long)sources[1][i], i, (long long)sources[0][i]);
        if ((sources[0][i] > 100) != (here.paint.solids != NULL)) harness_fail(h, "source %d: %lld samples", i, (long long)sources[0][i]);
        h->n_values++;
    }
    harness_fetch(h);
    for (int i = 0; i < OUTPUTS; i++) {
        int64_t differ = 0;
        for (int64_t k = 0; k < (int64_t)PIXELS * floats_of[i]; k++) differ += memcmp(outputs[i]->host + k, want[i] + k, 4) != 0;
        if (differ) harness_fail(h, "output %d: %lld numbers are not the reference's", i, (long long)differ);
        h->n_values += (int64_t)PIXELS * floats_of[i];
        got[i] = outputs[i]->host;
    }
    if (samples == 1 && kind == MODAL_SHADOW_NONE && !here.painted) check_oracle(h, &task, got);
    for (int i = 0; i < OUTPUTS; i++) free(want[i]);
    free(here.keys), free(here.scratch), free(here.depths), free(here.moments), free(here.between);
}

/* A parallel view along a light, its rows across it. */
static modal_raster_view light_view(const float l[3])
{
    const double length = sqrt((double)l[0] * (double)l[0] + (double)l[1] * (double)l[1]), scale = SHADOW / 4.5;
    const double right[3] = {-(double)l[1] / length, (double)l[0] / length, 0.0};
    modal_raster_view v = {.w = {0, 0, 0, 1}, .near_w = 0.5f};
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        v.x[k] = (float)(scale * right[k]);
        v.y[k] = (float)(scale * ((double)l[a] * right[b] - (double)l[b] * right[a]));
        v.depth[k] = l[k] * 0.2f;
    }
    v.x[3] = v.y[3] = SHADOW / 2.0f, v.depth[3] = 0.5f;
    return v;
}

static void run(harness *h)
{
    check_functions(h);
    raster_scene s = raster_scene_torus(h->quick ? 40 : 90);
    const int64_t torus = s.n_triangles;
    raster_scene_ground(&s, 5.0, -0.6);
    int32_t *of = harness_alloc(s.n_triangles, sizeof *of), object_triangles[4] = {0, (int32_t)torus / 3, (int32_t)torus / 2, (int32_t)torus};
    for (int64_t t = 0; t < s.n_triangles; t++) {
        of[t] = t >= torus ? 1 : (int32_t)(t * 5 / torus) % MATERIALS;
        s.flags[t] = t % 7 == 0 ? MODAL_RASTER_ONE_SIDED : 0;
    }
    const float tints[9] = {1, 1, 1, 1.2f, 0.5f, 0.8f, 0.3f, 1, 1};
    const modal_shade_light lights[LIGHTS] = {{{0.37460632f, 0.22476379f, 0.89954f}, {0.8f, 0.8f, 0.7f}, 0},
                                              {{-0.6f, -0.48f, 0.64f}, {0.2f, 0.3f, 0.3f}, 1},
                                              {{0.0f, -1.0f, 0.0f}, {0.2f, 0.0f, 0.1f}, -1}};
    const double eye[3] = {1.6, -2.3, 1.4}, target[3] = {0.1, 0, -0.1};
    float *before = harness_alloc(3 * s.n_points, sizeof *before);
    for (int64_t i = 0; i < s.n_points; i++) /* bent, and a little aside */
        for (int k = 0; k < 3; k++) before[3 * i + k] = s.points[3 * i + k] + (k == 0 ? 0.05f * s.points[3 * i + 2] + 0.03f : k == 2 ? -0.02f : 0.0f);
    const double eye_before[3] = {1.62, -2.3, 1.38};
    modal_raster_view views[4] = {raster_scene_view(eye, target, 0.9, WIDTH, HEIGHT, 0.05), light_view(lights[0].direction),
                                  light_view(lights[1].direction), raster_scene_view(eye_before, target, 0.9, WIDTH, HEIGHT, 0.05)};
    const inputs here = {.mesh = raster_scene_here(&s), .normals = s.normals, .more_normals = s.more_normals, .materials = materials[0],
                         .tints = tints, .triangle_materials = of, .object_triangles = object_triangles,
                         .paint = {.materials = materials[0], .triangle_materials = of}, .lights = lights, .views = views,
                         .points_before = before};
    for (int samples = 1; samples <= 8; samples = samples == 1 ? 4 : 2 * samples)
        for (int kind = 0; kind < 3; kind++) check(h, &here, &s, samples, (modal_shadow_kind)kind);
    /* corners say which normal they have: the same ones as their points */
    inputs corners = here;
    corners.triangle_normals = s.triangles;
    check(h, &corners, &s, 1, MODAL_SHADOW_NONE);
    raster_paint paint = raster_paint_new(h, &s);
    inputs painted = here;
    painted.mesh = raster_scene_here(&s), painted.painted = &paint, painted.paint = raster_paint_here(&paint);
    for (int samples = 1; samples <= 8; samples = samples == 1 ? 4 : 2 * samples) check(h, &painted, &s, samples, MODAL_SHADOW_VSM);
    raster_paint_add_solids(h, &s, &paint);
    painted.paint = raster_paint_here(&paint);
    for (int samples = 1; samples <= 8; samples = samples == 1 ? 4 : 2 * samples) check(h, &painted, &s, samples, MODAL_SHADOW_NONE);
    raster_paint_free(&paint);
    free(of), free(before);
    raster_scene_free(&s);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "shade", run); }
