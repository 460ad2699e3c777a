/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/plants.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "tests/bench/noise.h"

const plant plants[N_PLANTS] = {
    {"Conifer", 43, 7543, 360, 0.16, 0.46, 0.26, 0.11, 0.36},
    {"Peach tree", 237, 273003, 2950, 0.61, 2.52, 0.53, 0.70, 0.85},
    {"Broad-leaved tree", 419, 288542, 3613, 0.29, 4.41, 0.75, 0.76, 1.68},
    {"Eastern hemlock", 2866, 190466, 16793, 0.47, 21.24, 1.02, 3.13, 5.47},
    {"Treesketch", 2875, 44404, 21178, 0.29, 22.90, 0.33, 3.75, 2.62},
};

/* `count` whole numbers in [least, most] that add up to `total`: around the mean, from half of it to
 * one and a half, then corrected by one in turn. */
static void mix(int32_t *values, int32_t count, int64_t total, int32_t least, int32_t most,
                uint64_t seed)
{
    const double mean = (double)total / count;
    int64_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        double value = round(mean * (1.0 + 0.5 * (double)bench_noise(seed, (uint64_t)i)));
        value = fmin(fmax(value, least), most);
        values[i] = (int32_t)value;
        sum += values[i];
    }
    for (int32_t i = 0; sum != total; i = (i + 1) % count) {
        const int step = sum < total ? 1 : -1;
        if (values[i] + step < least || values[i] + step > most) continue;
        values[i] += step;
        sum += step;
    }
}

static void rotation(float *pose, uint64_t seed)
{
    double q[4], norm = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = (double)bench_noise(seed, (uint64_t)i);
        norm += q[i] * q[i];
    }
    norm = norm > 0.0 ? 2.0 / norm : 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 - i - j; /* the third axis where i != j */
            const double sign = (j - i + 3) % 3 == 1 ? -1.0 : 1.0;
            double value;
            if (i == j)
                value = 1.0 - norm * (q[1 + (i + 1) % 3] * q[1 + (i + 1) % 3] +
                                      q[1 + (i + 2) % 3] * q[1 + (i + 2) % 3]);
            else
                value = norm * (q[1 + i] * q[1 + j] + sign * q[0] * q[1 + k]);
            pose[4 * i + j] = (float)value;
        }
    for (int i = 0; i < 3; i++) pose[4 * i + 3] = 10.0f * bench_noise(seed, (uint64_t)(4 + i));
}

modal_status plant_scene_new(plant_scene **scene, const plant *p, int shrink, modal_error *err)
{
    modal_status status = MODAL_OK;
    *scene = NULL;
    MODAL_TRY(modal_alloc_zero(scene, 1, sizeof **scene, "scene", err));
    plant_scene *s = *scene;
    const int64_t n = s->n_objects = (p->n_objects + shrink - 1) / shrink;
    s->n_vertices = p->n_vertices / p->n_objects * n + p->n_vertices % p->n_objects * n / p->n_objects;
    s->n_modes = p->n_modes / p->n_objects * n + p->n_modes % p->n_objects * n / p->n_objects;
    MODAL_TRY(modal_alloc(&s->vertices, n, sizeof *s->vertices, "scene", err));
    MODAL_TRY(modal_alloc(&s->modes, n, sizeof *s->modes, "scene", err));
    int64_t **offsets[] = {&s->first_vertex, &s->first_padded, &s->first_mode, &s->u_offset,
                           &s->rest_offset};
    for (int i = 0; i < 5; i++)
        MODAL_TRY(modal_alloc_zero(offsets[i], n + 1, sizeof(int64_t), "scene", err));
    mix(s->vertices, s->n_objects, s->n_vertices, 4, INT32_MAX, 11);
    mix(s->modes, s->n_objects, s->n_modes, 1, 32, 12);
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = s->vertices[i], r = s->modes[i], tiles = (v + 31) / 32;
        s->first_vertex[i + 1] = s->first_vertex[i] + v;
        s->first_padded[i + 1] = s->first_padded[i] + (v + 3) / 4 * 4;
        s->first_mode[i + 1] = s->first_mode[i] + r;
        s->u_offset[i + 1] = s->u_offset[i] + tiles * 96 * r;
        s->rest_offset[i + 1] = s->rest_offset[i] + tiles * 96;
        s->bytes_product += 4.0 * (double)(3 * v * r + r + 3 * v);
        s->bytes_deform += 4.0 * (double)(3 * v * r + r + 6 * v + 12);
    }
    s->padded_vertices = s->first_padded[n];
    s->u_floats = s->u_offset[n];
    MODAL_TRY(bench_random(&s->modal_matrix, s->u_floats, 21, err));
    MODAL_TRY(bench_random(&s->q, s->n_modes, 22, err));
    MODAL_TRY(bench_random(&s->rest, 3 * s->n_vertices, 23, err));
    MODAL_TRY(modal_alloc_zero(&s->rest_tiles, s->rest_offset[n], sizeof(float), "scene", err));
    MODAL_TRY(modal_alloc(&s->poses, 12 * n, sizeof(float), "scene", err));
    for (int64_t i = 0; i < n; i++) {
        rotation(s->poses + 12 * i, 1000 + (uint64_t)i);
        for (int64_t v = 0; v < s->vertices[i]; v++)
            for (int c = 0; c < 3; c++)
                s->rest_tiles[s->rest_offset[i] + v / 32 * 96 + c * 32 + v % 32] =
                    s->rest[3 * (s->first_vertex[i] + v) + c];
    }
done:
    if (status != MODAL_OK) *scene = plant_scene_delete(*scene);
    return status;
}

plant_scene *plant_scene_delete(plant_scene *s)
{
    if (!s) return NULL;
    void *arrays[] = {&s->vertices, &s->modes, &s->first_vertex, &s->first_padded, &s->first_mode,
                      &s->u_offset, &s->rest_offset, &s->modal_matrix, &s->q, &s->rest,
                      &s->rest_tiles, &s->poses};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    modal_free(&s);
    return NULL;
}

modal_status plant_scene_columns(const plant_scene *s, float **columns, modal_error *err)
{
    modal_status status = modal_alloc_zero(columns, s->u_floats, sizeof **columns, "U", err);
    if (status != MODAL_OK) return status;
    for (int32_t o = 0; o < s->n_objects; o++)
        for (int k = 0; k < s->modes[o]; k++)
            for (int64_t row = 0; row < 3 * (int64_t)s->vertices[o]; row++)
                (*columns)[s->u_offset[o] + k * 3 * (int64_t)s->vertices[o] + row] =
                    plant_scene_u(s, o, row, k);
    return MODAL_OK;
}
