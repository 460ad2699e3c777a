/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of things whose pictures are known: a sphere's outline, highlight and shadow, the penumbra of a straight edge, light that leaks
 * between two occluders, layers in every order, images, a fitted camera. Drawn
 * by the operations of the CPU, which kernels/raster and kernels/shade hold to the others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/layers/layers.h"
#include "kernels/shade/shade_math.h"
#include "kernels/shadow_blur/shadow_blur.h"
#include "kernels/shadow_view/shadow_view.h"
#include "lib/render/camera.h"
#include "lib/texture/mips.h"
#include "tests/kernels/raster_scene.h"

enum { SIDE = 800, MAP = 1024 };

/* One light, one material, a camera; what comes out. */
typedef struct drawing {
    raster_scene scene;
    modal_raster_view view, map_view;
    int samples, radius;
    double bleeding;
    modal_shade_light light;
    float material[16], ambient;
    uint64_t *keys;
    float *colour, *position;
} drawing;

static void draw(drawing *d)
{
    modal_error err = {0};
    const modal_raster_mesh mesh = raster_scene_here(&d->scene);
    const int64_t pixels = (int64_t)SIDE * SIDE, texels = (int64_t)MAP * MAP;
    void *scratch = harness_alloc(modal_raster_scratch_bytes(mesh.n_points + mesh.n_more, mesh.n_triangles), 1);
    float *depths = harness_alloc(texels, 4), *moments = harness_alloc(2 * texels, 4), *between = harness_alloc(2 * texels, 4);
    float box[MODAL_SHADOW_VIEW_SCRATCH];
    int32_t *materials = calloc((size_t)mesh.n_triangles, sizeof *materials), objects[2] = {0, 0};
    const float tint[3] = {1, 1, 1};
    d->keys = harness_alloc(pixels * d->samples, 8);
    d->colour = harness_alloc(3 * pixels, 4), d->position = harness_alloc(3 * pixels, 4);
    double along[3], any[3] = {0, 0, 0}, right[3], up[3], ahead[3];
    for (int k = 0; k < 3; k++) along[k] = -(double)d->light.direction[k];
    any[fabs(along[2]) < 0.9 ? 2 : 1] = 1.0;
    modal_render_axes(along, any, right, up, ahead);
    modal_shadow_view_task fit = {.n_points = mesh.n_points, .points = mesh.points, .size = MAP, .margin = 2 * (d->radius + 1),
                                  .view = &d->map_view, .scratch = box};
    for (int k = 0; k < 3; k++) fit.right[k] = (float)right[k], fit.up[k] = (float)up[k], fit.along[k] = (float)ahead[k];
    assert_int_equal(modal_shadow_view_cpu(&fit, NULL, &err), MODAL_OK);
    modal_raster_task raster = {.mesh = mesh, .view = &d->map_view, .width = MAP, .height = MAP, .samples = 1,
                                .depths = depths, .scratch = scratch};
    assert_int_equal(modal_raster_cpu(&raster, NULL, &err), MODAL_OK);
    modal_shadow_blur_task blur = {.size = MAP, .radius = d->radius, .depths = depths, .moments = moments, .scratch = between};
    for (int i = 0; i <= 2 * d->radius; i++) blur.weights[i] = 1.0f / (float)(2 * d->radius + 1);
    assert_int_equal(modal_shadow_blur_cpu(&blur, NULL, &err), MODAL_OK);
    raster = (modal_raster_task){.mesh = mesh, .view = &d->view, .width = SIDE, .height = SIDE, .samples = d->samples, .keys = d->keys,
                                  .scratch = scratch};
    assert_int_equal(modal_raster_cpu(&raster, NULL, &err), MODAL_OK);
    const modal_shade_task shade = {
        .mesh = mesh, .normals = d->scene.normals, .more_normals = d->scene.more_normals, .paint = {.triangle_materials = materials, .materials = d->material},
        .object_triangles = objects, .tints = tint, .view = &d->view, .width = SIDE, .height = SIDE, .samples = d->samples, .keys = d->keys,
        .n_lights = 1, .lights = &d->light, .ambient = {d->ambient, d->ambient, d->ambient}, .shadows = MODAL_SHADOW_VSM, .shadow_size = MAP,
        .shadow_views = &d->map_view, .maps = moments, .shadow_border = d->radius + 1, .bleeding = (float)d->bleeding,
        .colour = d->colour, .position = d->position};
    assert_int_equal(modal_shade_cpu(&shade, NULL, &err), MODAL_OK);
    free(scratch), free(depths), free(moments), free(between), free(materials);
}

static void drop(drawing *d)
{
    raster_scene_free(&d->scene);
    free(d->keys), free(d->colour), free(d->position);
}

/* Of radius 1 around (0, 0, z); its outline is as round as n sides make it. */
static raster_scene sphere(int n, double z)
{
    raster_scene s = raster_scene_new((int64_t)(n / 2 + 1) * n, (int64_t)n * n + 2);
    for (int i = 0; i <= n / 2; i++)
        for (int j = 0; j < n; j++) {
            const double a = M_PI * i / (n / 2), b = 2.0 * M_PI * j / n;
            float *normal = s.normals + 3 * s.n_points;
            const double p[3] = {sin(a) * cos(b), sin(a) * sin(b), cos(a)};
            for (int k = 0; k < 3; k++) normal[k] = (float)p[k];
            raster_scene_point(&s, p[0], p[1], p[2] + z);
        }
    for (int i = 0; i < n / 2; i++)
        for (int j = 0; j < n; j++) {
            const int32_t a = i * n + j, b = (i + 1) * n + j, c = (i + 1) * n + (j + 1) % n, d = i * n + (j + 1) % n;
            raster_scene_triangle(&s, a, b, c);
            raster_scene_triangle(&s, a, c, d);
        }
    return s;
}

/* pi f^2 R^2 / (d^2 - R^2) pixels. */
static void test_outline(void **state)
{
    (void)state;
    const double eye[3] = {0, -3, 0}, target[3] = {0, 0, 0}, focal = SIDE / 2.0 / tan(0.5);
    drawing d = {.scene = sphere(720, 0.0), .samples = 8, .view = raster_scene_view(eye, target, 1.0, SIDE, SIDE, 0.01),
                 .light = {{0, -1, 0}, {1, 1, 1}, 0}};
    draw(&d);
    double area = 0.0;
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE * d.samples; i++) area += d.keys[i] != MODAL_RASTER_EMPTY;
    area /= d.samples;
    const double want = M_PI * focal * focal / (9.0 - 1.0);
    assert_true(fabs(area / want - 1.0) <= 5e-4);
    drop(&d);
}

/* The brightest place is where the normal halves the angle between light and eye. */
static void test_highlight(void **state)
{
    (void)state;
    const double eye[3] = {0.7, -4, 0.5}, target[3] = {0, 0, 0}, light[3] = {0.48, -0.6, 0.64};
    drawing d = {.scene = sphere(720, 0.0), .samples = 1, .view = raster_scene_view(eye, target, 0.8, SIDE, SIDE, 0.01),
                 .light = {{0.48f, -0.6f, 0.64f}, {1, 1, 1}, -1}, .material = {[8] = 1, [9] = 1, [10] = 1, [11] = 400}};
    double n[3] = {0, -1, 0}, seen[2] = {0, 0}, weight = 0.0, most = 0.0;
    draw(&d);
    for (int again = 0; again < 200; again++) { /* n = (l + v) / |l + v|, v of the point n */
        double v[3], length = 0.0, sum = 0.0;
        for (int k = 0; k < 3; k++) v[k] = eye[k] - n[k], length += v[k] * v[k];
        for (int k = 0; k < 3; k++) n[k] = light[k] + v[k] / sqrt(length);
        for (int k = 0; k < 3; k++) sum += n[k] * n[k];
        for (int k = 0; k < 3; k++) n[k] /= sqrt(sum);
    }
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++) most = fmax(most, (double)d.colour[3 * i]);
    assert_true(most > 0.99 && most <= 1.0001);
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++)
        if ((double)d.colour[3 * i] > 0.9 * most) {
            seen[0] += (double)(i % SIDE) + 0.5, seen[1] += (double)(i / SIDE) + 0.5;
            weight += 1.0;
        }
    const float at[3] = {(float)n[0], (float)n[1], (float)n[2]};
    const raster_clip want = raster_view_point(&d.view, at);
    assert_true(weight > 10.0);
    assert_true(fabs(seen[0] / weight - (double)(want.x / want.w)) <= 0.5);
    assert_true(fabs(seen[1] / weight - (double)(want.y / want.w)) <= 0.5);
    drop(&d);
}

/* Inside of the cylinder around the light through the sphere's centre it is dark: on the plane an ellipse of R and R / |n.l|. */
static void test_shadow(void **state)
{
    (void)state;
    const double eye[3] = {0, -7, 6}, target[3] = {0.8, 0.5, 0}, light[3] = {-0.48, -0.36, 0.8};
    for (int leak = 0; leak < 2; leak++) {
        drawing d = {.scene = sphere(512, 1.3), .samples = 1, .radius = 2, .bleeding = 0.2 * leak, .ambient = 0.0f,
                     .view = raster_scene_view(eye, target, 0.8, SIDE, SIDE, 0.01), .light = {{-0.48f, -0.36f, 0.8f}, {1, 1, 1}, 0},
                     .material = {[4] = 1, [5] = 1, [6] = 1}};
        raster_scene_ground(&d.scene, 20.0, 0.0);
            draw(&d);
        const double texel = 2.0 / (MAP - 4 * (d.radius + 1));
        int64_t dark = 0, bright = 0, wrong = 0;
        for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++) {
            if ((int64_t)(uint32_t)d.keys[i] < d.scene.n_triangles - 2 || d.keys[i] == MODAL_RASTER_EMPTY) continue;
            double p[3], along = 0.0, square = 0.0;
            for (int k = 0; k < 3; k++) p[k] = (double)d.position[3 * i + k] - (k == 2 ? 1.3 : 0.0), along += p[k] * light[k];
            for (int k = 0; k < 3; k++) square += p[k] * p[k];
            const double from_edge = sqrt(square - along * along) - 1.0, lit = (double)d.colour[3 * i] / 0.8;
            dark += lit < 0.01, bright += lit > 0.999;
            wrong += fabs(from_edge) > texel && (lit < 0.5) != (from_edge < 0.0);
        }
        assert_true(dark > 5000 && bright > 50000);
        assert_int_equal(wrong, 0);
        drop(&d);
    }
}

/* A square above a plane, light from above: across its edge light grows as the filter's sum does. */
static void test_penumbra(void **state)
{
    (void)state;
    const double eye[3] = {4, -0.02, 6}, target[3] = {1, 0, 0};
    drawing d = {.scene = raster_scene_new(4, 4), .samples = 1, .radius = 16, .view = raster_scene_view(eye, target, 0.4, SIDE, SIDE, 0.01),
                 .light = {{0, 0, 1}, {1, 1, 1}, 0}, .material = {[4] = 1, [5] = 1, [6] = 1}};
    for (int i = 0; i < 4; i++) raster_scene_point(&d.scene, i == 1 || i == 2 ? 1 : -1, i >= 2 ? 1 : -1, 1.0 + (i == 0 ? 0.5 : 0.0));
    raster_scene_triangle(&d.scene, 0, 1, 2);
    raster_scene_triangle(&d.scene, 0, 2, 3);
    raster_scene_ground(&d.scene, 20.0, 0.0);
    draw(&d);
    int64_t seen = 0, wrong = 0;
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++) {
        const float *p = d.position + 3 * i;
        if (p[2] > 0.001f || d.keys[i] == MODAL_RASTER_EMPTY || fabsf(p[1]) > 0.3f || p[0] < 0.5f) continue;
        /* texels of the map are covered up to the edge x = 1; both the filter and the look between texels are sums */
        const float edge[3] = {1, p[1], 0};
        const double at = (double)raster_view_point(&d.map_view, p).x - 0.5, end = (double)raster_view_point(&d.map_view, edge).x;
        const double left = floor(at), part = at - left;
        double covered = 0.0;
        for (int k = 0; k < 2; k++)
            for (int j = -d.radius; j <= d.radius; j++)
                covered += (k ? part : 1.0 - part) * (left + k + j + 0.5 < end) / (2 * d.radius + 1);
        const double lit = (double)d.colour[3 * i];
        seen += covered > 0.01 && covered < 0.99;
        wrong += !(fabs(lit - (1.0 - covered)) <= 1.0 / 255.0);
    }
    assert_true(seen > 200);
    assert_int_equal(wrong, 0);
    drop(&d);
}

/* Occluders at d1 (share w) and d2 before t: var = w (1 - w) (d2 - d1)^2; reduction takes the light away from (t - mu)^2 = var (1 - l) / l on. */
static void test_bleeding(void **state)
{
    (void)state;
    const double d1 = 0.9, d2 = 0.6;
    int dark = 0, leaks = 0;
    for (int i = 1; i < 20; i++)
        for (int j = 0; j < 10; j++)
            for (int reduced = 0; reduced < 2; reduced++) {
                const double w = i / 20.0, t = 0.05 * j, mu = w * d1 + (1 - w) * d2, square = w * d1 * d1 + (1 - w) * d2 * d2, l = 0.2 * reduced;
                const float map[2] = {(float)mu, (float)square}, position[3] = {0.5f, 0.5f, (float)t};
                modal_raster_view view = raster_scene_flat();
                const modal_shade_task task = {.shadows = MODAL_SHADOW_VSM, .shadow_size = 1, .shadow_views = &view, .maps = map, .bleeding = (float)l};
                const double var = w * (1 - w) * (d2 - d1) * (d2 - d1), lit = var / (var + (t - mu) * (t - mu));
                const double got = (double)shade_lit(&task, 0, position, 1.0f), want = fmax((lit - l) / (1 - l), 0.0);
                assert_true(fabs(got - want) <= 1e-4);
                if (reduced && (t - mu) * (t - mu) >= 1.0001 * var * (1 - l) / l) {
                    assert_true(got == 0.0);
                    dark++;
                }
                leaks += !reduced && got > 0.05;
            }
    assert_true(dark > 20 && leaks > 20);
}

/* Every corner of every box is in the picture, and one of them is near its edge. */
static void test_fitted_camera(void **state)
{
    (void)state;
    double boxes[3][6] = {{-1, 2, 0, 1, 3, 4}, {4, 5, -2, 7, -1, 0}, {INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY}};
    const modal_look_camera camera = {.fitted = 1, .direction = {0.3, 1, -0.5}, .up = {0.1, 0, 1}, .fov = 0.7};
    modal_render_bounds bounds = {.n = 3, .boxes = boxes};
    modal_render_axes(camera.direction, camera.up, bounds.right, bounds.up, bounds.ahead);
    for (int wide = 0; wide < 2; wide++) {
        const int width = wide ? 900 : 300, height = 400;
        const modal_raster_view v = modal_render_view(&camera, 0.0, &bounds, width, height);
        double margin = INFINITY;
        for (int i = 0; i < 16; i++) {
            const double *box = boxes[i / 8];
            float p[3] = {0, 0, 0};
            for (int k = 0; k < 3; k++)
                p[k] = (float)(bounds.right[k] * box[i & 1] + bounds.up[k] * box[2 + (i >> 1 & 1)] + bounds.ahead[k] * box[4 + (i >> 2 & 1)]);
            const raster_clip c = raster_view_point(&v, p);
            const double x = (double)(c.x / c.w), y = (double)(c.y / c.w);
            assert_true(c.w > v.near_w);
            margin = fmin(margin, fmin(fmin(x, width - x) / width, fmin(y, height - y) / height));
        }
        assert_true(margin > 0.0 && margin < 0.05);
    }
}

/* ---- what is seen through, images ---- */

/* Squares of `side` pixels with a material each, lit from everywhere; colour [side, side, 3]. Those of an alpha are layers. */
static void draw_plain(const raster_scene *s, const modal_raster_view *view, const modal_paint *paint, int side, int samples, const float background[3],
                       float *colour)
{
    modal_error err = {0};
    const int64_t n = (int64_t)side * side * samples, most = 20 * n;
    const modal_raster_mesh mesh = raster_scene_here(s);
    void *scratch = harness_alloc(modal_layers_scratch_bytes(mesh.n_points + mesh.n_more, mesh.n_triangles, n), 1);
    uint64_t *keys = harness_alloc(n, 8), *fragments = harness_alloc(most, 8);
    int32_t *first = harness_alloc(n + 1, 4), objects[2] = {0, 0};
    int64_t needed = 0;
    const float tint[3] = {1, 1, 1};
    const modal_raster_task raster = {.mesh = mesh, .view = view, .width = side, .height = side, .samples = samples, .skip = MODAL_RASTER_BLEND,
                                      .keys = keys, .scratch = scratch};
    assert_int_equal(modal_raster_cpu(&raster, NULL, &err), MODAL_OK);
    const modal_layers_task layers = {.mesh = mesh, .view = view, .width = side, .height = side, .samples = samples, .only = MODAL_RASTER_BLEND,
                                      .keys = keys, .paint = *paint, .end_row = side, .capacity = most, .layers = first, .fragments = fragments,
                                      .needed = &needed, .scratch = scratch};
    assert_int_equal(modal_layers_cpu(&layers, NULL, &err), MODAL_OK);
    assert_true(needed <= most);
    const modal_shade_task shade = {.mesh = mesh, .normals = s->normals, .more_normals = s->more_normals, .paint = *paint, .object_triangles = objects,
                                    .tints = tint, .view = view, .width = side, .height = side, .end_row = side,
                                    .samples = samples, .keys = keys, .layers = first,
                                    .fragments = fragments, .ambient = {1, 1, 1}, .background = {background[0], background[1], background[2]},
                                    .colour = colour};
    assert_int_equal(modal_shade_cpu(&shade, NULL, &err), MODAL_OK);
    free(scratch), free(keys), free(fragments), free(first);
}

/* Next permutation in lexicographic order; 0: that was the last. */
static int permute(int *order, int n)
{
    int i = n - 2, k = n - 1;
    while (i >= 0 && order[i] > order[i + 1]) i--;
    if (i < 0) return 0;
    while (order[k] < order[i]) k--;
    const int kept = order[i];
    order[i] = order[k], order[k] = kept;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        const int other = order[a];
        order[a] = order[b], order[b] = other;
    }
    return 1;
}

/* Front to back: C += A a c, A *= 1 - a, of up to 16 layers, drawn in all orders (of up to 5) and in some of the many others. */
static void test_layers(void **state)
{
    (void)state;
    const modal_raster_view view = raster_scene_flat();
    const float background[3] = {0.9f, 0.2f, 0.4f};
    int64_t cases = 0;
    for (int n = 1; n <= 16; n++) {
        float materials[16][16] = {{0}}, colour[8 * 8 * 3];
        int order[16];
        double want[3] = {0, 0, 0}, left = 1.0;
        for (int i = 0; i < n; i++) { /* layer 0 is the nearest */
            float *m = materials[i];
            m[0] = (float)(0.5 + 0.5 * sin(3.0 * i)), m[1] = (float)(0.5 + 0.5 * cos(5.0 * i)), m[2] = (float)(i % 3) / 2.0f;
            m[3] = i % 7 == 3 ? 1.0f : (float)(0.05 + 0.9 * fmod(0.37 * i, 1.0)), m[13] = 2.0f;
            for (int k = 0; k < 3; k++) want[k] += left * (double)m[3] * (double)m[k];
            left *= 1.0 - (double)m[3];
            order[i] = i;
        }
        for (int k = 0; k < 3; k++) want[k] += left * (double)background[k];
        for (int more = 1, tries = 0; more && tries < (n <= 5 ? 120 : 40); tries++) {
            raster_scene s = raster_scene_new(4 * n, 2 * n);
            int32_t of[32], images[32];
            for (int i = 0; i < n; i++) { /* order[i] is drawn i-th */
                for (int c = 0; c < 4; c++) raster_scene_point(&s, c == 1 || c == 2 ? 8 : 0, c >= 2 ? 8 : 0, 0.9 - 0.05 * order[i]);
                raster_scene_triangle(&s, 4 * i, 4 * i + 1, 4 * i + 2);
                raster_scene_triangle(&s, 4 * i, 4 * i + 2, 4 * i + 3);
                s.flags[2 * i] = s.flags[2 * i + 1] = MODAL_RASTER_BLEND;
                of[2 * i] = of[2 * i + 1] = order[i];
                images[2 * i] = images[2 * i + 1] = -1;
            }
            const modal_paint paint = {.materials = materials[0], .triangle_materials = of, .material_images = images};
            draw_plain(&s, &view, &paint, 8, tries % 3 == 0 ? 1 : tries % 3 == 1 ? 4 : 8, background, colour);
            for (int i = 0; i < 8 * 8 * 3; i++) assert_true(fabs((double)colour[i] - want[i % 3]) <= 1.0 / 255.0 / 100.0);
            cases++;
            raster_scene_free(&s);
            if (n <= 5) {
                more = permute(order, n);
            } else { /* turned and shuffled by a step that has no factor in common with n + 1 */
                for (int i = n - 1; i > 0; i--) {
                    const int k = (i * 7 + tries * 13) % (i + 1), kept = order[i];
                    order[i] = order[k], order[k] = kept;
                }
            }
        }
    }
    assert_int_equal(cases, 1 + 2 + 6 + 24 + 120 + 11 * 40);
}

/* An image and its levels. */
static void image_levels(modal_mip_role role, int side, uint8_t *texels, modal_paint_image *image, modal_paint_level *levels)
{
    int32_t widths[MODAL_MIP_LEVELS], heights[MODAL_MIP_LEVELS];
    modal_error err = {0};
    int64_t at = 0;
    assert_int_equal(modal_mip_make(role, -1.0, side, side, texels, &err), MODAL_OK);
    *image = (modal_paint_image){0, modal_mip_sizes(side, side, widths, heights)};
    for (int i = 0; i < image->n_levels; i++) {
        levels[i] = (modal_paint_level){at, widths[i], heights[i]};
        at += (int64_t)widths[i] * heights[i];
    }
}

/* A plane of 200 x 200 fields, black and white, seen to the horizon: half of the light, whatever the size of a field in the picture. */
static void test_checkerboard(void **state)
{
    (void)state;
    enum { FIELDS = 64, PICTURE = 256 };
    const double eye[3] = {0, -50, 1.5}, target[3] = {0, 0, -0.8};
    const modal_raster_view view = raster_scene_view(eye, target, 0.3, PICTURE, PICTURE, 0.01);
    const float background[3] = {0, 0, 0}, material[16] = {1, 1, 1, 1}, uv[8] = {-50, -50, 50, -50, 50, 50, -50, 50};
    const int32_t of[2] = {0, 0}, images[2] = {0, -1}, triangle_uv[6] = {0, 1, 2, 0, 2, 3};
    uint8_t *texels = harness_alloc(modal_mip_bytes(FIELDS, FIELDS), 1);
    float *colour = harness_alloc(PICTURE * PICTURE * 3, 4), linear[256];
    modal_paint_image image;
    modal_paint_level levels[MODAL_MIP_LEVELS];
    for (int i = 0; i < FIELDS * FIELDS; i++) {
        for (int k = 0; k < 3; k++) texels[4 * i + k] = (i % FIELDS / 16 + i / FIELDS / 16) % 2 ? 255 : 0;
        texels[4 * i + 3] = 255;
    }
    for (int i = 0; i < 256; i++) linear[i] = modal_srgb_to_linear((uint8_t)i);
    image_levels(MODAL_MIP_COLOURS, FIELDS, texels, &image, levels);
    raster_scene s = raster_scene_new(4, 2);
    for (int i = 0; i < 4; i++) raster_scene_point(&s, i == 1 || i == 2 ? 40 : -40, i >= 2 ? 40 : -40, 0);
    raster_scene_triangle(&s, 0, 1, 2);
    raster_scene_triangle(&s, 0, 2, 3);
    const modal_paint paint = {material, of, images, &image, levels, texels, linear, uv, triangle_uv};
    draw_plain(&s, &view, &paint, PICTURE, 4, background, colour);
    double sum = 0.0, spread = 0.0;
    int64_t n = 0;
    for (int y = 0; y < PICTURE; y++)
        for (int x = 8; x < PICTURE - 8; x++) {
            /* rows that the plane fills: from its far edge at 90 m to its near one at 10 m */
            const float p[3] = {0, 39.5f, 0}, q[3] = {0, -39.5f, 0};
            const raster_clip far = raster_view_point(&view, p), near = raster_view_point(&view, q);
            if (y <= far.y / far.w + 1 || y >= near.y / near.w - 1) continue;
            const double c = (double)colour[3 * (y * PICTURE + x)];
            sum += c, spread += fabs(c - 0.5), n++;
        }
    assert_true(n > 2000);
    assert_true(fabs(sum / (double)n - 0.5) <= 0.005);
    assert_true(spread / (double)n < 0.4); /* far fields are grey */
    raster_scene_free(&s);
    free(texels), free(colour);
}

/* A sphere with an image of normals that are all (0, 0, 1) is the sphere; with one that leans along v it is another. */
static void test_flat_normals(void **state)
{
    (void)state;
    enum { PICTURE = 96 };
    const double eye[3] = {0.7, -4, 0.5}, target[3] = {0, 0, 0};
    const modal_raster_view view = raster_scene_view(eye, target, 0.8, PICTURE, PICTURE, 0.01);
    const modal_shade_light light = {{0.48f, -0.6f, 0.64f}, {1, 1, 1}, -1};
    raster_scene s = sphere(40, 0.0);
    const int64_t n = s.n_triangles;
    const float material[16] = {0.1f, 0.1f, 0.1f, 1, 0.6f, 0.6f, 0.6f, 1, 0.5f, 0.5f, 0.5f, 30}, tint[3] = {1, 1, 1};
    int32_t *of = calloc((size_t)n, 4), *triangle_uv = harness_alloc(3 * n, 4), objects[2] = {0, 0};
    float *uv = harness_alloc(6 * n, 4), linear[256] = {0}, *colours[3], *normals[3];
    uint64_t *keys = harness_alloc(PICTURE * PICTURE, 8);
    void *scratch = harness_alloc(modal_raster_scratch_bytes(s.n_points, n), 1);
    modal_error err = {0};
    for (int64_t t = 0; t < n; t++)
        for (int64_t k = 3 * t; k < 3 * t + 3; k++) { /* u around the axis, v up */
            const float *p = s.points + 3 * s.triangles[k], *q = s.points + 3 * s.triangles[3 * t + 1];
            double angle = atan2((double)p[1], (double)p[0]) - atan2((double)q[1], (double)q[0]);
            if (angle > M_PI) angle -= 2 * M_PI;
            if (angle < -M_PI) angle += 2 * M_PI;
            uv[2 * k] = (float)((angle + atan2((double)q[1], (double)q[0])) / 2 / M_PI), uv[2 * k + 1] = p[2];
            triangle_uv[k] = (int32_t)k;
        }
    const modal_raster_task raster = {.mesh = raster_scene_here(&s), .view = &view, .width = PICTURE, .height = PICTURE, .samples = 1, .keys = keys,
                                      .scratch = scratch};
    assert_int_equal(modal_raster_cpu(&raster, NULL, &err), MODAL_OK);
    for (int i = 0; i < 3; i++) {
        uint8_t texels[64];
        modal_paint_image image;
        modal_paint_level levels[MODAL_MIP_LEVELS];
        const int32_t images[2] = {-1, i > 0 ? 0 : -1};
        for (int k = 0; k < 4; k++) memcpy(texels + 4 * k, i == 2 ? "\x80\xbf\xee\xff" : "\x80\x80\xff\xff", 4);
        image_levels(MODAL_MIP_NORMALS, 2, texels, &image, levels);
        colours[i] = harness_alloc(PICTURE * PICTURE * 3, 4), normals[i] = harness_alloc(PICTURE * PICTURE * 3, 4);
        const modal_shade_task shade = {.mesh = raster_scene_here(&s), .normals = s.normals, .more_normals = s.more_normals,
                                        .paint = {material, of, images, &image, levels, texels, linear, uv, triangle_uv}, .object_triangles = objects,
                                        .tints = tint, .view = &view, .width = PICTURE, .height = PICTURE, .samples = 1, .keys = keys, .n_lights = 1,
                                        .lights = &light, .ambient = {1, 1, 1}, .colour = colours[i], .normal = normals[i]};
        assert_int_equal(modal_shade_cpu(&shade, NULL, &err), MODAL_OK);
    }
    int64_t leaning = 0;
    for (int i = 0; i < PICTURE * PICTURE; i++) {
        const float *flat = normals[1] + 3 * i, *lean = normals[2] + 3 * i, *plain = normals[0] + 3 * i;
        if (keys[i] == MODAL_RASTER_EMPTY) continue;
        for (int k = 0; k < 3; k++) assert_true(fabsf(flat[k] - plain[k]) <= 1e-6f);
        for (int k = 0; k < 3; k++) assert_true(fabsf(colours[0][3 * i + k] - colours[1][3 * i + k]) <= 1e-4f);
        if (fabsf(plain[2]) > 0.9f) continue;
        /* green 191: half along growing v, which is up along the meridian */
        const double along = sqrt(1.0 - (double)plain[2] * (double)plain[2]);
        assert_true(fabs((double)(lean[2] - plain[2] * (lean[0] * plain[0] + lean[1] * plain[1] + lean[2] * plain[2])) - 0.5 * along) <= 0.03);
        leaning++;
    }
    assert_true(leaning > 1000);
    for (int i = 0; i < 3; i++) free(colours[i]), free(normals[i]);
    free(of), free(triangle_uv), free(uv), free(keys), free(scratch);
    raster_scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outline),  cmocka_unit_test(test_highlight), cmocka_unit_test(test_shadow),
        cmocka_unit_test(test_penumbra), cmocka_unit_test(test_bleeding),  cmocka_unit_test(test_fitted_camera),
        cmocka_unit_test(test_layers),   cmocka_unit_test(test_checkerboard), cmocka_unit_test(test_flat_normals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
