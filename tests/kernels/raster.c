/* SPDX-License-Identifier: Apache-2.0 */
/* Visibility against what must be: every sample of a surface without gaps is covered once, depths are those of the planes in double, and the
 * bytes are those of the reference. */
#include "kernels/raster/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "tests/kernels/raster_scene.h"

typedef struct picture {
    int width, height, samples;
    unsigned cull, skip;
    int depths; /* only these */
    unsigned test;
    raster_paint *paint; /* or NULL */
} picture;

/* What the back end draws of triangles [first, first + count): [height, width, samples] keys, or depths as bits. */
static uint64_t *draw(harness *h, const modal_raster_mesh *mesh, const modal_raster_view *view, const picture *p, int64_t first, int64_t count,
                      int here)
{
    modal_error err = {0};
    const int64_t n = (int64_t)p->width * p->height * p->samples, scratch_bytes = modal_raster_scratch_bytes(mesh->n_points + mesh->n_more, count);
    modal_raster_task task = {.mesh = *mesh, .width = p->width, .height = p->height, .samples = p->samples, .cull = p->cull, .skip = p->skip};
    modal_device host;
    task.test = p->test, task.blended_alpha = 0.5f;
    if (p->paint) task.paint = here ? raster_paint_here(p->paint) : raster_paint_there(h, p->paint);
    if (modal_device_open(&host, "ref", &err) != MODAL_OK) abort();
    const modal_device *device = here ? &host : h->device;
    modal_raster_view *at = NULL;
    uint64_t *got = harness_alloc(n, sizeof *got), *out = NULL;
    harness_ok(h, modal_device_alloc(device, &task.scratch, scratch_bytes, 1, "scratch", &err), &err);
    harness_ok(h, modal_device_alloc(device, &at, 1, sizeof *at, "view", &err), &err);
    harness_ok(h, modal_device_alloc(device, &out, n, sizeof *out, "keys", &err), &err);
    harness_ok(h, modal_device_copy_in(device, at, view, sizeof *at, here ? NULL : h->stream, &err), &err);
    harness_ok(h, modal_device_fill(device, out, 0x5a, n * 8, here ? NULL : h->stream, &err), &err);
    task.view = at;
    task.mesh.triangles += 3 * first, task.mesh.flags += first, task.mesh.n_triangles = count;
    if (p->depths)
        task.depths = (float *)out;
    else
        task.keys = out;
    harness_ok(h, device->kernels->raster(&task, here ? NULL : h->stream, &err), &err);
    memset(got, 0, (size_t)n * 8);
    harness_ok(h, modal_device_copy_out(device, got, out, n * (p->depths ? 4 : 8), here ? NULL : h->stream, &err), &err);
    harness_ok(h, modal_device_stream_wait(device, here ? NULL : h->stream, &err), &err);
    modal_device_free(device, &task.scratch);
    modal_device_free(device, &at);
    modal_device_free(device, &out);
    return got;
}

/* The reference's bytes. */
static void compare_reference(harness *h, const raster_scene *scene, const modal_raster_view *view, const picture *p)
{
    const modal_raster_mesh mesh = raster_scene_mesh(h, scene), here = raster_scene_here(scene);
    const int64_t n = (int64_t)p->width * p->height * p->samples;
    int64_t differ = 0;
    uint64_t *want = draw(h, &here, view, p, 0, scene->n_triangles, 1);
    for (int again = 0; again < 2; again++) { /* with other numbers of threads */
        uint64_t *got = draw(h, &mesh, view, p, 0, scene->n_triangles, 0);
        for (int64_t i = 0; i < n; i++) differ += got[i] != want[i];
        free(got);
    }
    if (differ) harness_fail(h, "%lld of %lld samples are not the reference's", (long long)differ, (long long)n);
    h->n_values += n;
    free(want);
}

/* Every triangle by itself: each sample is covered by one of them. */
static void cover_once(harness *h, const raster_scene *scene, const modal_raster_view *view, const picture *p)
{
    const modal_raster_mesh mesh = raster_scene_mesh(h, scene);
    const int64_t n = (int64_t)p->width * p->height * p->samples;
    int *times = harness_alloc(n, sizeof *times);
    int64_t bad[2] = {0, 0};
    memset(times, 0, (size_t)n * sizeof *times);
    for (int64_t t = 0; t < scene->n_triangles; t++) {
        uint64_t *got = draw(h, &mesh, view, p, t, 1, 0);
        for (int64_t i = 0; i < n; i++) times[i] += got[i] != MODAL_RASTER_EMPTY;
        free(got);
    }
    for (int64_t i = 0; i < n; i++) bad[times[i] > 0] += times[i] != 1;
    if (bad[0] || bad[1]) harness_fail(h, "%lld samples are not covered, %lld more than once", (long long)bad[0], (long long)bad[1]);
    h->n_values += n;
    free(times);
}

/* A grid around the picture whose points, but for the border's, are moved to multiples of 1/16 pixel: edges go through samples. */
static raster_scene moved_grid(harness *h, int n, double width, double height, double jitter)
{
    raster_scene s = raster_scene_new((n + 1) * (n + 1), 2 * n * n);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++) {
            const int inner = i > 0 && j > 0 && i < n && j < n;
            const double x = -8.0 + (width + 16.0) * j / n + (inner ? jitter * harness_random(h) : 0.0);
            const double y = -8.0 + (height + 16.0) * i / n + (inner ? jitter * harness_random(h) : 0.0);
            raster_scene_point(&s, floor(16.0 * x) / 16.0, floor(16.0 * y) / 16.0, 0.5 + 0.2 * harness_random(h));
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int32_t a = i * (n + 1) + j, b = a + 1, c = a + n + 2, d = a + n + 1;
            if ((i + j) % 2) {
                raster_scene_triangle(&s, a, b, c);
                raster_scene_triangle(&s, a, c, d);
            } else {
                raster_scene_triangle(&s, a, b, d);
                raster_scene_triangle(&s, b, c, d);
            }
        }
    return s;
}

/* A fan around a sample, its rim `reach` pixels away: slivers, and triangles that are cut. */
static raster_scene fan(harness *h, int n, double x, double y, double reach)
{
    raster_scene s = raster_scene_new(n + 1, n);
    raster_scene_point(&s, x, y, 0.5);
    for (int i = 0; i < n; i++) {
        const double a = 2.0 * M_PI * (i + 0.3 * harness_random(h)) / n;
        raster_scene_point(&s, x + reach * cos(a), y + reach * sin(a), 0.4);
    }
    for (int i = 0; i < n; i++) raster_scene_triangle(&s, 0, 1 + i, 1 + (i + 1) % n);
    return s;
}

/* A box from -1 to 1 around the eye: its sides reach behind, and are cut at the near plane. n x n quads a side. */
static raster_scene box(int n)
{
    raster_scene s = raster_scene_new(6 * (n + 1) * (n + 1), 12 * n * n);
    for (int side = 0; side < 6; side++) {
        const int32_t first = (int32_t)s.n_points;
        for (int i = 0; i <= n; i++)
            for (int j = 0; j <= n; j++) {
                double p[3];
                p[side / 2] = side % 2 ? 1.0 : -1.0;
                p[(side / 2 + 1) % 3] = -1.0 + 2.0 * i / n;
                p[(side / 2 + 2) % 3] = -1.0 + 2.0 * j / n;
                raster_scene_point(&s, p[0], p[1], p[2]);
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const int32_t a = first + i * (n + 1) + j, b = a + 1, c = a + n + 2, d = a + n + 1;
                raster_scene_triangle(&s, a, side % 2 ? d : b, c);
                raster_scene_triangle(&s, a, c, side % 2 ? b : d);
            }
    }
    return s;
}

/* Depths of the box, in double. A corner is moved by up to 1/512 pixel in x and y, which moves a plane's depth by no more than its slope
 * times that. */
static void check_box_depth(harness *h, const modal_raster_view *view, const picture *p, const uint64_t *keys)
{
    for (int64_t pixel = 0; pixel < (int64_t)p->width * p->height; pixel++) {
        static const int four[4][2] = {{96, 32}, {224, 96}, {32, 160}, {160, 224}};
        for (int i = 0; i < p->samples; i++) {
            const double x = (double)(pixel % p->width) + (p->samples == 1 ? 128 : four[i][0]) / 256.0;
            const double y = (double)(pixel / p->width) + (p->samples == 1 ? 128 : four[i][1]) / 256.0;
            double rows[3][3], d[3], best = 0.0, slope = 0.0, w = 0.0;
            for (int k = 0; k < 3; k++) { /* the ray through the sample: across both planes that hold it */
                rows[0][k] = (double)view->x[k] - x * (double)view->w[k];
                rows[1][k] = (double)view->y[k] - y * (double)view->w[k];
            }
            for (int k = 0; k < 3; k++)
                d[k] = rows[0][(k + 1) % 3] * rows[1][(k + 2) % 3] - rows[0][(k + 2) % 3] * rows[1][(k + 1) % 3];
            for (int k = 0; k < 3; k++) w += d[k] * (double)view->w[k];
            for (int k = 0; k < 3; k++) d[k] /= w; /* a unit along the view */
            double most = 0.0;
            for (int k = 0; k < 3; k++) /* 1 / distance: the largest of the planes' */
                for (int side = -1; side <= 1; side += 2) best = fmax(best, d[k] / (side - (double)view->origin[k]));
            for (int k = 0; k < 3; k++) most = fmax(most, 1.0 / (1.0 - fabs((double)view->origin[k])));
            slope = most * (1.0 + 1.0) / (double)p->height;
            uint32_t bits = ~(uint32_t)(keys[pixel * p->samples + i] >> 32);
            float got;
            memcpy(&got, &bits, sizeof got);
            harness_compare(h, "depth", pixel, got, best, slope * 2.0 / 512.0 + 2e-6 * most / (double)view->near_w);
        }
    }
}

/* Triangles of all sizes, inside and outside of the picture. */
static raster_scene soup(harness *h, int n, double width, double height)
{
    raster_scene s = raster_scene_new(3 * n, n);
    for (int i = 0; i < n; i++) {
        const double other = pow(2.0, 6.0 * harness_random(h) + (i % 40 == 0 ? 8.0 : 0.0)), size = i % 40 == 20 ? 120.0 : other;
        const double x = width * (0.5 + 0.7 * harness_random(h));
        const double y = height * (0.5 + 0.7 * harness_random(h));
        for (int k = 0; k < 3; k++)
            raster_scene_point(&s, x + size * harness_random(h), y + size * harness_random(h), 0.5 + 0.4 * harness_random(h));
        raster_scene_triangle(&s, 3 * i, 3 * i + 1, 3 * i + 2);
        s.flags[i] = (uint8_t)((i / 7) % 8);
    }
    return s;
}

static void check_flags(harness *h)
{
    const modal_raster_view view = raster_scene_flat();
    raster_scene s = raster_scene_new(12, 4);
    harness_case(h, "fronts, backs, equal depths, what is not finite");
    for (int i = 0; i < 3; i++) {
        raster_scene_point(&s, 1, 1, 0.5);
        raster_scene_point(&s, 1, 7, 0.5); /* y is down: against the clock */
        raster_scene_point(&s, 7, 1, 0.5);
    }
    raster_scene_triangle(&s, 0, 2, 1); /* its back */
    raster_scene_triangle(&s, 3, 4, 5);
    raster_scene_triangle(&s, 6, 7, 8);
    raster_scene_triangle(&s, 9, 10, 11);
    raster_scene_point(&s, NAN, 1, 0.9);
    raster_scene_point(&s, 1, 7, 0.9);
    raster_scene_point(&s, 7, 1, 0.9);
    s.flags[0] = MODAL_RASTER_ONE_SIDED;
    s.flags[2] = MODAL_RASTER_NO_SHADOW;
    const modal_raster_mesh mesh = raster_scene_mesh(h, &s);
    const struct {
        unsigned cull, skip;
        int64_t first, count;
        uint32_t want;
    } cases[] = {{0, 0, 0, 4, 0},
                 {MODAL_RASTER_ONE_SIDED, 0, 0, 4, 1},
                 {MODAL_RASTER_CLOSED, 0, 0, 4, 0},
                 {0, MODAL_RASTER_NO_SHADOW, 2, 1, MODAL_RASTER_NONE},
                 {0, 0, 2, 1, 0},
                 {0, 0, 3, 1, MODAL_RASTER_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const picture p = {8, 8, 1, cases[i].cull, cases[i].skip, 0};
        uint64_t *got = draw(h, &mesh, &view, &p, cases[i].first, cases[i].count, 0);
        if ((uint32_t)got[2 * 8 + 2] != cases[i].want)
            harness_fail(h, "case %d: triangle %u, not %u", (int)i, (uint32_t)got[2 * 8 + 2], cases[i].want);
        if (got[7 * 8 + 7] != MODAL_RASTER_EMPTY) harness_fail(h, "case %d: a sample outside", (int)i);
        h->n_values++;
        free(got);
    }
    raster_scene_free(&s);
}

/* A square of 64 x 64 pixels with an image of 4 x 4 texels: what is there is known of each pixel that is not next to a texel's border. */
static void check_cutout(harness *h)
{
    const modal_raster_view view = raster_scene_flat();
    harness_case(h, "a cut-out's pixels");
    raster_scene s = raster_scene_new(4, 2);
    for (int i = 0; i < 4; i++) raster_scene_point(&s, i == 1 || i == 2 ? 64 : 0, i >= 2 ? 64 : 0, 0.5);
    raster_scene_triangle(&s, 0, 1, 2);
    raster_scene_triangle(&s, 0, 2, 3);
    raster_paint paint = raster_paint_new(h, &s);
    const picture p = {64, 64, 1, 0, 0, 0, MODAL_RASTER_CUTOUT, &paint};
    for (int64_t t = 0; t < 2; t++) {
        paint.triangle_materials[t] = 2, s.flags[t] = MODAL_RASTER_CUTOUT;
        for (int k = 0; k < 3; k++) {
            const int32_t corner = s.triangles[3 * t + k];
            paint.triangle_uv[3 * t + k] = (int32_t)(3 * t + k);
            paint.uv[2 * (3 * t + k)] = s.points[3 * corner] / 64, paint.uv[2 * (3 * t + k) + 1] = 1 - s.points[3 * corner + 1] / 64;
        }
    }
    paint.levels[0] = (modal_paint_level){0, 4, 4}, paint.images[0] = (modal_paint_image){0, 1};
    for (int i = 0; i < 16; i++) paint.texels[i][3] = (i * 7 % 5) % 2 ? 255 : 0;
    const modal_raster_mesh mesh = raster_scene_mesh(h, &s);
    uint64_t *got = draw(h, &mesh, &view, &p, 0, 2, 0);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
            /* between the middles of two texels alpha is linear: it is 0.4 where 0.4 of the way is gone */
            const double u = fmin(fmax((x + 0.5) / 16 - 0.5, 0), 3), v = fmin(fmax((63.5 - y) / 16 - 0.5, 0), 3);
            const int left = (int)fmin(u, 2), low = (int)fmin(v, 2);
            double alpha = 0.0;
            for (int k = 0; k < 4; k++)
                alpha += fabs(1 - (k & 1) - (u - left)) * fabs(1 - (k >> 1) - (v - low)) * paint.texels[4 * (low + (k >> 1)) + left + (k & 1)][3] / 255.0;
            const int there = got[64 * y + x] != MODAL_RASTER_EMPTY;
            if (fabs(alpha - 0.4) > 1e-4 && there != (alpha >= 0.4)) harness_fail(h, "pixel %d %d: %d where alpha is %g", x, y, there, alpha);
            h->n_values++;
        }
    free(got);
    raster_paint_free(&paint);
    raster_scene_free(&s);
}

static void run(harness *h)
{
    static const int all_samples[] = {1, 4, 8};
    const modal_raster_view flat = raster_scene_flat();
    check_flags(h);
    for (int k = 0; k < 3; k++) {
        const picture p = {37, 41, all_samples[k], 0, 0, 0};
        harness_case(h, "grid, %d samples", p.samples);
        raster_scene s = moved_grid(h, h->quick ? 5 : 9, p.width, p.height, 1.4);
        cover_once(h, &s, &flat, &p);
        raster_scene_free(&s);
        for (int far = 0; far < 3; far++) {
            harness_case(h, "fan, %d samples, reach %d", p.samples, far);
            s = fan(h, 29, 18.5, 20.5, far == 0 ? 60.0 : far == 1 ? 1e5 : 5e6);
            cover_once(h, &s, &flat, &p);
            raster_scene_free(&s);
        }
    }
    for (int k = 0; k < 4; k++) {
        const double eye[3] = {0.3 * k, 0.2 - 0.1 * k, 0.1}, target[3] = {0.9, 0.5 * k - 0.4, 0.3 * k - 0.5};
        const picture p = {64, 48, k % 2 ? 4 : 1, 0, 0, 0};
        const modal_raster_view view = raster_scene_view(eye, target, k == 3 ? 2.2 : 1.0, p.width, p.height, 0.01);
        harness_case(h, "inside a box, eye %d", k);
        raster_scene s = box(k == 0 ? 1 : h->quick ? 2 : 3);
        const modal_raster_mesh mesh = raster_scene_mesh(h, &s);
        cover_once(h, &s, &view, &p);
        uint64_t *keys = draw(h, &mesh, &view, &p, 0, s.n_triangles, 0);
        check_box_depth(h, &view, &p, keys);
        free(keys);
        compare_reference(h, &s, &view, &p);
        raster_scene_free(&s);
    }
    static const int sizes[][2] = {{1, 1}, {31, 33}, {300, 200}, {641, 97}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 4; k++) {
            const picture p = {sizes[i][0], sizes[i][1], k == 3 ? 1 : all_samples[k], k % 2 ? MODAL_RASTER_ONE_SIDED : 0,
                               k == 2 ? MODAL_RASTER_NO_SHADOW : 0, k == 3};
            harness_case(h, "soup, %d x %d, %d samples%s", p.width, p.height, p.samples, p.depths ? ", depths" : "");
            raster_scene s = soup(h, h->quick ? 300 : 1500, p.width, p.height);
            compare_reference(h, &s, &flat, &p);
            raster_scene_free(&s);
        }
    for (int k = 0; k < 3; k++) {
        const double eye[3] = {1.6, -2.3, 0.9}, target[3] = {0, 0, -0.1};
        const picture p = {480, 270, all_samples[k], MODAL_RASTER_ONE_SIDED, 0, 0};
        const modal_raster_view view = raster_scene_view(eye, target, 0.8, p.width, p.height, 0.05);
        harness_case(h, "torus, %d samples", p.samples);
        raster_scene s = raster_scene_torus(h->quick ? 60 : 200);
        memset(s.flags, MODAL_RASTER_ONE_SIDED, (size_t)s.n_triangles);
        raster_scene_ground(&s, 1000.0, -0.5);
        compare_reference(h, &s, &view, &p);
        raster_scene_free(&s);
    }
    for (int k = 0; k < 6; k++) {
        const double eye[3] = {1.6, -2.3, 0.9}, target[3] = {0, 0, -0.1};
        picture p = {240, 136, all_samples[k % 3], 0, k == 2 ? MODAL_RASTER_ABSENT : 0, k % 3 == 0 && k > 0,
                     MODAL_RASTER_CUTOUT | (k % 2 ? MODAL_RASTER_BLEND : 0), NULL};
        const modal_raster_view view = raster_scene_view(eye, target, 0.8, p.width, p.height, k < 3 ? 0.05 : 1.7);
        harness_case(h, "cut out, %d samples, %d", p.samples, k);
        raster_scene s = raster_scene_torus(h->quick ? 20 : 60);
        raster_scene_ground(&s, 100.0, -0.5);
        raster_paint paint = raster_paint_new(h, &s);
        if (k % 2) raster_paint_add_solids(h, &s, &paint);
        p.paint = &paint;
        compare_reference(h, &s, &view, &p);
        raster_paint_free(&paint);
        raster_scene_free(&s);
    }
    check_cutout(h);
    harness_case(h, "nothing");
    raster_scene none = raster_scene_new(1, 1);
    const picture p = {16, 16, 4, 0, 0, 0};
    compare_reference(h, &none, &flat, &p);
    raster_scene_free(&none);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "raster", run); }
