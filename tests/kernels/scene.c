/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/scene.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/modal_sum/modal_sum.h"

void scene_new(scene *s, harness *h, int64_t n, int32_t r, int64_t columns)
{
    *s = (scene){.n = n, .columns = columns, .n_tiles = (n + 31) / 32, .r = r};
    s->plain = harness_alloc(n * 3 * r, sizeof(float));
    s->tiles = harness_alloc(s->n_tiles * 96 * r, sizeof(float));
    s->rest = harness_alloc(n * 3, sizeof(float));
    s->rest_tiles = harness_alloc(s->n_tiles * 96, sizeof(float));
    s->q = harness_alloc(columns * r, sizeof(float));
    s->poses = harness_alloc(columns * 12, sizeof(float));
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
        s->poses[i] = (float)((i % 4 == 3 ? 5.0 : 1.0) * harness_random(h));
}

void scene_free(scene *s)
{
    free(s->plain);
    free(s->tiles);
    free(s->rest);
    free(s->rest_tiles);
    free(s->q);
    free(s->poses);
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

void scene_products(harness *h, void (*check)(harness *h, int64_t n, int32_t r, int64_t columns, int shift))
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 127, 257, 997, 100003};
    static const int32_t ranks[] = {0,  1,  2,  3,  4,  5,   8,   17,   24,
                                    31, 32, 33, 64, 65, 100, 256, 1000, 1030};
    static const int64_t columns[] = {0, 1, 2, 3, 5, 7, 8, 16, 17, 64, 130};
    const int64_t limit = h->quick ? 200000 : 3500000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof ranks / sizeof *ranks; j++)
            for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
                if (sizes[i] * (ranks[j] + 1) * columns[k] <= limit &&
                    (!h->quick || (i + j + k) % 7 == 0)) /* quick: for the sanitizers */
                    check(h, sizes[i], ranks[j], columns[k], (int)((i + k) % 2));
    /* CUDA divides many columns of many vertices in other ways: columns that begin on a line or not; then
     * many columns of few vertices. With --quick one case a way. */
    static const int64_t large[][3] = {{16448, 9, 65},   {16449, 3, 33},   {16452, 8, 130},  {16448, 120, 40},
                                       {36, 16, 1100},   {16450, 400, 35}, {16448, 20, 33},  {16449, 33, 130},
                                       {16448, 330, 65}, {16448, 33, 130}, {16448, 16, 20},  {16450, 64, 40},  {16448, 1030, 9},
                                       {16451, 130, 70}, {30, 12, 3000},   {1000, 13, 3001}, {16453, 16, 300}};
    const int cuda = strncmp(h->back_end, "cuda", 4) == 0;
    for (size_t i = 0; i < (!cuda ? 3 : h->quick ? 7 : sizeof large / sizeof *large); i++)
        check(h, large[i][0], (int32_t)large[i][1], large[i][2], 0);
}

int64_t scene_part(const scene *s, int64_t c)
{
    const int64_t first = (s->columns + 3) / 4;
    return s->n < 1000 && s->columns < 1000 ? 1 : c == 0 ? first : s->columns - first;
}

double scene_terms(const harness *h, const scene *s)
{
    const int splits = strncmp(h->back_end, "cuda", 4) == 0 && modal_sum_splits(s->r, s->columns, s->columns);
    return splits ? 3.0 * s->r + 32.0 : s->r + 1.0;
}

void scene_accurate(harness *h, const scene *s, double worst, double largest)
{
    if (s->n * s->columns >= 100 && !(worst <= 1e-6 * largest * sqrt((double)s->r)))
        harness_fail(h, "largest error %.3g, largest displacement %.3g", worst, largest);
}

static void rotate(harness *h, int64_t n, int64_t columns, int shift, int64_t n_objects, int width,
                   modal_status (*call)(harness *h, const scene_rotation *r, modal_error *err))
{
    modal_error err = {0};
    harness_case(h, "n %lld, %lld columns, shift %d, %lld objects", (long long)n, (long long)columns, shift,
                 (long long)n_objects);
    int32_t *objects = harness_alloc(n, sizeof *objects);
    float *rest = harness_alloc(n * width, sizeof *rest), *poses = harness_alloc(columns * n_objects * 12, 4);
    for (int64_t i = 0; i < columns * n_objects * 12; i++)
        poses[i] = (float)((i % 4 == 3 ? 5.0 : 1.0) * harness_random(h));
    for (int64_t v = 0; v < n; v++) { /* every tenth zero */
        objects[v] = (int32_t)((v / 40 + v / 7) % n_objects);
        for (int i = 0; i < width; i++)
            rest[width * v + i] = v % 10 == 9 ? 0.0f : i == 3 ? (v % 3 ? 1.0f : -1.0f) : (float)harness_random(h);
    }
    harness_output *out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * n * width, shift, NULL);
        const scene_rotation r = {.n = n,
                                  .columns = columns,
                                  .n_objects = n_objects,
                                  .rest = harness_input(h, rest, n * width * 4, shift * 4),
                                  .objects = n_objects > 1 ? harness_input(h, objects, n * 4, shift * 4) : NULL,
                                  .poses = harness_input(h, poses, columns * n_objects * 48, shift * 4),
                                  .out = out[i]->device};
        harness_ok(h, call(h, &r, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const float *got = out[0]->host + width * (c * n + v), *from = rest + width * v;
            for (int i = 0; i < 3; i++) {
                const float *t = poses + 12 * (c * n_objects + objects[v]) + 4 * i;
                double want = 0.0, size = 0.0;
                for (int j = 0; j < 3; j++) {
                    want += (double)t[j] * (double)from[j];
                    size += fabs((double)t[j] * (double)from[j]);
                }
                harness_compare(h, "vector", width * (c * n + v) + i, got[i], want,
                                h->is_reference ? harness_rounding(want) + size * 1e-12
                                                : harness_gamma(4) * size + FLT_TRUE_MIN);
            }
            if (width == 4) harness_compare(h, "last number", v, got[3], from[3], 0.0);
        }
    free(objects);
    free(rest);
    free(poses);
}

void scene_rotations(harness *h, int width,
                     modal_status (*call)(harness *h, const scene_rotation *r, modal_error *err))
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 7, 9, 64};
    const int64_t limit = h->quick ? 20000 : 1000000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (sizes[i] * columns[k] <= limit)
                rotate(h, sizes[i], columns[k], (int)(i + k) % 2, (i + k) % 3 ? 1 : 5, width, call);
}
