/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/octree_scene.h"

#include <math.h>
#include <string.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "tests/bench/noise.h"
#include "tests/bench/torus.h"

const char *const octree_order_names[OCTREE_ORDERS] = {"texel order", "triangle order", "random order"};

modal_status octree_scene_torus(modal_surface_mesh *s, int64_t width, modal_error *err)
{
    modal_status status = MODAL_OK;
    torus *t = NULL;
    *s = (modal_surface_mesh){0};
    MODAL_TRY(torus_new(&t, width, 0, err));
    MODAL_TRY(modal_alloc(&s->positions, 3 * t->n_vertices, sizeof *s->positions, "surface", err));
    MODAL_TRY(modal_alloc(&s->triangles, 3 * t->n_triangles, sizeof *s->triangles, "surface", err));
    s->n_vertices = t->n_vertices;
    s->n_triangles = t->n_triangles;
    for (int64_t i = 0; i < 3 * t->n_vertices; i++) s->positions[i] = (double)t->positions[i];
    memcpy(s->triangles, t->triangles, 3 * (size_t)t->n_triangles * sizeof *s->triangles);
done:
    torus_delete(t);
    if (status != MODAL_OK) modal_surface_mesh_free(s);
    return status;
}

void octree_scene_free(octree_scene *s)
{
    modal_octree_free(&s->octree);
    modal_octree_tables_free(&s->tables);
    for (int k = 0; k < OCTREE_ORDERS; k++) {
        modal_free(&s->points[k]);
        modal_free(&s->expected[k]);
    }
    *s = (octree_scene){0};
}

/* ---- points ---- */

static void corners_of(const octree_scene *s, const modal_surface_mesh *mesh, int64_t triangle, double p[9])
{
    for (int i = 0; i < 9; i++)
        p[i] = (mesh->positions[3 * (int64_t)mesh->triangles[3 * triangle + i / 3] + i % 3] - s->octree.origin[i % 3]) * s->tables.scale;
}

static double area_of(const double p[9])
{
    double n = 0;
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double c = (p[3 + a] - p[a]) * (p[6 + b] - p[b]) - (p[3 + b] - p[b]) * (p[6 + a] - p[a]);
        n += c * c;
    }
    return 0.5 * sqrt(n);
}

/* The points [first, last) of a triangle: on a lattice that fills its parallelogram, folded, or at random places. */
static void place_points(octree_scene *s, const double p[9], int64_t first, int64_t last)
{
    const int64_t side = (int64_t)ceil(sqrt((double)(last - first)));
    for (int64_t i = first; i < last; i++)
        for (int order = OCTREE_TEXEL; order <= OCTREE_TRIANGLE; order++) {
            const uint64_t j = 2 * (uint64_t)i;
            double u = ((double)((i - first) % side) + 0.5) / (double)side, v = ((double)((i - first) / side) + 0.5) / (double)side;
            if (order == OCTREE_TRIANGLE) {
                u = 0.5 + 0.5 * (double)bench_noise(93, j);
                v = 0.5 + 0.5 * (double)bench_noise(93, j + 1);
            }
            if (u + v > 1) u = 1 - u, v = 1 - v;
            for (int k = 0; k < 3; k++) s->points[order][3 * i + k] = (float)(p[k] + u * (p[3 + k] - p[k]) + v * (p[6 + k] - p[k]));
        }
}

static void shuffle(octree_scene *s)
{
    float *to = s->points[OCTREE_RANDOM];
    uint64_t state = 94;
    memcpy(to, s->points[OCTREE_TRIANGLE], 12 * (size_t)s->n_points);
    for (int64_t i = s->n_points - 1; i > 0; i--) {
        float kept[3];
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int64_t j = (int64_t)((state >> 11) % (uint64_t)(i + 1));
        memcpy(kept, to + 3 * i, sizeof kept);
        memcpy(to + 3 * i, to + 3 * j, sizeof kept);
        memcpy(to + 3 * j, kept, sizeof kept);
    }
}

modal_status octree_scene_points(octree_scene *s, const modal_surface_mesh *mesh, int64_t n_points, modal_error *err)
{
    modal_status status = MODAL_OK;
    double area = 0, p[9], before = 0;
    s->n_points = n_points;
    s->tables.scale = ldexp(1.0, modal_octree_bits(&s->octree)) / s->octree.size;
    for (int k = 0; k < OCTREE_ORDERS; k++) {
        MODAL_TRY(modal_alloc(&s->points[k], 3 * n_points, sizeof *s->points[k], "points", err));
        MODAL_TRY(modal_alloc(&s->expected[k], n_points, sizeof *s->expected[k], "points", err));
    }
    for (int64_t t = 0; t < mesh->n_triangles; t++) {
        corners_of(s, mesh, t, p);
        area += area_of(p);
    }
    for (int64_t t = 0, first = 0; t < mesh->n_triangles; t++) {
        corners_of(s, mesh, t, p);
        before += area_of(p);
        const int64_t last = t == mesh->n_triangles - 1 ? n_points : (int64_t)fmin(before / area * (double)n_points, (double)n_points);
        place_points(s, p, first, last);
        first = last;
    }
    shuffle(s);
done:
    return status;
}

/* ---- values ---- */

static modal_status ask_reference(octree_scene *s, octree_order order, modal_error *err)
{
    enum { RUN = 4096 };
    int64_t n_outside = 0;
    modal_status status = MODAL_OK;
#pragma omp parallel for schedule(static) reduction(+ : n_outside)
    for (int64_t first = 0; first < s->n_points; first += RUN) {
        uint8_t found[RUN];
        const int64_t n = s->n_points - first < RUN ? s->n_points - first : RUN;
        const modal_octree_lookup_task task = {.grid = s->tables.grid, .filter = MODAL_OCTREE_TRILINEAR, .n_points = n,
                                               .points = s->points[order] + 3 * first, .values = s->expected[order] + first, .found = found};
        if (modal_octree_lookup_ref(&task, NULL, NULL) != MODAL_OK) n_outside += n;
        for (int64_t i = 0; i < n; i++) n_outside += !found[i];
    }
    if (n_outside > 0)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "points of the surface in %s: %lld have no cell", octree_order_names[order],
                                 (long long)n_outside);
    return status;
}

modal_status octree_scene_values(octree_scene *s, modal_octree_channels channels, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *numbers = (float *)s->octree.values;
    s->octree.channels = channels; /* both have four bytes */
    for (int64_t i = 0; i < s->octree.n_samples; i++) {
        uint32_t colour = 0;
        for (uint64_t k = 0; k < 4; k++) colour |= (uint32_t)(128.0f + 128.0f * bench_noise(95 + k, (uint64_t)i)) << 8 * k;
        if (channels == MODAL_OCTREE_RGBA8) memcpy(numbers + i, &colour, sizeof colour);
        else numbers[i] = bench_noise(92, (uint64_t)i);
    }
    modal_octree_tables_free(&s->tables);
    MODAL_TRY(modal_octree_tables_make(&s->octree, &s->tables, err));
    for (int k = 0; k < OCTREE_ORDERS; k++) MODAL_TRY(ask_reference(s, (octree_order)k, err));
done:
    return status;
}
