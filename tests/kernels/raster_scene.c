/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/raster_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

raster_scene raster_scene_new(int64_t most_points, int64_t most_triangles)
{
    raster_scene s = {.most_points = most_points, .most_triangles = most_triangles};
    s.points = harness_alloc(3 * most_points, sizeof(float));
    s.normals = harness_alloc(3 * most_points, sizeof(float));
    s.triangles = harness_alloc(3 * most_triangles, sizeof(int32_t));
    s.flags = harness_alloc(most_triangles, 1);
    memset(s.flags, 0, (size_t)most_triangles);
    memset(s.normals, 0, (size_t)most_points * 3 * sizeof(float));
    return s;
}

void raster_scene_free(raster_scene *s)
{
    free(s->points), free(s->normals), free(s->triangles), free(s->flags);
}

int32_t raster_scene_point(raster_scene *s, double x, double y, double z)
{
    if (s->n_points == s->most_points) abort();
    float *p = s->points + 3 * s->n_points;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return (int32_t)s->n_points++;
}

void raster_scene_triangle(raster_scene *s, int32_t a, int32_t b, int32_t c)
{
    if (s->n_triangles == s->most_triangles) abort();
    int32_t *t = s->triangles + 3 * s->n_triangles++;
    t[0] = a, t[1] = b, t[2] = c;
}

raster_scene raster_scene_torus(int n)
{
    raster_scene s = raster_scene_new((int64_t)n * n, 2 * (int64_t)n * n + 2);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double a = 2.0 * M_PI * i / n, b = 2.0 * M_PI * j / n, r = 0.4 + 0.03 * sin(9.0 * a) * cos(7.0 * b);
            float *normal = s.normals + 3 * s.n_points;
            normal[0] = (float)(cos(b) * cos(a)), normal[1] = (float)(cos(b) * sin(a)), normal[2] = (float)sin(b);
            raster_scene_point(&s, (1.0 + r * cos(b)) * cos(a), (1.0 + r * cos(b)) * sin(a), r * sin(b));
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int32_t a = i * n + j, b = (i + 1) % n * n + j, c = (i + 1) % n * n + (j + 1) % n, d = i * n + (j + 1) % n;
            raster_scene_triangle(&s, a, b, c);
            raster_scene_triangle(&s, a, c, d);
        }
    return s;
}

void raster_scene_ground(raster_scene *s, double half, double z)
{
    const int32_t n = (int32_t)s->n_points;
    for (int i = 0; i < 4; i++) {
        const double p[3] = {i == 1 || i == 2 ? half : -half, i >= 2 ? half : -half, z};
        for (int k = 0; k < 3; k++) s->more[3 * i + k] = (float)p[k], s->more_normals[3 * i + k] = k == 2 ? 1.0f : 0.0f;
    }
    s->n_more = 4;
    raster_scene_triangle(s, n, n + 1, n + 2);
    raster_scene_triangle(s, n, n + 2, n + 3);
}

modal_raster_mesh raster_scene_here(const raster_scene *s)
{
    return (modal_raster_mesh){s->n_points, s->n_more, s->n_triangles, s->points, s->more, s->triangles, s->flags};
}

modal_raster_mesh raster_scene_mesh(harness *h, const raster_scene *s)
{
    modal_raster_mesh m = raster_scene_here(s);
    m.points = harness_input(h, s->points, s->n_points * 12, 0);
    m.more = harness_input(h, s->more, s->n_more * 12, 0);
    m.triangles = harness_input(h, s->triangles, s->n_triangles * 12, 0);
    m.flags = harness_input(h, s->flags, s->n_triangles, 0);
    return m;
}

modal_raster_view raster_scene_flat(void)
{
    return (modal_raster_view){.x = {1, 0, 0, 0}, .y = {0, 1, 0, 0}, .w = {0, 0, 0, 1}, .depth = {0, 0, 1, 0}, .near_w = 0.5f};
}

static void unit(double a[3])
{
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) a[k] /= length;
}

modal_raster_view raster_scene_view(const double eye[3], const double target[3], double fov, int width, int height, double near_w)
{
    modal_raster_view v = {.depth = {0, 0, 0, 1}, .near_w = (float)near_w};
    double ahead[3], right[3], up[3];
    for (int k = 0; k < 3; k++) ahead[k] = target[k] - eye[k], v.origin[k] = (float)eye[k];
    unit(ahead);
    right[0] = ahead[1], right[1] = -ahead[0], right[2] = 0.0;
    unit(right);
    for (int k = 0; k < 3; k++)
        up[k] = right[(k + 1) % 3] * ahead[(k + 2) % 3] - right[(k + 2) % 3] * ahead[(k + 1) % 3];
    const double focal = height / 2.0 / tan(fov / 2.0);
    for (int k = 0; k < 3; k++) {
        v.x[k] = (float)(focal * right[k] + width / 2.0 * ahead[k]);
        v.y[k] = (float)(-focal * up[k] + height / 2.0 * ahead[k]);
        v.w[k] = (float)ahead[k];
    }
    return v;
}

raster_paint raster_paint_new(harness *h, raster_scene *scene)
{
    static const float materials[RASTER_PAINT_MATERIALS][MODAL_SHADE_MATERIAL] = {
        {0.3f, 0.2f, 0.1f, 1, 0.6f, 0.5f, 0.35f, 1, 0.5f, 0.5f, 0.4f, 40, 0.5f, 0, 1, 0},
        {0.1f, 0.1f, 0.1f, 1, 0.9f, 0.8f, 0.9f, 1, 0.2f, 0.2f, 0.2f, 20, 0.5f, 0, 0, 0},
        {0.5f, 0.5f, 0.5f, 1, 0.5f, 0.5f, 0.5f, 1, 0.0f, 0.0f, 0.0f, 5, 0.4f, 1, 1, 1},
        {0.2f, 0.2f, 0.2f, 0.9f, 0.9f, 0.7f, 0.6f, 0.9f, 0.3f, 0.3f, 0.3f, 30, 0.5f, 2, 1, 2},
        {0.2f, 0.2f, 0.3f, 0.4f, 0.2f, 0.6f, 0.9f, 0.4f, 0.0f, 0.0f, 0.0f, 20, 0.5f, 2, 0, 0},
        {0.1f, 0.1f, 0.1f, 0.7f, 0.9f, 0.1f, 0.1f, 0.7f, 0.7f, 0.7f, 0.7f, 300, 0.5f, 1, 1, 0},
    };
    static const int32_t images[RASTER_PAINT_MATERIALS][2] = {{-1, -1}, {1, 2}, {0, -1}, {0, 2}, {-1, -1}, {-1, -1}},
                         sizes[3][2] = {{16, 16}, {8, 32}, {32, 8}};
    static const uint8_t flags[RASTER_PAINT_MATERIALS] = {0, 0, MODAL_RASTER_CUTOUT, MODAL_RASTER_BLEND, MODAL_RASTER_BLEND, 0};
    raster_paint p = {.n_triangles = scene->n_triangles};
    int64_t at = 0;
    int level = 0;
    memcpy(p.materials, materials, sizeof materials);
    memcpy(p.material_images, images, sizeof images);
    for (int i = 0; i < 256; i++) p.linear[i] = (float)(i <= 10 ? i / 255.0 / 12.92 : pow((i / 255.0 + 0.055) / 1.055, 2.4));
    for (int i = 0; i < RASTER_PAINT_IMAGES; i++) { /* levels need not be means of each other */
        p.images[i].first_level = level;
        for (int32_t w = sizes[i][0], k = sizes[i][1];; w = w > 1 ? w / 2 : 1, k = k > 1 ? k / 2 : 1) {
            p.levels[level++] = (modal_paint_level){at, w, k};
            for (int64_t texel = 0; texel < (int64_t)w * k; texel++, at++)
                for (int c = 0; c < 4; c++)
                    p.texels[at][c] = (uint8_t)(i == 2 && c < 3 ? (c == 2 ? 250 : 128 + 30 * harness_random(h)) : 127.5 + 127 * harness_random(h));
            if (w == 1 && k == 1) break;
        }
        p.images[i].n_levels = level - p.images[i].first_level;
    }
    if (at > RASTER_PAINT_TEXELS) abort();
    p.uv = harness_alloc(6 * scene->n_triangles, sizeof *p.uv);
    p.triangle_uv = harness_alloc(3 * scene->n_triangles, sizeof *p.triangle_uv);
    p.triangle_materials = harness_alloc(scene->n_triangles, sizeof *p.triangle_materials);
    for (int64_t t = 0; t < scene->n_triangles; t++) {
        p.triangle_materials[t] = (int32_t)(t % RASTER_PAINT_MATERIALS);
        scene->flags[t] = (uint8_t)((scene->flags[t] & (MODAL_RASTER_ONE_SIDED | MODAL_RASTER_CLOSED)) | flags[t % RASTER_PAINT_MATERIALS]);
        for (int64_t k = 3 * t; k < 3 * t + 3; k++) {
            p.triangle_uv[k] = t % 41 == 0 ? -1 : (int32_t)k;
            for (int c = 0; c < 2; c++) p.uv[2 * k + c] = (float)(0.5 + harness_random(h) * (t % 5 == 0 ? 20.0 : 1.0));
        }
    }
    return p;
}

void raster_paint_add_solids(harness *h, const raster_scene *scene, raster_paint *p)
{
    static const modal_octree_channels channels[2] = {MODAL_OCTREE_RGBA8, MODAL_OCTREE_FLOAT3};
    static const int32_t solids[RASTER_PAINT_MATERIALS][2] = {{0, 1}, {-1, 1}, {0, -1}, {0, 1}, {-1, -1}, {-1, -1}};
    uint32_t n_records = 0;
    p->n_points = scene->n_points;
    memcpy(p->material_solids, solids, sizeof solids);
    /* a mask of blocks, masks of them, and under all of these the same masks of cells */
    p->masks[0] = (modal_octree_mask){.there = ~((uint64_t)1 << 5), .first = 1};
    for (int i = 0; i < 64; i++) {
        const uint64_t there = ~((uint64_t)0x1001 << i);
        p->masks[1 + i] = (modal_octree_mask){.there = ~((uint64_t)2 << i), .first = 65};
        p->masks[65 + i] = (modal_octree_mask){.there = there, .first = n_records};
        n_records += (uint32_t)__builtin_popcountll(there);
    }
    for (int s = 0; s < 2; s++) {
        const int64_t n = (1 + RASTER_SOLID_MIPS) * (s ? 24 : 8) * RASTER_SOLID_CELLS;
        p->records[s] = harness_alloc(n, sizeof *p->records[s]);
        for (int64_t i = 0; i < n; i++) {
            const uint32_t bits = (uint32_t)(int64_t)(2147483648.0 + 2147483647.0 * harness_random(h));
            if (s) p->records[s][i] = (float)harness_random(h);
            else memcpy(&p->records[s][i], &bits, sizeof bits);
        }
        p->solids[s] = (modal_paint_solid){.grid = {.bits = 8, .top_bits = 2, .n_levels = 3, .channels = channels[s]}, .n_mips = RASTER_SOLID_MIPS,
                                           .shift = {1.5f, 1.5f, 1.5f}, .scale = s ? 72.0f : 80.0f};
        p->mips[s][0] = (modal_octree_mip){p->solids[s].grid, 1};
        p->mips[s][1] = (modal_octree_mip){{.bits = 6, .top_bits = 0, .n_levels = 3, .channels = channels[s]}, 3};
    }
    p->rest = harness_alloc(3 * (p->n_points + 4), sizeof *p->rest);
    p->rest_normals = harness_alloc(3 * p->n_points, sizeof *p->rest_normals);
    for (int64_t i = 0; i < 3 * p->n_points; i++) {
        p->rest[i] = scene->points[i] + 0.02f * (float)harness_random(h);
        p->rest_normals[i] = scene->normals[i] + 0.2f * (float)harness_random(h);
    }
    memcpy(p->rest + 3 * p->n_points, scene->more, sizeof scene->more);
}

void raster_paint_free(raster_paint *p)
{
    free(p->uv), free(p->triangle_uv), free(p->triangle_materials);
    free(p->records[0]), free(p->records[1]), free(p->rest), free(p->rest_normals);
}

/* The arrays of a solid and of its mips. */
static void raster_solid_set(const raster_paint *p, int s, modal_octree_mip *mips, const uint32_t *top, const modal_octree_mask *masks, const float *records,
                             modal_paint_solid *solid)
{
    *solid = p->solids[s];
    for (int i = 0; i <= RASTER_SOLID_MIPS; i++) {
        modal_octree_grid *grid = i ? &mips[i - 1].grid : &solid->grid;
        grid->top = top, grid->masks = masks, grid->records = records + (int64_t)i * (s ? 24 : 8) * RASTER_SOLID_CELLS;
    }
}

modal_paint raster_paint_here(raster_paint *p)
{
    modal_paint paint = {p->materials[0], p->triangle_materials, p->material_images[0], p->images, p->levels, p->texels[0], p->linear, p->uv, p->triangle_uv};
    if (p->n_points == 0) return paint;
    for (int s = 0; s < 2; s++) {
        raster_solid_set(p, s, p->mips[s], p->top, p->masks, p->records[s], &p->solids[s]);
        p->solids[s].mips = p->mips[s];
    }
    paint.solids = p->solids, paint.material_solids = p->material_solids[0], paint.rest = p->rest, paint.rest_normals = p->rest_normals;
    return paint;
}

modal_paint raster_paint_there(harness *h, const raster_paint *p)
{
    modal_paint paint = {harness_input(h, p->materials, sizeof p->materials, 0),
                         harness_input(h, p->triangle_materials, 4 * p->n_triangles, 0),
                         harness_input(h, p->material_images, sizeof p->material_images, 0),
                         harness_input(h, p->images, sizeof p->images, 0),
                         harness_input(h, p->levels, sizeof p->levels, 0),
                         harness_input(h, p->texels, sizeof p->texels, 0),
                         harness_input(h, p->linear, sizeof p->linear, 0),
                         harness_input(h, p->uv, 24 * p->n_triangles, 0),
                         harness_input(h, p->triangle_uv, 12 * p->n_triangles, 0)};
    if (p->n_points == 0) return paint;
    modal_paint_solid solids[2];
    for (int s = 0; s < 2; s++) {
        modal_octree_mip mips[RASTER_SOLID_MIPS];
        memcpy(mips, p->mips[s], sizeof mips);
        raster_solid_set(p, s, mips, harness_input(h, p->top, sizeof p->top, 0), harness_input(h, p->masks, sizeof p->masks, 0),
                         harness_input(h, p->records[s], (int64_t)(1 + RASTER_SOLID_MIPS) * (s ? 96 : 32) * RASTER_SOLID_CELLS, 0), &solids[s]);
        solids[s].mips = harness_input(h, mips, sizeof mips, 0);
    }
    paint.material_solids = harness_input(h, p->material_solids, sizeof p->material_solids, 0);
    paint.solids = harness_input(h, solids, sizeof solids, 0);
    paint.rest = harness_input(h, p->rest, 12 * (p->n_points + 4), 0);
    paint.rest_normals = harness_input(h, p->rest_normals, 12 * p->n_points, 0);
    return paint;
}
