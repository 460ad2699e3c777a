/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/scene.h"

#include <math.h>
#include <stdlib.h>

void scene_new(scene *s, harness *h, int64_t n, int32_t r, int64_t columns)
{
    *s = (scene){.n = n, .columns = columns, .n_tiles = (n + 31) / 32, .r = r};
    s->plain = harness_alloc(n * 3 * r, sizeof(float));
    s->tiles = harness_alloc(s->n_tiles * 96 * r, sizeof(float));
    s->rest = harness_alloc(n * 3, sizeof(float));
    s->rest_tiles = harness_alloc(s->n_tiles * 96, sizeof(float));
    s->q = harness_alloc(columns * r, sizeof(float));
    s->frames = harness_alloc(columns * 12, sizeof(float));
    for (int64_t i = 0; i < s->n_tiles * 96 * r; i++) s->tiles[i] = NAN;
    for (int64_t i = 0; i < s->n_tiles * 96; i++) s->rest_tiles[i] = NAN;
    for (int64_t v = 0; v < n; v++)
        for (int i = 0; i < 3; i++) {
            for (int64_t k = 0; k < r; k++) {
                const float value = (float)harness_random(h);
                s->plain[(v * 3 + i) * r + k] = value;
                s->tiles[((v / 32 * r + k) * 3 + i) * 32 + v % 32] = value;
            }
            s->rest[v * 3 + i] = (float)(10.0 * harness_random(h));
            s->rest_tiles[(v / 32 * 3 + i) * 32 + v % 32] = s->rest[v * 3 + i];
        }
    for (int64_t i = 0; i < columns * r; i++) s->q[i] = (float)(0.3 * harness_random(h));
    for (int64_t i = 0; i < columns * 12; i++)
        s->frames[i] = (float)((i % 4 == 3 ? 5.0 : 1.0) * harness_random(h));
}

void scene_free(scene *s)
{
    free(s->plain);
    free(s->tiles);
    free(s->rest);
    free(s->rest_tiles);
    free(s->q);
    free(s->frames);
}

void scene_sum(const scene *s, int64_t column, int64_t v, int i, double *u, double *magnitude)
{
    const float *row = s->plain + (v * 3 + i) * s->r, *q = s->q + column * s->r;
    *u = *magnitude = 0.0;
    for (int64_t k = 0; k < s->r; k++) {
        const double product = (double)row[k] * (double)q[k];
        *u += product;
        *magnitude += fabs(product);
    }
}
